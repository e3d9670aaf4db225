/* SPDX-License-Identifier: MIT */
/* One run: one workload at one point of the sweep, one arm, one seed, from a
 * reset arena at virtual time 1 s. */
#ifndef KERNEL_RUN_H
#define KERNEL_RUN_H

#include "stats/hist.h"
#include "window.h"
#include "workloads/ctx.h"

/* What all runs of a command share. */
struct rig {
	const struct sched_topo *topo;
	const struct machine *machine;
	const struct executor *exec;
	struct arena *arena;
	size_t arena_mark;          /* runs use what lies behind */
	u32 hz;
	u64 slack_ps, vlimit_ps;
	bool cost_insn, reads_shared, trace;
	enum sched_plant plant;     /* debug builds */
};

struct run_spec {
	const struct workload *workload;
	const struct param_values *values;
	const struct sched_vector *vector;
	u64 seed;
};

struct run_result {
	struct wl_ctx ctx;
	bool failed;                /* hung, or a check failed */
	u64 vtime_ns;
	struct run_stats stats;     /* of the measured part */
	struct hist wake_latency_ns;    /* wake-up to running */
	struct hist ln_latency_ns[LN_CLASSES]; /* and by the task's latency_nice */
	u64 host_ns, instructions, switches;
};

/* Results that point into the arena are valid until the next run. */
void run_execute(const struct rig *rig, const struct run_spec *spec, struct run_result *r);

#endif
