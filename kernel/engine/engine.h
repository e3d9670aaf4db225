/* SPDX-License-Identifier: MIT */
/*
 * The lockstep engine: exact virtual time for many CPUs of which one runs at a
 * moment, the one whose virtual clock is earliest (DESIGN section 2).
 *
 * The running CPU is `engine.cur`, in every executor: control is a token. A
 * CPU hands it on inside engine_sync() and gets it back when it is earliest
 * again. All shared actions therefore happen in non-decreasing virtual time,
 * and code between two sync points runs undisturbed.
 *
 * Included by env_impl.h, that is after enum env_path and friends.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "../../sched/topo.h"
#include "../lib/types.h"
#include "machine.h"

#define TIME_NEVER (~0ull)
#define ENGINE_START_PS 1000000000000ull /* clocks start at 1 s: 0 means never */
#define NO_CPU (~0u)

/* ---- shared lines (line.c) ------------------------------------------------ */

struct env_line {
	u64 *sharers;       /* bit per CPU that holds a copy */
	u64 busy_until_ps;
	u8 kind;            /* enum env_line_kind */
	bool read_since_write;
};

struct line_stats {
	u64 reads, writes, hits;
	u64 misses[DIST_NR]; /* by distance to the holder that counted; [DIST_SELF]: memory */
	u64 wait_ps;         /* queueing behind other misses */
	u64 cost_ps;         /* all that was paid, waiting included */
};

/* ---- locks (lock.c) ------------------------------------------------------- */

struct env_lock {
	struct env_line line;
	const char *name;
	u32 id;
	u32 owner;            /* CPU, NO_CPU when free */
	u32 wait_head, wait_tail; /* CPUs in order of request, NO_CPU */
	u64 release_ps;       /* when it was last let go */
	u32 live_word;        /* live mode: 1 while taken */
};

#define ENGINE_MAX_HELD 16

/* ---- CPUs ------------------------------------------------------------------ */

enum ecpu_state {
	ECPU_RUN,       /* executes kernel code, or waits for its turn to */
	ECPU_BURN,      /* in a burst of work */
	ECPU_IDLE,
	ECPU_LOCK_WAIT,
};

/* In the order in which events that are due together are taken. */
enum ecpu_event {
	EVT_CALL,  /* one slot per enum env_call, merged */
	EVT_RESCHED = EVT_CALL + ENV_NR_CALLS,
	EVT_TIMER,
	EVT_TICK,
	EVT_NR
};

/* Which named path the running code is in: kept per task, swapped with it. */
struct path_stack {
	u8 depth;
	u8 id[15];
};

struct ecpu {
	u64 now_ps;
	u32 id, core;           /* core: index into engine.core */
	u32 irq_depth;          /* 0: interrupts on */
	enum ecpu_state state;
	u64 event_ps[EVT_NR];   /* TIME_NEVER: none */
	u64 next_event_ps;      /* least of them */
	u64 burn_start_ps, burn_left_ps, burn_end_ps; /* left: at full speed */
	u64 idle_since_ps, idle_total_ps;
	bool in_idle;           /* in engine_idle(), on the way out included */
	u32 seen;               /* bits of pending events that come without an interrupt */
	struct env_lock *waiting_for;
	u32 next_waiter;
	struct env_lock *held[ENGINE_MAX_HELD];
	u32 nr_held;
	struct path_stack *paths;
	u64 accounted_ps;       /* until when its time is somebody's: path.c */
	void *sp;               /* where control left this CPU (mux), or its first context */
	void *park_sp;          /* smp, live: what the physical CPU did before the run */
	bool tick_on;
	u64 passes;             /* times control was handed on from here */
	u64 lock_wait_ps, irqs;
	u32 live_pending;       /* bits of enum ecpu_event, set by senders */
};

struct ecore {
	u32 nr_busy;
	u32 speed;              /* of each thread now, 1/1000 */
	const struct cpumask *mask;
};

struct engine_config {
	const struct sched_topo *topo;
	const struct machine *machine;
	struct arena *arena;
	u32 hz;
	u32 housekeeper;
	u64 slack_ps, vlimit_ps;
	bool cost_insn, reads_shared;
	const struct executor *exec;
};

