/* SPDX-License-Identifier: MIT */
/*
 * Endless loops (spec/workloads.md section 2): what a CPU's time is shared into,
 * and what a busy sibling costs. Each task counts the work it finished; CPU time
 * is what the kernel saw it run.
 */
#include "../lib/math64.h"
#include "ctx.h"

enum { P_N, P_PIN, P_NICE, P_BURST };
enum { M_WORK, M_CPU, M_SHARE_MIN, M_SHARE_MAX };
enum { PIN_NONE, PIN_ONE, PIN_EACH, PIN_CORE };

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

struct spinner {
	struct wl_ctx *ctx;
	struct task *task;
	u64 work_ns; /* finished */
};

static struct {
	struct spinner *spinner;
	u32 n;
	u64 burst_ns;
	u64 *cpu_ns, *work_ns, *migrations; /* of the window; before it: at its start */
} sp;

static void spinner_main(void *arg)
{
	struct spinner *s = arg;

	wl_start_delay();
	while (!wl_stopped(s->ctx)) {
		u64 ns = wl_vary(s->ctx, sp.burst_ns);

		task_burn(ns);
		counter_add(&s->work_ns, ns);
	}
}

/* The first time notes where the tasks are, the second takes the difference. */
static void sample(void)
{
	for (u32 i = 0; i < sp.n; i++) {
		const struct spinner *s = &sp.spinner[i];

		sp.cpu_ns[i] = task_cpu_ns(s->task) - sp.cpu_ns[i];
		sp.work_ns[i] = __atomic_load_n(&s->work_ns, __ATOMIC_RELAXED) - sp.work_ns[i];
		sp.migrations[i] = __atomic_load_n(&s->task->st.migrations, __ATOMIC_RELAXED) -
				   sp.migrations[i];
	}
}

static void window_begins(struct wl_ctx *ctx)
{
	(void)ctx;
	sample();
}

static const struct cpumask *pinned(const struct wl_ctx *ctx, u32 i)
{
	const struct sched_topo *t = ctx->topo;
	struct cpumask *m;
	u32 cpu = 0;

	if (param_num(ctx->v, P_PIN) == PIN_NONE)
		return NULL;
	if (param_num(ctx->v, P_PIN) == PIN_EACH)
		cpu = i % t->nr_cpus;
	if (param_num(ctx->v, P_PIN) == PIN_CORE)
		while (t->cpu[cpu].core != i % t->nr_cores)
			cpu++;
	m = arena_alloc(ctx->arena, sizeof(*m));
	cpumask_set(m, cpu);
	return m;
}

static void figures(struct wl_ctx *ctx)
{
	u64 window_ns = ctx->end_ns - ctx->begin_ns, cpu_ns = 0, work_ns = 0, min = ~0ull, max = 0;
	u32 cpus = ctx->topo->nr_cpus;
	u64 could_use = sp.n < cpus ? sp.n : cpus;

	for (u32 i = 0; i < sp.n; i++) {
		cpu_ns += sp.cpu_ns[i];
		work_ns += sp.work_ns[i];
		min = sp.cpu_ns[i] < min ? sp.cpu_ns[i] : min;
		max = sp.cpu_ns[i] > max ? sp.cpu_ns[i] : max;
	}
	ctx->metric[M_WORK] = (s64)muldiv_u64(work_ns, 10000, window_ns);
	ctx->metric[M_CPU] = (s64)muldiv_u64(cpu_ns, 10000, window_ns);
	ctx->metric[M_SHARE_MIN] = cpu_ns ? (s64)muldiv_u64(min, 100000, cpu_ns) : 0;
	ctx->metric[M_SHARE_MAX] = cpu_ns ? (s64)muldiv_u64(max, 100000, cpu_ns) : 0;
	wl_check(ctx, cpu_ns <= window_ns * cpus + window_ns / 1000,
		 "%llu ns of CPU time in %llu ns on %u CPUs", (unsigned long long)cpu_ns,
		 (unsigned long long)window_ns, cpus);
	/* Nothing sleeps, everybody may run anywhere, and idle CPUs pull. */
	if (param_num(ctx->v, P_PIN) == PIN_NONE && !engine.live &&
	    feat(ctx->vector, FEAT_IDLE_PULL))
		wl_check(ctx, cpu_ns >= could_use * window_ns / 20 * 19,
			 "CPUs idled beside waiting tasks: %llu ns used of %llu",
			 (unsigned long long)cpu_ns, (unsigned long long)(could_use * window_ns));
}

static int spinners_run(struct wl_ctx *ctx)
{
	const struct param_value *nice = &ctx->v->p[P_NICE];
	size_t bytes;

	sp.n = (u32)param_num(ctx->v, P_N);
	sp.burst_ns = (u64)param_num(ctx->v, P_BURST) * 1000;
	bytes = sp.n * sizeof(u64);
	sp.spinner = arena_alloc(ctx->arena, sp.n * sizeof(*sp.spinner));
	sp.cpu_ns = arena_alloc(ctx->arena, bytes);
	sp.work_ns = arena_alloc(ctx->arena, bytes);
	sp.migrations = arena_alloc(ctx->arena, bytes);
	for (u32 i = 0; i < sp.n; i++) {
		struct task_attr attr = { .name = "spinner", .nice = (s32)nice->v[i % nice->nr],
					  .allowed = pinned(ctx, i) };

		sp.spinner[i].ctx = ctx;
		sp.spinner[i].task = task_fork(&attr, spinner_main, &sp.spinner[i]);
	}
	wl_timed_window(ctx, window_begins);
	sample();
	figures(ctx);
	task_wait_children();
	wl_series_add(ctx, "task_cpu_ns", sp.cpu_ns, sp.n);
	wl_series_add(ctx, "task_work_ns", sp.work_ns, sp.n);
	wl_series_add(ctx, "task_migrations", sp.migrations, sp.n);
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
