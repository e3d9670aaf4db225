/* SPDX-License-Identifier: MIT */
/*
 * Private to the idle search (idle_search.c, idle_core.c, idle_scan.c) and its
 * checks. Behaviour: spec/idle-search.md sections 4 and 7. In all of these p's
 * wake_lock is held and interrupts are off; what is read of other CPUs is a hint.
 */
#ifndef SCHED_IDLE_SEARCH_H
#define SCHED_IDLE_SEARCH_H

#include "place.h"
#include "sched_int.h"

#define CPU_NONE UINT32_MAX

/* One search, on the waker's stack. */
struct search {
	struct sched *s;
	struct sched_task *p;
	const struct sched_domain *sd; /* the target's LLC */
	u32 target;
	s32 ln;                        /* p's latency_nice */
	u32 start;                     /* where the CPU scan began */
	struct placement *why;
};

/* The first allowed thread of an idle core, from the target's on; CPU_NONE when there
 * is none, the flag says so, or p does not look for one. */
u32 select_idle_core(struct search *q);

/* Scans the LLC's CPUs within the budget; fills the scan's part of q->why. */
u32 select_idle_cpu(struct search *q);

/* The lowest idle thread of the target's core. */
u32 select_idle_smt(struct search *q);

/* Patch 6: online threads of cpu's core, counted or cached as SIB_WEIGHT says. */
u32 sibling_weight(struct sched *s, u32 cpu);

/* Patches 1 and 3 leave small caches alone. */
static inline bool limits_apply(const struct sched *s, const struct sched_domain *sd)
{
	return sd->span_weight > s->vector.value[TUN_LIM_MIN_LLC];
}

static inline bool search_rotates(const struct sched *s, const struct sched_domain *sd)
{
	return sched_feat(s, SIS_ROTATE) && limits_apply(s, sd);
}

/* LN_PACK: from here on a task shares a core with its like. */
#define LN_PACK_MIN 10

/* Whether p chooses between idle CPUs by what runs beside them. */
static inline bool search_prefers(const struct search *q)
{
	return sched_feat(q->s, LN_AVX) || (sched_feat(q->s, LN_PACK) && q->ln >= LN_PACK_MIN);
}

/* ---- check_place.c: debug builds ------------------------------------------------ */

#ifdef ANECHOIC_DEBUG

/* How things stood before a search. */
struct search_check {
	u64 changes;       /* of availability, so far */
	u64 core_searches; /* of this CPU, so far */
	u64 nr;            /* what the budget must be */
	u64 avg_scan_cost_ns;
};

void check_search_begin(struct search_check *c, const struct search *q);
void check_core_search(const struct search_check *c, const struct search *q, u32 found);
void check_cpu_scan(const struct search_check *c, const struct search *q, u32 found);

/* After the stages; cpu is their answer. */
void check_stage(const struct search *q, u32 prev, u32 cpu);

#else

struct search_check {
};

#define check_search_begin(c, q) ((void)(c))
#define check_core_search(c, q, found) ((void)(c))
#define check_cpu_scan(c, q, found) ((void)(c))
#define check_stage(q, prev, cpu) ((void)0)

#endif

#endif
