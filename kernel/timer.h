/* SPDX-License-Identifier: MIT */
/* One-shot timers, one queue per CPU, driving that CPU's timer interrupt. */
#ifndef KERNEL_TIMER_H
#define KERNEL_TIMER_H

#include "lib/arena.h"
#include "lib/rbtree.h"
#include "lib/types.h"

struct timer {
	struct rb_node node;
	u64 expires_ns;
	void (*fn)(struct timer *t); /* interrupts off, on the CPU that started it */
	bool pending;
};

void timers_init(u32 nr_cpus, struct arena *a);

/* Starts t on the calling CPU; it must not be pending. (sync) */
void timer_start(struct timer *t, u64 expires_ns, void (*fn)(struct timer *t));

/* The timer interrupt: fires what is due. Interrupts off. */
void timers_run(void);

#endif
