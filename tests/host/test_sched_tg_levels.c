/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * Nested groups: load at each level against an exact model in continuous time, and
 * shares of CPU time of the members of a tree on 1, 4 and 16 CPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include "../../kernel/lib/rng.h"
#include "../../sched/pelt.h"
#include "env/machine.h"

#define MS 1000000ull
#define LEVELS 4 /* the root's queue and three below it */
#define PER_LEVEL 3

static struct machine m;
static struct task_group *level[LEVELS];

/* ---- the model ------------------------------------------------------------------- */

/* Of a queue, and of the entity that owns it: what the averages tend to, and where
 * they are, decaying by half in 32 periods of 1024 * 1024 ns. */
struct signals {
	double load, runnable, util;
};
static struct signals queue_model[LEVELS], entity_model[LEVELS];

static double shares_of(u32 l)
{
	return (double)(level[l]->shares >> 10);
}

static u32 level_of(const struct sched_task *p)
{
	u32 l = 0;

	while (level[l] != p->tg)
		l++;
	return l;
}

/* From the tasks alone. */
static struct signals queue_target(u32 l)
{
	const struct sched_task *curr = sched_current(m.s, 0);
	struct signals t = { 0 };
	bool below = false;

	for (u32 i = 0; i < m.nr_tasks; i++) {
		const struct sched_task *p = &m.task[i];

		if (p->on_rq != TASK_QUEUED || level_of(p) < l)
			continue;
		t.runnable += 1024;
		if (level_of(p) > l)
			below = true;
		else
			t.load += sched_prio_to_weight[p->nice - MIN_NICE];
	}
	if (below)
		t.load += shares_of(l + 1);
	if (!curr->is_idle_task && level_of(curr) >= l)
		t.util = 1024;
	return t;
}

static struct signals entity_target(u32 l)
{
	struct signals t = queue_target(l);

	t.load = t.load > 0 ? shares_of(l) : 0;
	return t;
}

static void approach(struct signals *s, struct signals to, u64 ns)
{
	double part = 1 - exp2(-(double)ns / (32.0 * 1024 * 1024));

	s->load += (to.load - s->load) * part;
	s->runnable += (to.runnable - s->runnable) * part;
	s->util += (to.util - s->util) * part;
}

static void advance(u64 ns)
{
	for (u32 l = 0; l < LEVELS; l++) {
		approach(&queue_model[l], queue_target(l), ns);
		approach(&entity_model[l], entity_target(l), ns);
	}
	machine_advance(&m, ns);
}

/* Sums rather than averages, which are of the end of the last period. */
static struct signals signals_of(const struct sched_avg *a, double weight)
{
	double divider = (double)pelt_divider(a);

	return (struct signals){ weight * (double)a->load_sum / divider,
				 (double)a->runnable_sum / divider,
				 (double)a->util_sum / divider };
}

static struct signals queue_signals(u32 l)
{
	return signals_of(&level[l]->cfs_rq[0]->avg, 1);
}

static struct signals entity_signals(u32 l)
{
	return signals_of(&level[l]->se[0]->avg, shares_of(l));
}

/* Of all queues, whoever sleeps there. */
static void step_all(void)
{
	struct rq *rq = cpu_rq(m.s, 0);

	rq_lock(rq);
	update_rq_clock(rq);
	for (u32 l = LEVELS; --l;)
		update_load_avg(level[l]->se[0]->cfs_rq, level[l]->se[0], 0);
	update_cfs_rq_load_avg(level[LEVELS - 1]->cfs_rq[0], rq_clock_pelt(rq));
	rq_unlock(rq);
}

static void start_model(void)
{
	step_all();
	for (u32 l = 0; l < LEVELS; l++) {
		queue_model[l] = queue_signals(l);
		if (l)
			entity_model[l] = entity_signals(l);
	}
}

static double worst;

/* The published series sums to 47742 units, not 47788; a period that has begun counts
 * as whole ones do; and each propagation rounds. */
