/* SPDX-License-Identifier: MIT */
/*
 * Cores: the flag that some core of a cache idles, and the search for one.
 * spec/idle-search.md section 4, select_idle_core and has_idle_cores.
 */
#include "idle_search.h"

static bool test_idle_cores(struct sched *s, u32 cpu)
{
	struct llc_shared *llc = &s->llc[s->domains.llc_id[cpu]];

	env_line_read(&llc->line);
	return __atomic_load_n(&llc->has_idle_cores, __ATOMIC_RELAXED);
}

static void set_idle_cores(struct sched *s, u32 cpu, bool value)
{
	struct llc_shared *llc = &s->llc[s->domains.llc_id[cpu]];

	env_line_write(&llc->line);
	__atomic_store_n(&llc->has_idle_cores, value, __ATOMIC_RELAXED);
}

void update_idle_core(struct rq *rq)
{
	struct sched *s = rq->sched;
	u32 cpu = rq->cpu;

	if (!topo_has_smt(s->topo) || !s->domains.llc[cpu] || test_idle_cores(s, cpu))
		return;
	for_each_cpu(c, topo_mask(s->topo, TOPO_SMT, cpu), s->nr_cpus)
		if (c != cpu && !idle_cpu(s, c))
			return;
	set_idle_cores(s, cpu, true);
	counter_add(&rq->count.flag_sets, 1);
}

/* Every thread of the core leaves c; true when all of them idle. */
static bool visit_core(struct sched *s, u32 core, struct cpumask *c)
{
	bool idle = true;

	schedstat_inc(s, core_visits);
	for_each_cpu(t, topo_mask(s->topo, TOPO_SMT, core), s->nr_cpus) {
		cpumask_clear(c, t);
		if (!idle_cpu(s, t))
			idle = false;
	}
	return idle;
}

static u32 search_cores(const struct search *q, struct cpumask *c)
{
	struct sched *s = q->s;
	u32 found = CPU_NONE;

	env_path_begin(PATH_CORE_STEP); /* with the way to the next core */
	for_each_cpu_wrap(core, c, q->target, s->nr_cpus) {
		if (visit_core(s, core, c)) {
			found = core;
			break;
		}
		env_path_end(PATH_CORE_STEP);
		env_path_begin(PATH_CORE_STEP);
	}
	env_path_end(PATH_CORE_STEP);
	return found;
}

static bool wants_core(const struct search *q)
{
	const struct sched *s = q->s;

	return sched_feat(s, SIS_CORE) && topo_has_smt(s->topo) &&
	       !(sched_feat(s, LN_CORE) && q->ln > 0) &&
	       !(sched_feat(s, LN_PACK) && q->ln >= LN_PACK_MIN);
}

u32 select_idle_core(struct search *q)
{
	struct sched *s = q->s;
	struct cpumask c;
	u64 t0;
	u32 found;

	if (!wants_core(q) || !test_idle_cores(s, q->target))
		return CPU_NONE;
	for (u32 i = 0; i < (s->nr_cpus + 63) / 64; i++)
		c.w[i] = q->sd->span->w[i] & q->p->allowed.w[i];
	t0 = env_now();
	found = search_cores(q, &c);
	schedstat_inc(s, core_searches);
	counter_add(&this_rq(s)->count.core_search_ns, env_now() - t0);
	if (found != CPU_NONE)
		return found;
	/* A core may have gone idle behind the search: its flag is lost, a hint. */
	set_idle_cores(s, q->target, false);
	schedstat_inc(s, flag_clears);
	schedstat_inc(s, flag_stale);
	return CPU_NONE;
}
