/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c kernel/task.c
 * kernel/window.c
 * kernel/deal.c kernel/sync.c kernel/channel.c kernel/timer.c kernel/stats/hist.c sched/*.c
 * tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_tasks.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* Futexes: a post between arming and waiting is not lost, two are one, and who posts
 * to a task that is not about to sleep enters no system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../kernel/task.h"
#include "engine_rig.h"

enum { ARMED = 1, WOKEN, COST, SYNC };

static struct futex futex;

static void run(void (*first)(void *arg))
{
	rig_init(1, 1, 2, 1);
	rig.cfg.hz = 100;
	tasks_run(first, NULL, 1, "");
	assert_true(rig_ended_well());
}

static void start(void (*fn)(void *), u32 cpu)
{
	struct task_attr attr = { .name = "task", .allowed = only(cpu) };

	task_fork(&attr, fn, NULL);
}

/* Sleeps, is woken; then finds a post that came before it waits. */
static void waiter(void *arg)
{
	(void)arg;
	futex_arm(&futex);
	note(ARMED, 0);
	futex_wait(&futex);
	note(WOKEN, 0);
	futex_arm(&futex);
	note(ARMED, 1);
	task_burn(100000); /* posted twice meanwhile */
	futex_wait(&futex);
	note(WOKEN, task_self()->st.nvcsw);
	futex_arm(&futex); /* the second post left nothing behind */
	futex_wait(&futex);
	note(WOKEN, 0);
}

static void timed_post(void)
{
	u64 since = clock_ps();

	futex_post(&futex);
	note(COST, clock_ps() - since);
}

static void poster(void *arg)
{
	(void)arg;
	task_burn(200000);
	timed_post(); /* asleep */
	task_burn(50000);
	timed_post(); /* armed, at work */
	timed_post(); /* told already */
	task_burn(300000);
	timed_post();
}

static void first(void *arg)
{
	(void)arg;
	futex_init(&futex, "futex", 0);
	start(waiter, 0);
	start(poster, 1);
	task_wait_children();
	note(SYNC, sched_counters(the_sched, 0)->wakeups_sync +
			   sched_counters(the_sched, 1)->wakeups_sync);
}

static void test_futex(void **state)
{
	u64 syscall;

	(void)state;
	run(first);
	syscall = (rig.machine.syscall_ns + rig.machine.kpti_ns) * 1000ull;
	assert_int_equal(count_notes(WOKEN), 3);
	assert_in_range(noted(WOKEN, 0)->at_ps, 200 * US, 250 * US);
	/* It went on after its burst, and did not sleep again: once in all so far. */
	assert_in_range(noted(WOKEN, 1)->at_ps - noted(ARMED, 1)->at_ps, 100 * US, 110 * US);
	assert_int_equal(noted(WOKEN, 1)->value, 1);
	assert_true(noted(WOKEN, 2)->at_ps > noted(COST, 3)->at_ps - 50 * US);
	assert_true(noted(COST, 0)->value > syscall);
	assert_true(noted(COST, 1)->value > syscall);
	/* Only the word, which is here already. */
	assert_int_equal(noted(COST, 2)->value, rig.machine.lock_rmw_ps);
	assert_true(noted(COST, 3)->value > syscall);
	assert_int_equal(noted(SYNC, 0)->value, 0);
}

/* Nobody waits: a post does nothing, and one is not kept for later. */
static void unarmed(void *arg)
{
	(void)arg;
	futex_init(&futex, "futex", 0);
	futex_wait(&futex); /* not armed: returns */
	futex_post(&futex);
	futex_arm(&futex);
	futex_wait(&futex);
	note(WOKEN, 0);
}

static void test_post_before_arming_does_not_count(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	rig.cfg.hz = 100;
	tasks_run(unarmed, NULL, 1, "");
	assert_true(rig_failed_with("on futex 0"));
	assert_int_equal(count_notes(WOKEN), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_futex),
		cmocka_unit_test(test_post_before_arming_does_not_count),
	};

	return cmocka_run_group_tests_name("engine_futex", tests, NULL, NULL);
}
