/* SPDX-License-Identifier: MIT */
/*
 * A simple idle pull, until there is a load balancer: a CPU takes one waiting
 * task from the nearest queue of two or more, when it is about to idle, and when
 * a busy CPU's tick asks it to. So no CPU idles beside a queue of two for much
 * longer than a tick.
 *
 * What keeps it cheap is Linux's: a machine-wide overload flag, no pull when the
 * CPU idles less than the cost of a migration on average (v5.2 and v6.4,
 * idle_balance), and a set of idle CPUs that is written at most once per CPU and
 * tick (nohz.idle_cpus_mask).
 */
#include "sched_int.h"

void set_overload(struct sched *s)
{
	if (!sched_feat(s, IDLE_PULL))
		return;
	env_line_read(&s->overload_line);
	if (__atomic_load_n(&s->overload, __ATOMIC_RELAXED))
		return;
	env_line_write(&s->overload_line);
	__atomic_store_n(&s->overload, true, __ATOMIC_RELAXED);
}

static bool test_overload(struct sched *s)
{
	env_line_read(&s->overload_line);
	return __atomic_load_n(&s->overload, __ATOMIC_RELAXED);
}

/* src locked; who is on its list and on_cpu is its curr: the lock is held across
 * the switch. */
static bool can_migrate_task(const struct rq *src, const struct sched_task *p, u32 cpu)
{
	return !task_running(src, p) && cpumask_test(&p->allowed, cpu);
}

/* src locked. The one that ran longest ago, whose cache is coldest. */
static struct sched_task *coldest_movable(struct rq *src, u32 cpu)
{
	for (struct list *n = src->tasks.prev; n != &src->tasks; n = n->prev) {
		struct sched_task *p = container_of(n, struct sched_task, rq_node);

		if (can_migrate_task(src, p, cpu))
			return p;
	}
	return NULL;
}

/* No lock held. True: a task moved to rq, whose lock is held. The answers that
 * led here are checked again: a wake-up may have come first. */
static bool pull_one(struct rq *rq, struct rq *src)
{
	struct sched_task *p = NULL;

	rq_lock_pair(rq, src);
	if (!rq->nr_running && src->nr_running >= 2)
		p = coldest_movable(src, rq->cpu);
	if (p) {
		update_rq_clock(src);
		update_rq_clock(rq);
		deactivate_task(src, p, 0);
		set_task_cpu(p, rq->cpu);
		activate_task(rq, p, 0);
		counter_add(&rq->count.pulled, 1);
	}
	rq_unlock(src);
	if (!p)
		rq_unlock(rq);
	return p;
}

static bool work_arrived(const struct rq *rq)
{
	return __atomic_load_n(&rq->nr_running, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&rq->wake_list, __ATOMIC_RELAXED);
}

/* Interrupts off, no lock held. Nearest domain first, in wrap order. As
 * pull_one(). */
static bool pull_nearest(struct rq *rq)
{
	struct sched *s = rq->sched;
	bool seen = false;

	counter_add(&rq->count.pulls, 1);
	for (struct sched_domain *sd = s->domains.bottom[rq->cpu]; sd; sd = sd->parent) {
		for_each_cpu_wrap(c, sd->span, rq->cpu, s->nr_cpus) {
			struct rq *src = cpu_rq(s, c);
			u32 n;

			if (c == rq->cpu || (sd->child && cpumask_test(sd->child->span, c)))
				continue;
			env_path_begin(PATH_PULL_STEP);
			env_line_read(&src->state_line);
			n = __atomic_load_n(&src->nr_running, __ATOMIC_RELAXED);
			env_path_end(PATH_PULL_STEP);
			if (n >= 2 && pull_one(rq, src))
				return true;
			seen |= n >= 2;
			if (work_arrived(rq))
				return false;
		}
	}
	if (!seen) {
		/* A queue may have grown behind the scan: its next tick asks. */
		env_line_write(&s->overload_line);
		__atomic_store_n(&s->overload, false, __ATOMIC_RELAXED);
	}
	return false;
}

bool newidle_pull(struct rq *rq)
{
	struct sched *s = rq->sched;

	if (!sched_feat(s, IDLE_PULL) || rq->avg_idle < s->vector.value[TUN_MIGRATION_COST] ||
	    work_arrived(rq) || !test_overload(s))
		return rq->nr_running;
	env_path_begin(PATH_PULL);
	if (__atomic_load_n(&s->groups, __ATOMIC_RELAXED))
		update_blocked_load(rq);
	env_irq_off();
	rq_unlock(rq);
	if (!pull_nearest(rq))
		rq_lock(rq);
	env_irq_on();
	update_rq_clock(rq);
	env_path_end(PATH_PULL);
	return rq->nr_running;
}

