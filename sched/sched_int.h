/* SPDX-License-Identifier: MIT */
/*
 * Private to sched/ and its tests: runqueues, groups, the policy table and what
 * the files of this folder call of each other, grouped by the file that owns it.
 *
 * Legend of the letters behind fields:
 *   c  constant after sched_create()
 *   r  guarded by the rq lock of that CPU
 *   R  written under r after env_line_write(state_line), read anywhere with
 *      __atomic loads after env_line_read(state_line)
 *   l  only touched by the CPU itself, interrupts off
 *   a  atomic, in the shared line named beside it
 */
#ifndef SCHED_SCHED_INT_H
#define SCHED_SCHED_INT_H

#include "../kernel/lib/string.h"
#include "group.h"
#include "place.h"
#include "sched.h"

/* ---- units of weight: spec/cfs-core.md section 2 -------------------------- */

#define SCHED_FIXEDPOINT_SHIFT 10
#define NICE_0_LOAD (1ull << (2 * SCHED_FIXEDPOINT_SHIFT))
#define SCHED_CAPACITY 1024 /* of a CPU at full speed */
#define MIN_NICE (-20)
#define MAX_NICE 19

#define MIN_LATENCY_NICE (-20)
#define MAX_LATENCY_NICE 19

static inline u64 scale_load(u64 w)
{
	return w << SCHED_FIXEDPOINT_SHIFT;
}

/* ---- queues -------------------------------------------------------------- */

struct rq;

/* The entities of one group on one CPU. The tree, the buddies and min_vruntime
 * belong to the policy, the counts and the load to fair.c. */
struct cfs_rq {
	struct load_weight load;         /* r: sum over on_rq entities */
	u32 nr_running;                  /* r: direct entities, curr included */
	u32 h_nr_running;                /* r: tasks in the subtree */
	u32 idle_nr_running;             /* r: direct entities that are idle */
	u32 idle_h_nr_running;           /* R: of these, SCHED_IDLE or below an idle group */
	u64 min_vruntime;                /* R: ns at nice 0, wraps, never moves back */
	struct rb_tree tree;             /* r: on_rq entities but curr */
	struct sched_entity *curr;       /* r: runs, or is an ancestor of what runs */
	struct sched_entity *next, *last, *skip; /* r: buddies */
	struct sched_avg avg;            /* R */
	struct {
		struct env_lock lock;    /* innermost; wakers take it without the rq lock */
		u32 nr;                  /* a */
		u64 load_avg, util_avg, runnable_avg; /* a to read */
	} removed;                       /* averages of tasks that left asleep */
	bool idle;                       /* r: of an idle group */
	bool on_list;                    /* r: of rq->leaf_queues */
	u32 listed_children;             /* r: queues below it that are */
	struct list leaf_node;           /* r */
	u64 tg_load_avg_contrib;         /* r: what of avg.load_avg the group knows */
	u64 published_ns;                /* r: when it was last told; 0: never */
	bool propagate;                  /* r: prop_runnable_sum, util or runnable waits */
	s64 prop_runnable_sum;           /* r: to join the owner's load_sum */
	s64 prop_removed_sum;            /* r: TG_PUBLISH=delay: and what is held back of it */
	u64 runnable_load_weight;        /* r, v5.2: of on_rq entities, what of it is queued */
	u64 weighed_shares;              /* r: tg->shares at the owner's last update; 0: none */
	struct tg_cpu_stats stats;        /* r */
	u64 exec_clock;                  /* r: ns run by the entities of this queue */
	u64 checked_min_vruntime;        /* r: what check.c saw last */
	struct rq *rq;                   /* c */
	struct task_group *tg;           /* c */
};

/* What only the checks look at. */
struct rq_check {
	u64 pinned;                      /* l: wake-ups with one allowed CPU: no search */
	u64 nobody_ns;                   /* r: of clock_task, while no task ran */
	u64 put_clock;                   /* r: clock_task when the last one stopped */
	u64 changed;                     /* debug, lockstep: sched.availability_changes when
					    the idle search last began or ceased to see it
					    as available */
};

