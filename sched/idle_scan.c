/* SPDX-License-Identifier: MIT */
/*
 * The CPU scan: budget, order, rotation, and what a task prefers among the idle
 * CPUs it comes by. spec/idle-search.md sections 4 (select_idle_cpu) and 7.
 */
#include "idle_search.h"
#include "../kernel/lib/math64.h"

/* LN_SCAN=time: ns at latency_nice 0, idle-search.md section 7.3. */
#define LN_TIME_NS 2000

/* ---- budget -------------------------------------------------------------------- */

u32 sibling_weight(struct sched *s, u32 cpu)
{
	const struct cpumask *smt = topo_mask(s->topo, TOPO_SMT, cpu);
	u32 n = 0;

	if (s->vector.value[FEAT_SIB_WEIGHT] != SIB_WEIGHT_COUNT)
		return cpu_rq(s, cpu)->sibling_weight;
	for (u32 i = 0; i < (s->nr_cpus + 63) / 64; i++) {
		env_path_begin(PATH_COUNT_WORD);
		n += popcount64(smt->w[i]);
		env_path_end(PATH_COUNT_WORD);
	}
	return n;
}

/* F of SIS_LIMIT: about one core. */
static u64 floor_of(const struct search *q)
{
	u64 f = q->s->vector.value[TUN_F_CONST];

	if (!f)
		f = sibling_weight(q->s, q->target);
	return f > 2 ? f : 2;
}

/* CPUs that average idle time pays for, between floor and ceiling. */
static u64 prop_budget(u64 span_weight, u64 avg_idle, u64 avg_scan_cost, u64 floor, u64 ceiling)
{
	u64 span = span_weight * (avg_idle / 512), cost = avg_scan_cost + 1, nr;

	if (span <= floor * cost)
		return floor;
	env_charge(ENV_DIV);
	nr = span / cost;
	return nr < ceiling ? nr : ceiling;
}

/* LN_SCAN=depth: towards the whole span below 0, towards one core above. */
static u64 depth_budget(u64 nr, u64 span_weight, u64 f, s32 ln)
{
	u64 whole = span_weight + 1 > nr ? span_weight + 1 : nr;
	u64 core = f + 1 < nr ? f + 1 : nr;

	return ln < 0 ? nr + (whole - nr) * (u64)-ln / 20 : nr - (nr - core) * (u64)ln / 20;
}

enum { LN_SCAN_OFF, LN_SCAN_DEPTH, LN_SCAN_PCT, LN_SCAN_TIME };

static s32 scan_ln(const struct search *q)
{
	return q->s->vector.value[FEAT_LN_SIGN] ? -q->ln : q->ln;
}

/* UNLIMITED: the whole span, or until time is up. */
#define UNLIMITED INT32_MAX

static u64 scan_budget(const struct search *q, u64 avg_idle, u64 avg_scan_cost)
{
	const struct sched *s = q->s;
	u64 w = q->sd->span_weight, mode = s->vector.value[FEAT_LN_SCAN], f = 0, share;
	bool prop = sched_feat(s, SIS_PROP);
	bool limit = prop && sched_feat(s, SIS_LIMIT) && limits_apply(s, q->sd);

	if (mode == LN_SCAN_TIME)
		return UNLIMITED;
	if (limit || mode != LN_SCAN_OFF)
		f = floor_of(q);
	if (mode == LN_SCAN_PCT) {
		share = w * (u64)(20 - scan_ln(q)) / 40;
		return (share > f ? share : f) + 1;
	}
	u64 nr = limit	? prop_budget(w, avg_idle, avg_scan_cost, f,
				      f * 2 << s->vector.value[FEAT_LIM_MULT])
		 : prop ? prop_budget(w, avg_idle, avg_scan_cost, 4, UINT64_MAX)
		 : mode == LN_SCAN_DEPTH ? w + 1 : UNLIMITED;

	return mode == LN_SCAN_DEPTH ? depth_budget(nr, w, f, scan_ln(q)) : nr;
}

/* ---- preferences --------------------------------------------------------------- */

/* After env_line_read(state_line): what runs there. NULL: nothing. */
static const struct sched_task *running_task(const struct rq *rq)
{
	const struct sched_task *curr = __atomic_load_n(&rq->curr, __ATOMIC_RELAXED);

	return curr == rq->idle ? NULL : curr;
}

/* Some other thread of cpu's core runs what p wants beside it, or (LN_AVX for those
 * with ln <= 0) what it does not want. */
