/* SPDX-License-Identifier: MIT */
/*
 * The door of sched/env.h in the kernel and in the native program: lockstep
 * goes to the engine, live to kernel/engine/live.c. Included by env.h only.
 */
#ifndef ENV_IMPL_H
#define ENV_IMPL_H

#include "../engine/engine.h"
#include "../engine/live.h"
#include "../panic.h"
#include "../trace.h"

/* Leaves kernel code for the engine and comes back. */
#define ENGINE_CALL(call)       \
	do {                    \
		engine_enter(); \
		call;           \
		engine_exit();  \
	} while (0)

static inline u64 env_now(void)
{
	u64 now_ns;

	if (engine.live)
		return live_now();
	ENGINE_CALL(now_ns = engine_now());
	return now_ns;
}

static inline u32 env_this_cpu(void)
{
	return engine.live ? live_this_cpu() : engine.cur->id;
}

static inline void env_lock_init(struct env_lock *l, enum env_line_kind kind, const char *name,
				 u32 id)
{
	engine_lock_init(l, kind, name, id);
}

static inline void env_lock(struct env_lock *l)
{
	if (engine.live)
		live_lock(l);
	else
		ENGINE_CALL(engine_lock(l));
}

static inline bool env_trylock(struct env_lock *l)
{
	bool got;

	if (engine.live)
		return live_trylock(l);
	ENGINE_CALL(got = engine_trylock(l));
	return got;
}

static inline void env_unlock(struct env_lock *l)
{
	if (engine.live)
		live_unlock(l);
	else
		ENGINE_CALL(engine_unlock(l));
}

static inline bool env_held(const struct env_lock *l)
{
	return __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == env_this_cpu();
}

static inline void env_irq_off(void)
{
	if (engine.live)
		live_irq_off();
	else
		engine.cur->irq_depth++;
}

static inline void env_irq_on(void)
{
	if (engine.live)
		live_irq_on();
	else
		engine.cur->irq_depth--;
}

static inline bool env_send(u32 cpu, enum ecpu_event e)
{
	bool sent = true;

	if (engine.live)
		live_send(cpu, e);
	else
		ENGINE_CALL(sent = engine_send(cpu, e));
	return sent;
}

static inline bool env_kick(u32 cpu)
{
	return env_send(cpu, EVT_RESCHED);
}

static inline bool env_kick_pending(u32 cpu)
{
	const struct ecpu *c = &engine.cpu[cpu];

	return engine.live || c->event_ps[EVT_RESCHED] != TIME_NEVER ||
	       (c->state != ECPU_IDLE && c->state != ECPU_BURN);
}

static inline bool env_call(u32 cpu, enum env_call what)
{
	return env_send(cpu, (enum ecpu_event)(EVT_CALL + what));
}

static inline void env_relax(void)
{
	if (engine.live)
		live_relax();
	else
		ENGINE_CALL(engine_relax());
}

static inline void env_line_init(struct env_line *line, enum env_line_kind kind)
{
	engine_line_init(line, kind);
}

static inline void env_line_read(struct env_line *line)
{
	if (!engine.live && !engine.uncharged)
		ENGINE_CALL(engine_line_read(line));
}

static inline void env_line_write(struct env_line *line)
{
	if (!engine.live && !engine.uncharged)
		ENGINE_CALL(engine_line_write(line));
}

static inline void env_line_give(struct env_line *line, u32 cpu)
{
	if (!engine.live)
		ENGINE_CALL(engine_line_give(line, cpu));
}

static inline u64 env_jiffies(void)
{
	env_line_read(&engine.jiffies_line);
	return __atomic_load_n(&engine.jiffies, __ATOMIC_RELAXED);
}

static inline void env_path_begin(enum env_path p)
{
	if (!engine.live && !engine.uncharged)
		ENGINE_CALL(engine_path_begin(p));
}

static inline void env_path_end(enum env_path p)
{
	if (!engine.live && !engine.uncharged)
		ENGINE_CALL(engine_path_end(p));
}

static inline void env_charge(enum env_surcharge what)
{
	if (!engine.live && !engine.uncharged)
		ENGINE_CALL(engine_charge_ps(engine.surcharge_ps[what]));
}

static inline void env_uncharged_begin(void)
{
	if (!engine.live)
		ENGINE_CALL(engine.uncharged++);
}

static inline void env_uncharged_end(void)
{
	if (!engine.live)
		ENGINE_CALL(engine.uncharged--);
}

/* ---- the kernel's own, not part of sched/env.h ----------------------------- */

/* A sync point for actions that no other function covers. */
static inline void env_sync(void)
{
	if (engine.live)
		live_preempt_check();
	else
		ENGINE_CALL(engine_sync());
}

/* ns of work, extra_ps of cache refill before it. (sync) */
static inline void env_burn(u64 ns, u64 extra_ps)
{
	if (engine.live)
		live_burn(ns);
	else
		ENGINE_CALL(engine_burn(ns, extra_ps));
}

/* The idle task's wait for an interrupt. (sync) */
static inline void env_idle(void)
{
	if (engine.live)
		live_idle();
	else
		ENGINE_CALL(engine_idle());
}

/* The calling CPU's next timer interrupt; TIME_NEVER: none. Interrupts off. */
static inline void env_timer_set(u64 at_ns)
{
	if (engine.live)
		live_timer_set(at_ns);
	else
		ENGINE_CALL(engine_event_set(engine.cur, EVT_TIMER,
					     at_ns == TIME_NEVER ? TIME_NEVER : at_ns * 1000));
}

/* The calling CPU's periodic tick. Interrupts off. */
static inline void env_tick_start(void)
{
	if (engine.live)
		live_tick_start();
	else
		ENGINE_CALL(engine_tick_start(engine.cur));
}

static inline bool env_cpu_preempted(u32 cpu)
{
	(void)cpu; /* bare metal: a CPU that runs, runs */
	return false;
}

static inline u64 env_idle_exit_latency_ns(u32 cpu)
{
	if (engine.live)
		return 0; /* all halt alike */
	return engine_idle_exit_ns(cpu);
}

static inline void env_trace(enum env_event e, u64 a, u64 b, u64 c, u64 d)
{
	if (unlikely(trace_on))
		trace_event(e, a, b, c, d);
}

#endif
