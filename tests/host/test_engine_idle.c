/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c
 * sched/topo.c tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_raw.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* Idle CPUs: ticks, exit latencies, and who is woken without an IPI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "engine_rig.h"

enum { DONE = 1, SENT, LATE };

static u64 irq(void)
{
	return rig.machine.irq_ns * 1000;
}

static void run(void (*script)(u32 cpu))
{
	raw_run(NULL, script);
	assert_true(rig_ended_well());
}

/* ---- idleness ------------------------------------------------------------ */

static bool woken[64];

static void wake_on_timer(enum ecpu_event e)
{
	note(NOTE_EVENT + e, 0);
	if (e == EVT_TIMER)
		woken[env_this_cpu()] = true;
}

static void idle_until(u64 ps)
{
	u32 cpu = env_this_cpu();

	woken[cpu] = false;
	engine_event_set(engine.cur, EVT_TIMER, T0 + ps);
	while (!woken[cpu])
		engine_idle();
}

static void sleep_20ms(u32 cpu)
{
	engine_tick_start(engine.cur);
	engine_burn(100000, 0);
	idle_until(20400 * US + cpu);
	engine_burn(1000000, 0);
	note(DONE, 0);
	engine_finish(); /* whoever is first */
}

static void test_only_the_housekeeper_ticks_when_idle(void **state)
{
	(void)state;
	for (u32 keeper = 0; keeper < 3; keeper += 2) {
		rig_init(1, 1, 3, 1);
		rig.cfg.housekeeper = keeper;
		raw_handler = wake_on_timer;
		run(sleep_20ms);
		for (u32 c = 0; c < 3; c++) {
			u32 before = 0, after = 0;

			for (u32 n = 0; n < nr_notes; n++) {
				if (notes[n].cpu != c || notes[n].what != NOTE_EVENT + EVT_TICK)
					continue;
				*(notes[n].at_ps < 20400 * US ? &before : &after) += 1;
			}
			assert_int_equal(before, c == keeper ? 20 : 0);
			/* Awake again, all tick at 21 ms. */
			assert_int_equal(after, 1);
		}
	}
}

static u64 nap;

static void take_nap(u32 cpu)
{
	if (cpu)
		return;
	engine_burn(1000, 0);
	idle_until(US + nap);
	note(DONE, engine.cur->idle_total_ps);
	engine_finish();
}

static u64 exit_after(u64 slept)
{
	rig.cfg.housekeeper = 1;
	nap = slept;
	raw_handler = wake_on_timer;
	run(take_nap);
	assert_int_equal(noted(DONE, 0)->value, slept);
	return noted(NOTE_EVENT + EVT_TIMER, 0)->at_ps - irq() - US - slept;
}

static void test_exit_latency_by_residency(void **state)
{
	static const struct { u64 slept; u32 exit_ns; } row[] = {
		{ 1, 101 }, { 2003000 - 1, 101 }, { 2003000, 1103 }, { 5003000 - 1, 1103 },
		{ 5003000, 4001 }, { 600011000 - 1, 4001 }, { 600011000, 133003 },
		{ 9 * MS, 133003 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(row); i++) {
		rig_init(1, 1, 2, 1);
		rig.cfg.hz = 100;
		assert_int_equal(exit_after(row[i].slept), row[i].exit_ns * 1000);
	}
}

/* Some parts have two states only: the others' columns are 0. */
static void test_states_that_a_part_lacks(void **state)
{
	(void)state;
	rig_init(1, 1, 2, 1);
	rig.cfg.hz = 100;
	for (u32 s = 2; s < IDLE_STATES; s++)
		rig.machine.idle_exit_ns[s] = rig.machine.idle_residency_ns[s] = 0;
	assert_int_equal(exit_after(5 * MS), 1103000);
	assert_int_equal(exit_after(US), 101000);
}

/* ---- idle CPUs that look at memory ------------------------------------------ */

static u64 kick_at;       /* after the target went idle */
static enum env_call asked;
static bool also_asked;

static void watched(enum ecpu_event e)
{
	note(NOTE_EVENT + e, engine.cur->irqs);
	if (e == EVT_RESCHED || e < EVT_RESCHED)
		woken[env_this_cpu()] = true;
}

/* CPU 4 idles from 1 us on; CPU 0 tells it something later. */
static void tell_idle(u32 cpu)
{
	if (cpu == 4) {
		engine_burn(1000, 0);
		woken[4] = false;
		while (!woken[4])
			engine_idle();
		note(DONE, 0);
		return;
	}
	if (cpu)
		return;
	engine_burn((US + kick_at) / 1000, 0);
	note(SENT, env_kick(4));
	if (also_asked)
		note(SENT, env_call(4, asked));
}

/* Another LLC of the package; nobody ticks. */
static void idle_rig(bool mwait, u64 at)
{
	rig_init(2, 2, 2, 2);
	rig.cfg.hz = 100;
	rig.cfg.housekeeper = 15;
	rig.machine.mwait = mwait;
	rig.machine.smt_pct[1] = 100;
	raw_handler = watched;
	kick_at = at;
	also_asked = false;
}

static void test_mwait_needs_no_ipi(void **state)
{
	static const u64 at[] = { US, 9 * MS };
	u64 seen;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		idle_rig(true, at[i]);
		run(tell_idle);
		/* The sender pays nothing; the target one hand-over, then the exit, and
		 * no interrupt. */
		assert_int_equal(noted(SENT, 0)->value, false);
		assert_int_equal(noted(SENT, 0)->at_ps, US + at[i]);
		seen = US + at[i] + rig.machine.c2c_ps[2];
		assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 0)->at_ps,
				 seen + (i ? 133003000 : 101000));
		assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 0)->value, 0);
		assert_int_equal(noted(DONE, 0)->at_ps, noted(NOTE_EVENT + EVT_RESCHED, 0)->at_ps);
	}
}

