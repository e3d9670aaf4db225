/* SPDX-License-Identifier: MIT */
/*
 * A new weight for an entity: its queue's sum of weights follows if it is queued, its
 * part of the queue's load always. spec/group-load.md section 3 and spec/cfs-core.md
 * section 10. The rq lock is held and its clock current.
 */
#include "load_parts.h"

/* Leaves its queue's sums; REWEIGHT=delta makes one change of both. */
static void leave_sums(struct cfs_rq *q, struct sched_entity *se)
{
	if (q->curr == se)
		update_curr(q);
	if (q->rq->sched->vector.value[FEAT_REWEIGHT] == REWEIGHT_FULL)
		account_entity_dequeue(q, se);
	dequeue_runnable_load_avg(q, se);
}

static void join_sums(struct cfs_rq *q, struct sched_entity *se, u64 old)
{
	if (q->rq->sched->vector.value[FEAT_REWEIGHT] == REWEIGHT_FULL)
		account_entity_enqueue(q, se);
	else
		update_load_add(&q->load, se->load.weight - old);
	enqueue_runnable_load_avg(q, se);
}

void reweight_entity(struct cfs_rq *q, struct sched_entity *se, u64 weight, u32 inv_weight,
		     u64 runnable)
{
	const struct sched *s = q->rq->sched;
	struct sched_avg *a = &se->avg;
	bool attached = a->last_update_time, queued = se->on_rq;
	bool full = s->vector.value[FEAT_REWEIGHT] == REWEIGHT_FULL;
	enum env_path path = full ? PATH_REWEIGHT_FULL : PATH_REWEIGHT_DELTA;
	u64 old = se->load.weight;

	env_path_begin(path);
	schedstat_inc(s, reweights);
	if (queued) {
		schedstat_inc(s, reweights_queued);
		leave_sums(q, se);
	}
	if (attached)
		sub_load(q, se);
	__atomic_store_n(&se->load.weight, weight, __ATOMIC_RELAXED);
	se->load.inv_weight = inv_weight;
	se->runnable_load_weight = runnable;
	store(&a->load_avg, divide(se_weight(s, se) * a->load_sum, pelt_divider(a)));
	if (!profile_v64(s))
		store(&a->runnable_load_avg,
		      divide(se_runnable(s, se) * a->runnable_load_sum, pelt_divider(a)));
	if (attached)
		add_load(q, se);
	if (queued)
		join_sums(q, se, old);
	env_path_end(path);
}
