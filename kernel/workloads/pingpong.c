/* SPDX-License-Identifier: MIT */
/*
 * uperf's form of ping-pong (spec/workloads.md section 4): n pairs over a
 * loopback connection, each side writes and then waits for the answer, so one of
 * the two is runnable at a time and every write is a sync wake-up.
 */
#include "../channel.h"
#include "../lib/math64.h"
#include "ctx.h"

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

struct pair {
	struct wl_ctx *ctx;
	struct channel there, back;
	u64 trips;
	u64 wrong;
};

static struct {
	struct pair *pair;
	u32 n, bytes;
	u64 burst_ns;
	u64 trips, wakeups; /* of the window; before its end: at its start */
} pp;

#define LAST_MESSAGE (~0ull)

static void client_main(void *arg)
{
	struct pair *p = arg;

	wl_start_delay();
	for (u64 i = 0; !wl_stopped(p->ctx); i++) {
		task_burn(wl_vary(p->ctx, pp.burst_ns));
		channel_write(&p->there, i, pp.bytes);
		if (channel_read(&p->back, pp.bytes) != i)
			p->wrong++;
		counter_add(&p->trips, 1);
	}
	channel_write(&p->there, LAST_MESSAGE, pp.bytes);
}

static void server_main(void *arg)
{
	struct pair *p = arg;

	for (;;) {
		u64 message = channel_read(&p->there, pp.bytes);

		if (message == LAST_MESSAGE)
			break;
		task_burn(wl_vary(p->ctx, pp.burst_ns));
		channel_write(&p->back, message, pp.bytes);
	}
}

static u64 trips_now(void)
{
	u64 trips = 0;

	for (u32 i = 0; i < pp.n; i++)
		trips += __atomic_load_n(&pp.pair[i].trips, __ATOMIC_RELAXED);
	return trips;
}

static void window_begins(struct wl_ctx *ctx)
{
	(void)ctx;
	pp.trips = trips_now();
	pp.wakeups = wl_counter(wakeups);
}

static void window_ends(struct wl_ctx *ctx)
{
	(void)ctx;
	pp.trips = trips_now() - pp.trips;
	pp.wakeups = wl_counter(wakeups) - pp.wakeups;
}

static int pingpong_run(struct wl_ctx *ctx)
{
	u64 trips, wakeups, wrong = 0;

	pp.n = (u32)param_num(ctx->v, P_N);
	pp.bytes = (u32)param_num(ctx->v, P_BYTES);
	pp.burst_ns = (u64)param_num(ctx->v, P_BURST) * 1000;
	pp.pair = arena_alloc(ctx->arena, pp.n * sizeof(*pp.pair));
	for (u32 i = 0; i < pp.n; i++) {
		struct pair *p = &pp.pair[i];
		struct task_attr client = { .name = "client", .mm = task_new_mm() };
		struct task_attr server = { .name = "server", .mm = task_new_mm() };

		p->ctx = ctx;
		channel_init(&p->there, CHANNEL_SOCKET, pp.bytes, "there", i, ctx->arena);
		channel_init(&p->back, CHANNEL_SOCKET, pp.bytes, "back", i, ctx->arena);
		task_fork(&server, server_main, p);
		task_fork(&client, client_main, p);
	}
	wl_timed_window(ctx, window_begins, window_ends);
	task_wait_children();
	trips = pp.trips;
	wakeups = pp.wakeups;

	ctx->metric[M_ROUNDS] = (s64)muldiv_u64(trips, 1000000000, ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_WAKEUPS] = trips ? (s64)(wakeups * 1000 / trips) : 0;
	for (u32 i = 0; i < pp.n; i++)
		wrong += pp.pair[i].wrong;
	wl_check(ctx, !wrong, "%llu answers to another message", (unsigned long long)wrong);
	wl_check(ctx, trips > 0, "no round trip finished");
	/* Pairs in flight at either end of the window, and the window's own timer. */
	wl_check(ctx, wakeups <= 2 * trips + 4 * pp.n + 1, "%llu wake-ups in %llu round trips",
		 (unsigned long long)wakeups, (unsigned long long)trips);
	/* On one CPU the wakee may preempt the writer before that blocks, which saves
	 * its wake-up; never both of a pair that is alone. */
	if (pp.n == 1)
		wl_check(ctx, wakeups + 5 >= trips, "%llu wake-ups in %llu round trips",
			 (unsigned long long)wakeups, (unsigned long long)trips);
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
