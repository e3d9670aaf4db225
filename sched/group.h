/* SPDX-License-Identifier: MIT */
/*
 * Task groups: their parts, their weight, and how load passes through them.
 * spec/group-load.md and spec/cfs-core.md section 10. Letters behind fields as in
 * sched_int.h, which includes this; g: guarded by sched.group_lock.
 */
#ifndef SCHED_GROUP_H
#define SCHED_GROUP_H

#include "sched.h"

struct rq;

/* Words of FEAT_TG_COUNTER, FEAT_TG_PUBLISH, FEAT_TG_WEIGHT and FEAT_REWEIGHT, in the
 * order of features.def. */
enum tg_counter_word { TG_COUNTER_SINGLE, TG_COUNTER_NODE };
enum tg_publish_word { TG_PUBLISH_IMMEDIATE, TG_PUBLISH_DELAY, TG_PUBLISH_RATE };
enum tg_weight_word { TG_WEIGHT_ALL, TG_WEIGHT_SKIP, TG_WEIGHT_TICK };
enum reweight_word { REWEIGHT_FULL, REWEIGHT_DELTA };

enum tg_state {
	TG_DEAD,     /* free to be used again */
	TG_CHANGING, /* begins or ends: CPU by CPU, under their rq locks */
	TG_ALIVE,
};

/* The group's load, or one node's part of it, in a line of its own. */
struct tg_load {
	struct env_line line;
	s64 value;                       /* a, line: scaled down; a node's may be negative */
} __attribute__((aligned(CACHE_LINE)));

/* A group has a queue on every CPU, and an entity for it in the parent's queue
 * there; the root group has no entities. A destroyed one stays in the list, is found
 * dead there and used again. */
struct task_group {
	struct task_group *parent;       /* c while it lives */
	struct task_group *next;         /* set once: list of all groups, root first */
	enum tg_state state;             /* who claims or frees it holds g */
	u32 nr_groups;                   /* g: below it */
	u32 nr_tasks;                    /* a: that have not let go of it */
	u32 depth;                       /* c while it lives */
	u64 shares;                      /* a: scaled weight */
	bool idle;                       /* a: cfs_rq.idle follows */
	bool has_latency_nice;           /* set last, cleared as it begins */
	s32 latency_nice;                /* racy: -20..19 */
	struct sched_entity **se;        /* c: [nr_cpus], NULL for the root */
	struct cfs_rq **cfs_rq;          /* c: [nr_cpus] */
	struct tg_load *load;            /* c: [nr_nodes], the first with TG_COUNTER=single */
};

/* Of one queue. r, read anywhere. */
struct tg_cpu_stats {
	u64 weight_updates, load_reads, published, below_threshold, rate_limited;
	u64 samples, formula_sum, formula_max, ideal_sum, ideal_max;
	u64 load_samples, load_sum, load_max;
};

/* ---- group_load.c: weight and load counters ------------------------------------ */

/* Where the weight of a group's entity is brought up to date; buckets of the
 * counters tg_weight_site and tg_skip_site. */
enum weight_site {
	WEIGHT_ENQUEUE,       /* it becomes queued */
	WEIGHT_DEQUEUE,       /* it leaves */
	WEIGHT_ENQUEUE_ABOVE, /* it is queued, and something joins below */
	WEIGHT_DEQUEUE_ABOVE, /* it stays, and something leaves below */
	WEIGHT_TICK,
	WEIGHT_SHARES,        /* shares or idleness of the group, or of one below, changed */
};

/* Gives the entity of a group its weight. rq lock held, clock current, se just
 * stepped. (sync) */
void update_group_weight(struct sched_entity *se, enum weight_site site);

static inline void update_cfs_group(struct sched_entity *se, enum weight_site site)
{
	if (se->my_q)
		update_group_weight(se, site);
}

/* Why a queue's load may have to be published; buckets of tg_publish_cause. */
enum publish_cause {
	PUBLISH_AGE, PUBLISH_ATTACH, PUBLISH_DETACH, PUBLISH_REMOVED, PUBLISH_PROPAGATE,
	PUBLISH_WALK,
};

/* Tells the group what q's load is, if it differs by enough. rq lock held. (sync) */
void update_tg_load_avg(struct cfs_rq *q, enum publish_cause cause);

/* The same, whatever the difference; teardown: q's load is as good as none. (sync) */
void publish_load(struct cfs_rq *q, bool teardown);

/* Sum of all counters, for nothing: a snapshot while publishes go on. */
s64 tg_load_peek(const struct sched *s, const struct task_group *tg);

/* ---- propagate.c: up the hierarchy --------------------------------------------- */

/* sum, in units of an entity's load_sum, joined or left q's load. rq lock held. */
void add_propagation(struct cfs_rq *q, s64 sum);

/* What was taken away from q without the lock; joins the above at once, or with
 * TG_PUBLISH=delay at the next occasion. */
void add_propagation_removed(struct cfs_rq *q, s64 sum);
void fold_removed(struct cfs_rq *q);

/* Carries what changed below se into se and its queue q, both stepped to the
 * present. True: something was pending. */
bool propagate_entity(struct cfs_rq *q, struct sched_entity *se);

/* Steps and carries on above se, whose attachment changed. (sync) */
void propagate_above(struct sched_entity *se);

/* ---- blocked.c: queues with load, and those that nobody steps -------------------- */

/* q has an entity, or load: it and what is above it is walked from now on. */
void list_leaf_queue(struct cfs_rq *q);
void unlist_leaf_queue(struct cfs_rq *q);

/* Steps all queues of the CPU that have load, children first, and forgets those that
 * have none left. rq lock held, clock current; pays for the state line. (sync) */
void update_blocked_load(struct rq *rq);

/* rq lock held, clock current, on a busy CPU's tick: the same when its balance is due. */
void blocked_load_on_tick(struct rq *rq);

/* No lock held, interrupts off, on every tick: the housekeeping CPU does it for
 * CPUs that idle. (sync) */
void blocked_load_of_idle(struct rq *rq);

/* ---- group.c ----------------------------------------------------------------------- */

void init_root_group(struct sched *s);

/* One more task in tg, or one less that may look at it. */
static inline void tg_get(struct task_group *tg)
{
	if (tg->parent)
		__atomic_fetch_add(&tg->nr_tasks, 1, __ATOMIC_RELAXED);
}

static inline void tg_put(struct task_group *tg)
{
	if (tg->parent)
		__atomic_fetch_sub(&tg->nr_tasks, 1, __ATOMIC_RELEASE);
}

/* Of the nearest group that has one, tg included; else 0. */
s32 group_latency_nice(const struct task_group *tg);

/* ---- group_sample.c ------------------------------------------------------------------ */

/* How far off are the weights of the groups queued on this CPU? rq lock held, at a
 * tick. Costs no virtual time. */
void sample_groups(struct rq *rq);

/* ---- check_group.c -------------------------------------------------------------------- */

/* rq lock held, or all stand still. */
void check_group(struct cfs_rq *q);
void check_leaf_list(struct rq *rq);

/* No publish under way. */
void check_tg_load(struct sched *s);

#endif
