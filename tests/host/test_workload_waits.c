/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c kernel/task.c
 * kernel/window.c
 * kernel/deal.c kernel/sync.c kernel/timer.c kernel/stats/hist.c
 * kernel/workloads/commit.c sched/*.c tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_tasks.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* What workloads wait for: mutexes that are watched, group commit, log writers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../kernel/task.h"
#include "../../kernel/workloads/commit.h"
#include "engine_rig.h"

enum { TOOK = 1, DONE, SLEEPS, BATCHES, JOINED, WRITES, POSTS, IDLED, WAKEUPS, ASLEEP };

/* Beyond any cost of the rig's machine, and below what separates the cases. */
#define SLACK MS

#define TASKS_MAX 6

/* A task per CPU, each at its time. */
struct part {
	u64 at_us, hold_us;
	void (*fn)(struct part *p);
};

static struct {
	struct part part[TASKS_MAX];
	u32 nr;
	void (*init)(void);
	void (*end)(void);
	struct mutex mutex;
	u32 watch_us;
	struct group_commit commit;
	struct log_writer log;
	enum log_rule rule;
} t;

static void part_main(void *arg)
{
	struct part *p = arg;

	task_sleep_ns(p->at_us * 1000);
	p->fn(p);
}

static u64 wakeups(void)
{
	u64 sum = 0;

	for (u32 c = 0; c < rig.topo.nr_cpus; c++)
		sum += sched_counters(the_sched, c)->wakeups;
	return sum;
}

/* Of everybody but this task, whose children have ended. */
static void first(void *arg)
{
	u32 slept;

	(void)arg;
	t.init();
	for (u32 i = 0; i < t.nr; i++) {
		struct task_attr attr = { .name = "part", .allowed = only(2 * i + 2) };

		task_fork(&attr, part_main, &t.part[i]);
	}
	task_sleep_ns(20000000); /* all are done before this wakes */
	slept = (u32)wakeups();
	task_wait_children();
	note(WAKEUPS, slept - 1); /* but its own */
	t.end();
}

static void run(u32 nr, void (*init)(void), void (*end)(void))
{
	t.nr = nr;
	t.init = init;
	t.end = end;
	rig_init(1, 1, 8, 2);
	tasks_run(first, NULL, 1, "");
	assert_true(rig_ended_well());
}

static void check_about(u64 at_ps, u64 us)
{
	assert_in_range(at_ps, us * US, us * US + SLACK);
}

/* ---- mutex --------------------------------------------------------------------- */

static void hold(struct part *p)
{
	mutex_lock(&t.mutex);
	env_sync();
	note(TOOK, (u64)(p - t.part));
	task_burn(p->hold_us * 1000);
	mutex_unlock(&t.mutex);
}

static void mutex_begin(void)
{
	mutex_init(&t.mutex, "test mutex", 0);
	if (t.watch_us)
		mutex_watch(&t.mutex, t.watch_us * 1000, 500);
}

static void mutex_end(void)
{
	note(SLEEPS, t.mutex.sleeps);
}

static void hold_twice(u32 watch_us, u64 first_us, u64 second_at_us)
{
	t.watch_us = watch_us;
	t.part[0] = (struct part){ 100, first_us, hold };
	t.part[1] = (struct part){ second_at_us, 1, hold };
	run(2, mutex_begin, mutex_end);
	assert_int_equal(noted(TOOK, 0)->value, 0);
	assert_int_equal(noted(TOOK, 1)->value, 1);
	assert_true(noted(TOOK, 1)->at_ps >= noted(TOOK, 0)->at_ps + first_us * US);
	/* Each part's start, and what they slept on the mutex. */
	assert_int_equal(noted(WAKEUPS, 0)->value, 2 + noted(SLEEPS, 0)->value);
}

static void test_watched_mutex_that_is_let_go_costs_no_sleep(void **state)
{
	(void)state;
	hold_twice(5000, 2000, 200);
	assert_int_equal(noted(SLEEPS, 0)->value, 0);
	/* It looks each 500 ns, and pays for the look. */
	assert_true(noted(TOOK, 1)->at_ps - noted(TOOK, 0)->at_ps < 2004 * US);
	hold_twice(0, 2000, 200);
	assert_int_equal(noted(SLEEPS, 0)->value, 1);
}

static void test_watching_ends_with_a_sleep(void **state)
{
	(void)state;
	hold_twice(1000, 3000, 200);
	assert_int_equal(noted(SLEEPS, 0)->value, 1);
	assert_in_range(noted(TOOK, 1)->at_ps - noted(TOOK, 0)->at_ps, 3000 * US,
			3000 * US + SLACK);
}

