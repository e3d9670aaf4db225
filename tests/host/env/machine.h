/* SPDX-License-Identifier: MIT */
/*
 * A machine for unit tests: a topology made by hand, a scheduler on it, idle
 * tasks, and the part of a kernel that calls the scheduler. The test says which
 * CPU acts, moves the clocks, and delivers interrupts when it wants them.
 */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include "../../../sched/sched_int.h"

#define TEST_TASKS 256

struct machine {
	struct sched *s;
	struct arena arena;
	struct sched_topo topo;
	struct sched_vector vector;
	struct sched_task idle[TEST_CPUS];
	struct sched_task task[TEST_TASKS];
	u32 nr_tasks;
	u64 busy_ns;          /* machine_advance() while a task ran, all CPUs */
	void *memory;
};

/* Packages, cores each, threads each; threads of a core are neighbours, one LLC
 * per package, one node. The switches ("NO_X+Y=2") are applied to the profile's
 * defaults. The clocks start at 1 s. */
void machine_init(struct machine *m, u32 pkgs, u32 cores, u32 threads,
		  enum sched_profile profile, const char *switches);
void machine_init_policy(struct machine *m, u32 pkgs, u32 cores, u32 threads,
			 enum sched_profile profile, const char *switches,
			 const struct sched_policy *policy);

/* Checks that nothing is held or pending that should not be; frees. */
void machine_free(struct machine *m);

/* Which CPU acts from now on. */
void machine_on(u32 cpu);

/* All clocks go on; who runs has burnt the time. */
void machine_advance(struct machine *m, u64 ns);

/* A new task, forked on the acting CPU by its current task (or nobody), not woken. */
struct sched_task *machine_fork(struct machine *m);

/* Its first wake-up, on the acting CPU: allowed nowhere else meanwhile. */
void machine_wake_here(struct machine *m, struct sched_task *t);

/* Both on that CPU, which takes its interrupts. */
struct sched_task *machine_start(struct machine *m, u32 cpu);

/* schedule() on the acting CPU. */
struct sched_task *machine_switch(struct machine *m, bool preempt);

/* The acting CPU's current task blocks. */
void machine_sleep(struct machine *m);

/* Takes cpu's pending interrupts, and preempts if asked. The acting CPU stays. */
void machine_interrupts(struct machine *m, u32 cpu);

/* machine_interrupts() on all CPUs until nothing is pending. */
void machine_settle(struct machine *m);

/* A timer tick on cpu, with the preemption that follows. */
void machine_tick(struct machine *m, u32 cpu);

/* All invariants on all CPUs. */
void machine_check(struct machine *m);

/* Sum of a counter over CPUs. */
#define machine_count(m, field)                                              \
	({                                                                   \
		u64 sum_ = 0;                                                \
		for (u32 c_ = 0; c_ < (m)->topo.nr_cpus; c_++)               \
			sum_ += sched_counters((m)->s, c_)->field;           \
		sum_;                                                        \
	})

#endif
