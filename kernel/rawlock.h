/* SPDX-License-Identifier: MIT */
/*
 * Guards the kernel's own bookkeeping (task lists, allocation), which is no part
 * of the model: free of virtual cost and, in lockstep, of any action, since code
 * between two sync points runs undisturbed. Hold it for a few instructions and
 * across no sync point.
 */
#ifndef KERNEL_RAWLOCK_H
#define KERNEL_RAWLOCK_H

#include "../sched/env.h"
#include "platform.h"

struct raw_lock {
	u32 word;
};

static inline void raw_lock(struct raw_lock *l)
{
	if (!engine.live)
		return;
	live_irq_off();
	while (__atomic_exchange_n(&l->word, 1, __ATOMIC_ACQUIRE))
		plat_relax();
}

static inline void raw_unlock(struct raw_lock *l)
{
	if (!engine.live)
		return;
	__atomic_store_n(&l->word, 0, __ATOMIC_RELEASE);
	live_irq_on();
}

#endif
