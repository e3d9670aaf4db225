/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of group load and group weight: spec/group-load.md sections 1 and 2.
 * Pure functions of plain numbers, for the scheduler, its checks and its probes.
 * Loads and queue weights are scaled down, shares are not (1024 * 1024: a nice-0 task).
 */
#ifndef SCHED_GROUP_LOAD_H
#define SCHED_GROUP_LOAD_H

#include "../kernel/lib/types.h"

#define MIN_SHARES 2
#define TG_RATE_LIMIT_NS 1000000 /* least time between two publishes of a queue */

/* What the weight of a group's entity follows from. */
struct group_load {
	u64 shares;
	s64 tg_load;  /* of the group on all CPUs, as published */
	u64 contrib;  /* the queue's part of it */
	u64 weight;   /* of the queue's entities, now */
	u64 load_avg; /* of the queue, now */
};

static inline u64 group_local_load(const struct group_load *g)
{
	return g->weight > g->load_avg ? g->weight : g->load_avg;
}

/* What the queue's load is a part of. Not positive, with load: the counters were read
 * while they changed. */
static inline s64 group_total_load(const struct group_load *g)
{
	return g->tg_load - (s64)g->contrib + (s64)group_local_load(g);
}

/* Of the shares as the local load is of the total. */
static inline u64 calc_group_shares(const struct group_load *g)
{
	s64 total = group_total_load(g);
	s64 shares = (s64)(g->shares * group_local_load(g));

	if (total)
		shares /= total;
	if (shares < MIN_SHARES)
		return MIN_SHARES;
	return (u64)shares < g->shares ? (u64)shares : g->shares;
}

/* v5.2: what of that weight is queued, by the queue's runnable load and weight. */
static inline u64 calc_group_runnable(const struct group_load *g, u64 shares,
				      u64 runnable_load_avg, u64 runnable_weight)
{
	u64 load = group_local_load(g);
	u64 runnable = runnable_load_avg > runnable_weight ? runnable_load_avg : runnable_weight;

	runnable *= shares;
	if (load)
		runnable /= load;
	if (runnable < MIN_SHARES)
		return MIN_SHARES;
	return runnable < shares ? runnable : shares;
}

/* Whether a queue's new load is told to the group: when it differs by more than one
 * part in `parts` of what was told. */
static inline bool publish_due(u64 load_avg, u64 contrib, u64 parts)
{
	u64 off = load_avg > contrib ? load_avg - contrib : contrib - load_avg;

	return off > contrib / parts;
}

/* TG_PUBLISH=rate: too soon, whatever the difference. last_ns 0: never published. */
static inline bool publish_limited(u64 now_ns, u64 last_ns)
{
	return last_ns && (s64)(now_ns - last_ns) < TG_RATE_LIMIT_NS;
}

#endif
