/* SPDX-License-Identifier: MIT */
/*
 * Per-entity load tracking: spec/cfs-core.md section 10. Load is weight times the
 * decayed share of time runnable; 1024: a nice-0 task that always runs.
 */
#ifndef SCHED_PELT_H
#define SCHED_PELT_H

#include "sched_int.h"

/* Reads of any CPU's averages, without its lock and after env_line_read() of its
 * state_line: hints. */

/* L(c) of spec/idle-search.md: what placement compares. Runnable load in v5.2,
 * else the root queue's load_avg. */
u64 cpu_load(const struct rq *rq);

/* The root queue's load_avg: blocked tasks included. */
u64 cpu_load_avg(const struct rq *rq);

/* Share of the CPU's time that somebody ran, of SCHED_CAPACITY. */
u64 cpu_util(const struct rq *rq);

/* cpu_util() without p's own part, if it has one there. */
u64 cpu_util_without(const struct rq *rq, const struct sched_task *p);

/* p's share of the load of its CPU, through its groups. */
u64 task_h_load(const struct sched_task *p);

u64 task_util(const struct sched_task *p);

/* What a CPU can do; less where time is stolen. */
#define SCHED_CAPACITY 1024

static inline u64 cpu_capacity(const struct rq *rq)
{
	(void)rq;
	return SCHED_CAPACITY;
}

#endif
