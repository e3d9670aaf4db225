/* SPDX-License-Identifier: MIT */
/*
 * Public face of the scheduler, grouped by caller. Neutral about the policy:
 * what CFS keeps per entity and queue is in sched_int.h.
 *
 * All state hangs off one struct sched, so a test builds any machine.
 *
 * Lock order: task.wake_lock (the field calls it pi_lock), then runqueue locks
 * in order of CPU number. Callers hold no runqueue lock unless said.
 */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include "../kernel/lib/list.h"
#include "../kernel/lib/rbtree.h"
#include "../kernel/panic.h"
#include "env.h"
#include "plant.h"
#include "topo.h"
#include "vector.h"

struct sched;
struct cfs_rq;
struct task_group;

enum sched_state {
	TASK_NEW,       /* never woken */
	TASK_RUNNING,   /* runs or waits in a queue */
	TASK_SLEEPING,
	TASK_WAKING,    /* chosen for a CPU, not yet enqueued */
	TASK_DEAD,
};

static inline const char *sched_state_name(enum sched_state state)
{
	static const char *const name[] = { "new", "runnable", "sleeping", "waking", "dead" };

	return name[state];
}

enum sched_class { SCHED_CLASS_NORMAL, SCHED_CLASS_BATCH, SCHED_CLASS_IDLE };

struct load_weight {
	u64 weight;
	u32 inv_weight; /* 0: to be computed; spec/cfs-core.md section 3 */
};

/*
 * Load averages of an entity or a queue: spec/cfs-core.md section 10. Times and
 * sums in units of 1024 ns. An entity's load_sum is unweighted, a queue's weighted.
 */
struct sched_avg {
	u64 last_update_time;   /* ns of PELT time; 0: not attached to a queue */
	u64 load_sum, runnable_sum, util_sum;
	u32 period_contrib;     /* units of the current period gone, below 1024 */
	u64 load_avg, runnable_avg, util_avg;
	u64 runnable_load_sum, runnable_load_avg; /* v5.2: of the time on_rq, weighted */
};

/* A task's, or a group's, presence on one CPU. Guarded by that CPU's rq lock. */
struct sched_entity {
	struct load_weight load;
	struct rb_node node;
	bool on_rq;
	bool relative;          /* debug builds: vruntime is relative to no queue */
	u64 exec_start, sum_exec_runtime, prev_sum_exec_runtime; /* ns */
	u64 vruntime;           /* ns at nice 0; wraps, compare by signed difference */
	u32 depth;
	struct sched_entity *parent;
	struct cfs_rq *cfs_rq;  /* the queue it sits on */
	struct cfs_rq *my_q;    /* the queue it owns; NULL for tasks */
	u64 runnable_weight;    /* of a group: tasks below, as of its last update */
	u64 runnable_load_weight; /* of a group, v5.2: what of its weight is queued */
	struct sched_avg avg;
};

enum task_on_rq { TASK_OFF_RQ, TASK_QUEUED, TASK_MIGRATING };

/*
 * The scheduler's part of a task; the kernel embeds it.
 * Legend: c constant after sched_fork, r rq lock of `cpu`, w wake_lock,
 * s stored by the task itself or under w, read without lock, o owner CPU only.
 * "w/r": changes under w while off every queue, under r while on one (a move
 * between queues holds it in TASK_MIGRATING instead).
 */
struct sched_task {
	struct sched_entity se;       /* r */
	struct env_lock wake_lock;
	struct env_line state_line;   /* state, on_cpu */
	u32 id;                       /* c, 0 is reserved for idle tasks */
	const char *name;             /* c */
	enum sched_state state;       /* s */
	enum task_on_rq on_rq;        /* r */
	bool on_cpu;                  /* s: from the switch to it until after the switch away */
	u32 cpu;                      /* w/r */
	u32 wake_cpu;                 /* w */
	s32 nice;                     /* r */
	enum sched_class class;       /* r */
	struct task_group *tg;        /* w and r to change, read without lock */
	bool is_idle_task;            /* c */
	struct cpumask allowed;       /* w and r to change */
	u32 nr_allowed;
	u32 recent_used_cpu;          /* o */
	struct sched_task *last_wakee; /* o: wake_wide */
	u32 wakee_flips;
	u64 flip_decay_jiffies;
	bool has_latency_nice;        /* w to change: a value of its own */
	s32 latency_nice;             /* w to change: -20..19, how much latency it tolerates */
	bool freq_heavy;              /* w to change: lowers its core's frequency, as AVX512 does */
	bool found_idle;              /* w: its last placement took the CPU as idle */
	bool exec_moves;              /* o: sched_exec() found it a better CPU, */
	u32 exec_cpu;                 /*    where it goes at its next switch */
	struct list rq_node;          /* r: on rq->tasks, most recently run first */
	struct sched_task *wake_next; /* next older one on a wake list */
	bool remote_migrated;         /* w: queued on a wake list after leaving its CPU */
	u64 woken_ns;                 /* atomic: clock of the waker at the last wake-up */
	u64 nvcsw, nivcsw, migrations; /* counts of this task */
};