static bool suits(const struct search *q, u32 cpu)
{
	struct sched *s = q->s;
	bool pack = sched_feat(s, LN_PACK) && q->ln >= LN_PACK_MIN;
	bool like = false, heavy = false;

	if (!search_prefers(q))
		return true;
	for_each_cpu(c, topo_mask(s->topo, TOPO_SMT, cpu), s->nr_cpus) {
		const struct rq *rq = cpu_rq(s, c);
		const struct sched_task *t;

		if (c == cpu)
			continue;
		env_line_read(&cpu_rq(s, c)->state_line);
		t = running_task(rq);
		like |= t && task_latency_nice(s, t) >= LN_PACK_MIN;
		heavy |= t && __atomic_load_n(&t->freq_heavy, __ATOMIC_RELAXED);
	}
	if (sched_feat(s, LN_AVX) && q->ln <= 0)
		return !heavy;
	return (pack && like) || (sched_feat(s, LN_AVX) && heavy);
}

/* ---- the scan ------------------------------------------------------------------- */

struct scan {
	u64 t0, nr;
	u64 limit_ns;
	bool timed;    /* LN_SCAN=time: limit_ns counts, not nr */
	bool rotates, at_exit;
};

static u64 scan_clock(void)
{
	env_charge(ENV_RDTSC);
	return env_now();
}

static void store_next(const struct search *q, u32 cpu)
{
	struct rq *rq = cpu_rq(q->s, q->target), *this = this_rq(q->s);

	env_line_write(&rq->next_cpu_line);
	__atomic_store_n(&rq->next_cpu, (s32)cpu, __ATOMIC_RELAXED);
	counter_add(&this->count.next_cpu_writes, 1);
	if (rq != this)
		counter_add(&this->count.next_cpu_remote, 1);
}

static void scan_begin(struct search *q, struct scan *scan)
{
	struct sched *s = q->s;
	struct rq *rq = cpu_rq(s, q->target);
	s32 next;

	q->start = q->target;
	scan->rotates = search_rotates(s, q->sd);
	scan->at_exit = s->vector.value[FEAT_NEXT_ASSIGN];
	scan->timed = s->vector.value[FEAT_LN_SCAN] == LN_SCAN_TIME;
	scan->limit_ns = LN_TIME_NS * (u64)(20 + scan_ln(q)) / 20;
	if (!scan->rotates)
		return;
	env_line_read(&rq->next_cpu_line);
	next = __atomic_load_n(&rq->next_cpu, __ATOMIC_RELAXED);
	if (next != -1)
		q->start = (u32)next;
}

/* Before a visit. The budget of nr lets nr - 1 through, unless NR_EXACT. */
static bool budget_spent(const struct search *q, const struct scan *scan)
{
	if (scan->timed)
		return q->why->visits && scan_clock() - scan->t0 >= scan->limit_ns;
	return q->why->visits + !sched_feat(q->s, NR_EXACT) >= scan->nr;
}

/* One CPU. True: the search ends here. first: an idle one that does not suit. */
static bool visit_cpu(struct search *q, u32 cpu, u64 *tests, u32 *first)
{
	q->why->visits++;
	if (planted(q->s, ignored_cpu) &&
	    cpumask_next(q->sd->span, cpu + 1, q->s->nr_cpus) == q->s->nr_cpus)
		return false;
	if (!cpumask_test(&q->p->allowed, cpu))
		return false;
	++*tests;
	if (!available_cpu(q->s, cpu))
		return false;
	if (suits(q, cpu))
		return true;
	if (*first == CPU_NONE)
		*first = cpu;
	return false;
}

static u32 scan_cpus(struct search *q, const struct cpumask *mask, const struct scan *scan,
		     u64 *tests)
{
	u32 found = CPU_NONE, first = CPU_NONE;

	env_path_begin(PATH_SCAN_STEP); /* with the way to the next CPU */
	for_each_cpu_wrap(c, mask, q->start, q->s->nr_cpus) {
		if (scan->rotates && !scan->at_exit)
			store_next(q, c);
		if (budget_spent(q, scan))
			q->why->budget_out = true;
		else if (visit_cpu(q, c, tests, &first))
			found = c;
		if (q->why->budget_out || found != CPU_NONE) {
			if (scan->rotates && scan->at_exit)
				store_next(q, c);
			break;
		}
		env_path_end(PATH_SCAN_STEP);
		env_path_begin(PATH_SCAN_STEP);
	}
	env_path_end(PATH_SCAN_STEP);
	return found != CPU_NONE ? found : first;
}

