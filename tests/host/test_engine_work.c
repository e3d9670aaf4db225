/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c
 * sched/topo.c tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_raw.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* What work and code cost: SMT speed, paths, surcharges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "../../kernel/lib/rng.h"
#include "engine_rig.h"

enum { DONE = 1, MARK };

static u64 irq(void)
{
	return rig.machine.irq_ns * 1000;
}

static u64 up(u64 work, u32 speed)
{
	return (work * 1000 + speed - 1) / speed;
}

static void run(void (*script)(u32 cpu))
{
	raw_run(NULL, script);
	assert_true(rig_ended_well());
}

/* ---- speeds -------------------------------------------------------------- */

/* Throughput of n threads is linear between the columns, constant behind them. */
static u32 speed_by_fractions(const struct machine *m, u32 n)
{
	static const u32 width[4] = { 1, 2, 4, 8 };
	u32 last = 3;

	while (!m->smt_pct[last])
		last--;
	if (n >= width[last])
		return m->smt_pct[last] * 10 * width[last] / n;
	for (u32 k = 0;; k++) {
		u64 a = m->smt_pct[k] * width[k], b = m->smt_pct[k + 1] * width[k + 1];
		u64 span = width[k + 1] - width[k];

		if (n < width[k + 1]) /* (a + (b - a) * (n - w) / span) * 10 / n */
			return (u32)((a * (width[k + 1] - n) + b * (n - width[k])) * 10 /
				     (span * n));
	}
}

static void test_speeds(void **state)
{
	static const u32 generic[] = { 1000, 620, 473, 400, 340, 300, 271, 250, 222, 200 };
	struct machine m = *machine_find("generic");
	struct rng r;

	(void)state;
	for (u32 n = 1; n <= ARRAY_SIZE(generic); n++)
		assert_int_equal(machine_smt_speed(&m, n), generic[n - 1]);
	m.smt_pct[2] = m.smt_pct[3] = 0;
	assert_int_equal(machine_smt_speed(&m, 2), 620);
	assert_int_equal(machine_smt_speed(&m, 3), 413);
	m.smt_pct[1] = 0;
	assert_int_equal(machine_smt_speed(&m, 1), 1000);
	assert_int_equal(machine_smt_speed(&m, 2), 500);
	rng_init(&r, 1, 0);
	for (u32 i = 0; i < 2000; i++) {
		u32 columns = 1 + (u32)rng_below(&r, 4), n = 1 + (u32)rng_below(&r, 16);

		for (u32 k = 0; k < 4; k++)
			m.smt_pct[k] = k < columns ? 1 + (u32)rng_below(&r, 100) : 0;
		m.smt_pct[0] = 100;
		assert_int_equal(machine_smt_speed(&m, n), speed_by_fractions(&m, n));
	}
}

/* ---- siblings ------------------------------------------------------------ */

static bool woken[8];

static void wake(enum ecpu_event e)
{
	if (e == EVT_TIMER)
		woken[env_this_cpu()] = true;
}

static void idle_until(u64 ps)
{
	u32 cpu = env_this_cpu();

	woken[cpu] = false;
	engine_event_set(engine.cur, EVT_TIMER, T0 + ps);
	while (!woken[cpu])
		engine_idle();
}

/* CPU 0 works; its sibling sleeps, works from 30 us on and leaves. */
static void two_siblings(u32 cpu)
{
	if (cpu == 0) {
		engine_burn(100000, 0);
		note(DONE, 0);
		return;
	}
	idle_until(30 * US);
	note(MARK, 0);
	engine_burn(10000, 0);
	note(MARK, 1);
}

static void smt_rig(u32 threads)
{
	rig_init(1, 1, 1, threads);
	rig.cfg.hz = 100; /* no tick before 10 ms */
	raw_handler = wake;
}

