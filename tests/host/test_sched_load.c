/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Load averages as tasks run, sleep, move and end: spec/cfs-core.md sections 9 to 11
 * and 13. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "../../sched/pelt.h"
#include "env/machine.h"

#define PERIOD (1024 * 1024ull)
#define FULL 46718

static struct machine m;

static struct cfs_rq *root(u32 cpu)
{
	return &cpu_rq(m.s, cpu)->cfs;
}

static struct sched_avg *avg(struct sched_task *p)
{
	return &p->se.avg;
}

static void pin(struct sched_task *p, u64 allowed)
{
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
}

/* Whole periods, with a tick on every busy CPU after each. */
static void run(u32 periods)
{
	for (u32 i = 0; i < periods; i++) {
		machine_advance(&m, PERIOD);
		for (u32 c = 0; c < m.topo.nr_cpus; c++)
			if (!sched_current(m.s, c)->is_idle_task)
				machine_tick(&m, c);
	}
	machine_settle(&m);
}

static void sleep_on(u32 cpu)
{
	machine_on(cpu);
	machine_sleep(&m);
}

/* q steps to the present, with whatever was removed. */
static void refresh(u32 cpu)
{
	struct rq *rq = cpu_rq(m.s, cpu);
	struct sched_entity none = { .cfs_rq = &rq->cfs };

	rq_lock(rq);
	update_rq_clock(rq);
	update_load_avg(&rq->cfs, &none, 0);
	rq_unlock(rq);
}

/* ---- attach -------------------------------------------------------------------------- */

static void test_attach(void **state)
{
	struct sched_entity se = { .load.weight = NICE_0_LOAD };
	struct cfs_rq *q;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	q = root(0);
	q->rq->clock_pelt = q->avg.last_update_time = 1000 * PERIOD;
	se.cfs_rq = q;
	se.avg.load_avg = se.avg.util_avg = se.avg.runnable_avg = 512;
	rq_lock(q->rq);
	attach_entity_cfs_rq(&se);
	assert_int_equal(se.avg.load_sum, 23359);
	assert_int_equal(se.avg.util_sum, 23919616);
	assert_int_equal(se.avg.runnable_sum, 23919616);
	assert_int_equal(se.avg.last_update_time, 1000 * PERIOD);
	assert_int_equal(q->avg.load_avg, 512);
	assert_int_equal(q->avg.load_sum, 23359 * 1024);
	assert_int_equal(q->avg.util_sum, 23919616);
	/* Detaching what grew meanwhile elsewhere: nothing wraps, and no average stays
	 * that its sum cannot carry. */
	se.avg.load_sum = se.avg.util_sum = 40000000;
	se.avg.load_avg = 500;
	se.avg.util_avg = 600;
	update_load_avg(q, &se, DO_DETACH);
	assert_int_equal(q->avg.load_avg, 12);
	assert_int_equal(q->avg.load_sum, 12 * FULL);
	assert_int_equal(q->avg.util_avg, 0);
	assert_int_equal(q->avg.util_sum, 0);
	assert_int_equal(q->avg.runnable_avg, 0);
	/* Nothing is as good as nothing: the smallest sum is 1. */
	se = (struct sched_entity){ .load.weight = NICE_0_LOAD, .cfs_rq = q };
	attach_entity_cfs_rq(&se);
	assert_int_equal(se.avg.load_sum, 1);
	rq_unlock(q->rq);
	machine_free(&m);
}

/* 100 nice -20 tasks: the floor of load_sum is beyond 32 bits. */
static void test_wide_sums(void **state)
{
	struct sched_entity se = { .load.weight = 100 * scale_load(88761) };
	struct cfs_rq *q;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	q = root(0);
	q->rq->clock_pelt = q->avg.last_update_time = 1000 * PERIOD;
	q->avg.load_avg = 91934;
	q->avg.load_sum = 1;
	se.cfs_rq = q;
	rq_lock(q->rq);
	se.avg.last_update_time = q->avg.last_update_time;
	update_load_avg(q, &se, DO_DETACH);
	assert_int_equal(q->avg.load_sum, 91934ull * FULL);
	assert_true(q->avg.load_sum > UINT32_MAX);
	rq_unlock(q->rq);
	machine_free(&m);
}