struct rq {
	struct env_lock lock;
	struct env_line state_line;      /* curr, nr_running and what else is marked R */
	struct env_line wake_line;       /* wake_list */
	struct sched *sched;             /* c */
	const struct sched_policy *policy; /* c */
	u32 cpu;                         /* c */
	u32 nr_running;                  /* R */
	struct sched_task *curr;         /* R */
	struct sched_task *idle;         /* c: after sched_set_idle_task() */
	struct sched_task *wake_list;    /* a, wake_line: newest first */
	bool need_resched;               /* set under r, cleared under r, read anywhere */
	u64 clock;                       /* r: ns, as of the last update_rq_clock() */
	u64 clock_task;                  /* r: clock without interrupt and steal time */
	u64 clock_pelt;                  /* r: clock_task as work done at full capacity */
	u64 lost_idle_time;              /* r: what clock_pelt skipped and PELT time does not */
	u64 clock_idle, clock_pelt_idle; /* R: clock and PELT time when it went idle */
	u64 capacity;                    /* c: of SCHED_CAPACITY */
	struct cfs_rq cfs;               /* the root group's queue */
	struct list tasks;               /* r: queued tasks, most recently run first */
	u64 idle_stamp;                  /* R: clock when it went idle, 0 when not */
	u64 avg_idle;                    /* r, read by this CPU without: idle-search.md section 5 */
	u64 max_idle_balance_cost;       /* c: without a balancer nothing raises it */
	struct env_line next_cpu_line;
	s32 next_cpu;                    /* a, next_cpu_line: where the rotating scan for this
					    target goes on; -1: at the target */
	u32 sibling_weight;              /* c: by SIB_WEIGHT=percpu, or as v3 computed it */
	struct list leaf_queues;         /* r: queues with load, children before parents */
	bool has_blocked;                /* r, read anywhere: some queue may have load left */
	u64 next_walk;                   /* r: tick of the next periodic one */
	bool in_idle_mask;               /* l: this CPU's bit in sched->idle_mask */
	struct sched_counters count;     /* l to change, with counter_add() */
	struct rq_check check;
};

/* What the CPUs of one last-level cache share; found by llc_id. */
struct llc_shared {
	struct env_line line;
	bool has_idle_cores;             /* a, line: a hint */
};

struct sched {
	const struct sched_topo *topo;   /* c */
	struct sched_vector vector;      /* c, but for sched_switch_vector() */
	const struct sched_policy *policy; /* c */
	struct arena *arena;             /* c */
	struct sched_domains domains;    /* c */
	u32 nr_cpus, hz;                 /* c */
	struct cpumask online;           /* c */
	struct rq *rq;                   /* c: [nr_cpus] */
	struct llc_shared *llc;          /* c: [nr_cpus], by llc_id */
	struct task_group root_tg;
	struct env_lock group_lock;      /* outside all others */
	bool groups;                     /* set once: there was another than the root */
	u32 housekeeper;                 /* c */
	u64 next_idle_walk;              /* l, by the housekeeper: a tick */
	/* ns, scaled; c as the vector */
	u64 latency, min_granularity, wakeup_granularity, idle_min_granularity;
	u32 nr_latency;
	struct env_line overload_line;
	bool overload;                   /* a, overload_line: some queue had two or more */
	struct env_line idle_mask_line;
	u32 idle_mask_weight;            /* a, idle_mask_line */
	struct cpumask idle_mask;        /* a, idle_mask_line: idled since their last busy tick */
	bool lockstep, punctual;         /* c */
	u64 availability_changes;        /* debug, lockstep: of all CPUs */
	enum sched_plant plant;          /* c, debug */
	u32 plant_occasions;             /* a, debug */
	void (*check_line)(const char *text); /* end of a run: takes violations. NULL: panic */
	u32 check_failures;
};

/* Words of FEAT_SIB_WEIGHT, in the order of features.def. */
enum sib_weight { SIB_WEIGHT_COUNT, SIB_WEIGHT_PERCPU, SIB_WEIGHT_PERCPU_V3 };