static void test_two_siblings(void **state)
{
	u64 busy_from, works_from, ends, done;

	(void)state;
	smt_rig(2);
	run(two_siblings);
	busy_from = 30 * US + rig.machine.idle_exit_ns[2] * 1000;
	works_from = busy_from + irq(); /* a surcharge: not slowed */
	ends = works_from + up(10 * US, 610);
	assert_int_equal(noted(MARK, 0)->at_ps, works_from);
	assert_int_equal(noted(MARK, 1)->at_ps, ends);
	/* Full speed up to busy_from and from ends on. */
	done = busy_from + (ends - busy_from) * 610 / 1000;
	assert_int_equal(noted(DONE, 0)->at_ps, ends + 100 * US - done);
}

/* Siblings 1 and 2 idle from 20 and 50 us on; nobody else shares the core. */
static void three_siblings(u32 cpu)
{
	static const u64 work_ns[] = { 100000, 20000, 50000 };

	engine_burn(work_ns[cpu], 0);
	note(DONE, cpu);
	if (cpu == 0)
		return;
	idle_until(900 * US);
}

static void test_three_siblings(void **state)
{
	/* (1 * 2 * 61 + 1 * 4 * 41) / 2 / 3 per cent, in thousandths and cut. */
	u32 three = 476, two = 610;
	u64 first, second, left;

	(void)state;
	smt_rig(3);
	run(three_siblings);
	first = up(20 * US, three);
	assert_int_equal(noted(DONE, 0)->value, 1);
	assert_int_equal(noted(DONE, 0)->at_ps, first);
	left = 50 * US - first * three / 1000;
	second = first + up(left, two);
	assert_int_equal(noted(DONE, 1)->value, 2);
	assert_int_equal(noted(DONE, 1)->at_ps, second);
	left = 100 * US - first * three / 1000 - (second - first) * two / 1000;
	assert_int_equal(noted(DONE, 2)->at_ps, second + left);
}

static struct env_lock lock;

static void make_lock(void)
{
	env_lock_init(&lock, LINE_USER, "test", 0);
}

/* 0 and 1 are siblings. 1 waits for a lock of 2's, and is busy meanwhile. */
static void sibling_waits(u32 cpu)
{
	if (cpu == 0) {
		run_until(1000);
		engine_burn(100000, 0);
		note(DONE, 0);
		engine_finish();
	}
	if (cpu == 1)
		run_until(1000);
	env_lock(&lock);
	env_irq_off();
	run_until(500 * US);
	env_sync();
}

static void test_lock_waiters_are_busy(void **state)
{
	(void)state;
	rig_init(1, 1, 2, 2);
	rig.cfg.hz = 100;
	raw_run(make_lock, sibling_waits);
	assert_true(rig_ended_well());
	assert_int_equal(noted(DONE, 0)->at_ps, 1000 + up(100 * US, 610));
}

/* A burst may begin ahead of the time at which the sibling acts next. */
static void runs_ahead(u32 cpu)
{
	if (cpu == 0) {
		run_until(40 * US);
		engine_burn(20000, 0);
		note(DONE, 0);
		engine_finish();
	}
	idle_until(10 * US);
	engine_burn(1000000, 0);
}

static void test_sibling_turns_busy_before_the_burst(void **state)
{
	(void)state;
	for (u32 slack = 0; slack <= 50; slack += 50) {
		smt_rig(2);
		rig.cfg.slack_ps = slack * US;
		run(runs_ahead);
		assert_int_equal(noted(DONE, 0)->at_ps, 40 * US + up(20 * US, 610));
	}
}

/* CPU 1 sleeps, deeper and deeper; CPU 0 asks what it would cost to wake it. */
static u64 asked_ns[6];

static void asks(u32 cpu)
{
	const u32 *ns = rig.machine.idle_residency_ns;
	const u64 at_ns[] = { ns[1] - 1, ns[1], ns[2], ns[3] - 1, ns[3] };

	asked_ns[0] = engine_idle_exit_ns(1); /* it has not begun */
	if (cpu == 1)
		idle_until(2 * MS);
	for (u32 i = 0; cpu == 0 && i < ARRAY_SIZE(at_ns); i++) {
		engine_burn(at_ns[i] - (i ? at_ns[i - 1] : 0), 0);
		asked_ns[i + 1] = engine_idle_exit_ns(1);
	}
}

