/* SPDX-License-Identifier: MIT */
/* schbench as of 2016 to 2022 (spec/workloads.md section 3). */
#include "messengers.h"

enum { M_PERIOD_MIN = LATENCY_METRICS, M_PERIOD_MAX };

static const struct param_info schbench_params[] = {
	MESSENGERS_PARAM_TABLE(0, 'S', "2", "K/2"),
};

static const struct metric_info schbench_metrics[] = {
	LATENCY_METRIC_TABLE,
	[M_PERIOD_MIN] = { "period_min_ms", 3, METRIC_LOWER,
			   "from one batch to the next: the worker with the shortest mean" },
	[M_PERIOD_MAX] = { "period_max_ms", 3, METRIC_LOWER, "and the one with the longest" },
};

static const u32 schbench_percentiles[ARRAY_SIZE(schbench_metrics)] = {
	LATENCY_PERCENTILES
};

static u64 deepest_exit_us(void)
{
	const u32 *exit_ns = engine.cfg.machine->idle_exit_ns;
	u32 ns = 0;

	for (u32 s = 0; s < IDLE_STATES; s++)
		ns = exit_ns[s] > ns ? exit_ns[s] : ns;
	return ns / 1000;
}

/* Section 14, check 3: where every worker finds a CPU of its own at once. Its limit
 * of 100 us holds beside the exit from idleness: workers sleep for longer than any
 * residency, and the engine charges the worst case of the deepest state. */
static void check_unloaded(struct wl_ctx *ctx, const struct messengers_config *cfg, u64 min_us,
			   u64 max_us)
{
	u64 jitter_ns = cfg->spin_ns / 100 * (u64)param_common(ctx->w, ctx->v, COMMON_JITTER_PCT);
	u64 low_ns = cfg->spin_ns + cfg->sleep_ns - jitter_ns;
	/* 30 + 37.5 ms and half a millisecond for the ways. */
	u64 high_ns = cfg->spin_ns + cfg->sleep_ns / 4 * 5 + 500000 + jitter_ns;

	wl_check(ctx, (u64)ctx->metric[LATENCY_P50] < 100 + deepest_exit_us(),
		 "unloaded, and a median latency of %lld us", (long long)ctx->metric[LATENCY_P50]);
	wl_check(ctx, min_us >= low_ns / 1000 && max_us <= high_ns / 1000,
		 "periods of %llu to %llu us, which should be from %llu to %llu",
		 (unsigned long long)min_us, (unsigned long long)max_us,
		 (unsigned long long)low_ns / 1000, (unsigned long long)high_ns / 1000);
}

static void window_begins(struct wl_ctx *ctx)
{
	(void)ctx;
	messengers_window_begins();
}

static void window_ends(struct wl_ctx *ctx)
{
	(void)ctx;
	messengers_window_ends();
}

static int schbench_run(struct wl_ctx *ctx)
{
	struct messengers_config cfg = messengers_config(ctx, 0);
	u64 min_us, max_us;

	messengers_start(ctx, &cfg);
	wl_timed_window(ctx, window_begins, window_ends);
	task_wait_children();

	wl_percentiles(ctx, messengers_latency());
	wl_hist_add(ctx, "latency_us", messengers_latency());
	messengers_periods(&min_us, &max_us);
	ctx->metric[M_PERIOD_MIN] = max_us ? (s64)min_us : 0;
	ctx->metric[M_PERIOD_MAX] = (s64)max_us;
	wl_check(ctx, ctx->samples > 0, "no worker was woken");
	if (max_us && !engine.live && 2 * cfg.messengers * cfg.workers <= ctx->topo->nr_cpus)
		check_unloaded(ctx, &cfg, min_us, max_us);
	return (int)ctx->checks_failed;
}

static const struct workload schbench = {
	.name = "schbench", .help = "message threads that wake their workers in batches: latency",
	.spec = "workloads.md section 3",
	.params = schbench_params, .nr_params = ARRAY_SIZE(schbench_params),
	.metrics = schbench_metrics, .nr_metrics = ARRAY_SIZE(schbench_metrics),
	.rows = M_PERIOD_MIN, .percentiles = schbench_percentiles, .min_samples = 10000,
	.jitter_pct = "0", .timed = true, .runtime_s = "30", .run = schbench_run,
};
WORKLOAD(schbench);
