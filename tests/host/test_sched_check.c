/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * The checks themselves: a sound machine passes, and each way to break it is told
 * by the law that it breaks, at the end of a run and at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../sched/pelt.h"
#include "env/machine.h"

#define MS 1000000ull
#define CPUS 4

extern jmp_buf *panic_jump;

static struct machine m;
static struct sched_task *runs, *waits, *waits2, *sleeps, *member;
static struct task_group *group;
static struct sched_standstill at;
static u64 now_ns[CPUS], idle_ns[CPUS];
static char said[16384];

static void take_line(const char *text)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s\n", text);
}

static u32 check_end(void)
{
	said[0] = '\0';
	m.s->check_failures = 0;
	return sched_check_end(m.s, &at, take_line);
}

/* CPU 0 runs one task, two wait there; a task of a group runs on CPU 1; one
 * sleeps, woken once; CPUs 2 and 3 idle. */
static void begin(void)
{
	machine_init(&m, 1, 2, 2, PROFILE_V6_4, "NO_IDLE_PULL");
	memset(&at, 0, sizeof(at));
	machine_on(0);
	sleeps = machine_start(&m, 2);
	machine_on(2);
	machine_switch(&m, false);
	machine_sleep(&m);
	sched_wake(m.s, sleeps, 0);
	machine_settle(&m);
	machine_on(sleeps->cpu);
	machine_sleep(&m);
	runs = machine_start(&m, 0);
	waits = machine_start(&m, 0);
	waits2 = machine_start(&m, 0);
	member = machine_start(&m, 1);
	machine_settle(&m);
	group = tg_create(m.s, &m.s->root_tg, 1024);
	machine_on(1);
	sched_move_task(m.s, member, group);
	machine_advance(&m, MS / 2);
	machine_tick(&m, 0);
	machine_tick(&m, 1);
	machine_settle(&m);
	runs = sched_current(m.s, 0);
	for (u32 c = 0; c < CPUS; c++) {
		now_ns[c] = test_env.now[c];
		idle_ns[c] = 0;
	}
	at.now_ns = now_ns;
	at.idle_ns = idle_ns;
	/* The waiting ones are told apart from the one that runs, leftmost first. */
	waits = task_of(entity_of_node(rb_first(&m.s->rq[0].cfs.tree)));
	waits2 = task_of(entity_of_node(rb_next(&waits->se.node)));
}

static struct rq *rq0(void)
{
	return cpu_rq(m.s, 0);
}

static struct cfs_rq *q0(void)
{
	return &rq0()->cfs;
}

static struct cfs_rq *root1(void)
{
	return &cpu_rq(m.s, 1)->cfs;
}

static void weigh(u64 weight)
{
	env_irq_off();
	reweight_entity(root1(), group->se[1], weight, 0, 0);
	env_irq_on();
}

/* ---- one fault each ----------------------------------------------------------- */

#define FAULT(name, ...)               \
	static void break_##name(void) \
	{                              \
		__VA_ARGS__;           \
	}