/* The second sleeps; the third watches, but the mutex is never free for it. */
static void test_watchers_do_not_overtake_sleepers(void **state)
{
	(void)state;
	t.watch_us = 1000;
	t.part[0] = (struct part){ 100, 4000, hold };
	t.part[1] = (struct part){ 200, 100, hold };
	t.part[2] = (struct part){ 3900, 100, hold };
	run(3, mutex_begin, mutex_end);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(TOOK, i)->value, i);
	assert_int_equal(noted(SLEEPS, 0)->value, 1);
}

/* ---- group commit ----------------------------------------------------------------- */

static void commit(struct part *p)
{
	commit_join(&t.commit, 3000000);
	env_sync();
	note(DONE, (u64)(p - t.part));
}

static void commit_begin(void)
{
	commit_init(&t.commit, "test commit");
}

static void commit_end(void)
{
	note(BATCHES, t.commit.batches);
	note(JOINED, t.commit.joined);
	note(ASLEEP, commit_sleeps(&t.commit));
}

/* When the i-th part was done. */
static u64 done_ps(u32 i)
{
	u32 n = 0;

	while (noted(DONE, n)->value != i)
		n++;
	return noted(DONE, n)->at_ps;
}

/* From the first one's start it takes 3 ms, whoever joins; then a new batch begins. */
static void test_group_commit(void **state)
{
	static const u64 at_us[] = { 1000, 1500, 3000, 5000, 7000 };
	static const u64 done_us[] = { 4000, 4000, 4000, 8000, 8000 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(at_us); i++)
		t.part[i] = (struct part){ at_us[i], 0, commit };
	run(ARRAY_SIZE(at_us), commit_begin, commit_end);
	for (u32 i = 0; i < ARRAY_SIZE(at_us); i++)
		check_about(done_ps(i), done_us[i]);
	assert_int_equal(noted(BATCHES, 0)->value, 2);
	assert_int_equal(noted(JOINED, 0)->value, 5);
	assert_int_equal(noted(WAKEUPS, 0)->value, 5 + noted(ASLEEP, 0)->value);
}

/* ---- log writer ------------------------------------------------------------------- */

static void post(struct part *p)
{
	log_post(&t.log);
	env_sync();
	note(DONE, (u64)(p - t.part));
	log_leave(&t.log);
}

static void write_log(struct part *p)
{
	(void)p;
	log_writer_main(&t.log);
	env_sync();
	note(DONE, t.nr - 1);
}

static void log_begin(void)
{
	log_init(&t.log, "test log", t.rule, 3000000, t.nr - 1);
}

static void log_end(void)
{
	note(WRITES, t.log.writes);
	note(POSTS, t.log.posts);
	note(IDLED, t.log.idled);
	note(ASLEEP, log_sleeps(&t.log));
}

static void post_at(enum log_rule rule, const u64 *at_us, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		t.part[i] = (struct part){ at_us[i], 0, post };
	t.part[nr] = (struct part){ 500, 0, write_log };
	t.rule = rule;
	run(nr + 1, log_begin, log_end);
	assert_int_equal(noted(POSTS, 0)->value, nr);
	assert_int_equal(noted(WAKEUPS, 0)->value, nr + 1 + noted(ASLEEP, 0)->value);
}

static const u64 posts_us[] = { 1000, 2000, 3500, 8000 };

/* The second and third come during the first's write, and share the next. */
static void test_log_writer_gathers_when_it_begins(void **state)
{
	(void)state;
	post_at(LOG_GATHERED, posts_us, 4);
	check_about(done_ps(0), 4000);
	check_about(done_ps(1), 7000);
	check_about(done_ps(2), 7000);
	check_about(done_ps(3), 11000);
	check_about(done_ps(4), 11000); /* the writer leaves with its last user */
	assert_int_equal(noted(WRITES, 0)->value, 3);
	assert_int_equal(noted(IDLED, 0)->value, 3); /* for the first, the last, its leave */
}

/* They share the first's, as users of a journal do. */
static void test_log_writer_wakes_who_has_posted_by_the_end(void **state)
{
	(void)state;
	post_at(LOG_UP_TO_END, posts_us, 4);
	check_about(done_ps(0), 4000);
	check_about(done_ps(1), 4000);
	check_about(done_ps(2), 4000);
	check_about(done_ps(3), 11000);
	assert_int_equal(noted(WRITES, 0)->value, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watched_mutex_that_is_let_go_costs_no_sleep),
		cmocka_unit_test(test_watching_ends_with_a_sleep),
		cmocka_unit_test(test_watchers_do_not_overtake_sleepers),
		cmocka_unit_test(test_group_commit),
		cmocka_unit_test(test_log_writer_gathers_when_it_begins),
		cmocka_unit_test(test_log_writer_wakes_who_has_posted_by_the_end),
	};

	return cmocka_run_group_tests_name("workload_waits", tests, NULL, NULL);
}
