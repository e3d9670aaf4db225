/* SPDX-License-Identifier: MIT */
/*
 * Queues that have load, and the walk that ages those which nobody steps, because
 * whoever made the load sleeps or went elsewhere: spec/cfs-core.md section 10,
 * "Blocked load".
 *
 * Until there is a load balancer the walk is made where v6.4's makes it: by a CPU
 * that looks for work before it idles, at the tick of a busy CPU when the balance of
 * its smallest domain is due, and every 32 ms for CPUs that idle without a tick, which
 * is left to the housekeeping CPU. A machine that never had a group does without.
 */
#include "load_parts.h"

/* Of load: a half-life. Source: spec/cfs-core.md section 10, "Blocked load". */
#define IDLE_WALK_MS 32

/* ---- the list -------------------------------------------------------------------- */

/* What is listed has its parents listed, so q goes to the front, before parents that
 * are not, before all others. */
void list_leaf_queue(struct cfs_rq *q)
{
	struct list *after = &q->rq->leaf_queues;

	if (!q->on_list)
		__atomic_store_n(&q->rq->has_blocked, true, __ATOMIC_RELAXED);
	while (!q->on_list) {
		const struct sched_entity *se = owner_entity(q);

		q->on_list = true;
		list_add_head(after, &q->leaf_node);
		after = &q->leaf_node;
		if (!se)
			return;
		q = se->cfs_rq;
		q->listed_children++;
	}
}

void unlist_leaf_queue(struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);

	if (!q->on_list)
		return;
	q->on_list = false;
	list_del(&q->leaf_node);
	if (se)
		se->cfs_rq->listed_children--;
}

/* Nothing of it will change by itself. The group's counter is owed what it was told. */
static bool decayed(const struct cfs_rq *q)
{
	const struct sched_avg *a = &q->avg;

	return !q->load.weight && !q->listed_children && !q->prop_removed_sum &&
	       !q->tg_load_avg_contrib && !a->load_sum && !a->util_sum && !a->runnable_sum &&
	       !a->runnable_load_sum;
}

/* ---- the walk --------------------------------------------------------------------- */

static bool nothing_above(const struct sched_entity *se)
{
	return !se->avg.load_avg && !se->avg.util_avg && !se->my_q->propagate;
}

void update_blocked_load(struct rq *rq)
{
	bool left = false;

	env_path_begin(PATH_BLOCKED_WALK);
	env_line_write(&rq->state_line);
	counter_add(&this_rq(rq->sched)->count.blocked_walks, 1);
	list_for_each_safe(n, next, &rq->leaf_queues) {
		struct cfs_rq *q = container_of(n, struct cfs_rq, leaf_node);
		struct sched_entity *se = owner_entity(q);
		u32 change = update_cfs_rq_load_avg(q, rq_clock_pelt(rq));

		if (change & LOAD_AGED)
			fold_removed(q);
		if (change)
			update_tg_load_avg(q, PUBLISH_WALK);
		if (se && !nothing_above(se))
			update_load_avg(se->cfs_rq, se, UPDATE_TG);
		if (decayed(q))
			unlist_leaf_queue(q);
		else
			left = true;
	}
	__atomic_store_n(&rq->has_blocked, left, __ATOMIC_RELAXED);
	env_path_end(PATH_BLOCKED_WALK);
}

static inline bool any_groups(const struct sched *s)
{
	return __atomic_load_n(&s->groups, __ATOMIC_RELAXED);
}

static u64 ticks_by(const struct sched *s, u64 ns)
{
	return ns / (1000000000 / s->hz);
}

static u64 ms_to_ticks(const struct sched *s, u64 ms)
{
	return ms * s->hz > 1000 ? ms * s->hz / 1000 : 1;
}

/* Between balances of a busy CPU. Source: spec/topology.md section 5, min_interval
 * times busy_factor; a CPU without a domain balances nothing, as one that idles. */
static u64 walk_ticks(const struct rq *rq)
{
	const struct sched_domain *sd = rq->sched->domains.bottom[rq->cpu];

	return ms_to_ticks(rq->sched, sd ? sd->min_interval_ms * sd->busy_factor : IDLE_WALK_MS);
}

void blocked_load_on_tick(struct rq *rq)
{
	u64 tick;

	if (!any_groups(rq->sched))
		return;
	tick = ticks_by(rq->sched, rq->clock);
	if (tick < rq->next_walk)
		return;
	rq->next_walk = tick + walk_ticks(rq);
	update_blocked_load(rq);
}

static void walk_idle(struct rq *rq)
{
	rq_lock(rq);
	if (rq->curr == rq->idle) {
		update_rq_clock(rq);
		update_blocked_load(rq);
		schedstat_inc(rq->sched, blocked_walks_idle);
	}
	rq_unlock(rq);
}

void blocked_load_of_idle(struct rq *rq)
{
	struct sched *s = rq->sched;
	u64 tick;

	if (rq->cpu != s->housekeeper || !any_groups(s))
		return;
	tick = ticks_by(s, env_now());
	if (tick < s->next_idle_walk)
		return;
	s->next_idle_walk = tick + ms_to_ticks(s, IDLE_WALK_MS);
	for_each_cpu(c, &s->online, s->nr_cpus) {
		struct rq *idle = cpu_rq(s, c);

		env_line_read(&idle->state_line);
		if (__atomic_load_n(&idle->curr, __ATOMIC_RELAXED) == idle->idle &&
		    __atomic_load_n(&idle->has_blocked, __ATOMIC_RELAXED))
			walk_idle(idle);
	}
}
