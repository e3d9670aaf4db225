/* SPDX-License-Identifier: MIT */
/*
 * Does rotation alter the chance of a hit (spec/idle-search.md section 7.2)? CPU 0
 * wakes tasks for itself, busy and without an idle core, at a budget that is the same
 * in all arms. The other CPUs' state is drawn anew for each search (independent), or
 * with a small probability each, else it stays (correlated). Nothing is enqueued.
 *
 * Independent: each CPU that a scan tests idles with the same probability, however
 * the scan came to it, so hits per CPU tested agree. Hits per search need not: a
 * window that begins at the target spends its first visit on a CPU known to be busy.
 *
 * Correlated: a fixed window tests the same CPUs again, which on the average over a
 * long run idle as often as any. A rotating scan goes back to the CPU where it found
 * something, which probably idles still, and leaves a window where it found nothing:
 * it hits more often, per search and per CPU tested.
 */
#include "../../sched/place.h"
#include "../lib/fmt.h"
#include "../workloads/ctx.h"

enum { P_LOAD, P_SEARCHES, P_BUSY, P_REDRAW };
enum { LOAD_INDEPENDENT, LOAD_CORRELATED };
enum { M_CHANCE, M_HIT_RATE, M_VISITS, M_SCANS, M_HITS, M_TESTED, M_BUDGET_MIN, M_BUDGET_MAX };

static const struct param_info window_params[] = {
	[P_LOAD] = { .name = "load", .kind = PARAM_WORD, .words = "independent|correlated",
		     .def = "independent,correlated", .help = "how the CPUs' states change" },
	[P_SEARCHES] = { .name = "searches", .min = 100, .max = 10000000, .def = "20000",
			 .help = "searches of one run" },
	[P_BUSY] = { .name = "busy_pct", .min = 1, .max = 99, .tag = 'G', .def = "75",
		     .help = "probability that a CPU is busy" },
	[P_REDRAW] = { .name = "redraw_permille", .min = 1, .max = 999, .tag = 'G', .def = "10",
		       .help = "correlated: probability that a CPU's state is drawn anew" },
};

static const struct metric_info window_metrics[] = {
	[M_CHANCE] = { "hits_per_tested_pct", 3, METRIC_HIGHER,
		       "hits, of the CPUs tested besides the target" },
	[M_HIT_RATE] = { "hit_rate_pct", 3, METRIC_HIGHER, "scans that found an idle CPU" },
	[M_VISITS] = { "visits_per_scan", 3, METRIC_LOWER, "the target's included" },
	[M_SCANS] = { "scans", 0, METRIC_HIGHER, "searches that came to the scan" },
	[M_HITS] = { "hits", 0, METRIC_HIGHER, "of these, with a hit" },
	[M_TESTED] = { "tested", 0, METRIC_LOWER, "CPUs tested besides the target" },
	[M_BUDGET_MIN] = { "budget_min", 0, METRIC_LOWER, "least budget of a search" },
	[M_BUDGET_MAX] = { "budget_max", 0, METRIC_LOWER, "greatest budget" },
};

#define TARGET 0
#define AVG_IDLE_NS 1000000
/* A scan that costs next to nothing gets the largest budget that its arm allows. */
#define AVG_SCAN_COST_NS 0

static void draw(struct rng *rng, const struct wl_ctx *ctx, bool all, struct cpumask *busy)
{
	u64 busy_pct = (u64)param_num(ctx->v, P_BUSY);
	u64 redraw = all ? 1000 : (u64)param_num(ctx->v, P_REDRAW);

	for (u32 c = 0; c < ctx->topo->nr_cpus; c++) {
		if (rng_below(rng, 1000) >= redraw)
			continue;
		if (rng_below(rng, 100) < busy_pct)
			cpumask_set(busy, c);
		else
			cpumask_clear(busy, c);
	}
	cpumask_set(busy, TARGET);
}

/* Whether the first visits of a scan from start met the target. */
static bool target_visited(const struct wl_ctx *ctx, u32 start, u64 visits)
{
	const struct cpumask *span = topo_mask(ctx->topo, TOPO_LLC, TARGET);

	for_each_cpu_wrap(c, span, start, ctx->topo->nr_cpus) {
		if (!visits--)
			break;
		if (c == TARGET)
			return true;
	}
	return false;
}

