/* SPDX-License-Identifier: MIT */
/*
 * Queued spinlocks in virtual time (DESIGN section 2, "Locks"). A lock is free
 * at t only if nobody holds it and it was released no later than t: its last
 * owner may have run ahead of t before it let go.
 */
#include "../../sched/env.h"
#include "../panic.h"
#include "engine.h"

void engine_lock_init(struct env_lock *l, u8 kind, const char *name, u32 id)
{
	*l = (struct env_lock){ .name = name, .id = id, .owner = NO_CPU, .wait_head = NO_CPU,
				.wait_tail = NO_CPU };
	engine_line_init(&l->line, kind);
}

#ifdef ANECHOIC_DEBUG
/* Wait queues and what else tasks share, then a task's lock, then runqueues' by
 * number, then one of removed load. 0: any number of these, in an order of their own. */
static u32 lock_rank(const struct env_lock *l)
{
	switch (l->line.kind) {
	case LINE_TASK:
		return 1;
	case LINE_RQ_LOCK:
		return 2;
	case LINE_REMOVED:
		return 3;
	default:
		return 0;
	}
}

void lock_check_order(const struct env_lock *l, const struct ecpu *c)
{
	for (u32 i = 0; i < c->nr_held; i++) {
		const struct env_lock *h = c->held[i];
		u32 rank = lock_rank(l), before = lock_rank(h);

		panic_unless(!before || rank > before ||
				     (rank == 2 && before == 2 && l->id > h->id) || l == h,
			     "lock order: cpu %u takes %s %u while it holds %s %u", c->id, l->name,
			     l->id, h->name, h->id);
	}
}
#endif

void lock_owned(struct env_lock *l, struct ecpu *c)
{
	__atomic_store_n(&l->owner, c->id, __ATOMIC_RELAXED);
	panic_unless(c->nr_held < ENGINE_MAX_HELD, "lock %s %u: cpu %u holds %u locks", l->name,
		     l->id, c->id, c->nr_held);
	/* Atomic, because a report may look at another CPU's. */
	__atomic_store_n(&c->held[c->nr_held], l, __ATOMIC_RELAXED);
	counter_add(&c->nr_held, 1);
}

void lock_disowned(struct env_lock *l, struct ecpu *c)
{
	u32 i = c->nr_held;

	panic_unless(l->owner == c->id, "unlock of %s %u by cpu %u, owner %u", l->name, l->id,
		     c->id, l->owner);
	while (c->held[--i] != l)
		;
	counter_add(&c->nr_held, -1);
	for (; i < c->nr_held; i++)
		__atomic_store_n(&c->held[i], c->held[i + 1], __ATOMIC_RELAXED);
	__atomic_store_n(&l->owner, NO_CPU, __ATOMIC_RELAXED);
}

/* A cycle among lock owners can never resolve. Called when c starts to wait. */
static void check_cycle(const struct ecpu *c)
{
	const struct ecpu *o = c;

	for (u32 hops = 0; o->waiting_for && o->waiting_for->owner != NO_CPU; hops++) {
		o = &engine.cpu[o->waiting_for->owner];
		if (o == c || hops > engine.nr_cpus)
			engine_fail("lock cycle: cpu %u waits for %s %u, in the end for itself",
				    c->id, c->waiting_for->name, c->waiting_for->id);
	}
}

/* The line moves to its new owner at that one's time: until then a trylock may
 * still look at it. */
static void transfer(struct env_lock *l, struct ecpu *c)
{
	line_pay(&l->line, c, true);
}

static void waited(struct ecpu *c, u64 ps)
{
	c->lock_wait_ps += ps;
	engine.path_lock_ps[path_top(c)] += ps;
}

/* The queue is FIFO: the CPU that asks is put last and given the lock by the
 * owner's unlock, which also moves its clock. */
static void wait_for(struct env_lock *l, struct ecpu *c)
{
	u64 since_ps = c->now_ps;

	engine_exit();
	env_trace(EV_LOCK_WAIT, l->line.kind, l->id, l->owner, 0);
	engine_enter();
	c->waiting_for = l;
	c->next_waiter = NO_CPU;
	if (l->wait_tail == NO_CPU)
		l->wait_head = c->id;
	else
		engine.cpu[l->wait_tail].next_waiter = c->id;
	l->wait_tail = c->id;
	c->state = ECPU_LOCK_WAIT;
	check_cycle(c);
	engine_pass(c);
	waited(c, c->now_ps - since_ps);
	transfer(l, c);
}

static void hand_over(struct env_lock *l)
{
	struct ecpu *w = &engine.cpu[l->wait_head];

	l->wait_head = w->next_waiter;
	if (l->wait_head == NO_CPU)
		l->wait_tail = NO_CPU;
	lock_owned(l, w);
	w->waiting_for = NULL;
	w->state = ECPU_RUN;
	if (w->now_ps < l->release_ps)
		w->now_ps = l->release_ps;
	engine_requeue(w);
}

/* Interrupts go off before the request; within another lock they are off. */
static void request(void)
{
	if (!engine.cur->irq_depth++)
		engine_charge_ps(engine.surcharge_ps[ENV_IRQSAVE]);
	engine_sync();
}

void engine_lock(struct env_lock *l)
{
	request();

	struct ecpu *c = engine.cur;

	panic_unless(l->owner != c->id, "lock %s %u: cpu %u takes it twice", l->name, l->id, c->id);
	lock_check_order(l, c);
	if (l->owner != NO_CPU) {
		wait_for(l, c);
		return;
	}
	lock_owned(l, c);
	if (l->release_ps > c->now_ps) {
		waited(c, l->release_ps - c->now_ps);
		c->now_ps = l->release_ps;
		engine_sync();
	}
	transfer(l, c);
}

bool engine_trylock(struct env_lock *l)
{
	request();

	struct ecpu *c = engine.cur;
	bool got = l->owner == NO_CPU && l->release_ps <= c->now_ps;

	line_pay(&l->line, c, got);
	if (got)
		lock_owned(l, c);
	else
		c->irq_depth--;
	return got;
}

void engine_unlock(struct env_lock *l)
{
	struct ecpu *c = engine.cur;

	lock_disowned(l, c);
	l->release_ps = c->now_ps;
	if (l->wait_head != NO_CPU)
		hand_over(l);
	panic_unless(c->irq_depth, "unlock of %s %u with interrupts on", l->name, l->id);
	c->irq_depth--;
}
