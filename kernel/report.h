/* SPDX-License-Identifier: MIT */
/* What a command prints about its runs: frames for tools, tables for people. */
#ifndef KERNEL_REPORT_H
#define KERNEL_REPORT_H

#include "plan.h"
#include "run.h"

void report_header(const struct cmdline *cl, const struct rig *rig, u32 booted);

/* result and counters frames of one run that went well. */
void report_run(const struct cmdline *cl, const struct rig *rig, const struct plan_point *point,
		const struct plan_run *run, const struct run_result *r);

/* Keeps the figures of one run for its point. */
void report_note(const struct cmdline *cl, const struct plan_point *point,
		 const struct plan_run *run, const struct run_result *r);

/* All runs of one point, none of which failed: summary frames, and rows for the
 * table, one per metric and variant. */
void report_point(const struct cmdline *cl, const struct plan_point *point);

/* The table of the points since the last call, of the bench-th workload. */
void report_table(const struct cmdline *cl, u32 bench);

/* Memory for tables and points; once, before the first run. */
void report_init(const struct cmdline *cl, struct arena *a);

/* Whether the measured window was long enough to count as settled. */
bool report_settled(const struct run_result *r);

/* The metric is a percentile, and of too few samples to be shown to people. */
bool report_too_few(const struct workload *w, u32 metric, u64 samples);
#define REPORT_TOO_FEW "too few"

/* calibrate=on: adds up what a run measured, and prints it as lines of costs.def. */
void calibrate_add(void);
void calibrate_print(void);

/* ---- report_profile.c: where CPU time went --------------------------------------- */

/* Names of costs.def, and "outside" of all. */
extern const char *const path_names[PATH_NR + 1];

void profile_init(const struct cmdline *cl, struct arena *a);

/* Right after a run that did not fail: adds it to its arm's. */
void profile_note(const struct plan_run *run, const struct run_result *r);

/* The point's arms become rows, if there were task groups. */
void profile_point(const struct cmdline *cl, const struct plan_point *point);

/* Prints the rows so far. */
void profile_table(void);

/* All paths of the run just over. */
void profile_run(const char *name, const struct run_stats *st);

#endif
