/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Weights, slices and their tunables: spec/cfs-core.md sections 2, 3, 6 and 13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"

static struct machine m;

/* What a nice-0 task's delta is to a task of this nice value. */
static u64 fair_delta(s32 nice, u64 delta)
{
	struct sched_entity se = { .load = {
		.weight = scale_load(sched_prio_to_weight[nice + 20]),
		.inv_weight = sched_prio_to_wmult[nice + 20],
	} };

	return calc_delta_fair(m.s, delta, &se);
}

static void test_table_inverse(void **state)
{
	static const struct { s32 nice; u64 delta, want; } table[] = {
		{ -20, 999, 11 }, { -20, 1000000, 11536 },
		{ -20, 1000000000000, 11536598205 },
		{ -5, 1000000, 328099 },
		{ 5, 999, 3053 }, { 5, 1000000, 3056716 }, { 5, 1000000000000, 3056716442108 },
		{ 19, 999, 68198 }, { 19, 1000000, 68266666 },
		{ 19, 1000000000000, 68266666650772 },
		{ 0, 999, 999 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(fair_delta(table[i].nice, table[i].delta), table[i].want);
}

static void test_computed_inverse(void **state)
{
	struct load_weight lw = { .weight = 349525 };
	struct sched_entity se = { .load = { .weight = 349525 } };

	(void)state;
	assert_int_equal(calc_delta_fair(m.s, 1000000, &se), 3002932);
	assert_int_equal(se.load.inv_weight, UINT32_MAX / 341);
	/* The ends of the inverse, and a change of weight forgets it. */
	assert_int_equal(calc_delta(m.s, 1000, NICE_0_LOAD, &lw), 3002);
	lw = (struct load_weight){ .weight = (u64)UINT32_MAX << 10 };
	calc_delta(m.s, 1, NICE_0_LOAD, &lw);
	assert_int_equal(lw.inv_weight, 1);
	lw = (struct load_weight){ 0 };
	calc_delta(m.s, 1, 1024, &lw);
	assert_int_equal(lw.inv_weight, UINT32_MAX);
	update_load_add(&lw, 2048);
	assert_int_equal(lw.weight, 2048);
	assert_int_equal(lw.inv_weight, 0);
	calc_delta(m.s, 1, 1024, &lw);
	update_load_sub(&lw, 1024);
	assert_int_equal(lw.weight, 1024);
	assert_int_equal(lw.inv_weight, 0);
}

/* delta * weight / lw, never above and low by no more than section 3 says. */
static void test_error_bound(void **state)
{
	u64 x = 88172645463325252ull;

	(void)state;
	for (u32 i = 0; i < 200000; i++) {
		struct load_weight lw = { 0 };
		u64 delta, weight, got, want, slop;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		lw.weight = scale_load(2 + (x >> 8) % 300000);
		weight = scale_load(2 + (x >> 30) % (lw.weight >> 10));
		if (weight > lw.weight)
			weight = lw.weight;
		delta = x % (1ull << (10 + i % 30));
		got = calc_delta(m.s, delta, weight, &lw);
		want = (u64)((u128)delta * (weight >> 10) / (lw.weight >> 10));
		slop = (u64)((u128)want * (lw.weight >> 10) >> 32) + (want >> 31) + 1;
		assert_true(got <= want);
		assert_true(want - got <= slop + 1);
	}
}

static void test_scale_load_down(void **state)
{
	(void)state;
	assert_int_equal(scale_load_down(m.s, 0), 0);
	assert_int_equal(scale_load_down(m.s, 1), 2);
	assert_int_equal(scale_load_down(m.s, 2047), 2);
	assert_int_equal(scale_load_down(m.s, 3 << 10), 3);
	m.s->vector.profile = PROFILE_V5_2;
	assert_int_equal(scale_load_down(m.s, 1), 0);
	assert_int_equal(scale_load_down(m.s, 2047), 1);
	m.s->vector.profile = PROFILE_V6_4;
}

static int set_up(void **state)
{
	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	machine_free(&m);
	return 0;
}

/* ---- slices ---------------------------------------------------------------- */

static struct sched_task *queued(struct task_group *tg, s32 nice)
{
	struct sched_task *t = machine_fork(&m);

	sched_set_nice(m.s, t, nice);
	if (tg)
		sched_move_task(m.s, t, tg);
	machine_wake_here(&m, t);
	return t;
}

static u64 slice(struct sched_task *t)
{
	return sched_slice(t->se.cfs_rq, &t->se);
}

static void test_slices(void **state)
{
	struct sched_task *a, *b;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	a = queued(NULL, 0);
	assert_int_equal(slice(a), 5999998);
	b = queued(NULL, 0);
	assert_int_equal(slice(a), 2999998);
	sched_set_nice(m.s, b, 5);
	assert_int_equal(slice(a), 4520971);
	assert_int_equal(slice(b), 1479028);
	sched_set_nice(m.s, b, 0);
	for (u32 i = 0; i < 10; i++)
		queued(NULL, 0);
	assert_int_equal(slice(a), 750000);
	machine_free(&m);

	/* The same without a floor. */
	machine_init(&m, 1, 1, 1, PROFILE_V5_2, "");
	a = queued(NULL, 0);
	for (u32 i = 0; i < 11; i++)
		queued(NULL, 0);
	assert_int_equal(slice(a), 749999);
	machine_free(&m);
}

/* Root {T0, G {g0, g5}}. */
static void group_slices(u32 cpus, enum sched_profile profile, u64 t0_ns, u64 g0_ns, u64 g5_ns)
{
	struct sched_task *t0, *g0, *g5;
	struct task_group *tg;

	machine_init(&m, 1, cpus, 1, profile, "");
	tg = tg_create(m.s, &m.s->root_tg, 1024);
	t0 = queued(NULL, 0);
	g0 = queued(tg, 0);
	g5 = queued(tg, 5);
	assert_int_equal(slice(t0), t0_ns);
	assert_int_equal(slice(g0), g0_ns);
	assert_int_equal(slice(g5), g5_ns);
	machine_free(&m);
}

static void test_group_slices(void **state)
{
	(void)state;
	group_slices(1, PROFILE_V6_4, 2999998, 2260484, 750000);
	group_slices(1, PROFILE_V5_2, 2999998, 2260484, 739513);
	group_slices(8, PROFILE_V5_2, 11999994, 9041938, 2958055);
}

/* v5.2 counts the entity's own queue, v6.4 all tasks of the CPU. */
static void test_period_counts(void **state)
{
	static const u64 want[PROFILE_NR] = { [PROFILE_V5_2] = 3000000, [PROFILE_V6_4] = 3750000 };

	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		struct task_group *tg;
		struct sched_task *t0;
		u64 got;

		machine_init(&m, 1, 1, 1, profile, "");
		tg = tg_create(m.s, &m.s->root_tg, 1024);
		t0 = queued(NULL, 0);
		for (u32 i = 0; i < 9; i++)
			queued(tg, 0);
		got = slice(t0);
		assert_in_range(got, want[profile] - 3, want[profile]);
		machine_free(&m);
	}
}

static void test_vslice(void **state)
{
	struct sched_task *newcomer;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	queued(NULL, 0);
	newcomer = machine_fork(&m);
	assert_int_equal(sched_vslice(newcomer->se.cfs_rq, &newcomer->se), 2999998);
	sched_set_nice(m.s, newcomer, 5);
	assert_int_equal(sched_vslice(newcomer->se.cfs_rq, &newcomer->se), 4520969);
	machine_free(&m);

	/* The ninth stretches the period of all. */
	machine_init(&m, 1, 1, 1, PROFILE_V5_2, "");
	for (u32 i = 0; i < 8; i++)
		queued(NULL, 0);
	newcomer = machine_fork(&m);
	assert_int_equal(sched_vslice(newcomer->se.cfs_rq, &newcomer->se), 749998);
	machine_free(&m);
}

static void test_idle_slice(void **state)
{
	struct sched_task *t;

	(void)state;
	/* 8 CPUs: min_granularity 3 ms, but 0.75 ms for an idle task beside others. */
	machine_init(&m, 1, 8, 1, PROFILE_V6_4, "");
	t = queued(NULL, 0);
	sched_set_class(m.s, t, SCHED_CLASS_IDLE);
	for (u32 i = 0; i < 9; i++)
		queued(NULL, 0);
	assert_int_equal(slice(t), 750000);
	machine_free(&m);
	/* Among its like it is one of them. */
	machine_init(&m, 1, 8, 1, PROFILE_V6_4, "");
	for (u32 i = 0; i < 10; i++) {
		t = queued(NULL, 0);
		sched_set_class(m.s, t, SCHED_CLASS_IDLE);
	}
	assert_int_equal(slice(t), 3000000);
	machine_free(&m);
}

static void test_tunables(void **state)
{
	static const struct {
		u32 cpus;
		const char *how;
		u64 latency, min_gran, wakeup_gran;
	} table[] = {
		{ 1, "TUNABLE_SCALING=log", 6000000, 750000, 1000000 },
		{ 2, "TUNABLE_SCALING=log", 12000000, 1500000, 2000000 },
		{ 3, "TUNABLE_SCALING=log", 12000000, 1500000, 2000000 },
		{ 4, "TUNABLE_SCALING=log", 18000000, 2250000, 3000000 },
		{ 8, "TUNABLE_SCALING=log", 24000000, 3000000, 4000000 },
		{ 16, "TUNABLE_SCALING=log", 24000000, 3000000, 4000000 },
		{ 16, "TUNABLE_SCALING=none", 6000000, 750000, 1000000 },
		{ 5, "TUNABLE_SCALING=linear", 30000000, 3750000, 5000000 },
		{ 16, "TUNABLE_SCALING=linear", 48000000, 6000000, 8000000 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		machine_init(&m, 1, table[i].cpus, 1, PROFILE_V6_4, table[i].how);
		assert_int_equal(m.s->latency, table[i].latency);
		assert_int_equal(m.s->min_granularity, table[i].min_gran);
		assert_int_equal(m.s->wakeup_granularity, table[i].wakeup_gran);
		assert_int_equal(m.s->idle_min_granularity, 750000);
		assert_int_equal(m.s->nr_latency, 8);
		machine_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_table_inverse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_computed_inverse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_error_bound, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_scale_load_down, set_up, tear_down),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_group_slices),
		cmocka_unit_test(test_period_counts),
		cmocka_unit_test(test_vslice),
		cmocka_unit_test(test_idle_slice),
		cmocka_unit_test(test_tunables),
	};

	return cmocka_run_group_tests_name("sched_weight", tests, NULL, NULL);
}
