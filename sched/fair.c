/* SPDX-License-Identifier: MIT */
/*
 * The hierarchy of entities and queues, whatever the policy: runtime, load and
 * counts, and the walk from a task up to the root. spec/cfs-core.md sections 1,
 * 4, 7 and 8. The rq lock is held and its clock current throughout.
 */
#include "pelt.h"

void init_cfs_rq(struct cfs_rq *q, struct rq *rq, struct task_group *tg)
{
	q->rq = rq;
	q->tg = tg;
	list_init(&q->leaf_node);
	/* Soon wraps, so that code which forgets about wrapping shows. */
	q->min_vruntime = q->checked_min_vruntime = 0ull - (1ull << 20);
}

static inline const struct sched_policy *policy_of(const struct cfs_rq *q)
{
	return q->rq->policy;
}

bool se_is_idle(const struct sched *s, const struct sched_entity *se)
{
	if (entity_is_task(se))
		return container_of(se, struct sched_task, se)->class == SCHED_CLASS_IDLE;
	return profile_v64(s) && se->my_q->idle;
}

void update_curr(struct cfs_rq *q)
{
	struct sched_entity *curr = q->curr;
	u64 delta;

	if (!curr)
		return;
	delta = q->rq->clock_task - curr->exec_start;
	if ((s64)delta <= 0)
		return;
	curr->exec_start = q->rq->clock_task;
	curr->sum_exec_runtime += delta;
	q->exec_clock += delta;
	policy_of(q)->charge(q, curr, delta);
}

void account_entity_enqueue(struct cfs_rq *q, struct sched_entity *se)
{
	update_load_add(&q->load, se->load.weight);
	q->nr_running++;
	q->idle_nr_running += se_is_idle(q->rq->sched, se);
	if (entity_is_task(se))
		list_add_head(&q->rq->tasks, &task_of(se)->rq_node);
}

void account_entity_dequeue(struct cfs_rq *q, struct sched_entity *se)
{
	update_load_sub(&q->load, se->load.weight);
	q->nr_running--;
	q->idle_nr_running -= se_is_idle(q->rq->sched, se);
	if (entity_is_task(se))
		list_del(&task_of(se)->rq_node);
}

/* After update_load_avg(): the time gone by counts with the old number of tasks. */
static inline void update_runnable(struct sched_entity *se)
{
	if (!entity_is_task(se))
		se->runnable_weight = se->my_q->h_nr_running;
}

/* into the tree */
static void insert_entity(struct cfs_rq *q, struct sched_entity *se)
{
	if (policy_of(q)->enqueue)
		policy_of(q)->enqueue(q, se);
	rb_insert(&q->tree, &se->node, policy_of(q)->less);
}

static void enqueue_entity(struct cfs_rq *q, struct sched_entity *se, u32 flags)
{
	const struct sched_policy *policy = policy_of(q);

	/* Who runs is put back before it is enqueued anew. */
	env_debug_assert(q->curr != se, "curr of CPU %u is enqueued", q->rq->cpu);
	env_path_begin(PATH_ENQUEUE);
	update_curr(q);
	if (!(flags & ENQUEUE_WAKEUP) || (flags & ENQUEUE_MIGRATED))
		policy->renormalise(q, se, false);
	update_load_avg(q, se, UPDATE_TG | DO_ATTACH);
	update_runnable(se);
	update_cfs_group(se, WEIGHT_ENQUEUE);
	enqueue_runnable_load_avg(q, se);
	account_entity_enqueue(q, se);
	if (flags & ENQUEUE_WAKEUP)
		policy->place(q, se, PLACE_WAKEUP);
	if (flags & ENQUEUE_MIGRATED)
		se->exec_start = 0;
	insert_entity(q, se);
	se->on_rq = true;
	if (!q->on_list)
		list_leaf_queue(q);
	env_path_end(PATH_ENQUEUE);
}

