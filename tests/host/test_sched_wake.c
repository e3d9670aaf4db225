/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Waking: remote queues, races between sleeper and waker, IPIs.
 * spec/idle-search.md sections 2, 6 and 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"

static struct machine m;

static struct sched_task *runs_on(u32 cpu)
{
	struct sched_task *t = machine_start(&m, cpu);

	assert_true(sched_current(m.s, cpu) == t);
	return t;
}

static void pin(struct sched_task *p, u64 allowed)
{
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
}

/* Ran last on cpu, sleeps. */
static struct sched_task *sleeps_on(u32 cpu)
{
	struct sched_task *t = runs_on(cpu);
	u32 before = test_env.cpu;

	machine_on(cpu);
	machine_sleep(&m);
	machine_on(before);
	return t;
}

/* ---- remote queues ------------------------------------------------------------ */

static void test_remote_queue(void **state)
{
	struct sched_task *p, *q;

	(void)state;
	machine_init(&m, 2, 4, 1, PROFILE_V5_2, "");
	p = sleeps_on(5);
	q = sleeps_on(5);
	runs_on(0);
	test_env.calls = test_env.kicks = 0;
	machine_on(0);
	assert_true(idle_cpu(m.s, 5));
	assert_true(sched_wake(m.s, p, 0));
	assert_int_equal(test_env.calls, 1);
	assert_int_equal(p->state, TASK_WAKING);
	assert_int_equal(sched_nr_running(m.s, 5), 0);
	assert_false(idle_cpu(m.s, 5));
	/* A second one before the first is taken needs no IPI. */
	pin(q, 0x20);
	assert_true(sched_wake(m.s, q, 0));
	assert_int_equal(test_env.calls, 1);
	assert_int_equal(machine_count(&m, wake_list_queued), 2);
	assert_int_equal(machine_count(&m, wake_list_ipis), 1);
	assert_false(sched_wake(m.s, p, 0)); /* no longer asleep */
	/* The newest is activated first, and so stands first among equals. */
	machine_on(5);
	env_irq_off();
	sched_wake_list_drain(m.s);
	env_irq_on();
	assert_int_equal(sched_nr_running(m.s, 5), 2);
	assert_true(cpu_rq(m.s, 5)->tasks.prev == &q->rq_node);
	assert_int_equal(p->state, TASK_RUNNING);
	assert_int_equal(q->state, TASK_RUNNING);
	machine_settle(&m);
	machine_free(&m);
}

/* A CPU whose idle loop polls is told without an IPI, and counted so; so is a second
 * task on a list that is not empty. */
static void test_polling_target(void **state)
{
	(void)state;
	for (u32 polls = 0; polls < 2; polls++) {
		struct sched_task *p, *q, *near;

		machine_init(&m, 2, 4, 1, PROFILE_V5_2, "");
		p = sleeps_on(5);
		q = sleeps_on(5);
		near = sleeps_on(3);
		pin(near, 0x08);
		runs_on(0);
		for (u32 c = 0; c < 8; c++)
			test_env.polls[c] = polls;
		u64 lists = machine_count(&m, wake_list_ipis);
		u64 kicks = machine_count(&m, resched_ipis);
		u64 saved = machine_count(&m, ipis_saved);

		test_env.calls = test_env.kicks = 0;
		machine_on(0);
		sched_wake(m.s, p, 0);
		pin(q, 0x20);
		sched_wake(m.s, q, 0);
		assert_int_equal(test_env.calls, 1);
		assert_int_equal(machine_count(&m, wake_list_ipis) - lists, !polls);
		assert_int_equal(machine_count(&m, ipis_saved) - saved, 1 + polls);
		sched_wake(m.s, near, 0);
		assert_int_equal(test_env.kicks, 1);
		assert_int_equal(machine_count(&m, resched_ipis) - kicks, !polls);
		assert_int_equal(machine_count(&m, ipis_saved) - saved, 1 + 2 * polls);
		machine_settle(&m);
		assert_int_equal(p->state, TASK_RUNNING);
		assert_int_equal(sched_nr_running(m.s, 3), 1);
		machine_free(&m);
	}
}

