/* SPDX-License-Identifier: MIT */
/*
 * What the tests of placements share: load averages that the test dictates, for as
 * long as one decision takes. Those of the machine come back afterwards, so that
 * what follows finds them consistent.
 */
#ifndef TEST_PLACE_RIG_H
#define TEST_PLACE_RIG_H

#include "env/machine.h"

static struct machine m;

/* What is not set is 0. Loads: 1024 is a nice-0 task. */
static struct {
	struct {
		u64 l;            /* what cpu_load() is in v5.2 */
		u64 load, util;   /* of the root queue */
	} cpu[TEST_CPUS];
	struct {
		u64 load, util;
	} task, waker;
} avg;

static struct {
	struct sched_avg cpu[TEST_CPUS], task, waker;
} kept;

static inline void rig_begin(u32 pkgs, u32 cores, u32 threads, const char *switches)
{
	machine_init(&m, pkgs, cores, threads, PROFILE_V5_2, switches);
	memset(&avg, 0, sizeof(avg));
}

/* A task that never runs. */
static inline struct sched_task *wakee(u64 allowed)
{
	struct sched_task *p = machine_fork(&m);
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
	return p;
}

/* A task on each CPU of the mask. */
static inline void make_busy(u64 mask)
{
	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		if (mask >> c & 1)
			machine_start(&m, c);
}

/* With sums that the averages can be of: LOAD_AVG_MAX as of spec/cfs-core.md 10. */
static inline void dictate(struct sched_avg *a, u64 l, u64 load, u64 util)
{
	a->runnable_load_avg = l;
	a->runnable_load_sum = l * 47742;
	a->load_avg = load;
	a->load_sum = load * 47742;
	a->util_avg = a->runnable_avg = util;
	a->util_sum = a->runnable_sum = util * 47742;
}

static inline void avg_dictate(struct sched_task *p)
{
	struct sched_task *waker = sched_current(m.s, test_env.cpu);

	kept.task = p->se.avg;
	kept.waker = waker->se.avg;
	dictate(&waker->se.avg, avg.waker.load, avg.waker.load, avg.waker.util);
	dictate(&p->se.avg, avg.task.load, avg.task.load, avg.task.util);
	if (!p->se.avg.last_update_time)
		p->se.avg.last_update_time = 1; /* attached where it is */
	for (u32 c = 0; c < m.topo.nr_cpus; c++) {
		struct sched_avg *a = &cpu_rq(m.s, c)->cfs.avg;

		kept.cpu[c] = *a;
		dictate(a, avg.cpu[c].l, avg.cpu[c].load, avg.cpu[c].util);
	}
}

static inline void avg_restore(struct sched_task *p)
{
	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		cpu_rq(m.s, c)->cfs.avg = kept.cpu[c];
	p->se.avg = kept.task;
	sched_current(m.s, test_env.cpu)->se.avg = kept.waker;
}

/* As sched_wake() does: the task locked, interrupts off. */
static inline u32 place(struct sched_task *p, u32 prev, enum select_kind kind, u32 flags)
{
	u32 cpu;

	avg_dictate(p);
	env_lock(&p->wake_lock);
	cpu = select_task_rq(m.s, p, prev, kind, flags);
	env_unlock(&p->wake_lock);
	avg_restore(p);
	return cpu;
}

/* Each package a node of its own, so far apart (SLIT). */
static inline void rig_nodes(u8 distance)
{
	struct sched_topo *t = &m.topo;

	for (u32 c = 0; c < t->nr_cpus; c++)
		t->cpu[c].node = t->cpu[c].pkg;
	t->group[TOPO_NODE] = NULL; /* made anew */
	topo_build_masks(t, &m.arena);
	t->distance = arena_alloc(&m.arena, t->nr_nodes * t->nr_nodes);
	for (u32 i = 0; i < t->nr_nodes; i++)
		for (u32 j = 0; j < t->nr_nodes; j++)
			t->distance[i * t->nr_nodes + j] = i == j ? 10 : distance;
	domains_build(&m.s->domains, t, false, &m.arena);
}

#endif
