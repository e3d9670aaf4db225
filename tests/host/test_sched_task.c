/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Nice, class, affinity, fork, groups, switches and their counts:
 * spec/cfs-core.md section 9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "env/machine.h"

#define MS 1000000ull

extern jmp_buf *panic_jump;

static struct machine m;

static void pin(struct sched_task *p, u64 allowed)
{
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
}

static s64 offset(const struct sched_task *p)
{
	return (s64)(p->se.vruntime - p->se.cfs_rq->min_vruntime);
}

/* ---- nice and class -------------------------------------------------------------- */

/* Queued, running, asleep, new: the offset to the floor stays, never rescaled. */
static void test_nice_keeps_offset(void **state)
{
	struct sched_task *curr, *queued, *asleep, *fresh;
	s64 was[3];

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "NO_WAKEUP_PREEMPTION");
	asleep = machine_start(&m, 0);
	machine_advance(&m, 300000);
	machine_sleep(&m);
	curr = machine_start(&m, 0);
	queued = machine_fork(&m);
	sched_wake_new(m.s, queued);
	fresh = machine_fork(&m);
	machine_advance(&m, 100000);
	machine_tick(&m, 0);
	was[0] = offset(curr);
	was[1] = offset(queued);
	was[2] = offset(asleep);
	sched_set_nice(m.s, queued, -7);
	sched_set_nice(m.s, curr, 12);
	sched_set_nice(m.s, asleep, 3);
	sched_set_nice(m.s, fresh, 19);
	assert_int_equal(offset(curr), was[0]);
	assert_int_equal(offset(queued), was[1]);
	assert_int_equal(offset(asleep), was[2]);
	assert_int_equal(queued->se.load.weight, scale_load(4904));
	assert_int_equal(queued->se.load.inv_weight, 875809);
	assert_int_equal(curr->se.load.weight, scale_load(70));
	assert_int_equal(asleep->se.load.weight, scale_load(526));
	assert_int_equal(fresh->se.load.weight, scale_load(15));
	assert_int_equal(cpu_rq(m.s, 0)->cfs.load.weight, scale_load(4904 + 70));
	machine_free(&m);
}

/* Asleep and put, but still its CPU's current task: what another CPU sees of one
 * that pulls before it idles. */
static void test_nice_during_a_pull(void **state)
{
	struct sched_task *p;
	struct rq *rq;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	p = machine_start(&m, 0);
	machine_advance(&m, 100000);
	rq = cpu_rq(m.s, 0);
	rq_lock(rq);
	update_rq_clock(rq);
	deactivate_task(rq, p, DEQUEUE_SLEEP);
	put_prev_task(p);
	rq_unlock(rq);
	sched_set_nice(m.s, p, 5);
	assert_null(rq->cfs.curr);
	assert_int_equal(rq->cfs.nr_running, 0);
	assert_int_equal(p->se.load.weight, scale_load(335));
	rq_lock(rq);
	rq->curr = rq->idle;
	rq_unlock(rq);
	p->on_cpu = false;
	machine_free(&m);
}

/* Nor does that of the group whose only task it is. */
static void test_nice_keeps_group_offset(void **state)
{
	struct task_group *tg;
	struct sched_task *p;
	u64 v;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	tg = tg_create(m.s, &m.s->root_tg, 1024);
	machine_start(&m, 0);
	p = machine_fork(&m);
	sched_move_task(m.s, p, tg);
	sched_wake_new(m.s, p);
	machine_advance(&m, 50 * MS);
	machine_tick(&m, 0);
	machine_advance(&m, 100 * MS);
	machine_tick(&m, 0);
	v = tg->se[0]->vruntime;
	assert_true(v > cpu_rq(m.s, 0)->cfs.min_vruntime);
	sched_set_nice(m.s, p, 7);
	assert_int_equal(tg->se[0]->vruntime, v);
	machine_free(&m);
}

/* While it runs, what it ran so far counts at the old weight, and the turn starts
 * anew. */
static void test_nice_while_running(void **state)
{
	struct sched_task *p;
	u64 v;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	p = machine_start(&m, 0);
	v = p->se.vruntime;
	machine_advance(&m, MS);
	sched_set_nice(m.s, p, 19);
	assert_int_equal(p->se.vruntime, v + MS);
	assert_int_equal(p->se.sum_exec_runtime - p->se.prev_sum_exec_runtime, 0);
	assert_true(cpu_rq(m.s, 0)->cfs.curr == &p->se);
	machine_advance(&m, MS);
	machine_tick(&m, 0);
	assert_int_equal(p->se.vruntime, v + MS + 68266666);
	machine_free(&m);
}

