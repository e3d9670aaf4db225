/* SPDX-License-Identifier: MIT */
/*
 * uperf's form of ping-pong (spec/workloads.md section 4): n pairs over a
 * loopback connection, each side writes and then waits for the answer, so one of
 * the two is runnable at a time and every write is a sync wake-up.
 */
#include "pair.h"
#include "work.h"

enum { P_N, P_BYTES, P_BURST };
enum { M_ROUNDS, M_WAKEUPS };

static const struct param_info pingpong_params[] = {
	[P_N] = { .name = "n", .min = 1, .max = 100000, .per_machine = true, .tag = 'P',
		  .def = "C/8,C/4,C/2,C,1.5C", .help = "pairs" },
	[P_BYTES] = { .name = "bytes", .min = 1, .max = 65536, .tag = 'P', .def = "8192",
		      .help = "size of a message" },
	[P_BURST] = { .name = "burst_us", .min = 0, .max = 1000000, .tag = 'G', .def = "7",
		      .help = "work per message on either side; published: 5-12, mostly copying" },
};

static const struct metric_info pingpong_metrics[] = {
	[M_ROUNDS] = { "round_trips_per_s", 0, METRIC_HIGHER, "of all pairs together" },
	[M_WAKEUPS] = { "wakeups_per_trip", 3, METRIC_LOWER, "2: each side sleeps each time" },
};

static struct pairs pp;

static u32 work(struct pair *p, u64 trip)
{
	(void)trip;
	wl_spin(p->ctx, wl_vary(p->ctx, (u64)param_num(p->ctx->v, P_BURST) * 1000));
	return (u32)param_num(p->ctx->v, P_BYTES);
}

static void window_edge(struct wl_ctx *ctx)
{
	(void)ctx;
	pairs_edge(&pp);
}

static int pingpong_run(struct wl_ctx *ctx)
{
	u32 n = (u32)param_num(ctx->v, P_N);
	struct pair_kind kind = { .bytes = (u32)param_num(ctx->v, P_BYTES), .request = work,
				  .reply = work };

	pairs_start(&pp, ctx, &kind, n, 0, 0);
	wl_timed_window(ctx, window_edge, window_edge);
	task_wait_children();
	ctx->metric[M_ROUNDS] = wl_per_s(ctx, pp.trips);
	ctx->metric[M_WAKEUPS] = wl_per(pp.wakeups, pp.trips);
	pairs_check(&pp);
	wl_check_wakeups(ctx, pairs_sleeps(&pp), 2 * n);
	return (int)ctx->checks_failed;
}

static const struct workload pingpong = {
	.name = "pingpong", .help = "pairs that answer one another, as uperf's ping-pong",
	.spec = "workloads.md section 4",
	.params = pingpong_params, .nr_params = ARRAY_SIZE(pingpong_params),
	.metrics = pingpong_metrics, .nr_metrics = ARRAY_SIZE(pingpong_metrics),
	.timed = true, .run = pingpong_run,
};
WORKLOAD(pingpong);