static void test_first_idle_state_polls(void **state)
{
	u64 residency = 2003000, sent;

	(void)state;
	for (u32 late = 0; late < 2; late++) {
		idle_rig(false, residency - 1000 + late * 1000);
		run(tell_idle);
		sent = US + kick_at;
		assert_int_equal(noted(SENT, 0)->value, late);
		assert_int_equal(noted(SENT, 0)->at_ps, sent + late * 131000);
		/* It exits from the state it is in when the news comes. */
		assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 0)->at_ps,
				 late ? sent + 131000 + 709000 + 1103000 + irq()
				      : sent + 41011 + 1103000);
		assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 0)->value, late);
	}
}

/* A part without a residency for its second state enters that at once. */
static void test_no_residency_no_polling(void **state)
{
	(void)state;
	idle_rig(false, 1000);
	rig.machine.idle_residency_ns[1] = 0;
	run(tell_idle);
	assert_int_equal(noted(SENT, 0)->value, true);
}

/* A call is seen as a kick is, each once; on the way out the loop still polls. */
static void test_poll_sees_each_once(void **state)
{
	(void)state;
	idle_rig(true, 2 * MS);
	also_asked = true;
	asked = ENV_CALL_PULL;
	run(tell_idle);
	assert_int_equal(noted(SENT, 1)->value, false);
	assert_int_equal(count_notes(NOTE_EVENT + EVT_RESCHED), 1);
	assert_int_equal(count_notes(NOTE_EVENT + EVT_CALL + ENV_CALL_PULL), 1);
	assert_int_equal(count_notes(NOTE_EVENT + EVT_CALL + ENV_CALL_WAKE_LIST), 0);
	assert_int_equal(noted(NOTE_EVENT + EVT_CALL + ENV_CALL_PULL, 0)->value, 0);
}

static void wakes_then_works(u32 cpu)
{
	if (cpu == 4) {
		engine_burn(1000, 0);
		idle_until(2 * MS);
		engine_burn(100000, 0);
		return;
	}
	if (cpu)
		return;
	/* While it leaves C6, 133 us long; and when it works. */
	engine_burn(2050000, 0);
	note(SENT, env_kick(4));
	engine_burn(100000, 0);
	note(LATE, env_kick(4));
}

static void test_polls_until_it_is_out(void **state)
{
	(void)state;
	for (u32 mwait = 0; mwait < 2; mwait++) {
		idle_rig(mwait, 0);
		raw_handler = wake_on_timer;
		run(wakes_then_works);
		assert_int_equal(noted(SENT, 0)->value, !mwait);
		assert_int_equal(noted(LATE, 0)->value, true);
		assert_int_equal(count_notes(NOTE_EVENT + EVT_RESCHED), 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_the_housekeeper_ticks_when_idle),
		cmocka_unit_test(test_exit_latency_by_residency),
		cmocka_unit_test(test_states_that_a_part_lacks),
		cmocka_unit_test(test_mwait_needs_no_ipi),
		cmocka_unit_test(test_first_idle_state_polls),
		cmocka_unit_test(test_no_residency_no_polling),
		cmocka_unit_test(test_poll_sees_each_once),
		cmocka_unit_test(test_polls_until_it_is_out),
	};

	return cmocka_run_group_tests_name("engine_idle", tests, NULL, NULL);
}