/* ---- set-up -------------------------------------------------------------- */

struct sched_config {
	const struct sched_topo *topo;
	struct sched_vector vector;   /* features, tunables, profile */
	u32 hz;
	u32 housekeeper;              /* the CPU whose tick goes on while it idles */
	struct arena *arena;
	bool lockstep;                /* nothing happens between two sync points, */
	bool punctual;                /* and ticks come on time: checks may rely on it */
	enum sched_plant plant;       /* debug builds */
};

struct sched *sched_create(const struct sched_config *cfg);

/* Gives cpu its idle task, which is then its current task. */
void sched_set_idle_task(struct sched *s, u32 cpu, struct sched_task *idle);

/* ---- tasks --------------------------------------------------------------- */

/* Prepares a new task on the parent's CPU (the calling CPU): weight, fork
 * placement of vruntime, allowed = parent's (all for NULL parent), recent_used_cpu. */
void sched_fork(struct sched *s, struct sched_task *t, struct sched_task *parent, u32 id,
		const char *name);

/* First wake-up of a forked task. */
void sched_wake_new(struct sched *s, struct sched_task *t);

/* MOVE and STAY dictate the place of a task that has left its queue: an idle CPU of
 * its last one's cache, else that cache's next, but never the last one while it has
 * others; and the last one. Affinity has the last word. */
enum sched_wake_flags {
	WAKE_SYNC = 1 << 0, WAKE_FORK = 1 << 1, WAKE_MOVE = 1 << 2, WAKE_STAY = 1 << 3,
};

/* try_to_wake_up. False when t was not sleeping. Any context. */
bool sched_wake(struct sched *s, struct sched_task *t, u32 flags);

/*
 * The calling task has started another program: it holds nothing in any cache, so
 * this is the time to move. Asks the slow path for a CPU (idle-search.md section 3);
 * if that is another one, requests a reschedule, and the task arrives there after
 * its next sched_switch_begin(preempt), unless its affinity forbids it by then.
 * Interrupts on; no lock held. (sync)
 */
void sched_exec(struct sched *s);

/* nice in [-20, 19]. */
void sched_set_nice(struct sched *s, struct sched_task *t, s32 nice);
void sched_set_class(struct sched *s, struct sched_task *t, enum sched_class class);

/* Attributes that children inherit; a decision under way may still see the old one.
 * latency_nice in [-20, 19]: how much latency t tolerates; spec/idle-search.md
 * section 7.3. */
void sched_set_latency_nice(struct sched *s, struct sched_task *t, s32 latency_nice);
void sched_set_freq_heavy(struct sched *s, struct sched_task *t, bool on);

/* mask must name an online CPU. A task running elsewhere moves when it is next
 * switched out, which is requested at once. */
void sched_set_affinity(struct sched *s, struct sched_task *t, const struct cpumask *mask);

/* The calling task declares that its next sched_switch_begin() sleeps (or dies),
 * unless somebody wakes it before. (sync) */
void sched_set_state(struct sched *s, enum sched_state state);

/* Gives up the CPU without sleeping; the caller then schedules. */
void sched_yield(struct sched *s);

/* ---- task groups ----------------------------------------------------------
 * A queue and an entity per CPU, to any depth; spec/group-load.md. A group's
 * entity weighs its shares times the group's part of its load that is on that CPU.
 * All of these from any task, at any time; each takes the locks of all CPUs in
 * turn, but for moves and questions. (sync)
 */

struct task_group *sched_root_group(struct sched *s);

/* A group below parent (NULL: the root) without tasks. shares in 2..2^18; 1024
 * weighs as much as one nice-0 task. */
struct task_group *tg_create(struct sched *s, struct task_group *parent, u64 shares);

/* A group that counts as SCHED_IDLE, and weighs as little. */
struct task_group *tg_create_idle(struct sched *s, struct task_group *parent);

/* tg, which has no tasks and no groups below it, ends; its memory is used for the next
 * one. Waits for tasks that are on their way out. Not the root. */
void tg_destroy(struct sched *s, struct task_group *tg);

/* shares as in tg_create(); neither the root's nor an idle group's. */
void tg_set_shares(struct sched *s, struct task_group *tg, u64 shares);

/* Makes tg an idle group, or one of 1024 shares again. Not the root. */
void tg_set_idle(struct sched *s, struct task_group *tg, bool idle);

/* Moves p, in whatever state, into tg. Nothing happens to who has exited. Takes p's
 * locks. */
