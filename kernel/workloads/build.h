/* SPDX-License-Identifier: MIT */
/*
 * A parallel build (spec/workloads.md section 10): a maker that keeps so many jobs
 * alive, each a chain of three processes that are forked, exec and wait for their
 * child. One build at a time.
 */
#ifndef WORKLOADS_BUILD_H
#define WORKLOADS_BUILD_H

#include "work.h"

/* What both workloads that build declare, from their first parameter on. */
enum build_param {
	BUILD_JOBS, BUILD_JOB, BUILD_SIGMA, BUILD_KERNEL_PCT, BUILD_BURST, BUILD_IO_PCT, BUILD_IO,
	BUILD_MAKER, BUILD_PARAMS
};

#define BUILD_PARAM_TABLE                                                                      \
	[BUILD_JOBS] = { .name = "jobs", .min = 1, .max = 100000, .per_machine = true,         \
			 .tag = 'P', .def = "2.7C", .help = "live at once (-j)" },             \
	[BUILD_JOB] = { .name = "job_ms", .digits = 6, .min = 1000, .max = 30000000000,        \
			.tag = 'G', .def = "300",                                              \
			.help = "mean CPU work of a job, lognormal" },                         \
	[BUILD_SIGMA] = { .name = "sigma", .digits = 3, .min = 0, .max = 2000, .tag = 'G',     \
			  .def = "1", .help = "of its logarithm, and of the bursts'" },        \
	[BUILD_KERNEL_PCT] = { .name = "kernel_pct", .min = 0, .max = 100, .tag = 'G',         \
			       .def = "10", .help = "of the work that is done in the kernel" }, \
	[BUILD_BURST] = { .name = "burst_ms", .digits = 6, .min = 1000, .max = 30000000000,    \
			  .tag = 'G', .def = "5",                                              \
			  .help = "mean work between two looks at the pipe or the disk" },     \
	[BUILD_IO_PCT] = { .name = "io_pct", .min = 0, .max = 100, .tag = 'G', .def = "20",    \
			   .help = "bursts that end in a read of the disk" },                  \
	[BUILD_IO] = { .name = "io_us", .min = 0, .max = 1000000, .tag = 'G', .def = "200",    \
		       .help = "its time" },                                                   \
	[BUILD_MAKER] = { .name = "maker_ms", .digits = 6, .min = 0, .max = 30000000000,       \
			  .tag = 'G', .def = "1",                                              \
			  .help = "work of the maker before it starts a job" }

struct build_config {
	u64 total;     /* jobs; 0: until the workload's stop, which also ends those alive */
	u32 link_pct;  /* work of one task at the end, in percent of that of all jobs */
	u32 unit;      /* of the maker and all that it starts: struct task_attr */
};

/* What became of it. */
struct build_figures {
	u64 jobs, most_alive;   /* finished; at once */
	u64 jobs_cpu_ns;        /* CPU time of their processes */
	u64 cpu_ns, user_ns;    /* of all processes, and of it inside user work */
	u64 drawn_ns;           /* work that was to be done, by jobs, maker and link */
	u64 io_sleeps, pipe_sleeps;
	u64 child_waits;        /* not all of which slept */
};

/* Forks the maker from the calling task. (sync) */
void build_start(struct wl_ctx *ctx, const struct build_config *cfg);

/* Jobs finished so far. */
u64 build_jobs(void);

/* When the calling task's children have exited. */
const struct build_figures *build_figures(void);

/* Self-check 7: never more than jobs= alive; and what was drawn was done. */
void build_check(struct wl_ctx *ctx);

#endif