#define sched_feat(s, name) feat(&(s)->vector, FEAT_##name)

static inline bool profile_v64(const struct sched *s)
{
	return s->vector.profile == PROFILE_V6_4;
}

/* ---- accessors ----------------------------------------------------------- */

static inline struct rq *cpu_rq(const struct sched *s, u32 cpu)
{
	return &s->rq[cpu];
}

/* Interrupts off, or the answer is stale. */
static inline struct rq *this_rq(const struct sched *s)
{
	return &s->rq[env_this_cpu()];
}

/* A CPU as anybody sees it, without paying for the lines: racy in live mode. */
static inline bool runs_nothing(const struct rq *rq)
{
	return __atomic_load_n(&rq->curr, __ATOMIC_RELAXED) == rq->idle &&
	       !__atomic_load_n(&rq->nr_running, __ATOMIC_RELAXED);
}

static inline bool wake_list_empty(const struct rq *rq)
{
	return !__atomic_load_n(&rq->wake_list, __ATOMIC_RELAXED);
}

/* idle() of spec/idle-search.md section 1. */
static inline bool stands_idle(const struct rq *rq)
{
	return runs_nothing(rq) && wake_list_empty(rq) && !env_cpu_preempted(rq->cpu);
}

/* From v6.4 on such a CPU passes as idle, but for core searches. */
static inline bool runs_only_sched_idle(const struct rq *rq)
{
	u32 n = __atomic_load_n(&rq->nr_running, __ATOMIC_RELAXED);

	return profile_v64(rq->sched) && n &&
	       n == __atomic_load_n(&rq->cfs.idle_h_nr_running, __ATOMIC_RELAXED);
}

#define schedstat_inc(s, field) counter_add(&this_rq(s)->count.field, 1)

static inline struct sched_task *task_of(struct sched_entity *se)
{
	return container_of(se, struct sched_task, se);
}

static inline bool entity_is_task(const struct sched_entity *se)
{
	return !se->my_q;
}

static inline struct sched_entity *entity_of_node(const struct rb_node *n)
{
	return n ? container_of((struct rb_node *)n, struct sched_entity, node) : NULL;
}

#define for_each_sched_entity(se) for (; se; se = (se)->parent)

/* A group's own entity in its parent's queue on the queue's CPU; NULL for the root. */
static inline struct sched_entity *owner_entity(const struct cfs_rq *q)
{
	return q->tg->se ? q->tg->se[q->rq->cpu] : NULL;
}

/* Racy without the locks of the legend in sched.h. */
static inline u32 task_cpu(const struct sched_task *p)
{
	return __atomic_load_n(&p->cpu, __ATOMIC_ACQUIRE);
}

static inline enum sched_state task_state(const struct sched_task *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_RELAXED);
}

static inline void task_set_state(struct sched_task *p, enum sched_state state)
{
	__atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
}

static inline enum task_on_rq task_on_rq(const struct sched_task *p)
{
	return __atomic_load_n(&p->on_rq, __ATOMIC_ACQUIRE);
}

static inline void task_set_on_rq(struct sched_task *p, enum task_on_rq on_rq)
{
	__atomic_store_n(&p->on_rq, on_rq, __ATOMIC_RELEASE);
}

/* Under the rq lock of its CPU: p runs there. */
static inline bool task_running(const struct rq *rq, const struct sched_task *p)
{
	return rq->curr == p;
}

/* And its entity is its queue's current one: a CPU in newidle_pull() has put its
 * task already. */
static inline bool task_is_curr(const struct rq *rq, const struct sched_task *p)
{
	return task_running(rq, p) && p->se.cfs_rq->curr == &p->se;
}

/* ---- core.c: locks, clocks, moving tasks on and off queues ----------------- */

void rq_lock(struct rq *rq);

/* Checks the invariants of the CPU first, in debug builds. */
void rq_unlock(struct rq *rq);

/* Both, in CPU order; a and b differ. */
void rq_lock_pair(struct rq *a, struct rq *b);

