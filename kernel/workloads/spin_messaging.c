/* SPDX-License-Identifier: MIT */
/*
 * Spinners beside messaging (spec/workloads.md section 2): one CPU of every core is
 * always busy, so no core is ever wholly idle and the search for one fails. Messaging
 * runs in a task of its own, whose end is the end.
 */
#include "../lib/math64.h"
#include "messaging.h"
#include "spin.h"

enum { P_GROUPS, P_LOOPS, P_N, P_PIN };
enum { M_TIME, M_WORK, M_RATE, M_SHARE_MIN, M_CORES };

static const struct param_info spin_messaging_params[] = {
	[P_GROUPS] = { .name = "groups", .min = 1, .max = 10000, .tag = 'P', .def = "1",
		       .help = "groups of 20 senders and 20 receivers" },
	[P_LOOPS] = { .name = "loops", .min = 1, .max = 100000000, .tag = 'G', .def = "20000",
		      .help = "messages from each sender to each receiver of its group" },
	[P_N] = { .name = "n", .min = 1, .max = 100000, .per_machine = true, .tag = 'P',
		  .def = "K", .help = "spinners" },
	[P_PIN] = { .name = "pin", .kind = PARAM_WORD, .words = "off|on", .tag = 'G', .def = "on",
		    .help = "the i-th spinner to core i's first CPU, or to none" },
};

static const struct metric_info spin_messaging_metrics[] = {
	[M_TIME] = { "time_s", 9, METRIC_LOWER,
		     "of messaging, from the start event to the last exit" },
	[M_WORK] = { "spinner_work_cpus", 4, METRIC_HIGHER,
		     "spinners' work per time, in CPUs that have their core to themselves" },
	[M_RATE] = { "messages_per_s", 0, METRIC_HIGHER, "messages read per second" },
	[M_SHARE_MIN] = { "spinner_share_min_pct", 3, METRIC_HIGHER,
			  "least CPU time of a spinner, of a CPU" },
	[M_CORES] = { "idle_core_hit_pct", 3, METRIC_HIGHER, "searches that found an idle core" },
};

/* As perf bench sched messaging has them: spec section 1. */
#define FDS 20
#define MESSAGE_BYTES 100
#define MESSAGE_BURST_NS 500
#define SPIN_BURST_NS 1000000

static struct {
	struct wl_ctx *ctx;
	u64 searches, hits; /* for idle cores, of the window */
} sm;

static void messaging_main(void *arg)
{
	struct wl_ctx *ctx = sm.ctx;
	struct messaging_config cfg = {
		.groups = (u32)param_num(ctx->v, P_GROUPS), .fds = FDS, .bytes = MESSAGE_BYTES,
		.loops = (u64)param_num(ctx->v, P_LOOPS), .burst_ns = MESSAGE_BURST_NS,
		.process = true, .ipc = CHANNEL_SOCKET,
	};

	(void)arg;
	task_sleep_ns(SPIN_SPREAD_TICKS * (engine.tick_ps / 1000));
	messaging_start(ctx, &cfg);
	spin_edge(ctx);
	sm.searches = wl_counter(core_searches);
	sm.hits = wl_counter(stage_core);
	ctx->metric[M_RATE] = (s64)messaging_go(ctx);
	sm.searches = wl_counter(core_searches) - sm.searches;
	sm.hits = wl_counter(stage_core) - sm.hits;
	spin_edge(ctx);
	wl_stop(ctx);
}

/* Section 14, check 2. A spinner keeps half its CPU where the messaging tasks have
 * CPUs enough beside the spinners; at the window's edges it may be short of a tick. */
static void check_pinned(struct wl_ctx *ctx, const struct spin_window *w)
{
	u64 window_ns = ctx->end_ns - ctx->begin_ns, tick_ns = engine.tick_ps / 1000;
	u64 tasks = 2ull * FDS * (u64)param_num(ctx->v, P_GROUPS);
	u32 n = (u32)param_num(ctx->v, P_N), cpus = ctx->topo->nr_cpus;

	if (n <= ctx->topo->nr_cores && tasks + n <= cpus)
		wl_check(ctx, 2 * w->min_cpu_ns + tick_ns >= window_ns,
			 "a pinned spinner had its CPU for %llu of %llu ns",
			 (unsigned long long)w->min_cpu_ns, (unsigned long long)window_ns);
	if (n >= ctx->topo->nr_cores)
		wl_check(ctx, sm.hits <= sm.searches / 100,
			 "%llu of %llu searches found an idle core beside spinners on all",
			 (unsigned long long)sm.hits, (unsigned long long)sm.searches);
}

static int spin_messaging_run(struct wl_ctx *ctx)
{
	bool pin = param_num(ctx->v, P_PIN);
	struct spin_config cfg = {
		.n = (u32)param_num(ctx->v, P_N), .burst_ns = SPIN_BURST_NS,
		.pin = pin ? PIN_CORE : PIN_NONE,
	};
	struct task_attr attr = { .name = "messaging" };
	const struct spin_window *w;

	sm.ctx = ctx;
	spin_start(ctx, &cfg);
	task_fork(&attr, messaging_main, NULL);
	task_wait_children();

	w = spin_figures();
	ctx->metric[M_TIME] = (s64)(ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_WORK] = (s64)muldiv_u64(w->all_work_ns, 10000, ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_SHARE_MIN] =
		(s64)muldiv_u64(w->min_cpu_ns, 100000, ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_CORES] = sm.searches ? (s64)muldiv_u64(sm.hits, 100000, sm.searches) : 0;
	if (pin && !engine.live)
		check_pinned(ctx, w);
	wl_series_add(ctx, "spinner_cpu_ns", w->cpu_ns, cfg.n);
	return (int)ctx->checks_failed;
}

static const struct workload spin_messaging = {
	.name = "spin_messaging", .help = "a spinner on every core, and messaging beside them",
	.spec = "workloads.md section 2",
	.params = spin_messaging_params, .nr_params = ARRAY_SIZE(spin_messaging_params),
	.metrics = spin_messaging_metrics, .nr_metrics = ARRAY_SIZE(spin_messaging_metrics),
	.rows = M_RATE, .run = spin_messaging_run,
};
WORKLOAD(spin_messaging);