/* ---- fork and exit -------------------------------------------------------------------- */

static void test_fork(void **state)
{
	struct sched_task *a, *b, *c;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	a = machine_fork(&m);
	assert_int_equal(avg(a)->load_avg, 1024);
	assert_int_equal(avg(a)->load_sum + avg(a)->util_avg + avg(a)->last_update_time, 0);
	sched_wake_new(m.s, a);
	assert_int_equal(avg(a)->load_sum, FULL + root(0)->avg.period_contrib);
	assert_int_equal(avg(a)->util_avg, 512); /* half of an empty CPU */
	assert_int_equal(avg(a)->runnable_avg, 512);
	assert_int_equal(root(0)->avg.load_avg, 1024);
	assert_int_equal(root(0)->avg.util_avg, 512);
	/* As its weight has of the rest, at most half of what is left. */
	b = machine_fork(&m);
	sched_set_nice(m.s, b, 5);
	assert_int_equal(avg(b)->load_avg, 335);
	sched_wake_new(m.s, b);
	assert_int_equal(avg(b)->util_avg, 512 * 335 / 1025);
	assert_int_equal(avg(b)->load_avg, 335);
	c = machine_fork(&m);
	sched_wake_new(m.s, c);
	assert_int_equal(avg(c)->util_avg, (1024 - 512 - 167) / 2);
	assert_int_equal(root(0)->avg.load_avg, 1024 + 335 + 1024);
	machine_interrupts(&m, 0);
	/* Nothing is left: nothing is guessed. */
	root(0)->avg.util_avg = 1030;
	root(0)->avg.util_sum = 1030ull * 47742;
	c = machine_fork(&m);
	sched_wake_new(m.s, c);
	assert_int_equal(avg(c)->util_avg, 0);
	free(m.memory);
}

static void test_exit(void **state)
{
	struct sched_task *a;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	a = machine_start(&m, 0);
	machine_start(&m, 0);
	run(10);
	machine_on(0);
	a = sched_current(m.s, 0);
	sched_set_state(m.s, TASK_DEAD);
	machine_switch(&m, false);
	assert_int_equal(root(0)->removed.nr, 1);
	assert_int_equal(root(0)->removed.load_avg, avg(a)->load_avg);
	assert_int_equal(avg(a)->last_update_time, 0);
	machine_tick(&m, 0); /* though no time has passed */
	assert_int_equal(root(0)->removed.nr, 0);
	assert_int_equal(root(0)->removed.load_avg, 0);
	run(1);
	assert_in_range(root(0)->avg.load_avg, 1010, 1050);
	machine_free(&m);
}

/* ---- sleep and wake-up ----------------------------------------------------------------- */

static void test_blocked(void **state)
{
	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		struct sched_task *p;
		u64 before;

		machine_init(&m, 1, 1, 1, profile, "");
		p = machine_start(&m, 0);
		run(400);
		assert_in_range(cpu_load(cpu_rq(m.s, 0)), 1022, 1026);
		assert_in_range(cpu_util(cpu_rq(m.s, 0)), 1022, 1024);
		before = root(0)->avg.load_avg;
		sleep_on(0);
		/* It sleeps, and stays part of the queue; not in v5.2's runnable load. */
		assert_int_equal(root(0)->avg.load_avg, before);
		assert_int_equal(cpu_load_avg(cpu_rq(m.s, 0)), before);
		assert_in_range(cpu_load(cpu_rq(m.s, 0)), profile == PROFILE_V5_2 ? 0 : before,
				profile == PROFILE_V5_2 ? 3 : before);
		machine_advance(&m, 32 * PERIOD);
		refresh(0);
		assert_in_range(cpu_load_avg(cpu_rq(m.s, 0)), before / 2 - 2, before / 2 + 1);
		if (profile == PROFILE_V5_2)
			assert_int_equal(cpu_load(cpu_rq(m.s, 0)), 0);
		sched_wake(m.s, p, 0);
		machine_settle(&m);
		assert_int_equal(root(0)->removed.nr, 0);
		assert_in_range(cpu_load(cpu_rq(m.s, 0)), before / 2 - 2, before / 2 + 1);
		assert_in_range(avg(p)->load_avg, before / 2 - 2, before / 2 + 1);
		machine_free(&m);
	}
}

