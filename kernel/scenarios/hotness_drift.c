/* SPDX-License-Identifier: MIT */
/*
 * Cache-hotness drift, the timeline of the review (spec/idle-search.md section 7.2).
 * A hog is pinned to one thread of every core. Two tasks with a footprint work on
 * CPU 0, their home, sleep there, and are woken by its timer, in units of time:
 *
 *   first task   home 0-5, wakes at 7, away for 5
 *   second task  home 6-10, wakes at 11, away for 5
 *
 * literal: CPU 0 has no hog (its sibling has), so the second task finds it free.
 * Step 1 of the search answers it, whatever was rotated: nothing can drift.
 * real: the hog is on CPU 0, target and previous CPU of both. Away is where the
 * search sends them: base always begins at CPU 0 and finds the same first idle CPUs
 * round after round; a rotating scan begins where the last one ended, where the
 * other task still runs, and moves on. What it costs is the refill of the caches.
 */
#include "../lib/fmt.h"
#include "../workloads/ctx.h"

enum { P_FORM, P_ROUNDS, P_UNIT, P_FOOTPRINT };
enum { FORM_LITERAL, FORM_REAL };
enum { M_REFILL, M_DISTINCT, M_REFILLS, M_OFF_CORE, M_STAYED };

static const struct param_info drift_params[] = {
	[P_FORM] = { .name = "form", .kind = PARAM_WORD, .words = "literal|real",
		     .def = "literal,real",
		     .help = "target free when the second task wakes, or busy" },
	[P_ROUNDS] = { .name = "rounds", .min = 1, .max = 1000, .def = "20",
		       .help = "times that the timeline is played" },
	[P_UNIT] = { .name = "unit_us", .min = 100, .max = 100000, .tag = 'G', .def = "1000",
		     .help = "length of its unit" },
	[P_FOOTPRINT] = { .name = "footprint_kb", .max = 1048576, .tag = 'G', .def = "256",
			  .help = "cache content of each task" },
};

static const struct metric_info drift_metrics[] = {
	[M_REFILL] = { "refill_us_per_wake", 3, METRIC_LOWER,
		       "time that all bursts spent on refilling caches, per wake-up from home" },
	[M_DISTINCT] = { "distinct_cpus", 0, METRIC_LOWER,
			 "CPUs besides home that these wake-ups were sent to" },
	[M_REFILLS] = { "refills", 0, METRIC_LOWER,
			"refills paid, from other CPUs or after others" },
	[M_OFF_CORE] = { "off_core_pct", 2, METRIC_LOWER,
			 "wake-ups sent to another core than home's" },
	[M_STAYED] = { "stayed_pct", 2, METRIC_HIGHER,
		       "second task's wake-ups that stayed on CPU 0" },
};

#define NR_TASKS 2
#define HOME 0
#define HOG_NICE 19      /* there, but in nobody's way */
#define HOG_BURST_NS 1000000

static struct {
	struct wl_ctx *ctx;
	struct semaphore start[NR_TASKS], done;
	u64 *cpu, *distance; /* [rounds][NR_TASKS] */
	u32 rounds;
	u64 unit_ns;
	struct cpumask everywhere;
} hd;

static void hog_main(void *arg)
{
	while (!wl_stopped(arg))
		task_burn(HOG_BURST_NS);
}

/* Home, asleep, away. The first task's falling asleep starts the second one's part. */
static void turn(u32 me, u32 round, u64 home_units, u64 sleep_units)
{
	u32 at = round * NR_TASKS + me;

	wl_run_on(hd.ctx, HOME);
	task_burn(wl_vary(hd.ctx, home_units * hd.unit_ns));
	sched_set_affinity(the_sched, &task_self()->st, &hd.everywhere);
	if (!me)
		sem_up(&hd.start[1]);
	task_sleep_ns(sleep_units * hd.unit_ns);
	hd.cpu[at] = env_this_cpu();
	hd.distance[at] = topo_distance(hd.ctx->topo, HOME, (u32)hd.cpu[at]);
	task_burn(wl_vary(hd.ctx, 5 * hd.unit_ns));
	sem_up(&hd.done);
}

static void first_main(void *arg)
{
	(void)arg;
	for (u32 r = 0; r < hd.rounds; r++) {
		sem_down(&hd.start[0]);
		turn(0, r, 5, 2);
	}
}

