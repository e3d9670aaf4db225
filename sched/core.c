/* SPDX-License-Identifier: MIT */
/*
 * Set-up, runqueue locks and clocks, moving tasks on and off queues, the switch
 * and the tick. Lock order: task.wake_lock, then rq locks by CPU number.
 */
#include "pelt.h"

/* ---- set-up -------------------------------------------------------------- */

void rq_follow_vector(struct rq *rq)
{
	const struct sched *s = rq->sched;
	u64 ceiling;

	rq->sibling_weight = s->vector.value[FEAT_SIB_WEIGHT] == SIB_WEIGHT_PERCPU_V3
				     ? topo_weight_v3(s->topo, rq->cpu)
				     : s->topo->sibling_weight[rq->cpu];
	rq->max_idle_balance_cost = s->vector.value[TUN_MIGRATION_COST];
	ceiling = 2 * rq->max_idle_balance_cost;
	if (rq->avg_idle > ceiling)
		__atomic_store_n(&rq->avg_idle, ceiling, __ATOMIC_RELAXED);
}

static void rq_init(struct sched *s, struct rq *rq, u32 cpu)
{
	rq->sched = s;
	rq->policy = s->policy;
	rq->cpu = cpu;
	rq->capacity = SCHED_CAPACITY;
	env_lock_init(&rq->lock, LINE_RQ_LOCK, "rq", cpu);
	env_line_init(&rq->state_line, LINE_RQ_STATE);
	env_line_init(&rq->wake_line, LINE_WAKE_LIST);
	env_line_init(&rq->next_cpu_line, LINE_NEXT_CPU);
	rq->next_cpu = -1;
	list_init(&rq->tasks);
	list_init(&rq->leaf_queues);
	rq_follow_vector(rq);
	rq->avg_idle = 2 * rq->max_idle_balance_cost;
	env_lock_init(&rq->cfs.removed.lock, LINE_REMOVED, "removed load", cpu);
	init_cfs_rq(&rq->cfs, rq, &s->root_tg);
}

struct sched *sched_create_policy(const struct sched_config *cfg,
				  const struct sched_policy *policy)
{
	struct sched *s = arena_alloc(cfg->arena, sizeof(*s));

	s->topo = cfg->topo;
	s->vector = cfg->vector;
	s->policy = policy;
	s->arena = cfg->arena;
	s->nr_cpus = cfg->topo->nr_cpus;
	s->hz = cfg->hz;
	s->housekeeper = cfg->housekeeper;
	s->lockstep = cfg->lockstep;
	s->punctual = cfg->punctual;
	s->plant = cfg->plant;
	for (u32 c = 0; c < s->nr_cpus; c++)
		if (cfg->topo->cpu[c].online)
			cpumask_set(&s->online, c);
	sched_init_granularity(s, cpumask_weight(&s->online, s->nr_cpus));
	domains_build(&s->domains, s->topo, sched_feat(s, SD_PKG), s->arena);
	env_line_init(&s->overload_line, LINE_OVERLOAD);
	env_line_init(&s->idle_mask_line, LINE_IDLE_MASK);
	s->llc = arena_alloc(s->arena, s->nr_cpus * sizeof(*s->llc));
	s->rq = arena_alloc(s->arena, s->nr_cpus * sizeof(*s->rq));
	for (u32 c = 0; c < s->nr_cpus; c++) {
		env_line_init(&s->llc[c].line, LINE_LLC_FLAG);
		rq_init(s, cpu_rq(s, c), c);
	}
	init_root_group(s);
	env_debug_assert(topo_wrong_weight(s->topo) == s->nr_cpus,
			 "CPU %u: sibling weight %u is not its core's", topo_wrong_weight(s->topo),
			 s->topo->sibling_weight[topo_wrong_weight(s->topo)]);
	return s;
}

struct sched *sched_create(const struct sched_config *cfg)
{
	return sched_create_policy(cfg, &cfs_policy);
}

