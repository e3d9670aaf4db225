/* SPDX-License-Identifier: MIT */
/*
 * Per-entity load tracking: spec/cfs-core.md section 10. Load is weight times the
 * decayed share of time runnable; 1024: a nice-0 task that always runs.
 *
 * An entity's averages are part of its queue's as long as it is attached there
 * (last_update_time is not 0), asleep or not. They are guarded by the rq lock while
 * it is queued, by its wake_lock as well while it sleeps.
 */
#ifndef SCHED_PELT_H
#define SCHED_PELT_H

#include "sched_int.h"

/* ---- pelt.c: sums, averages and their clock --------------------------------- */

/* Sum of the geometric series of 1024 units a period, y^32 = 1/2, truncated as
 * published; a period in progress counts for less. */
#define LOAD_AVG_MAX 47742
#define PELT_MIN_DIVIDER (LOAD_AVG_MAX - 1024)

/* What a sum must reach at most, now. */
static inline u64 pelt_divider(const struct sched_avg *a)
{
	return PELT_MIN_DIVIDER + a->period_contrib;
}

/* What went on since the last step, per unit of 1024 ns. */
struct pelt_rate {
	u64 load;          /* 0: the other three count for nothing */
	u64 runnable;
	u64 runnable_load; /* v5.2 */
	bool running;
};

/* x * y^periods, rounded down. */
u64 pelt_decay(u64 x, u64 periods);

/* Ages the sums to now_ns of PELT time, or to less than a unit before. True: a
 * period ended, so that the averages are due. */
bool pelt_step(struct sched_avg *a, u64 now_ns, const struct pelt_rate *rate);

/* Averages from sums; weights scaled down, as se_weight(). Charges its divides. */
void pelt_average(struct sched_avg *a, u64 weight, u64 runnable_weight);

/* Both for an entity of q, on which it is queued or not; for a queue; and for a
 * sleeper whose queue may be another CPU's, its wake_lock held. Locks as above. True
 * as pelt_step(). */
bool pelt_step_entity(struct cfs_rq *q, struct sched_entity *se, u64 now_ns);
bool pelt_step_queue(struct cfs_rq *q, u64 now_ns);
bool pelt_step_blocked(const struct sched *s, struct sched_entity *se, u64 now_ns);

static inline u64 se_weight(const struct sched *s, const struct sched_entity *se)
{
	return scale_load_down(s, se->load.weight);
}

/* v5.2: of that, what is queued; a group's follows from what is queued below. */
static inline u64 se_runnable(const struct sched *s, const struct sched_entity *se)
{
	return entity_is_task(se) ? se_weight(s, se) : scale_load_down(s, se->runnable_load_weight);
}

/* rq lock held. ns; never runs back. */
static inline u64 rq_clock_pelt(const struct rq *rq)
{
	return rq->clock_pelt - rq->lost_idle_time;
}

/* rq lock held, clock_task went on by delta_ns. */
void update_rq_clock_pelt(struct rq *rq, u64 delta_ns);

/* rq lock held, clock current, state_line written: the CPU is about to idle. */
void pelt_go_idle(struct rq *rq);

/* ---- load.c: entities and their queues ---------------------------------------- */

/* Averages of a new task, which has not been woken. */
void init_entity_load_avg(const struct sched *s, struct sched_entity *se);

enum update_flags {
	DO_ATTACH = 1 << 0,     /* attach se if it is not */
	DO_DETACH = 1 << 1,     /* detach se if it is attached; the caller gives it another
				   queue and clears its last_update_time */
	UPDATE_TG = 1 << 2,     /* tell q's group, if a period ended, load was removed, or
				   something came from below */
};

enum load_change {
	LOAD_AGED = 1 << 0,     /* a period ended */
	LOAD_REMOVED = 1 << 1,  /* wakers' removals were taken off, and nothing postponed */
	LOAD_PROPAGATED = 1 << 2,
};

/* Takes off what wakers removed from q and steps it to now_ns of PELT time. Bits of
 * enum load_change. Context as update_load_avg(). */
u32 update_cfs_rq_load_avg(struct cfs_rq *q, u64 now_ns);

/* Steps se and its queue q to the CPU's PELT time, and carries on to them what changed
 * below se. rq lock held, clock current, state_line written. (sync, when wakers took
 * load away or a group is told) */
void update_load_avg(struct cfs_rq *q, struct sched_entity *se, u32 flags);

/* Attaches se, which is not part of any queue's averages (last_update_time 0), where it
 * now sits. What is above it follows. Context as update_load_avg(). */
void attach_entity_cfs_rq(struct sched_entity *se);

/* The reverse, for who changes group: its last_update_time is then to be cleared. */
void detach_entity_cfs_rq(struct sched_entity *se);

/* The same for a new task's entity on its first queue, with its utilisation guessed. */
void attach_new_entity(struct sched_entity *se);

/* se leaves its queue without the rq lock: what it leaves is taken off at the
 * queue's next update. wake_lock held, or se's task was just switched out for good;
 * state_line read. Then it is attached nowhere. (sync) */
void remove_entity_load_avg(struct sched_entity *se);

/* The same for a sleeper that is woken on another CPU; and ages it by the time that
 * its CPU has been idle, in which nobody stepped its queue. (sync) */
void migrate_entity_load_avg(struct sched_entity *se);

/* ---- reweight.c ------------------------------------------------------------------ */

/* Sets se's weight, and what of its load and its queue's sums follows; runnable: v5.2,
 * of a group, what of its weight is queued. rq lock held; it may be off its queue, or
 * attached to none. */
void reweight_entity(struct cfs_rq *q, struct sched_entity *se, u64 weight, u32 inv_weight,
		     u64 runnable);

/* v5.2: se's load joins or leaves the part of q's that is queued. After
 * update_load_avg(). No effect in other profiles. */
void enqueue_runnable_load_avg(struct cfs_rq *q, const struct sched_entity *se);
void dequeue_runnable_load_avg(struct cfs_rq *q, const struct sched_entity *se);

/* ---- cpu_load.c: reads of any CPU's averages, without its lock and after
 * env_line_read() of its state_line: hints ---------------------------------------- */

/* L(c) of spec/idle-search.md: what placement compares. Runnable load in v5.2,
 * else the root queue's load_avg. */
u64 cpu_load(const struct rq *rq);

/* The root queue's load_avg: blocked tasks included. */
u64 cpu_load_avg(const struct rq *rq);

/* Share of the CPU's time that somebody ran, of SCHED_CAPACITY. */
u64 cpu_util(const struct rq *rq);

/* cpu_util() without p's own part, if it has one there. */
u64 cpu_util_without(const struct rq *rq, const struct sched_task *p);

/* p's share of the load of its CPU, through its groups. */
u64 task_h_load(const struct sched_task *p);

u64 task_util(const struct sched_task *p);

/* What a CPU can do, of SCHED_CAPACITY; less where time is stolen. */
static inline u64 cpu_capacity(const struct rq *rq)
{
	return rq->capacity;
}

#endif