static void test_exit_latency(void **state)
{
	static const u32 in_state[] = { 0, 1, 2, 2, 3 };

	(void)state;
	rig_init(1, 2, 1, 1);
	rig.cfg.hz = 100;
	raw_handler = wake;
	run(asks);
	assert_true(asked_ns[0] == ENV_EXIT_UNKNOWN);
	for (u32 i = 1; i < ARRAY_SIZE(asked_ns); i++)
		assert_int_equal(asked_ns[i], rig.machine.idle_exit_ns[in_state[i - 1]]);
}

/* ---- random siblings against an integration in real numbers -------------- */

#define PHASES 60

struct phase {
	u64 burn_ns, sleep_ps; /* then sleeps until that much after the nominal start */
};

static struct phase phase[4][PHASES];
static u64 until[4][PHASES];

static void phases(u32 cpu)
{
	for (u32 i = 0; i < PHASES; i++) {
		engine_burn(phase[cpu][i].burn_ns, 0);
		note(DONE, i);
		if (clock_ps() < until[cpu][i])
			idle_until(until[cpu][i]);
	}
	idle_until(9 * MS); /* all idle by then */
}

/* One CPU of the integration: burns, sleeps, or pays a fixed time. */
struct real {
	enum { BURNS, SLEEPS, PAYS } mode;
	double left, until; /* work; end of sleep or payment */
	double slept_from;
	u32 phase;
	double done[PHASES];
};

static bool real_next(struct real *c, u32 cpu, double now)
{
	/* A sleep that is over before it begins does not happen. */
	if (c->mode == BURNS) {
		c->done[c->phase] = now;
		if (now < (double)until[cpu][c->phase]) {
			c->mode = SLEEPS;
			c->slept_from = now;
			c->until = (double)until[cpu][c->phase];
			return true;
		}
	} else if (c->mode == SLEEPS) {
		double slept = now - c->slept_from;
		u32 s = 3;

		while (s && (double)rig.machine.idle_residency_ns[s] * 1000 > slept)
			s--;
		c->mode = SLEEPS; /* idle until it has left its state */
		c->until = now + rig.machine.idle_exit_ns[s] * 1000.0;
		c->slept_from = -1;
		return true;
	}
	if (++c->phase == PHASES) {
		c->mode = SLEEPS;
		c->until = INFINITY;
		return false;
	}
	c->mode = BURNS;
	c->left = (double)phase[cpu][c->phase].burn_ns * 1000;
	return true;
}

static void real_event(struct real *c, u32 cpu, double now)
{
	if (c->mode == SLEEPS && c->slept_from < 0) {
		c->mode = PAYS;
		c->until = now + (double)irq();
		return;
	}
	real_next(c, cpu, now);
}

static void integrate(struct real *core, u32 nr)
{
	double now = 0;

	for (u32 c = 0; c < nr; c++)
		core[c] = (struct real){ .mode = BURNS, .left = phase[c][0].burn_ns * 1000.0 };
	for (;;) {
		double step = INFINITY, speed;
		u32 busy = 0, next = 0;

		for (u32 c = 0; c < nr; c++)
			busy += core[c].mode != SLEEPS;
		speed = machine_smt_speed(&rig.machine, busy ? busy : 1) / 1000.0;
		for (u32 c = 0; c < nr; c++) {
			double d = core[c].mode == BURNS ? core[c].left / speed
							 : core[c].until - now;

			if (d < step) {
				step = d;
				next = c;
			}
		}
		if (step == INFINITY)
			return;
		now += step;
		for (u32 c = 0; c < nr; c++)
			if (core[c].mode == BURNS)
				core[c].left -= step * speed;
		real_event(&core[next], next, now);
	}
}

