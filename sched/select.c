/* SPDX-License-Identifier: MIT */
/*
 * Which CPU a task is placed near: wake_affine chooses between the waker's CPU and
 * the task's previous one, fork and exec walk the domains down to the idlest CPU.
 * spec/idle-search.md sections 2 and 3. p->wake_lock is held and interrupts are
 * off throughout; all that is read of other CPUs is racy, and only a hint.
 */
#include "sched_int.h"

/* ---- waker's CPU or previous one? -------------------------------------------------------- */

/* Who wakes many tasks in turn flips often; a second without halves the count. */
static void record_wakee(const struct sched *s, struct sched_task *waker, struct sched_task *p)
{
	u64 now = env_jiffies();

	if (now > waker->flip_decay_jiffies + s->hz) {
		waker->wakee_flips >>= 1;
		waker->flip_decay_jiffies = now;
	}
	if (waker->last_wakee != p) {
		waker->last_wakee = p;
		waker->wakee_flips++;
	}
}

bool wake_wide(const struct sched *s, const struct sched_task *waker,
	       const struct sched_task *p, u32 cpu)
{
	u32 lo = waker->wakee_flips, hi = p->wakee_flips, factor = s->domains.llc_size[cpu];

	if (lo > hi) {
		lo = p->wakee_flips;
		hi = waker->wakee_flips;
	}
	return lo >= factor && hi >= (u64)lo * factor;
}

/* WA_IDLE; what it leaves open goes to prev, for want of load averages. */
static u32 wake_affine(struct sched *s, u32 this, u32 prev, bool sync)
{
	u32 cpu = prev;

	schedstat_inc(s, affine_attempts);
	if (sched_feat(s, WA_IDLE)) {
		if (available_cpu(s, this) && share_cache(s, this, prev))
			cpu = available_cpu(s, prev) ? prev : this;
		else if (sync && sched_nr_running(s, this) == 1)
			cpu = this;
	}
	if (cpu == this)
		schedstat_inc(s, affine_wins);
	return cpu;
}

static u32 select_task_rq_wake(struct sched *s, struct sched_task *p, u32 prev, u32 wake_flags)
{
	u32 this = env_this_cpu(), new = prev;
	struct sched_task *waker = cpu_rq(s, this)->curr;
	bool sync = (wake_flags & WAKE_SYNC) && task_state(waker) != TASK_DEAD;
	struct placement why;
	bool wide, affine;

	record_wakee(s, waker, p);
	wide = wake_wide(s, waker, p, this);
	if (wide)
		schedstat_inc(s, wake_wide);
	affine = !wide && cpumask_test(&p->allowed, this);
	/* No domain carries BALANCE_WAKE: the walk only decides on wake_affine. */
	for (struct sched_domain *sd = s->domains.bottom[this]; sd && affine; sd = sd->parent) {
		if (!(sd->flags & SD_LOAD_BALANCE))
			break;
		if (!(sd->flags & SD_WAKE_AFFINE) || !cpumask_test(sd->span, prev))
			continue;
		if (this != prev)
			new = wake_affine(s, this, prev, sync);
		break;
	}
	new = select_idle_sibling(s, p, prev, new, &why);
	if (affine)
		waker->recent_used_cpu = this;
	return new;
}

u32 select_fallback_rq(struct sched *s, const struct sched_task *p, u32 cpu)
{
	const struct cpumask *node = topo_mask(s->topo, TOPO_NODE, cpu);

	for_each_cpu(c, node, s->nr_cpus)
		if (cpumask_test(&p->allowed, c))
			return c;
	return cpumask_first(&p->allowed, s->nr_cpus);
}

u32 select_task_rq(struct sched *s, struct sched_task *p, u32 prev, enum select_kind kind,
		   u32 wake_flags)
{
	u32 cpu;

	env_path_begin(PATH_SELECT);
	if (p->nr_allowed == 1) {
		cpu = cpumask_first(&p->allowed, s->nr_cpus);
		this_rq(s)->check.pinned += kind == SELECT_WAKE;
	} else if (kind == SELECT_WAKE) {
		cpu = select_task_rq_wake(s, p, prev, wake_flags);
	} else {
		cpu = prev; /* fork and exec, for want of load averages */
	}
	if (!cpumask_test(&p->allowed, cpu)) {
		schedstat_inc(s, fallback_rq);
		cpu = select_fallback_rq(s, p, p->cpu);
	}
	check_placement(s, p, cpu);
	env_path_end(PATH_SELECT);
	return cpu;
}