static void compare(const char *what, u32 l, double is, double should, double full)
{
	worst = fmax(worst, fabs(is - should) / full);
	if (fabs(is - should) > 0.01 * full + 2)
		fail_msg("level %u, %s: %.0f, model %.0f of %.0f", l, what, is, should, full);
}

static void compare_all(void)
{
	step_all();
	for (u32 l = 0; l < LEVELS; l++) {
		struct signals q = queue_signals(l), se;
		double tasks = PER_LEVEL * (LEVELS - l);

		compare("load", l, q.load, queue_model[l].load, 1024 * (PER_LEVEL + 1));
		compare("runnable", l, q.runnable, queue_model[l].runnable, 1024 * tasks);
		compare("util", l, q.util, queue_model[l].util, 1024);
		if (!l)
			continue;
		se = entity_signals(l);
		compare("entity's load", l, se.load, entity_model[l].load, shares_of(l));
		compare("entity's runnable", l, se.runnable, entity_model[l].runnable,
			1024 * tasks);
		compare("entity's util", l, se.util, entity_model[l].util, 1024);
	}
}

static void random_op(struct rng *r)
{
	struct sched_task *p = &m.task[rng_below(r, m.nr_tasks)];

	machine_on(0);
	if (rng_below(r, 2))
		sched_wake(m.s, p, 0);
	else if (!sched_current(m.s, 0)->is_idle_task)
		machine_sleep(&m);
	machine_settle(&m);
}

static void random_time(struct rng *r)
{
	for (u64 n = rng_below(r, 20); n--;) {
		advance(MS);
		if (!sched_current(m.s, 0)->is_idle_task)
			machine_tick(&m, 0);
	}
	advance(rng_below(r, MS));
}

static void test_levels(void **state)
{
	static const char *const variants[] = {
		"", "TG_COUNTER=node", "TG_PUBLISH=delay", "TG_PUBLISH=rate", "TG_WEIGHT=skip",
		"TG_WEIGHT=tick", "REWEIGHT=delta",
	};

	(void)state;
	for (u64 seed = 1; seed <= 70; seed++) {
		struct rng r;

		rng_init(&r, seed, 5);
		machine_init(&m, 1, 1, 1, PROFILE_V6_4, variants[seed % ARRAY_SIZE(variants)]);
		level[0] = sched_root_group(m.s);
		for (u32 l = 1; l < LEVELS; l++)
			level[l] = tg_create(m.s, level[l - 1], 100 + rng_below(&r, 924));
		for (u32 i = 0; i < PER_LEVEL * LEVELS; i++) {
			struct sched_task *p = machine_fork(&m);

			sched_set_nice(m.s, p, (s32)rng_below(&r, 20));
			sched_move_task(m.s, p, level[i % LEVELS]);
			sched_wake_new(m.s, p);
			machine_settle(&m);
		}
		/* Long enough for what was guessed at their start to be gone. */
		for (u32 i = 0; i < 400; i++) {
			machine_advance(&m, MS);
			machine_tick(&m, 0);
		}
		start_model();
		for (u32 i = 0; i < 300; i++) {
			random_op(&r);
			random_time(&r);
			compare_all();
		}
		machine_free(&m);
	}
	print_message("largest difference %.4f\n", worst);
}

/* ---- shares of CPU time -------------------------------------------------------------- */

/* Group, or with shares 0 a task on every CPU: there it has its own weight, a group only
 * its part of the shares. */
struct node {
	int parent;
	u64 shares;
	int nice;
};

static const struct node tree[] = {
	{ -1, 1024, 0 },  /* 0: A */
	{ 0, 512, 0 },    /* 1: A1 */
	{ 0, 1536, 0 },   /* 2: A2 */
	{ -1, 2048, 0 },  /* 3: B */
	{ 3, 1024, 0 },   /* 4: C */
	{ 1, 0, 0 },
	{ 2, 0, 0 },
	{ 2, 0, 5 },
	{ 3, 0, 0 },
	{ 4, 0, -5 },
};
#define NODES ((u32)ARRAY_SIZE(tree))

