/* SPDX-License-Identifier: MIT */
/*
 * select_idle_sibling: an idle CPU near the one that select.c chose.
 * spec/idle-search.md sections 1, 4 and 7. p->wake_lock is held and interrupts
 * are off throughout; all that is read of other CPUs is racy, and only a hint.
 */
#include "sched_int.h"

#define CPU_NONE UINT32_MAX

/* ---- is a CPU idle? -------------------------------------------------------- */

/* After env_line_read(state_line). */
static bool runs_nothing(const struct rq *rq)
{
	return __atomic_load_n(&rq->curr, __ATOMIC_RELAXED) == rq->idle &&
	       !__atomic_load_n(&rq->nr_running, __ATOMIC_RELAXED);
}

static bool expects_nothing(struct rq *rq)
{
	env_line_read(&rq->wake_line);
	return !__atomic_load_n(&rq->wake_list, __ATOMIC_RELAXED) && !env_cpu_preempted(rq->cpu);
}

bool idle_cpu(struct sched *s, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);

	env_line_read(&rq->state_line);
	return runs_nothing(rq) && expects_nothing(rq);
}

bool available_cpu(struct sched *s, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);
	u32 n;

	env_line_read(&rq->state_line);
	if (runs_nothing(rq))
		return expects_nothing(rq);
	n = __atomic_load_n(&rq->nr_running, __ATOMIC_RELAXED);
	return profile_v64(s) && n &&
	       n == __atomic_load_n(&rq->cfs.idle_h_nr_running, __ATOMIC_RELAXED);
}

/* ---- idle cores -------------------------------------------------------------- */

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

static u32 select_idle_core(struct sched *s, const struct sched_task *p,
			    const struct sched_domain *sd, u32 target)
{
	u32 words = (s->nr_cpus + 63) / 64, found = CPU_NONE;
	struct cpumask c;

	if (!topo_has_smt(s->topo) || !test_idle_cores(s, target))
		return CPU_NONE;
	for (u32 i = 0; i < words; i++)
		c.w[i] = sd->span->w[i] & p->allowed.w[i];
	env_path_begin(PATH_CORE_STEP); /* with the way to the next core */
	for_each_cpu_wrap(core, &c, target, s->nr_cpus) {
		if (visit_core(s, core, &c)) {
			found = core;
			break;
		}
		env_path_end(PATH_CORE_STEP);
		env_path_begin(PATH_CORE_STEP);
	}
	env_path_end(PATH_CORE_STEP);
	if (found != CPU_NONE)
		return found;
	/* A core may have gone idle behind the search: its flag is lost, a hint. */
	set_idle_cores(s, target, false);
	return CPU_NONE;
}

/* ---- idle CPUs ------------------------------------------------------------------- */

u64 sis_prop_budget(u64 span_weight, u64 avg_idle, u64 avg_scan_cost)
{
	u64 span = span_weight * (avg_idle / 512), cost = avg_scan_cost + 1;

	if (span <= 4 * cost)
		return 4;
	env_charge(ENV_DIV);
	return span / cost;
}

static u64 scan_clock(void)
{
	env_charge(ENV_RDTSC);
	return env_now();
}

