/* SPDX-License-Identifier: MIT */
/* Instances of a benchmark in percent of the CPUs (spec/workloads.md section 0). */
#ifndef WORKLOADS_NR_PCT_H
#define WORKLOADS_NR_PCT_H

#include "ctx.h"

#define NR_PCT_PARAM                                                                 \
	{ .name = "nr_pct", .min = 1, .max = 10000, .tag = 'P', .def = "1,25,50,75,100", \
	  .help = "instances, in percent of the CPUs" }

/* C * x / 100, rounded; at least one. */
static inline u32 nr_pct_instances(const struct wl_ctx *ctx, u32 param)
{
	u32 n = (u32)(((u64)ctx->topo->nr_cpus * (u64)param_num(ctx->v, param) + 50) / 100);

	return n ? n : 1;
}

/* Tasks of published network benchmarks sat in a group below the root. */
static inline u32 nr_pct_group_depth(const struct param_values *v)
{
	(void)v;
	return 1;
}

#endif