void sched_set_idle_task(struct sched *s, u32 cpu, struct sched_task *idle)
{
	struct rq *rq = cpu_rq(s, cpu);

	memset(idle, 0, sizeof(*idle));
	idle->name = "idle";
	idle->is_idle_task = true;
	idle->state = TASK_RUNNING;
	idle->on_cpu = true;
	idle->cpu = idle->wake_cpu = cpu;
	cpumask_set(&idle->allowed, cpu);
	idle->nr_allowed = 1;
	idle->recent_used_cpu = cpu;
	idle->tg = &s->root_tg;
	set_task_rq(idle, cpu); /* whose share of the load it is, 0, may be asked for */
	env_lock_init(&idle->wake_lock, LINE_TASK, "idle task", cpu);
	env_line_init(&idle->state_line, LINE_TASK);
	list_init(&idle->rq_node);
	rq->idle = rq->curr = idle;
	/* It idles from the start, without ever having gone idle. */
	rq->in_idle_mask = true;
	cpumask_set(&s->idle_mask, cpu);
	s->idle_mask_weight++;
}

/* ---- locks and clocks ------------------------------------------------------ */

void rq_lock(struct rq *rq)
{
	env_lock(&rq->lock);
}

void rq_unlock(struct rq *rq)
{
#ifdef ANECHOIC_DEBUG
	env_uncharged_begin();
	sched_check_cpu(rq->sched, rq->cpu);
	env_uncharged_end();
#endif
	env_unlock(&rq->lock);
}

void rq_lock_pair(struct rq *a, struct rq *b)
{
	bool a_first = (a->cpu < b->cpu) != planted(a->sched, lock_order);

	rq_lock(a_first ? a : b);
	rq_lock(a_first ? b : a);
}

struct rq *task_rq_lock(struct sched *s, struct sched_task *p)
{
	struct rq *rq;

	for (;;) {
		while (task_on_rq(p) == TASK_MIGRATING)
			env_relax();
		rq = cpu_rq(s, task_cpu(p));
		rq_lock(rq);
		if (rq->cpu == task_cpu(p) && task_on_rq(p) != TASK_MIGRATING)
			return rq;
		rq_unlock(rq);
	}
}

void update_rq_clock(struct rq *rq)
{
	u64 now;

	env_charge(ENV_RDTSC);
	now = env_now();
	env_debug_assert(env_held(&rq->lock), "rq %u: clock without lock", rq->cpu);
#ifdef ANECHOIC_DEBUG
	check_ticks(rq, now);
#endif
	/* Another CPU's TSC may trail in live mode: time stands still then. */
	if ((s64)(now - rq->clock) > 0) {
		u64 delta = now - rq->clock_task;

		rq->clock = rq->clock_task = now;
		update_rq_clock_pelt(rq, delta);
	}
}

/* ---- on and off the queue --------------------------------------------------- */

void activate_task(struct rq *rq, struct sched_task *p, u32 flags)
{
	env_debug_assert(env_held(&rq->lock), "rq %u: activate without lock", rq->cpu);
	if (rq->nr_running == 1)
		set_overload(rq->sched);
	env_line_write(&rq->state_line);
	if (flags & ENQUEUE_NEW)
		attach_new_entity(&p->se);
	enqueue_task(rq, p, flags);
	if (planted_once(rq->sched, double_enqueue))
		enqueue_task(rq, p, flags);
	task_set_on_rq(p, TASK_QUEUED);
}

void deactivate_task(struct rq *rq, struct sched_task *p, u32 flags)
{
	env_debug_assert(env_held(&rq->lock), "rq %u: deactivate without lock", rq->cpu);
	env_line_write(&rq->state_line);
	dequeue_task(rq, p, flags);
	/* Last: who sees TASK_OFF_RQ waits for on_cpu to clear, and then owns p. */
	task_set_on_rq(p, flags & DEQUEUE_SLEEP ? TASK_OFF_RQ : TASK_MIGRATING);
}

void set_task_rq(struct sched_task *p, u32 cpu)
{
	p->se.cfs_rq = p->tg->cfs_rq[cpu];
	p->se.parent = p->tg->se ? p->tg->se[cpu] : NULL;
	p->se.depth = p->se.parent ? p->se.parent->depth + 1 : 0;
}

void set_task_cpu(struct sched_task *p, u32 cpu)
{
	env_trace(EV_MIGRATE, p->id, p->cpu, cpu, p->state);
	counter_add(&p->migrations, 1);
	p->se.avg.last_update_time = 0; /* it is attached where it is enqueued */
	set_task_rq(p, cpu);
	p->wake_cpu = cpu;
	__atomic_store_n(&p->cpu, cpu, __ATOMIC_RELEASE);
}

