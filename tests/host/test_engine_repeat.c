/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c kernel/task.c
 * kernel/window.c
 * kernel/deal.c kernel/sync.c kernel/channel.c kernel/timer.c kernel/stats/*.c sched/*.c
 * tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_tasks.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* Law 1 on one machine: a run is the same whatever ran before it. The workload
 * does a little of everything, and what is compared is all that a run leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "../../kernel/channel.h"
#include "../../kernel/lib/string.h"
#include "../../kernel/task.h"
#include "../../kernel/trace.h"
#include "engine_rig.h"

enum { DONE = 1 };

#define PAIRS 12
#define LOOPS 60

static struct {
	struct channel pipe[PAIRS], socket;
	struct mutex mutex;
	struct gate gate;
	u64 inside;
} w;

static void sender(void *arg)
{
	struct rng *r = &task_self()->rng;
	u32 me = (u32)(uintptr_t)arg;

	task_sleep_ns(rng_below(r, 100000));
	gate_wait(&w.gate);
	for (u32 i = 0; i < LOOPS; i++) {
		task_burn(rng_below(r, 4000));
		channel_write(&w.pipe[(me + i) % PAIRS], i, 100);
		if (i % 8 == 0) {
			mutex_lock(&w.mutex);
			w.inside++;
			task_burn(rng_below(r, 2000));
			mutex_unlock(&w.mutex);
		}
		if (i % 16 == 5)
			task_sleep_ns(rng_below(r, 300000));
	}
	note(DONE, task_cpu_ns(task_self()));
}

static void receiver(void *arg)
{
	struct rng *r = &task_self()->rng;
	u32 me = (u32)(uintptr_t)arg;

	for (u32 i = 0; i < LOOPS; i++) {
		channel_read(&w.pipe[me], 100);
		task_burn(rng_below(r, 3000));
		if (i % 4 == 0)
			channel_write(&w.socket, me, 100);
		if (i % 32 == 9)
			task_yield();
	}
	note(DONE, task_cpu_ns(task_self()));
}

static void mixed_main(void *arg)
{
	u32 got = 0;

	(void)arg;
	memset(&w, 0, sizeof(w));
	mutex_init(&w.mutex, "mutex", 0);
	gate_init(&w.gate, "gate", 0);
	channel_init(&w.socket, CHANNEL_SOCKET, 100, "socket", 0, &rig.arena);
	for (u32 i = 0; i < PAIRS; i++) {
		struct task_attr attr = { .name = "pair", .mm = task_new_mm(),
					  .footprint_kb = 8 * (i % 3), .nice = (s32)(i % 5) };

		channel_init(&w.pipe[i], CHANNEL_PIPE, 100, "pipe", i, &rig.arena);
		task_fork(&attr, receiver, (void *)(uintptr_t)i);
		task_fork(&attr, sender, (void *)(uintptr_t)i);
	}
	task_sleep_ns(200000);
	gate_open(&w.gate);
	for (; got < PAIRS * LOOPS / 4; got++)
		channel_read(&w.socket, 100);
	task_wait_children();
	note(DONE, got);
}

static u64 mix(u64 h, const void *data, size_t bytes)
{
	const u8 *p = data;

	while (bytes--)
		h = (h ^ *p++) * 0x100000001b3ull;
	return h;
}

static u64 hash_notes(u64 h)
{
	for (u32 n = 0; n < nr_notes; n++) {
		u64 v[4] = { notes[n].at_ps, notes[n].cpu, notes[n].what, notes[n].value };

		h = mix(h, v, sizeof(v));
	}
	return h;
}

/* All that frames are made of, and more. */
static u64 digest(void)
{
	u64 h = hash_notes(0xcbf29ce484222325ull);

	for (u32 c = 0; c < engine.nr_cpus; c++) {
		const struct ecpu *k = &engine.cpu[c];
		u64 v[] = { k->now_ps, k->idle_total_ps, k->lock_wait_ps, k->irqs, k->passes };

		h = mix(h, v, sizeof(v));
		h = mix(h, sched_counters(the_sched, c), sizeof(struct sched_counters));
	}
	h = mix(h, engine.line_stats, sizeof(engine.line_stats));
	h = mix(h, engine.path_count, sizeof(engine.path_count));
	h = mix(h, engine.path_time_ps, sizeof(engine.path_time_ps));
	h = mix(h, engine.path_line_ps, sizeof(engine.path_line_ps));
	h = mix(h, engine.path_lock_ps, sizeof(engine.path_lock_ps));
	h = mix(h, &engine.passes, sizeof(engine.passes));
	h = mix(h, &engine.last_action_ps, sizeof(engine.last_action_ps));
	h = mix(h, &engine.jiffies, sizeof(engine.jiffies));
	for (u32 e = 0; e < EV_NR; e++) {
		u64 n = trace_count(e);

		h = mix(h, &n, sizeof(n));
	}
	return h;
}

