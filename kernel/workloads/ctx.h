/* SPDX-License-Identifier: MIT */
/* One run of a workload, as its tasks see it. kernel/run.c makes it. */
#ifndef WORKLOADS_CTX_H
#define WORKLOADS_CTX_H

#include "../task.h"
#include "workload.h"

#define WL_METRICS_MAX 16
#define WL_SERIES_MAX 4
#define WL_HISTS_MAX 4

/* Figures of a run that are one per something: go into the counters frame. */
struct wl_series {
	const char *name; /* field, with its unit */
	const u64 *v;     /* in the run's arena */
	u32 nr;
};

/* The same for distributions. */
struct wl_hist {
	const char *name;
	const struct hist *h;
};

/* CPU work done by the run's tasks, as programs and for them in the kernel. */
struct wl_work {
	u64 user_ns, kernel_ns;
};

struct wl_ctx {
	const struct workload *w;
	const struct param_values *v;
	const struct sched_vector *vector; /* of the arm */
	const struct sched_topo *topo;
	const struct sched_config *sched_config; /* the run's, for schedulers beside it */
	struct arena *arena;
	s64 metric[WL_METRICS_MAX]; /* by the workload's table */
	u64 samples;                /* of which its percentiles are made */
	u64 begin_ns, end_ns;       /* the measured window */
	u32 checks_failed;
	struct wl_series series[WL_SERIES_MAX];
	u32 nr_series;
	struct wl_hist hist[WL_HISTS_MAX];
	u32 nr_hists;
	struct env_line stop_line;  /* stop */
	bool stop;                  /* timed workloads: leave */
	struct wl_work work, work_window; /* workloads/work.h */
	const void *answer;         /* probes: for report(); in the run's arena */
};

#define WL_VERDICT_LINES 16

/* What all runs of one point of a scenario left, and what its judge says of them. */
struct wl_verdict {
	const struct workload *w;
	const struct param_values *v;
	u32 nr_arms, runs;
	const char *const *arm;                     /* [nr_arms]: names */
	const struct sched_vector *const *vector;   /* [nr_arms] */
	const s64 *metric;                          /* [nr_arms][runs][WL_METRICS_MAX] */
	char line[WL_VERDICT_LINES][160];
	u32 nr_lines;
};

static inline s64 verdict_metric(const struct wl_verdict *d, u32 arm, u32 run, u32 m)
{
	return d->metric[(arm * d->runs + run) * WL_METRICS_MAX + m];
}

/* Sum over the seeds. */
s64 verdict_sum(const struct wl_verdict *d, u32 arm, u32 m);

/* One line of the verdict; those beyond WL_VERDICT_LINES are dropped. */
void verdict_say(struct wl_verdict *d, const char *f, ...) printf_like(2, 3);

/* A self-check of the workload; prints what failed, which fails the run. */
void wl_check(struct wl_ctx *ctx, bool ok, const char *f, ...) printf_like(3, 4);

/* ns varied by jitter_pct, from the calling task's generator. */
u64 wl_vary(const struct wl_ctx *ctx, u64 ns);

/* Allows the calling task that CPU only, and moves there. The CPU is online. (sync) */
void wl_run_on(const struct wl_ctx *ctx, u32 cpu);

/* Sleeps 0 to 100 us, drawn from the calling task's generator: the start that a
 * seed gives each task (DESIGN section 5). */
void wl_start_delay(void);

/* Timed workloads: the first task waits warmup_s, calls begin, waits runtime_s,
 * calls end, and raises stop. The window is from begin to end. */
void wl_timed_window(struct wl_ctx *ctx, void (*begin)(struct wl_ctx *ctx),
		     void (*end)(struct wl_ctx *ctx));

/* Raises stop. (sync) */
void wl_stop(struct wl_ctx *ctx);

/* Whether to leave; a read of a shared line. */
bool wl_stopped(struct wl_ctx *ctx);

void wl_series_add(struct wl_ctx *ctx, const char *name, const u64 *v, u32 nr);

/* Puts a histogram into the counters frame; h stays as it is until the run's end. */
void wl_hist_add(struct wl_ctx *ctx, const char *name, const struct hist *h);

/* Sets all metrics that are percentiles of the workload's samples, in h's unit,
 * and their number. */
void wl_percentiles(struct wl_ctx *ctx, const struct hist *h);

/* Sums a counter over all CPUs; exact in lockstep, racy in live mode. */
u64 wl_counter_sum(size_t offset);
#define wl_counter(field) wl_counter_sum(offsetof(struct sched_counters, field))

#endif
