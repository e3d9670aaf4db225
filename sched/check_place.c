/* SPDX-License-Identifier: MIT */
/*
 * What placements must hold, looked at right after each: spec/idle-search.md
 * section 9, I1 to I5, I7, I9 and I11, and that no search passes an idle CPU by.
 * Debug builds only. p's wake_lock is held and interrupts are off; other CPUs are
 * looked at without locks or lines, so what concerns them is checked in lockstep
 * only, where nothing happens between two sync points.
 */
#include "idle_search.h"

#ifdef ANECHOIC_DEBUG

#define CHECK(cond, s, ...)                             \
	do {                                            \
		if (unlikely(!(cond)))                  \
			check_violated(s, __VA_ARGS__); \
	} while (0)

/* cpu idles, and has done so since the search began. */
static bool idled_all_along(const struct search_check *c, const struct sched *s, u32 cpu)
{
	const struct rq *rq = cpu_rq(s, cpu);

	return s->lockstep && stands_idle(rq) && rq->check.changed <= c->changes;
}

/* ---- the budget, by the rule once more -------------------------------------------- */

/* F of SIS_LIMIT, but for v3's miscounted weights. */
static u64 limit_floor(const struct search *q)
{
	u64 f = q->s->vector.value[TUN_F_CONST];

	if (!f)
		f = cpumask_weight(topo_mask(q->s->topo, TOPO_SMT, q->target), q->s->nr_cpus);
	return f < 2 ? 2 : f;
}

/* Whether the budget is that of SIS_PROP alone, and not counted from a wrong weight. */
static bool plain_budget(const struct sched *s)
{
	return sched_feat(s, SIS_PROP) && !s->vector.value[FEAT_LN_SCAN] &&
	       s->vector.value[FEAT_SIB_WEIGHT] != SIB_WEIGHT_PERCPU_V3;
}

static bool limited(const struct search *q)
{
	return sched_feat(q->s, SIS_LIMIT) && limits_apply(q->s, q->sd);
}

static u64 expected_nr(const struct search *q, u64 cost)
{
	u64 avg_idle = __atomic_load_n(&this_rq(q->s)->avg_idle, __ATOMIC_RELAXED);
	u64 nr = q->sd->span_weight * (avg_idle / 512) / (cost + 1), f = 4, most = ~0ull;

	if (limited(q)) {
		f = limit_floor(q);
		most = f * (2u << q->s->vector.value[FEAT_LIM_MULT]);
	}
	nr = nr > most ? most : nr;
	return nr < f ? f : nr;
}

void check_search_begin(struct search_check *c, const struct search *q)
{
	const struct rq *rq = this_rq(q->s);
	const struct sched_domain *ts = q->s->domains.llc[rq->cpu];

	*c = (struct search_check){
		.changes = q->s->availability_changes,
		.core_searches = rq->count.core_searches,
		.avg_scan_cost_ns = ts ? ts->avg_scan_cost_ns : 0,
	};
	c->nr = expected_nr(q, c->avg_scan_cost_ns);
}

/* ---- core search ------------------------------------------------------------------- */

static bool core_idled(const struct search_check *c, const struct sched *s, u32 core)
{
	for_each_cpu(t, topo_mask(s->topo, TOPO_SMT, core), s->nr_cpus)
		if (!idled_all_along(c, s, t))
			return false;
	return true;
}

void check_core_search(const struct search_check *c, const struct search *q, u32 found)
{
	struct sched *s = q->s;

	if (this_rq(s)->count.core_searches == c->core_searches)
		return; /* no SMT, no idle core expected, or not wanted */
	env_uncharged_begin();
	CHECK(sched_feat(s, SIS_CORE), s, "a core search with SIS_CORE off");
	for_each_cpu_wrap(core, q->sd->span, q->target, s->nr_cpus) {
		if (core == found)
			break;
		if (!cpumask_test(&q->p->allowed, core))
			continue;
		CHECK(!core_idled(c, s, core), s,
		      "core search for task %u from CPU %u: CPU %u's core idles, found %d",
		      q->p->id, q->target, core, (int)found);
	}
	if (found == CPU_NONE && s->lockstep)
		CHECK(!s->llc[s->domains.llc_id[q->target]].has_idle_cores, s,
		      "core search from CPU %u failed, and the flag stayed", q->target);
	env_uncharged_end();
}

/* ---- CPU scan ------------------------------------------------------------------------ */