/* Iterations of the scan that pass are one fewer than nr. */
static u32 select_idle_cpu(struct sched *s, const struct sched_task *p,
			   const struct sched_domain *sd, u32 target)
{
	struct rq *this = this_rq(s);
	struct sched_domain *ts = s->domains.llc[this->cpu];
	u64 nr = INT32_MAX, t0, avg_idle;
	u32 found = CPU_NONE;

	if (!ts)
		return CPU_NONE;
	avg_idle = __atomic_load_n(&this->avg_idle, __ATOMIC_RELAXED);
	if (sched_feat(s, SIS_AVG_CPU) && avg_idle / 512 < ts->avg_scan_cost_ns + 1)
		return CPU_NONE;
	if (sched_feat(s, SIS_PROP))
		nr = sis_prop_budget(sd->span_weight, avg_idle, ts->avg_scan_cost_ns);
	t0 = scan_clock();
	env_path_begin(PATH_SCAN_STEP); /* with the way to the next CPU */
	for_each_cpu_wrap(c, sd->span, target, s->nr_cpus) {
		if (!--nr) {
			env_path_end(PATH_SCAN_STEP);
			return CPU_NONE; /* and the average does not learn of it */
		}
		counter_add(&this->count.scan_visits, 1);
		if (planted(s, ignored_cpu) &&
		    cpumask_next(sd->span, c + 1, s->nr_cpus) == s->nr_cpus)
			continue;
		if (cpumask_test(&p->allowed, c) && available_cpu(s, c)) {
			found = c;
			break;
		}
		env_path_end(PATH_SCAN_STEP);
		env_path_begin(PATH_SCAN_STEP);
	}
	env_path_end(PATH_SCAN_STEP);
	update_avg_div(&ts->avg_scan_cost_ns, scan_clock() - t0);
	return found;
}

static u32 select_idle_smt(struct sched *s, const struct sched_task *p, u32 target)
{
	if (!topo_has_smt(s->topo))
		return CPU_NONE;
	for_each_cpu(c, topo_mask(s->topo, TOPO_SMT, target), s->nr_cpus)
		if (cpumask_test(&p->allowed, c) && available_cpu(s, c))
			return c;
	return CPU_NONE;
}

/* ---- the stages ---------------------------------------------------------------------- */

static u32 search_stages(struct sched *s, struct sched_task *p, u32 prev, u32 target,
			 enum place_stage *stage)
{
	u32 recent = p->recent_used_cpu, cpu;
	const struct sched_domain *sd;
	struct search_check check;

	*stage = STAGE_TARGET;
	if (available_cpu(s, target))
		return target;
	*stage = STAGE_PREV;
	if (prev != target && share_cache(s, prev, target) && available_cpu(s, prev))
		return prev;
	*stage = STAGE_RECENT;
	if (recent != prev && recent != target && share_cache(s, recent, target) &&
	    available_cpu(s, recent) && cpumask_test(&p->allowed, recent)) {
		/* The next wake-up may find the way back. */
		p->recent_used_cpu = prev;
		return recent;
	}
	sd = s->domains.llc[target];
	if (sd) {
		*stage = STAGE_CORE;
		check_search_begin(&check, s, sd);
		cpu = select_idle_core(s, p, sd, target);
		check_core_search(&check, s, p, sd, target, cpu);
		if (cpu != CPU_NONE)
			return cpu;
		*stage = STAGE_CPU;
		check_search_begin(&check, s, sd);
		cpu = select_idle_cpu(s, p, sd, target);
		check_cpu_scan(&check, s, p, sd, target, cpu);
		if (cpu != CPU_NONE)
			return cpu;
		*stage = STAGE_SMT;
		cpu = select_idle_smt(s, p, target);
		if (cpu != CPU_NONE)
			return cpu;
	}
	*stage = STAGE_NONE;
	return target;
}

const char *const place_stage_name[STAGE_NR] = {
	"target", "prev", "recent", "core", "core_first", "cpu", "smt", "none",
};

u32 select_idle_sibling(struct sched *s, struct sched_task *p, u32 prev, u32 target,
			struct placement *why)
{
	struct sched_counters *count = &this_rq(s)->count;
	u64 *const hits[STAGE_NR] = {
		&count->stage_target, &count->stage_prev, &count->stage_recent, &count->stage_core,
		&count->stage_core_first, &count->stage_cpu, &count->stage_smt, &count->stage_none,
	};
	u32 cpu;

	*why = (struct placement){ .stage = STAGE_NONE };
	this_rq(s)->check.searches++;
	cpu = search_stages(s, p, prev, target, &why->stage);
	check_stage(s, p, why->stage, prev, target, cpu);
	counter_add(hits[why->stage], 1);
	env_trace(EV_PLACE, p->id, cpu, why->stage, target);
	return cpu;
}
