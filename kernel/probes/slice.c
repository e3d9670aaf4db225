/* SPDX-License-Identifier: MIT */
/*
 * probe=slice: how long each task of a queue may run before it is others' turn, in
 * real and in virtual time (spec/cfs-core.md section 6).
 */
#include "../../sched/formula.h"
#include "../console.h"
#include "probe.h"

enum { P_NICE, P_GROUP_NICE, P_GROUP_SHARES, P_NEWCOMER };

#define TASKS_MAX (2 * PARAM_LIST_MAX + 1)

static const struct param_info slice_params[] = {
	[P_NICE] = { .name = "nice", .kind = PARAM_LIST, .min = -20, .max = 19, .def = "0",
		     .help = "of the tasks queued on a CPU" },
	[P_GROUP_NICE] = { .name = "group_nice", .kind = PARAM_LIST, .min = -20, .max = 19,
			   .unset = "none", .def = "none",
			   .help = "of those in a group beside them" },
	[P_GROUP_SHARES] = { .name = "shares", .min = 2, .max = 1 << 18, .def = "1024",
			     .help = "of that group" },
	[P_NEWCOMER] = { .name = "newcomer", .min = -20, .max = 19, .def = "0",
			 .help = "nice of a task about to join" },
};

static u32 take(const struct param_values *v, u32 i, s32 *nice)
{
	u32 nr = param_unset(v, i) ? 0 : v->p[i].nr;

	for (u32 k = 0; k < nr; k++)
		nice[k] = (s32)v->p[i].v[k];
	return nr;
}

static int slice_run(struct wl_ctx *ctx)
{
	const struct param_values *v = ctx->v;
	struct slice_answer *out = arena_alloc(ctx->arena, TASKS_MAX * sizeof(*out));
	s32 nice[PARAM_LIST_MAX], group_nice[PARAM_LIST_MAX];
	struct slice_probe in = { .nice = nice, .group_nice = group_nice,
				  .group_shares = (u64)param_num(v, P_GROUP_SHARES) };

	in.nr = take(v, P_NICE, nice);
	in.nr_group = take(v, P_GROUP_NICE, group_nice);
	sched_probe_slice(ctx->sched_config, &in, (s32)param_num(v, P_NEWCOMER), out);
	ctx->answer = out;
	return 0;
}

static void row(const struct wl_ctx *ctx, const char *arm, const char *where, s64 nice,
		const struct slice_answer *a)
{
	struct json *j = probe_begin(ctx, arm);

	json_str(j, "task", where);
	json_s64(j, "nice", nice);
	json_u64(j, "slice_ns", a->slice_ns);
	json_u64(j, "vslice_ns", a->vslice_ns);
	probe_end(ctx, j);
	console_printf("%-16s %-10s %4lld %12llu %12llu", arm, where, (long long)nice,
		       (unsigned long long)a->slice_ns, (unsigned long long)a->vslice_ns);
}

static void slice_report(const struct wl_ctx *ctx, const char *arm, bool first)
{
	const struct param_values *v = ctx->v;
	const struct slice_answer *out = ctx->answer;

	if (first)
		probe_heading(ctx, "%-16s %-10s %4s %12s %12s", "arm", "task", "nice", "slice_ns",
			      "vslice_ns");
	for (u32 i = 0; i < v->p[P_NICE].nr; i++)
		row(ctx, arm, "root", v->p[P_NICE].v[i], out++);
	for (u32 i = 0; !param_unset(v, P_GROUP_NICE) && i < v->p[P_GROUP_NICE].nr; i++)
		row(ctx, arm, "group", v->p[P_GROUP_NICE].v[i], out++);
	row(ctx, arm, "newcomer", param_num(v, P_NEWCOMER), out);
}

static const struct workload slice = {
	.kind = WORKLOAD_PROBE, .name = "slice",
	.help = "how long the tasks of a queue may run before it is others' turn",
	.spec = "cfs-core.md section 6",
	.params = slice_params, .nr_params = ARRAY_SIZE(slice_params),
	.run = slice_run, .report = slice_report,
};
WORKLOAD(slice);