/* How control passes; exec.c has mux and smp, live.c the third, where CPUs run
 * at once and the engine stands aside. */
struct executor {
	bool live;
	bool needs_cpus; /* one physical CPU per simulated one */
	void (*run)(void); /* from main; returns when the run is over */
	void (*pass)(struct ecpu *from, struct ecpu *to); /* returns when from has control again */
	void noreturn_fn (*finish)(void); /* from any CPU of the run */
	void (*stop)(void); /* stops all others first, for a report; NULL: they stand */
};

struct engine {
	struct engine_config cfg;
	bool live;              /* cfg.exec->live, read everywhere */
	struct ecpu *cur;
	struct ecpu *cpu;       /* [nr_cpus] */
	u32 nr_cpus, set_words;
	struct ecore *core;
	u64 *key;               /* ready queue: tournament tree, see ready.h */
	u32 leaves;
	u64 jiffies, tick_ps;
	struct env_line jiffies_line;
	u64 last_action_ps;     /* of any CPU: the order check */
	u64 cycles_base;        /* insn mode: counter at the last engine exit */
	u64 bracket_insns;      /* insn mode: the bracket's own part of every reading */
	bool inside;            /* insn mode: between enter and exit */
	u32 uncharged;
	u64 path_ps[PATH_NR], surcharge_ps[ENV_NR_SURCHARGES];
	u32 ps_per_insn;
	struct line_stats line_stats[LINE_NR_KINDS];
	u64 *free_sets;         /* of dropped lines, each holding the next one's address */
	u64 path_count[PATH_NR + 1], path_insns[PATH_NR + 1]; /* last: outside all paths */
	u64 path_time_ps[PATH_NR + 1]; /* exclusive, all CPUs */
	u64 path_line_ps[PATH_NR + 1]; /* of it: moving lines, waiting for their turn included */
	u64 path_lock_ps[PATH_NR + 1]; /* and waiting for locks */
	u64 work_ps;                   /* all CPUs in bursts */
	u64 passes;
	bool over;              /* the run has ended, for whatever reason */
	bool failed;
	char why[256];          /* of a failed run */
	void *main_sp;
	u64 live_base_ns;       /* live: real time at ENGINE_START_PS */
};

extern struct engine engine;

/* Resets everything for a run; memory from cfg->arena. */
void engine_init(const struct engine_config *cfg);

/* Brings the clock up to date, takes due events if interrupts are on, and hands
 * control on until this CPU is earliest and nothing is due. */
void engine_sync(void);

/* Adds time to the running CPU's clock. Code is slowed by busy siblings, what
 * the hardware does apart is not. */
void engine_charge_code_ps(u64 ps);
static inline void engine_charge_ps(u64 ps)
{
	engine.cur->now_ps += ps;
}

/* The running CPU's clock in ns; in insn mode with what it executed since. */
u64 engine_now(void);

/* The same for reports: from within the engine or without, live or not. */
u64 engine_report_ns(void);

/* ---- named paths (path.c); they nest per task, up to 15 deep ------------------ */

void engine_path_begin(u8 p);
void engine_path_end(u8 p);

/* The CPU goes on with another task, inside that one's paths. */
void engine_path_switch(u32 cpu, struct path_stack *to);

/* Around time that is no path's: bursts of work, idleness. c stands where it begins,
 * and where it ended. */
void path_pause(struct ecpu *c);
void path_resume(struct ecpu *c);

/* The innermost path that c runs, PATH_NR outside all. */
static inline u32 path_top(const struct ecpu *c)
{
	const struct path_stack *s = c->paths;

	return s->depth ? s->id[s->depth - 1] : PATH_NR;
}

/* insn mode: accounts what the CPU executed since the last engine exit, and
 * starts anew. Engine functions run between the two; env_impl.h brackets their
 * calls, so that not even their prologues count as kernel code. Up-calls leave
 * the bracket. */
