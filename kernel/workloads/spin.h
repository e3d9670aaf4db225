/* SPDX-License-Identifier: MIT */
/*
 * Endless loops (spec/workloads.md section 2) that count the work they finished, and
 * the CPU time that the kernel saw them run. One set at a time.
 */
#ifndef WORKLOADS_SPIN_H
#define WORKLOADS_SPIN_H

#include "ctx.h"

enum spin_pin { PIN_NONE, PIN_ONE, PIN_EACH, PIN_CORE };

struct spin_config {
	u32 n;
	u64 burst_ns;                   /* between two looks at the stop flag */
	enum spin_pin pin;              /* the i-th to CPU 0, to CPU i, to core i's first */
	const struct param_value *nice; /* dealt out in turn; NULL: 0 */
};

#define SPIN_SPREAD_TICKS 10 /* by then they are where they run, wherever they started */

/* Of each spinner over the window; before its end, at its start. */
struct spin_window {
	u64 *cpu_ns, *work_ns, *migrations;
	/* After spin_figures(): */
	u64 all_cpu_ns, all_work_ns, min_cpu_ns, max_cpu_ns;
};

/* Forks them from the calling task. They end when the workload raises its stop. (sync) */
void spin_start(struct wl_ctx *ctx, const struct spin_config *cfg);

/* The window's begin and its end. */
void spin_edge(struct wl_ctx *ctx);

/* What came of the window. */
const struct spin_window *spin_figures(void);

#endif
