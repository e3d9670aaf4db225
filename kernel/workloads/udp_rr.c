/* SPDX-License-Identifier: MIT */
/*
 * netperf UDP_RR (spec/workloads.md section 5): pairs of processes that return one
 * byte to each other, so that wake-ups and load tracking are most of the work. What
 * a shared counter costs depends on how many wake-ups migrate, and that has more
 * than one stable answer: it is shown beside each result, and can be imposed.
 */
#include "../lib/math64.h"
#include "nr_pct.h"
#include "pair.h"
#include "work.h"

enum { P_NR, P_MIGRATE, P_BURST, P_TOUCH };
enum {
	M_RATE, M_MIGRATIONS, M_MESSAGES, M_MESSAGE_US, M_WAKEUPS, M_PER_TRIP, M_IMPOSED,
};

static const struct param_info udp_rr_params[] = {
	[P_NR] = NR_PCT_PARAM,
	[P_MIGRATE] = { .name = "migrate_pct", .min = 0, .max = 100, .unset = "natural", .tag = 'P',
			.def = "natural",
			.help = "wake-ups put on another CPU of the cache, idle if one is; the "
				"rest stay where they were" },
	[P_BURST] = { .name = "burst_ns", .min = 0, .max = 1000000000, .tag = 'G', .def = "2000",
		      .help = "work per message on either side, in the kernel" },
	[P_TOUCH] = { .name = "touch", .min = 0, .max = 65536, .tag = 'G', .def = "8",
		      .help = "KB of cache that each task works with, and a move loses" },
};

static const struct metric_info udp_rr_metrics[] = {
	[M_RATE] = { "tx_per_s", 3, METRIC_HIGHER, "round trips per second of one instance" },
	[M_MIGRATIONS] = { "migrations_per_wakeup", 4, METRIC_LOWER,
			   "wake-ups that moved the task off its CPU, of all" },
	[M_MESSAGES] = { "messages_per_s", 0, METRIC_HIGHER, "of all instances" },
	[M_MESSAGE_US] = { "message_us", 3, METRIC_LOWER, "half of an instance's round trip" },
	[M_WAKEUPS] = { "wakeups_per_s", 0, METRIC_HIGHER, "of the machine" },
	[M_PER_TRIP] = { "wakeups_per_trip", 3, METRIC_LOWER, "2: each side sleeps each time" },
	[M_IMPOSED] = { "imposed_per_wakeup", 4, METRIC_LOWER, "wake-ups that migrate_pct= moved" },
};

static const struct metric_floor udp_rr_floor = {
	M_MIGRATIONS, 3000,
	"says nothing about a counter that all CPUs share",
};

static struct {
	struct pairs pairs;
	bool imposed;
	u32 migrate_pct;
	u64 burst_ns;
} ur;

static u32 message(struct pair *p, u64 trip)
{
	(void)trip;
	wl_kspin(p->ctx, wl_vary(p->ctx, ur.burst_ns));
	return 1;
}

static u32 wake_flags(struct pair *p)
{
	(void)p;
	return !ur.imposed ? 0 : wl_chance(ur.migrate_pct) ? WAKE_MOVE : WAKE_STAY;
}

static void window_edge(struct wl_ctx *ctx)
{
	(void)ctx;
	pairs_edge(&ur.pairs);
}

static void figures(struct wl_ctx *ctx)
{
	const struct pairs *ps = &ur.pairs;
	u64 window_ns = ctx->end_ns - ctx->begin_ns;

	ctx->metric[M_RATE] = (s64)muldiv_u64(ps->trips, 1000000000000, window_ns * ps->n);
	ctx->metric[M_MIGRATIONS] =
		ps->wakeups ? (s64)muldiv_u64(ps->migrations, 10000, ps->wakeups) : 0;
	ctx->metric[M_MESSAGES] = wl_per_s(ctx, 2 * ps->trips);
	ctx->metric[M_MESSAGE_US] =
		ps->trips ? (s64)muldiv_u64(window_ns, ps->n, 2 * ps->trips) : 0;
	ctx->metric[M_WAKEUPS] = wl_per_s(ctx, ps->wakeups);
	ctx->metric[M_PER_TRIP] = wl_per(ps->wakeups, ps->trips);
	ctx->metric[M_IMPOSED] =
		ps->wakeups ? (s64)muldiv_u64(ps->imposed, 10000, ps->wakeups) : 0;
}

/* Of the wake-ups that dictate a place, each moves by chance: six standard errors at
 * most. A cache of one CPU has no other. */
static void check_imposed(struct wl_ctx *ctx)
{
	u64 dictated = wl_counter(wake_dictated), imposed = wl_counter(wake_imposed);
	u64 pct = ur.migrate_pct, off = 100 * imposed - pct * dictated;

	wl_check(ctx, ur.imposed || !dictated, "%llu wake-ups dictated in a natural run",
		 (unsigned long long)dictated);
	if (!ur.imposed || ctx->topo->nr_llcs == ctx->topo->nr_cpus)
		return;
	off = (s64)off < 0 ? -off : off;
	wl_check(ctx, (u128)off * off <= (u128)dictated * pct * (100 - pct) * 36,
		 "%llu of %llu wake-ups moved, which should be %llu %%",
		 (unsigned long long)imposed, (unsigned long long)dictated,
		 (unsigned long long)pct);
}

static int udp_rr_run(struct wl_ctx *ctx)
{
	static const struct pair_kind base = { .bytes = 1, .request = message, .reply = message,
					       .wake_flags = wake_flags };
	struct pair_kind kind = base;
	u32 n = nr_pct_instances(ctx, P_NR);

	ur.imposed = !param_unset(ctx->v, P_MIGRATE);
	ur.migrate_pct = (u32)param_num(ctx->v, P_MIGRATE);
	ur.burst_ns = (u64)param_num(ctx->v, P_BURST);
	kind.footprint_kb = (u32)param_num(ctx->v, P_TOUCH);
	pairs_start(&ur.pairs, ctx, &kind, n, 0, 0);
	wl_timed_window(ctx, window_edge, window_edge);
	task_wait_children();
	figures(ctx);
	pairs_check(&ur.pairs);
	wl_check_wakeups(ctx, pairs_sleeps(&ur.pairs), 2 * n);
	check_imposed(ctx);
	return (int)ctx->checks_failed;
}

static const struct workload udp_rr = {
	.name = "udp_rr", .help = "netperf UDP_RR: pairs that return one byte to each other",
	.spec = "workloads.md section 5",
	.params = udp_rr_params, .nr_params = ARRAY_SIZE(udp_rr_params),
	.metrics = udp_rr_metrics, .nr_metrics = ARRAY_SIZE(udp_rr_metrics),
	.rows = M_MIGRATIONS + 1, .floor = &udp_rr_floor, .group_depth = nr_pct_group_depth,
	.timed = true, .run = udp_rr_run,
};
WORKLOAD(udp_rr);