FAULT(weight, q0()->load.weight++)
FAULT(nr, q0()->nr_running++)
FAULT(h_nr, q0()->h_nr_running++)
FAULT(idle_nr, q0()->idle_nr_running++)
FAULT(idle_h_nr, q0()->idle_h_nr_running++)
FAULT(rq_nr, rq0()->nr_running++)
FAULT(floor, q0()->min_vruntime--)
FAULT(left, waits->se.vruntime = q0()->min_vruntime - 100 * MS)
FAULT(order, waits->se.vruntime = waits2->se.vruntime + 1)
FAULT(off_rq, waits->se.on_rq = false)
FAULT(other_queue, waits->se.cfs_rq = &cpu_rq(m.s, 1)->cfs)
FAULT(parent, waits->se.parent = group->se[0])
FAULT(depth, waits->se.depth = 1)
FAULT(relative, waits->se.relative = true)
FAULT(off_queue, waits->on_rq = TASK_OFF_RQ)
FAULT(other_cpu, waits->cpu = 2)
FAULT(unlisted, list_del(&waits->rq_node); list_init(&waits->rq_node))
FAULT(forbidden, cpumask_clear(&waits->allowed, 0))
FAULT(buddy, q0()->next = &sleeps->se)
FAULT(skip, q0()->skip = &member->se)
FAULT(curr_in_tree, q0()->curr = &waits->se)
FAULT(curr_other, rq0()->curr = waits)
FAULT(not_on_cpu, runs->on_cpu = false)
FAULT(load_sum, waits->se.avg.load_sum = 47742)
FAULT(util_sum, waits->se.avg.util_sum = waits->se.avg.runnable_sum + 1)
FAULT(util_avg, waits->se.avg.util_avg = 1024)
FAULT(runnable_avg, q0()->avg.runnable_avg += 1000)
FAULT(load_avg, cpu_rq(m.s, 3)->cfs.avg.load_avg++; cpu_rq(m.s, 3)->cfs.avg.load_sum = 0)
FAULT(detached, waits->se.avg.last_update_time = 0)
FAULT(younger, waits->se.avg.last_update_time = q0()->avg.last_update_time + 1024)
FAULT(unaligned, waits->se.avg.last_update_time--)
FAULT(contrib, waits->se.avg.period_contrib ^= 1)
FAULT(period, q0()->avg.period_contrib += 1024)
FAULT(group_ran, group->cfs_rq[1]->exec_clock++)
FAULT(group_off, group->se[2]->on_rq = true)
FAULT(group_empty, group->cfs_rq[1]->nr_running = 0)
FAULT(overweight, weigh(NICE_0_LOAD + 1))
FAULT(underweight, weigh(1))
FAULT(unlisted_queue, unlist_leaf_queue(group->cfs_rq[1]))
FAULT(unlisted_root, unlist_leaf_queue(root1()))
FAULT(says_unlisted, group->cfs_rq[1]->on_list = false)
FAULT(children, root1()->listed_children++)
FAULT(parent_first, list_del(&group->cfs_rq[1]->leaf_node);
      list_add_tail(&cpu_rq(m.s, 1)->leaf_queues, &group->cfs_rq[1]->leaf_node))
FAULT(ran, q0()->exec_clock++)
FAULT(nobody, rq0()->check.nobody_ns++)
FAULT(avg_idle, rq0()->avg_idle = 2 * rq0()->max_idle_balance_cost + 1)
FAULT(balance_cost, rq0()->max_idle_balance_cost = 499999; rq0()->avg_idle = 0)
FAULT(sibling, m.topo.sibling_weight[3] = 1)
FAULT(wake_list, cpu_rq(m.s, 3)->wake_list = sleeps)
FAULT(stage, cpu_rq(m.s, 2)->count.stage_none++)
FAULT(distance, rq0()->count.distance_prev[2]++)
FAULT(waker_distance, rq0()->count.distance_waker[0]++)
FAULT(visits, rq0()->count.scan_visits_hist[9]++)
FAULT(scan_time, rq0()->count.scan_time_log2_ns[0]++)
FAULT(scan_nr, rq0()->count.scan_nr_log2[0]++)
FAULT(scan_cost, rq0()->count.scan_cost_log2_ns[31]++)
FAULT(tests, rq0()->count.scan_tests++)
FAULT(budget, rq0()->count.scan_budget_out++)
FAULT(cores, rq0()->count.core_searches += 2)
FAULT(clears, m.s->vector.value[FEAT_SIS_CORE] = 0; rq0()->count.core_searches =
      rq0()->count.core_visits = ++rq0()->count.flag_clears)
FAULT(oracle, rq0()->count.idle_core_missed++)
FAULT(oracle_cpu, rq0()->count.idle_cpu_missed++)
FAULT(samples, rq0()->count.oracle_samples = rq0()->count.fast_path + 1)
FAULT(next_stores, rq0()->count.next_cpu_remote++)
FAULT(next_cpu, rq0()->next_cpu = CPUS)
FAULT(next_cpu_less, rq0()->next_cpu = -2)
FAULT(percpu_weight, cpu_rq(m.s, 2)->sibling_weight = 3)
FAULT(wakeups, rq0()->count.wakeups++)
FAULT(switches, rq0()->count.switches_preempt++)
FAULT(affine, rq0()->count.affine_wins = rq0()->count.affine_attempts + 1)
FAULT(pulled, rq0()->count.pulled++)
FAULT(ipis, rq0()->count.wake_list_ipis = rq0()->count.wake_list_queued + 1)
FAULT(unannounced, rq0()->count.wake_list_queued += 2)
FAULT(lost_publish, group->load[0].value--)
FAULT(contribution, group->cfs_rq[1]->tg_load_avg_contrib++)
FAULT(tick, m.s->punctual = true; now_ns[0] += 3 * MS + 1)
FAULT(idle, idle_ns[2] = 1001 * MS)

