/* SPDX-License-Identifier: MIT */
/*
 * What-ifs on formulas: probe=pelt, probe=shares, probe=slice. State in, result out; nothing that
 * runs is touched. All use the scheduler's own functions.
 */
#ifndef SCHED_FORMULA_H
#define SCHED_FORMULA_H

#include "sched.h"

/* Load averages of an entity or a queue over a stretch of time: spec/cfs-core.md
 * section 10. */
struct pelt_probe {
	bool queue;            /* averages of a queue: load_sum is weighted */
	u64 weight;            /* as of nice: 1024 is nice 0; of a queue the sum, below 2^32 */
	u64 runnable;          /* of a queue: tasks in it, below 2^16 */
	bool on_rq, running;
};

/* Ages avg by ns of PELT time in `updates` (1 or more) equal steps, the last of which
 * takes the remainder, as what in says it is doing. */
void sched_probe_pelt(const struct sched_config *cfg, const struct pelt_probe *in, u64 ns,
		      u64 updates, struct sched_avg *avg);

/* ---- probe=shares: spec/group-load.md ---------------------------------------- */

/* A group of `shares` (as of nice: 1024) below the root, as it stands on CPUs 0 to
 * nr - 1. Loads and weights are as of nice too, old_weight is scaled. */
struct shares_probe {
	u64 shares;
	u32 nr;
	const u64 *weight;      /* [nr] of what is queued */
	const u64 *load_avg, *contrib; /* [nr] of the queue, and what was published of it */
	const u64 *old_weight;  /* [nr] of the group's entity */
	s64 tg_load;            /* the counters' sum: the difference to the contribs is CPU 0's */
	u64 others;             /* entities queued beside the group's */
	u64 published_ago_ns;   /* by each queue; 0: never */
};

struct shares_prober;

/* Builds a scheduler of its own, as sched_prober_create() does. */
struct shares_prober *sched_shares_create(const struct sched_config *cfg,
					  const struct shares_probe *in);

/* update_tg_load_avg() of cpu's queue, by the calling CPU. Interrupts off. (sync) */
void sched_shares_publish(struct shares_prober *prober, u32 cpu);

/* Words of probe=shares site=, in the order of enum weight_site. */
#define SHARES_SITES "enqueue|dequeue|enqueue_above|dequeue_above|tick|shares"

/* What update_cfs_group() makes of cpu's entity at that site. Interrupts off. (sync) */
struct shares_answer {
	u64 weight, ideal;      /* of the entity; by queued weight alone; scaled */
	s64 error_permille;     /* of weight against ideal */
	u64 charge_ns;          /* vruntime for 1 ms at that weight */
	u64 contrib;
};
struct shares_answer sched_shares_weigh(struct shares_prober *prober, u32 cpu, u32 site);

/* The n-th counter of the group; with TG_COUNTER=single there is one. */
s64 sched_shares_counter(const struct shares_prober *prober, u32 n);

/* ---- probe=slice: spec/cfs-core.md section 6 ------------------------------------ */

/* Tasks that are queued on CPU 0, in the root and in a group below it. */
struct slice_probe {
	u32 nr, nr_group;
	const s32 *nice, *group_nice;
	u64 group_shares;       /* as of nice */
};

/* sched_slice() and sched_vslice() of each, the root's tasks first; then of a task of
 * newcomer_nice that is about to join the root. out: [nr + nr_group + 1]. */
struct slice_answer {
	u64 slice_ns, vslice_ns;
};
void sched_probe_slice(const struct sched_config *cfg, const struct slice_probe *in,
		       s32 newcomer_nice, struct slice_answer *out);

#endif