void resched_curr(struct rq *rq)
{
	const struct sched *s = rq->sched;

	if (rq->need_resched)
		return;
	__atomic_store_n(&rq->need_resched, true, __ATOMIC_RELEASE);
	if (rq == this_rq(s))
		return;
	env_trace(EV_KICK, rq->cpu, 0, 0, 0);
	if (planted_once(rq->sched, lost_resched))
		return;
	if (env_kick(rq->cpu))
		schedstat_inc(s, resched_ipis);
	else
		schedstat_inc(s, ipis_saved);
}

void check_preempt_curr(struct rq *rq, struct sched_task *p, bool fork)
{
	struct sched_task *curr = rq->curr;
	bool preempt;

	if (curr == rq->idle) {
		resched_curr(rq);
		return;
	}
	/* A curr that left its queue is on its way out: the pick sees p. */
	if (curr == p || !curr->se.on_rq)
		return;
	env_path_begin(PATH_WAKE_CHECK);
	preempt = rq->policy->wakeup_check(rq, curr, p, fork);
	env_path_end(PATH_WAKE_CHECK);
	if (preempt) {
		schedstat_inc(rq->sched, wakeup_preemptions);
		resched_curr(rq);
	}
}

void finish_move(struct sched *s, struct sched_task *p, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);

	rq_lock(rq);
	update_rq_clock(rq);
	set_task_cpu(p, cpu);
	activate_task(rq, p, 0);
	check_preempt_curr(rq, p, false);
	rq_unlock(rq);
}

/* ---- the switch -------------------------------------------------------------- */

static void going_idle(struct rq *rq)
{
	if (rq->curr != rq->idle)
		__atomic_store_n(&rq->idle_stamp, rq->clock, __ATOMIC_RELAXED);
}

static struct sched_task *pick_next_task(struct rq *rq)
{
	struct sched_task *next;

	if (!rq->nr_running) {
		/* Puts curr first, so that nobody is charged for the pull. */
		if (rq->cfs.curr)
			put_prev_task(rq->curr);
		going_idle(rq);
		if (newidle_pull(rq))
			__atomic_store_n(&rq->idle_stamp, 0, __ATOMIC_RELAXED);
		if (!rq->nr_running) {
			update_idle_core(rq);
			/* The pull and the flag let time pass since the last one. */
			env_line_write(&rq->state_line);
			pelt_go_idle(rq);
			__atomic_store_n(&rq->has_blocked, true, __ATOMIC_RELAXED);
			return rq->idle;
		}
	}
	env_path_begin(PATH_PICK);
	next = pick_next_task_fair(rq);
	env_path_end(PATH_PICK);
	return next;
}

static void account_switch(struct rq *rq, struct sched_task *prev, struct sched_task *next,
			   bool preempt)
{
	counter_add(&rq->count.switches, 1);
	if (next == rq->idle)
		counter_add(&rq->count.idle_entries, 1);
	env_trace(EV_SWITCH, prev->id, next->id, task_state(prev), preempt);
	if (prev == rq->idle)
		return;
	if (preempt) {
		counter_add(&rq->count.switches_preempt, 1);
		counter_add(&prev->nivcsw, 1);
	} else {
		counter_add(&rq->count.switches_voluntary, 1);
		counter_add(&prev->nvcsw, 1);
	}
}

/* rq lock held, or p on its way: where p, which runs or ran here, is to go on. */
static u32 next_cpu_of(struct sched *s, const struct sched_task *p, u32 here)
{
	if (p->exec_moves && cpumask_test(&p->allowed, p->exec_cpu))
		return p->exec_cpu;
	return cpumask_test(&p->allowed, here) ? here : select_fallback_rq(s, p, here);
}

struct sched_task *sched_switch_begin(struct sched *s, bool preempt)
{
	struct sched_task *prev, *next;
	struct rq *rq;

