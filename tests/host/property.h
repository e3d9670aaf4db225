/* SPDX-License-Identifier: MIT */
/*
 * Property tests of the scheduler. A case is a machine and a list of operations,
 * both drawn from a seed. prop_run() plays it in exact virtual time: clocks stand
 * still within an operation, every busy CPU ticks each millisecond, interrupts are
 * taken at once. After each operation and each tick property_model.c compares what
 * happened with an ideal fluid machine.
 *
 * Operations name CPUs and tasks by numbers taken modulo what exists, and one that
 * makes no sense does nothing: so any part of a list is a list, and a failing one
 * can be shrunk by leaving operations out.
 */
#ifndef TEST_PROPERTY_H
#define TEST_PROPERTY_H

#include "env/machine.h"

#define PROP_TICK_NS 1000000
#define PROP_OPS_MAX 320

enum prop_kind {
	PROP_FORK, PROP_WAKE, PROP_BLOCK, PROP_EXIT, PROP_RUN, PROP_NICE, PROP_CLASS,
	PROP_AFFINITY, PROP_MIGRATE, PROP_YIELD, PROP_KINDS
};

struct prop_op {
	enum prop_kind kind;
	u32 who;           /* a CPU or a task */
	u32 arg;
};

struct prop_case {
	u64 seed;
	u32 pkgs, cores, threads;
	enum sched_profile profile;
	const char *switches;
	u32 nr_ops;
	struct prop_op op[PROP_OPS_MAX];
};

/* What the case is played with; all zero: the scheduler as it is. */
struct prop_world {
	const struct sched_policy *policy;
	bool no_ticks;       /* faults of the environment */
	bool lost_pull_calls;
	const char *only;    /* this property alone is checked; NULL: all */
};

struct prop_failure {
	const char *property;
	char text[400];
	u32 op;              /* the last one played; nr_ops: after all */
};

void prop_generate(struct prop_case *c, u64 seed);

/* True when all properties hold; else says in f what does not. */
bool prop_run(const struct prop_case *c, const struct prop_world *w, struct prop_failure *f);

/* c fails as f says. Leaves out every operation without which the same property
 * fails all the same (delta debugging: Zeller, Hildebrandt 2002). */
void prop_shrink(struct prop_case *c, const struct prop_world *w, struct prop_failure *f);

/* Seed, machine, operations and what failed, one a line. Returns buf. */
char *prop_format(const struct prop_case *c, const struct prop_failure *f, char *buf, size_t n);

/* Ends the run with a broken property. Returns if the world checks it not. */
void prop_fail(const char *property, const char *text, ...) printf_like(2, 3);

/* ---- property_model.c --------------------------------------------------------- */

void model_init(struct machine *m);

/* Before sched_fork() on the acting CPU makes the task of that index. */
void model_fork(u32 task);

/* p changed class: it left its queue and joined it anew, at the distance from the
 * floor that it had, though that may have risen (DEQUEUE_MOVE). */
void model_requeued(const struct sched_task *p);

/* All clocks went on by ns with nothing else happening. */
void model_time(u64 ns);

/* An operation, or a tick of cpu (m->topo.nr_cpus: of none), has been settled. */
void model_settled(u32 tick_cpu);

#endif