static void test_nice_resched(void **state)
{
	struct sched_task *curr, *p;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	curr = machine_start(&m, 0);
	machine_advance(&m, 100000);
	machine_tick(&m, 0); /* the floor follows it */
	p = machine_fork(&m);
	sched_wake_new(m.s, p);
	sched_set_nice(m.s, curr, -1);
	assert_false(sched_need_resched(m.s, 0));
	sched_set_nice(m.s, p, 4); /* waits: as a wake-up, and it is behind */
	assert_false(sched_need_resched(m.s, 0));
	sched_set_nice(m.s, curr, 0); /* runs and got less important */
	assert_true(sched_need_resched(m.s, 0));
	machine_interrupts(&m, 0);
	/* p gets ahead of a curr that ran: renicing is a wake-up check. */
	machine_advance(&m, 20 * MS);
	sched_set_nice(m.s, p, -19);
	assert_true(sched_need_resched(m.s, 0));
	machine_free(&m);
}

static void test_class(void **state)
{
	struct cfs_rq *root;
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	root = &cpu_rq(m.s, 0)->cfs;
	p = machine_start(&m, 0);
	sched_set_nice(m.s, p, -20);
	sched_wake_new(m.s, machine_fork(&m));
	sched_set_class(m.s, p, SCHED_CLASS_IDLE);
	assert_int_equal(p->se.load.weight, scale_load(3));
	assert_int_equal(p->se.load.inv_weight, 1431655765);
	assert_int_equal(root->idle_nr_running, 1);
	assert_int_equal(root->idle_h_nr_running, 1);
	/* The nice value waits for the class to return. */
	sched_set_nice(m.s, p, 5);
	assert_int_equal(p->se.load.weight, scale_load(3));
	sched_set_class(m.s, p, SCHED_CLASS_BATCH);
	assert_int_equal(p->se.load.weight, scale_load(335));
	assert_int_equal(root->idle_h_nr_running, 0);
	/* A child is as its parent. */
	sched_set_class(m.s, p, SCHED_CLASS_IDLE);
	assert_int_equal(machine_fork(&m)->class, SCHED_CLASS_IDLE);
	assert_int_equal(m.task[m.nr_tasks - 1].nice, 5);
	machine_free(&m);
}

/* Every task below an idle group counts as idle, on all queues above. */
static void test_idle_group_counts(void **state)
{
	struct task_group *outer, *idle;
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	outer = tg_create(m.s, &m.s->root_tg, 1024);
	idle = tg_create_idle(m.s, outer);
	p = machine_start(&m, 0);
	sched_move_task(m.s, p, idle);
	sched_wake_new(m.s, machine_fork(&m));
	assert_int_equal(idle->cfs_rq[0]->idle_h_nr_running, 0);
	assert_int_equal(outer->cfs_rq[0]->idle_h_nr_running, 2);
	assert_int_equal(outer->cfs_rq[0]->idle_nr_running, 1);
	assert_int_equal(cpu_rq(m.s, 0)->cfs.idle_h_nr_running, 2);
	assert_int_equal(idle->se[0]->load.weight, scale_load(3));
	machine_check(&m);
	sched_move_task(m.s, p, &m.s->root_tg);
	assert_int_equal(cpu_rq(m.s, 0)->cfs.idle_h_nr_running, 1);
	machine_free(&m);
}

/* ---- groups ------------------------------------------------------------------------- */

static void test_move_between_groups(void **state)
{
	struct task_group *a, *b;
	struct sched_task *curr, *queued, *asleep;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	a = tg_create(m.s, &m.s->root_tg, 1024);
	b = tg_create(m.s, a, 512);
	assert_int_equal(b->se[0]->depth, 1);
	asleep = machine_start(&m, 0);
	machine_advance(&m, MS);
	machine_sleep(&m);
	curr = machine_start(&m, 0);
	queued = machine_fork(&m);
	sched_wake_new(m.s, queued);
	sched_move_task(m.s, curr, b);
	sched_move_task(m.s, queued, a);
	assert_int_equal(curr->se.depth, 2);
	assert_int_equal(a->cfs_rq[0]->h_nr_running, 2);
	assert_int_equal(a->cfs_rq[0]->nr_running, 2);
	assert_int_equal(b->cfs_rq[0]->nr_running, 1);
	assert_int_equal(cpu_rq(m.s, 0)->cfs.nr_running, 1);
	assert_true(a->cfs_rq[0]->curr == b->se[0]);
	machine_advance(&m, MS);
	machine_tick(&m, 0);
	machine_check(&m);
	assert_int_equal(b->se[0]->sum_exec_runtime, MS);
	assert_int_equal(a->se[0]->sum_exec_runtime, MS);
	/* A sleeper keeps what it is owed against the queue, up to the credit. */
	asleep->se.vruntime = cpu_rq(m.s, 0)->cfs.min_vruntime - 50 * MS;
	sched_move_task(m.s, asleep, b);
	assert_int_equal(offset(asleep), -(s64)(3 * MS));
	sched_wake(m.s, asleep, 0);
	machine_settle(&m);
	assert_int_equal(b->cfs_rq[0]->nr_running, 2);
	machine_free(&m);
}

