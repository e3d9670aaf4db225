/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* The idle search and its averages: spec/idle-search.md sections 4, 5 and 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"

static struct machine m;

/* A task that never runs: what select_idle_sibling() needs of one. */
static struct sched_task *wakee(u64 allowed)
{
	struct sched_task *p = machine_fork(&m);
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
	return p;
}

/* Pins a task to each CPU of the mask. */
static void make_busy(u64 mask)
{
	for (u32 c = 0; c < m.topo.nr_cpus; c++) {
		if (!(mask >> c & 1))
			continue;
		machine_start(&m, c);
		assert_false(sched_current(m.s, c)->is_idle_task);
	}
}

/* As sched_wake() calls them: the task locked, interrupts off. */
static u32 search_from(struct sched_task *p, u32 prev, u32 target)
{
	struct placement why;
	u32 cpu;

	env_lock(&p->wake_lock);
	cpu = select_idle_sibling(m.s, p, prev, target, &why);
	env_unlock(&p->wake_lock);
	return cpu;
}

/* ---- averages ---------------------------------------------------- */

static void test_averages(void **state)
{
	static const u64 sample[] = { 1800, 1007, 992, 200 }, want[] = { 1100, 1000, 999, 900 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(sample); i++) {
		u64 avg = 1000;

		update_avg_div(&avg, sample[i]);
		assert_int_equal(avg, want[i]);
	}
}

static u64 avg_idle_after(enum sched_profile profile, u64 avg, u64 idled)
{
	struct rq *rq;
	u64 got;

	machine_init(&m, 1, 1, 1, profile, "");
	rq = cpu_rq(m.s, 0);
	rq->avg_idle = avg;
	rq->clock = 5000000000;
	rq->idle_stamp = rq->clock - idled;
	update_avg_idle(rq);
	assert_int_equal(rq->idle_stamp, 0);
	got = rq->avg_idle;
	update_avg_idle(rq); /* not idle: nothing */
	assert_int_equal(rq->avg_idle, got);
	machine_free(&m);
	return got;
}

static void test_avg_idle(void **state)
{
	(void)state;
	assert_int_equal(avg_idle_after(PROFILE_V5_2, 1000, 995), 999);
	assert_int_equal(avg_idle_after(PROFILE_V6_4, 1000, 995), 1000);
	assert_int_equal(avg_idle_after(PROFILE_V5_2, 900000, 3000000), 1000000);
	assert_int_equal(avg_idle_after(PROFILE_V5_2, 900000, 100000), 800000);
}

/* From going idle to the wake-up that ends it. */
static void test_avg_idle_period(void **state)
{
	struct rq *rq;
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	rq = cpu_rq(m.s, 0);
	assert_int_equal(rq->avg_idle, 1000000);
	p = machine_start(&m, 0);
	machine_sleep(&m);
	assert_int_equal(rq->idle_stamp, test_env.now[0]);
	machine_switch(&m, true); /* spurious: it idles since then */
	machine_advance(&m, 200000);
	machine_switch(&m, true);
	sched_wake(m.s, p, 0);
	assert_int_equal(rq->avg_idle, 900000);
	assert_int_equal(rq->idle_stamp, 0);
	/* A forked task is no wake-up. */
	machine_interrupts(&m, 0);
	machine_sleep(&m);
	machine_advance(&m, 200000);
	sched_wake_new(m.s, machine_fork(&m));
	assert_int_equal(rq->avg_idle, 900000);
	machine_free(&m);
}

/* ---- the search ------------------------------------------------------------------ */

