/* SPDX-License-Identifier: MIT */
/* Bursts of work, idleness and the speed of SMT siblings. */
#include "../../sched/env.h"
#include "../panic.h"
#include "engine.h"

/* Time that work at full speed takes at a speed in 1/1000, rounded up: a burst
 * never ends before its work is done. */
static u64 work_to_time(u64 work_ps, u32 speed)
{
	return speed == 1000 ? work_ps : (work_ps * 1000 + speed - 1) / speed;
}

static u64 time_to_work(u64 time_ps, u32 speed)
{
	return speed == 1000 ? time_ps : time_ps * speed / 1000;
}

/* Takes what was done from burn_start to at_ps off the rest of c's burst. */
static void burn_account(struct ecpu *c, u64 at_ps, u32 speed)
{
	u64 done = time_to_work(at_ps - c->burn_start_ps, speed);

	c->burn_left_ps = done < c->burn_left_ps ? c->burn_left_ps - done : 0;
	c->burn_start_ps = at_ps;
}

/* c turned busy or idle at its clock: siblings in a burst go on at the new
 * speed from then, or from their burst's start if that is later. */
static void set_busy(struct ecpu *c, bool busy)
{
	struct ecore *core = &engine.core[c->core];
	u32 old = core->speed;

	core->nr_busy += busy ? 1 : -1u;
	core->speed = machine_smt_speed(engine.cfg.machine, core->nr_busy ? core->nr_busy : 1);
	if (core->speed == old)
		return;
	for_each_cpu(i, core->mask, engine.nr_cpus) {
		struct ecpu *s = &engine.cpu[i];
		u64 at_ps = c->now_ps > s->burn_start_ps ? c->now_ps : s->burn_start_ps;

		if (s == c || s->state != ECPU_BURN)
			continue;
		if (at_ps > s->burn_end_ps)
			at_ps = s->burn_end_ps;
		burn_account(s, at_ps, old);
		s->burn_end_ps = at_ps + work_to_time(s->burn_left_ps, core->speed);
		engine_requeue(s);
	}
}

void engine_burn(u64 ns, u64 extra_ps)
{
	u64 left_ps = ns * 1000 + extra_ps;

	/* The pass below is the sync point: control goes to whoever acts before the
	 * burst's end, and an event that is due already ends the burst at its start.
	 * No work, no pass: then it needs one of its own. */
	if (!left_ps || (!engine.cur->irq_depth && kernel_need_resched(engine.cur->id)))
		engine_sync();
	while (left_ps) {
		struct ecpu *c = engine.cur;

		c->state = ECPU_BURN;
		c->burn_left_ps = left_ps;
		c->burn_start_ps = c->now_ps;
		c->burn_end_ps =
			c->now_ps + work_to_time(left_ps, engine.core[c->core].speed);
		path_pause(c);
		engine_requeue(c);
		engine_pass(c);
		engine.work_ps += c->now_ps - c->accounted_ps;
		path_resume(c);
		burn_account(c, c->now_ps, engine.core[c->core].speed);
		c->state = ECPU_RUN;
		/* Rounding up the time must not leave a rest of a few picoseconds. */
		left_ps = c->now_ps >= c->burn_end_ps ? 0 : c->burn_left_ps;
		engine_sync(); /* takes the event that ended the burst; may be preempted */
	}
}

static u64 exit_latency_ps(u64 slept_ps)
{
	const struct machine *m = engine.cfg.machine;
	u32 s = IDLE_STATES - 1;

	/* Exit time 0: the part has no such state. */
	while (s && (!m->idle_exit_ns[s] || m->idle_residency_ns[s] * 1000ull > slept_ps))
		s--;
	return m->idle_exit_ns[s] * 1000ull;
}

u64 engine_idle_exit_ns(u32 cpu)
{
	const struct ecpu *c = &engine.cpu[cpu];
	u64 now_ps = engine.cur->now_ps;

	if (c->state != ECPU_IDLE)
		return ENV_EXIT_UNKNOWN;
	/* With slack it may have begun in our future. */
	return exit_latency_ps(now_ps > c->idle_since_ps ? now_ps - c->idle_since_ps : 0) / 1000;
}

/* Idle with nothing pending but the housekeeping CPU's own tick: if nobody else
 * can run either, nothing will ever happen. */
static void check_hang(const struct ecpu *c)
{
	for (u32 e = 0; e < EVT_NR; e++)
		if (e != EVT_TICK && c->event_ps[e] != TIME_NEVER)
			return;
	if (engine.key[1] == TIME_NEVER)
		engine_fail("no task can run and nothing is pending but ticks");
}

void engine_idle(void)
{
	engine_sync();

	struct ecpu *c = engine.cur;

	if (kernel_need_resched(c->id))
		return;
	if (c->id == engine.cfg.housekeeper) {
		check_hang(c);
	} else {
		c->tick_on = false;
		engine_event_clear(c, EVT_TICK);
	}
	c->state = ECPU_IDLE;
	c->in_idle = true;
	c->idle_since_ps = c->now_ps;
	set_busy(c, false);
	path_pause(c);
	engine_requeue(c);
	engine_pass(c);
	path_resume(c);
	c->idle_total_ps += c->now_ps - c->idle_since_ps;
	c->now_ps += exit_latency_ps(c->now_ps - c->idle_since_ps);
	c->state = ECPU_RUN;
	c->irq_depth++; /* the interrupt that woke it is taken below, when it counts as busy */
	engine_sync();
	set_busy(c, true);
	c->in_idle = false;
	if (!c->tick_on)
		engine_tick_start(c);
	c->irq_depth--;
	engine_sync();
}

void engine_relax(void)
{
	engine_sync();

	struct ecpu *c = engine.cur;
	u64 to_ps = engine.key[1];

	/* A PAUSE at least, so that time moves even alone; 40 cycles at 3 GHz is
	 * what Intel's optimisation manual gives for parts before Skylake. */
	engine_charge_ps(13000);
	if (to_ps != TIME_NEVER)
		to_ps++;
	if (!c->irq_depth && c->next_event_ps < to_ps)
		to_ps = c->next_event_ps;
	if (to_ps == TIME_NEVER)
		engine_fail("cpu %u spins and nothing can change what it waits for", c->id);
	if (c->now_ps < to_ps)
		c->now_ps = to_ps;
	engine_sync();
}
