/* SPDX-License-Identifier: MIT */
/*
 * try_to_wake_up and what follows it: wake lists, activation, avg_idle.
 * spec/idle-search.md sections 2, 5 and 6.
 *
 * Why no wake-up is lost: a sleeper stores its state, then looks at what it
 * waits for; a waker stores that, then takes wake_lock and looks at the state.
 * Once it has seen TASK_SLEEPING, p is either still on its queue (p->on_rq, then
 * decided under the rq lock) or has left it: then it is not touched before
 * p->on_cpu says that its last CPU has saved its context.
 */
#include "pelt.h"

void update_avg_idle(struct rq *rq)
{
	u64 idled = rq->clock - rq->idle_stamp, ceiling = 2 * rq->max_idle_balance_cost;
	u64 avg = rq->avg_idle;

	if (!rq->idle_stamp)
		return;
	if (sched_feat(rq->sched, AVG_DIV))
		update_avg_div(&avg, idled);
	else
		update_avg_shift(&avg, idled);
	__atomic_store_n(&rq->avg_idle, avg < ceiling ? avg : ceiling, __ATOMIC_RELAXED);
	__atomic_store_n(&rq->idle_stamp, 0, __ATOMIC_RELAXED);
}

/* rq lock held, clock current, p queued. The kick comes last: it lets time pass. */
static void ttwu_do_wakeup(struct rq *rq, struct sched_task *p, bool fork)
{
	env_line_write(&p->state_line);
	task_set_state(p, TASK_RUNNING);
	if (!fork)
		update_avg_idle(rq);
	check_preempt_curr(rq, p, fork);
}

static void ttwu_do_activate(struct rq *rq, struct sched_task *p, bool migrated)
{
	/* Somebody else was put there meanwhile, or came by himself. */
	if (p->found_idle && !stands_idle(rq) && !runs_only_sched_idle(rq))
		schedstat_inc(rq->sched, collisions);
	p->found_idle = false;
	activate_task(rq, p, ENQUEUE_WAKEUP | (migrated ? ENQUEUE_MIGRATED : 0));
	ttwu_do_wakeup(rq, p, false);
}

/* p has not left its queue: then nothing but its state needs to change. */
static bool ttwu_runnable(struct sched *s, struct sched_task *p)
{
	struct rq *rq = task_rq_lock(s, p);
	bool queued = task_on_rq(p) == TASK_QUEUED;

	if (queued) {
		update_rq_clock(rq);
		env_line_write(&rq->state_line);
		ttwu_do_wakeup(rq, p, false);
		schedstat_inc(s, wakeups_queued);
	}
	rq_unlock(rq);
	return queued;
}

/* p, asleep or waking, leaves for another CPU, without the lock of its old one:
 * min_vruntime and the age of its load may be stale, which is tolerated. */
static void migrate_task_rq_wake(struct sched *s, struct sched_task *p, u32 cpu)
{
	struct rq *old = cpu_rq(s, p->cpu);

	env_line_read(&old->state_line);
	if (!planted_once(s, no_renormalise))
		s->policy->renormalise(p->se.cfs_rq, &p->se, true);
	migrate_entity_load_avg(&p->se);
	set_task_cpu(p, cpu);
	schedstat_inc(s, wake_migrations);
}

/* ---- wake lists ------------------------------------------------------------------- */

static bool use_wake_list(struct sched *s, u32 cpu)
{
	const u32 *llc_id = s->domains.llc_id;
	u32 this = env_this_cpu();

	if (!sched_feat(s, TTWU_QUEUE))
		return false;
	if (llc_id[this] != llc_id[cpu])
		return true;
	if (!profile_v64(s) || cpu == this)
		return false;
	env_line_read(&cpu_rq(s, cpu)->state_line);
	return !sched_nr_running(s, cpu);
}

