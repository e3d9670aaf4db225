/* SPDX-License-Identifier: MIT */
/*
 * How a placement came about, and a what-if on one: probe=place. Behaviour:
 * spec/idle-search.md sections 4 and 7.
 */
#ifndef SCHED_PLACE_H
#define SCHED_PLACE_H

#include "sched.h"

/* What a CPU is chosen for. */
enum select_kind { SELECT_WAKE, SELECT_FORK, SELECT_EXEC };

/* Stages of select_idle_sibling; stages.def. */
enum place_stage {
#define STAGE(id, name, help) STAGE_##id,
#include "stages.def"
#undef STAGE
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
	u32 this_cpu, prev, target, recent; /* online */
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
 * A what-if: wake-ups that enqueue nothing, on a scheduler of their own built from
 * cfg (in its arena), so that a running one is not touched. Sync points and costs
 * are the real ones; setting the machine up costs nothing.
 */
struct place_prober;
struct place_prober *sched_prober_create(const struct sched_config *cfg);

/*
 * Wakes one task. Masks, CPUs, averages and latency_nice are set from in each time;
 * next_cpu, flag and recent only if fresh, else they are as the last ask left them
 * (next_cpu: of every target). The first ask is fresh. The calling CPU must be
 * in->this_cpu, as a task or with interrupts off. (sync)
 */
void sched_prober_ask(struct place_prober *prober, const struct place_probe *in, bool fresh,
		      struct place_probe_result *out);

#endif
