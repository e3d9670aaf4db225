/* SPDX-License-Identifier: MIT */
/*
 * What changes while a group lives: its shares, whether it is idle, and who belongs to
 * it. spec/cfs-core.md section 9 and spec/group-load.md section 4.
 */
#include "pelt.h"

/* ---- shares ------------------------------------------------------------------------ */

/* On one CPU, up to the root: what the group weighs there is a part of what the groups
 * above it have. */
static void follow_shares(struct sched *s, struct task_group *tg, u32 cpu)
{
	struct sched_entity *se = tg->se[cpu];
	struct rq *rq = cpu_rq(s, cpu);

	rq_lock(rq);
	update_rq_clock(rq);
	env_line_write(&rq->state_line);
	for_each_sched_entity(se) {
		update_load_avg(se->cfs_rq, se, UPDATE_TG);
		update_cfs_group(se, WEIGHT_SHARES);
	}
	rq_unlock(rq);
}

static void set_shares(struct sched *s, struct task_group *tg, u64 weight)
{
	__atomic_store_n(&tg->shares, weight, __ATOMIC_RELAXED);
	for (u32 c = 0; c < s->nr_cpus; c++)
		follow_shares(s, tg, c);
}

void tg_set_shares(struct sched *s, struct task_group *tg, u64 shares)
{
	env_assert(shares >= 2 && shares <= 1u << 18, "shares %llu not in 2..262144",
		   (unsigned long long)shares);
	env_assert(tg->parent && !__atomic_load_n(&tg->idle, __ATOMIC_RELAXED),
		   "shares of the root or of an idle group");
	set_shares(s, tg, scale_load(shares));
}

/* ---- idle groups ---------------------------------------------------------------------- */

/* rq lock held. All tasks of q that count as others now count as idle, or the reverse,
 * in all queues above up to the next idle one, in which they count already. */
static void count_idle(struct cfs_rq *q, bool idle)
{
	struct sched_entity *se = owner_entity(q);
	u32 nr = q->h_nr_running - q->idle_h_nr_running;

	if (!idle)
		nr = -nr;
	if (se->on_rq && profile_v64(q->rq->sched))
		se->cfs_rq->idle_nr_running += idle ? 1 : -1u;
	for (; se && se->on_rq; se = se->parent) {
		counter_add(&se->cfs_rq->idle_h_nr_running, nr);
		if (se->cfs_rq->idle)
			return;
	}
}

static void follow_idle(struct sched *s, struct task_group *tg, u32 cpu)
{
	bool idle = __atomic_load_n(&tg->idle, __ATOMIC_RELAXED);
	struct cfs_rq *q = tg->cfs_rq[cpu];
	struct rq *rq = cpu_rq(s, cpu);

	rq_lock(rq);
	if (q->idle != idle) {
		env_line_write(&rq->state_line);
		q->idle = idle;
		count_idle(q, idle);
		check_available_changed(rq);
	}
	rq_unlock(rq);
}

void tg_set_idle(struct sched *s, struct task_group *tg, bool idle)
{
	env_assert(tg->parent, "the root group cannot be idle");
	if (__atomic_exchange_n(&tg->idle, idle, __ATOMIC_RELAXED) == idle)
		return;
	for (u32 c = 0; c < s->nr_cpus; c++)
		follow_idle(s, tg, c);
	set_shares(s, tg, idle ? scale_load(WEIGHT_IDLEPRIO) : NICE_0_LOAD);
}

/* ---- members ----------------------------------------------------------------------------- */

/* Is p's vruntime relative to its queue's, so that it can change queues as it is? */
static bool vruntime_normalised(const struct sched_task *p)
{
	return task_on_rq(p) != TASK_OFF_RQ || !p->se.sum_exec_runtime ||
	       (task_state(p) == TASK_WAKING && p->remote_migrated);
}

void sched_move_task(struct sched *s, struct sched_task *p, struct task_group *tg)
{
	bool queued, running, absolute, attached;
	struct rq *rq;

	env_irq_off();
	env_lock(&p->wake_lock);
	rq = task_rq_lock(s, p);
	update_rq_clock(rq);
	env_line_write(&rq->state_line);
	queued = task_on_rq(p) == TASK_QUEUED;
	running = task_is_curr(rq, p);
	if (task_state(p) == TASK_DEAD && !queued) /* gone, or as good as */
		goto out;
	absolute = !vruntime_normalised(p);
	if (queued)
		dequeue_task(rq, p, DEQUEUE_SAVE | DEQUEUE_MOVE);
	if (running)
		put_prev_task(p);
	if (absolute) {
		/* Its sleep must not count in the other queue, whose time differs. */
		rq->policy->place(p->se.cfs_rq, &p->se, PLACE_WAKEUP);
		rq->policy->renormalise(p->se.cfs_rq, &p->se, true);
	}
	/* Whoever is new, or woken from another CPU, is attached when it is enqueued. */
	attached = p->se.avg.last_update_time;
	if (attached)
		detach_entity_cfs_rq(&p->se);
	p->se.avg.last_update_time = 0;
	tg_get(tg);
	tg_put(p->tg);
	__atomic_store_n(&p->tg, tg, __ATOMIC_RELAXED);
	set_task_rq(p, rq->cpu);
	if (attached)
		attach_entity_cfs_rq(&p->se);
	if (absolute)
		rq->policy->renormalise(p->se.cfs_rq, &p->se, false);
	if (queued)
		enqueue_task(rq, p, ENQUEUE_RESTORE);
	if (running)
		set_next_task(rq, p);
out:
	rq_unlock(rq);
	env_unlock(&p->wake_lock);
	env_irq_on();
}