	env_irq_off();
	env_path_begin(PATH_SWITCH);
	rq = this_rq(s);
	rq_lock(rq);
	update_rq_clock(rq);
	prev = rq->curr;
	if (prev != rq->idle && !preempt && task_state(prev) != TASK_RUNNING)
		deactivate_task(rq, prev, DEQUEUE_SLEEP);
	else if (prev != rq->idle && next_cpu_of(s, prev, rq->cpu) != rq->cpu)
		deactivate_task(rq, prev, 0); /* sched_switch_end() pushes it away */
	else
		env_line_write(&rq->state_line);
	next = pick_next_task(rq);
	__atomic_store_n(&rq->need_resched, false, __ATOMIC_RELAXED);
	if (next != prev) {
		account_switch(rq, prev, next, preempt);
		__atomic_store_n(&next->on_cpu, true, __ATOMIC_RELAXED);
		__atomic_store_n(&rq->curr, next, __ATOMIC_RELEASE);
		check_available_changed(rq);
	}
	env_path_end(PATH_SWITCH);
	env_irq_on(); /* the lock keeps them off */
	return next;
}

void sched_switch_end(struct sched *s, struct sched_task *prev)
{
	struct rq *rq = this_rq(s);
	bool switched = prev != rq->curr, idle = rq->curr == rq->idle, push;
	u32 dst = rq->cpu;

	env_assert(env_held(&rq->lock), "CPU %u: switch without rq lock", rq->cpu);
	env_path_begin(PATH_SWITCH_END);
	/* Once on_cpu is clear a waker may own prev: decide before. Whoever is in
	 * TASK_MIGRATING is ours until it arrives. */
	push = switched && task_on_rq(prev) == TASK_MIGRATING;
	if (push)
		dst = next_cpu_of(s, prev, rq->cpu);
	prev->exec_moves = false; /* or it was in vain */
	if (task_state(prev) == TASK_DEAD && task_on_rq(prev) == TASK_OFF_RQ) {
		remove_entity_load_avg(&prev->se);
		tg_put(prev->tg);
	}
	if (switched && prev != rq->idle) {
		env_line_write(&prev->state_line);
		__atomic_store_n(&prev->on_cpu, false, __ATOMIC_RELEASE);
	}
	env_irq_off();
	rq_unlock(rq);
	if (push)
		finish_move(s, prev, dst);
	if (idle)
		idle_mask_enter(rq);
	env_path_end(PATH_SWITCH_END);
	env_irq_on();
}

/* ---- interrupts ---------------------------------------------------------------- */

void sched_tick(struct sched *s)
{
	struct rq *rq = this_rq(s);
	struct cpumask movable;
	bool busy, waiting = false;

	if (planted(s, lost_tick))
		return;
	env_path_begin(PATH_TICK);
	rq_lock(rq);
	update_rq_clock(rq);
	counter_add(&rq->count.ticks, 1);
	env_trace(EV_TICK, rq->curr->id, rq->nr_running, 0, 0);
	busy = rq->curr != rq->idle;
	if (busy) {
		bool before = rq->need_resched;

		env_line_write(&rq->state_line);
		task_tick_fair(rq, rq->curr);
		if (!before && rq->need_resched)
			counter_add(&rq->count.tick_preemptions, 1);
		sample_groups(rq);
		blocked_load_on_tick(rq);
		waiting = movable_cpus(rq, &movable);
	}
#ifdef ANECHOIC_DEBUG
	if (s->lockstep)
		check_tg_load(s);
#endif
	rq_unlock(rq);
	blocked_load_of_idle(rq);
	if (busy)
		pull_on_tick(rq, waiting ? &movable : NULL);
	env_path_end(PATH_TICK);
}

/* ---- questions ------------------------------------------------------------------ */

struct sched_task *sched_current(const struct sched *s, u32 cpu)
{
	return __atomic_load_n(&cpu_rq(s, cpu)->curr, __ATOMIC_RELAXED);
}

bool sched_need_resched(const struct sched *s, u32 cpu)
{
	return __atomic_load_n(&cpu_rq(s, cpu)->need_resched, __ATOMIC_ACQUIRE);
}

u32 sched_nr_running(const struct sched *s, u32 cpu)
{
	return __atomic_load_n(&cpu_rq(s, cpu)->nr_running, __ATOMIC_RELAXED);
}

struct sched_counters *sched_counters(struct sched *s, u32 cpu)
{
	return &cpu_rq(s, cpu)->count;
}
