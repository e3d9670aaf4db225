/* SPDX-License-Identifier: MIT */
/*
 * Which CPU a task is placed near: wake_affine chooses between the waker's CPU and
 * the task's previous one; fork and exec go to slow_path.c.
 * spec/idle-search.md sections 2 and 3. p->wake_lock is held and interrupts are
 * off throughout; all that is read of other CPUs is racy, and only a hint.
 */
#include "pelt.h"

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

/* nr_cpus: undecided. */
static u32 wake_affine_idle(struct sched *s, u32 this, u32 prev, bool sync)
{
	if (available_cpu(s, this) && share_cache(s, this, prev))
		return available_cpu(s, prev) ? prev : this;
	if (sync && sched_nr_running(s, this) == 1)
		return this;
	return s->nr_cpus;
}

static s64 load_of(struct sched *s, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);

	env_line_read(&rq->state_line);
	return (s64)cpu_load(rq);
}

/* Where would p's load, added, make the lesser one? A sleeper's own has left its
 * previous CPU, so that what is taken off there may exceed what is left. */
static u32 wake_affine_weight(struct sched *s, const struct sched_domain *sd,
			      const struct sched_task *p, u32 this, u32 prev, bool sync)
{
	s64 load = (s64)task_h_load(p), here = load_of(s, this), there;

	if (sync) {
		s64 wakers = (s64)task_h_load(cpu_rq(s, this)->curr);

		if (wakers > here)
			return this;
		here -= wakers;
	}
	here += load;
	there = load_of(s, prev) - load;
	if (sched_feat(s, WA_BIAS)) {
		here *= 100;
		there *= 100 + (sd->imbalance_pct - 100) / 2;
	}
	here *= (s64)cpu_capacity(cpu_rq(s, prev));
	there *= (s64)cpu_capacity(cpu_rq(s, this));
	/* The waker is about to sleep: equal is good enough. */
	return here < there + sync ? this : prev;
}

static u32 wake_affine(struct sched *s, const struct sched_domain *sd, const struct sched_task *p,
		       u32 this, u32 prev, bool sync)
{
	u32 cpu = s->nr_cpus;

	schedstat_inc(s, affine_attempts);
	if (sched_feat(s, WA_IDLE))
		cpu = wake_affine_idle(s, this, prev, sync);
	if (cpu == s->nr_cpus && sched_feat(s, WA_WEIGHT))
		cpu = wake_affine_weight(s, sd, p, this, prev, sync);
	if (cpu != this)
		return prev;
	schedstat_inc(s, affine_wins);
	return this;
}

/* ---- the choice ------------------------------------------------------------------------ */

static bool want_affine(struct sched *s, struct sched_task *waker, struct sched_task *p, u32 this)
{
	bool wide;

	record_wakee(s, waker, p);
	wide = wake_wide(s, waker, p, this);
	if (wide)
		schedstat_inc(s, wake_wide);
	return !wide && cpumask_test(&p->allowed, this);
}

static u32 select_task_rq_fair(struct sched *s, struct sched_task *p, u32 prev,
			       enum select_kind kind, u32 wake_flags)
{
	static const u32 kind_flag[] = {
		[SELECT_WAKE] = SD_BALANCE_WAKE,
		[SELECT_FORK] = SD_BALANCE_FORK,
		[SELECT_EXEC] = SD_BALANCE_EXEC,
	};
	u32 this = env_this_cpu(), new = prev;
	struct sched_task *waker = cpu_rq(s, this)->curr;
	bool sync = (wake_flags & WAKE_SYNC) && task_state(waker) != TASK_DEAD;
	bool affine = kind == SELECT_WAKE && want_affine(s, waker, p, this);
	const struct sched_domain *widest = NULL;
	struct placement why;

	for (struct sched_domain *sd = s->domains.bottom[this]; sd; sd = sd->parent) {
		if (!(sd->flags & SD_LOAD_BALANCE))
			break;
		if (affine && (sd->flags & SD_WAKE_AFFINE) && cpumask_test(sd->span, prev)) {
			if (this != prev)
				new = wake_affine(s, sd, p, this, prev, sync);
			widest = NULL;
			break;
		}
		if (sd->flags & kind_flag[kind])
			widest = sd;
		else if (!affine)
			break;
	}
	if (widest)
		return find_idlest_cpu(s, widest, p, prev, kind, kind_flag[kind]);
	if (kind != SELECT_WAKE)
		return prev;
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
	if (kind != SELECT_WAKE)
		p->found_idle = false; /* on a wake list: so far */
	if (p->nr_allowed == 1) {
		cpu = cpumask_first(&p->allowed, s->nr_cpus);
		this_rq(s)->check.pinned += kind == SELECT_WAKE;
	} else if (wake_flags & (WAKE_MOVE | WAKE_STAY)) {
		cpu = select_dictated_rq(s, p, prev, wake_flags);
	} else {
		cpu = select_task_rq_fair(s, p, prev, kind, wake_flags);
	}
	if (!cpumask_test(&p->allowed, cpu)) {
		schedstat_inc(s, fallback_rq);
		p->found_idle = false;
		cpu = select_fallback_rq(s, p, p->cpu);
	}
	check_placement(s, p, cpu);
	env_path_end(PATH_SELECT);
	return cpu;
}