/* I3, I4, I9. */
static void check_scan_budget(const struct search_check *c, const struct search *q)
{
	struct sched *s = q->s;
	const struct placement *why = q->why;
	const struct sched_domain *ts = s->domains.llc[env_this_cpu()];
	u64 most = sched_feat(s, NR_EXACT) ? why->nr : why->nr - (why->nr > 0);

	/* Live: avg_idle may move between our reading and the scan's. */
	CHECK(!plain_budget(s) || !s->lockstep || why->nr == c->nr, s,
	      "scan from CPU %u has a budget of %llu, not %llu", q->target,
	      (unsigned long long)why->nr, (unsigned long long)c->nr);
	CHECK(why->visits <= most && why->visits <= q->sd->span_weight, s,
	      "scan from CPU %u visited %llu CPUs, allowed %llu of %u", q->target,
	      (unsigned long long)why->visits, (unsigned long long)most, q->sd->span_weight);
	CHECK(!why->budget_out || ts->avg_scan_cost_ns == c->avg_scan_cost_ns, s,
	      "scan from CPU %u ran out of budget and changed its average cost", q->target);
	CHECK(why->budget_out != why->avg_updated, s,
	      "scan from CPU %u: the average learns of hits and full misses", q->target);
}

/* Nothing that idled all the time was passed by, in the order that the rule gives. Where
 * a rotating scan begins, another waker of the same target may have moved meanwhile. */
static void check_scan_order(const struct search_check *c, const struct search *q, u32 found)
{
	struct sched *s = q->s;
	const struct cpumask *core = topo_mask(s->topo, TOPO_SMT, q->target);
	bool core_first = s->vector.value[FEAT_CORE_FIRST];
	u64 left = q->why->visits;

	for_each_cpu_wrap(cpu, q->sd->span, q->start, s->nr_cpus) {
		if (core_first && (cpumask_test(core, cpu) ||
				   !cpumask_test(&q->p->allowed, cpu)))
			continue;
		if (!left-- || cpu == found)
			break;
		CHECK(!cpumask_test(&q->p->allowed, cpu) || !idled_all_along(c, s, cpu), s,
		      "scan for task %u from CPU %u passed CPU %u, which idles, found %d",
		      q->p->id, q->target, cpu, (int)found);
	}
}

void check_cpu_scan(const struct search_check *c, const struct search *q, u32 found)
{
	struct sched *s = q->s;
	s32 next = cpu_rq(s, q->target)->next_cpu;

	if (!q->why->scanned)
		return;
	env_uncharged_begin();
	check_scan_budget(c, q);
	CHECK(q->start == q->target || (search_rotates(s, q->sd) &&
					cpumask_test(q->sd->span, q->start)), s,
	      "scan from CPU %u began at CPU %u", q->target, q->start);
	/* A core found first ends it; who prefers some idle CPUs passes others by. */
	if (q->why->stage != STAGE_CORE_FIRST && !search_prefers(q))
		check_scan_order(c, q, found);
	CHECK(next == -1 || (next >= 0 && cpumask_test(q->sd->span, (u32)next)), s,
	      "next_cpu of CPU %u is %d, outside its cache", q->target, next);
	env_uncharged_end();
}

/* ---- answers --------------------------------------------------------------------------- */

void check_stage(const struct search *q, u32 prev, u32 cpu)
{
	struct sched *s = q->s;
	enum place_stage stage = q->why->stage;
	const struct rq *rq = cpu_rq(s, cpu);
	bool near = share_cache(s, cpu, q->target), right;

	env_uncharged_begin();
	switch (stage) {
	case STAGE_TARGET:
	case STAGE_NONE:
		right = cpu == q->target;
		break;
	case STAGE_PREV:
		right = cpu == prev && near;
		break;
	case STAGE_CORE_FIRST:
		right = near && (s->vector.value[FEAT_CORE_FIRST] == 1 ||
				 cpumask_test(&q->p->allowed, cpu));
		break;
	default:
		right = near && cpumask_test(&q->p->allowed, cpu);
		break;
	}
	CHECK(right, s, "stage %s from CPU %u put task %u on CPU %u: other cache or not allowed",
	      place_stage_name[stage], q->target, q->p->id, cpu);
	/* The wake list is what each of these looked at last; a core has more threads, and
	 * who prefers some idle CPUs looks on. */
	if (s->lockstep && stage != STAGE_CORE && stage != STAGE_NONE && !search_prefers(q))
		CHECK(!runs_nothing(rq) || wake_list_empty(rq), s,
		      "stage %s took CPU %u as idle, which has wake-ups pending",
		      place_stage_name[stage], cpu);
	env_uncharged_end();
}

void check_placement(struct sched *s, const struct sched_task *p, u32 cpu)
{
	CHECK(cpumask_test(&p->allowed, cpu) && cpumask_test(&s->online, cpu), s,
	      "task %u was put on CPU %u: not allowed or not online", p->id, cpu);
}

#endif