static double node_weight(u32 i, u32 cpus)
{
	return tree[i].shares ? (double)tree[i].shares
			      : (double)cpus * sched_prio_to_weight[tree[i].nice - MIN_NICE];
}

static double ideal_part(int i, u32 cpus)
{
	double sum = 0;

	if (i < 0)
		return 1;
	for (u32 k = 0; k < NODES; k++)
		if (tree[k].parent == tree[i].parent)
			sum += node_weight(k, cpus);
	return ideal_part(tree[i].parent, cpus) * node_weight((u32)i, cpus) / sum;
}

/* task[i] of each CPU, and what they have run. */
static u64 ran_ns(struct sched_task *const *task, u32 cpus)
{
	u64 sum = 0;

	for (u32 c = 0; c < cpus; c++)
		sum += task[c]->se.sum_exec_runtime;
	return sum;
}

static void populate(struct sched_task *task[NODES][16], u32 cpus)
{
	struct task_group *group[NODES];

	for (u32 i = 0; i < NODES; i++) {
		struct task_group *up = tree[i].parent < 0 ? NULL : group[tree[i].parent];

		if (tree[i].shares) {
			group[i] = tg_create(m.s, up, tree[i].shares);
			continue;
		}
		for (u32 c = 0; c < cpus; c++) {
			struct cpumask mask = { { 1ull << c } };

			task[i][c] = machine_start(&m, c);
			sched_set_affinity(m.s, task[i][c], &mask);
			sched_set_nice(m.s, task[i][c], tree[i].nice);
			sched_move_task(m.s, task[i][c], up);
		}
	}
	machine_settle(&m);
}

static void saturate(u32 cpus, u32 ms)
{
	while (ms--) {
		machine_advance(&m, MS);
		for (u32 c = 0; c < cpus; c++)
			machine_tick(&m, c);
	}
}

/* Over a second within 1 % of it, and of 2 % of what is due to the member, of which a
 * tick is 1.6 % where it is least. */
static void test_fairness(void **state)
{
	static const char *const presets[] = {
		"default", "tg-base", "tg-node", "tg-delay", "tg-skip", "tg-rate",
		"tg-rate-skip", "tg-rate-skip-node",
	};
	static const u32 sizes[] = { 1, 4, 16 };
	double of_own = 0;

	(void)state;
	worst = 0;
	for (u32 v = 0; v < ARRAY_SIZE(presets); v++) {
		const struct preset_info *preset = preset_find(presets[v], strlen(presets[v]));
		char switches[200];

		snprintf(switches, sizeof(switches), "%s%sTUNABLE_SCALING=none", preset->switches,
			 *preset->switches ? "+" : "");
		for (u32 n = 0; n < ARRAY_SIZE(sizes); n++) {
			struct sched_task *task[NODES][16] = { { NULL } };
			u64 before[NODES] = { 0 };
			u32 cpus = sizes[n];

			machine_init(&m, 1, cpus, 1, PROFILE_V6_4, switches);
			populate(task, cpus);
			saturate(cpus, 1000);
			for (u32 i = 0; i < NODES; i++)
				if (!tree[i].shares)
					before[i] = ran_ns(task[i], cpus);
			saturate(cpus, 1000);
			for (u32 i = 0; i < NODES; i++) {
				double is, off;

				if (tree[i].shares)
					continue;
				is = (double)(ran_ns(task[i], cpus) - before[i]) / 1e9 / cpus;
				off = fabs(is - ideal_part((int)i, cpus));
				worst = fmax(worst, off);
				of_own = fmax(of_own, off / ideal_part((int)i, cpus));
				if (off > 0.01 || off > 0.02 * ideal_part((int)i, cpus))
					fail_msg("%s, %u CPUs, member %u: %.4f of the time, ideal "
						 "%.4f", presets[v], cpus, i, is,
						 ideal_part((int)i, cpus));
			}
			machine_free(&m);
		}
	}
	print_message("largest difference %.4f of all time, %.4f of its own\n", worst, of_own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_fairness),
	};

	return cmocka_run_group_tests_name("sched_tg_levels", tests, NULL, NULL);
}