/* ---- latency_nice and frequency: spec/idle-search.md section 7.3 ------------------- */

/* The task's own counts, whatever its groups say; else the nearest group's; a child
 * has what its parent had. */
static void latency_nice_of(const char *switches, s32 of_root, s32 of_outer)
{
	struct task_group *outer, *inner;
	struct sched_task *p, *child;

	machine_init(&m, 1, 1, 1, PROFILE_V5_2, switches);
	outer = tg_create(m.s, &m.s->root_tg, 1024);
	inner = tg_create(m.s, outer, 1024);
	p = machine_start(&m, 0);
	assert_int_equal(task_latency_nice(m.s, p), 0);
	sched_set_group_latency_nice(m.s, sched_root_group(m.s), 7);
	assert_int_equal(task_latency_nice(m.s, p), of_root);
	sched_move_task(m.s, p, inner);
	assert_int_equal(task_latency_nice(m.s, p), of_root);
	sched_set_group_latency_nice(m.s, outer, -20);
	assert_int_equal(task_latency_nice(m.s, p), of_outer);
	child = machine_fork(&m);
	assert_int_equal(task_latency_nice(m.s, child), of_outer);
	sched_set_latency_nice(m.s, p, 19);
	assert_int_equal(task_latency_nice(m.s, p), 19);
	assert_int_equal(task_latency_nice(m.s, child), of_outer);
	sched_wake_new(m.s, child);
	child = machine_fork(&m);
	assert_int_equal(task_latency_nice(m.s, child), 19);
	sched_set_latency_nice(m.s, child, 0);
	assert_int_equal(task_latency_nice(m.s, child), 0);
	assert_int_equal(task_latency_nice(m.s, &m.idle[0]), 0);
	sched_wake_new(m.s, child);
	machine_free(&m);
}

static void test_latency_nice(void **state)
{
	jmp_buf jump;

	(void)state;
	latency_nice_of("", 0, 0);
	latency_nice_of("LN_GROUP", 7, -20);
	for (s32 bad = -21; bad <= 20; bad += 41) {
		machine_init(&m, 1, 1, 1, PROFILE_V5_2, "");
		panic_jump = &jump;
		if (!setjmp(jump)) {
			sched_set_latency_nice(m.s, machine_start(&m, 0), bad);
			fail_msg("latency_nice %d was taken", bad);
		}
		panic_jump = NULL;
		machine_free(&m);
	}
}

static void test_freq_heavy(void **state)
{
	struct sched_task *p, *child;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V5_2, "");
	p = machine_start(&m, 0);
	assert_false(p->freq_heavy);
	sched_set_freq_heavy(m.s, p, true);
	child = machine_fork(&m);
	assert_true(p->freq_heavy && child->freq_heavy);
	sched_set_freq_heavy(m.s, p, false);
	assert_true(!p->freq_heavy && child->freq_heavy);
	sched_wake_new(m.s, child);
	machine_free(&m);
}

/* ---- affinity ------------------------------------------------------------------------- */

static void test_affinity_queued(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	machine_start(&m, 0);
	p = machine_start(&m, 0);
	pin(p, 0xf); /* allowed where it is: nothing moves */
	assert_int_equal(p->cpu, 0);
	pin(p, 0xc);
	assert_int_equal(p->cpu, 2);
	assert_int_equal(p->nr_allowed, 2);
	assert_int_equal(p->on_rq, TASK_QUEUED);
	machine_settle(&m);
	assert_true(sched_current(m.s, 2) == p);
	machine_free(&m);
}

/* Asked for by another CPU; and it goes even when nothing else could run. */
static void test_affinity_running(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	p = machine_start(&m, 0);
	machine_on(3);
	pin(p, 0x2);
	assert_true(test_env.kicked[0]);
	assert_int_equal(p->cpu, 0);
	machine_advance(&m, 100);
	machine_settle(&m);
	assert_int_equal(p->cpu, 1);
	assert_true(sched_current(m.s, 1) == p);
	assert_true(sched_current(m.s, 0) == &m.idle[0]);
	assert_int_equal(p->se.sum_exec_runtime, 100);
	assert_int_equal(p->nivcsw, 1);
	machine_free(&m);
}

