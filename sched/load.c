/* SPDX-License-Identifier: MIT */
/*
 * The averages of entities as parts of their queue's: stepping both, attaching,
 * detaching, and taking load away without the lock. spec/cfs-core.md sections 9
 * and 10.
 */
#include "pelt.h"

#define UNIT_NS 1024

static inline void store(u64 *where, u64 value)
{
	__atomic_store_n(where, value, __ATOMIC_RELAXED);
}

static inline u64 read_once(const u64 *where)
{
	return __atomic_load_n(where, __ATOMIC_RELAXED);
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

void init_entity_load_avg(const struct sched *s, struct sched_entity *se)
{
	memset(&se->avg, 0, sizeof(se->avg));
	se->avg.load_avg = se_weight(s, se);
	if (!profile_v64(s))
		se->avg.runnable_load_avg = se->avg.load_avg;
}

/* ---- parts of a queue ------------------------------------------------------------- */

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

static void add_load(struct cfs_rq *q, const struct sched_entity *se)
{
	add_part(&q->avg.load_avg, &q->avg.load_sum, se->avg.load_avg,
		 se_weight(q->rq->sched, se) * se->avg.load_sum);
}

static void sub_load(struct cfs_rq *q, const struct sched_entity *se)
{
	sub_part(&q->avg.load_avg, &q->avg.load_sum, se->avg.load_avg,
		 se_weight(q->rq->sched, se) * se->avg.load_sum);
}

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
}

static void detach_entity_load_avg(struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched_avg *a = &se->avg;
	struct sched_avg *qa = &q->avg;

	sub_load(q, se);
	sub_part(&qa->util_avg, &qa->util_sum, a->util_avg, a->util_sum);
	sub_part(&qa->runnable_avg, &qa->runnable_sum, a->runnable_avg, a->runnable_sum);
}

void enqueue_runnable_load_avg(struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched *s = q->rq->sched;

	if (!profile_v64(s))
		add_part(&q->avg.runnable_load_avg, &q->avg.runnable_load_sum,
			 se->avg.runnable_load_avg,
			 se_weight(s, se) * se->avg.runnable_load_sum);
}

/* No floor: when the last one leaves, a remainder of the average may stay until the
 * next period ends, as published. */
