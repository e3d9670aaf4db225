/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's only door to the world. env_impl.h, found by the include
 * path, is kernel/env/ in the kernel and tests/host/env/ in unit tests; it
 * defines struct env_lock, struct env_line and the functions below, inline or
 * not.
 *
 * In lockstep every function marked (sync) is a sync point: it returns when
 * this CPU is the earliest, and with interrupts on it may take interrupts and
 * be preempted, so that the task may continue on another CPU. Keep no per-CPU
 * pointer across one unless a lock is held.
 */
#ifndef SCHED_ENV_H
#define SCHED_ENV_H

#include "../kernel/lib/types.h"

/* Named kernel paths with their table cost: costs.def. */
enum env_path {
#define PATH(name, insns, help) PATH_##name,
#include "costs.def"
#undef PATH
	PATH_NR
};

/* What instruction counts cannot see; amounts come from the machine profile. */
enum env_surcharge {
	ENV_SYSCALL,     /* user to kernel and back */
	ENV_IRQ,         /* interrupt entry and exit */
	ENV_TICK_HW,     /* entry, exit and timer reprogramming */
	ENV_SWITCH_THREAD, /* context switch within an address space */
	ENV_SWITCH_PROC,   /* and between two */
	ENV_IPI_SEND,
	ENV_RDTSC,
	ENV_DIV,         /* 64-bit divide */
	ENV_IRQSAVE,     /* PUSHF, CLI, POPF of an uncontended irqsave lock */
	ENV_NR_SURCHARGES
};

/* Kinds of shared line, for the report: lines.def. */
enum env_line_kind {
#define LINE_KIND(name, help) LINE_##name,
#include "lines.def"
#undef LINE_KIND
	LINE_NR_KINDS
};

/* What a function IPI asks its target to do. */
enum env_call {
	ENV_CALL_WAKE_LIST, /* sched_wake_list_drain() */
	ENV_CALL_PULL,      /* sched_idle_pull() */
	ENV_NR_CALLS
};

/* Events for trace=on; events.def names the arguments. */
enum env_event {
#define EVENT(name, a, b, c, d) EV_##name,
#include "events.def"
#undef EVENT
	EV_NR
};

struct env_lock;
struct env_line;

#include "env_impl.h"

/* This CPU's clock in ns. Reads only: no sync point. Never 0. */
static inline u64 env_now(void);

static inline u32 env_this_cpu(void);

/* Ticks since boot as the housekeeping CPU counts them. (sync) A line read. */
static inline u64 env_jiffies(void);

/* Prepares a lock that lives in a line of its own of the given kind. name is
 * kept, not copied; id tells locks of one name apart in reports. */
static inline void env_lock_init(struct env_lock *l, enum env_line_kind kind, const char *name,
				 u32 id);

/* Interrupts are off from request to release, counted per CPU so that locks
 * nest in any order. (sync) */
static inline void env_lock(struct env_lock *l);

/* False when the lock is held, or in virtual time not yet released; interrupts
 * are then as before. (sync) */
static inline bool env_trylock(struct env_lock *l);

/* No sync point. */
static inline void env_unlock(struct env_lock *l);

/* True when this CPU holds the lock. */
static inline bool env_held(const struct env_lock *l);

/* Interrupts off/on, counted together with the locks held. */
static inline void env_irq_off(void);
static inline void env_irq_on(void);

/* Resched IPI: the target runs its preemption check. Pending ones merge. False: the
 * target idles and polls, so that it sees what was stored without an IPI. (sync) */
static inline bool env_kick(u32 cpu);

/* Function IPI; pending ones of one kind merge. False: as env_kick(). (sync) */
static inline bool env_call(u32 cpu, enum env_call what);

/* For checks: a resched IPI is on its way to cpu, or it runs kernel code and will
 * look by itself. True where that is not known. */
static inline bool env_kick_pending(u32 cpu);

/* One turn of a loop that waits for another CPU's store. (sync) */
static inline void env_relax(void);

static inline void env_line_init(struct env_line *line, enum env_line_kind kind);

/* Declares an access to a shared line and pays for it. The access itself is an
 * __atomic builtin, or a plain store for what is written under a lock. (sync) */
static inline void env_line_read(struct env_line *line);
static inline void env_line_write(struct env_line *line);

/* For what-ifs: as if cpu had been the last to write the line. Costs nothing. */
static inline void env_line_give(struct env_line *line, u32 cpu);

/* Brackets a named path: charges its table cost and attributes time to it.
 * They nest; costs are exclusive. No sync point. */
static inline void env_path_begin(enum env_path p);
static inline void env_path_end(enum env_path p);

/* Pays one surcharge. No sync point. */
static inline void env_charge(enum env_surcharge what);

/* Brackets work that must cost no virtual time (checks, oracle scans). Nests. */
static inline void env_uncharged_begin(void);
static inline void env_uncharged_end(void);

/* vcpu_is_preempted: false on bare metal, a hook for tests. */
static inline bool env_cpu_preempted(u32 cpu);

/* ns that cpu, which runs its idle task, would take to leave the idle state it is in;
 * ENV_EXIT_UNKNOWN while it is on its way into or out of one. No sync point. */
#define ENV_EXIT_UNKNOWN (~0ull)
static inline u64 env_idle_exit_latency_ns(u32 cpu);

/* Events for trace=on; events.def names the arguments. No sync point. */
static inline void env_trace(enum env_event e, u64 a, u64 b, u64 c, u64 d);

/* A broken invariant ends the run with state and trace. */
#define env_assert(cond, ...) panic_unless(cond, __VA_ARGS__)

#ifdef ANECHOIC_DEBUG
#define env_debug_assert(cond, ...) env_assert(cond, __VA_ARGS__)
#else
#define env_debug_assert(cond, ...) \
	do {                        \
	} while (0)
#endif

#endif