/* p->wake_lock held. Locks the rq p is on, wherever it is moving to. */
struct rq *task_rq_lock(struct sched *s, struct sched_task *p);

void update_rq_clock(struct rq *rq);

enum enqueue_flags {
	ENQUEUE_WAKEUP = 1 << 0,   /* was asleep */
	ENQUEUE_MIGRATED = 1 << 1, /* woken onto another CPU than it slept on */
	ENQUEUE_RESTORE = 1 << 2,  /* pairs with DEQUEUE_SAVE */
	ENQUEUE_NEW = 1 << 6,      /* was never woken before */
};

enum dequeue_flags {
	DEQUEUE_SLEEP = 1 << 3,
	DEQUEUE_SAVE = 1 << 4,     /* is back at once */
	DEQUEUE_MOVE = 1 << 5,     /* with SAVE: its position may change */
};

/* rq lock held, clock current. activate makes p TASK_QUEUED; deactivate makes it
 * TASK_OFF_RQ with DEQUEUE_SLEEP, else TASK_MIGRATING. */
void activate_task(struct rq *rq, struct sched_task *p, u32 flags);
void deactivate_task(struct rq *rq, struct sched_task *p, u32 flags);

/* p is off every queue and nobody else can touch it: under wake_lock asleep or
 * waking, or TASK_MIGRATING. */
void set_task_cpu(struct sched_task *p, u32 cpu);

/* Points p's entity at its group's queue on cpu, and at the entity above. */
void set_task_rq(struct sched_task *p, u32 cpu);

/* rq lock held. Asks for a reschedule there, with an IPI when it is another CPU. */
void resched_curr(struct rq *rq);

/* rq lock held, p queued there: preempts when the policy says so. fork: p is new. */
void check_preempt_curr(struct rq *rq, struct sched_task *p, bool fork);

/* Interrupts off, no rq lock held: a task in TASK_MIGRATING arrives on cpu. */
void finish_move(struct sched *s, struct sched_task *p, u32 cpu);

/* What of rq follows from the vector. */
void rq_follow_vector(struct rq *rq);

/* ---- wakeup.c ------------------------------------------------------------- */

/* rq lock held: the CPU is no longer idle. */
void update_avg_idle(struct rq *rq);

/* ---- select.c --------------------------------------------------------------- */

/* wake_lock held. The CPU for p; always an allowed online one. */
u32 select_task_rq(struct sched *s, struct sched_task *p, u32 prev, enum select_kind kind,
		   u32 wake_flags);

/* dictate.c: the CPU for a wake-up with WAKE_MOVE or WAKE_STAY. wake_lock held. */
u32 select_dictated_rq(struct sched *s, struct sched_task *p, u32 prev, u32 wake_flags);

/* Where p goes when its choice is not allowed. p->allowed names an online CPU. */
u32 select_fallback_rq(struct sched *s, const struct sched_task *p, u32 cpu);

bool wake_wide(const struct sched *s, const struct sched_task *waker,
	       const struct sched_task *p, u32 cpu);

static inline bool share_cache(const struct sched *s, u32 a, u32 b)
{
	return s->domains.llc_id[a] == s->domains.llc_id[b];
}

/* ---- slow_path.c ------------------------------------------------------------ */

/* From sd, a domain of the calling CPU with flag, down through those with it to the
 * idlest CPU; prev if sd has no CPU for p. It may not be allowed. flag: the one of
 * kind. wake_lock held, interrupts off. (sync) */
u32 find_idlest_cpu(struct sched *s, const struct sched_domain *sd, const struct sched_task *p,
		    u32 prev, enum select_kind kind, u32 flag);

/* ---- idle_search.c -------------------------------------------------------- */

/* An idle CPU near target for p, else target, which may not be allowed. why: how it
 * was found. wake_lock held, interrupts off. */
u32 select_idle_sibling(struct sched *s, struct sched_task *p, u32 prev, u32 target,
			struct placement *why);

