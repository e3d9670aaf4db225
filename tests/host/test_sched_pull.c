/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* The idle pull: no CPU idles for long beside a queue of two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"

#define TICK_NS 1000000

static struct machine m;

static void pin(struct sched_task *p, u64 allowed)
{
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
}

static void tick_all(void)
{
	machine_advance(&m, TICK_NS);
	test_env.jiffies++;
	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		if (!sched_current(m.s, c)->is_idle_task)
			machine_tick(&m, c);
	machine_settle(&m);
}

static u32 idle_cpus(void)
{
	u32 n = 0;

	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		n += sched_current(m.s, c)->is_idle_task;
	return n;
}

/* ---- about to idle ---------------------------------------------------------- */

/* From the nearest queue of two, the task that ran longest ago. */
static void test_newidle(void **state)
{
	struct sched_task *near[3], *last;

	(void)state;
	machine_init(&m, 2, 2, 2, PROFILE_V6_4, "");
	for (u32 i = 0; i < 3; i++)
		machine_start(&m, 4); /* far */
	for (u32 i = 0; i < 3; i++)
		near[i] = machine_start(&m, 2);
	last = machine_start(&m, 0);
	machine_on(0);
	assert_true(sched_current(m.s, 0) == last);
	assert_true(m.s->overload);
	for (u32 i = 1; i < 5; i++) {
		machine_advance(&m, 30 * TICK_NS);
		machine_tick(&m, 2);
		assert_true(sched_current(m.s, 2) == near[i % 3]);
	}
	machine_sleep(&m);
	assert_true(sched_current(m.s, 0) == near[2]);
	assert_int_equal(near[2]->cpu, 0);
	assert_int_equal(cpu_rq(m.s, 0)->idle_stamp, 0);
	assert_int_equal(machine_count(&m, pulled), 1);
	assert_int_equal(machine_count(&m, pulls), 1);
	assert_int_equal(machine_count(&m, idle_entries), 0);
	machine_free(&m);
}

/* A scan that meets no queue of two clears the flag; none follows. */
static void test_overload_flag(void **state)
{
	struct sched_task *a;

	(void)state;
	machine_init(&m, 2, 2, 2, PROFILE_V6_4, "");
	machine_start(&m, 0);
	a = machine_start(&m, 0);
	assert_true(m.s->overload);
	pin(a, 2);
	machine_settle(&m);
	machine_on(1);
	machine_sleep(&m);
	assert_int_equal(machine_count(&m, pulls), 1);
	assert_int_equal(test_env.paths[PATH_PULL_STEP], 7); /* each other queue once */
	assert_false(m.s->overload);
	machine_on(0);
	machine_sleep(&m);
	assert_int_equal(machine_count(&m, pulls), 1);
	assert_int_equal(machine_count(&m, pulled), 0);
	machine_free(&m);
}

/* Reasons not to look: switched off, idle too briefly, a remote wake-up pending. */
static void test_newidle_declines(void **state)
{
	static const struct { const char *switches; u64 avg_idle; bool pulls; } table[] = {
		{ "", 500000, true }, { "", 499999, false }, { "NO_IDLE_PULL", 1000000, false },
		{ "MIGRATION_COST=100000", 199999, true },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		machine_init(&m, 1, 2, 1, PROFILE_V6_4, table[i].switches);
		machine_start(&m, 1);
		machine_start(&m, 1);
		machine_start(&m, 0);
		cpu_rq(m.s, 0)->avg_idle = table[i].avg_idle;
		machine_on(0);
		machine_sleep(&m);
		assert_int_equal(machine_count(&m, pulled), table[i].pulls);
		assert_int_equal(sched_nr_running(m.s, 0), table[i].pulls);
		machine_free(&m);
	}
}

/* Running, pinned or not allowed here: not movable. */
static void test_unmovable(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	machine_start(&m, 1);
	p = machine_start(&m, 1);
	pin(p, 0xe);
	machine_start(&m, 0);
	machine_on(0);
	machine_sleep(&m);
	assert_int_equal(sched_nr_running(m.s, 0), 0);
	assert_int_equal(machine_count(&m, pulled), 0);
	assert_true(m.s->overload); /* it did meet a queue of two */
	machine_free(&m);
}

/* ---- the tick's request ---------------------------------------------------------- */

