/* SPDX-License-Identifier: MIT */
/*
 * probe=pelt: what load averages become over a stretch of time, updated once or
 * often (spec/cfs-core.md section 10).
 */
#include "../../sched/formula.h"
#include "../console.h"
#include "probe.h"

enum {
	P_OF, P_WEIGHT, P_RUNNABLE, P_STATE, P_NS, P_UPDATES, P_REPEAT, P_LOAD_SUM,
	P_RUNNABLE_SUM, P_UTIL_SUM, P_CONTRIB
};
enum { STATE_RUNNING, STATE_RUNNABLE, STATE_BLOCKED };

#define SUM_MAX (1ll << 62) /* of a queue of very many tasks */

static const struct param_info pelt_params[] = {
	[P_OF] = { .name = "of", .kind = PARAM_WORD, .words = "entity|queue", .def = "entity",
		   .help = "whose averages; only a queue's load_sum is weighted" },
	[P_WEIGHT] = { .name = "weight", .min = 1, .max = 1 << 28, .def = "1024",
		       .help = "nice 0 is 1024; of a queue the sum" },
	[P_RUNNABLE] = { .name = "runnable", .max = 65535, .def = "1",
			 .help = "of=queue: tasks in it" },
	[P_STATE] = { .name = "state", .kind = PARAM_WORD, .words = "running|runnable|blocked",
		      .def = "running", .help = "what goes on at first" },
	[P_NS] = { .name = "ns", .kind = PARAM_LIST, .min = 1, .max = 1ll << 50,
		   .def = "1048576",
		   .help = "PELT time that goes by; joined by ':', every second one blocked" },
	[P_UPDATES] = { .name = "updates", .min = 1, .max = 1000000, .def = "1",
			.help = "updates in each of these" },
	[P_REPEAT] = { .name = "repeat", .min = 1, .max = 100000, .def = "1",
		       .help = "times that all of them follow one another; the last is shown" },
	[P_LOAD_SUM] = { .name = "load_sum", .max = SUM_MAX, .def = "0", .help = "at first" },
	[P_RUNNABLE_SUM] = { .name = "runnable_sum", .max = SUM_MAX, .def = "0",
			     .help = "at first" },
	[P_UTIL_SUM] = { .name = "util_sum", .max = SUM_MAX, .def = "0", .help = "at first" },
	[P_CONTRIB] = { .name = "period_contrib", .max = 1023, .def = "0",
			.help = "units of 1024 ns of the current period that are gone" },
};

static int pelt_run(struct wl_ctx *ctx)
{
	const struct param_values *v = ctx->v;
	const struct param_value *ns = &v->p[P_NS];
	s64 state = param_num(v, P_STATE);
	struct sched_avg *out = arena_alloc(ctx->arena, ns->nr * sizeof(*out));
	struct sched_avg avg = {
		.last_update_time = 1000000000, /* never 0 */
		.load_sum = (u64)param_num(v, P_LOAD_SUM),
		.runnable_sum = (u64)param_num(v, P_RUNNABLE_SUM),
		.util_sum = (u64)param_num(v, P_UTIL_SUM),
		.runnable_load_sum = (u64)param_num(v, P_LOAD_SUM),
		.period_contrib = (u32)param_num(v, P_CONTRIB),
	};
	struct pelt_probe in = { .queue = param_num(v, P_OF), .weight = (u64)param_num(v, P_WEIGHT),
				 .runnable = (u64)param_num(v, P_RUNNABLE) };

	for (s64 n = 0; n < param_num(v, P_REPEAT); n++)
		for (u32 i = 0; i < ns->nr; i++) {
			in.on_rq = i % 2 == 0 && state != STATE_BLOCKED;
			in.running = i % 2 == 0 && state == STATE_RUNNING;
			sched_probe_pelt(ctx->sched_config, &in, (u64)ns->v[i],
					 (u64)param_num(v, P_UPDATES), &avg);
			out[i] = avg;
		}
	ctx->answer = out;
	return 0;
}

static void pelt_report(const struct wl_ctx *ctx, const char *arm, bool first)
{
	const struct param_value *ns = &ctx->v->p[P_NS];
	const struct sched_avg *out = ctx->answer;

	if (first)
		probe_heading(ctx, "%-16s %5s %12s %12s %12s %8s %8s %8s %6s", "arm", "after",
			      "load_sum", "runnable_sum", "util_sum", "load", "runnable", "util",
			      "contrib");
	for (u32 i = 0; i < ns->nr; i++) {
		const struct sched_avg *a = &out[i];
		struct json *j = probe_begin(ctx, arm);

		json_u64(j, "segment", i + 1);
		json_u64(j, "load_sum", a->load_sum);
		json_u64(j, "runnable_sum", a->runnable_sum);
		json_u64(j, "util_sum", a->util_sum);
		json_u64(j, "period_contrib", a->period_contrib);
		json_u64(j, "load_avg", a->load_avg);
		json_u64(j, "runnable_avg", a->runnable_avg);
		json_u64(j, "util_avg", a->util_avg);
		json_u64(j, "runnable_load_avg", a->runnable_load_avg);
		probe_end(ctx, j);
		console_printf("%-16s %5u %12llu %12llu %12llu %8llu %8llu %8llu %6u", arm, i + 1,
			       (unsigned long long)a->load_sum,
			       (unsigned long long)a->runnable_sum,
			       (unsigned long long)a->util_sum, (unsigned long long)a->load_avg,
			       (unsigned long long)a->runnable_avg,
			       (unsigned long long)a->util_avg, a->period_contrib);
	}
}

static const struct workload pelt = {
	.kind = WORKLOAD_PROBE, .name = "pelt",
	.help = "what load averages become over a stretch of time",
	.spec = "cfs-core.md section 10",
	.params = pelt_params, .nr_params = ARRAY_SIZE(pelt_params),
	.run = pelt_run, .report = pelt_report,
};
WORKLOAD(pelt);
