/* SPDX-License-Identifier: MIT */
/*
 * The averages of entities as parts of their queue's: stepping both, attaching,
 * detaching, and taking load away without the lock. spec/cfs-core.md sections 9
 * and 10.
 */
#include "load_parts.h"

#define UNIT_NS 1024

void init_entity_load_avg(const struct sched *s, struct sched_entity *se)
{
	memset(&se->avg, 0, sizeof(se->avg));
	se->avg.load_avg = se_weight(s, se);
	if (!profile_v64(s))
		se->avg.runnable_load_avg = se->avg.load_avg;
}

/* ---- parts of a queue ------------------------------------------------------------- */

/* Sums are made anew from the averages: se comes from another clock, whose periods
 * begin at other times. */
static void attach_entity_load_avg(struct cfs_rq *q, struct sched_entity *se)
{
	struct sched_avg *a = &se->avg, *qa = &q->avg;
	u64 divider = pelt_divider(qa), weight = se_weight(q->rq->sched, se);

	a->last_update_time = qa->last_update_time;
	a->period_contrib = qa->period_contrib;
	a->util_sum = a->util_avg * divider;
	a->runnable_sum = a->runnable_avg * divider;
	a->load_sum = a->load_avg * divider;
	a->load_sum = a->load_sum > weight ? divide(a->load_sum, weight) : 1;
	if (!profile_v64(q->rq->sched))
		a->runnable_load_sum = a->load_sum;
	add_load(q, se);
	add_part(&qa->util_avg, &qa->util_sum, a->util_avg, a->util_sum);
	add_part(&qa->runnable_avg, &qa->runnable_sum, a->runnable_avg, a->runnable_sum);
	add_propagation(q, (s64)a->load_sum);
}

static void detach_entity_load_avg(struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched_avg *a = &se->avg;
	struct sched_avg *qa = &q->avg;

	sub_load(q, se);
	sub_part(&qa->util_avg, &qa->util_sum, a->util_avg, a->util_sum);
	sub_part(&qa->runnable_avg, &qa->runnable_sum, a->runnable_avg, a->runnable_sum);
	add_propagation(q, -(s64)a->load_sum);
}

void enqueue_runnable_load_avg(struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched *s = q->rq->sched;

	if (profile_v64(s))
		return;
	q->runnable_load_weight += entity_is_task(se) ? se->load.weight : se->runnable_load_weight;
	add_part(&q->avg.runnable_load_avg, &q->avg.runnable_load_sum, se->avg.runnable_load_avg,
		 se_runnable(s, se) * se->avg.runnable_load_sum);
}

/* No floor: when the last one leaves, a remainder of the average may stay until the
 * next period ends, as published. */
void dequeue_runnable_load_avg(struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched *s = q->rq->sched;
	struct sched_avg *qa = &q->avg;

	if (profile_v64(s))
		return;
	q->runnable_load_weight -= entity_is_task(se) ? se->load.weight : se->runnable_load_weight;
	store(&qa->runnable_load_avg, minus(qa->runnable_load_avg, se->avg.runnable_load_avg));
	qa->runnable_load_sum = minus(qa->runnable_load_sum,
				      se_runnable(s, se) * se->avg.runnable_load_sum);
}

/* ---- load taken away without the lock --------------------------------------------- */

static bool removal_pending(const struct cfs_rq *q)
{
	return __atomic_load_n(&q->removed.nr, __ATOMIC_RELAXED);
}

static void take_removed(struct cfs_rq *q)
{
	u64 divider = pelt_divider(&q->avg), load_avg, util_avg, runnable_avg;
	struct sched_avg *qa = &q->avg;

	env_lock(&q->removed.lock);
	load_avg = q->removed.load_avg;
	util_avg = q->removed.util_avg;
	runnable_avg = q->removed.runnable_avg;
	store(&q->removed.load_avg, 0);
	q->removed.util_avg = q->removed.runnable_avg = 0;
	__atomic_store_n(&q->removed.nr, 0, __ATOMIC_RELAXED);
	env_unlock(&q->removed.lock);
	sub_part(&qa->load_avg, &qa->load_sum, load_avg, load_avg * divider);
	sub_part(&qa->util_avg, &qa->util_sum, util_avg, util_avg * divider);
	sub_part(&qa->runnable_avg, &qa->runnable_sum, runnable_avg, runnable_avg * divider);
	/* In time, not in load: the shift rounds away from 0. */
	add_propagation_removed(q, -(s64)(runnable_avg * divider) >> SCHED_FIXEDPOINT_SHIFT);
	schedstat_inc(q->rq->sched, removed_batches);
	counter_add(&this_rq(q->rq->sched)->count.removed_load, load_avg);
}

/* Whatever of the queue is older than its last update is aged with the queue. */
static void add_removed(struct sched_entity *se)
{
	struct cfs_rq *q = se->cfs_rq;

	env_debug_assert(se->avg.last_update_time, "CPU %u: load removed that is not attached",
			 q->rq->cpu);
	pelt_step_blocked(q->rq->sched, se, read_once(&q->avg.last_update_time));
	env_lock(&q->removed.lock);
	__atomic_store_n(&q->removed.nr, q->removed.nr + 1, __ATOMIC_RELAXED);
	store(&q->removed.load_avg, q->removed.load_avg + se->avg.load_avg);
	q->removed.util_avg += se->avg.util_avg;
	q->removed.runnable_avg += se->avg.runnable_avg;
	env_unlock(&q->removed.lock);
}