/* Wakes p, which slept on CPU 0, on CPU 1. */
static void wake_elsewhere(struct sched_task *p)
{
	pin(p, 2);
	machine_on(1);
	sched_wake(m.s, p, 0);
	machine_settle(&m);
	assert_int_equal(p->cpu, 1);
}

static void test_wake_migration(void **state)
{
	struct sched_task *p, *other;
	u64 left;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "NO_IDLE_PULL+NO_WAKEUP_PREEMPTION");
	p = machine_start(&m, 0);
	run(400);
	other = machine_start(&m, 0);
	sleep_on(0);
	assert_int_equal(sched_current(m.s, 0)->id, other->id);
	run(8);
	left = root(0)->avg.load_avg;
	wake_elsewhere(p);
	/* The source is busy, up to date, and told. */
	assert_int_equal(root(0)->removed.nr, 1);
	assert_in_range(root(0)->removed.load_avg, 859, 862);
	assert_int_equal(root(0)->avg.load_avg, left);
	assert_int_equal(root(1)->avg.load_avg, avg(p)->load_avg);
	assert_int_equal(avg(p)->load_avg, root(0)->removed.load_avg);
	assert_int_equal(avg(p)->last_update_time, root(1)->avg.last_update_time);
	refresh(0);
	assert_int_equal(root(0)->removed.nr, 0);
	assert_in_range(root(0)->avg.load_avg, left - 862, left - 859);
	machine_free(&m);
}

/* Nobody steps the queue of an idle CPU: its time counts all the same. */
static void test_idle_lag(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "NO_IDLE_PULL");
	p = machine_start(&m, 0);
	run(400);
	sleep_on(0);
	machine_advance(&m, 32 * PERIOD);
	wake_elsewhere(p);
	assert_in_range(root(0)->removed.load_avg, 1022, 1024);
	assert_in_range(avg(p)->load_avg, 510, 512);
	assert_in_range(root(1)->avg.load_avg, 510, 512);
	refresh(0);
	assert_in_range(root(0)->avg.load_avg, 0, 2);
	assert_in_range(root(0)->avg.util_avg, 0, 2);
	machine_free(&m);
}

/* Its load goes with it at once. */
static void test_runnable_migration(void **state)
{
	struct sched_task *p, *curr;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "NO_IDLE_PULL");
	machine_start(&m, 0);
	machine_start(&m, 0);
	run(50);
	curr = sched_current(m.s, 0);
	p = curr == &m.task[0] ? &m.task[1] : &m.task[0];
	machine_on(1);
	pin(p, 2);
	machine_settle(&m);
	assert_int_equal(p->cpu, 1);
	assert_int_equal(root(0)->removed.nr, 0);
	assert_in_range(root(0)->avg.load_avg, avg(curr)->load_avg, avg(curr)->load_avg + 2);
	assert_int_equal(root(1)->avg.load_avg, avg(p)->load_avg);
	/* And who runs is pushed away when it is switched out. */
	pin(curr, 2);
	machine_settle(&m);
	assert_int_equal(curr->cpu, 1);
	assert_in_range(root(0)->avg.load_avg, 0, 2);
	assert_int_equal(root(1)->avg.load_avg, avg(p)->load_avg + avg(curr)->load_avg);
	machine_free(&m);
}