/* E10: visits, and the average that running out of budget skips. */
static void test_scan_cost(void **state)
{
	static const struct { u64 avg_idle, visits, cost; } table[] = {
		{ 1000000, 8, 967 }, /* 976 + (900 - 976) / 8: the ninth step finds the end */
		{ 100000, 3, 976 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		machine_init(&m, 1, 4, 2, PROFILE_V5_2, "");
		make_busy(0xff);
		test_env.step_ns = 100;
		cpu_rq(m.s, 0)->avg_idle = table[i].avg_idle;
		m.s->domains.llc[0]->avg_scan_cost_ns = 976;
		search_from(wakee(0xff), 0, 0);
		assert_int_equal(machine_count(&m, scan_visits), table[i].visits);
		assert_int_equal(m.s->domains.llc[0]->avg_scan_cost_ns, table[i].cost);
		assert_int_equal(machine_count(&m, stage_none), 1);
		machine_free(&m);
	}
}

static u64 scan_visits(const char *switches, u64 avg_idle)
{
	u64 visits;

	machine_init(&m, 1, 8, 1, PROFILE_V5_2, switches);
	make_busy(0xff);
	cpu_rq(m.s, 0)->avg_idle = avg_idle;
	m.s->domains.llc[0]->avg_scan_cost_ns = 976;
	search_from(wakee(0xff), 0, 0);
	visits = machine_count(&m, scan_visits);
	machine_free(&m);
	return visits;
}

static void test_scan_switches(void **state)
{
	(void)state;
	assert_int_equal(scan_visits("", 100000), 3);
	assert_int_equal(scan_visits("NO_SIS_PROP", 100000), 8);
	/* 977 * 512 = 500,224 ns of idleness pay for one scan. */
	assert_int_equal(scan_visits("SIS_AVG_CPU", 500223), 0);
	assert_int_equal(scan_visits("SIS_AVG_CPU", 500224), 7);
	assert_int_equal(scan_visits("SIS_AVG_CPU+NO_SIS_PROP", 500224), 8);
}

/* A CPU that goes idle sets the flag when its siblings idle too; a failed core
 * search clears it; without SMT there is none. */
static void test_idle_cores(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 2, 2, PROFILE_V6_4, "");
	make_busy(0xf);
	assert_false(m.s->llc[0].has_idle_cores);
	machine_on(2);
	machine_sleep(&m);
	assert_false(m.s->llc[0].has_idle_cores);
	machine_on(3);
	machine_sleep(&m);
	assert_true(m.s->llc[0].has_idle_cores);
	machine_on(0);
	p = wakee(0xf);
	assert_int_equal(search_from(p, 0, 0), 2);
	assert_int_equal(machine_count(&m, stage_core), 1);
	/* Thread 3 may not be used but its idleness counts. */
	assert_int_equal(search_from(wakee(0x7), 0, 0), 2);
	assert_int_equal(search_from(wakee(0xb), 0, 0), 3);
	machine_free(&m);

	/* A search that fails looks at each core once. */
	machine_init(&m, 1, 4, 2, PROFILE_V6_4, "");
	make_busy(0x55);
	m.s->llc[0].has_idle_cores = true;
	search_from(wakee(0xff), 0, 0);
	assert_int_equal(machine_count(&m, core_visits), 4);
	machine_free(&m);

	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	make_busy(0x1);
	machine_sleep(&m);
	assert_false(m.s->llc[0].has_idle_cores);
	machine_free(&m);
}

/* From v6.4 on a CPU with only SCHED_IDLE tasks passes, but makes no idle core. */
static void test_sched_idle_cpu(void **state)
{
	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		machine_init(&m, 1, 2, 2, profile, "");
		make_busy(0xf);
		sched_set_class(m.s, sched_current(m.s, 3), SCHED_CLASS_IDLE);
		m.s->llc[0].has_idle_cores = true;
		assert_int_equal(search_from(wakee(0xf), 0, 0),
				 profile == PROFILE_V6_4 ? 3 : 0);
		assert_int_equal(machine_count(&m, stage_core), 0);
		machine_free(&m);
	}
}

/* No shared cache: the target, busy or not. The hook hides a CPU whose host CPU
 * is away. */
static void test_no_llc_and_preempted(void **state)
{
	(void)state;
	machine_init(&m, 4, 1, 1, PROFILE_V6_4, "");
	make_busy(0x1);
	assert_null(m.s->domains.llc[0]);
	assert_int_equal(search_from(wakee(0xf), 0, 0), 0);
	assert_int_equal(search_from(wakee(0xf), 1, 0), 0);
	assert_int_equal(machine_count(&m, stage_none), 2);
	machine_free(&m);

	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	make_busy(0x1);
	test_env.preempted[1] = true;
	assert_int_equal(search_from(wakee(0xf), 0, 0), 2);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_averages),
		cmocka_unit_test(test_avg_idle),
		cmocka_unit_test(test_avg_idle_period),
		cmocka_unit_test(test_scan_cost),
		cmocka_unit_test(test_scan_switches),
		cmocka_unit_test(test_idle_cores),
		cmocka_unit_test(test_sched_idle_cpu),
		cmocka_unit_test(test_no_llc_and_preempted),
	};

	return cmocka_run_group_tests_name("sched_place", tests, NULL, NULL);
}