void remove_entity_load_avg(struct sched_entity *se)
{
	add_removed(se);
	se->avg.last_update_time = 0;
}

void migrate_entity_load_avg(struct sched_entity *se)
{
	const struct rq *rq = se->cfs_rq->rq;
	bool idle = __atomic_load_n(&rq->curr, __ATOMIC_RELAXED) == rq->idle;
	u64 now = 0;

	/* Read before others get their turn at the lock. */
	if (idle) {
		s64 idled;

		env_charge(ENV_RDTSC);
		idled = (s64)(env_now() - read_once(&rq->clock_idle));
		now = read_once(&rq->clock_pelt_idle) + (idled > 0 ? (u64)idled : 0);
	}
	add_removed(se);
	if (idle)
		pelt_step_blocked(rq->sched, se, now);
	se->avg.last_update_time = 0;
}

/* ---- stepping ------------------------------------------------------------------------ */

u32 update_cfs_rq_load_avg(struct cfs_rq *q, u64 now)
{
	u32 change = 0;

	if (removal_pending(q)) {
		take_removed(q);
		/* Who postpones publishing does as if nothing had happened. */
		if (q->rq->sched->vector.value[FEAT_TG_PUBLISH] != TG_PUBLISH_DELAY)
			change |= LOAD_REMOVED;
	}
	if (pelt_step_queue(q, now))
		change |= LOAD_AGED;
	return change;
}

static enum publish_cause cause_of(u32 change)
{
	return change & LOAD_REMOVED ? PUBLISH_REMOVED
	     : change & LOAD_PROPAGATED ? PUBLISH_PROPAGATE
					: PUBLISH_AGE;
}

static __attribute__((noinline)) void step_and_move(struct cfs_rq *q, struct sched_entity *se,
						     u64 now, u32 flags)
{
	bool attached = se->avg.last_update_time;
	u32 change;

	env_path_begin(PATH_UPDATE_LOAD_AVG);
	if (attached)
		pelt_step_entity(q, se, now);
	change = update_cfs_rq_load_avg(q, now);
	env_debug_assert(!attached ||
			 (se->avg.last_update_time == q->avg.last_update_time &&
			  se->avg.period_contrib == q->avg.period_contrib),
			 "CPU %u: an entity was stepped to %llu, its queue to %llu", q->rq->cpu,
			 (unsigned long long)se->avg.last_update_time,
			 (unsigned long long)q->avg.last_update_time);
	if (propagate_entity(q, se))
		change |= LOAD_PROPAGATED;
	if (!attached && (flags & DO_ATTACH)) {
		attach_entity_load_avg(q, se);
		update_tg_load_avg(q, PUBLISH_ATTACH);
	} else if (attached && (flags & DO_DETACH)) {
		detach_entity_load_avg(q, se);
		update_tg_load_avg(q, PUBLISH_DETACH);
	} else if (change && (flags & UPDATE_TG)) {
		update_tg_load_avg(q, cause_of(change));
	}
	env_path_end(PATH_UPDATE_LOAD_AVG);
}

void update_load_avg(struct cfs_rq *q, struct sched_entity *se, u32 flags)
{
	u64 now = rq_clock_pelt(q->rq);

	env_debug_assert(env_held(&q->rq->lock), "rq %u: load update without lock", q->rq->cpu);
	/* Several updates fall into one unit as a rule. Who is not attached is at 0. */
	if (now - q->avg.last_update_time < UNIT_NS && now - se->avg.last_update_time < UNIT_NS &&
	    !(flags & DO_DETACH) && !removal_pending(q) && !(se->my_q && se->my_q->propagate))
		return;
	step_and_move(q, se, now, flags);
}

void attach_entity_cfs_rq(struct sched_entity *se)
{
	struct cfs_rq *q = se->cfs_rq;

	env_debug_assert(!se->avg.last_update_time, "CPU %u: load attached twice", q->rq->cpu);
	update_load_avg(q, se, 0);
	attach_entity_load_avg(q, se);
	update_tg_load_avg(q, PUBLISH_ATTACH);
	propagate_above(se);
}

void detach_entity_cfs_rq(struct sched_entity *se)
{
	struct cfs_rq *q = se->cfs_rq;

	update_load_avg(q, se, 0);
	detach_entity_load_avg(q, se);
	update_tg_load_avg(q, PUBLISH_DETACH);
	propagate_above(se);
}

void attach_new_entity(struct sched_entity *se)
{
	struct sched_avg *a = &se->avg;
	const struct cfs_rq *q = se->cfs_rq;
	s64 room = ((s64)cpu_capacity(q->rq) - (s64)q->avg.util_avg) / 2;
	u64 guess;

	/* As busy for its weight as the others, but no more than half of what is left. */
	if (room > 0) {
		guess = (u64)room;
		if (q->avg.util_avg)
			guess = divide(q->avg.util_avg * se_weight(q->rq->sched, se),
				       q->avg.load_avg + 1);
		store(&a->util_avg, guess < (u64)room ? guess : (u64)room);
	}
	store(&a->runnable_avg, a->util_avg);
	attach_entity_cfs_rq(se);
}
