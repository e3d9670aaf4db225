/* SPDX-License-Identifier: MIT */
/*
 * What is done to one task besides waking it: fork, nice, class, affinity,
 * yield. spec/cfs-core.md section 9.
 */
#include "pelt.h"

static u64 task_weight(const struct sched_task *p)
{
	return p->class == SCHED_CLASS_IDLE ? scale_load(WEIGHT_IDLEPRIO)
					    : scale_load(sched_prio_to_weight[p->nice - MIN_NICE]);
}

static u32 task_inv_weight(const struct sched_task *p)
{
	return p->class == SCHED_CLASS_IDLE ? WMULT_IDLEPRIO
					    : sched_prio_to_wmult[p->nice - MIN_NICE];
}

/* ---- fork ------------------------------------------------------------------ */

/* Everything but the place in virtual time. The lock of the parent's rq is held:
 * others may be changing what is inherited. */
static void init_task(struct sched *s, struct sched_task *t, const struct sched_task *parent,
		      u32 id, const char *name)
{
	memset(t, 0, sizeof(*t));
	t->id = id;
	t->name = name;
	t->state = TASK_NEW;
	t->class = parent ? parent->class : SCHED_CLASS_NORMAL;
	t->nice = parent ? parent->nice : 0;
	t->tg = parent ? parent->tg : &s->root_tg;
	tg_get(t->tg);
	if (parent) {
		t->latency_nice = __atomic_load_n(&parent->latency_nice, __ATOMIC_RELAXED);
		t->has_latency_nice = __atomic_load_n(&parent->has_latency_nice, __ATOMIC_RELAXED);
		t->freq_heavy = __atomic_load_n(&parent->freq_heavy, __ATOMIC_RELAXED);
	}
	t->allowed = parent ? parent->allowed : s->online;
	t->nr_allowed = cpumask_weight(&t->allowed, s->nr_cpus);
	t->se.load.weight = task_weight(t);
	t->se.load.inv_weight = task_inv_weight(t);
	init_entity_load_avg(s, &t->se);
	env_lock_init(&t->wake_lock, LINE_TASK, name, id);
	env_line_init(&t->state_line, LINE_TASK);
	list_init(&t->rq_node);
}

void sched_fork(struct sched *s, struct sched_task *t, struct sched_task *parent, u32 id,
		const char *name)
{
	struct cfs_rq *q;
	struct rq *rq;

	env_assert(id, "task id 0 is reserved for idle tasks");
	if (parent && parent->is_idle_task)
		parent = NULL;
	env_irq_off();
	rq = this_rq(s);
	rq_lock(rq);
	init_task(s, t, parent, id, name);
	update_rq_clock(rq);
	env_line_write(&rq->state_line);
	t->cpu = t->wake_cpu = t->recent_used_cpu = rq->cpu;
	set_task_rq(t, rq->cpu);
	q = t->se.cfs_rq;
	update_curr(q);
	if (rq->policy->fork(q, &t->se, q->curr))
		resched_curr(rq);
	rq_unlock(rq);
	env_irq_on();
}

/* ---- nice, class --------------------------------------------------------------- */

/* Weight and class of p change between the two: off its queue, not curr there. */
struct change {
	struct rq *rq;
	bool queued, running;
};

static struct change change_begin(struct sched *s, struct sched_task *p, u32 dequeue_flags)
{
	struct change c;

	env_irq_off();
	env_lock(&p->wake_lock);
	c.rq = task_rq_lock(s, p);
	update_rq_clock(c.rq);
	env_line_write(&c.rq->state_line);
	c.queued = task_on_rq(p) == TASK_QUEUED;
	c.running = task_is_curr(c.rq, p);
	if (c.queued)
		dequeue_task(c.rq, p, dequeue_flags);
	if (c.running)
		put_prev_task(p);
	return c;
}

static void change_end(struct change *c, struct sched_task *p, bool resched)
{
	reweight_task(c->rq, p, task_weight(p), task_inv_weight(p));
	if (c->queued)
		enqueue_task(c->rq, p, ENQUEUE_RESTORE);
	if (c->running)
		set_next_task(c->rq, p);
	if (c->queued && c->running && resched)
		resched_curr(c->rq);
	if (c->queued && !c->running)
		check_preempt_curr(c->rq, p, false);
	rq_unlock(c->rq);
	env_unlock(&p->wake_lock);
	env_irq_on();
}

void sched_set_nice(struct sched *s, struct sched_task *p, s32 nice)
{
	struct change c;
	bool rose;

	env_assert(nice >= MIN_NICE && nice <= MAX_NICE, "nice %d not in -20..19", nice);
	c = change_begin(s, p, DEQUEUE_SAVE);
	rose = nice > p->nice;
	p->nice = nice;
	change_end(&c, p, rose);
}

