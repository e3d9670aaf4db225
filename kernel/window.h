/* SPDX-License-Identifier: MIT */
/*
 * What a run is measured by. Timed workloads are measured from the end of their
 * warm-up to the end of their window (spec/workloads.md section 0), all others from
 * start to end: one set of sums, and the difference of two.
 */
#ifndef KERNEL_WINDOW_H
#define KERNEL_WINDOW_H

#include "task.h"

/* Sums over all CPUs so far. Nothing but u64: they are subtracted as one array. */
struct run_stats {
	u64 at_ps;                       /* virtual time */
	struct sched_counters counters;
	u64 idle_ps, work_ps, lock_wait_ps, irqs;
	u64 path_count[PATH_NR + 1], path_time_ps[PATH_NR + 1];
	u64 path_line_ps[PATH_NR + 1], path_lock_ps[PATH_NR + 1];
	struct line_stats lines[LINE_NR_KINDS];
	struct refill_stats refills;
};

/* Before a run: nothing is measured yet. timed: not until window_begin(). */
void window_init(bool timed);

/* Called by the run's first task. Live: while the others go on, so what is not atomic
 * counts for the whole run then: all but counters and latencies. Costs no virtual time. */
void window_begin(void);
void window_end(void);

/* Wake-ups count now. Any context. */
bool window_open(void);

/* When all CPUs stand still: what the window was measured by, the whole run if it had
 * none; at_ps: its length. */
void window_result(struct run_stats *out);

#endif
