/* SPDX-License-Identifier: MIT */
/*
 * Placements that the waker dictates, so that the share of wake-ups that migrate is
 * an experiment's input (spec/group-load.md section 9, last paragraphs). Looking for
 * the CPU costs no time and no lines: it is the experiment's, not the scheduler's.
 */
#include "sched_int.h"

/* An idle allowed CPU of prev's cache other than prev, the next one after it; else
 * the next allowed one; prev, where it is alone. */
static u32 elsewhere(const struct sched *s, const struct sched_task *p, u32 prev)
{
	u32 next = prev;

	for_each_cpu_wrap(c, topo_mask(s->topo, TOPO_LLC, prev), prev, s->nr_cpus) {
		if (c == prev || !cpumask_test(&p->allowed, c))
			continue;
		if (next == prev)
			next = c;
		if (stands_idle(cpu_rq(s, c)))
			return c;
	}
	return next;
}

u32 select_dictated_rq(struct sched *s, struct sched_task *p, u32 prev, u32 wake_flags)
{
	u32 cpu = prev;

	schedstat_inc(s, wake_dictated);
	if (wake_flags & WAKE_MOVE) {
		cpu = elsewhere(s, p, prev);
		if (cpu != prev)
			schedstat_inc(s, wake_imposed);
	}
	p->found_idle = stands_idle(cpu_rq(s, cpu));
	return cpu;
}