/* Waits at home, so that its wake-ups there search for nothing. */
static void second_main(void *arg)
{
	(void)arg;
	for (u32 r = 0; r < hd.rounds; r++) {
		wl_run_on(hd.ctx, HOME);
		sem_down(&hd.start[1]);
		task_sleep_ns(hd.unit_ns);
		turn(1, r, 4, 1);
	}
}

/* The lowest thread of a core; of home's core in the literal form the next one. */
static u32 hog_cpu(const struct wl_ctx *ctx, u32 core)
{
	const struct sched_topo *t = ctx->topo;
	u32 cpu = 0;

	while (t->cpu[cpu].core != core || !t->cpu[cpu].online)
		cpu++;
	if (cpu != HOME || param_num(ctx->v, P_FORM) == FORM_REAL)
		return cpu;
	return cpumask_next(topo_mask(t, TOPO_SMT, HOME), HOME + 1, t->nr_cpus);
}

static void start_hogs(struct wl_ctx *ctx)
{
	for (u32 core = 0; core < ctx->topo->nr_cores; core++) {
		struct cpumask *on = arena_alloc(ctx->arena, sizeof(*on));
		struct task_attr attr = { .name = "hog", .nice = HOG_NICE, .allowed = on };

		cpumask_set(on, hog_cpu(ctx, core));
		task_fork(&attr, hog_main, ctx);
	}
	task_sleep_ns(2 * HOG_BURST_NS); /* each is where it belongs */
}

static void figures(struct wl_ctx *ctx, const struct refill_stats *before)
{
	struct cpumask *seen = arena_alloc(ctx->arena, sizeof(*seen));
	const struct refill_stats *now = task_refills();
	u32 wakes = hd.rounds * NR_TASKS, off = 0, stayed = 0;
	u64 refills = 0;

	for (u32 i = 0; i < wakes; i++) {
		cpumask_set(seen, (u32)hd.cpu[i]);
		off += hd.distance[i] > DIST_SMT;
		stayed += i % NR_TASKS == 1 && hd.cpu[i] == HOME;
	}
	cpumask_clear(seen, HOME);
	for (u32 d = 0; d < DIST_NR; d++)
		refills += now->paid[d] - before->paid[d];
	ctx->metric[M_REFILL] = (s64)((now->ps - before->ps) / 1000 / wakes);
	ctx->metric[M_DISTINCT] = cpumask_weight(seen, ctx->topo->nr_cpus);
	ctx->metric[M_REFILLS] = (s64)refills;
	ctx->metric[M_OFF_CORE] = off * 10000ll / wakes;
	ctx->metric[M_STAYED] = stayed * 10000ll / hd.rounds;
}

static int drift_run(struct wl_ctx *ctx)
{
	struct task_attr attr = { .name = "short",
				  .footprint_kb = (u32)param_num(ctx->v, P_FOOTPRINT) };
	struct refill_stats before;

	hd.ctx = ctx;
	hd.rounds = (u32)param_num(ctx->v, P_ROUNDS);
	hd.unit_ns = (u64)param_num(ctx->v, P_UNIT) * 1000;
	hd.cpu = arena_alloc(ctx->arena, hd.rounds * NR_TASKS * sizeof(*hd.cpu));
	hd.distance = arena_alloc(ctx->arena, hd.rounds * NR_TASKS * sizeof(*hd.distance));
	hd.everywhere = (struct cpumask){ { 0 } };
	cpumask_fill(&hd.everywhere, ctx->topo->nr_cpus);
	sem_init(&hd.start[0], "start of the first", 0, 0);
	sem_init(&hd.start[1], "start of the second", 0, 0);
	sem_init(&hd.done, "done", 0, 0);
	/* Beside a hog: what this task does takes no idle CPU from the others. */
	wl_run_on(ctx, hog_cpu(ctx, ctx->topo->nr_cores - 1));
	start_hogs(ctx);
	before = *task_refills();
	ctx->begin_ns = env_now();
	task_fork(&attr, first_main, NULL);
	task_fork(&attr, second_main, NULL);
	for (u32 r = 0; r < hd.rounds; r++) {
		sem_up(&hd.start[0]);
		for (u32 i = 0; i < NR_TASKS; i++)
			sem_down(&hd.done);
	}
	ctx->end_ns = env_now();
	env_line_write(&ctx->stop_line);
	__atomic_store_n(&ctx->stop, true, __ATOMIC_RELEASE);
	task_wait_children();
	figures(ctx, &before);
	wl_series_add(ctx, "wake_cpu", hd.cpu, hd.rounds * NR_TASKS);
	wl_series_add(ctx, "distance_from_prev", hd.distance, hd.rounds * NR_TASKS);
	return (int)ctx->checks_failed;
}

