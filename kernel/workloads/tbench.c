/* SPDX-License-Identifier: MIT */
/* tbench (spec/workloads.md section 9): pairs over loopback whose requests and
 * replies have all sizes. */
#include "../lib/math64.h"
#include "pair.h"
#include "work.h"

enum { P_N, P_BYTES, P_CLIENT, P_SERVER };
enum { M_RATE, M_ROUNDS, M_WAKEUPS, M_USER };

static const struct param_info tbench_params[] = {
	[P_N] = { .name = "n", .min = 1, .max = 100000, .per_machine = true, .tag = 'P',
		  .def = "1,2,4,8,16,32,64,128", .help = "pairs" },
	[P_BYTES] = { .name = "bytes", .kind = PARAM_LIST, .min = 1, .max = 65536, .tag = 'G',
		      .def = "100:4000",
		      .help = "size of a message: uniform from the first to the last" },
	[P_CLIENT] = { .name = "client_us", .min = 0, .max = 1000000, .tag = 'G', .def = "5",
		       .help = "work of the client per request, as user" },
	[P_SERVER] = { .name = "server_us", .min = 0, .max = 1000000, .tag = 'G', .def = "5",
		       .help = "work of the server per request, in the kernel" },
};

static const struct metric_info tbench_metrics[] = {
	[M_RATE] = { "mb_per_s", 3, METRIC_HIGHER, "10^6 bytes received, both ways, per second" },
	[M_ROUNDS] = { "round_trips_per_s", 0, METRIC_HIGHER, "of all pairs together" },
	[M_WAKEUPS] = { "wakeups_per_trip", 3, METRIC_LOWER, "2: each side sleeps each time" },
	[M_USER] = WL_USER_PCT,
};

static struct {
	struct pairs pairs;
	u32 least, most; /* bytes */
	u64 client_ns, server_ns;
} tb;

static u32 any_size(void)
{
	return tb.least + (u32)rng_below(&task_self()->rng, tb.most - tb.least + 1);
}

static u32 request(struct pair *p, u64 trip)
{
	(void)trip;
	wl_spin(p->ctx, wl_vary(p->ctx, tb.client_ns));
	return any_size();
}

static u32 reply(struct pair *p, u64 trip)
{
	(void)trip;
	wl_kspin(p->ctx, wl_vary(p->ctx, tb.server_ns));
	return any_size();
}

static void window_edge(struct wl_ctx *ctx)
{
	pairs_edge(&tb.pairs);
	wl_work_edge(ctx);
}

/* Of round trips, whose messages are uniform: six standard errors at most. */
static void check_sizes(struct wl_ctx *ctx)
{
	u64 messages = 0, bytes = 0, span = tb.most - tb.least, off;

	for (u32 i = 0; i < tb.pairs.n; i++) {
		messages += 2 * tb.pairs.pair[i].trips;
		bytes += tb.pairs.pair[i].client.sent + tb.pairs.pair[i].server.sent;
	}
	off = 2 * bytes - messages * (tb.least + tb.most);
	off = (s64)off < 0 ? -off : off;
	/* The variance of one is ((span + 1)^2 - 1) / 12. */
	wl_check(ctx, (u128)off * off <= (u128)messages * (span * span + 2 * span) * 12,
		 "%llu bytes in %llu messages of %u to %u", (unsigned long long)bytes,
		 (unsigned long long)messages, tb.least, tb.most);
}

static int tbench_run(struct wl_ctx *ctx)
{
	static const struct pair_kind base = { .request = request, .reply = reply };
	const struct param_value *bytes = &ctx->v->p[P_BYTES];
	u32 n = (u32)param_num(ctx->v, P_N);
	s64 first = bytes->v[0], last = bytes->v[bytes->nr - 1];
	struct pair_kind kind = base;

	tb.least = (u32)(first < last ? first : last);
	tb.most = (u32)(first < last ? last : first);
	tb.client_ns = (u64)param_num(ctx->v, P_CLIENT) * 1000;
	tb.server_ns = (u64)param_num(ctx->v, P_SERVER) * 1000;
	kind.bytes = tb.most;
	pairs_start(&tb.pairs, ctx, &kind, n, 0, 0);
	wl_timed_window(ctx, window_edge, window_edge);
	task_wait_children();
	ctx->metric[M_RATE] = (s64)muldiv_u64(tb.pairs.bytes, 1000000,
					      ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_ROUNDS] = wl_per_s(ctx, tb.pairs.trips);
	ctx->metric[M_WAKEUPS] = wl_per(tb.pairs.wakeups, tb.pairs.trips);
	ctx->metric[M_USER] = wl_user_pct(ctx);
	pairs_check(&tb.pairs);
	wl_check_wakeups(ctx, pairs_sleeps(&tb.pairs), 2 * n);
	check_sizes(ctx);
	return (int)ctx->checks_failed;
}

static const struct workload tbench = {
	.name = "tbench", .help = "pairs over loopback, requests and replies of all sizes",
	.spec = "workloads.md section 9",
	.params = tbench_params, .nr_params = ARRAY_SIZE(tbench_params),
	.metrics = tbench_metrics, .nr_metrics = ARRAY_SIZE(tbench_metrics),
	.timed = true, .run = tbench_run,
};
WORKLOAD(tbench);
