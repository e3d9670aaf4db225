/* SPDX-License-Identifier: MIT */
/*
 * CFS as a policy: entities ordered by virtual runtime, the leftmost runs unless
 * a buddy is nearly as far left. spec/cfs-core.md sections 4, 5 and 7. The rq
 * lock is held and its clock current throughout.
 */
#include "sched_int.h"

/* Times wrap: only differences mean anything. */
static inline bool entity_before(const struct sched_entity *a, const struct sched_entity *b)
{
	return (s64)(a->vruntime - b->vruntime) < 0;
}

static inline u64 max_vruntime(u64 a, u64 b)
{
	return (s64)(a - b) > 0 ? a : b;
}

static bool cfs_less(const struct rb_node *a, const struct rb_node *b)
{
	return entity_before(entity_of_node(a), entity_of_node(b));
}

/* ---- virtual time -------------------------------------------------------- */

static void update_min_vruntime(struct cfs_rq *q)
{
	struct sched_entity *left = entity_of_node(rb_first(&q->tree));
	struct sched_entity *m = q->curr && q->curr->on_rq ? q->curr : NULL;

	if (left && (!m || entity_before(left, m)))
		m = left;
	/* Remote wakers read it without the lock: one store. */
	if (m)
		__atomic_store_n(&q->min_vruntime,
				 planted(q->rq->sched, min_vruntime_back)
					 ? m->vruntime
					 : max_vruntime(q->min_vruntime, m->vruntime),
				 __ATOMIC_RELAXED);
}

static void cfs_charge(struct cfs_rq *q, struct sched_entity *curr, u64 delta_ns)
{
	curr->vruntime += calc_delta_fair(q->rq->sched, delta_ns, curr);
	update_min_vruntime(q);
}

/* Whoever slept so long that its key may have wrapped against the queue's. */
static bool slept_an_age(const struct cfs_rq *q, const struct sched_entity *se)
{
	s64 slept = (s64)(q->rq->clock_task - se->exec_start);

	return profile_v64(q->rq->sched) && se->exec_start && slept > 0 &&
	       (u64)slept > (1ull << 63) / 1024;
}

static void cfs_place(struct cfs_rq *q, struct sched_entity *se, enum place_why why)
{
	const struct sched *s = q->rq->sched;
	u64 v = q->min_vruntime, thresh;

	if (why == PLACE_INITIAL) {
		if (sched_feat(s, START_DEBIT))
			v += sched_vslice(q, se);
	} else {
		thresh = profile_v64(s) && se_is_idle(s, se) ? s->min_granularity : s->latency;
		if (sched_feat(s, GENTLE_FAIR_SLEEPERS))
			thresh >>= 1;
		v -= thresh;
	}
	se->vruntime = slept_an_age(q, se) ? v : max_vruntime(se->vruntime, v);
}

static void cfs_renormalise(struct cfs_rq *q, struct sched_entity *se, bool out)
{
	/* Wakers that take se away hold no lock of this queue. */
	u64 floor = __atomic_load_n(&q->min_vruntime, __ATOMIC_RELAXED);

#ifdef ANECHOIC_DEBUG
	env_assert(se->relative != out, "CPU %u: a vruntime of %lld is renormalised (%s) twice",
		   q->rq->cpu, (long long)se->vruntime, out ? "out" : "in");
	se->relative = out;
#endif
	se->vruntime = out ? se->vruntime - floor : se->vruntime + floor;
}

static bool cfs_fork(struct cfs_rq *q, struct sched_entity *child, struct sched_entity *curr)
{
	bool resched = false;

	if (curr)
		child->vruntime = curr->vruntime;
	cfs_place(q, child, PLACE_INITIAL);
	if (sched_feat(q->rq->sched, CHILD_RUNS_FIRST) && curr && entity_before(curr, child)) {
		u64 v = curr->vruntime;

		curr->vruntime = child->vruntime;
		child->vruntime = v;
		resched = true;
	}
	cfs_renormalise(q, child, true);
	return resched;
}

/* ---- buddies ------------------------------------------------------------- */

enum buddy { BUDDY_NEXT, BUDDY_LAST };

/* Up to the root, but never past an idle entity or one that left its queue. */
static void set_buddy(struct sched_entity *se, enum buddy which)
{
	for_each_sched_entity(se) {
		if (!se->on_rq || se_is_idle(se->cfs_rq->rq->sched, se))
			return;
		if (which == BUDDY_NEXT)
			se->cfs_rq->next = se;
		else
			se->cfs_rq->last = se;
	}
}

static void cfs_prefer(struct sched_entity *se)
{
	set_buddy(se, BUDDY_NEXT);
}

static void clear_buddies(struct cfs_rq *q, struct sched_entity *se)
{
	struct sched_entity *up;

	if (q->last == se)
		for (up = se; up && up->cfs_rq->last == up; up = up->parent)
			up->cfs_rq->last = NULL;
	if (q->next == se)
		for (up = se; up && up->cfs_rq->next == up; up = up->parent)
			up->cfs_rq->next = NULL;
	if (q->skip == se)
		for (up = se; up && up->cfs_rq->skip == up; up = up->parent)
			up->cfs_rq->skip = NULL;
}

