/* SPDX-License-Identifier: MIT */
/*
 * Message threads that wake their workers in batches, all in one process
 * (spec/workloads.md section 3): what schbench is, and what others put beside a
 * load. What counts is how long a worker waits from the clock that its batch was
 * stamped with until it runs. One set at a time.
 */
#ifndef WORKLOADS_MESSENGERS_H
#define WORKLOADS_MESSENGERS_H

#include "ctx.h"

struct messengers_config {
	u32 messengers, workers; /* workers of each */
	u64 spin_ns, sleep_ns;
	u32 unit;                /* of them all: struct task_attr */
};

/* Forks them from the calling task. They end when the workload raises its stop. (sync) */
void messengers_start(struct wl_ctx *ctx, const struct messengers_config *cfg);

/* The window's edges: what workers measure in between counts. */
void messengers_window_begins(void);
void messengers_window_ends(void);

/* Of all workers, in us. */
const struct hist *messengers_latency(void);

/* The shortest and the longest of the workers' mean periods, in us; max 0: none had any. */
void messengers_periods(u64 *min_us, u64 *max_us);

#endif