static void figures(struct wl_ctx *ctx, u64 scans, u64 hits, u64 visits, u64 tested)
{
	ctx->metric[M_CHANCE] = tested ? (s64)(hits * 100000 / tested) : 0;
	ctx->metric[M_HIT_RATE] = (s64)(hits * 100000 / scans);
	ctx->metric[M_VISITS] = (s64)(visits * 1000 / scans);
	ctx->metric[M_SCANS] = (s64)scans;
	ctx->metric[M_HITS] = (s64)hits;
	ctx->metric[M_TESTED] = (s64)tested;
}

static int window_run(struct wl_ctx *ctx)
{
	struct cpumask *busy = arena_alloc(ctx->arena, sizeof(*busy));
	struct cpumask *all = arena_alloc(ctx->arena, sizeof(*all));
	struct place_probe in = { .busy = busy, .allowed = all, .this_cpu = TARGET,
				  .prev = TARGET, .target = TARGET, .recent = TARGET,
				  .next_cpu = -1, .avg_idle_ns = AVG_IDLE_NS,
				  .avg_scan_cost_ns = AVG_SCAN_COST_NS };
	struct place_prober *prober = sched_prober_create(ctx->sched_config);
	bool rotates = feat(ctx->vector, FEAT_SIS_ROTATE), first = true;
	bool independent = param_num(ctx->v, P_LOAD) == LOAD_INDEPENDENT;
	struct rng *rng = &task_self()->rng;
	u64 scans = 0, hits = 0, visits = 0, tested = 0;
	s64 min = INT64_MAX, max = 0;
	u32 start = TARGET;

	cpumask_fill(all, ctx->topo->nr_cpus);
	wl_run_on(ctx, TARGET);
	ctx->begin_ns = env_now();
	for (s64 i = 0; i < param_num(ctx->v, P_SEARCHES); i++, first = false) {
		struct place_probe_result r;

		draw(rng, ctx, first || independent, busy);
		task_syscall(); /* and the place where interrupts get in */
		env_irq_off();
		sched_prober_ask(prober, &in, first, &r);
		env_irq_on();
		if (!r.why.scanned)
			continue; /* CORE_FIRST, SMT_FIRST: found before */
		scans++;
		hits += r.why.stage == STAGE_CPU;
		visits += r.why.visits;
		tested += r.why.visits - target_visited(ctx, start, r.why.visits);
		min = (s64)r.why.nr < min ? (s64)r.why.nr : min;
		max = (s64)r.why.nr > max ? (s64)r.why.nr : max;
		start = rotates && r.next_cpu >= 0 ? (u32)r.next_cpu : TARGET;
	}
	ctx->end_ns = env_now();
	wl_check(ctx, scans > 0, "nothing was scanned");
	if (scans)
		figures(ctx, scans, hits, visits, tested);
	ctx->metric[M_BUDGET_MIN] = min;
	ctx->metric[M_BUDGET_MAX] = max;
	return (int)ctx->checks_failed;
}

static bool window_check(const struct workload *w, const struct param_values *v,
			 const struct sched_topo *topo, char *why, size_t n)
{
	u32 llc = cpumask_weight(topo_mask(topo, TOPO_LLC, TARGET), topo->nr_cpus);

	(void)v;
	if (llc >= 8)
		return true;
	fmt_sn(why, n, "scenario=%s: needs 8 CPUs around CPU %u's cache, not %u", w->name, TARGET,
	       llc);
	return false;
}

/* ---- the verdict -------------------------------------------------------------------- */

#define Z 3 /* standard errors */
#define ONE 1000000000ull /* shares are in units of 1e-9 */

struct share {
	u64 hits, of; /* of > 0, below 2^30 */
};

static struct share share_of(const struct wl_verdict *d, u32 arm)
{
	return (struct share){ (u64)verdict_sum(d, arm, M_HITS),
			       (u64)verdict_sum(d, arm, M_TESTED) };
}

static u64 share_value(struct share s)
{
	return s.of ? s.hits * ONE / s.of : 0;
}

/*
 * 1: a is larger by more than Z standard errors of the difference of two shares,
 * -1: b is, 0: neither. The variance is that of independent trials, q (1-q) (1/n + 1/m)
 * with q of both together, times num/den.
 */
static s32 compare(struct share a, struct share b, u64 num, u64 den)
{
	u64 pa = share_value(a), pb = share_value(b), d = pa > pb ? pa - pb : pb - pa;
	u64 q = share_value((struct share){ a.hits + b.hits, a.of + b.of });
	u64 variance = q * (ONE - q) / a.of + q * (ONE - q) / b.of;

	if ((u128)d * d * den <= (u128)variance * num * (Z * Z))
		return 0;
	return pa > pb ? 1 : -1;
}