/* CORE_FIRST: the target's core, from the target on; 1 asks nobody's permission. What
 * is left to scan goes to rest. */
static u32 scan_core_first(struct search *q, u64 first, struct cpumask *rest, u64 *tests)
{
	struct sched *s = q->s;

	for (u32 i = 0; i < (s->nr_cpus + 63) / 64; i++)
		rest->w[i] = q->sd->span->w[i] & q->p->allowed.w[i];
	for_each_cpu_wrap(c, topo_mask(s->topo, TOPO_SMT, q->target), q->target, s->nr_cpus) {
		cpumask_clear(rest, c);
		if (first > 1 && !cpumask_test(&q->p->allowed, c))
			continue;
		++*tests;
		if (available_cpu(s, c))
			return c;
	}
	return CPU_NONE;
}

static void count_scan(struct search *q, u64 avg_scan_cost, u64 tests, bool hit)
{
	struct sched_counters *n = &this_rq(q->s)->count;
	const struct placement *why = q->why;
	u32 visits_bucket;

	env_uncharged_begin();
	visits_bucket = why->visits < 2 ? (u32)why->visits : log2_floor(why->visits - 1) + 2;
	if (visits_bucket >= ARRAY_SIZE(n->scan_visits_hist))
		visits_bucket = ARRAY_SIZE(n->scan_visits_hist) - 1;
	counter_add(&n->scans, 1);
	counter_add(&n->scan_visits, why->visits);
	counter_add(&n->scan_tests, tests);
	counter_add(&n->scan_budget_out, why->budget_out);
	counter_add(&n->scan_exhausted, !hit && !why->budget_out);
	counter_add(&n->scan_ns, why->scan_ns);
	counter_add(&n->scan_visits_hist[visits_bucket], 1);
	counter_add(&n->scan_time_log2_ns[log2_bucket(why->scan_ns,
						      ARRAY_SIZE(n->scan_time_log2_ns))], 1);
	counter_add(&n->scan_nr_log2[log2_bucket(why->nr, ARRAY_SIZE(n->scan_nr_log2))], 1);
	counter_add(&n->scan_cost_log2_ns[log2_bucket(avg_scan_cost,
						      ARRAY_SIZE(n->scan_cost_log2_ns))], 1);
	env_uncharged_end();
}

u32 select_idle_cpu(struct search *q)
{
	struct sched *s = q->s;
	struct rq *this = this_rq(s);
	struct sched_domain *ts = s->domains.llc[this->cpu];
	u64 first = s->vector.value[FEAT_CORE_FIRST], tests = 0, avg_idle, cost;
	const struct cpumask *mask = q->sd->span;
	struct placement *why = q->why;
	struct cpumask rest;
	struct scan scan;
	u32 found = CPU_NONE;

	if (!ts)
		return CPU_NONE;
	avg_idle = __atomic_load_n(&this->avg_idle, __ATOMIC_RELAXED);
	cost = ts->avg_scan_cost_ns;
	if (sched_feat(s, SIS_AVG_CPU) && avg_idle / 512 < cost + 1)
		return CPU_NONE;
	why->scanned = true;
	why->nr = scan.nr = scan_budget(q, avg_idle, cost);
	scan.t0 = scan_clock();
	scan_begin(q, &scan);
	if (first) {
		found = scan_core_first(q, first, &rest, &tests);
		mask = &rest;
	}
	if (found == CPU_NONE)
		found = scan_cpus(q, mask, &scan, &tests);
	else
		why->stage = STAGE_CORE_FIRST;
	why->scan_ns = scan_clock() - scan.t0;
	/* Who ran out of budget tells the average nothing. */
	if (!why->budget_out) {
		update_avg_div(&ts->avg_scan_cost_ns, why->scan_ns);
		why->avg_updated = true;
	}
	count_scan(q, cost, tests, found != CPU_NONE);
	return found;
}

u32 select_idle_smt(struct search *q)
{
	struct sched *s = q->s;

	if (!topo_has_smt(s->topo))
		return CPU_NONE;
	for_each_cpu(c, topo_mask(s->topo, TOPO_SMT, q->target), s->nr_cpus)
		if (cpumask_test(&q->p->allowed, c) && available_cpu(s, c))
			return c;
	return CPU_NONE;
}
