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

/* Their parameters, in a workload's table from index `base` on. */
enum messengers_param {
	MESSENGERS_NR, MESSENGERS_WORKERS, MESSENGERS_SPIN, MESSENGERS_SLEEP, MESSENGERS_PARAMS
};

#define MESSENGERS_PARAM_TABLE(base, nr_tag, nr_def, workers_def)                              \
	[(base) + MESSENGERS_NR] = { .name = "messengers", .min = 1, .max = 10000,             \
				     .per_machine = true, .tag = nr_tag, .def = nr_def,        \
				     .help = "message threads (-m)" },                         \
	[(base) + MESSENGERS_WORKERS] = { .name = "workers", .min = 1, .max = 10000,           \
					  .per_machine = true, .tag = 'P', .def = workers_def, \
					  .help = "workers of each of them (-t)" },            \
	[(base) + MESSENGERS_SPIN] = { .name = "spin_ms", .digits = 6, .min = 1000,            \
				       .max = 10000000000, .tag = 'S', .def = "30",            \
				       .help = "how long a worker spins, by its clock" },      \
	[(base) + MESSENGERS_SLEEP] = { .name = "sleep_ms", .digits = 6, .min = 1000,          \
					.max = 10000000000, .tag = 'S', .def = "30",           \
					.help = "how long a messenger sleeps after a post; "   \
						"up to a quarter on top" }

/* What is reported of their latency: a workload's first metrics. */
enum messengers_metric {
	LATENCY_P99, LATENCY_P50, LATENCY_P75, LATENCY_P90, LATENCY_P95, LATENCY_P995, LATENCY_P999,
	LATENCY_METRICS
};

#define LATENCY_METRIC(name, nth) { name, 0, METRIC_LOWER, nth " percentile of wake-up latency" }
#define LATENCY_METRIC_TABLE                                                                   \
	[LATENCY_P99] = LATENCY_METRIC("p99_us", "99th"),                                      \
	[LATENCY_P50] = LATENCY_METRIC("p50_us", "50th"),                                      \
	[LATENCY_P75] = LATENCY_METRIC("p75_us", "75th"),                                      \
	[LATENCY_P90] = LATENCY_METRIC("p90_us", "90th"),                                      \
	[LATENCY_P95] = LATENCY_METRIC("p95_us", "95th"),                                      \
	[LATENCY_P995] = LATENCY_METRIC("p99_5_us", "99.5th"),                                 \
	[LATENCY_P999] = LATENCY_METRIC("p99_9_us", "99.9th")

/* The same for struct workload's percentiles. */
#define LATENCY_PERCENTILES                                                                    \
	[LATENCY_P50] = 50000, [LATENCY_P75] = 75000, [LATENCY_P90] = 90000,                   \
	[LATENCY_P95] = 95000, [LATENCY_P99] = 99000, [LATENCY_P995] = 99500,                  \
	[LATENCY_P999] = 99900

struct messengers_config {
	u32 messengers, workers; /* workers of each */
	u64 spin_ns, sleep_ns;
	u32 unit;                /* of them all: struct task_attr */
};

/* As the parameters from index `base` on say. */
struct messengers_config messengers_config(const struct wl_ctx *ctx, u32 base);

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