static const struct {
	const char *name;
	void (*fn)(void);
	const char *told;
} faults[] = {
#define F(name, told) { #name, break_##name, told }
	F(weight, "CPU 0, queue of depth 0: load is not the sum of weights; nr 3 h_nr 3"),
	F(nr, "nr_running is not tree and curr"),
	F(h_nr, "h_nr_running is not the tasks below"),
	F(idle_nr, "idle_nr_running is wrong"),
	F(idle_h_nr, "idle_h_nr_running is wrong"),
	F(rq_nr, "CPU 0: 4 running, 3 in the root"),
	F(floor, "min_vruntime went back"),
	F(left, "a vruntime is further left than a sleeper's credit"),
	F(order, "the tree is not in order"),
	F(off_rq, "an entity in the tree is not on_rq"),
	F(other_queue, "an entity sits on another queue than it says"),
	F(parent, "an entity's parent is not the queue's owner"),
	F(depth, "an entity's depth is not its parent's plus 1"),
	F(relative, "a queued entity's vruntime is relative"),
	F(off_queue, "a queued entity's task is not queued"),
	F(other_cpu, "a queued task is of another CPU"),
	F(unlisted, "a queued task is not on its rq's list"),
	F(forbidden, "a task is queued where it may not run"),
	F(buddy, "a buddy is not on the queue"),
	F(skip, "a buddy is not on the queue"),
	F(curr_in_tree, "curr is in the tree"),
	F(curr_other, "is current, another one its queue's"),
	F(not_on_cpu, "is current and not on_cpu"),
	F(load_sum, "CPU 0, load of task: runnable for longer than ever; at"),
	F(util_sum, "ran for longer than it was runnable"),
	F(util_avg, "util_sum is less than its average demands"),
	F(runnable_avg, "CPU 0, load of queue: runnable_sum is less than its average demands"),
	F(load_avg, "CPU 3, load of queue: load_avg without a sum"),
	F(detached, "queued and not attached"),
	F(younger, "updated later than its queue"),
	F(unaligned, "its periods are not its queue's"),
	F(contrib, "its periods are not its queue's"),
	F(period, "more than a period has begun"),
	F(group_ran, "CPU 1, queue of depth 1: a group ran longer or shorter than its members"),
	F(group_off, "group on_rq does not match its queue"),
	F(group_empty, "a queued group has nothing to run"),
	F(overweight, "group of depth 1: weighs less than 2 or more than its shares; weight 10"),
	F(underweight, "weighs less than 2 or more than its shares; weight 1 "),
	F(unlisted_queue, "CPU 1, group of depth 1: has entities and is not listed"),
	F(unlisted_root, "CPU 1, group of depth 0: has entities and is not listed"),
	F(says_unlisted, "is in the list and says it is not"),
	F(children, "CPU 1: 1 queues listed, 2 counted by their parents"),
	F(parent_first, "is listed after its parent"),
	F(ran, "CPU 0: tasks ran"),
	F(nobody, "CPU 0: tasks ran"),
	F(avg_idle, "CPU 0: avg_idle 1000001 exceeds twice 500000"),
	F(balance_cost, "CPU 0: max_idle_balance_cost 499999 is below MIGRATION_COST"),
	F(sibling, "CPU 3: sibling weight 1 is not its core's"),
	F(wake_list, "waits on the wake list, and no IPI is on its way"),
	F(stage, "searches,"),
	F(distance, "searches (distance)"),
	F(waker_distance, "searches (from waker)"),
	F(visits, "scans (visits)"),
	F(scan_time, "scans (time)"),
	F(scan_nr, "scans (budget)"),
	F(scan_cost, "scans (cost)"),
	F(tests, "1 idle tests, of 0"),
	F(budget, "scans ended early"),
	F(cores, "core searches, "),
	F(clears, "1 idle-core flags cleared with SIS_CORE off"),
	F(oracle, "idle cores missed"),
	F(oracle_cpu, "idle CPUs missed"),
	F(samples, "oracle samples"),
	F(next_stores, "remote next_cpu stores"),
	F(next_cpu, "CPU 0: next_cpu is 4, outside the cache"),
	F(next_cpu_less, "CPU 0: next_cpu is -2, outside the cache"),
	F(percpu_weight, "CPU 2: sibling weight 3 is not its core's"),
	F(wakeups, "CPU 0: 1 wake-ups, 0 by kind"),
	F(switches, "switches,"),
	F(affine, "affine wins, of"),
	F(pulled, "CPU 0: 1 pulled tasks, of 0"),
	F(ipis, "wake-list IPIs, of"),
	F(unannounced, "queued wake-ups, of"),
	F(lost_publish, "group of depth 1: load "),
	F(contribution, "group of depth 1: load "),
	F(tick, "ns without a tick"),
	F(idle, "CPU 2: idle for 1001000000 ns"),
};