static void test_random_siblings(void **state)
{
	(void)state;
	for (u32 seed = 1; seed <= 8; seed++) {
		u32 threads = 2 + seed % 3;
		struct real core[4];
		struct rng r;

		smt_rig(threads);
		rng_init(&r, seed, 0);
		for (u32 c = 0; c < threads; c++) {
			u64 nominal = 0;

			for (u32 i = 0; i < PHASES; i++) {
				phase[c][i].burn_ns = 1 + rng_below(&r, 40000);
				nominal += rng_below(&r, 80 * US);
				until[c][i] = nominal;
			}
		}
		run(phases);
		integrate(core, threads);
		for (u32 n = 0; n < nr_notes; n++) {
			double real = core[notes[n].cpu].done[notes[n].value];

			/* A picosecond is lost per change of speed, and passed on. */
			if (fabs((double)notes[n].at_ps - real) > 2000)
				print_error("seed %u cpu %u phase %llu: %llu ps, not %.1f\n", seed,
					    notes[n].cpu, (unsigned long long)notes[n].value,
					    (unsigned long long)notes[n].at_ps, real);
			assert_true(fabs((double)notes[n].at_ps - real) <= 2000);
		}
		assert_int_equal(nr_notes, threads * PHASES);
	}
}

/* ---- code ---------------------------------------------------------------- */

static void charge_all(u32 cpu)
{
	if (cpu) {
		engine_idle();
		return;
	}
	run_until(1000); /* the sibling idles, or works on */
	env_sync();
	for (u32 p = 0; p < PATH_NR; p++) {
		u64 since = clock_ps();

		env_path_begin((enum env_path)p);
		env_path_begin((enum env_path)((p + 1) % PATH_NR)); /* costs are exclusive */
		env_path_end((enum env_path)((p + 1) % PATH_NR));
		env_path_end((enum env_path)p);
		note(MARK, clock_ps() - since);
	}
	for (u32 s = 0; s < ENV_NR_SURCHARGES; s++) {
		u64 since = clock_ps();

		env_charge((enum env_surcharge)s);
		note(DONE, clock_ps() - since);
	}
	engine_finish();
}

static void busy_beside(u32 cpu)
{
	if (cpu)
		engine_burn(1000000, 0);
	else
		charge_all(0);
}

static void check_costs(u32 speed)
{
	static const u32 insns[] = {
#define PATH(name, n, help) n,
#include "../../sched/costs.def"
#undef PATH
	};
	const struct machine *m = &rig.machine;
	const u64 surcharge[ENV_NR_SURCHARGES] = {
		[ENV_SYSCALL] = (53 + 89) * 1000, [ENV_IRQ] = 457000, [ENV_TICK_HW] = 541000,
		[ENV_SWITCH_THREAD] = 181000, [ENV_SWITCH_PROC] = 251000, [ENV_IPI_SEND] = 131000,
		[ENV_RDTSC] = 8311, [ENV_DIV] = 7019, [ENV_IRQSAVE] = 11003,
	};
	u64 ps_per_insn = 100000000 / (m->mhz * m->ipc_hot_x100);

	for (u32 p = 0; p < PATH_NR; p++) {
		u64 own = insns[p] * ps_per_insn, other = insns[(p + 1) % PATH_NR] * ps_per_insn;

		assert_int_equal(noted(MARK, p)->value, up(own, speed) + up(other, speed));
		assert_int_equal(engine.path_count[p], 2);
	}
	for (u32 s = 0; s < ENV_NR_SURCHARGES; s++)
		assert_int_equal(noted(DONE, s)->value, surcharge[s]);
}

static void test_code_is_slowed_by_siblings_surcharges_are_not(void **state)
{
	(void)state;
	for (u32 busy = 0; busy < 2; busy++)
		for (u32 ipc = 100; ipc <= 150; ipc += 50) {
			rig_init(1, 1, 1, 2);
			rig.machine.ipc_hot_x100 = ipc;
			run(busy ? busy_beside : charge_all);
			check_costs(busy ? 610 : 1000);
		}
}

