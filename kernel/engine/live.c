/* SPDX-License-Identifier: MIT */
/*
 * Live mode. Interrupts are real: the LAPIC timer carries tick and timers, IPIs
 * carry reschedules and calls. irq_depth counts as in lockstep; at 0 the
 * hardware flag is on.
 */
#include "../../sched/env.h"
#include "../panic.h"
#include "../platform.h"

#define LOCK_STUCK_NS 60000000000ull /* far beyond what an overloaded host causes */
#define SPINS_PER_CHECK 65536
#define STOP_NS 1000000000ull

/* A test builds with __ATOMIC_RELAXED: locks that order nothing. x86 runs both the
 * same, so that ThreadSanitizer alone can tell. */
#ifndef LIVE_UNLOCK_ORDER
#define LIVE_UNLOCK_ORDER __ATOMIC_RELEASE
#endif

static u32 live_parked;

/* CPUs in a run's code: written by each itself, interrupts off. An interrupt may
 * come in after its target left the run; a CPU that left twice would continue on
 * a stack frame that is gone. Not in struct ecpu, which the next run clears. */
static bool inside[MAX_CPUS];

static struct ecpu *self(void)
{
	return &engine.cpu[plat_this_cpu()];
}

u64 live_now(void)
{
	return plat_host_ns() - engine.live_base_ns + ENGINE_START_PS / 1000;
}

u32 live_this_cpu(void)
{
	return plat_this_cpu();
}

void live_irq_off(void)
{
	plat_irq_disable();
	self()->irq_depth++;
}

void live_irq_on(void)
{
	if (!--self()->irq_depth)
		plat_irq_enable();
}

void live_preempt_check(void)
{
	plat_irq_disable();
	while (!self()->irq_depth && kernel_need_resched(plat_this_cpu())) {
		plat_irq_enable();
		kernel_preempt();
		plat_irq_disable();
	}
	if (!self()->irq_depth)
		plat_irq_enable();
}

/* ---- locks: test and set, since a queue of preempted virtual CPUs stands still */

static bool try_take(struct env_lock *l)
{
	return !__atomic_load_n(&l->live_word, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&l->live_word, 1, __ATOMIC_ACQUIRE);
}

static void noreturn_fn leave(struct ecpu *c);

/* Whether c, which spins, waits in the end for itself, as far as a look without
 * locks can tell: owners and waiters change meanwhile. */
static bool waits_for_itself(const struct ecpu *c)
{
	const struct ecpu *o = c;

	for (u32 hops = 0; hops <= engine.nr_cpus; hops++) {
		const struct env_lock *l = __atomic_load_n(&o->waiting_for, __ATOMIC_RELAXED);
		u32 owner = l ? __atomic_load_n(&l->owner, __ATOMIC_RELAXED) : NO_CPU;

		if (owner == NO_CPU)
			return false;
		o = &engine.cpu[owner];
		if (o == c)
			return true;
	}
	return false;
}

/* c has spun for long: the run may be over, or never get on. A cycle seen at two
 * looks in a row stands. */
static void spun_long(struct ecpu *c, struct env_lock *l, u64 since_ns, bool *cycle)
{
	if (__atomic_load_n(&engine.over, __ATOMIC_ACQUIRE))
		leave(c);
	if (!waits_for_itself(c))
		*cycle = false;
	else if (*cycle)
		engine_fail("lock cycle: cpu %u waits for %s %u, in the end for itself", c->id,
			    l->name, l->id);
	else
		*cycle = true;
	panic_unless(plat_host_ns() - since_ns < LOCK_STUCK_NS,
		     "lock %s %u: cpu %u waits in vain for cpu %u", l->name, l->id, c->id,
		     __atomic_load_n(&l->owner, __ATOMIC_RELAXED));
}

void live_lock(struct env_lock *l)
{
	struct ecpu *c;
	bool cycle = false;
	u64 since_ns;

	live_preempt_check();
	live_irq_off();
	panic_unless(__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != plat_this_cpu(),
		     "lock %s %u: cpu %u takes it twice", l->name, l->id, plat_this_cpu());
	since_ns = plat_host_ns();
	c = self();
	lock_check_order(l, c);
	__atomic_store_n(&c->waiting_for, l, __ATOMIC_RELAXED);
	for (u32 spins = 1; !try_take(l); spins++) {
		plat_relax();
		if (spins % SPINS_PER_CHECK == 0)
			spun_long(c, l, since_ns, &cycle);
	}
	__atomic_store_n(&c->waiting_for, NULL, __ATOMIC_RELAXED);
	lock_owned(l, c);
}