/* Within the LLC v5.2 enqueues at once; v6.4 passes work to a CPU that runs nothing. */
static void test_local_queue(void **state)
{
	static const struct {
		enum sched_profile profile;
		const char *switches;
		bool busy, listed;
	} table[] = {
		{ PROFILE_V5_2, "", false, false },
		{ PROFILE_V6_4, "", false, true },
		{ PROFILE_V6_4, "", true, false },
		{ PROFILE_V6_4, "NO_TTWU_QUEUE", false, false },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct sched_task *p;

		machine_init(&m, 2, 4, 1, table[i].profile, table[i].switches);
		p = sleeps_on(3);
		pin(p, 0x08);
		runs_on(0);
		if (table[i].busy)
			runs_on(3);
		test_env.calls = test_env.kicks = 0;
		sched_wake(m.s, p, 0);
		assert_int_equal(test_env.calls, table[i].listed);
		assert_int_equal(p->state, table[i].listed ? TASK_WAKING : TASK_RUNNING);
		/* An idle CPU that got the task directly is told to look. */
		assert_int_equal(test_env.kicks, !table[i].listed && !table[i].busy);
		assert_int_equal(machine_count(&m, resched_ipis), test_env.kicks);
		machine_settle(&m);
		assert_int_equal(sched_nr_running(m.s, 3), 1 + table[i].busy);
		machine_free(&m);
	}
}

/* To one's own CPU nothing is sent. */
static void test_own_cpu(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "");
	p = sleeps_on(0);
	pin(p, 1);
	machine_advance(&m, 1000);
	sched_wake(m.s, p, WAKE_SYNC);
	assert_int_equal(p->woken_ns, test_env.now[0]);
	assert_int_equal(test_env.calls + test_env.kicks, 0);
	assert_true(sched_need_resched(m.s, 0));
	machine_interrupts(&m, 0);
	assert_true(sched_current(m.s, 0) == p);
	assert_int_equal(machine_count(&m, wakeups), 1);
	assert_int_equal(machine_count(&m, wakeups_sync), 1);
	assert_int_equal(machine_count(&m, wakeups_remote), 0);
	assert_int_equal(machine_count(&m, wakeups_new), 1);
	machine_free(&m);
}

static void test_counts_of_a_migration(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V5_2, "");
	p = sleeps_on(1);
	runs_on(1);
	runs_on(0);
	sched_wake(m.s, p, 0);
	assert_int_equal(p->cpu, 2);
	assert_int_equal(p->wake_cpu, 2);
	assert_int_equal(p->migrations, 1);
	assert_int_equal(machine_count(&m, wake_migrations), 1);
	assert_int_equal(machine_count(&m, wakeups_remote), 1);
	assert_int_equal(test_env.last[EV_WAKE][1], 2);
	assert_int_equal(test_env.last[EV_WAKE][3], 1);
	machine_settle(&m);
	assert_true(sched_current(m.s, 2) == p);
	machine_free(&m);
}

/* ---- affinity that changes while a wake-up is under way ----------------------------- */

static void test_redirect(void **state)
{
	(void)state;
	/* Bound for the CPU it slept on (key absolute), or for another (relative). */
	for (u32 slept = 4; slept < 6; slept++) {
		struct sched_task *p;

		machine_init(&m, 2, 4, 1, PROFILE_V6_4, "");
		p = sleeps_on(slept);
		p->se.vruntime = cpu_rq(m.s, slept)->cfs.min_vruntime + 700;
		for (u32 c = 0; c < 8; c++)
			cpu_rq(m.s, c)->cfs.min_vruntime += 1000000000 * (c + 1);
		p->se.vruntime += 1000000000 * (slept + 1);
		pin(p, 0x20);
		sched_wake(m.s, p, 0);
		assert_int_equal(p->state, TASK_WAKING);
		assert_int_equal(p->cpu, 5);
		pin(p, 0x0c);
		machine_settle(&m);
		assert_int_equal(p->cpu, 2);
		assert_int_equal(p->se.vruntime, cpu_rq(m.s, 2)->cfs.min_vruntime + 700);
		assert_true(sched_current(m.s, 2) == p);
		for (u32 c = 0; c < 8; c++)
			cpu_rq(m.s, c)->cfs.checked_min_vruntime = cpu_rq(m.s, c)->cfs.min_vruntime;
		machine_free(&m);
	}
}

/* ---- sleeper against waker ------------------------------------------------------------ */

static struct sched_task *victim;
static u32 hook_runs;

/* The wake-up comes after the state is set and before the switch: no sleep. */
static void test_wake_before_switch(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "");
	p = runs_on(0);
	machine_on(0);
	sched_set_state(m.s, TASK_SLEEPING);
	machine_on(1);
	assert_true(sched_wake(m.s, p, 0));
	assert_false(sched_wake(m.s, p, 0));
	assert_int_equal(machine_count(&m, wakeups_queued), 1);
	machine_on(0);
	assert_true(machine_switch(&m, false) == p);
	assert_int_equal(sched_nr_running(m.s, 0), 1);
	machine_free(&m);
}

/* A task that is preempted before it could sleep stays queued. */
static void test_preempted_before_sleep(void **state)
{
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
	p = runs_on(0);
	sched_set_state(m.s, TASK_SLEEPING);
	machine_switch(&m, true);
	assert_int_equal(sched_nr_running(m.s, 0), 1);
	machine_switch(&m, false);
	assert_int_equal(sched_nr_running(m.s, 0), 0);
	assert_false(p->on_cpu);
	machine_free(&m);
}