void sched_set_class(struct sched *s, struct sched_task *p, enum sched_class class)
{
	struct change c = change_begin(s, p, DEQUEUE_SAVE | DEQUEUE_MOVE);

	p->class = class;
	change_end(&c, p, false);
}

/* ---- attributes of the idle search ------------------------------------------------ */

void sched_set_latency_nice(struct sched *s, struct sched_task *p, s32 latency_nice)
{
	(void)s;
	env_assert(latency_nice >= MIN_LATENCY_NICE && latency_nice <= MAX_LATENCY_NICE,
		   "latency_nice %d not in -20..19", latency_nice);
	env_irq_off();
	env_lock(&p->wake_lock);
	__atomic_store_n(&p->latency_nice, latency_nice, __ATOMIC_RELAXED);
	__atomic_store_n(&p->has_latency_nice, true, __ATOMIC_RELEASE);
	env_unlock(&p->wake_lock);
	env_irq_on();
}

void sched_set_freq_heavy(struct sched *s, struct sched_task *p, bool on)
{
	(void)s;
	env_irq_off();
	env_lock(&p->wake_lock);
	__atomic_store_n(&p->freq_heavy, on, __ATOMIC_RELAXED);
	env_unlock(&p->wake_lock);
	env_irq_on();
}

s32 task_latency_nice(const struct sched *s, const struct sched_task *p)
{
	if (__atomic_load_n(&p->has_latency_nice, __ATOMIC_ACQUIRE))
		return __atomic_load_n(&p->latency_nice, __ATOMIC_RELAXED);
	return sched_feat(s, LN_GROUP) && !p->is_idle_task ?
	       group_latency_nice(__atomic_load_n(&p->tg, __ATOMIC_RELAXED)) : 0;
}

/* ---- affinity ---------------------------------------------------------------------- */

void sched_set_affinity(struct sched *s, struct sched_task *p, const struct cpumask *mask)
{
	struct rq *rq;
	u32 dst;

	env_irq_off();
	env_lock(&p->wake_lock);
	rq = task_rq_lock(s, p);
	memset(&p->allowed, 0, sizeof(p->allowed));
	cpumask_or(&p->allowed, mask, s->nr_cpus);
	cpumask_and(&p->allowed, &s->online, s->nr_cpus);
	p->nr_allowed = cpumask_weight(&p->allowed, s->nr_cpus);
	env_assert(p->nr_allowed, "task %u (%s): no online CPU allowed", p->id, p->name);
	if (cpumask_test(&p->allowed, rq->cpu) || task_on_rq(p) != TASK_QUEUED) {
		/* Asleep or on a wake list: the next placement or the drain sees it. */
		rq_unlock(rq);
	} else if (task_running(rq, p)) {
		/* Cannot be taken from under itself: sched_switch_begin() does it. */
		resched_curr(rq);
		rq_unlock(rq);
	} else {
		update_rq_clock(rq);
		deactivate_task(rq, p, 0);
		dst = select_fallback_rq(s, p, rq->cpu);
		rq_unlock(rq);
		finish_move(s, p, dst);
	}
	env_unlock(&p->wake_lock);
	env_irq_on();
}

/* ---- exec --------------------------------------------------------------------------- */

void sched_exec(struct sched *s)
{
	struct sched_task *curr;
	struct rq *rq;
	u32 cpu;

	env_irq_off();
	rq = this_rq(s);
	curr = rq->curr;
	env_lock(&curr->wake_lock);
	cpu = select_task_rq(s, curr, rq->cpu, SELECT_EXEC, 0);
	if (cpu != rq->cpu) {
		/* Cannot move itself while it runs: its next switch does it. */
		rq_lock(rq);
		curr->exec_moves = true;
		curr->exec_cpu = cpu;
		resched_curr(rq);
		rq_unlock(rq);
	}
	env_unlock(&curr->wake_lock);
	env_irq_on();
}

/* ---- the calling task ------------------------------------------------------------------ */

void sched_set_state(struct sched *s, enum sched_state state)
{
	struct sched_task *curr;

	env_irq_off();
	curr = this_rq(s)->curr;
	env_line_write(&curr->state_line);
	/* Ordered before the caller's look at what it waits for; its partner is the
	 * waker's look at the state, after its store to that. */
	__atomic_store_n(&curr->state, state, __ATOMIC_SEQ_CST);
	env_irq_on();
}

void sched_yield(struct sched *s)
{
	struct rq *rq;

	env_irq_off();
	rq = this_rq(s);
	rq_lock(rq);
	update_rq_clock(rq);
	if (rq->curr != rq->idle && rq->nr_running > 1) {
		env_line_write(&rq->state_line);
		rq->policy->yield(rq->curr);
	}
	rq_unlock(rq);
	env_irq_on();
}