bool live_trylock(struct env_lock *l)
{
	live_irq_off();
	if (try_take(l)) {
		lock_owned(l, self());
		return true;
	}
	live_irq_on();
	return false;
}

void live_unlock(struct env_lock *l)
{
	lock_disowned(l, self());
	__atomic_store_n(&l->live_word, 0, LIVE_UNLOCK_ORDER);
	live_irq_on();
}

void live_relax(void)
{
	plat_relax();
	/* Whoever this waits for may have left in mid-work. */
	if (__atomic_load_n(&engine.over, __ATOMIC_ACQUIRE))
		leave(self());
	live_preempt_check();
}

/* ---- timers and ticks: own CPU, interrupts off ------------------------------------ */

static void timer_program(struct ecpu *c)
{
	u64 at_ps = c->event_ps[EVT_TIMER], now_ps = live_now() * 1000;

	if (c->tick_on && c->event_ps[EVT_TICK] < at_ps)
		at_ps = c->event_ps[EVT_TICK];
	if (at_ps == TIME_NEVER)
		plat_timer_after(0);
	else
		plat_timer_after(at_ps > now_ps ? (at_ps - now_ps) / 1000 + 1 : 1);
}

void live_timer_set(u64 at_ns)
{
	struct ecpu *c = self();

	c->event_ps[EVT_TIMER] = at_ns == TIME_NEVER ? TIME_NEVER : at_ns * 1000;
	timer_program(c);
}

static void tick_next(struct ecpu *c)
{
	c->tick_on = true;
	c->event_ps[EVT_TICK] = (live_now() * 1000 / engine.tick_ps + 1) * engine.tick_ps;
}

void live_tick_start(void)
{
	struct ecpu *c = self();

	tick_next(c);
	timer_program(c);
}

/* ---- interrupts --------------------------------------------------------------------- */

static void irq_begin(struct ecpu *c)
{
	c->irq_depth++;
	c->irqs++;
}

static void noreturn_fn leave(struct ecpu *c)
{
	void *gone;

	plat_ctx_switch(&gone, c->park_sp);
	__builtin_unreachable();
}

/* Interrupts were on, so no lock is held: the place to stop and to preempt. They
 * stay off until the return, however long this task is switched out: else those
 * that pile up meanwhile would nest on its stack without end. */
static void irq_end(struct ecpu *c)
{
	if (__atomic_load_n(&engine.over, __ATOMIC_ACQUIRE))
		leave(c);
	if (c->state != ECPU_IDLE)
		while (kernel_need_resched(plat_this_cpu()))
			kernel_preempt();
	self()->irq_depth--;
}

/* One that comes between runs must not even look at the next run's CPUs. */
static void on_timer(void)
{
	struct ecpu *c;
	u64 now_ps;

	if (!inside[plat_this_cpu()])
		return;
	c = self();
	now_ps = live_now() * 1000;
	irq_begin(c);
	if (c->event_ps[EVT_TIMER] <= now_ps) {
		c->event_ps[EVT_TIMER] = TIME_NEVER;
		kernel_event(EVT_TIMER, true);
	}
	if (c->tick_on && c->event_ps[EVT_TICK] <= now_ps) {
		tick_next(c);
		if (c->id == engine.cfg.housekeeper &&
		    now_ps - ENGINE_START_PS > engine.cfg.vlimit_ps)
			engine_fail("real time passed vlimit_s");
		kernel_event(EVT_TICK, true);
	}
	timer_program(c);
	irq_end(c);
}

static void on_ipi(void)
{
	struct ecpu *c;
	u32 bits;

	if (!inside[plat_this_cpu()])
		return;
	c = self();
	irq_begin(c);
	bits = __atomic_exchange_n(&c->live_pending, 0, __ATOMIC_ACQUIRE);
	for (u32 e = 0; e < EVT_NR; e++)
		if (bits >> e & 1)
			kernel_event((enum ecpu_event)e, true);
	irq_end(c);
}