/* The CPU runs its idle task, has nothing queued and no remote wake-up pending.
 * Racy: a hint. (sync) */
bool idle_cpu(struct sched *s, u32 cpu);

/* idle_cpu(), or from v6.4 on a CPU with nothing but SCHED_IDLE tasks. (sync) */
bool available_cpu(struct sched *s, u32 cpu);

/* rq lock held, this CPU is about to run its idle task. */
void update_idle_core(struct rq *rq);

/* Exponential averages with weight 1/8: truncating, and rounding down. */
static inline void update_avg_div(u64 *avg, u64 sample)
{
	*avg += (u64)((s64)(sample - *avg) / 8);
}

static inline void update_avg_shift(u64 *avg, u64 sample)
{
	*avg += (u64)((s64)(sample - *avg) >> 3);
}

/* ---- pull.c --------------------------------------------------------------- */

/* rq lock of this CPU held, which is about to idle; the lock is dropped and
 * taken again. True when the queue is no longer empty. */
bool newidle_pull(struct rq *rq);

/* rq lock held, after the queue grew to two. */
void set_overload(struct sched *s);

/* Interrupts off, no lock held: this CPU runs its idle task. */
void idle_mask_enter(struct rq *rq);

/* Interrupts off, no lock held, on a tick that found a task running. movable:
 * CPUs where some waiting task may run, NULL when there is none. Asks the nearest
 * idle one of them to pull. */
void pull_on_tick(struct rq *rq, const struct cpumask *movable);

/* rq lock held. Fills movable; false when no waiting task may leave. */
bool movable_cpus(struct rq *rq, struct cpumask *movable);

/* ---- check.c: queues and CPUs ---------------------------------------------- */

/* A broken invariant: ends the run with a panic, or is noted at its end. */
void check_violated(struct sched *s, const char *f, ...) printf_like(2, 3);

/* The rq lock is held, or all stand still. now_ns: the CPU's time. */
void check_ticks(struct rq *rq, u64 now_ns);

/* ---- check_place.c: placement, debug builds ---------------------------------- */

#ifdef ANECHOIC_DEBUG

/* Beside each store that changes whether a CPU is available: no sync point between. */
static inline void check_available_changed(struct rq *rq)
{
	if (rq->sched->lockstep)
		rq->check.changed = ++rq->sched->availability_changes;
}

/* Right after a placement, wake_lock held. */
void check_placement(struct sched *s, const struct sched_task *p, u32 cpu);

#else

static inline void check_available_changed(struct rq *rq)
{
	(void)rq;
}

#define check_placement(s, p, cpu) ((void)0)

#endif

/* ---- check_load.c: load averages ---------------------------------------------- */

/* rq lock held, or all stand still. */
void check_load(struct cfs_rq *q);

/* ---- weight.c ------------------------------------------------------------- */

extern const u32 sched_prio_to_weight[40], sched_prio_to_wmult[40];
#define WEIGHT_IDLEPRIO 3
#define WMULT_IDLEPRIO 1431655765

u64 scale_load_down(const struct sched *s, u64 w);

/* About delta * weight / lw->weight; fills lw->inv_weight.
 * Source: spec/cfs-core.md section 3. */
u64 calc_delta(const struct sched *s, u64 delta, u64 weight, struct load_weight *lw);

/* delta in ns of se's virtual time. */
u64 calc_delta_fair(const struct sched *s, u64 delta, struct sched_entity *se);

void update_load_add(struct load_weight *lw, u64 w);
void update_load_sub(struct load_weight *lw, u64 w);

/* Scales the tunables of the vector to the number of online CPUs. */
void sched_init_granularity(struct sched *s, u32 cpus);

/* ns of real time that se may run before it is others' turn. */
u64 sched_slice(struct cfs_rq *q, struct sched_entity *se);
u64 sched_vslice(struct cfs_rq *q, struct sched_entity *se);

/* ---- fair.c: the hierarchy, whatever the policy ---------------------------- */

void init_cfs_rq(struct cfs_rq *q, struct rq *rq, struct task_group *tg);

