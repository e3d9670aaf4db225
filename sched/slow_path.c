/* SPDX-License-Identifier: MIT */
/*
 * The slow path of fork and exec: from the widest domain that balances them down to
 * one CPU, in each domain into the idlest group. spec/idle-search.md section 3.
 * p->wake_lock is held and interrupts are off throughout; all that is read of other
 * CPUs is racy, and only a hint.
 */
#include "pelt.h"

/* ---- which group? -------------------------------------------------------------- */

/* Sums over a group's CPUs, allowed or not, for each SCHED_CAPACITY that it has. */
struct group_stats {
	u64 runnable, load;
	u64 spare;          /* the roomiest CPU's capacity that p would find unused */
};

/* Of the groups without p's CPU: the best so far, and the bounds it set. They may
 * stem from different groups: the runnable load moves only by more than a margin. */
struct idlest {
	const struct sched_group *best, *roomiest;
	struct group_stats min;
	u64 most_spare;
};

static u64 add_saturating(u64 a, u64 b)
{
	return a + b < a ? ~0ull : a + b;
}

/* As much more runnable load as counts as more. */
static u64 margin(const struct sched_domain *sd)
{
	return (u64)SCHED_CAPACITY * (sd->imbalance_pct - 100) / 100;
}

/* And the same of load_avg, in percent of the other. */
static u64 scale_pct(const struct sched_domain *sd)
{
	return 100 + (sd->imbalance_pct - 100) / 2;
}

static void sum_group(struct sched *s, const struct sched_group *g, const struct sched_task *p,
		      struct group_stats *sum)
{
	u64 capacity = 0;

	*sum = (struct group_stats){ 0 };
	env_path_begin(PATH_SLOW_STEP); /* with the way to the next CPU */
	for_each_cpu(c, g->span, s->nr_cpus) {
		struct rq *rq = cpu_rq(s, c);
		u64 cap, util;

		env_line_read(&rq->state_line);
		cap = cpu_capacity(rq);
		util = cpu_util_without(rq, p);
		capacity += cap;
		sum->runnable += cpu_load(rq);
		sum->load += cpu_load_avg(rq);
		if (cap > util && cap - util > sum->spare)
			sum->spare = cap - util;
		env_path_end(PATH_SLOW_STEP);
		env_path_begin(PATH_SLOW_STEP);
	}
	env_path_end(PATH_SLOW_STEP);
	env_charge(ENV_DIV);
	env_charge(ENV_DIV);
	sum->runnable = sum->runnable * SCHED_CAPACITY / capacity;
	sum->load = sum->load * SCHED_CAPACITY / capacity;
}

static void consider_group(struct idlest *i, const struct sched_domain *sd,
			   const struct sched_group *g, const struct group_stats *sum)
{
	if (i->min.runnable > add_saturating(sum->runnable, margin(sd))) {
		i->min = *sum;
		i->best = g;
	} else if (sum->runnable < add_saturating(i->min.runnable, margin(sd)) &&
		   100 * i->min.load > scale_pct(sd) * sum->load) {
		i->min.load = sum->load;
		i->best = g;
	}
	if (sum->spare > i->most_spare) {
		i->most_spare = sum->spare;
		i->roomiest = g;
	}
}

/* NULL: the group that p's CPU is in. */
static const struct sched_group *choose_group(const struct idlest *i,
					      const struct sched_domain *sd,
					      const struct group_stats *here,
					      const struct sched_task *p, enum select_kind kind)
{
	/* What a new task will use is not known. */
	if (kind != SELECT_FORK) {
		u64 half = task_util(p) / 2;

		if (here->spare > half && scale_pct(sd) * here->spare > 100 * i->most_spare)
			return NULL;
		if (i->most_spare > half)
			return i->roomiest;
	}
	if (!i->best)
		return NULL;
	/* Memory is near this node: leave it for much less load only. */
	if ((sd->flags & SD_NUMA) &&
	    add_saturating(i->min.runnable, margin(sd)) >= here->runnable)
		return NULL;
	if (i->min.runnable > add_saturating(here->runnable, margin(sd)))
		return NULL;
	if (here->runnable < add_saturating(i->min.runnable, margin(sd)) &&
	    100 * here->load < scale_pct(sd) * i->min.load)
		return NULL;
	return i->best;
}