static void dequeue_entity(struct cfs_rq *q, struct sched_entity *se, u32 flags)
{
	const struct sched_policy *policy = policy_of(q);
	bool migrates = !(flags & (DEQUEUE_SLEEP | DEQUEUE_SAVE));

	env_path_begin(PATH_DEQUEUE);
	update_curr(q);
	update_load_avg(q, se, UPDATE_TG | (migrates ? DO_DETACH : 0));
	update_runnable(se);
	dequeue_runnable_load_avg(q, se);
	policy->dequeue(q, se);
	if (q->curr != se)
		rb_erase(&q->tree, &se->node);
	se->on_rq = false;
	account_entity_dequeue(q, se);
	if (!(flags & DEQUEUE_SLEEP))
		policy->renormalise(q, se, true);
	update_cfs_group(se, WEIGHT_DEQUEUE);
	/* What is back at once must find the floor where it was. */
	if ((flags & (DEQUEUE_SAVE | DEQUEUE_MOVE)) != DEQUEUE_SAVE)
		policy->floor(q);
	env_path_end(PATH_DEQUEUE);
}

void enqueue_task(struct rq *rq, struct sched_task *p, u32 flags)
{
	struct sched_entity *se = &p->se;
	bool idle = p->class == SCHED_CLASS_IDLE;

	for_each_sched_entity(se) {
		struct cfs_rq *q = se->cfs_rq;

		if (!se->on_rq) {
			enqueue_entity(q, se, flags);
		} else {
			update_load_avg(q, se, UPDATE_TG);
			update_runnable(se);
			update_cfs_group(se, WEIGHT_ENQUEUE_ABOVE);
		}
		q->h_nr_running++;
		counter_add(&q->idle_h_nr_running, idle);
		idle |= q->idle;
		flags = ENQUEUE_WAKEUP;
	}
	__atomic_store_n(&rq->nr_running, rq->nr_running + 1, __ATOMIC_RELAXED);
	check_available_changed(rq);
}

void dequeue_task(struct rq *rq, struct sched_task *p, u32 flags)
{
	struct sched_entity *se = &p->se;
	bool idle = p->class == SCHED_CLASS_IDLE;
	bool sleeps = flags & DEQUEUE_SLEEP, leaving = true;

	for_each_sched_entity(se) {
		struct cfs_rq *q = se->cfs_rq;

		if (leaving) {
			dequeue_entity(q, se, flags);
		} else {
			update_load_avg(q, se, UPDATE_TG);
			update_runnable(se);
			update_cfs_group(se, WEIGHT_DEQUEUE_ABOVE);
		}
		q->h_nr_running--;
		counter_add(&q->idle_h_nr_running, -(u32)idle);
		idle |= q->idle;
		if (leaving && q->nr_running) {
			leaving = false;
			if (sleeps && se->parent && rq->policy->prefer)
				rq->policy->prefer(se->parent);
		}
		flags |= DEQUEUE_SLEEP;
	}
	__atomic_store_n(&rq->nr_running, rq->nr_running - 1, __ATOMIC_RELAXED);
	check_available_changed(rq);
}

static void set_next_entity(struct cfs_rq *q, struct sched_entity *se)
{
	policy_of(q)->set_next(q, se);
	if (se->on_rq) {
		rb_erase(&q->tree, &se->node);
		update_load_avg(q, se, UPDATE_TG); /* it waited until now */
	}
	se->exec_start = q->rq->clock_task;
	if (q == &q->rq->cfs)
		q->rq->check.nobody_ns += q->rq->clock_task - q->rq->check.put_clock;
	q->curr = se;
	se->prev_sum_exec_runtime = se->sum_exec_runtime;
}

static void put_prev_entity(struct cfs_rq *q, struct sched_entity *prev)
{
	if (prev->on_rq) {
		update_curr(q);
		insert_entity(q, prev);
		update_load_avg(q, prev, 0);
	}
	if (q == &q->rq->cfs)
		q->rq->check.put_clock = prev->exec_start;
	q->curr = NULL;
}