/* A path has the time between its begin and end, less that of those inside. */
static void nested_paths(u32 cpu)
{
	static struct env_line line;

	(void)cpu;
	env_line_init(&line, LINE_USER);
	env_path_begin(PATH_WAKEUP);
	run_until(clock_ps() + 1000);
	env_path_begin(PATH_SELECT);
	run_until(clock_ps() + 500);
	env_line_write(&line);
	env_burn(100, 0);
	run_until(clock_ps() + 200);
	env_path_end(PATH_SELECT);
	run_until(clock_ps() + 30);
	env_path_end(PATH_WAKEUP);
	run_until(clock_ps() + 7);
	env_path_begin(PATH_FORK); /* closes the account of what is outside */
	env_path_end(PATH_FORK);
}

static void test_path_time(void **state)
{
	u64 miss_ps;

	(void)state;
	rig_init(1, 1, 1, 1);
	run(nested_paths);
	miss_ps = engine.line_stats[LINE_USER].cost_ps;
	assert_true(miss_ps);
	assert_int_equal(engine.path_time_ps[PATH_WAKEUP], engine.path_ps[PATH_WAKEUP] + 1030);
	assert_int_equal(engine.path_time_ps[PATH_SELECT],
			 engine.path_ps[PATH_SELECT] + 700 + miss_ps);
	assert_int_equal(engine.path_line_ps[PATH_SELECT], miss_ps);
	assert_int_equal(engine.path_line_ps[PATH_WAKEUP], 0);
	assert_int_equal(engine.path_time_ps[PATH_NR], 7);
	assert_int_equal(engine.work_ps, 100000);
}

static void uncharged_code(u32 cpu)
{
	(void)cpu;
	env_uncharged_begin();
	env_uncharged_begin(); /* they nest */
	env_path_begin(PATH_WAKEUP);
	env_path_end(PATH_WAKEUP);
	env_uncharged_end();
	env_charge(ENV_SYSCALL);
	env_path_begin(PATH_WAKEUP);
	env_path_end(PATH_WAKEUP);
	env_uncharged_end();
	note(DONE, 0);
	env_charge(ENV_DIV);
	note(DONE, 0);
}

static void test_uncharged_code_is_free(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	run(uncharged_code);
	assert_int_equal(noted(DONE, 0)->at_ps, 0);
	assert_int_equal(noted(DONE, 1)->at_ps, rig.machine.div_ps);
	assert_int_equal(engine.path_count[PATH_WAKEUP], 0);
}

extern jmp_buf *panic_jump;
extern char panic_text[256];
static u32 mistake;

static void path_mistake(u32 cpu)
{
	jmp_buf jump;

	(void)cpu;
	if (!setjmp(jump)) {
		panic_jump = &jump;
		if (mistake == 0)
			env_path_end(PATH_IRQ);
		env_path_begin(PATH_IRQ);
		if (mistake == 1)
			env_path_end(PATH_TICK);
		for (u32 i = 0; i < 14; i++)
			env_path_begin(PATH_TICK);
		note(MARK, 0); /* 15 deep is allowed */
		env_path_begin(PATH_TICK);
		note(DONE, 0);
	}
	engine_finish();
}

static void test_path_mistakes_panic(void **state)
{
	static const char *const text[] = { "ends inside another", "ends inside another",
					    "nested too deep" };

	(void)state;
	for (mistake = 0; mistake < 3; mistake++) {
		rig_init(1, 1, 1, 1);
		raw_run(NULL, path_mistake);
		assert_non_null(strstr(panic_text, text[mistake]));
		assert_int_equal(count_notes(DONE), 0);
		assert_int_equal(count_notes(MARK), mistake == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speeds),
		cmocka_unit_test(test_two_siblings),
		cmocka_unit_test(test_exit_latency),
		cmocka_unit_test(test_three_siblings),
		cmocka_unit_test(test_lock_waiters_are_busy),
		cmocka_unit_test(test_sibling_turns_busy_before_the_burst),
		cmocka_unit_test(test_random_siblings),
		cmocka_unit_test(test_code_is_slowed_by_siblings_surcharges_are_not),
		cmocka_unit_test(test_uncharged_code_is_free),
		cmocka_unit_test(test_path_time),
		cmocka_unit_test(test_path_mistakes_panic),
	};

	return cmocka_run_group_tests_name("engine_work", tests, NULL, NULL);
}