static void wake_list_add(struct sched *s, struct sched_task *p, u32 cpu, bool migrated)
{
	struct rq *rq = cpu_rq(s, cpu);
	struct sched_task *head;

	p->remote_migrated = migrated;
	schedstat_inc(s, wake_list_queued);
	env_line_write(&rq->wake_line);
	head = __atomic_load_n(&rq->wake_list, __ATOMIC_RELAXED);
	do {
		p->wake_next = head;
	} while (!__atomic_compare_exchange_n(&rq->wake_list, &head, p, false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
	check_available_changed(rq);
	if (head) { /* whoever made it non-empty has sent the IPI */
		schedstat_inc(s, ipis_saved);
		return;
	}
	env_trace(EV_CALL, cpu, ENV_CALL_WAKE_LIST, 0, 0);
	if (env_call(cpu, ENV_CALL_WAKE_LIST))
		schedstat_inc(s, wake_list_ipis);
	else
		schedstat_inc(s, ipis_saved);
}

/* Its affinity changed while it was on the list: it goes elsewhere. */
static void wake_list_redirect(struct sched *s, struct sched_task *p)
{
	struct rq *rq;
	u32 cpu;

	env_lock(&p->wake_lock);
	cpu = select_task_rq(s, p, p->cpu, SELECT_EXEC, 0);
	if (cpu != p->cpu) {
		if (p->remote_migrated)
			set_task_cpu(p, cpu); /* its vruntime is relative already */
		else
			migrate_task_rq_wake(s, p, cpu);
		p->remote_migrated = true;
	}
	rq = cpu_rq(s, cpu);
	rq_lock(rq);
	update_rq_clock(rq);
	ttwu_do_activate(rq, p, p->remote_migrated);
	rq_unlock(rq);
	env_unlock(&p->wake_lock);
}

void sched_wake_list_drain(struct sched *s)
{
	struct rq *rq = this_rq(s);
	struct sched_task *p, *next, *elsewhere = NULL;

	env_path_begin(PATH_WAKE_DRAIN);
	env_line_write(&rq->wake_line);
	p = __atomic_exchange_n(&rq->wake_list, NULL, __ATOMIC_ACQUIRE);
	check_available_changed(rq);
	if (p) {
		rq_lock(rq);
		update_rq_clock(rq);
		for (; p; p = next) {
			next = p->wake_next;
			if (cpumask_test(&p->allowed, rq->cpu)) {
				ttwu_do_activate(rq, p, p->remote_migrated);
			} else {
				p->wake_next = elsewhere;
				elsewhere = p;
			}
		}
		rq_unlock(rq);
	}
	for (p = elsewhere; p; p = next) {
		next = p->wake_next;
		wake_list_redirect(s, p);
	}
	env_path_end(PATH_WAKE_DRAIN);
}

/* ---- the wake-up --------------------------------------------------------------------- */

static void ttwu_queue(struct sched *s, struct sched_task *p, u32 cpu, bool migrated)
{
	struct rq *rq = cpu_rq(s, cpu);

	if (use_wake_list(s, cpu)) {
		wake_list_add(s, p, cpu, migrated);
		return;
	}
	rq_lock(rq);
	update_rq_clock(rq);
	ttwu_do_activate(rq, p, migrated);
	rq_unlock(rq);
}

/* Where in the histograms of distance a CPU lies from another. */
static u32 distance_bucket(const struct sched_topo *t, u32 a, u32 b)
{
	enum topo_dist d = topo_distance(t, a, b);

	return d == DIST_REMOTE && t->cpu[a].node != t->cpu[b].node ? d + 1 : d;
}

/* p had a choice. */
static void count_distances(struct sched *s, u32 prev, u32 this, u32 cpu)
{
	struct sched_counters *n = &this_rq(s)->count;

	env_uncharged_begin();
	counter_add(&n->distance_prev[distance_bucket(s->topo, prev, cpu)], 1);
	counter_add(&n->distance_waker[distance_bucket(s->topo, this, cpu)], 1);
	env_uncharged_end();
}

/* wake_lock held, p sleeps. */
static void try_to_wake_up(struct sched *s, struct sched_task *p, u32 flags)
{
	u32 cpu, prev = task_cpu(p), prev_choice, this = env_this_cpu();
	bool migrated;

	schedstat_inc(s, wakeups);
	if (flags & WAKE_SYNC)
		schedstat_inc(s, wakeups_sync);
	if (task_on_rq(p) != TASK_OFF_RQ && ttwu_runnable(s, p)) {
		env_trace(EV_WAKE, p->id, task_cpu(p), flags, prev);
		return;
	}
	/* Its last CPU may still be switching away from it. */
	while (__atomic_load_n(&p->on_cpu, __ATOMIC_ACQUIRE))
		env_relax();
	__atomic_store_n(&p->woken_ns, env_now(), __ATOMIC_RELAXED);
	env_line_write(&p->state_line);
	task_set_state(p, TASK_WAKING);
	prev = p->cpu;
	prev_choice = p->wake_cpu;
	cpu = select_task_rq(s, p, prev_choice, SELECT_WAKE, flags);
	if (p->nr_allowed > 1)
		count_distances(s, prev_choice, this, cpu);
	migrated = cpu != prev;
	if (migrated)
		migrate_task_rq_wake(s, p, cpu);
	if (cpu != this)
		schedstat_inc(s, wakeups_remote);
	env_trace(EV_WAKE, p->id, cpu, flags, prev);
	ttwu_queue(s, p, cpu, migrated);
}

bool sched_wake(struct sched *s, struct sched_task *p, u32 flags)
{
	bool sleeps;

	env_irq_off();
	env_path_begin(PATH_WAKEUP);
	env_lock(&p->wake_lock);
	env_line_read(&p->state_line);
	sleeps = task_state(p) == TASK_SLEEPING;
	if (sleeps && !planted_once(s, lost_wakeup))
		try_to_wake_up(s, p, flags);
	env_unlock(&p->wake_lock);
	env_path_end(PATH_WAKEUP);
	env_irq_on();
	return sleeps;
}

void sched_wake_new(struct sched *s, struct sched_task *p)
{
	struct rq *rq;
	u32 cpu;

	env_irq_off();
	env_path_begin(PATH_WAKEUP);
	env_lock(&p->wake_lock);
	env_assert(task_state(p) == TASK_NEW, "task %u (%s) is not new", p->id, p->name);
	p->woken_ns = env_now();
	schedstat_inc(s, wakeups_new);
	cpu = select_task_rq(s, p, p->cpu, SELECT_FORK, WAKE_FORK);
	if (cpu != p->cpu)
		set_task_cpu(p, cpu);
	env_trace(EV_WAKE_NEW, p->id, cpu, 0, 0);
	rq = cpu_rq(s, cpu);
	rq_lock(rq);
	update_rq_clock(rq);
	activate_task(rq, p, ENQUEUE_NEW);
	ttwu_do_wakeup(rq, p, true);
	rq_unlock(rq);
	env_unlock(&p->wake_lock);
	env_path_end(PATH_WAKEUP);
	env_irq_on();
}
