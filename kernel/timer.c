/* SPDX-License-Identifier: MIT */
/* Timer queues. Touched by their own CPU only, interrupts off: no locks. */
#include "timer.h"

#include "../sched/env.h"

static struct rb_tree *queues; /* [cpu] */

void timers_init(u32 nr_cpus, struct arena *a)
{
	queues = arena_alloc(a, nr_cpus * sizeof(*queues));
}

static bool timer_less(const struct rb_node *a, const struct rb_node *b)
{
	return container_of(a, struct timer, node)->expires_ns <
	       container_of(b, struct timer, node)->expires_ns;
}

/* Tells the CPU's timer hardware about the queue's head. */
static void hardware_set(u32 cpu)
{
	struct rb_node *first = rb_first(&queues[cpu]);

	env_timer_set(first ? container_of(first, struct timer, node)->expires_ns : TIME_NEVER);
}

void timer_start(struct timer *t, u64 expires_ns, void (*fn)(struct timer *t))
{
	env_irq_off();
	env_sync();

	u32 cpu = env_this_cpu();

	env_path_begin(PATH_TIMER);
	t->expires_ns = expires_ns;
	t->fn = fn;
	__atomic_store_n(&t->pending, true, __ATOMIC_RELAXED); /* for reports */
	rb_insert(&queues[cpu], &t->node, timer_less);
	hardware_set(cpu);
	env_path_end(PATH_TIMER);
	env_irq_on();
}

void timers_run(void)
{
	u32 cpu = env_this_cpu();

	for (;;) {
		struct rb_node *first = rb_first(&queues[cpu]);
		struct timer *t;

		if (!first)
			break;
		t = container_of(first, struct timer, node);
		if (t->expires_ns > env_now())
			break;
		env_path_begin(PATH_TIMER);
		rb_erase(&queues[cpu], &t->node);
		__atomic_store_n(&t->pending, false, __ATOMIC_RELAXED);
		env_path_end(PATH_TIMER);
		t->fn(t);
	}
	hardware_set(cpu);
}