/* SCHED_IDLE task or, from v6.4 on, idle group. */
bool se_is_idle(const struct sched *s, const struct sched_entity *se);

/* The rq lock is held and its clock current in all of these. */
void update_curr(struct cfs_rq *q);
void enqueue_task(struct rq *rq, struct sched_task *p, u32 flags);
void dequeue_task(struct rq *rq, struct sched_task *p, u32 flags);
struct sched_task *pick_next_task_fair(struct rq *rq);
void put_prev_task(struct sched_task *p);
void set_next_task(struct rq *rq, struct sched_task *p);
void task_tick_fair(struct rq *rq, struct sched_task *curr);
void account_entity_enqueue(struct cfs_rq *q, struct sched_entity *se);
void account_entity_dequeue(struct cfs_rq *q, struct sched_entity *se);

/* Sets the weight of a task's entity that is off its queue; inv as in the table. */
void reweight_task(struct rq *rq, struct sched_task *p, u64 weight, u32 inv_weight);

/* Lifts two entities to the queue where both, or their ancestors, sit. */
void find_matching_se(struct sched_entity **a, struct sched_entity **b);

/* ---- the policy table ------------------------------------------------------ */

enum place_why {
	PLACE_INITIAL, /* a new task */
	PLACE_WAKEUP,  /* slept */
};

/*
 * How entities of one queue share its time. fair.c owns hierarchy, load and
 * counts, and the tree's mechanics; a policy owns the tree's order and the key,
 * and is asked at each of these points with the rq lock held and the clock
 * current. Members that may be NULL say so. Source: spec/cfs-core.md section 12.
 */
struct sched_policy {
	const char *name;

	/* Order of the tree; equals go right. */
	rb_less_fn less;

	/* Gives se its key on q, whose key is absolute there. */
	void (*place)(struct cfs_rq *q, struct sched_entity *se, enum place_why why);

	/* curr of q ran for delta_ns. */
	void (*charge)(struct cfs_rq *q, struct sched_entity *curr, u64 delta_ns);

	/* se enters the tree: it joins q, or stops running. NULL: nothing to do. */
	void (*enqueue)(struct cfs_rq *q, struct sched_entity *se);

	/* se left q; its key is still absolute. floor: the queue's reference point
	 * may advance after it. */
	void (*dequeue)(struct cfs_rq *q, struct sched_entity *se);
	void (*floor)(struct cfs_rq *q);

	/* The key from absolute on q to relative (out), and back (in). */
	void (*renormalise)(struct cfs_rq *q, struct sched_entity *se, bool out);

	/* Which of q runs; curr (may be NULL) runs now and is not in the tree. */
	struct sched_entity *(*pick)(struct cfs_rq *q, struct sched_entity *curr);

	/* se is picked and leaves the tree. */
	void (*set_next)(struct cfs_rq *q, struct sched_entity *se);

	/* True: curr's turn is over. q has others. */
	bool (*tick)(struct cfs_rq *q, struct sched_entity *curr);

	/* True: p, just queued, preempts curr, which is not the idle task. */
	bool (*wakeup_check)(struct rq *rq, struct sched_task *curr, struct sched_task *p,
			     bool fork);

	/* A sleeper left the queue of this group entity, which still has work.
	 * NULL: no preference. */
	void (*prefer)(struct sched_entity *se);

	/* se, off its queue, will change weight. NULL: the key does not depend on it. */
	void (*reweight)(struct cfs_rq *q, struct sched_entity *se, u64 from, u64 to);

	/* curr lets others run; its rq has others. */
	void (*yield)(struct sched_task *curr);

	/* The key of child, made by curr of its queue (NULL: none), relative.
	 * True: curr should be preempted. */
	bool (*fork)(struct cfs_rq *q, struct sched_entity *child, struct sched_entity *curr);
};

extern const struct sched_policy cfs_policy;

/* sched_create() with another policy than CFS. */
struct sched *sched_create_policy(const struct sched_config *cfg,
				  const struct sched_policy *policy);

#endif
