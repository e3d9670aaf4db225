/* SPDX-License-Identifier: MIT */
/* Verdicts of scenarios: see verdict.h. */
#include "verdict.h"

#include "console.h"
#include "frame.h"
#include "lib/string.h"

static s64 *metrics; /* [runs][WL_METRICS_MAX] */

void verdict_init(u32 runs, struct arena *a)
{
	metrics = arena_alloc(a, runs * WL_METRICS_MAX * sizeof(*metrics));
}

void verdict_add(u32 k, const struct wl_ctx *ctx)
{
	if (metrics)
		memcpy(&metrics[k * WL_METRICS_MAX], ctx->metric, sizeof(ctx->metric));
}

static void verdict_frame(const struct wl_verdict *d, bool holds)
{
	struct json *j = frame_begin("verdict");

	json_str(j, "bench", d->w->name);
	plan_params_json(j, d->w, d->v);
	json_bool(j, "holds", holds);
	json_arr(j, "findings");
	for (u32 i = 0; i < d->nr_lines; i++)
		json_str(j, NULL, d->line[i]);
	json_end_arr(j);
	frame_end(j);
}

bool verdict_give(const struct cmdline *cl, const struct plan_point *point)
{
	static struct wl_verdict d;
	static const char *name[ARM_MAX];
	static const struct sched_vector *vector[ARM_MAX];
	const struct arm_range *arms = &cl->arms[point->bench];
	char params[256];
	bool holds;

	for (u32 i = 0; i < arms->nr; i++) {
		name[i] = cl->arm[arms->first + i].name;
		vector[i] = &cl->arm[arms->first + i].vector;
	}
	d = (struct wl_verdict){ .w = point->workload, .v = &point->values, .nr_arms = arms->nr,
				 .runs = (u32)cl->number[OPT_runs], .arm = name,
				 .vector = vector, .metric = metrics };
	holds = d.w->judge(&d);
	verdict_frame(&d, holds);
	plan_params_text(cl, point, true, params, sizeof(params));
	console_line("");
	for (u32 i = 0; i < d.nr_lines; i++)
		console_printf("%s: %s", d.w->name, d.line[i]);
	console_printf("verdict: %s%s%s: %s", d.w->name, params[0] ? " " : "", params,
		       holds ? "holds" : "FAILED");
	return holds;
}
