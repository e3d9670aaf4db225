/* SPDX-License-Identifier: MIT */
/*
 * How a placement came about, and a what-if on one: probe=place. Behaviour:
 * spec/idle-search.md sections 4 and 7.
 */
#ifndef SCHED_PLACE_H
#define SCHED_PLACE_H

#include "sched.h"

/* Stages of select_idle_sibling, in the order of the unmodified search. */
enum place_stage {
	STAGE_TARGET,     /* the target itself idled */
	STAGE_PREV,
	STAGE_RECENT,
	STAGE_CORE,
	STAGE_CORE_FIRST, /* CORE_FIRST: a thread of the target's core */
	STAGE_CPU,
	STAGE_SMT,
	STAGE_NONE,       /* nothing idle found: the target */
	STAGE_NR
};

extern const char *const place_stage_name[STAGE_NR]; /* "target", "core_first", ... */

/* Why a placement is what it is. */
struct placement {
	enum place_stage stage;
	bool scanned;     /* the CPU scan ran; else the rest is 0 */
	u64 nr, visits;   /* its budget, and CPUs it came by */
	u64 scan_ns;
	bool budget_out, avg_updated;
};

/* State of the machine at one decision. CPUs are below the topology's number. */
struct place_probe {
	const struct cpumask *busy, *allowed; /* allowed names an online CPU */
	u32 this_cpu, prev, target, recent;
	bool has_idle_cores;
	s32 next_cpu;           /* of target; -1: none */
	u64 avg_idle_ns;        /* the waker's */
	u64 avg_scan_cost_ns;   /* of the waker's LLC domain */
	s32 latency_nice;
};

struct place_probe_result {
	u32 cpu, chosen;        /* after and before the affinity fallback */
	struct placement why;
	s32 next_cpu;           /* state after it */
	bool has_idle_cores;
	u32 recent;
};

/*
 * A what-if: wakes a task `wakes` times without enqueueing it. Every wake starts
 * from the probe's averages; next_cpu, flag and recent_used_cpu are carried on.
 * Builds a scheduler of its own from cfg, so a running one is not touched; the
 * calling CPU must be in->this_cpu, as a task or with interrupts off. (sync)
 * out: [wakes].
 */
void sched_probe_place(const struct sched_config *cfg, const struct place_probe *in, u32 wakes,
		       struct place_probe_result *out);

#endif
