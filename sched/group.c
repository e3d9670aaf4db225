/* SPDX-License-Identifier: MIT */
/*
 * Task groups: a queue and an entity per CPU. spec/cfs-core.md sections 1 and 9.
 * A group's entities weigh its shares everywhere; the weight that follows the
 * load (spec/group-load.md) builds on this.
 */
#include "pelt.h"

void init_root_group(struct sched *s)
{
	struct task_group *tg = &s->root_tg;

	tg->shares = NICE_0_LOAD;
	tg->cfs_rq = arena_alloc(s->arena, s->nr_cpus * sizeof(*tg->cfs_rq));
	for (u32 c = 0; c < s->nr_cpus; c++)
		tg->cfs_rq[c] = &cpu_rq(s, c)->cfs;
}

static void init_group_entity(struct task_group *tg, u32 cpu)
{
	struct sched_entity *se = tg->se[cpu], *up = owner_entity(tg->parent->cfs_rq[cpu]);

	se->load.weight = tg->shares;
	se->my_q = tg->cfs_rq[cpu];
	se->cfs_rq = tg->parent->cfs_rq[cpu];
	se->parent = up;
	se->depth = up ? up->depth + 1 : 0;
}

static struct task_group *create(struct sched *s, struct task_group *parent, u64 weight, bool idle)
{
	struct task_group *tg = arena_alloc(s->arena, sizeof(*tg)), *last = &s->root_tg;

	tg->parent = parent;
	tg->shares = weight;
	tg->idle = idle;
	tg->se = arena_alloc(s->arena, s->nr_cpus * sizeof(*tg->se));
	tg->cfs_rq = arena_alloc(s->arena, s->nr_cpus * sizeof(*tg->cfs_rq));
	for (u32 c = 0; c < s->nr_cpus; c++) {
		tg->se[c] = arena_alloc(s->arena, sizeof(*tg->se[c]));
		tg->cfs_rq[c] = arena_alloc(s->arena, sizeof(*tg->cfs_rq[c]));
		init_cfs_rq(tg->cfs_rq[c], cpu_rq(s, c), tg);
		init_group_entity(tg, c);
	}
	while (last->next)
		last = last->next;
	last->next = tg;
	return tg;
}

struct task_group *tg_create(struct sched *s, struct task_group *parent, u64 shares)
{
	env_assert(shares >= 2 && shares <= 1u << 18, "shares %llu not in 2..262144",
		   (unsigned long long)shares);
	return create(s, parent, scale_load(shares), false);
}

struct task_group *tg_create_idle(struct sched *s, struct task_group *parent)
{
	return create(s, parent, scale_load(WEIGHT_IDLEPRIO), true);
}

struct task_group *sched_root_group(struct sched *s)
{
	return &s->root_tg;
}

void sched_set_group_latency_nice(struct sched *s, struct task_group *tg, s32 latency_nice)
{
	(void)s;
	env_assert(latency_nice >= MIN_LATENCY_NICE && latency_nice <= MAX_LATENCY_NICE,
		   "latency_nice %d not in -20..19", latency_nice);
	__atomic_store_n(&tg->latency_nice, latency_nice, __ATOMIC_RELAXED);
	__atomic_store_n(&tg->has_latency_nice, true, __ATOMIC_RELEASE);
}

s32 group_latency_nice(const struct task_group *tg)
{
	for (; tg; tg = tg->parent)
		if (__atomic_load_n(&tg->has_latency_nice, __ATOMIC_ACQUIRE))
			return __atomic_load_n(&tg->latency_nice, __ATOMIC_RELAXED);
	return 0;
}

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
		update_load_avg(p->se.cfs_rq, &p->se, DO_DETACH);
	p->se.avg.last_update_time = 0;
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
	rq_unlock(rq);
	env_unlock(&p->wake_lock);
	env_irq_on();
}
