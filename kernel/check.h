/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_CHECK_H
#define KERNEL_CHECK_H

#include "workloads/ctx.h"

/* When a run has ended in good order and all CPUs stand still: prints a line for
 * each invariant that does not hold, and the state. Returns how many. */
u32 check_run(const struct wl_ctx *ctx, struct sched *s);

#endif
