/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * Random operations on several machines, seeded. After each, every invariant of
 * check.c, and, counted independently: each task is on the queues it should be
 * on, all time is somebody's, nobody is where its affinity forbids, no wake-up is
 * lost, and nobody starves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"
#include "../../kernel/lib/rng.h"

#define OPS 3000
#define MAX_ALIVE 40
#define NR_GROUPS 4

static struct machine m;
static struct rng rng;
static struct task_group *group[NR_GROUPS];
static u32 alive;

static u32 below(u32 n)
{
	return (u32)rng_below(&rng, n);
}

static u32 random_cpu(void)
{
	return below(m.topo.nr_cpus);
}

/* NULL when the draw fell on a dead one. */
static struct sched_task *random_task(void)
{
	struct sched_task *p = m.nr_tasks ? &m.task[below(m.nr_tasks)] : NULL;

	return p && p->state != TASK_DEAD ? p : NULL;
}

/* ---- operations -------------------------------------------------------------- */

static void op_fork(struct sched_task *p)
{
	(void)p;
	if (alive >= MAX_ALIVE || m.nr_tasks == TEST_TASKS)
		return;
	alive++;
	sched_wake_new(m.s, machine_fork(&m));
}

static void op_sleep(struct sched_task *p)
{
	(void)p;
	if (!sched_current(m.s, test_env.cpu)->is_idle_task)
		machine_sleep(&m);
}

static void op_exit(struct sched_task *p)
{
	(void)p;
	if (sched_current(m.s, test_env.cpu)->is_idle_task || alive < MAX_ALIVE / 2)
		return;
	alive--;
	sched_set_state(m.s, TASK_DEAD);
	machine_switch(&m, false);
}

static void op_wake(struct sched_task *p)
{
	bool sleeps = p->state == TASK_SLEEPING;

	assert_int_equal(sched_wake(m.s, p, below(2) ? WAKE_SYNC : 0), sleeps);
}

static void op_nice(struct sched_task *p)
{
	sched_set_nice(m.s, p, (s32)below(40) - 20);
}

static void op_class(struct sched_task *p)
{
	sched_set_class(m.s, p, (enum sched_class)below(3));
}

static void op_affinity(struct sched_task *p)
{
	struct cpumask mask = { { rng_next(&rng) } };

	if (below(3))
		mask = m.s->online;
	cpumask_set(&mask, random_cpu());
	sched_set_affinity(m.s, p, &mask);
}

static void op_group(struct sched_task *p)
{
	sched_move_task(m.s, p, group[below(NR_GROUPS)]);
}

static void op_exec(struct sched_task *p)
{
	(void)p;
	if (!sched_current(m.s, test_env.cpu)->is_idle_task)
		sched_exec(m.s);
}

static void op_yield(struct sched_task *p)
{
	(void)p;
	sched_yield(m.s);
	machine_switch(&m, false);
}

static void op_state_then_preempt(struct sched_task *p)
{
	(void)p;
	if (sched_current(m.s, test_env.cpu)->is_idle_task)
		return;
	sched_set_state(m.s, TASK_SLEEPING);
	machine_switch(&m, true);
}

/* Who was preempted on the way to sleep goes on to sleep. */
static void op_resched(struct sched_task *p)
{
	(void)p;
	machine_switch(&m, false);
}

static void op_tick(struct sched_task *p)
{
	(void)p;
	test_env.jiffies++;
	machine_tick(&m, test_env.cpu);
}

static void op_time(struct sched_task *p)
{
	(void)p;
	machine_advance(&m, rng_below(&rng, 1ull << below(24)));
}

static void op_interrupts(struct sched_task *p)
{
	(void)p;
	machine_interrupts(&m, test_env.cpu);
}

static const struct {
	void (*run)(struct sched_task *p);
	u32 share;
	bool needs_task;
} ops[] = {
	{ op_fork, 4, false },
	{ op_sleep, 14, false },
	{ op_exit, 1, false },
	{ op_wake, 24, true },
	{ op_nice, 2, true },
	{ op_class, 1, true },
	{ op_affinity, 3, true },
	{ op_group, 2, true },
	{ op_exec, 2, false },
	{ op_yield, 2, false },
	{ op_state_then_preempt, 2, false },
	{ op_resched, 2, false },
	{ op_tick, 12, false },
	{ op_time, 16, false },
	{ op_interrupts, 15, false },
};

