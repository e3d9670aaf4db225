/* SPDX-License-Identifier: MIT */
/* Scenarios: the figures of a point's runs, and what the scenario's judge says. */
#ifndef KERNEL_VERDICT_H
#define KERNEL_VERDICT_H

#include "plan.h"
#include "workloads/ctx.h"

/* Memory for the figures of that many runs. Once; without it nothing is kept. */
void verdict_init(u32 runs, struct arena *a);

/* The k-th run of the current point, arms outer and seeds inner. */
void verdict_add(u32 k, const struct wl_ctx *ctx);

/* All runs of the point were added: verdict frame and text. True: it holds. */
bool verdict_give(const struct cmdline *cl, const struct plan_point *point);

#endif