static void test_affinity_self_and_sleep(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	p = machine_start(&m, 0);
	machine_on(0);
	pin(p, 0x4);
	assert_true(sched_need_resched(m.s, 0));
	/* Preempted on its way to sleep: it moves awake, then sleeps there. */
	sched_set_state(m.s, TASK_SLEEPING);
	machine_interrupts(&m, 0);
	assert_int_equal(p->cpu, 2);
	machine_settle(&m);
	machine_on(2);
	assert_true(sched_current(m.s, 2) == p);
	machine_switch(&m, false);
	assert_int_equal(p->on_rq, TASK_OFF_RQ);
	/* Asleep: seen by the next placement. */
	pin(p, 0x2);
	assert_int_equal(p->cpu, 2);
	sched_wake(m.s, p, 0);
	machine_settle(&m);
	assert_int_equal(p->cpu, 1);
	machine_free(&m);
}

static void test_affinity_new(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	machine_start(&m, 0);
	p = machine_fork(&m);
	assert_int_equal(p->recent_used_cpu, 0);
	pin(p, 0x8);
	sched_wake_new(m.s, p);
	assert_int_equal(p->cpu, 3);
	machine_settle(&m);
	assert_true(sched_current(m.s, 3) == p);
	machine_free(&m);
}

static void test_affinity_of_nothing(void **state)
{
	struct sched_task *p;
	jmp_buf jump;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	p = machine_fork(&m);
	if (!setjmp(jump)) {
		panic_jump = &jump;
		pin(p, 0xf0); /* CPUs that do not exist */
		fail();
	}
	free(m.memory);
}

/* ---- the switch ------------------------------------------------------------------------- */

static void test_switch_counts(void **state)
{
	struct sched_task *a, *b;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	a = machine_start(&m, 0);
	b = machine_fork(&m);
	sched_wake_new(m.s, b);
	machine_advance(&m, 20 * MS);
	machine_tick(&m, 0);          /* a is preempted */
	assert_true(sched_current(m.s, 0) == b);
	machine_sleep(&m);            /* b blocks */
	assert_true(sched_current(m.s, 0) == a);
	sched_set_state(m.s, TASK_DEAD);
	machine_switch(&m, false);    /* a exits */
	assert_true(sched_current(m.s, 0) == &m.idle[0]);
	assert_false(sched_wake(m.s, a, 0));
	assert_int_equal(machine_count(&m, switches), 4);
	assert_int_equal(machine_count(&m, switches_preempt), 1);
	assert_int_equal(machine_count(&m, switches_voluntary), 2);
	assert_int_equal(machine_count(&m, tick_preemptions), 1);
	assert_int_equal(machine_count(&m, ticks), 1);
	assert_int_equal(machine_count(&m, idle_entries), 1);
	assert_int_equal(a->nivcsw, 1);
	assert_int_equal(a->nvcsw, 1);
	assert_int_equal(b->nvcsw, 1);
	assert_int_equal(a->se.sum_exec_runtime, 20 * MS);
	machine_free(&m);
}

static char dump[4096];

static void take_line(const char *text)
{
	strcat(dump, text);
	strcat(dump, "\n");
}

static void test_dump(void **state)
{
	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "");
	machine_start(&m, 0);
	sched_set_nice(m.s, machine_start(&m, 0), -3);
	dump[0] = 0;
	sched_dump(m.s, take_line);
	assert_non_null(strstr(dump, "cpu 0: curr 1, 2 running\n"));
	assert_non_null(strstr(dump, "cpu 0 * task 1 (test) nice 0 normal"));
	assert_non_null(strstr(dump, "cpu 0   task 2 (test) nice -3 normal"));
	assert_null(strstr(dump, "cpu 1"));
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nice_keeps_offset),
		cmocka_unit_test(test_nice_during_a_pull),
		cmocka_unit_test(test_nice_keeps_group_offset),
		cmocka_unit_test(test_nice_while_running),
		cmocka_unit_test(test_nice_resched),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_idle_group_counts),
		cmocka_unit_test(test_move_between_groups),
		cmocka_unit_test(test_latency_nice),
		cmocka_unit_test(test_freq_heavy),
		cmocka_unit_test(test_affinity_queued),
		cmocka_unit_test(test_affinity_running),
		cmocka_unit_test(test_affinity_self_and_sleep),
		cmocka_unit_test(test_affinity_new),
		cmocka_unit_test(test_affinity_of_nothing),
		cmocka_unit_test(test_switch_counts),
		cmocka_unit_test(test_dump),
	};

	return cmocka_run_group_tests_name("sched_task", tests, NULL, NULL);
}
