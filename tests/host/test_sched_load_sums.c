/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* The sums of a queue are those of the tasks attached to it, whatever they do, and
 * nothing is left when they are gone: spec/cfs-core.md section 11, 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "../../kernel/lib/rng.h"
#include "../../sched/pelt.h"
#include "env/machine.h"

#define PERIOD (1024 * 1024ull)
#define FULL 46718

static struct machine m;

static struct cfs_rq *root(u32 cpu)
{
	return &cpu_rq(m.s, cpu)->cfs;
}

static void pin(struct sched_task *p, u64 allowed)
{
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
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

/* ---- sums ------------------------------------------------------------------------ */

/* What the tasks attached to q would sum to as of its last update, and their weight. */
static double attached_sum(struct cfs_rq *q, double *weight)
{
	double sum = 0;

	*weight = 0;
	for (u32 i = 0; i < m.nr_tasks; i++) {
		struct sched_entity se = m.task[i].se;

		if (!se.avg.last_update_time || se.cfs_rq != q)
			continue;
		pelt_step_entity(q, &se, q->avg.last_update_time);
		sum += (double)se_weight(m.s, &se) * (double)se.avg.load_sum;
		*weight += (double)se_weight(m.s, &se);
	}
	return sum;
}

static double queue_sum(const struct cfs_rq *q)
{
	return (double)q->avg.load_sum -
	       (double)q->removed.load_avg * (double)pelt_divider(&q->avg);
}

static void random_op(struct rng *r, bool nice)
{
	u32 cpu = (u32)rng_below(r, m.topo.nr_cpus);
	struct sched_task *p = &m.task[rng_below(r, m.nr_tasks)];

	machine_on(cpu);
	switch (rng_below(r, nice ? 5 : 3)) {
	case 0:
		if (!sched_current(m.s, cpu)->is_idle_task)
			machine_sleep(&m);
		break;
	case 1:
	case 2:
		sched_wake(m.s, p, 0);
		break;
	case 3:
		pin(p, 1 + rng_below(r, (1u << m.topo.nr_cpus) - 1));
		break;
	default:
		sched_set_nice(m.s, p, (s32)rng_below(r, 40) - 20);
	}
	machine_settle(&m);
}

static void random_time(struct rng *r)
{
	machine_advance(&m, rng_below(r, 1ull << rng_below(r, 25)));
	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		if (!sched_current(m.s, c)->is_idle_task)
			machine_tick(&m, c);
	machine_settle(&m);
}

/* Invariant 10 of section 11: one CPU, so that nothing is ever taken away. */
static void test_sums(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 40; seed++) {
		struct rng r;

		rng_init(&r, seed, 2);
		machine_init(&m, 1, 1, 1, seed % 2 ? PROFILE_V6_4 : PROFILE_V5_2, "");
		for (u32 i = 0; i < 6; i++) {
			struct sched_task *p = machine_fork(&m);

			sched_set_nice(m.s, p, (s32)rng_below(&r, 40) - 20);
			sched_wake_new(m.s, p);
		}
		machine_settle(&m);
		for (u32 i = 0; i < 300; i++) {
			double weight, sum;

			random_op(&r, false);
			random_time(&r);
			sum = attached_sum(root(0), &weight);
			if (fabs(queue_sum(root(0)) - sum) > 0.0002 * FULL * weight)
				fail_msg("seed %llu, step %u: queue %.0f, tasks %.0f, weight %.0f",
					 (unsigned long long)seed, i, queue_sum(root(0)), sum,
					 weight);
		}
		machine_free(&m);
	}
}

/*
 * The same on four CPUs, where averages travel instead of sums: those are of the last
 * end of a period, so what is taken away is off by up to 2 % of its load, to either
 * side. All six tasks together weigh 6144, and what was off before fades.
 */
static void test_sums_migrating(void **state)
{
	double worst = 0;

	(void)state;
	for (u64 seed = 1; seed <= 40; seed++) {
		struct rng r;

		rng_init(&r, seed, 3);
		machine_init(&m, 1, 4, 1, seed % 2 ? PROFILE_V6_4 : PROFILE_V5_2, "");
		for (u32 i = 0; i < 6; i++)
			machine_start(&m, i % 4);
		machine_settle(&m);
		for (u32 i = 0; i < 400; i++) {
			random_op(&r, false);
			random_time(&r);
			if (rng_below(&r, 2)) {
				struct sched_task *p = &m.task[rng_below(&r, m.nr_tasks)];

				machine_on((u32)rng_below(&r, 4));
				pin(p, 1 + rng_below(&r, 15));
				machine_settle(&m);
			}
			for (u32 c = 0; c < 4; c++) {
				double weight, off;

				off = queue_sum(root(c)) - attached_sum(root(c), &weight);
				worst = fmax(worst, fabs(off) / FULL);
			}
		}
		assert_true(worst < 0.02 * 6144);
		machine_free(&m);
	}
	print_message("largest difference %.1f load units\n", worst);
}

/* Whatever happens, when all have slept for long, nothing is left anywhere. */
static void test_nothing_left(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 40; seed++) {
		struct rng r;

		rng_init(&r, seed, 4);
		machine_init(&m, 2, 2, 1, seed % 2 ? PROFILE_V6_4 : PROFILE_V5_2, "");
		for (u32 i = 0; i < 8; i++)
			machine_start(&m, i % 4);
		machine_settle(&m);
		for (u32 i = 0; i < 300; i++) {
			random_op(&r, true);
			random_time(&r);
		}
		for (u32 c = 0; c < 4; c++) {
			machine_on(c);
			while (!sched_current(m.s, c)->is_idle_task) {
				machine_sleep(&m);
				machine_settle(&m);
			}
		}
		machine_advance(&m, 2100 * PERIOD);
		for (u32 c = 0; c < 4; c++) {
			refresh(c);
			assert_int_equal(root(c)->removed.nr, 0);
			assert_int_equal(root(c)->avg.load_sum + root(c)->avg.util_sum +
					 root(c)->avg.runnable_sum, 0);
			assert_int_equal(root(c)->avg.load_avg + root(c)->avg.util_avg +
					 root(c)->avg.runnable_avg, 0);
			assert_int_equal(cpu_load(cpu_rq(m.s, c)), 0);
		}
		machine_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_sums_migrating),
		cmocka_unit_test(test_nothing_left),
	};

	return cmocka_run_group_tests_name("sched_load_sums", tests, NULL, NULL);
}