static bool same_budget(const struct wl_verdict *d, u32 a, u32 b)
{
	s64 want = verdict_metric(d, a, 0, M_BUDGET_MIN);

	for (u32 r = 0; r < d->runs; r++)
		if (verdict_metric(d, a, r, M_BUDGET_MIN) != want ||
		    verdict_metric(d, a, r, M_BUDGET_MAX) != want ||
		    verdict_metric(d, b, r, M_BUDGET_MIN) != want ||
		    verdict_metric(d, b, r, M_BUDGET_MAX) != want)
			return false;
	return true;
}

static void say_arm(struct wl_verdict *d, u32 arm)
{
	u64 scans = (u64)verdict_sum(d, arm, M_SCANS);
	u64 rate = share_value((struct share){ (u64)verdict_sum(d, arm, M_HITS), scans });
	u64 chance = share_value(share_of(d, arm));
	s64 visits = verdict_sum(d, arm, M_VISITS) / d->runs;
	char text[3][40];

	verdict_say(d, "%s: %s %% of scans hit, %s visits each; %s %% of the CPUs tested",
		    d->arm[arm], decimal_text(text[0], (s64)rate / 100000, 2),
		    decimal_text(text[1], visits, 3),
		    decimal_text(text[2], (s64)chance / 100000, 2));
}

static bool judge_pair(struct wl_verdict *d, u32 fixed, u32 rotating, u32 *judged)
{
	static const char *const words[] = { "is smaller", "is the same", "is larger" };
	u64 f = (u64)param_num(d->v, P_REDRAW);
	bool independent = param_num(d->v, P_LOAD) == LOAD_INDEPENDENT;
	struct share a = share_of(d, rotating), b = share_of(d, fixed);
	s32 expected = independent ? 0 : 1, found;

	if (!a.of || !b.of || !same_budget(d, fixed, rotating)) {
		verdict_say(d, "%s and %s: not at the same budget, not compared", d->arm[fixed],
			    d->arm[rotating]);
		return true;
	}
	++*judged;
	/* States redrawn with probability f correlate as (1-f)^k over k searches: their
	 * mean varies (2-f)/f times as much. Scans that meet a CPU less often see less
	 * of that. */
	found = independent ? compare(a, b, 1, 1) : compare(a, b, 2000 - f, f);
	verdict_say(d, "%s: the chance per CPU tested %s (%d standard errors), %s",
		    d->arm[rotating], words[found + 1], Z,
		    found == expected ? "as expected" : "UNEXPECTED");
	return found == expected;
}

/* After a failed look at the target's core a scan meets threads known to be busy:
 * another question. */
static bool compared(const struct sched_vector *v)
{
	return feat(v, FEAT_SIS_ROTATE) && !v->value[FEAT_CORE_FIRST] && !feat(v, FEAT_SMT_FIRST);
}

static bool window_judge(struct wl_verdict *d)
{
	u32 fixed = 0, judged = 0;
	bool holds = true;

	for (u32 a = 0; a < d->nr_arms; a++)
		say_arm(d, a);
	while (fixed < d->nr_arms && feat(d->vector[fixed], FEAT_SIS_ROTATE))
		fixed++;
	for (u32 a = 0; a < d->nr_arms && fixed < d->nr_arms; a++)
		if (compared(d->vector[a]))
			holds &= judge_pair(d, fixed, a, &judged);
	if (!judged)
		verdict_say(d, "no two arms with and without SIS_ROTATE to compare");
	return holds && judged;
}

static const struct workload rotating_window = {
	.kind = WORKLOAD_SCENARIO, .name = "rotating_window", .bare = true,
	.help = "chance of a hit in a fixed and in a rotating window, at equal budget",
	.spec = "idle-search.md section 7.2, rotation",
	.params = window_params, .nr_params = ARRAY_SIZE(window_params),
	.metrics = window_metrics, .nr_metrics = ARRAY_SIZE(window_metrics),
	.profile = "v5.2", .arms = "limit:base+SIS_LIMIT,rotate:base+SIS_LIMIT+SIS_ROTATE",
	.check = window_check, .run = window_run, .judge = window_judge,
};
WORKLOAD(rotating_window);
