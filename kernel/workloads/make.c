/* SPDX-License-Identifier: MIT */
/* A kernel build (spec/workloads.md section 10). */
#include "build.h"

enum { P_TOTAL = BUILD_PARAMS, P_LINK };
enum { M_REAL, M_USER, M_SYS, M_JOB, M_ALIVE, M_JOBS, M_MIGRATIONS };

static const struct param_info make_params[] = {
	BUILD_PARAM_TABLE,
	[P_TOTAL] = { .name = "total_jobs", .min = 1, .max = 10000000, .per_machine = true,
		      .tag = 'G', .def = "50C", .help = "in all" },
	[P_LINK] = { .name = "link_pct", .min = 0, .max = 100, .tag = 'G', .def = "2",
		     .help = "work of one task at the end, in percent of all before" },
};

static const struct metric_info make_metrics[] = {
	[M_REAL] = { "real_s", 6, METRIC_LOWER, "from the maker's fork to its exit" },
	[M_USER] = { "user_s", 6, METRIC_LOWER,
		     "CPU time inside work as user; interrupts in it included" },
	[M_SYS] = { "sys_s", 6, METRIC_LOWER,
		    "the rest of all processes' CPU time: work in the kernel, scheduling" },
	[M_JOB] = { "cpu_ms_per_job", 6, METRIC_LOWER, "CPU time of its processes, the mean" },
	[M_ALIVE] = { "most_alive", 0, METRIC_LOWER, "jobs alive at once" },
	[M_JOBS] = { "jobs", 0, METRIC_HIGHER, "built" },
	[M_MIGRATIONS] = { "migrations_per_wakeup", 4, METRIC_LOWER,
			   "wake-ups that moved the task off its CPU, of all" },
};

static int make_run(struct wl_ctx *ctx)
{
	struct build_config cfg = { .total = (u64)param_num(ctx->v, P_TOTAL),
				    .link_pct = (u32)param_num(ctx->v, P_LINK) };
	const struct build_figures *f;
	u64 wakeups;

	ctx->begin_ns = env_now();
	build_start(ctx, &cfg);
	task_wait_children();
	ctx->end_ns = env_now();
	f = build_figures();
	wakeups = wl_counter(wakeups);
	ctx->metric[M_REAL] = (s64)(ctx->end_ns - ctx->begin_ns) / 1000;
	ctx->metric[M_USER] = (s64)f->user_ns / 1000;
	ctx->metric[M_SYS] = (s64)(f->cpu_ns - f->user_ns) / 1000;
	ctx->metric[M_JOB] = (s64)(f->jobs_cpu_ns / cfg.total);
	ctx->metric[M_ALIVE] = (s64)f->most_alive;
	ctx->metric[M_JOBS] = (s64)f->jobs;
	ctx->metric[M_MIGRATIONS] = wl_per(10 * wl_counter(wake_migrations), wakeups);
	build_check(ctx);
	wl_check_wakeups(ctx, f->io_sleeps + f->pipe_sleeps + 1, (u32)f->child_waits);
	return (int)ctx->checks_failed;
}

static const struct workload make = {
	.name = "make", .help = "a parallel build: fork, exec, pipes and short sleeps",
	.spec = "workloads.md section 10",
	.params = make_params, .nr_params = ARRAY_SIZE(make_params),
	.metrics = make_metrics, .nr_metrics = ARRAY_SIZE(make_metrics),
	.rows = M_SYS + 1, .run = make_run,
};
WORKLOAD(make);