void dequeue_runnable_load_avg(struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched *s = q->rq->sched;
	struct sched_avg *qa = &q->avg;

	if (profile_v64(s))
		return;
	store(&qa->runnable_load_avg, minus(qa->runnable_load_avg, se->avg.runnable_load_avg));
	qa->runnable_load_sum = minus(qa->runnable_load_sum,
				      se_weight(s, se) * se->avg.runnable_load_sum);
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
	q->removed.load_avg = q->removed.util_avg = q->removed.runnable_avg = 0;
	__atomic_store_n(&q->removed.nr, 0, __ATOMIC_RELAXED);
	env_unlock(&q->removed.lock);
	sub_part(&qa->load_avg, &qa->load_sum, load_avg, load_avg * divider);
	sub_part(&qa->util_avg, &qa->util_sum, util_avg, util_avg * divider);
	sub_part(&qa->runnable_avg, &qa->runnable_sum, runnable_avg, runnable_avg * divider);
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
	q->removed.load_avg += se->avg.load_avg;
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

static void update_cfs_rq_load_avg(struct cfs_rq *q, u64 now)
{
	if (removal_pending(q))
		take_removed(q);
	pelt_step_queue(q, now);
}

static __attribute__((noinline)) void step_and_move(struct cfs_rq *q, struct sched_entity *se,
						     u64 now, u32 flags)
{
	bool attached = se->avg.last_update_time;

	env_path_begin(PATH_PELT);
	if (attached && !(flags & SKIP_AGE_LOAD))
		pelt_step_entity(q, se, now);
	update_cfs_rq_load_avg(q, now);
	env_debug_assert(!attached || (flags & SKIP_AGE_LOAD) ||
			 (se->avg.last_update_time == q->avg.last_update_time &&
			  se->avg.period_contrib == q->avg.period_contrib),
			 "CPU %u: an entity was stepped to %llu, its queue to %llu", q->rq->cpu,
			 (unsigned long long)se->avg.last_update_time,
			 (unsigned long long)q->avg.last_update_time);
	if (!attached && (flags & DO_ATTACH))
		attach_entity_load_avg(q, se);
	else if (attached && (flags & DO_DETACH))
		detach_entity_load_avg(q, se);
	env_path_end(PATH_PELT);
}

void update_load_avg(struct cfs_rq *q, struct sched_entity *se, u32 flags)
{
	u64 now = rq_clock_pelt(q->rq);

	env_debug_assert(env_held(&q->rq->lock), "rq %u: load update without lock", q->rq->cpu);
	/* Several updates fall into one unit as a rule. Who is not attached is at 0. */
	if (now - q->avg.last_update_time < UNIT_NS && now - se->avg.last_update_time < UNIT_NS &&
	    !(flags & DO_DETACH) && !removal_pending(q))
		return;
	step_and_move(q, se, now, flags);
}

void attach_entity_cfs_rq(struct sched_entity *se)
{
	struct cfs_rq *q = se->cfs_rq;

	update_load_avg(q, se, sched_feat(q->rq->sched, ATTACH_AGE_LOAD) ? 0 : SKIP_AGE_LOAD);
	attach_entity_load_avg(q, se);
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

static void set_weight(struct cfs_rq *q, struct sched_entity *se, u64 weight, u32 inv_weight)
{
	const struct sched *s = q->rq->sched;
	struct sched_avg *a = &se->avg;
	bool attached = a->last_update_time;

	if (attached)
		sub_load(q, se);
	se->load.weight = weight;
	se->load.inv_weight = inv_weight;
	store(&a->load_avg, divide(se_weight(s, se) * a->load_sum, pelt_divider(a)));
	if (!profile_v64(s))
		store(&a->runnable_load_avg,
		      divide(se_weight(s, se) * a->runnable_load_sum, pelt_divider(a)));
	if (attached)
		add_load(q, se);
}

static void reweight_queued(struct cfs_rq *q, struct sched_entity *se, u64 weight,
			    u32 inv_weight)
{
	bool full = q->rq->sched->vector.value[FEAT_REWEIGHT] == REWEIGHT_FULL;
	u64 old = se->load.weight;

	if (q->curr == se)
		update_curr(q);
	if (full)
		account_entity_dequeue(q, se);
	dequeue_runnable_load_avg(q, se);
	set_weight(q, se, weight, inv_weight);
	enqueue_runnable_load_avg(q, se);
	if (full)
		account_entity_enqueue(q, se);
	else
		update_load_add(&q->load, weight - old); /* mod 2^64 */
}

void reweight_entity(struct cfs_rq *q, struct sched_entity *se, u64 weight, u32 inv_weight)
{
	if (se->on_rq)
		reweight_queued(q, se, weight, inv_weight);
	else
		set_weight(q, se, weight, inv_weight);
}

/* ---- reads of any CPU's averages ------------------------------------------------------- */

u64 cpu_load(const struct rq *rq)
{
	return read_once(profile_v64(rq->sched) ? &rq->cfs.avg.load_avg
						: &rq->cfs.avg.runnable_load_avg);
}

u64 cpu_load_avg(const struct rq *rq)
{
	return read_once(&rq->cfs.avg.load_avg);
}

static u64 capped(const struct rq *rq, u64 util)
{
	return util < cpu_capacity(rq) ? util : cpu_capacity(rq);
}

u64 cpu_util(const struct rq *rq)
{
	return capped(rq, read_once(&rq->cfs.avg.util_avg));
}

u64 cpu_util_without(const struct rq *rq, const struct sched_task *p)
{
	u64 util = read_once(&rq->cfs.avg.util_avg);

	if (task_cpu(p) == rq->cpu && p->se.avg.last_update_time)
		util = minus(util, task_util(p));
	return capped(rq, util);
}

u64 task_util(const struct sched_task *p)
{
	return read_once(&p->se.avg.util_avg);
}

/* The load of all tasks in and below q, as its CPU sees it. */
static u64 queue_h_load(const struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);

	if (!se)
		return read_once(&q->avg.load_avg);
	return divide(queue_h_load(se->cfs_rq) * read_once(&se->avg.load_avg),
		      read_once(&se->cfs_rq->avg.load_avg) + 1);
}

u64 task_h_load(const struct sched_task *p)
{
	const struct cfs_rq *q = p->se.cfs_rq;
	u64 own = read_once(&p->se.avg.load_avg);

	if (!owner_entity(q))
		return own;
	return divide(own * queue_h_load(q), read_once(&q->avg.load_avg) + 1);
}
