/* SPDX-License-Identifier: MIT */
/* What a command prints about its runs: frames for tools, tables for people. */
#ifndef KERNEL_REPORT_H
#define KERNEL_REPORT_H

#include "plan.h"
#include "run.h"

void report_header(const struct cmdline *cl, const struct rig *rig, u32 booted);

/* result and counters frames of one run. False when its measured window was too
 * short to count as settled. */
bool report_run(const struct cmdline *cl, const struct rig *rig, const struct plan_point *point,
		const struct plan_run *run, const struct run_result *r);

/* All runs of one point: summary frames, and a row per variant for the table.
 * values[arm * runs + run], arms counted from the first of the workload's; settled: no measured window was too short. */
void report_point(const struct cmdline *cl, const struct plan_point *point, const s64 *values,
		  bool settled);

/* The table of the points since the last call, of the bench-th workload. */
void report_table(const struct cmdline *cl, u32 bench);

/* Memory for the tables; once, before the first run. */
void report_init(const struct cmdline *cl, struct arena *a);

/* calibrate=on: adds up what a run measured, and prints it as lines of costs.def. */
void calibrate_add(void);
void calibrate_print(void);

#endif