static void cfs_yield(struct sched_task *curr)
{
	struct sched_entity *se = &curr->se;

	clear_buddies(se->cfs_rq, se);
	if (curr->class != SCHED_CLASS_BATCH)
		update_curr(se->cfs_rq);
	for_each_sched_entity(se)
		se->cfs_rq->skip = se;
}

/* ---- who runs ------------------------------------------------------------ */

/* 1: se is further left of curr than gran_ns of real time; -1: it is not left at all. */
static int preempt_entity(const struct sched *s, struct sched_entity *curr,
			  struct sched_entity *se, u64 gran_ns)
{
	s64 lead = (s64)(curr->vruntime - se->vruntime);

	if (lead <= 0)
		return -1;
	return lead > (s64)calc_delta_fair(s, gran_ns, se);
}

static int wakeup_preempt_entity(const struct sched *s, struct sched_entity *curr,
				 struct sched_entity *se)
{
	return preempt_entity(s, curr, se, s->wakeup_granularity);
}

/* LN_PREEMPT (idle-search.md section 7.3): who tolerates latency needs a longer lead,
 * and gives way to a shorter one. */
static u64 wakeup_gran(const struct sched *s, const struct sched_task *curr,
		       const struct sched_task *p)
{
	s64 bias = task_latency_nice(s, p) - task_latency_nice(s, curr);

	return sched_feat(s, LN_PREEMPT) ? s->wakeup_granularity * (u64)(40 + bias) / 40
					 : s->wakeup_granularity;
}

/* The one to run instead of se, which asked to be skipped; NULL: nobody else. */
static struct sched_entity *pick_second(struct cfs_rq *q, struct sched_entity *se,
					struct sched_entity *curr)
{
	struct sched_entity *second;

	if (se == curr)
		return entity_of_node(rb_first(&q->tree));
	second = entity_of_node(rb_next(&se->node));
	if (!second || (curr && entity_before(curr, second)))
		second = curr;
	return second;
}

static struct sched_entity *cfs_pick(struct cfs_rq *q, struct sched_entity *curr)
{
	const struct sched *s = q->rq->sched;
	struct sched_entity *left = entity_of_node(rb_first(&q->tree)), *se, *second;

	if (!left || (curr && entity_before(curr, left)))
		left = curr;
	se = left;
	if (se && q->skip == se) {
		second = pick_second(q, se, curr);
		if (second && wakeup_preempt_entity(s, second, left) < 1)
			se = second;
	}
	if (q->next && wakeup_preempt_entity(s, q->next, left) < 1)
		se = q->next;
	else if (q->last && wakeup_preempt_entity(s, q->last, left) < 1)
		se = q->last;
	else
		return se;
	schedstat_inc(s, buddy_picks);
	return se;
}

/* Has curr had its slice, or fallen a slice behind the leftmost? The latter
 * compares virtual with real time, as published. */
static bool cfs_tick(struct cfs_rq *q, struct sched_entity *curr)
{
	const struct sched *s = q->rq->sched;
	u64 ran = curr->sum_exec_runtime - curr->prev_sum_exec_runtime;
	u64 ideal = sched_slice(q, curr);
	s64 lead;

	if (profile_v64(s) && ideal > s->latency)
		ideal = s->latency;
	if (ran > ideal) {
		/* Or a buddy pointer would bring it straight back. */
		clear_buddies(q, curr);
		return true;
	}
	if (ran < s->min_granularity)
		return false;
	lead = (s64)(curr->vruntime - entity_of_node(rb_first(&q->tree))->vruntime);
	return lead > (s64)ideal;
}

static bool cfs_wakeup_check(struct rq *rq, struct sched_task *curr, struct sched_task *p,
			     bool fork)
{
	const struct sched *s = rq->sched;
	struct sched_entity *se = &curr->se, *pse = &p->se;
	bool many = se->cfs_rq->nr_running >= s->nr_latency;
	bool marked = sched_feat(s, NEXT_BUDDY) && many && !fork;
	bool preempt;

	if (marked)
		set_buddy(pse, BUDDY_NEXT);
	if (rq->need_resched)
		return false;
	if (curr->class == SCHED_CLASS_IDLE && p->class != SCHED_CLASS_IDLE)
		return true;
	if (p->class != SCHED_CLASS_NORMAL || !sched_feat(s, WAKEUP_PREEMPTION))
		return false;
	find_matching_se(&se, &pse);
	if (se_is_idle(s, se) != se_is_idle(s, pse)) {
		preempt = se_is_idle(s, se);
	} else {
		update_curr(se->cfs_rq);
		preempt = preempt_entity(s, se, pse, wakeup_gran(s, curr, p)) == 1;
		if (preempt && !marked)
			set_buddy(pse, BUDDY_NEXT);
	}
	if (preempt && sched_feat(s, LAST_BUDDY) && many && se->on_rq && entity_is_task(se))
		set_buddy(se, BUDDY_LAST);
	return preempt;
}

const struct sched_policy cfs_policy = {
	.name = "cfs",
	.less = cfs_less,
	.place = cfs_place,
	.charge = cfs_charge,
	.dequeue = clear_buddies,
	.floor = update_min_vruntime,
	.renormalise = cfs_renormalise,
	.pick = cfs_pick,
	.set_next = clear_buddies,
	.tick = cfs_tick,
	.wakeup_check = cfs_wakeup_check,
	.prefer = cfs_prefer,
	.yield = cfs_yield,
	.fork = cfs_fork,
};
