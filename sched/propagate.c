/* SPDX-License-Identifier: MIT */
/*
 * Load that joins or leaves a group passes on to the group's entity, and so to the
 * queue above: spec/cfs-core.md section 10, "Propagation". Utilisation and runnable
 * time pass on as they are. Load cannot: the entity's is weighted by the group's
 * weight, so what passes is the sum of time that it was runnable. The rq lock is held.
 */
#include "load_parts.h"

void add_propagation(struct cfs_rq *q, s64 sum)
{
	q->propagate = true;
	q->prop_runnable_sum += sum;
	fold_removed(q);
}

void add_propagation_removed(struct cfs_rq *q, s64 sum)
{
	if (q->rq->sched->vector.value[FEAT_TG_PUBLISH] == TG_PUBLISH_DELAY)
		q->prop_removed_sum += sum;
	else
		add_propagation(q, sum);
}

void fold_removed(struct cfs_rq *q)
{
	if (!q->prop_removed_sum)
		return;
	q->propagate = true;
	q->prop_runnable_sum += q->prop_removed_sum;
	q->prop_removed_sum = 0;
}

/* ---- one signal each, from my_q to se to q ---------------------------------------- */

static void propagate_util(struct cfs_rq *q, struct sched_entity *se)
{
	struct sched_avg *a = &se->avg;
	u64 avg = se->my_q->avg.util_avg, sum = avg * pelt_divider(&q->avg);

	if (avg == a->util_avg)
		return;
	change_part(&q->avg.util_avg, &q->avg.util_sum, a->util_avg, avg, a->util_sum, sum);
	store(&a->util_avg, avg);
	a->util_sum = sum;
}

static void propagate_runnable(struct cfs_rq *q, struct sched_entity *se)
{
	struct sched_avg *a = &se->avg;
	u64 avg = se->my_q->avg.runnable_avg, sum = avg * pelt_divider(&q->avg);

	if (avg == a->runnable_avg)
		return;
	change_part(&q->avg.runnable_avg, &q->avg.runnable_sum, a->runnable_avg, avg,
		    a->runnable_sum, sum);
	store(&a->runnable_avg, avg);
	a->runnable_sum = sum;
}

/* The new sum of time that the entity counts as runnable. Who joins adds what he
 * brings, though the others may have been runnable at the same times: until it is
 * full. Who leaves takes as much as his weight was of the queue's. */
static s64 propagated_sum(const struct cfs_rq *q, const struct sched_entity *se, s64 change)
{
	const struct cfs_rq *mine = se->my_q;
	u64 weight = scale_load_down(q->rq->sched, mine->load.weight);
	s64 sum = (s64)se->avg.load_sum, limit, ran = (s64)(se->avg.util_sum >> 10);

	if (change > 0) {
		sum += change;
		limit = (s64)pelt_divider(&q->avg);
	} else {
		limit = weight ? (s64)divide(mine->avg.load_sum, weight) : 0;
	}
	if (sum > limit)
		sum = limit;
	return sum > ran ? sum : ran; /* no less than it ran */
}

/* v5.2: what of the load is queued follows, in its own weight. */
static void propagate_queued(struct cfs_rq *q, struct sched_entity *se, u64 sum)
{
	u64 runnable = se_runnable(q->rq->sched, se);
	u64 avg = divide(runnable * sum, pelt_divider(&q->avg));
	struct sched_avg *a = &se->avg;

	if (se->on_rq)
		change_part(&q->avg.runnable_load_avg, &q->avg.runnable_load_sum,
			    a->runnable_load_avg, avg, runnable * a->runnable_load_sum,
			    runnable * sum);
	store(&a->runnable_load_avg, avg);
	a->runnable_load_sum = sum;
}

static void propagate_load(struct cfs_rq *q, struct sched_entity *se)
{
	const struct sched *s = q->rq->sched;
	s64 change = se->my_q->prop_runnable_sum;
	u64 weight = se_weight(s, se), sum, avg;
	struct sched_avg *a = &se->avg;

	if (!change)
		return;
	se->my_q->prop_runnable_sum = 0;
	sum = (u64)propagated_sum(q, se, change);
	avg = divide(weight * sum, pelt_divider(&q->avg));
	if (avg == a->load_avg)
		return;
	change_part(&q->avg.load_avg, &q->avg.load_sum, a->load_avg, avg, weight * a->load_sum,
		    weight * sum);
	store(&a->load_avg, avg);
	a->load_sum = sum;
	if (!profile_v64(s))
		propagate_queued(q, se, sum);
}

bool propagate_entity(struct cfs_rq *q, struct sched_entity *se)
{
	struct cfs_rq *mine = se->my_q;

	if (!mine || !mine->propagate)
		return false;
	mine->propagate = false;
	add_propagation(q, mine->prop_runnable_sum);
	propagate_util(q, se);
	propagate_runnable(q, se);
	propagate_load(q, se);
	return true;
}

void propagate_above(struct sched_entity *se)
{
	list_leaf_queue(se->cfs_rq);
	for (se = se->parent; se; se = se->parent)
		update_load_avg(se->cfs_rq, se, UPDATE_TG);
}
