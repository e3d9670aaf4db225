/* SPDX-License-Identifier: MIT */
/*
 * How control passes from CPU to CPU.
 *
 * mux: all CPUs are coroutines of one physical CPU.
 * smp: each CPU's code runs on its own physical CPU; the token says whose turn
 * it is, everybody else halts. A CPU waits for the token on whatever stack it
 * was on, so nothing else about it differs from mux.
 */
#include "exec.h"

#include "../platform.h"
#include "ready.h"

/* CPU 0 runs first: all clocks are equal. */
static void take_first(void)
{
	engine.cur = &engine.cpu[0];
	ready_set(engine.key, engine.leaves, 0, TIME_NEVER);
}

/* ---- mux --------------------------------------------------------------------- */

static void mux_pass(struct ecpu *from, struct ecpu *to)
{
	plat_ctx_switch(&from->sp, to->sp);
}

static void mux_run(void)
{
	take_first();
	plat_ctx_switch(&engine.main_sp, engine.cur->sp);
}

static void noreturn_fn mux_finish(void)
{
	void *gone;

	plat_ctx_switch(&gone, engine.main_sp);
	__builtin_unreachable();
}

/* ---- smp --------------------------------------------------------------------- */

static u32 smp_token;
static u32 smp_parked;  /* CPUs back from the run */
static u32 smp_resting; /* CPUs that are about to halt, or do */

static void smp_leave(struct ecpu *c)
{
	void *gone;

	plat_ctx_switch(&gone, c->park_sp);
	__builtin_unreachable();
}

/* Halts until c has the token; false when the run is over instead. */
static bool smp_await_token(struct ecpu *c)
{
	plat_irq_disable();
	__atomic_fetch_add(&smp_resting, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&smp_token, __ATOMIC_ACQUIRE) != c->id) {
		if (__atomic_load_n(&engine.over, __ATOMIC_ACQUIRE))
			return false;
		plat_wait();
	}
	__atomic_fetch_sub(&smp_resting, 1, __ATOMIC_ACQ_REL);
	if (!engine.cfg.cost_insn)
		return true;
	/* The instruction counter is everybody's: nobody else may execute. Under
	 * icount a PAUSE gives the turn to the next CPU that does not halt, so two
	 * let the last one get from its announcement to its HLT. If the token was
	 * seen before its IPI came, that is taken here and not at the next wait. */
	while (__atomic_load_n(&smp_resting, __ATOMIC_ACQUIRE) != engine.nr_cpus - 1)
		plat_relax();
	plat_irq_enable();
	plat_relax();
	plat_relax();
	plat_irq_disable();
	return true;
}

static void smp_wait(struct ecpu *c)
{
	if (!smp_await_token(c))
		smp_leave(c);
}

static void smp_pass(struct ecpu *from, struct ecpu *to)
{
	__atomic_store_n(&smp_token, to->id, __ATOMIC_RELEASE);
	plat_send_ipi(to->id, PLAT_IPI_TOKEN);
	smp_wait(from);
}

/* The run as one physical CPU sees it: from its parked state and back. */
static void smp_cpu(void *arg)
{
	struct ecpu *c = arg;

	if (smp_await_token(c))
		plat_ctx_switch(&c->park_sp, c->sp);
	__atomic_fetch_add(&smp_parked, 1, __ATOMIC_RELEASE);
}

static void smp_run(void)
{
	smp_parked = smp_resting = 0;
	plat_on_ipi(PLAT_IPI_TOKEN, NULL);
	take_first();
	smp_token = 0;
	for (u32 c = 1; c < engine.nr_cpus; c++)
		plat_run_on(c, smp_cpu, &engine.cpu[c]);
	smp_cpu(&engine.cpu[0]);
	while (__atomic_load_n(&smp_parked, __ATOMIC_ACQUIRE) != engine.nr_cpus)
		plat_relax();
}

static void noreturn_fn smp_finish(void)
{
	struct ecpu *c = engine.cur;

	for (u32 i = 0; i < engine.nr_cpus; i++)
		if (i != c->id)
			plat_send_ipi(i, PLAT_IPI_TOKEN);
	smp_leave(c);
	__builtin_unreachable();
}

const struct executor executor_mux = {
	.run = mux_run, .pass = mux_pass, .finish = mux_finish,
};

const struct executor executor_smp = {
	.needs_cpus = true, .run = smp_run, .pass = smp_pass, .finish = smp_finish,
};