/* All start on CPU 0; after the first tick or two all CPUs work. */
static void test_spread(void **state)
{
	static const struct { u32 pkgs, cores, threads; } shapes[] = {
		{ 1, 2, 1 }, { 1, 4, 2 }, { 2, 4, 2 }, { 4, 4, 1 }, { 4, 1, 1 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(shapes); i++) {
		u32 n;

		machine_init(&m, shapes[i].pkgs, shapes[i].cores, shapes[i].threads,
			     PROFILE_V6_4, "");
		n = m.topo.nr_cpus;
		for (u32 t = 0; t < n; t++)
			machine_start(&m, 0);
		/* Each queue of two or more asks one idle CPU per tick. */
		for (u32 tick = 0; tick < n; tick++)
			tick_all();
		assert_int_equal(idle_cpus(), 0);
		for (u32 c = 0; c < n; c++)
			assert_int_equal(sched_nr_running(m.s, c), 1);
		assert_int_equal(machine_count(&m, pulled), n - 1);
		machine_check(&m);
		machine_free(&m);
	}
}

/* The nearest idle CPU that may run one of the waiting tasks is asked, once a tick. */
static void test_kick_nearest(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 2, 2, 2, PROFILE_V6_4, "");
	machine_start(&m, 0);
	p = machine_start(&m, 0);
	pin(p, 0xc1 | 0x10); /* 0, 4, 6, 7 */
	machine_start(&m, 4);
	test_env.calls = 0;
	machine_tick(&m, 0);
	assert_int_equal(test_env.calls, 1);
	assert_true(test_env.called[6][ENV_CALL_PULL]);
	assert_int_equal(machine_count(&m, pull_kicks), 1);
	machine_settle(&m);
	assert_true(sched_current(m.s, 6) == p);
	machine_free(&m);
}

/* Work that was pulled ends the idle period without a sample of it. */
static void test_pull_ends_idleness(void **state)
{
	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "");
	machine_start(&m, 1);
	machine_tick(&m, 1); /* it has work: not one of the idle CPUs yet */
	machine_on(1);
	machine_sleep(&m);
	assert_int_not_equal(cpu_rq(m.s, 1)->idle_stamp, 0);
	machine_start(&m, 0);
	machine_start(&m, 0);
	machine_tick(&m, 0);
	machine_settle(&m);
	assert_int_equal(machine_count(&m, pulled), 1);
	assert_int_equal(cpu_rq(m.s, 1)->idle_stamp, 0);
	assert_int_equal(cpu_rq(m.s, 1)->avg_idle, 1000000);
	machine_free(&m);
}

/* Pinned tasks cost no requests, however many idle CPUs there are. */
static void test_pinned_is_quiet(void **state)
{
	(void)state;
	machine_init(&m, 1, 4, 2, PROFILE_V6_4, "");
	for (u32 i = 0; i < 4; i++)
		pin(machine_start(&m, 0), 0x1);
	for (u32 i = 0; i < 4; i++)
		pin(machine_start(&m, 1), 0x3);
	test_env.calls = 0;
	for (u32 i = 0; i < 50; i++)
		tick_all();
	assert_int_equal(test_env.calls, 0);
	assert_int_equal(machine_count(&m, pull_kicks), 0);
	assert_int_equal(m.s->idle_mask_line.reads, 50); /* of CPU 1, whose tasks may use 0 */
	assert_int_equal(idle_cpus(), 6);
	machine_free(&m);
}

/* With all CPUs at work, a tick looks at no CPU. */
static void test_busy_is_quiet(void **state)
{
	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	for (u32 c = 0; c < 4; c++)
		for (u32 i = 0; i < 3; i++)
			machine_start(&m, c);
	tick_all();
	assert_int_equal(m.s->idle_mask_weight, 0);
	test_env.paths[PATH_PULL_STEP] = 0;
	for (u32 i = 0; i < 20; i++)
		tick_all();
	assert_int_equal(test_env.paths[PATH_PULL_STEP], 0);
	machine_free(&m);
}

/* A request that comes too late, or to a CPU that has work by now. */
static void test_late_request(void **state)
{
	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	machine_start(&m, 0);
	machine_start(&m, 0);
	machine_tick(&m, 0);
	assert_true(test_env.called[1][ENV_CALL_PULL]);
	machine_start(&m, 1);
	assert_false(test_env.called[1][ENV_CALL_PULL]);
	assert_int_equal(machine_count(&m, pulls), 0);
	machine_settle(&m);
	machine_free(&m);

	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	machine_start(&m, 0);
	machine_start(&m, 0);
	machine_tick(&m, 0);
	machine_on(0);
	machine_sleep(&m); /* one is left */
	machine_settle(&m);
	assert_int_equal(machine_count(&m, pulled), 0);
	assert_int_equal(sched_nr_running(m.s, 1), 0);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newidle),
		cmocka_unit_test(test_overload_flag),
		cmocka_unit_test(test_newidle_declines),
		cmocka_unit_test(test_unmovable),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_kick_nearest),
		cmocka_unit_test(test_pull_ends_idleness),
		cmocka_unit_test(test_pinned_is_quiet),
		cmocka_unit_test(test_busy_is_quiet),
		cmocka_unit_test(test_late_request),
	};

	return cmocka_run_group_tests_name("sched_pull", tests, NULL, NULL);
}