/* The waker comes while the sleeper's CPU is between pick and switch: it waits. */
static void finish_switch(void)
{
	u32 before = test_env.cpu;

	hook_runs++;
	machine_on(0);
	sched_switch_end(m.s, victim);
	machine_on(before);
}

static void test_waker_waits_for_switch(void **state)
{
	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V5_2, "");
	victim = runs_on(0);
	hook_runs = 0;
	test_env.on_relax = finish_switch;
	machine_on(0);
	sched_set_state(m.s, TASK_SLEEPING);
	assert_true(sched_switch_begin(m.s, false) == &m.idle[0]);
	assert_true(victim->on_cpu);
	machine_on(1);
	assert_true(sched_wake(m.s, victim, 0));
	assert_int_equal(hook_runs, 1);
	assert_false(victim->on_cpu);
	machine_settle(&m);
	assert_int_equal(victim->state, TASK_RUNNING);
	assert_int_equal(sched_nr_running(m.s, victim->cpu), 1);
	machine_free(&m);
}

/* Whoever wants the queue of a task between two queues waits for its arrival. */
static void arrive(void)
{
	u32 before = test_env.cpu;

	hook_runs++;
	machine_on(0);
	env_irq_off();
	finish_move(m.s, victim, 1);
	env_irq_on();
	machine_on(before);
}

static void test_wait_for_migrating(void **state)
{
	struct rq *rq;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	rq = cpu_rq(m.s, 0);
	runs_on(0);
	victim = machine_start(&m, 0);
	hook_runs = 0;
	test_env.on_relax = arrive;
	machine_on(0);
	rq_lock(rq);
	update_rq_clock(rq);
	deactivate_task(rq, victim, 0);
	rq_unlock(rq);
	machine_on(3);
	sched_set_nice(m.s, victim, 5);
	assert_int_equal(hook_runs, 1);
	assert_int_equal(victim->cpu, 1);
	assert_int_equal(cpu_rq(m.s, 1)->cfs.load.weight, scale_load(335));
	machine_settle(&m);
	machine_free(&m);
}

/* p moves between the look at its CPU and the lock of that CPU's queue. */
static void move_away(enum env_line_kind kind)
{
	u32 before = test_env.cpu;

	if (kind != LINE_RQ_LOCK || hook_runs)
		return;
	hook_runs++;
	machine_on(0);
	rq_lock(cpu_rq(m.s, 0));
	update_rq_clock(cpu_rq(m.s, 0));
	deactivate_task(cpu_rq(m.s, 0), victim, 0);
	rq_unlock(cpu_rq(m.s, 0));
	env_irq_off();
	finish_move(m.s, victim, 1);
	env_irq_on();
	machine_on(before);
}

static void test_lock_follows_task(void **state)
{
	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "");
	runs_on(0);
	victim = machine_start(&m, 0);
	hook_runs = 0;
	machine_on(3);
	test_env.on_sync = move_away;
	sched_set_nice(m.s, victim, 5);
	test_env.on_sync = NULL;
	assert_int_equal(victim->cpu, 1);
	assert_int_equal(cpu_rq(m.s, 1)->cfs.load.weight, scale_load(335));
	machine_settle(&m);
	machine_free(&m);
}

/* A wake-up that comes while the CPU, about to idle, has dropped its lock to pull. */
static void wake_during_pull(enum env_line_kind kind)
{
	u32 before = test_env.cpu;

	if (kind != LINE_RQ_STATE || cpu_rq(m.s, 0)->lock.owner != TEST_NOBODY ||
	    sched_nr_running(m.s, 0) || hook_runs)
		return;
	hook_runs++;
	machine_on(1);
	assert_true(sched_wake(m.s, victim, 0));
	machine_on(before);
}

static void test_wake_during_pull(void **state)
{
	struct sched_task *last;
	struct rq *rq;

	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "NO_TTWU_QUEUE");
	rq = cpu_rq(m.s, 0);
	victim = sleeps_on(0);
	pin(victim, 1);
	last = runs_on(0);
	m.s->overload = true;
	machine_advance(&m, 50000000); /* so that victim would preempt it */
	machine_on(0);
	sched_set_state(m.s, TASK_SLEEPING);
	hook_runs = 0;
	test_env.on_sync = wake_during_pull;
	assert_true(machine_switch(&m, false) == victim);
	test_env.on_sync = NULL;
	assert_int_equal(hook_runs, 1);
	assert_int_equal(rq->idle_stamp, 0); /* it did not idle */
	assert_false(sched_need_resched(m.s, 0));
	assert_int_equal(machine_count(&m, wakeup_preemptions), 0);
	assert_int_equal(last->se.sum_exec_runtime, 50000000);
	machine_settle(&m);
	machine_free(&m);
}