static void test_sound(void **state)
{
	(void)state;
	begin();
	if (check_end())
		fail_msg("%s", said);
	assert_string_equal(said, "");
	machine_free(&m);
}

static void test_end(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(faults); i++) {
		begin();
		faults[i].fn();
		assert_in_range(check_end(), 1, 20);
		if (!strstr(said, faults[i].told))
			fail_msg("%s: told as\n%s", faults[i].name, said);
		assert_non_null(strstr(said, "cpu 0: curr ")); /* the state */
		free(m.memory);
	}
}

static bool unlock_panics(void)
{
	jmp_buf jump;

	panic_jump = &jump;
	if (setjmp(jump))
		return true;
	rq_unlock(this_rq(m.s));
	panic_jump = NULL;
	return false;
}

static bool is_group_law(void (*fn)(void))
{
	return fn == break_overweight || fn == break_underweight || fn == break_unlisted_queue ||
	       fn == break_unlisted_root || fn == break_says_unlisted || fn == break_children ||
	       fn == break_parent_first;
}

/* Those of a queue or CPU, when its lock is let go; perhaps by another law first. */
static void test_at_once(void **state)
{
	(void)state;
	for (u32 i = 0; faults[i].fn != break_sibling; i++) { /* then: what only the end shows */
		void (*fn)(void) = faults[i].fn;

		begin();
		machine_on(fn == break_group_ran || fn == break_group_empty || is_group_law(fn) ? 1
			   : fn == break_group_off			  ? 2
			   : fn == break_load_avg			  ? 3
									  : 0);
		rq_lock(this_rq(m.s));
		fn();
		if (!unlock_panics())
			fail_msg("%s: not found", faults[i].name);
		free(m.memory);
	}
}

/* A CPU inside the kernel may be between two counts, but not further apart; a
 * locked queue is not looked at; a pending IPI excuses a wake list. */
static void test_standstill(void **state)
{
	(void)state;
	begin();
	rq0()->count.wakeups++;
	cpumask_set(&at.inside, 0);
	assert_int_equal(check_end(), 0);
	rq0()->count.wakeups++;
	assert_int_equal(check_end(), 1);
	rq0()->count.wakeups -= 2;

	q0()->load.weight++;
	assert_int_equal(check_end(), 1);
	cpumask_set(&at.locked, 0);
	assert_int_equal(check_end(), 0);
	q0()->load.weight--;

	memset(&at.inside, 0, sizeof(at.inside));
	cpu_rq(m.s, 3)->wake_list = sleeps;
	assert_int_equal(check_end(), 1);
	cpumask_set(&at.pending, 3);
	assert_int_equal(check_end(), 0);
	cpu_rq(m.s, 3)->wake_list = NULL;
	machine_free(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_standstill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