/* Every moment of every CPU is a path's, work's or idle: exactly once. */
static void check_time_is_accounted(void)
{
	u64 until = 0, sum = engine.work_ps;

	for (u32 c = 0; c < engine.nr_cpus; c++) {
		until += engine.cpu[c].accounted_ps - T0;
		sum += engine.cpu[c].idle_total_ps;
	}
	for (u32 p = 0; p <= PATH_NR; p++) {
		sum += engine.path_time_ps[p];
		assert_true(engine.path_line_ps[p] + engine.path_lock_ps[p] <=
			    engine.path_time_ps[p]);
	}
	assert_int_equal(sum, until);
	assert_in_range(until, (engine.last_action_ps - T0) * engine.nr_cpus / 10 * 9,
			(engine.last_action_ps - T0) * engine.nr_cpus);
	assert_true(engine.path_time_ps[PATH_WAKEUP] && engine.work_ps);
}

struct outcome {
	u64 digest, vtime_ps, wakeups;
};

static struct outcome run(u64 seed, u64 slack_ps, const char *switches)
{
	struct outcome o = { 0 };

	rig_init(2, 1, 2, 2);
	rig.cfg.slack_ps = slack_ps;
	tasks_run(mixed_main, NULL, seed, switches);
	assert_true(rig_ended_well());
	assert_int_equal(count_notes(DONE), 2 * PAIRS + 1);
	assert_int_equal(w.inside, PAIRS * ((LOOPS + 7) / 8));
	check_time_is_accounted();
	o.digest = digest();
	o.vtime_ps = engine.last_action_ps - T0;
	for (u32 c = 0; c < engine.nr_cpus; c++)
		o.wakeups += sched_counters(the_sched, c)->wakeups;
	return o;
}

static void hang_main(void *arg)
{
	(void)arg;
	gate_init(&w.gate, "closed for ever", 0);
	gate_wait(&w.gate);
}

static void test_same_run_twice(void **state)
{
	struct outcome first = run(1, 0, "");

	(void)state;
	assert_int_equal(run(1, 0, "").digest, first.digest);
	/* A different run, a larger machine and a failed run in between. */
	assert_true(run(1, 0, "NO_WAKEUP_PREEMPTION").digest != first.digest);
	assert_int_equal(run(1, 0, "").digest, first.digest);
	rig_init(1, 2, 16, 2);
	tasks_run(mixed_main, NULL, 3, "");
	assert_true(rig_ended_well());
	rig_init(2, 1, 2, 2);
	tasks_run(hang_main, NULL, 1, "");
	assert_true(rig_failed_with("sleeping on closed for ever"));
	assert_int_equal(run(1, 0, "").digest, first.digest);
}

static void test_seeds_differ(void **state)
{
	struct outcome o[6];

	(void)state;
	for (u32 s = 0; s < 6; s++) {
		o[s] = run(s, 0, "");
		for (u32 k = 0; k < s; k++) {
			assert_true(o[s].digest != o[k].digest);
			assert_true(o[s].vtime_ps != o[k].vtime_ps);
		}
	}
}

/* Addresses must not matter: an arena that begins elsewhere, old contents. */
static void test_memory_does_not_matter(void **state)
{
	struct outcome first = run(7, 0, "");

	(void)state;
	rig_init(2, 1, 2, 2);
	rig.mark += 123456;
	memset(rig.arena.base + rig.mark, 0x5a, 16 << 20);
	tasks_run(mixed_main, NULL, 7, "");
	assert_true(rig_ended_well());
	assert_int_equal(digest(), first.digest);
}

static void test_slack_changes_little(void **state)
{
	struct outcome exact = run(1, 0, "");

	(void)state;
	for (u64 slack_ns = 10; slack_ns <= 10000; slack_ns *= 10) {
		struct outcome o = run(1, slack_ns * 1000, "");

		assert_int_equal(run(1, slack_ns * 1000, "").digest, o.digest);
		/* DESIGN: 1 us of slack made a run of 88 CPUs a fifth longer. */
		assert_in_range(o.vtime_ps, exact.vtime_ps / 10 * 7, exact.vtime_ps / 10 * 14);
		assert_in_range(o.wakeups, exact.wakeups / 2, exact.wakeups * 2);
	}
	assert_true(run(1, 10000000, "").digest != exact.digest);
}

/* Tasks sleep and work; what they used is what their CPUs were not idle, apart
 * from what a CPU does between tasks. */
static void test_time_adds_up(void **state)
{
	u64 used_ns = 0, all_ns, idle_ns = 0;

	(void)state;
	run(2, 0, "");
	for (u32 n = 0; n < nr_notes - 1; n++)
		used_ns += notes[n].value;
	all_ns = (engine.last_action_ps - T0) / 1000 * engine.nr_cpus;
	for (u32 c = 0; c < engine.nr_cpus; c++) {
		const struct ecpu *k = &engine.cpu[c];

		idle_ns += k->idle_total_ps / 1000;
		if (k->state == ECPU_IDLE)
			idle_ns += (engine.last_action_ps - k->idle_since_ps) / 1000;
	}
	assert_true(used_ns + idle_ns <= all_ns + all_ns / 1000);
	assert_true(used_ns + idle_ns >= all_ns / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_run_twice),
		cmocka_unit_test(test_seeds_differ),
		cmocka_unit_test(test_memory_does_not_matter),
		cmocka_unit_test(test_slack_changes_little),
		cmocka_unit_test(test_time_adds_up),
	};

	return cmocka_run_group_tests_name("engine_repeat", tests, NULL, NULL);
}