/* The same, after the puller has seen a queue of two and before it locks it. */
static void wake_before_pair(enum env_line_kind kind)
{
	u32 before = test_env.cpu;

	if (kind != LINE_RQ_LOCK || before != 0 || test_env.rq_locks[0] ||
	    cpu_rq(m.s, 0)->cfs.curr || hook_runs)
		return;
	hook_runs++;
	machine_on(1);
	assert_true(sched_wake(m.s, victim, 0));
	machine_on(before);
}

static void test_wake_before_pull_locks(void **state)
{
	(void)state;
	machine_init(&m, 1, 4, 1, PROFILE_V6_4, "NO_TTWU_QUEUE");
	victim = sleeps_on(0);
	pin(victim, 1);
	runs_on(0);
	runs_on(2);
	machine_start(&m, 2);
	machine_on(0);
	sched_set_state(m.s, TASK_SLEEPING);
	hook_runs = 0;
	test_env.on_sync = wake_before_pair;
	assert_true(machine_switch(&m, false) == victim);
	test_env.on_sync = NULL;
	assert_int_equal(hook_runs, 1);
	assert_int_equal(machine_count(&m, pulls), 1);
	assert_int_equal(machine_count(&m, pulled), 0);
	assert_int_equal(sched_nr_running(m.s, 0), 1);
	machine_settle(&m);
	machine_free(&m);
}

/* Clocks of real CPUs differ a little: a queue's never goes back. */
static void test_trailing_clock(void **state)
{
	struct sched_task *p;
	struct rq *rq;
	u64 clock;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V5_2, "");
	rq = cpu_rq(m.s, 0);
	p = sleeps_on(0);
	pin(p, 1);
	runs_on(0);
	machine_advance(&m, 1000);
	machine_tick(&m, 0);
	clock = rq->clock;
	test_env.now[1] = clock - 300;
	machine_on(1);
	sched_wake(m.s, p, 0);
	assert_int_equal(rq->clock, clock);
	assert_int_equal(rq->clock_task, clock);
	machine_settle(&m);
	machine_free(&m);
}

/* On a wake list, away from its old queue, a key is relative: another group's
 * queue can take it as it is. */
static void test_group_change_on_wake_list(void **state)
{
	struct task_group *tg;
	struct sched_task *p;
	u64 v;

	(void)state;
	machine_init(&m, 2, 4, 1, PROFILE_V6_4, "");
	tg = tg_create(m.s, &m.s->root_tg, 1024);
	p = runs_on(4);
	machine_advance(&m, 100000);
	machine_on(4);
	machine_sleep(&m);
	machine_on(0);
	pin(p, 0x20);
	cpu_rq(m.s, 5)->cfs.min_vruntime += 1000000000;
	sched_wake(m.s, p, 0);
	assert_int_equal(p->state, TASK_WAKING);
	v = p->se.vruntime;
	sched_move_task(m.s, p, tg);
	assert_int_equal(p->se.vruntime, v);
	machine_settle(&m);
	assert_true(sched_current(m.s, 5) == p);
	assert_int_equal(tg->cfs_rq[5]->nr_running, 1);
	machine_free(&m);
}

/* The CPU that idled wakes up for a task that it then finds on its own. */
static void test_merge_of_kicks(void **state)
{
	struct sched_task *p, *q;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V5_2, "");
	p = sleeps_on(1);
	q = sleeps_on(1);
	pin(p, 2);
	pin(q, 2);
	test_env.kicks = 0;
	machine_on(0);
	sched_wake(m.s, p, 0);
	sched_wake(m.s, q, 0);
	assert_int_equal(test_env.kicks, 1); /* need_resched was set already */
	machine_settle(&m);
	assert_int_equal(sched_nr_running(m.s, 1), 2);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remote_queue),
		cmocka_unit_test(test_polling_target),
		cmocka_unit_test(test_local_queue),
		cmocka_unit_test(test_own_cpu),
		cmocka_unit_test(test_counts_of_a_migration),
		cmocka_unit_test(test_redirect),
		cmocka_unit_test(test_wake_before_switch),
		cmocka_unit_test(test_preempted_before_sleep),
		cmocka_unit_test(test_waker_waits_for_switch),
		cmocka_unit_test(test_wait_for_migrating),
		cmocka_unit_test(test_lock_follows_task),
		cmocka_unit_test(test_wake_during_pull),
		cmocka_unit_test(test_wake_before_pull_locks),
		cmocka_unit_test(test_trailing_clock),
		cmocka_unit_test(test_group_change_on_wake_list),
		cmocka_unit_test(test_merge_of_kicks),
	};

	return cmocka_run_group_tests_name("sched_wake", tests, NULL, NULL);
}
