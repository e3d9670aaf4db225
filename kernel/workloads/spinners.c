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

#define SPREAD_TICKS 10 /* by then the tasks are where they run */

struct spinner {
	struct wl_ctx *ctx;
	struct task *task;
	u64 work_ns, done_cpu_ns;  /* of finished bursts: work, and CPU time it took */
	u64 burst_ns, from_cpu_ns; /* the current one: its work, and CPU time at its start */
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
	const struct task *self = task_self();

	wl_start_delay();
	while (!wl_stopped(s->ctx)) {
		u64 ns = wl_vary(s->ctx, sp.burst_ns), from_ns = task_cpu_ns(self);

		__atomic_store_n(&s->from_cpu_ns, from_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&s->burst_ns, ns, __ATOMIC_RELAXED);
		task_burn(ns);
		counter_add(&s->work_ns, ns);
		counter_add(&s->done_cpu_ns, task_cpu_ns(self) - from_ns);
		__atomic_store_n(&s->burst_ns, 0, __ATOMIC_RELAXED);
	}
}

/* Work so far: that of finished bursts, and of the current one what its CPU time
 * bought at the task's mean speed, which starts at that of an idle core. */
static u64 work_done(const struct spinner *s, u64 cpu_ns)
{
	u64 work_ns = __atomic_load_n(&s->work_ns, __ATOMIC_RELAXED);
	u64 done_cpu_ns = __atomic_load_n(&s->done_cpu_ns, __ATOMIC_RELAXED);
	u64 burst_ns = __atomic_load_n(&s->burst_ns, __ATOMIC_RELAXED);
	u64 from_ns = __atomic_load_n(&s->from_cpu_ns, __ATOMIC_RELAXED);
	u64 part_ns = burst_ns && cpu_ns > from_ns ? cpu_ns - from_ns : 0;

	if (done_cpu_ns)
		part_ns = muldiv_u64(part_ns, work_ns, done_cpu_ns);
	return work_ns + (part_ns < burst_ns ? part_ns : burst_ns);
}

/* The first time notes where the tasks are, the second takes the difference. */
static void sample(void)
{
	for (u32 i = 0; i < sp.n; i++) {
		const struct spinner *s = &sp.spinner[i];

		u64 cpu_ns = task_cpu_ns(s->task);

		sp.cpu_ns[i] = cpu_ns - sp.cpu_ns[i];
		sp.work_ns[i] = work_done(s, cpu_ns) - sp.work_ns[i];
		sp.migrations[i] = __atomic_load_n(&s->task->st.migrations, __ATOMIC_RELAXED) -
				   sp.migrations[i];
	}
}

static void window_edge(struct wl_ctx *ctx)
{
	(void)ctx;
	sample();
}

/* The i-th online CPU, round and round. */
static u32 online_cpu(const struct sched_topo *t, u32 i)
{
	u32 online = 0, cpu = 0;

	for (u32 c = 0; c < t->nr_cpus; c++)
		online += t->cpu[c].online;
	for (i %= online; !t->cpu[cpu].online || i--; cpu++)
		;
	return cpu;
}

static const struct cpumask *pinned(const struct wl_ctx *ctx, u32 i)
{
	const struct sched_topo *t = ctx->topo;
	struct cpumask *m;
	u32 cpu = 0;

	if (param_num(ctx->v, P_PIN) == PIN_NONE)
		return NULL;
	if (param_num(ctx->v, P_PIN) == PIN_EACH)
		cpu = online_cpu(t, i);
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
	u64 could_use = sp.n < cpus ? sp.n : cpus, tick_ns = engine.tick_ps / 1000;

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
	/* Nothing sleeps, everybody may run anywhere, and idle CPUs pull when a tick
	 * asks them: a few ticks after the start none should idle. */
	if ((u64)param_common(ctx->w, ctx->v, COMMON_WARMUP_NS) >= SPREAD_TICKS * tick_ns &&
	    param_num(ctx->v, P_PIN) == PIN_NONE && !engine.live &&
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
	wl_timed_window(ctx, window_edge, window_edge);
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
