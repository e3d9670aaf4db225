/* SPDX-License-Identifier: MIT */
/*
 * The only view of the machine that the scheduler has: per CPU a handful of
 * dense group numbers, the masks of each group, and the domain tree built from
 * them (spec/topology.md section 5). Filled by kernel/topology.c from APIC IDs
 * or from a simulated shape; built by hand in unit tests.
 */
#ifndef SCHED_TOPO_H
#define SCHED_TOPO_H

#include "../kernel/lib/arena.h"
#include "../kernel/lib/cpumask.h"
#include "plant.h"

enum topo_level { TOPO_SMT, TOPO_LLC, TOPO_DIE, TOPO_PKG, TOPO_NODE, TOPO_NR_LEVELS };

struct topo_cpu {
	u32 apic;
	u32 core, llc, die, pkg, node; /* dense machine-wide numbers, by first appearance */
	u32 thr;                       /* rank within the core */
	bool online;
};

struct sched_topo {
	u32 nr_cpus;
	struct topo_cpu *cpu;           /* [nr_cpus] */
	u32 nr_cores, nr_llcs, nr_dies, nr_pkgs, nr_nodes;
	u32 smt_max, smt_min;           /* sibling weights over online CPUs */
	struct cpumask *group[TOPO_NR_LEVELS]; /* online members, by group number */
	u32 *sibling_weight;            /* [nr_cpus]; 0 when offline */
	u8 *distance;                   /* [nr_nodes * nr_nodes], SLIT units */
	enum sched_plant plant;         /* debug builds */
};

/* The CPU's group number at a level. */
static inline u32 topo_group(const struct topo_cpu *c, enum topo_level level)
{
	switch (level) {
	case TOPO_SMT:
		return c->core;
	case TOPO_LLC:
		return c->llc;
	case TOPO_DIE:
		return c->die;
	case TOPO_PKG:
		return c->pkg;
	default:
		return c->node;
	}
}

/* Online CPUs that share the level with cpu. */
static inline const struct cpumask *topo_mask(const struct sched_topo *t, enum topo_level level,
					      u32 cpu)
{
	return &t->group[level][topo_group(&t->cpu[cpu], level)];
}

/* True when some core has two online threads. */
static inline bool topo_has_smt(const struct sched_topo *t)
{
	return t->smt_max > 1;
}

enum topo_dist { DIST_SELF, DIST_SMT, DIST_LLC, DIST_PKG, DIST_REMOTE, DIST_NR };

/* How far apart two CPUs are, for costs and histograms: same CPU, same core,
 * same LLC, same package, other package. */
static inline enum topo_dist topo_distance(const struct sched_topo *t, u32 a, u32 b)
{
	const struct topo_cpu *x = &t->cpu[a], *y = &t->cpu[b];

	return a == b		? DIST_SELF
	     : x->core == y->core ? DIST_SMT
	     : x->llc == y->llc	? DIST_LLC
	     : x->pkg == y->pkg	? DIST_PKG
				: DIST_REMOTE;
}

/* Fills group masks, counts, smt_min/max and sibling weights from cpu[].
 * Called once the keys are set; needs t zeroed apart from nr_cpus, cpu and
 * distance, or built before (the masks are then filled anew in place). */
void topo_build_masks(struct sched_topo *t, struct arena *a);

/* The first CPU whose sibling weight is not the number of online threads of its
 * core (0 when offline), or nr_cpus: idle-search.md section 9, I10. */
u32 topo_wrong_weight(const struct sched_topo *t);

/* cpu's sibling weight as v3 of the series computed it when the CPUs came up in
 * ascending order: a thread counts the siblings before it and itself, and those are
 * not weighed again. 0 when offline. Source: spec/idle-search.md section 7.2. */
u32 topo_weight_v3(const struct sched_topo *t, u32 cpu);

/* Takes a CPU in or out: masks first, then the weight of every member of the
 * affected core. In place, so the spans of domains built before change with
 * it: build them again before anything uses them. No effect if unchanged.
 * The caller excludes readers. */
void topo_set_online(struct sched_topo *t, u32 cpu, bool online);

enum sd_flag {
	SD_LOAD_BALANCE = 1 << 0,
	SD_BALANCE_NEWIDLE = 1 << 1,
	SD_BALANCE_EXEC = 1 << 2,
	SD_BALANCE_FORK = 1 << 3,
	SD_BALANCE_WAKE = 1 << 4, /* never set on a symmetric machine */
	SD_WAKE_AFFINE = 1 << 5,
	SD_PREFER_SIBLING = 1 << 6,
	SD_SHARE_CPUCAPACITY = 1 << 7,
	SD_SHARE_PKG_RESOURCES = 1 << 8,
	SD_SERIALIZE = 1 << 9,
	SD_NUMA = 1 << 10,
};

struct sched_group {
	struct sched_group *next;   /* circular; the first is the local group */
	const struct cpumask *span;
	u32 weight;
};

/* One copy per CPU and level, smallest first. */
struct sched_domain {
	struct sched_domain *parent, *child;
	struct sched_group *groups;
	const struct cpumask *span;
	const char *name;           /* SMT, MC, PKG, DIE, NUMA */
	u32 span_weight;            /* online CPUs */
	u32 flags;                  /* enum sd_flag */
	u32 imbalance_pct, busy_factor;
	u32 min_interval_ms, max_interval_ms;
	u64 avg_scan_cost_ns;       /* select_idle_cpu; spec/idle-search.md section 4 */
};

struct sched_domains {
	struct sched_domain **bottom; /* [nr_cpus]; NULL: the CPU has no domain */
	struct sched_domain **llc;    /* [nr_cpus] sd_llc, NULL if none */
	u32 *llc_id;                  /* [nr_cpus] lowest CPU of sd_llc's span, else the CPU */
	u32 *llc_size;                /* [nr_cpus] */
	u32 nest_warnings;            /* WARN NEST: spans that had to be widened */
	const char *nest_level;       /* the first of them: its level and a member; */
	u32 nest_cpu;                 /* NULL and 0 if none */
};

/* Builds every CPU's chain (spec/topology.md section 5). pkg_level is feature
 * SD_PKG. Memory from a; spans, and groups where their order allows it, are
 * shared between CPUs. An offline CPU has no domain, llc_id itself, llc_size 1. */
void domains_build(struct sched_domains *d, const struct sched_topo *t, bool pkg_level,
		   struct arena *a);

#endif
