/* SPDX-License-Identifier: MIT */
/*
 * Tasks: a stack, a function, and the scheduler's part. Created and reaped by
 * their parent; everything dies with the run.
 */
#ifndef KERNEL_TASK_H
#define KERNEL_TASK_H

#include "../sched/sched.h"
#include "lib/rng.h"
#include "stats/hist.h"
#include "sync.h"
#include "timer.h"

struct task {
	struct sched_task st;
	void *sp;                 /* saved stack pointer while switched out */
	u32 stack_slot;
	void (*fn)(void *arg);
	void *arg;
	struct task *parent;
	u32 mm;                   /* address space; equal numbers switch cheaply */
	u32 footprint_kb;         /* cache content that a move loses */
	u32 last_cpu;             /* where it last ran, NO_CPU before */
	u64 refill_ps;            /* cache refill due in the next burst */
	enum topo_dist refill_from; /* and how far its content is */
	struct path_stack paths;
	struct rng rng;
	struct timer timer;       /* task_sleep_ns() */
	struct list wait_entry;     /* in what it sleeps on, under that lock */
	struct env_lock *waits_for; /* whose wait list it sleeps on, for hang reports */
	u64 ran_ns, in_ns;        /* CPU time before this turn, and its begin; TIME_NEVER: none */
	u32 turns;                /* odd while the two change: who reads them looks again */
	u32 children;             /* not yet waited for */
	struct semaphore exits;   /* up for each child that ended */
	struct list all;          /* of the run's live tasks, or of the free ones */
};

/* The run that tasks belong to. */
extern struct sched *the_sched;

/* Values dealt out to tasks in turn, in the order of their ids; none when nr is 0. */
struct task_deal {
	const s64 *v;
	u32 nr;
};

/* Tasks by their latency_nice: below 0, 0, above. */
enum ln_class { LN_BELOW, LN_ZERO, LN_ABOVE, LN_CLASSES };

struct tasks_config {
	struct sched *sched;
	struct arena *arena;
	u64 seed;
	void (*first)(void *arg);   /* first task, forked by CPU 0's idle task */
	void *arg;
	struct hist *wake_latency_ns; /* [LN_CLASSES]: wake-up to running; tasks that wait
					 count too */
	struct task_deal latency_nice, freq_heavy; /* of all tasks but the first */
};

/* Cache refills that bursts paid for, by distance of what they fetched: DIST_SELF
 * is what other tasks displaced. Exact in lockstep and at the end. */
struct refill_stats {
	u64 paid[DIST_NR], ps;
};

/* Sets up tasks, per-CPU idle tasks and timers for a run by the executor. */
void tasks_init(const struct tasks_config *config);

/* After the run: completes wake_latency_ns. */
void tasks_collect(void);

const struct refill_stats *task_refills(void);

/* CPU, task, virtual time, locks and last events of the run in progress. No locks. */
void tasks_panic_dump(void);

/* The calling task. */
struct task *task_self(void);

/* The groups that tasks are dealt to from now on, in the order of their units; they
 * stay as they are. */
void tasks_deal_groups(struct task_group *const *group, u32 nr);

struct task_attr {
	const char *name;
	u32 mm;                      /* 0: the parent's */
	s32 nice;
	const struct cpumask *allowed; /* NULL: the parent's */
	u32 footprint_kb;
	u32 unit;                    /* from 1: tasks of one unit share a group; 0: the
					parent's group, but for a child of the first task
					a unit of its own */
};

/* Forks a task that runs fn(arg); it is on its way when this returns. (sync) */
struct task *task_fork(const struct task_attr *attr, void (*fn)(void *), void *arg);

/* Ends the calling task; returning from fn does the same. */
void noreturn_fn task_exit(void);

/* Waits until all children of the calling task have exited. (sync) */
void task_wait_children(void);

/* Waits until one of them has, whichever; it has some. (sync) */
void task_wait_child(void);

/* A new address space for tasks of process mode. */
u32 task_new_mm(void);

/* CPU time of any task so far. Its CPU may be ahead of this one by a few sync
 * points, and what it ran there counts. */
u64 task_cpu_ns(const struct task *t);

/* Sleeps at least ns. (sync) */
void task_sleep_ns(u64 ns);

/* ns of CPU work at full speed. (sync) */
void task_burn(u64 ns);

/* Copies bytes: time by size, really done in live mode. */
void task_copy(u32 bytes);

/* Gives up the CPU as sched_yield(2) does. */
void task_yield(void);

/* Starts another program, as execve(2) does to the scheduler: the task, whose caches
 * are of no use any more, may go on on another CPU. (sync) */
void task_exec(void);

/* Enters a system call: pays for the way in and out. (sync) */
void task_syscall(void);

/* Switches to what the scheduler picks. preempt: the task stays queued even if
 * it is about to sleep. Interrupts on. (sync) */
void task_schedule(bool preempt);

/* Tasks alive now. */
u32 task_count(void);

#endif