void live_send(u32 cpu, enum ecpu_event e)
{
	__atomic_fetch_or(&engine.cpu[cpu].live_pending, 1u << e, __ATOMIC_RELEASE);
	plat_send_ipi(cpu, e == EVT_RESCHED ? PLAT_IPI_RESCHED : PLAT_IPI_CALL);
}

/* ---- work and idleness ----------------------------------------------------------------- */

void live_burn(u64 ns)
{
	u64 from_ns = kernel_ran_ns();

	live_preempt_check();
	while (kernel_ran_ns() - from_ns < ns)
		plat_relax();
}

void live_idle(void)
{
	struct ecpu *c = self();
	u64 since_ns;

	plat_irq_disable();
	if (kernel_need_resched(c->id)) {
		plat_irq_enable();
		return;
	}
	if (c->id != engine.cfg.housekeeper) {
		c->tick_on = false;
		c->event_ps[EVT_TICK] = TIME_NEVER;
	}
	timer_program(c);
	since_ns = live_now();
	/* The idle loop switches, after the tick runs again and the time is counted. */
	c->state = ECPU_IDLE;
	plat_wait();
	c->state = ECPU_RUN;
	c->idle_total_ps += (live_now() - since_ns) * 1000;
	if (!c->tick_on) {
		tick_next(c);
		timer_program(c);
	}
	plat_irq_enable();
}

/* ---- the executor ------------------------------------------------------------------------ */

static void live_cpu(void *arg)
{
	struct ecpu *c = arg;

	plat_irq_disable();
	if (!__atomic_load_n(&engine.over, __ATOMIC_ACQUIRE)) {
		inside[c->id] = true;
		/* What came in before was ignored; its bits are still there. */
		if (__atomic_load_n(&c->live_pending, __ATOMIC_ACQUIRE))
			plat_send_ipi(c->id, PLAT_IPI_CALL);
		plat_ctx_switch(&c->park_sp, c->sp);
		inside[c->id] = false;
	}
	plat_timer_after(0);
	__atomic_fetch_add(&live_parked, 1, __ATOMIC_RELEASE);
}

static void live_run(void)
{
	live_parked = 0;
	plat_on_timer(on_timer);
	plat_on_ipi(PLAT_IPI_RESCHED, on_ipi);
	plat_on_ipi(PLAT_IPI_CALL, on_ipi);
	plat_on_ipi(PLAT_IPI_STOP, on_ipi);
	engine.live_base_ns = plat_host_ns();
	for (u32 c = 1; c < engine.nr_cpus; c++)
		plat_run_on(c, live_cpu, &engine.cpu[c]);
	live_cpu(&engine.cpu[0]);
	while (__atomic_load_n(&live_parked, __ATOMIC_ACQUIRE) != engine.nr_cpus)
		plat_relax();
}

static void tell_others(void)
{
	for (u32 c = 0; c < engine.nr_cpus; c++)
		if (c != plat_this_cpu())
			plat_send_ipi(c, PLAT_IPI_STOP);
}

/* What the others hold and wait for stays as it was when they left. One that does
 * not leave in time may blur the report. */
static void live_stop(void)
{
	u64 since_ns = plat_host_ns();

	__atomic_store_n(&engine.over, true, __ATOMIC_RELEASE);
	tell_others();
	while (__atomic_load_n(&live_parked, __ATOMIC_ACQUIRE) != engine.nr_cpus - 1 &&
	       plat_host_ns() - since_ns < STOP_NS)
		plat_relax();
}

/* A CPU without an interrupt to take cannot be running the run's code with
 * interrupts off for good: locks are bounded, and idle CPUs halt with them on. */
static void noreturn_fn live_finish(void)
{
	panic_unless(self()->irq_depth, "live: cpu %u ends the run with interrupts on",
		     plat_this_cpu());
	tell_others();
	leave(self());
}

static void live_pass(struct ecpu *from, struct ecpu *to)
{
	panic("live: cpu %u passes control to %u", from->id, to->id);
}

const struct executor executor_live = {
	.live = true, .needs_cpus = true,
	.run = live_run, .pass = live_pass, .finish = live_finish, .stop = live_stop,
};
