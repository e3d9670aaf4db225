/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c
 * sched/topo.c tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_raw.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* The order of actions, spinning, and the ways in which a run hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/lib/rng.h"
#include "engine_rig.h"

enum { ACT = 1, DONE, MARK };

/* ---- order --------------------------------------------------------------- */

#define ACTS 500
#define CPUS 24

struct act {
	u64 at;
	u32 cpu, nr;
};

static u64 charge[CPUS][ACTS];
static struct act act[CPUS * ACTS];

static void acts(u32 cpu)
{
	for (u32 i = 0; i < ACTS; i++) {
		engine_charge_ps(charge[cpu][i]);
		env_sync();
		note(ACT, i);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct act *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static void draw_acts(u64 seed, u64 range)
{
	struct rng r;

	rng_init(&r, seed, range);
	for (u32 c = 0; c < CPUS; c++) {
		u64 at = 0;

		for (u32 i = 0; i < ACTS; i++) {
			charge[c][i] = 1 + rng_below(&r, range);
			at += charge[c][i];
			act[c * ACTS + i] = (struct act){ at, c, i };
		}
	}
	qsort(act, CPUS * ACTS, sizeof(*act), by_time);
}

/* Acts are sorted by time and CPU: with few different times there are many ties. */
static void test_all_actions_are_in_order_of_time(void **state)
{
	static const u64 ranges[] = { 3, 50, 100000 };

	(void)state;
	for (u32 k = 0; k < ARRAY_SIZE(ranges); k++) {
		rig_init(1, 1, CPUS, 1);
		draw_acts(k, ranges[k]);
		raw_run(NULL, acts);
		assert_true(rig_ended_well());
		assert_int_equal(nr_notes, CPUS * ACTS);
		for (u32 n = 0; n < nr_notes; n++) {
			assert_int_equal(notes[n].at_ps, act[n].at);
			assert_int_equal(notes[n].cpu, act[n].cpu);
			assert_int_equal(notes[n].value, act[n].nr);
		}
	}
}

static void test_slack_bounds_how_far_a_cpu_runs_ahead(void **state)
{
	static const u64 ranges[] = { 7, 1000, 100000 };
	u64 slack[] = { 5, 1000, 150000 };

	(void)state;
	for (u32 k = 0; k < ARRAY_SIZE(ranges); k++) {
		u64 latest = 0, ahead = 0;
		u32 first_late = 0;

		rig_init(1, 1, CPUS, 1);
		rig.cfg.slack_ps = slack[k];
		draw_acts(k, ranges[k]);
		raw_run(NULL, acts);
		assert_true(rig_ended_well());
		assert_int_equal(nr_notes, CPUS * ACTS);
		for (u32 n = 0; n < nr_notes; n++) {
			u64 at = notes[n].at_ps;

			if (at < latest && latest - at > ahead)
				ahead = latest - at;
			first_late += at < latest;
			latest = at > latest ? at : latest;
		}
		/* It is used, to the full where times are that dense, and no more. */
		assert_true(first_late > 0);
		assert_true(ahead <= slack[k]);
		if (ranges[k] <= 1000)
			assert_true(ahead * 10 >= slack[k] * 9);
		/* Each CPU's own times do not change. */
		for (u32 n = 0; n < nr_notes; n++) {
			u64 at = 0;

			for (u32 i = 0; i <= notes[n].value && n % 97 == 0; i++)
				at += charge[notes[n].cpu][i];
			assert_true(n % 97 || at == notes[n].at_ps);
		}
	}
}

/* Exactly slack ahead of a CPU with a lower number: still allowed. */
static void slack_to_the_edge(u32 cpu)
{
	if (cpu == 1) {
		run_until(1000);
		env_sync();
		note(ACT, 0);
	} else {
		env_sync();
		note(ACT, 0);
	}
}

static void test_slack_to_the_edge(void **state)
{
	(void)state;
	rig_init(1, 1, 3, 1);
	rig.cfg.slack_ps = 1000;
	raw_run(NULL, slack_to_the_edge);
	assert_true(rig_ended_well());
	assert_int_equal(count_notes(ACT), 3);
}

/* A sync in a critical section with interrupts off still lets others go first. */
static u32 shared;

static void read_late(u32 cpu)
{
	if (cpu == 0) {
		env_irq_off();
		run_until(20 * US);
		env_sync();
		note(MARK, shared);
		env_irq_on();
	} else {
		run_until(10 * US + cpu);
		env_sync();
		shared++;
	}
}

static void test_nobody_acts_before_what_it_should_see(void **state)
{
	(void)state;
	rig_init(1, 1, 9, 1);
	shared = 0;
	raw_run(NULL, read_late);
	assert_int_equal(noted(MARK, 0)->value, 8);
}

/* ---- spinning ------------------------------------------------------------ */

#define PAUSE_PS 13000

static bool flag;
static u32 turns;

/* CPU 1 stores at 100 us; CPU 2 acts at 5 us; CPU 3 does nothing. */
static void spin(u32 cpu)
{
	if (cpu == 0) {
		for (turns = 0; !flag; turns++)
			env_relax();
		note(DONE, 0);
	} else if (cpu == 1) {
		run_until(100 * US);
		env_sync();
		flag = true;
		env_sync();
	} else if (cpu == 2) {
		run_until(5 * US);
		env_sync();
		run_until(1000 * US);
		env_sync();
	}
}

static void test_spinning_moves_past_the_next_cpu(void **state)
{
	(void)state;
	rig_init(1, 1, 4, 1);
	flag = false;
	raw_run(NULL, spin);
	assert_true(rig_ended_well());
	/* Just past: one ps. Never all the way in steps of a PAUSE. */
	assert_int_equal(noted(DONE, 0)->at_ps, 100 * US + 1);
	assert_in_range(turns, 3, 6);
}

static void note_and_flag(enum ecpu_event e)
{
	note(NOTE_EVENT + e, 0);
	flag = true;
}

static void spin_to_event(u32 cpu)
{
	(void)cpu;
	engine_event_set(engine.cur, EVT_TIMER, T0 + 70 * US);
	while (!flag)
		env_relax();
	note(DONE, 0);
	env_sync();
	engine_event_set(engine.cur, EVT_TIMER, engine.cur->now_ps + PAUSE_PS / 2);
	env_relax(); /* a PAUSE is longer than that */
	note(DONE, 0);
}

static void test_spinning_moves_to_the_own_event(void **state)
{
	u64 irq, at;

	(void)state;
	rig_init(1, 1, 1, 1);
	flag = false;
	raw_handler = note_and_flag;
	raw_run(NULL, spin_to_event);
	assert_true(rig_ended_well());
	irq = rig.machine.irq_ns * 1000;
	at = 70 * US + irq;
	assert_int_equal(noted(NOTE_EVENT + EVT_TIMER, 0)->at_ps, at);
	assert_int_equal(noted(DONE, 0)->at_ps, at);
	assert_int_equal(noted(NOTE_EVENT + EVT_TIMER, 1)->at_ps, at + PAUSE_PS + irq);
}

/* ---- hangs: the run fails, it does not hang ------------------------------ */

static void spin_for_ever(u32 cpu)
{
	while (cpu == 0)
		env_relax();
	engine_idle();
}

static void test_spinning_on_nothing_fails(void **state)
{
	(void)state;
	rig_init(1, 1, 2, 1);
	raw_run(NULL, spin_for_ever);
	assert_true(rig_failed_with("cpu 0 spins and nothing can change what it waits for"));
}

static void work_for_ever(u32 cpu)
{
	engine_tick_start(engine.cur);
	for (;;)
		engine_burn(cpu ? 5000000 : 3000000, 0);
}

static void test_virtual_time_is_limited(void **state)
{
	(void)state;
	rig_init(1, 1, 2, 1);
	rig.cfg.vlimit_ps = 70 * MS;
	raw_run(NULL, work_for_ever);
	assert_true(rig_failed_with("virtual time passed vlimit_s"));
	assert_in_range(engine.cur->now_ps - T0, 70 * MS, 80 * MS);
}

static struct env_lock lock;

static void make_lock(void)
{
	env_lock_init(&lock, LINE_USER, "lonely", 4);
}

/* The owner idles and nobody wakes it: no cycle, but no way on either. */
static void owner_idles(u32 cpu)
{
	if (cpu == 2) {
		env_lock(&lock);
		engine.cur->irq_depth--; /* else it could not idle */
		engine_idle();
	}
	run_until(10 * US);
	env_lock(&lock);
	note(DONE, 0);
}

static void test_only_lock_waiters_left(void **state)
{
	(void)state;
	rig_init(1, 1, 3, 1);
	raw_run(make_lock, owner_idles);
	assert_true(rig_failed_with("no task can run and nothing is pending"));
	assert_true(rig_failed_with("cpu 2 holds lock lonely 4"));
	assert_true(rig_failed_with("cpu 0 waits for lock lonely 4, owner cpu 2"));
	assert_true(rig_failed_with("cpu 1 waits for lock lonely 4, owner cpu 2"));
	assert_true(rig_failed_with("no tasks here"));
	assert_int_equal(count_notes(DONE), 0);
}

/* CPU 0 idles with its tick: that is all that is pending. */
static void all_idle(u32 cpu)
{
	if (cpu == 0)
		engine_tick_start(engine.cur);
	for (;;)
		engine_idle();
}

static void test_nothing_pending_but_ticks(void **state)
{
	(void)state;
	rig_init(1, 1, 3, 1);
	raw_run(NULL, all_idle);
	assert_true(rig_failed_with("no task can run and nothing is pending but ticks"));
	assert_true(engine.last_action_ps - T0 < 10 * MS);
}

/* A pending timer is no hang, however long it takes. */
static void one_timer(u32 cpu)
{
	if (cpu == 0)
		engine_tick_start(engine.cur);
	if (cpu == 2)
		engine_event_set(engine.cur, EVT_TIMER, T0 + 500 * MS);
	for (;;)
		engine_idle();
}

static void finish(enum ecpu_event e)
{
	if (e == EVT_TIMER)
		engine_finish();
}

static void test_a_timer_far_away_is_no_hang(void **state)
{
	(void)state;
	rig_init(1, 1, 3, 1);
	raw_handler = finish;
	raw_run(NULL, one_timer);
	assert_true(rig_ended_well());
	assert_in_range(engine.last_action_ps - T0, 500 * MS, 501 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_actions_are_in_order_of_time),
		cmocka_unit_test(test_slack_bounds_how_far_a_cpu_runs_ahead),
		cmocka_unit_test(test_slack_to_the_edge),
		cmocka_unit_test(test_nobody_acts_before_what_it_should_see),
		cmocka_unit_test(test_spinning_moves_past_the_next_cpu),
		cmocka_unit_test(test_spinning_moves_to_the_own_event),
		cmocka_unit_test(test_spinning_on_nothing_fails),
		cmocka_unit_test(test_virtual_time_is_limited),
		cmocka_unit_test(test_only_lock_waiters_left),
		cmocka_unit_test(test_nothing_pending_but_ticks),
		cmocka_unit_test(test_a_timer_far_away_is_no_hang),
	};

	return cmocka_run_group_tests_name("engine_order", tests, NULL, NULL);
}
