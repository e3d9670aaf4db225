/* SPDX-License-Identifier: MIT */
/*
 * A kernel build and schbench beside it, each in a group of its own
 * (spec/workloads.md section 10): what the one does to the other's latency. The
 * build goes on until the window ends.
 */
#include "../lib/math64.h"
#include "build.h"
#include "messengers.h"

enum { M_SAMPLES = LATENCY_METRICS, M_JOBS, M_WORK, M_MIGRATIONS };
enum { UNIT_BUILD = 1, UNIT_SCHBENCH };

static const struct param_info make_schbench_params[] = {
	BUILD_PARAM_TABLE,
	MESSENGERS_PARAM_TABLE(BUILD_PARAMS, 'P', "1", "C/2"),
};

static const struct metric_info make_schbench_metrics[] = {
	LATENCY_METRIC_TABLE,
	[M_SAMPLES] = { "samples", 0, METRIC_HIGHER, "wake-ups that these are of" },
	[M_JOBS] = { "jobs_per_s", 3, METRIC_HIGHER, "built beside it" },
	[M_WORK] = { "build_cpus", 4, METRIC_HIGHER,
		     "the build's work per time, in CPUs that have their core to themselves" },
	[M_MIGRATIONS] = { "migrations_per_wakeup", 4, METRIC_LOWER,
			   "wake-ups that moved the task off its CPU, of all of the run" },
};

static const u32 make_schbench_percentiles[ARRAY_SIZE(make_schbench_metrics)] = {
	LATENCY_PERCENTILES
};

static u64 jobs; /* of the window; before its end: at its begin */

static void window_edge(struct wl_ctx *ctx)
{
	jobs = build_jobs() - jobs;
	wl_work_edge(ctx);
}

static void window_begins(struct wl_ctx *ctx)
{
	messengers_window_begins();
	window_edge(ctx);
}

static void window_ends(struct wl_ctx *ctx)
{
	messengers_window_ends();
	window_edge(ctx);
}

static int make_schbench_run(struct wl_ctx *ctx)
{
	struct build_config build = { .unit = UNIT_BUILD };
	struct messengers_config cfg = messengers_config(ctx, BUILD_PARAMS);

	cfg.unit = UNIT_SCHBENCH;
	jobs = 0;
	build_start(ctx, &build);
	messengers_start(ctx, &cfg);
	wl_timed_window(ctx, window_begins, window_ends);
	task_wait_children();

	wl_percentiles(ctx, messengers_latency());
	ctx->metric[M_SAMPLES] = (s64)ctx->samples;
	wl_hist_add(ctx, "latency_us", messengers_latency());
	ctx->metric[M_JOBS] = wl_per_s(ctx, 1000 * jobs);
	ctx->metric[M_WORK] =
		(s64)muldiv_u64(ctx->work_window.user_ns + ctx->work_window.kernel_ns, 10000,
				ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_MIGRATIONS] = wl_per(10 * wl_counter(wake_migrations), wl_counter(wakeups));
	wl_check(ctx, ctx->samples > 0, "no worker was woken");
	build_check(ctx);
	return (int)ctx->checks_failed;
}

static u32 group_depth(const struct param_values *v)
{
	(void)v;
	return 1;
}

static const struct workload make_schbench = {
	.name = "make_schbench", .help = "schbench beside a parallel build, in sibling groups",
	.spec = "workloads.md section 10",
	.params = make_schbench_params, .nr_params = ARRAY_SIZE(make_schbench_params),
	.metrics = make_schbench_metrics, .nr_metrics = ARRAY_SIZE(make_schbench_metrics),
	.rows = M_JOBS + 1, .percentiles = make_schbench_percentiles, .min_samples = 10000,
	.jitter_pct = "0", .group_depth = group_depth, .groups_of = "2",
	.timed = true, .runtime_s = "30", .run = make_schbench_run,
};
WORKLOAD(make_schbench);
