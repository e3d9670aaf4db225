/* SPDX-License-Identifier: MIT */
/*
 * The reweight micro loop (spec/workloads.md section 12): what one weight update of a
 * queued entity costs, in the form that the switch REWEIGHT chooses. Nothing is
 * scheduled meanwhile.
 */
#include "../../sched/reweight_loop.h"
#include "../lib/math64.h"
#include "../lib/string.h"
#include "ctx.h"

enum { P_CALLS };
enum { M_NS, M_INSNS, M_TIME };

#define CHUNK 10000 /* calls between two looks at interrupts */

static const struct param_info reweight_params[] = {
	[P_CALLS] = { .name = "calls", .min = 1, .max = 1000000000, .tag = 'P', .def = "10000000",
		      .help = "weight updates" },
};

static const struct metric_info reweight_metrics[] = {
	[M_NS] = { "ns_per_call", 3, METRIC_LOWER,
		   "virtual with what interrupts took; in live mode real" },
	[M_INSNS] = { "insns_per_call", 3, METRIC_LOWER,
		     "counted with cost=insn, else what costs.def says; 0 in live mode" },
	[M_TIME] = { "time_s", 9, METRIC_LOWER, "all calls" },
};

/* Without it a compiler could leave the loop out, or but its last round. */
static void check_state(struct wl_ctx *ctx, const struct reweight_loop *r, u64 calls)
{
	struct reweight_state is = reweight_loop_state(r), be = reweight_loop_expected(r, calls);

	wl_check(ctx, is.weight == be.weight && is.load == be.load && is.load_avg == be.load_avg &&
			      is.queue_load_avg == be.queue_load_avg &&
			      is.nr_running == be.nr_running,
		 "weight %llu of %llu, average %llu of %llu, %u entities; expected %llu of %llu, "
		 "%llu of %llu, %u", (unsigned long long)is.weight, (unsigned long long)is.load,
		 (unsigned long long)is.load_avg, (unsigned long long)is.queue_load_avg,
		 is.nr_running, (unsigned long long)be.weight, (unsigned long long)be.load,
		 (unsigned long long)be.load_avg, (unsigned long long)be.queue_load_avg,
		 be.nr_running);
}

/* Times 1000. */
static u64 insns_per_call(const struct wl_ctx *ctx, u64 calls)
{
	u32 path = ctx->vector->value[FEAT_REWEIGHT] ? PATH_REWEIGHT_DELTA : PATH_REWEIGHT_FULL;

	if (engine.cfg.cost_insn)
		return muldiv_u64(engine.path_insns[path], 1000, calls);
	return engine.live ? 0 : engine.path_ps[path] / engine.ps_per_insn * 1000;
}

static int reweight_run(struct wl_ctx *ctx)
{
	struct reweight_loop *r = reweight_loop_create(the_sched);
	u64 calls = (u64)param_num(ctx->v, P_CALLS), left, n;

	ctx->begin_ns = env_now();
	for (left = calls; left; left -= n) {
		n = left < CHUNK ? left : CHUNK;
		reweight_loop_run(r, n);
		env_sync();
	}
	ctx->end_ns = env_now();
	ctx->metric[M_TIME] = (s64)(ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_NS] = (s64)muldiv_u64(ctx->end_ns - ctx->begin_ns, 1000, calls);
	ctx->metric[M_INSNS] = (s64)insns_per_call(ctx, calls);
	check_state(ctx, r, calls);
	return (int)ctx->checks_failed;
}

static const struct workload reweight = {
	.name = "reweight", .help = "weight updates of a queued entity, in either form",
	.spec = "workloads.md section 12",
	.params = reweight_params, .nr_params = ARRAY_SIZE(reweight_params),
	.metrics = reweight_metrics, .nr_metrics = ARRAY_SIZE(reweight_metrics),
	.rows = M_TIME, .run = reweight_run,
};
WORKLOAD(reweight);
