/* SPDX-License-Identifier: MIT */
/* Endless loops (spec/workloads.md section 2): what a CPU's time is shared into, and
 * what a busy sibling costs. */
#include "spin.h"

#include "../lib/math64.h"

enum { P_N, P_PIN, P_NICE, P_BURST };
enum { M_WORK, M_CPU, M_SHARE_MIN, M_SHARE_MAX };

static const struct param_info spinners_params[] = {
	[P_N] = { .name = "n", .min = 1, .max = 100000, .per_machine = true, .tag = 'P', .def = "K",
		  .help = "tasks" },
	[P_PIN] = { .name = "pin", .kind = PARAM_WORD, .words = "none|one|each|core", .tag = 'G',
		    .def = "none",
		    .help = "not, all to CPU 0, the i-th to CPU i, or to core i's first CPU" },
	[P_NICE] = { .name = "nice", .kind = PARAM_LIST, .min = -20, .max = 19, .tag = 'G',
		     .def = "0", .help = "nice values, dealt out to the tasks in turn" },
	[P_BURST] = { .name = "burst_us", .min = 1, .max = 1000000, .tag = 'G', .def = "1000",
		      .help = "work between two looks at the stop flag" },
};

static const struct metric_info spinners_metrics[] = {
	[M_WORK] = { "work_cpus", 4, METRIC_HIGHER,
		     "work done per time, in CPUs that have their core to themselves" },
	[M_CPU] = { "busy_cpus", 4, METRIC_HIGHER, "CPU time used per time" },
	[M_SHARE_MIN] = { "share_min_pct", 3, METRIC_HIGHER,
			  "least CPU time of a task, of all their CPU time" },
	[M_SHARE_MAX] = { "share_max_pct", 3, METRIC_LOWER, "most CPU time of a task" },
};

static void figures(struct wl_ctx *ctx, const struct spin_window *w)
{
	u64 window_ns = ctx->end_ns - ctx->begin_ns, cpu_ns = w->all_cpu_ns;
	u32 n = (u32)param_num(ctx->v, P_N), cpus = ctx->topo->nr_cpus;
	u64 could_use = n < cpus ? n : cpus, tick_ns = engine.tick_ps / 1000;

	ctx->metric[M_WORK] = (s64)muldiv_u64(w->all_work_ns, 10000, window_ns);
	ctx->metric[M_CPU] = (s64)muldiv_u64(cpu_ns, 10000, window_ns);
	ctx->metric[M_SHARE_MIN] = cpu_ns ? (s64)muldiv_u64(w->min_cpu_ns, 100000, cpu_ns) : 0;
	ctx->metric[M_SHARE_MAX] = cpu_ns ? (s64)muldiv_u64(w->max_cpu_ns, 100000, cpu_ns) : 0;
	wl_check(ctx, cpu_ns <= window_ns * cpus + window_ns / 1000,
		 "%llu ns of CPU time in %llu ns on %u CPUs", (unsigned long long)cpu_ns,
		 (unsigned long long)window_ns, cpus);
	/* Nothing sleeps, everybody may run anywhere, and idle CPUs pull when a tick
	 * asks them: a few ticks after the start none should idle. */
	if ((u64)param_common(ctx->w, ctx->v, COMMON_WARMUP_NS) >= SPIN_SPREAD_TICKS * tick_ns &&
	    param_num(ctx->v, P_PIN) == PIN_NONE && !engine.live &&
	    feat(ctx->vector, FEAT_IDLE_PULL))
		wl_check(ctx, cpu_ns >= could_use * window_ns / 20 * 19,
			 "CPUs idled beside waiting tasks: %llu ns used of %llu",
			 (unsigned long long)cpu_ns, (unsigned long long)(could_use * window_ns));
}

static int spinners_run(struct wl_ctx *ctx)
{
	struct spin_config cfg = {
		.n = (u32)param_num(ctx->v, P_N),
		.burst_ns = (u64)param_num(ctx->v, P_BURST) * 1000,
		.pin = (enum spin_pin)param_num(ctx->v, P_PIN),
		.nice = &ctx->v->p[P_NICE],
	};
	const struct spin_window *w;

	spin_start(ctx, &cfg);
	wl_timed_window(ctx, spin_edge, spin_edge);
	w = spin_figures();
	figures(ctx, w);
	task_wait_children();
	wl_series_add(ctx, "task_cpu_ns", w->cpu_ns, cfg.n);
	wl_series_add(ctx, "task_work_ns", w->work_ns, cfg.n);
	wl_series_add(ctx, "task_migrations", w->migrations, cfg.n);
	return (int)ctx->checks_failed;
}

static const struct workload spinners = {
	.name = "spinners", .help = "endless loops: shares, SMT speed, work conservation",
	.spec = "workloads.md section 2",
	.params = spinners_params, .nr_params = ARRAY_SIZE(spinners_params),
	.metrics = spinners_metrics, .nr_metrics = ARRAY_SIZE(spinners_metrics),
	.timed = true, .run = spinners_run,
};
WORKLOAD(spinners);