static const struct sched_group *find_idlest_group(struct sched *s, const struct sched_domain *sd,
						   const struct sched_task *p, u32 cpu,
						   enum select_kind kind)
{
	/* Where p may not run, load is without limit. */
	struct group_stats here = { .runnable = ~0ull, .load = ~0ull }, sum;
	struct idlest i = { .min = { .runnable = ~0ull, .load = ~0ull } };
	const struct sched_group *g = sd->groups;

	do {
		if (!cpumask_intersects(g->span, &p->allowed, s->nr_cpus))
			continue;
		sum_group(s, g, p, &sum);
		if (cpumask_test(g->span, cpu))
			here = sum;
		else
			consider_group(&i, sd, g, &sum);
	} while ((g = g->next) != sd->groups);
	return choose_group(&i, sd, &here, p, kind);
}

/* ---- which CPU of it? ------------------------------------------------------------ */

/* ns until cpu, found available, would run something. What runs SCHED_IDLE tasks is
 * awake. */
static u64 exit_latency(struct sched *s, u32 cpu)
{
	return runs_nothing(cpu_rq(s, cpu)) ? env_idle_exit_latency_ns(cpu) : 0;
}

/* The idle CPU that wakes fastest, and among equals the one that idles shortest: its
 * caches are the warmest. None: the least loaded. cpu, if nothing speaks for another. */
static u32 find_idlest_group_cpu(struct sched *s, const struct sched_group *g,
				 const struct sched_task *p, u32 cpu)
{
	u64 least_exit = ENV_EXIT_UNKNOWN, latest = 0, least_load = ~0ull;
	u32 shallowest = s->nr_cpus, idlest = cpu;

	if (g->weight == 1)
		return cpumask_first(g->span, s->nr_cpus);
	env_path_begin(PATH_SLOW_STEP);
	for_each_cpu(c, g->span, s->nr_cpus) {
		const struct rq *rq = cpu_rq(s, c);

		if (!cpumask_test(&p->allowed, c))
			continue;
		if (available_cpu(s, c)) {
			u64 stamp = __atomic_load_n(&rq->idle_stamp, __ATOMIC_RELAXED);
			u64 exit = exit_latency(s, c);

			if (exit < least_exit ||
			    ((exit == least_exit || exit == ENV_EXIT_UNKNOWN) &&
			     stamp > latest)) {
				least_exit = exit < least_exit ? exit : least_exit;
				latest = stamp;
				shallowest = c;
			}
		} else if (shallowest == s->nr_cpus && cpu_load(rq) < least_load) {
			least_load = cpu_load(rq);
			idlest = c;
		}
		env_path_end(PATH_SLOW_STEP);
		env_path_begin(PATH_SLOW_STEP);
	}
	env_path_end(PATH_SLOW_STEP);
	return shallowest < s->nr_cpus ? shallowest : idlest;
}

/* ---- the way down ------------------------------------------------------------------ */

/* cpu's widest domain with the flag that is smaller than weight. */
static const struct sched_domain *widest_below(const struct sched *s, u32 cpu, u32 flag,
					       u32 weight)
{
	const struct sched_domain *widest = NULL;

	for (const struct sched_domain *sd = s->domains.bottom[cpu];
	     sd && sd->span_weight < weight; sd = sd->parent)
		if (sd->flags & flag)
			widest = sd;
	return widest;
}

u32 find_idlest_cpu(struct sched *s, const struct sched_domain *sd, const struct sched_task *p,
		    u32 prev, enum select_kind kind, u32 flag)
{
	u32 this = env_this_cpu(), cpu = this;

	schedstat_inc(s, slow_path);
	if (!cpumask_intersects(sd->span, &p->allowed, s->nr_cpus))
		return prev;
	env_path_begin(PATH_SLOW_PATH);
	while (sd) {
		const struct sched_group *g = NULL;
		u32 next = cpu;

		if (sd->flags & flag)
			g = find_idlest_group(s, sd, p, cpu, kind);
		if (g)
			next = find_idlest_group_cpu(s, g, p, cpu);
		if (next == cpu) {
			sd = sd->child;
			continue;
		}
		cpu = next;
		sd = widest_below(s, cpu, flag, sd->span_weight);
	}
	env_path_end(PATH_SLOW_PATH);
	env_trace(EV_PLACE_SLOW, p->id, cpu, this, kind);
	return cpu;
}
