/* SPDX-License-Identifier: MIT */
/*
 * What placements must hold, looked at right after each: spec/idle-search.md
 * section 9, I1, I2, I3, I7, I9 and I11, and that no search passes an idle CPU by.
 * Debug builds only. p's wake_lock is held and interrupts are off; other CPUs are
 * looked at without locks or lines, so what concerns them is checked in lockstep
 * only, where nothing happens between two sync points.
 */
#include "sched_int.h"

#ifdef ANECHOIC_DEBUG

#define CHECK(cond, s, ...)                             \
	do {                                            \
		if (unlikely(!(cond)))                  \
			check_violated(s, __VA_ARGS__); \
	} while (0)

static bool runs_nothing(const struct rq *rq)
{
	return __atomic_load_n(&rq->curr, __ATOMIC_RELAXED) == rq->idle &&
	       !__atomic_load_n(&rq->nr_running, __ATOMIC_RELAXED);
}

static bool wake_list_empty(const struct rq *rq)
{
	return !__atomic_load_n(&rq->wake_list, __ATOMIC_RELAXED);
}

/* idle_cpu(), as seen by nobody in particular. */
static bool idles(const struct rq *rq)
{
	return runs_nothing(rq) && wake_list_empty(rq) && !env_cpu_preempted(rq->cpu);
}

/* cpu idles, and has done so since the search began. */
static bool idled_all_along(const struct search_check *c, const struct sched *s, u32 cpu)
{
	const struct rq *rq = cpu_rq(s, cpu);

	return s->lockstep && idles(rq) && rq->check.changed <= c->changes;
}

/* The rule of idle-search.md section 4 once more: one visit less than nr, which is
 * at least 4. */
static u64 visits_allowed(const struct sched *s, const struct rq *rq, u64 span, u64 cost)
{
	u64 avg_idle = __atomic_load_n(&rq->avg_idle, __ATOMIC_RELAXED);
	u64 nr = span * (avg_idle / 512) / (cost + 1);

	if (!sched_feat(s, SIS_PROP))
		return span;
	return nr < 4 ? 3 : nr - 1;
}

void check_search_begin(struct search_check *c, struct sched *s, const struct sched_domain *sd)
{
	const struct rq *rq = this_rq(s);
	const struct sched_domain *ts = s->domains.llc[rq->cpu];

	*c = (struct search_check){
		.changes = s->availability_changes,
		.visits = rq->count.scan_visits,
		.core_visits = rq->count.core_visits,
		.avg_scan_cost_ns = ts ? ts->avg_scan_cost_ns : 0,
	};
	c->budget = visits_allowed(s, rq, sd->span_weight, c->avg_scan_cost_ns);
}

static bool core_idled(const struct search_check *c, const struct sched *s, u32 core)
{
	for_each_cpu(t, topo_mask(s->topo, TOPO_SMT, core), s->nr_cpus)
		if (!idled_all_along(c, s, t))
			return false;
	return true;
}

void check_core_search(const struct search_check *c, struct sched *s, const struct sched_task *p,
		       const struct sched_domain *sd, u32 target, u32 found)
{
	const struct rq *rq = this_rq(s);

	if (rq->count.core_visits == c->core_visits)
		return; /* no SMT, or no idle core expected */
	env_uncharged_begin();
	for_each_cpu_wrap(core, sd->span, target, s->nr_cpus) {
		if (core == found)
			break;
		if (!cpumask_test(&p->allowed, core))
			continue;
		CHECK(!core_idled(c, s, core), s,
		      "core search for task %u from CPU %u: CPU %u's core idles, found %d", p->id,
		      target, core, (int)found);
	}
	if (found >= s->nr_cpus && s->lockstep)
		CHECK(!s->llc[s->domains.llc_id[target]].has_idle_cores, s,
		      "core search from CPU %u failed, and the flag stayed", target);
	env_uncharged_end();
}

void check_cpu_scan(const struct search_check *c, struct sched *s, const struct sched_task *p,
		    const struct sched_domain *sd, u32 target, u32 found)
{
	const struct rq *rq = this_rq(s);
	const struct sched_domain *ts = s->domains.llc[rq->cpu];
	u64 visits = rq->count.scan_visits - c->visits, left = visits;

	env_uncharged_begin();
	/* Live: avg_idle may move between our reading and the scan's. */
	CHECK((visits <= c->budget || !s->lockstep) && visits <= sd->span_weight, s,
	      "scan from CPU %u visited %llu CPUs, allowed %llu of %u", target,
	      (unsigned long long)visits, (unsigned long long)c->budget, sd->span_weight);
	/* Neither a hit nor the whole span: the budget ran out, or forbade the scan. */
	CHECK(!ts || found < s->nr_cpus || visits == sd->span_weight ||
	      ts->avg_scan_cost_ns == c->avg_scan_cost_ns, s,
	      "scan from CPU %u ran out of budget and changed its average cost", target);
	for_each_cpu_wrap(cpu, sd->span, target, s->nr_cpus) {
		if (!left-- || cpu == found)
			break;
		CHECK(!cpumask_test(&p->allowed, cpu) || !idled_all_along(c, s, cpu), s,
		      "scan for task %u from CPU %u passed CPU %u, which idles, found %d", p->id,
		      target, cpu, (int)found);
	}
	env_uncharged_end();
}

void check_stage(struct sched *s, const struct sched_task *p, enum place_stage stage, u32 prev,
		 u32 target, u32 cpu)
{
	const struct rq *rq = cpu_rq(s, cpu);
	bool near = s->domains.llc_id[cpu] == s->domains.llc_id[target];
	bool right;

	env_uncharged_begin();
	switch (stage) {
	case STAGE_TARGET:
	case STAGE_NONE:
		right = cpu == target;
		break;
	case STAGE_PREV:
		right = cpu == prev && near;
		break;
	default:
		right = near && cpumask_test(&p->allowed, cpu);
		break;
	}
	CHECK(right, s, "stage %d from CPU %u put task %u on CPU %u: other cache or not allowed",
	      stage, target, p->id, cpu);
	/* The wake list is what each of these looked at last; a core has more threads. */
	if (s->lockstep && stage != STAGE_CORE && stage != STAGE_NONE)
		CHECK(!runs_nothing(rq) || wake_list_empty(rq), s,
		      "stage %d took CPU %u as idle, which has wake-ups pending", stage, cpu);
	env_uncharged_end();
}

void check_placement(struct sched *s, const struct sched_task *p, u32 cpu)
{
	CHECK(cpumask_test(&p->allowed, cpu) && cpumask_test(&s->online, cpu), s,
	      "task %u was put on CPU %u: not allowed or not online", p->id, cpu);
}

#endif