static bool drift_check(const struct workload *w, const struct param_values *v,
			const struct sched_topo *topo, char *why, size_t n)
{
	u32 siblings = cpumask_weight(topo_mask(topo, TOPO_SMT, HOME), topo->nr_cpus);
	u32 llc = cpumask_weight(topo_mask(topo, TOPO_LLC, HOME), topo->nr_cpus);

	(void)v;
	if (topo->smt_min >= 2 && llc >= 8 && llc > siblings)
		return true;
	fmt_sn(why, n, "scenario=%s: needs cores of two threads or more, and around CPU 0's cache "
	       "two of them and eight CPUs", w->name);
	return false;
}

/* ---- the verdict ------------------------------------------------------------------- */

static bool rotates(const struct sched_vector *v)
{
	return feat(v, FEAT_SIS_ROTATE);
}

/* Whoever looks at the target's core before it rotates keeps its first task there. */
static bool near_first(const struct sched_vector *v)
{
	return v->value[FEAT_CORE_FIRST] || feat(v, FEAT_SMT_FIRST);
}

static bool judge_literal(struct wl_verdict *d)
{
	bool holds = true;

	for (u32 a = 0; a < d->nr_arms; a++)
		for (u32 r = 0; r < d->runs; r++)
			if (verdict_metric(d, a, r, M_STAYED) != 10000) {
				verdict_say(d, "%s: left CPU 0 although it was free", d->arm[a]);
				holds = false;
			}
	if (holds)
		verdict_say(d, "the target was free, and each time the answer, in all arms");
	return holds;
}

/* Compared seed by seed. */
static bool judge_arm(struct wl_verdict *d, u32 ref, u32 a)
{
	bool drift = rotates(d->vector[a]) && !near_first(d->vector[a]), holds = true;

	for (u32 r = 0; r < d->runs; r++) {
		bool farther = verdict_metric(d, a, r, M_DISTINCT) >
			       verdict_metric(d, ref, r, M_DISTINCT);
		bool dearer = verdict_metric(d, a, r, M_REFILL) >
			      verdict_metric(d, ref, r, M_REFILL);

		holds &= drift ? farther && dearer : !farther;
	}
	verdict_say(d, "%s: %s %s: on %lld CPUs (%s: %lld), refills of %lld ns per wake-up (%lld)",
		    d->arm[a], holds ? "as expected," : "UNEXPECTED, should",
		    holds ? drift ? "drifts" : "stays" : drift ? "drift" : "stay",
		    (long long)verdict_sum(d, a, M_DISTINCT) / d->runs, d->arm[ref],
		    (long long)verdict_sum(d, ref, M_DISTINCT) / d->runs,
		    (long long)verdict_sum(d, a, M_REFILL) / d->runs,
		    (long long)verdict_sum(d, ref, M_REFILL) / d->runs);
	return holds;
}

static bool drift_judge(struct wl_verdict *d)
{
	u32 ref = 0;
	bool holds = true;

	if (param_num(d->v, P_FORM) == FORM_LITERAL)
		return judge_literal(d);
	while (ref < d->nr_arms && rotates(d->vector[ref]))
		ref++;
	if (ref == d->nr_arms) {
		verdict_say(d, "no arm without SIS_ROTATE to compare with");
		return false;
	}
	for (u32 a = 0; a < d->nr_arms; a++)
		if (a != ref)
			holds &= judge_arm(d, ref, a);
	return holds;
}

static const struct workload hotness_drift = {
	.kind = WORKLOAD_SCENARIO, .name = "hotness_drift",
	.help = "how far rotation carries tasks from their cache, and what it costs",
	.spec = "idle-search.md section 7.2, cache hotness",
	.params = drift_params, .nr_params = ARRAY_SIZE(drift_params),
	.metrics = drift_metrics, .nr_metrics = ARRAY_SIZE(drift_metrics),
	.profile = "v5.2", .arms = "base,v3,core-first,smt-first",
	.check = drift_check, .run = drift_run, .judge = drift_judge,
};
WORKLOAD(hotness_drift);
