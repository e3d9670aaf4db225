/* SPDX-License-Identifier: MIT */
/*
 * Averages that are sums of parts, for the files that keep or read them. Who writes
 * holds the rq lock; others see each value whole. spec/cfs-core.md section 10.
 */
#ifndef SCHED_LOAD_PARTS_H
#define SCHED_LOAD_PARTS_H

#include "pelt.h"

static inline u64 read_once(const u64 *where)
{
	return __atomic_load_n(where, __ATOMIC_RELAXED);
}

static inline void store(u64 *where, u64 value)
{
	__atomic_store_n(where, value, __ATOMIC_RELAXED);
}

static inline u64 minus(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static inline u64 divide(u64 a, u64 b)
{
	env_charge(ENV_DIV);
	return a / b;
}

static inline void add_part(u64 *avg, u64 *sum, u64 part_avg, u64 part_sum)
{
	store(avg, *avg + part_avg);
	*sum += part_sum;
}

/* Parts are rounded otherwise than the whole. No sum is less than its average
 * demands, or the average would outlive it. */
static inline void sub_part(u64 *avg, u64 *sum, u64 part_avg, u64 part_sum)
{
	u64 left = minus(*avg, part_avg), floor = left * PELT_MIN_DIVIDER;

	store(avg, left);
	*sum = minus(*sum, part_sum);
	if (*sum < floor)
		*sum = floor;
}

/* A part's share of avg and sum went from old to new. */
static inline void change_part(u64 *avg, u64 *sum, u64 old_avg, u64 new_avg, u64 old_sum,
			       u64 new_sum)
{
	u64 floor;

	store(avg, minus(*avg + new_avg, old_avg));
	*sum = minus(*sum + new_sum, old_sum);
	floor = *avg * PELT_MIN_DIVIDER;
	if (*sum < floor)
		*sum = floor;
}

static inline void add_load(struct cfs_rq *q, const struct sched_entity *se)
{
	add_part(&q->avg.load_avg, &q->avg.load_sum, se->avg.load_avg,
		 se_weight(q->rq->sched, se) * se->avg.load_sum);
}

static inline void sub_load(struct cfs_rq *q, const struct sched_entity *se)
{
	sub_part(&q->avg.load_avg, &q->avg.load_sum, se->avg.load_avg,
		 se_weight(q->rq->sched, se) * se->avg.load_sum);
}

#endif