static void random_op(void)
{
	u32 total = 0, draw, i;
	struct sched_task *p = random_task();

	for (i = 0; i < ARRAY_SIZE(ops); i++)
		total += ops[i].share;
	draw = below(total);
	for (i = 0; draw >= ops[i].share; i++)
		draw -= ops[i].share;
	machine_on(random_cpu());
	if (p || !ops[i].needs_task)
		ops[i].run(p);
}

/* ---- what must hold ------------------------------------------------------------- */

static u32 times_listed(const struct sched_task *p)
{
	u32 n = 0;

	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		list_for_each(pos, &cpu_rq(m.s, c)->tasks)
			n += container_of(pos, struct sched_task, rq_node) == p;
	return n;
}

static u32 times_waking(const struct sched_task *p)
{
	u32 n = 0;

	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		for (struct sched_task *w = cpu_rq(m.s, c)->wake_list; w; w = w->wake_next)
			n += w == p;
	return n;
}

static void check_task(const struct sched_task *p)
{
	bool runs = sched_current(m.s, p->cpu) == p;

	assert_int_equal(times_listed(p), p->on_rq == TASK_QUEUED);
	assert_int_equal(times_waking(p), p->state == TASK_WAKING);
	assert_int_equal(p->on_cpu, runs);
	assert_int_not_equal(p->on_rq, TASK_MIGRATING);
	if (p->state == TASK_RUNNING)
		assert_int_equal(p->on_rq, TASK_QUEUED);
	if (p->state == TASK_DEAD || p->state == TASK_WAKING)
		assert_int_equal(p->on_rq, TASK_OFF_RQ);
	if (p->on_rq == TASK_QUEUED && !runs)
		assert_true(cpumask_test(&p->allowed, p->cpu));
	if (runs && !cpumask_test(&p->allowed, p->cpu))
		assert_true(sched_need_resched(m.s, p->cpu));
}

static void check_all(void)
{
	u32 queued = 0, running = 0, idle = 0;

	machine_check(&m);
	for (u32 i = 0; i < m.nr_tasks; i++) {
		check_task(&m.task[i]);
		queued += m.task[i].on_rq == TASK_QUEUED;
	}
	for (u32 c = 0; c < m.topo.nr_cpus; c++) {
		const struct rq *rq = cpu_rq(m.s, c);

		running += rq->nr_running;
		assert_true(rq->avg_idle <= 2 * rq->max_idle_balance_cost);
		if (rq->wake_list) {
			assert_true(test_env.called[c][ENV_CALL_WAKE_LIST]);
			assert_false(idle_cpu(m.s, c));
		}
		/* Work, or a way to learn of it. */
		if (rq->curr == rq->idle && rq->nr_running)
			assert_true(rq->need_resched);
		idle += rq->in_idle_mask;
	}
	assert_int_equal(queued, running);
	assert_int_equal(m.s->idle_mask_weight, idle);
}

static void check_counters(void)
{
	assert_int_equal(machine_count(&m, stage_target) + machine_count(&m, stage_prev) +
				 machine_count(&m, stage_recent) + machine_count(&m, stage_core) +
				 machine_count(&m, stage_cpu) + machine_count(&m, stage_smt) +
				 machine_count(&m, stage_none),
			 test_env.events[EV_PLACE]);
	assert_int_equal(machine_count(&m, wakeups), test_env.events[EV_WAKE]);
	assert_int_equal(machine_count(&m, wakeups_new), m.nr_tasks);
	assert_int_equal(machine_count(&m, switches), test_env.events[EV_SWITCH]);
	assert_int_equal(machine_count(&m, resched_ipis), test_env.kicks);
	assert_int_equal(machine_count(&m, wake_list_ipis) + machine_count(&m, pull_kicks),
			 test_env.calls);
	assert_int_equal(machine_count(&m, ticks), test_env.events[EV_TICK]);
}

static u64 total_runtime(void)
{
	u64 sum = 0;

	for (u32 i = 0; i < m.nr_tasks; i++)
		sum += m.task[i].se.sum_exec_runtime;
	return sum;
}

static void tick_busy_cpus(void)
{
	test_env.jiffies++;
	for (u32 c = 0; c < m.topo.nr_cpus; c++)
		if (!sched_current(m.s, c)->is_idle_task)
			machine_tick(&m, c);
	machine_settle(&m);
}

