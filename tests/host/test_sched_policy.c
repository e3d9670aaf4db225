/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * A second policy behind the same table: round robin in order of arrival. It
 * proves that hierarchy, wake-ups, switches and migration need nothing of CFS.
 * The key, kept in vruntime, is a ticket; the queue's min_vruntime gives them out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"

#define TICK_NS 1000000
#define TURN_NS (3 * TICK_NS)

static struct machine m;
static u64 reweights, charged_ns;

static bool fifo_less(const struct rb_node *a, const struct rb_node *b)
{
	return entity_of_node(a)->vruntime < entity_of_node(b)->vruntime;
}

static void fifo_place(struct cfs_rq *q, struct sched_entity *se, enum place_why why)
{
	(void)q, (void)se, (void)why; /* the place is given on entry to the tree */
}

static void fifo_charge(struct cfs_rq *q, struct sched_entity *curr, u64 delta_ns)
{
	(void)curr;
	if (q == &q->rq->cfs)
		charged_ns += delta_ns;
}

static void fifo_enqueue(struct cfs_rq *q, struct sched_entity *se)
{
	se->vruntime = q->min_vruntime++;
}

static void fifo_forget(struct cfs_rq *q, struct sched_entity *se)
{
	(void)q, (void)se;
}

static void fifo_floor(struct cfs_rq *q)
{
	(void)q;
}

static void fifo_renormalise(struct cfs_rq *q, struct sched_entity *se, bool out)
{
	(void)q, (void)se, (void)out;
}

/* curr goes on until the tick ends its turn, which it marks by skip. */
static struct sched_entity *fifo_pick(struct cfs_rq *q, struct sched_entity *curr)
{
	struct sched_entity *first = entity_of_node(rb_first(&q->tree));

	if (curr && (q->skip != curr || !first))
		first = curr;
	q->skip = NULL;
	return first;
}

static bool fifo_tick(struct cfs_rq *q, struct sched_entity *curr)
{
	if (curr->sum_exec_runtime - curr->prev_sum_exec_runtime < TURN_NS)
		return false;
	q->skip = curr;
	return true;
}

static bool fifo_wakeup_check(struct rq *rq, struct sched_task *curr, struct sched_task *p,
			      bool fork)
{
	(void)rq, (void)curr, (void)p, (void)fork;
	return false;
}

static void fifo_reweight(struct cfs_rq *q, struct sched_entity *se, u64 from, u64 to)
{
	(void)q, (void)se;
	reweights += from != to;
}

static void fifo_yield(struct sched_task *curr)
{
	curr->se.cfs_rq->skip = &curr->se;
}

static bool fifo_fork(struct cfs_rq *q, struct sched_entity *child, struct sched_entity *curr)
{
	(void)q, (void)child, (void)curr;
	return false;
}

static const struct sched_policy fifo = {
	.name = "fifo",
	.less = fifo_less,
	.place = fifo_place,
	.charge = fifo_charge,
	.enqueue = fifo_enqueue,
	.dequeue = fifo_forget,
	.floor = fifo_floor,
	.renormalise = fifo_renormalise,
	.pick = fifo_pick,
	.set_next = fifo_forget,
	.tick = fifo_tick,
	.wakeup_check = fifo_wakeup_check,
	.reweight = fifo_reweight,
	.yield = fifo_yield,
	.fork = fifo_fork,
};

static void begin(u32 cpus)
{
	reweights = charged_ns = 0;
	machine_init_policy(&m, 1, cpus, 1, PROFILE_V6_4, "", &fifo);
}

static void tick(u32 n)
{
	for (u32 i = 0; i < n; i++) {
		machine_advance(&m, TICK_NS);
		for (u32 c = 0; c < m.topo.nr_cpus; c++)
			if (!sched_current(m.s, c)->is_idle_task)
				machine_tick(&m, c);
		machine_settle(&m);
	}
}

/* Equal turns in order of arrival, whatever the weights. */
static void test_round_robin(void **state)
{
	static const s32 nice[3] = { -20, 0, 19 };
	struct sched_task *t[3];

	(void)state;
	begin(1);
	for (u32 i = 0; i < 3; i++) {
		t[i] = machine_start(&m, 0);
		sched_set_nice(m.s, t[i], nice[i]);
	}
	assert_int_equal(reweights, 3); /* children start with the nice value of who ran */
	/* Renicing sends a task to the back: 0 is alone then, 1 and 2 in order. */
	for (u32 turn = 0; turn < 9; turn++) {
		assert_true(sched_current(m.s, 0) == t[turn % 3]);
		tick(3);
	}
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(t[i]->se.sum_exec_runtime, 9 * TICK_NS);
	assert_int_equal(charged_ns, 27 * TICK_NS);
	machine_free(&m);
}

static void test_sleep_yield_wake(void **state)
{
	struct sched_task *a, *b, *c;

	(void)state;
	begin(1);
	a = machine_start(&m, 0);
	b = machine_start(&m, 0);
	c = machine_start(&m, 0);
	machine_sleep(&m);
	assert_true(sched_current(m.s, 0) == b);
	sched_yield(m.s);
	assert_true(machine_switch(&m, false) == c);
	sched_wake(m.s, a, 0);
	assert_false(sched_need_resched(m.s, 0));
	sched_yield(m.s);
	assert_true(machine_switch(&m, false) == b);
	sched_yield(m.s);
	assert_true(machine_switch(&m, false) == a);
	machine_free(&m);
}

/* A group takes one turn of its parent's, its members share it. */
static void test_groups(void **state)
{
	struct sched_task *a, *b1, *b2;
	struct task_group *tg;

	(void)state;
	begin(1);
	tg = tg_create(m.s, &m.s->root_tg, 1024);
	a = machine_start(&m, 0);
	b1 = machine_start(&m, 0);
	b2 = machine_start(&m, 0);
	sched_move_task(m.s, b1, tg);
	sched_move_task(m.s, b2, tg);
	tick(1200);
	assert_in_range(a->se.sum_exec_runtime / TICK_NS, 595, 605);
	assert_in_range(b1->se.sum_exec_runtime / TICK_NS, 295, 305);
	assert_in_range(b2->se.sum_exec_runtime / TICK_NS, 295, 305);
	machine_check(&m);
	machine_free(&m);
}

static void test_migration(void **state)
{
	(void)state;
	begin(4);
	for (u32 i = 0; i < 12; i++)
		machine_start(&m, 0);
	tick(40);
	for (u32 c = 0; c < 4; c++)
		assert_true(sched_nr_running(m.s, c) >= 1);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_robin),
		cmocka_unit_test(test_sleep_yield_wake),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_migration),
	};

	return cmocka_run_group_tests_name("sched_policy", tests, NULL, NULL);
}