void put_prev_task(struct sched_task *p)
{
	struct sched_entity *se = &p->se;

	env_debug_assert(se->cfs_rq->curr == se, "put_prev: task %u is not curr", p->id);
	for_each_sched_entity(se)
		put_prev_entity(se->cfs_rq, se);
}

void set_next_task(struct rq *rq, struct sched_task *p)
{
	struct sched_entity *se = &p->se;

	list_del(&p->rq_node);
	list_add_head(&rq->tasks, &p->rq_node);
	for_each_sched_entity(se)
		set_next_entity(se->cfs_rq, se);
}

/* From old, which runs, to next: what both have above them stays in place. */
static void switch_entities(struct rq *rq, struct sched_entity *old, struct sched_task *next)
{
	struct sched_entity *se = &next->se;

	list_del(&next->rq_node);
	list_add_head(&rq->tasks, &next->rq_node);
	while (se->cfs_rq != old->cfs_rq) {
		u32 se_depth = se->depth, old_depth = old->depth;

		if (se_depth <= old_depth) {
			put_prev_entity(old->cfs_rq, old);
			old = old->parent;
		}
		if (se_depth >= old_depth) {
			set_next_entity(se->cfs_rq, se);
			se = se->parent;
		}
	}
	put_prev_entity(old->cfs_rq, old);
	set_next_entity(se->cfs_rq, se);
}

/* The task that runs, by way of the queues' curr pointers; NULL: none is fair. */
static struct sched_entity *running_leaf(struct rq *rq)
{
	struct sched_entity *se = rq->cfs.curr;

	while (se && se->my_q)
		se = se->my_q->curr;
	return se;
}

/* Makes its pick curr of its queues. The root queue is not empty. */
struct sched_task *pick_next_task_fair(struct rq *rq)
{
	struct sched_entity *old = running_leaf(rq), *se;
	struct cfs_rq *q = &rq->cfs;
	struct sched_task *p;

	do {
		struct sched_entity *curr = q->curr;

		if (curr && curr->on_rq)
			update_curr(q);
		else
			curr = NULL;
		se = rq->policy->pick(q, curr);
		env_assert(se, "CPU %u: nothing to pick from %u entities", rq->cpu,
			   q->nr_running);
		q = se->my_q;
	} while (q);
	p = task_of(se);
	if (!old)
		set_next_task(rq, p);
	else if (old != se)
		switch_entities(rq, old, p);
	return p;
}

void task_tick_fair(struct rq *rq, struct sched_task *curr)
{
	struct sched_entity *se = &curr->se;

	for_each_sched_entity(se) {
		update_curr(se->cfs_rq);
		update_load_avg(se->cfs_rq, se, UPDATE_TG);
		update_cfs_group(se, WEIGHT_TICK);
		if (se->cfs_rq->nr_running > 1 && rq->policy->tick(se->cfs_rq, se))
			resched_curr(rq);
	}
}

void reweight_task(struct rq *rq, struct sched_task *p, u64 weight, u32 inv_weight)
{
	env_debug_assert(!p->se.on_rq, "reweight of task %u while queued", p->id);
	if (rq->policy->reweight)
		rq->policy->reweight(p->se.cfs_rq, &p->se, p->se.load.weight, weight);
	reweight_entity(p->se.cfs_rq, &p->se, weight, inv_weight, 0);
	if (task_state(p) == TASK_NEW)
		init_entity_load_avg(rq->sched, &p->se);
}

void find_matching_se(struct sched_entity **a, struct sched_entity **b)
{
	while ((*a)->depth > (*b)->depth)
		*a = (*a)->parent;
	while ((*b)->depth > (*a)->depth)
		*b = (*b)->parent;
	while ((*a)->cfs_rq != (*b)->cfs_rq) {
		*a = (*a)->parent;
		*b = (*b)->parent;
	}
}
