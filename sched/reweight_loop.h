/* SPDX-License-Identifier: MIT */
/*
 * The reweight micro loop (spec/workloads.md section 12): weight updates on a private
 * queue that no CPU schedules from, so that nothing but reweight_entity() is timed.
 */
#ifndef SCHED_REWEIGHT_LOOP_H
#define SCHED_REWEIGHT_LOOP_H

#include "sched.h"

struct reweight_loop;

/* A queue of three entities, attached and queued; nobody else knows it, so it needs
 * no lock. Memory from the scheduler's arena. */
struct reweight_loop *reweight_loop_create(struct sched *s);

/* Gives one of them, which waits, a new weight so many times, each other than the
 * last. Interrupts are off meanwhile. No sync point. */
void reweight_loop_run(struct reweight_loop *r, u64 calls);

/* The queue as the loop left it, and as it must be after so many calls in all. */
struct reweight_state {
	u64 weight, load, load_avg, queue_load_avg;
	u32 nr_running;
};
struct reweight_state reweight_loop_state(const struct reweight_loop *r);
struct reweight_state reweight_loop_expected(const struct reweight_loop *r, u64 calls);

#endif