/* ---- nice, groups ------------------------------------------------------------------------- */

static void test_nice(void **state)
{
	struct sched_task *p;
	u64 sum;

	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		machine_init(&m, 1, 1, 1, profile, "");
		p = machine_start(&m, 0);
		run(32);
		sched_set_nice(m.s, p, 5);
		assert_int_equal(avg(p)->load_avg, 335 * avg(p)->load_sum / pelt_divider(avg(p)));
		assert_in_range(root(0)->avg.load_avg, avg(p)->load_avg, avg(p)->load_avg + 3);
		assert_in_range(cpu_load(cpu_rq(m.s, 0)), avg(p)->load_avg, avg(p)->load_avg + 3);
		sleep_on(0);
		sum = avg(p)->load_sum;
		machine_advance(&m, 64 * PERIOD);
		sched_set_nice(m.s, p, 0);
		/* A sleeper is not aged first. */
		assert_int_equal(avg(p)->load_sum, sum);
		assert_int_equal(avg(p)->load_avg, 1024 * sum / pelt_divider(avg(p)));
		assert_in_range(root(0)->avg.load_avg, avg(p)->load_avg, avg(p)->load_avg + 3);
		machine_free(&m);
	}
}

/* Of one that no queue holds: nothing but its own. */
static void test_nice_unattached(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 2, 1, 1, PROFILE_V6_4, "NO_IDLE_PULL");
	p = machine_start(&m, 0);
	run(100);
	sleep_on(0);
	pin(p, 2);
	machine_on(0);
	sched_wake(m.s, p, 0); /* waits on CPU 1's list */
	assert_int_equal(p->state, TASK_WAKING);
	assert_int_equal(avg(p)->last_update_time, 0);
	sched_set_nice(m.s, p, 5);
	assert_int_equal(avg(p)->load_avg, 335 * avg(p)->load_sum / pelt_divider(avg(p)));
	assert_int_equal(root(1)->avg.load_avg, 0);
	machine_settle(&m);
	assert_int_equal(root(1)->avg.load_avg, avg(p)->load_avg);
	assert_in_range(avg(p)->load_avg, 330, 335);
	machine_free(&m);
}

static void test_group(void **state)
{
	struct sched_task *p, *q;
	struct task_group *tg;
	u64 in_root;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	tg = tg_create(m.s, &m.s->root_tg, 1024);
	p = machine_start(&m, 0);
	q = machine_start(&m, 0);
	run(100);
	in_root = root(0)->avg.load_avg;
	assert_int_equal(task_h_load(p), avg(p)->load_avg);
	sched_move_task(m.s, p, tg);
	assert_int_equal(tg->cfs_rq[0]->avg.load_avg, avg(p)->load_avg);
	/* It went from above to below: the group's entity has what it had. */
	assert_in_range(root(0)->avg.load_avg, in_root - 2, in_root + 2);
	assert_in_range(tg->se[0]->avg.load_avg, avg(p)->load_avg - 1, avg(p)->load_avg + 1);
	assert_int_equal(avg(p)->last_update_time, tg->cfs_rq[0]->avg.last_update_time);
	run(1000);
	/* Both queues and the group's entity are stepped. */
	assert_in_range(tg->cfs_rq[0]->avg.load_avg, 1022, 1025);
	assert_in_range(tg->se[0]->avg.load_avg, 1022, 1025);
	assert_in_range(tg->se[0]->avg.runnable_avg, 1022, 1025);
	assert_in_range(root(0)->avg.load_avg, 2044, 2050);
	assert_int_equal(tg->se[0]->runnable_weight, 1);
	assert_in_range(task_h_load(p), 1018, 1025);
	/* One more inside: half of the group's load each. */
	sched_move_task(m.s, q, tg);
	run(1000);
	assert_int_equal(tg->se[0]->runnable_weight, 2);
	assert_in_range(tg->se[0]->avg.runnable_avg, 2044, 2050);
	assert_in_range(tg->se[0]->avg.load_avg, 1022, 1025);
	assert_in_range(root(0)->avg.load_avg, 1022, 1026);
	assert_in_range(task_h_load(p), 508, 513);
	sleep_on(0);
	assert_int_equal(tg->se[0]->runnable_weight, 1);
	sleep_on(0);
	assert_int_equal(tg->se[0]->runnable_weight, 0);
	machine_free(&m);
}