void sched_move_task(struct sched *s, struct sched_task *p, struct task_group *tg);

/* The groups one by one, the root first, the others in the order of their memory.
 * NULL: no more. */
struct task_group *tg_next(struct sched *s, struct task_group *tg);

/* 0: the root's; of a group below it 1, and so on. */
u32 tg_depth(const struct task_group *tg);

/* The group's latency_nice, in [-20, 19], with LN_GROUP the one of its tasks that
 * have none of their own, and of groups below it that have none. */
void sched_set_group_latency_nice(struct sched *s, struct task_group *tg, s32 latency_nice);

/* What became of one group's weights so far, all CPUs; spec/group-load.md sections 6
 * and 7. Errors: the part of a queued entity's weight by which it is off, in 1/1000 of
 * what it should be; sums and maxima of absolute values. Racy while tasks run. */
struct tg_stats {
	u64 weight_updates, load_reads;  /* update_cfs_group(), reads of a load counter */
	u64 published, below_threshold, rate_limited; /* update_tg_load_avg() */
	u64 samples;
	u64 formula_sum, formula_max;    /* against the formula with current averages */
	u64 ideal_sum, ideal_max;        /* against shares by weight of queued tasks */
	u64 load_samples, load_sum, load_max; /* the load counter against the averages' sum */
};
void tg_stats(const struct sched *s, const struct task_group *tg, struct tg_stats *out);

/* Replaces features and tunables, but not the profile nor SD_PKG. All CPUs but the
 * caller's are parked: idle or with interrupts off, no runqueue lock held. Counters of
 * all nodes are folded into one, postponed removals done, contributions published,
 * rate limits forgotten; granularities are scaled anew. spec/group-load.md section 5. */
void sched_switch_vector(struct sched *s, const struct sched_vector *vector);

/* ---- the switch, called by kernel/task.c with interrupts on or off ------- */

/* Takes this CPU's rq lock, dequeues the current task if it sleeps (not when
 * preempt), pulls if the CPU would idle, picks, makes the pick current. Returns
 * it with the lock held and interrupts off. */
struct sched_task *sched_switch_begin(struct sched *s, bool preempt);

/* On the new task's stack: lets go of prev (on_cpu), pushes prev away if its
 * affinity or its exec demands it, unlocks. prev may be the current task. */
void sched_switch_end(struct sched *s, struct sched_task *prev);

/* ---- interrupts ---------------------------------------------------------- */

void sched_tick(struct sched *s);            /* interrupts off */
void sched_wake_list_drain(struct sched *s); /* interrupts off, target of ENV_CALL_WAKE_LIST */
void sched_idle_pull(struct sched *s);       /* interrupts off, target of ENV_CALL_PULL */

/* ---- questions ----------------------------------------------------------- */

struct sched_task *sched_current(const struct sched *s, u32 cpu);

/* The CPU's current task should be switched out. Own CPU, or a racy hint. */
bool sched_need_resched(const struct sched *s, u32 cpu);

u32 sched_nr_running(const struct sched *s, u32 cpu);

/* What t goes by: its own; else, with LN_GROUP, that of the nearest group that has
 * one; else 0. No locks, a racy hint. */
s32 task_latency_nice(const struct sched *s, const struct sched_task *t);

/* Counts of one CPU; counters.def. */
struct sched_counters {
#define COUNTER(name, help) u64 name;
#define HISTOGRAM(name, buckets, help) u64 name[buckets];
#include "counters.def"
#undef COUNTER
#undef HISTOGRAM
};
struct sched_counters *sched_counters(struct sched *s, u32 cpu);

/* Panics when an invariant of spec/cfs-core.md section 11 does not hold on a
 * CPU whose rq lock the caller holds, or when all CPUs stand still. */
void sched_check_cpu(struct sched *s, u32 cpu);

/* How the CPUs stand when a run is over. Pending: wake-list IPIs not yet taken. */
struct sched_standstill {
	struct cpumask inside;  /* stopped with interrupts off, perhaps halfway through */
	struct cpumask locked;  /* runqueues whose lock is held */
	struct cpumask pending;
	const u64 *now_ns;      /* [nr_cpus] */
	const u64 *idle_ns;     /* [nr_cpus] in completed idle periods, rounded down; NULL:
				   not measured in the same time as the rest */
};

/* All invariants, and the sums that must come out, when a run is over and all
 * CPUs stand still. One line for each that does not hold, then the state; returns
 * how many did not. */
u32 sched_check_end(struct sched *s, const struct sched_standstill *at,
		    void (*line)(const char *text));

/* One line per runnable task, for panics and hang reports. Takes no locks. */
void sched_dump(const struct sched *s, void (*line)(const char *text));

#endif