/* ---- the set of idle CPUs ---------------------------------------------------- */

void idle_mask_enter(struct rq *rq)
{
	struct sched *s = rq->sched;

	if (rq->in_idle_mask || !sched_feat(s, IDLE_PULL))
		return;
	rq->in_idle_mask = true;
	env_line_write(&s->idle_mask_line);
	__atomic_fetch_or(&s->idle_mask.w[rq->cpu / 64], 1ull << (rq->cpu % 64), __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->idle_mask_weight, 1, __ATOMIC_RELAXED);
}

static void idle_mask_leave(struct rq *rq)
{
	struct sched *s = rq->sched;

	if (!rq->in_idle_mask)
		return;
	rq->in_idle_mask = false;
	env_line_write(&s->idle_mask_line);
	__atomic_fetch_and(&s->idle_mask.w[rq->cpu / 64], ~(1ull << (rq->cpu % 64)),
			   __ATOMIC_RELAXED);
	__atomic_fetch_sub(&s->idle_mask_weight, 1, __ATOMIC_RELAXED);
}

static bool in_idle_mask(const struct sched *s, u32 cpu)
{
	return __atomic_load_n(&s->idle_mask.w[cpu / 64], __ATOMIC_RELAXED) >> (cpu % 64) & 1;
}

/* ---- asking an idle CPU to pull ------------------------------------------------ */

bool movable_cpus(struct rq *rq, struct cpumask *movable)
{
	struct sched *s = rq->sched;
	bool any = false;

	if (rq->nr_running < 2 || !sched_feat(s, IDLE_PULL))
		return false;
	memset(movable, 0, sizeof(*movable));
	list_for_each(n, &rq->tasks) {
		struct sched_task *p = container_of(n, struct sched_task, rq_node);

		if (task_running(rq, p) || p->nr_allowed == 1)
			continue;
		any = true;
		cpumask_or(movable, &p->allowed, s->nr_cpus);
		if (cpumask_equal(movable, &s->online, s->nr_cpus))
			break;
	}
	return any;
}

/* The nearest idle CPU of movable; nr_cpus when there is none. */
static u32 nearest_idle(struct rq *rq, const struct cpumask *movable)
{
	struct sched *s = rq->sched;

	for (struct sched_domain *sd = s->domains.bottom[rq->cpu]; sd; sd = sd->parent) {
		for_each_cpu_wrap(c, sd->span, rq->cpu, s->nr_cpus) {
			bool idle;

			if (!in_idle_mask(s, c) || !cpumask_test(movable, c) ||
			    (sd->child && cpumask_test(sd->child->span, c)))
				continue;
			env_path_begin(PATH_PULL_STEP);
			idle = idle_cpu(s, c);
			env_path_end(PATH_PULL_STEP);
			if (idle)
				return c;
		}
	}
	return s->nr_cpus;
}

/* Interrupts off, no lock held. Asks the nearest idle CPU of movable to pull. */
static void request_pull(struct rq *rq, const struct cpumask *movable)
{
	struct sched *s = rq->sched;
	u32 cpu;

	env_line_read(&s->idle_mask_line);
	if (!__atomic_load_n(&s->idle_mask_weight, __ATOMIC_RELAXED))
		return;
	cpu = nearest_idle(rq, movable);
	if (cpu == s->nr_cpus)
		return;
	counter_add(&rq->count.pull_kicks, 1);
	env_trace(EV_CALL, cpu, ENV_CALL_PULL, 0, 0);
	env_call(cpu, ENV_CALL_PULL);
}

void pull_on_tick(struct rq *rq, const struct cpumask *movable)
{
	idle_mask_leave(rq);
	if (movable)
		request_pull(rq, movable);
}

void sched_idle_pull(struct sched *s)
{
	struct rq *rq = this_rq(s);

	if (rq->curr != rq->idle || sched_need_resched(s, rq->cpu) || work_arrived(rq))
		return;
	env_path_begin(PATH_PULL);
	if (pull_nearest(rq)) {
		__atomic_store_n(&rq->idle_stamp, 0, __ATOMIC_RELAXED);
		resched_curr(rq);
		env_irq_off();
		rq_unlock(rq);
		/* All CPUs tick together and ask the same nearest one: their requests
		 * merge. Who was asked and found work asks the next. */
		if (test_overload(s))
			request_pull(rq, &s->online);
		env_irq_on();
	}
	env_path_end(PATH_PULL);
}