void engine_enter_insn(void);
void engine_exit_insn(void);
static inline void engine_enter(void)
{
	if (unlikely(engine.cfg.cost_insn))
		engine_enter_insn();
}
static inline void engine_exit(void)
{
	if (unlikely(engine.cfg.cost_insn))
		engine_exit_insn();
}

/* ---- work and idleness (work.c) ------------------------------------------- */

/* ns of work at full speed on whatever CPU the calling task is; extra_ps of
 * cache refill comes first. (sync) */
void engine_burn(u64 ns, u64 extra_ps);

/* The idle task's wait for an interrupt. (sync) */
void engine_idle(void);

/* What cpu would take to wake now, having slept for as long as it has; ~0 when it
 * does not sleep. */
u64 engine_idle_exit_ns(u32 cpu);

/* PAUSE, then just past the next CPU's time or to the own next event. (sync) */
void engine_relax(void);

/* ---- events ----------------------------------------------------------------- */

void engine_event_set(struct ecpu *c, enum ecpu_event e, u64 at_ps);
void engine_event_clear(struct ecpu *c, enum ecpu_event e);

/* Makes e known to a CPU. True: by an IPI, which this CPU pays for. False: the CPU
 * idles and watches memory, and sees it one hand-over later. (sync) */
bool engine_send(u32 cpu, enum ecpu_event e);

/* Recomputes the place of a CPU that stands still in the ready queue. */
void engine_requeue(struct ecpu *c);

/* Hands control to the earliest CPU; the caller has set c's own key. Returns
 * when c has it again, its clock at its key. */
void engine_pass(struct ecpu *c);

/* Starts the periodic tick at the next multiple of 1/hz. */
void engine_tick_start(struct ecpu *c);

/* ---- locks and lines --------------------------------------------------------- */

void engine_lock_init(struct env_lock *l, u8 kind, const char *name, u32 id);
void engine_lock(struct env_lock *l);
bool engine_trylock(struct env_lock *l);
void engine_unlock(struct env_lock *l);
void engine_line_init(struct env_line *l, u8 kind);

/* A line that nobody uses any more: its memory goes to the next one made. */
void engine_line_drop(struct env_line *l);

/* Who holds what, for reports and assertions; lockstep and live. Own CPU. */
void lock_owned(struct env_lock *l, struct ecpu *c);
void lock_disowned(struct env_lock *l, struct ecpu *c);

/* Panics when c, which is about to wait for l, holds one that comes after it; a
 * trylock need not ask. Debug builds. */
#ifdef ANECHOIC_DEBUG
void lock_check_order(const struct env_lock *l, const struct ecpu *c);
#else
static inline void lock_check_order(const struct env_lock *l, const struct ecpu *c)
{
	(void)l, (void)c;
}
#endif
void engine_line_read(struct env_line *l);
void engine_line_write(struct env_line *l);

/* As if cpu had been the last to write the line, at no cost. */
void engine_line_give(struct env_line *l, u32 cpu);

/* Cost in ps of an access by cpu at at_ps; updates the line. */
u64 line_access(struct env_line *l, u32 cpu, u64 at_ps, bool write);

/* And lets c, at its clock, pay for it. */
void line_pay(struct env_line *l, struct ecpu *c, bool write);

/* ---- the end ------------------------------------------------------------------ */

/* Ends the run as failed: prints the reason, lock owners, waiters and sleepers. */
void noreturn_fn engine_fail(const char *f, ...) printf_like(1, 2);

/* Ends the run in good order. */
void noreturn_fn engine_finish(void);

/* Owners and waiters of locks, one line each; takes no locks. */
void engine_dump(void (*line)(const char *text));

/* ---- up-calls, defined by kernel/task.c and kernel/irq.c ---------------------- */

void kernel_event(enum ecpu_event e, bool irq); /* interrupts off; !irq: idle loop saw it */
bool kernel_need_resched(u32 cpu);
void kernel_preempt(void);               /* switches tasks; interrupts on */
u64 kernel_ran_ns(void);                 /* CPU time of the calling task so far; live */
void kernel_dump_tasks(void (*line)(const char *text));
void kernel_log(const char *text);

#endif