/* Still behind the others on its queue, or its group is on the one above: an idle
 * task's key runs 340 times as fast as the clock, and that is paid back. */
static bool in_debt(const struct sched_entity *se)
{
	for_each_sched_entity(se)
		if ((s64)(se->vruntime - se->cfs_rq->min_vruntime) > 0)
			return true;
	return false;
}

/* Wakes all; then all of them spin, and whoever is not in debt must get on. */
static void check_progress(void)
{
	u64 before[TEST_TASKS];
	u32 waited = 0;

	machine_on(0);
	for (u32 i = 0; i < m.nr_tasks; i++) {
		struct sched_task *p = &m.task[i];

		if (p->state == TASK_DEAD)
			continue;
		sched_wake(m.s, p, 0);
		sched_set_class(m.s, p, SCHED_CLASS_NORMAL);
		sched_set_nice(m.s, p, (s32)below(5));
	}
	machine_settle(&m);
	for (u32 i = 0; i < m.nr_tasks; i++)
		before[i] = m.task[i].se.sum_exec_runtime;
	for (u32 tick = 0; tick < 3000; tick++) {
		machine_advance(&m, 1000000);
		tick_busy_cpus();
	}
	check_all();
	for (u32 i = 0; i < m.nr_tasks; i++) {
		const struct sched_task *p = &m.task[i];

		if (p->state == TASK_DEAD || p->se.sum_exec_runtime > before[i])
			continue;
		assert_true(in_debt(&p->se));
		waited++;
	}
	assert_true(waited < alive / 2);
}

struct setting {
	u32 pkgs, cores, threads;
	enum sched_profile profile;
	const char *switches;
};

static const struct setting settings[] = {
	{ 1, 1, 1, PROFILE_V6_4, "" },
	{ 1, 2, 1, PROFILE_V5_2, "" },
	{ 1, 3, 2, PROFILE_V6_4, "NEXT_BUDDY" },
	{ 2, 2, 2, PROFILE_V6_4, "" },
	{ 2, 2, 2, PROFILE_V5_2, "NO_TTWU_QUEUE+CHILD_RUNS_FIRST" },
	{ 4, 1, 1, PROFILE_V6_4, "NO_SIS_PROP+NO_LAST_BUDDY" },
	{ 2, 4, 2, PROFILE_V6_4, "NR_LATENCY=2+NEXT_BUDDY+NO_IDLE_PULL" },
	{ 2, 2, 4, PROFILE_V5_2, "SIS_AVG_CPU+NO_GENTLE_FAIR_SLEEPERS" },
	{ 3, 5, 1, PROFILE_V6_4, "LATENCY=100000+MIN_GRANULARITY=100000+WAKEUP_GRANULARITY=0" },
};

static void stress(const struct setting *s, u64 seed)
{
	rng_init(&rng, seed, 1);
	machine_init(&m, s->pkgs, s->cores, s->threads, s->profile, s->switches);
	alive = 0;
	group[0] = &m.s->root_tg;
	group[1] = tg_create(m.s, group[0], 1024);
	group[2] = tg_create(m.s, group[1], 300);
	group[3] = tg_create_idle(m.s, group[0]);
	for (u32 i = 0; i < OPS; i++) {
		random_op();
		check_all();
	}
	machine_settle(&m);
	tick_busy_cpus(); /* charges what ran until now */
	assert_int_equal(total_runtime(), m.busy_ns);
	check_counters();
	for (u32 i = 0; i < m.nr_tasks; i++)
		if (m.task[i].state != TASK_DEAD)
			sched_move_task(m.s, &m.task[i], group[below(3)]);
	check_progress();
	machine_free(&m);
}

static void test_stress(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(settings); i++)
		for (u64 seed = 1; seed <= 2; seed++)
			stress(&settings[i], seed);
}

/* The same seed makes the same decisions. */
static void test_repeatable(void **state)
{
	u64 switches[2], runtime[2];

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		stress(&settings[3], 77);
		runtime[i] = total_runtime();
		switches[i] = test_env.events[EV_SWITCH];
	}
	assert_int_equal(switches[0], switches[1]);
	assert_int_equal(runtime[0], runtime[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stress),
		cmocka_unit_test(test_repeatable),
	};

	return cmocka_run_group_tests_name("sched_stress", tests, NULL, NULL);
}