/* Between ticks, too: who runs until it is switched out has run till then. */
static void test_switch(void **state)
{
	const struct pelt_rate runs = { .load = 1, .runnable = 1, .running = true };
	u32 switched = 0;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "NO_WAKEUP_PREEMPTION");
	machine_start(&m, 0);
	machine_start(&m, 0);
	run(300);
	machine_on(0);
	for (u32 i = 0; i < 8; i++) {
		struct sched_task *curr = sched_current(m.s, 0);
		struct sched_avg want = *avg(curr);

		machine_advance(&m, 100 * 1024);
		sched_yield(m.s);
		machine_switch(&m, true);
		if (sched_current(m.s, 0) == curr)
			continue;
		pelt_step(&want, rq_clock_pelt(cpu_rq(m.s, 0)), &runs);
		assert_int_equal(avg(curr)->util_sum, want.util_sum);
		assert_int_equal(avg(curr)->last_update_time, want.last_update_time);
		switched++;
	}
	assert_true(switched);
	machine_free(&m);
}

/* ---- what others read, and what it costs ------------------------------------------ */

static void test_util_without(void **state)
{
	struct rq *rq;
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "");
	rq = cpu_rq(m.s, 0);
	p = machine_start(&m, 0);
	run(32);
	sleep_on(0);
	assert_int_equal(cpu_util(rq), rq->cfs.avg.util_avg);
	assert_int_equal(cpu_util_without(rq, p), rq->cfs.avg.util_avg - task_util(p));
	assert_int_equal(cpu_util_without(cpu_rq(m.s, 1), p), cpu_util(cpu_rq(m.s, 1)));
	rq->cfs.avg.util_avg = 5000;
	assert_int_equal(cpu_util(rq), 1024);
	assert_int_equal(cpu_util_without(rq, p), 1024);
	rq->cfs.avg.util_avg = 1;
	assert_int_equal(cpu_util_without(rq, p), 0);
	machine_free(&m);
}

/* Nothing is stepped, nor paid, twice within a unit. */
static void test_same_unit(void **state)
{
	u64 paths, divides, lines;
	struct rq *rq;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	machine_start(&m, 0);
	machine_start(&m, 0);
	run(3);
	rq = cpu_rq(m.s, 0);
	paths = test_env.paths[PATH_UPDATE_LOAD_AVG];
	lines = rq->state_line.writes;
	machine_tick(&m, 0);
	machine_advance(&m, 500);
	machine_tick(&m, 0);
	assert_int_equal(rq->state_line.writes, lines + 2); /* the ticks' own */
	assert_int_equal(test_env.paths[PATH_UPDATE_LOAD_AVG], paths);
	machine_advance(&m, 1024);
	divides = test_env.charges[ENV_DIV];
	refresh(0);
	assert_int_equal(test_env.paths[PATH_UPDATE_LOAD_AVG], paths + 1);
	assert_int_equal(test_env.charges[ENV_DIV], divides); /* no period ended */
	machine_advance(&m, PERIOD);
	refresh(0);
	assert_int_equal(test_env.charges[ENV_DIV], divides + 3);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_wide_sums),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_wake_migration),
		cmocka_unit_test(test_idle_lag),
		cmocka_unit_test(test_runnable_migration),
		cmocka_unit_test(test_nice),
		cmocka_unit_test(test_nice_unattached),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_util_without),
		cmocka_unit_test(test_same_unit),
	};

	return cmocka_run_group_tests_name("sched_load", tests, NULL, NULL);
}
