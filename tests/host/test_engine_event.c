/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c
 * sched/topo.c tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_raw.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* Events on the virtual clock: which is taken when, and what it interrupts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "../../kernel/lib/rng.h"
#include "engine_rig.h"

enum { DONE = 1, MARK };

static u64 irq(void)
{
	return rig.machine.irq_ns * 1000;
}

static u64 tick_hw(void)
{
	return rig.machine.tick_hw_ns * 1000;
}

static void run(void (*script)(u32 cpu))
{
	raw_run(NULL, script);
	assert_true(rig_ended_well());
}

/* ---- order --------------------------------------------------------------- */

static void all_due(u32 cpu)
{
	env_irq_off();
	engine_tick_start(engine.cur); /* 1 ms */
	if (cpu)
		engine_event_clear(engine.cur, EVT_TICK); /* that CPU burns on */
	for (u32 e = EVT_TICK; e-- > 0;)
		engine_event_set(engine.cur, (enum ecpu_event)e, T0 + MS);
	if (cpu) {
		env_irq_on();
		engine_burn(2000000, 0);
	} else {
		run_until(MS);
		env_sync();
		note(MARK, 0);
		env_irq_on();
		env_sync();
	}
	note(DONE, 0);
}

static void test_order_when_due_together(void **state)
{
	u32 seen[2] = { 0 };

	(void)state;
	rig_init(1, 1, 2, 1);
	run(all_due);
	for (u32 n = 0; n < nr_notes; n++) {
		const struct note *e = &notes[n];
		u32 which = e->what - NOTE_EVENT;

		if (e->what < NOTE_EVENT)
			continue;
		/* Calls, reschedule, timer, tick: each after the ones before it. */
		assert_int_equal(which, seen[e->cpu]++);
		assert_int_equal(e->at_ps, MS + which * irq() +
				 (which == EVT_TICK ? tick_hw() : irq()));
	}
	assert_int_equal(seen[0], EVT_NR);
	assert_int_equal(seen[1], EVT_TICK);
	assert_true(EVT_CALL == 0 && EVT_CALL + ENV_NR_CALLS == EVT_RESCHED &&
		    EVT_RESCHED < EVT_TIMER && EVT_TIMER < EVT_TICK && EVT_TICK + 1 == EVT_NR);
	assert_true(noted(MARK, 0) < noted(NOTE_EVENT + EVT_CALL, 0));
	assert_int_equal(noted(DONE, 1)->at_ps, 2 * MS + (EVT_NR - 1) * irq());
}

static struct env_line line;

static void make_line(void)
{
	env_line_init(&line, LINE_USER);
}

static void pending_action(u32 cpu)
{
	(void)cpu;
	engine_event_set(engine.cur, EVT_TIMER, T0 + 10 * US);
	run_until(10 * US - 1);
	env_line_write(&line); /* not due yet */
	note(MARK, 0);
	env_line_write(&line); /* due by now */
	note(MARK, 1);
}

static void test_event_comes_before_the_pending_action(void **state)
{
	u64 first;

	(void)state;
	rig_init(1, 1, 1, 1);
	raw_run(make_line, pending_action);
	assert_true(rig_ended_well());
	first = 10 * US - 1 + rig.machine.c2c_ps[3];
	assert_int_equal(noted(MARK, 0)->at_ps, first);
	assert_int_equal(noted(NOTE_EVENT + EVT_TIMER, 0)->at_ps, first + irq());
	assert_int_equal(noted(MARK, 1)->at_ps, first + irq() + rig.machine.lock_rmw_ps);
}

static void ask_for_preemption(enum ecpu_event e)
{
	note(NOTE_EVENT + e, engine.cur->irq_depth);
	raw_resched[env_this_cpu()] = true;
	env_sync(); /* interrupts are off: nothing follows here */
	note(MARK, 0);
}

static void preempted(u32 cpu)
{
	(void)cpu;
	engine_event_set(engine.cur, EVT_RESCHED, T0 + 10 * US);
	engine_burn(20000, 0);
	note(DONE, 0);
	env_irq_off();
	raw_resched[0] = true;
	env_sync();
	note(DONE, 1);
	env_irq_on();
	env_sync();
}

static void test_preemption_follows_the_handler(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	raw_handler = ask_for_preemption;
	run(preempted);
	assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 0)->value, 1);
	assert_true(noted(MARK, 0) < noted(NOTE_PREEMPT, 0));
	assert_int_equal(noted(NOTE_PREEMPT, 0)->at_ps, 10 * US + irq());
	assert_true(noted(NOTE_PREEMPT, 0) < noted(DONE, 0));
	assert_true(noted(DONE, 1) < noted(NOTE_PREEMPT, 1));
	assert_int_equal(count_notes(NOTE_PREEMPT), 2);
}

/* ---- inter-processor interrupts ------------------------------------------ */

static const u32 target[] = { 0, 1, 2, 4, 8 };

static void send_around(u32 cpu)
{
	if (cpu == 0) {
		for (u32 i = 0; i < ARRAY_SIZE(target); i++) {
			run_until((i + 1) * 10 * US);
			env_kick(target[i]);
			note(MARK, 0);
			env_sync(); /* the one to itself is due */
		}
		return;
	}
	engine_burn(100000, 0);
}

static void test_ipi_latency_by_distance(void **state)
{
	(void)state;
	rig_init(2, 2, 2, 2);
	rig.machine.smt_pct[1] = 100; /* speed is not the subject */
	run(send_around);
	for (u32 i = 0; i < ARRAY_SIZE(target); i++) {
		const struct note *got = noted(NOTE_EVENT + EVT_RESCHED, i);
		u64 sent = (i + 1) * 10 * US + rig.machine.ipi_send_ns * 1000;

		assert_int_equal(noted(MARK, i)->at_ps, sent);
		assert_int_equal(got->cpu, target[i]);
		assert_int_equal(got->at_ps,
				 sent + (i ? rig.machine.ipi_ns[i - 1] * 1000 : 0) + irq());
	}
}

/* CPU 8's arrives after CPU 1's, which is sent later but from nearer; then again,
 * and a call, which is another kind, in between. */
static void merge(u32 cpu)
{
	if (cpu == 8) {
		env_kick(0);
		env_call(0, ENV_CALL_WAKE_LIST);
		run_until(600000); /* 600 ns: both are still pending */
		env_kick(0);
		env_call(0, ENV_CALL_PULL);
		run_until(20 * US);
		env_kick(0);
	} else if (cpu == 1) {
		run_until(500000);
		env_kick(0);
	} else {
		engine_burn(100000, 0);
	}
}

static void test_pending_ipis_merge(void **state)
{
	u64 send, near, far, call;

	(void)state;
	rig_init(2, 2, 2, 2);
	rig.machine.smt_pct[1] = 100;
	run(merge);
	send = rig.machine.ipi_send_ns * 1000;
	near = rig.machine.ipi_ns[0] * 1000;
	far = rig.machine.ipi_ns[3] * 1000;
	assert_int_equal(count_notes(NOTE_EVENT + EVT_RESCHED), 2);
	assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 0)->at_ps, 500000 + send + near + irq());
	assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 1)->at_ps, 20 * US + send + far + irq());
	assert_int_equal(count_notes(NOTE_EVENT + EVT_CALL + ENV_CALL_WAKE_LIST), 1);
	/* Due at 2 sends plus the way, when the handler of the kick still runs. */
	call = 500000 + send + near + irq();
	assert_true(2 * send + far < call);
	assert_int_equal(noted(NOTE_EVENT + EVT_CALL + ENV_CALL_WAKE_LIST, 0)->at_ps, call + irq());
	assert_int_equal(count_notes(NOTE_EVENT + EVT_CALL + ENV_CALL_PULL), 1);
}

static void test_missing_distance_is_taken_from_the_next(void **state)
{
	(void)state;
	rig_init(2, 2, 2, 2);
	rig.machine.smt_pct[1] = 100;
	rig.machine.ipi_ns[2] = 0;
	run(send_around);
	assert_int_equal(noted(NOTE_EVENT + EVT_RESCHED, 3)->at_ps,
			 40 * US + 131000 + rig.machine.ipi_ns[3] * 1000 + irq());
}

/* ---- random IPIs against a second model ---------------------------------- */

#define SENDERS 4
#define RECEIVERS 4
#define SENDS 400

struct send {
	u64 at;      /* of the request */
	u64 arrives;
	u32 to, slot, from;
};

static struct send sends[SENDERS * SENDS];
static u64 cost[EVT_NR]; /* of each handler */

/* CPUs 0 to 3 send and are not interrupted, 4 to 7 burn. */
static void storm(u32 cpu)
{
	if (cpu >= SENDERS) {
		engine_burn(2000000, 0);
		note(DONE, 0);
		return;
	}
	for (u32 i = 0; i < SENDS; i++) {
		const struct send *s = &sends[cpu * SENDS + i];

		run_until(s->at);
		env_send(s->to, (enum ecpu_event)s->slot);
	}
}

static void storm_handler(enum ecpu_event e)
{
	note(NOTE_EVENT + e, clock_ps() - irq());
	engine_charge_ps(cost[e]);
}

static int by_time(const void *a, const void *b)
{
	const struct send *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void draw_storm(u64 seed)
{
	struct rng r;

	rng_init(&r, seed, 0);
	for (u32 c = 0; c < SENDERS; c++) {
		u64 at = 0;

		for (u32 i = 0; i < SENDS; i++) {
			struct send *s = &sends[c * SENDS + i];
			u32 d;

			s->from = c;
			s->to = SENDERS + (u32)rng_below(&r, RECEIVERS);
			s->slot = (u32)rng_below(&r, EVT_TIMER);
			s->at = at + rng_below(&r, 3 * US);
			at = s->at + rig.machine.ipi_send_ns * 1000;
			d = topo_distance(&rig.topo, c, s->to);
			s->arrives = at + rig.machine.ipi_ns[d - 1] * 1000;
		}
	}
	for (u32 e = 0; e < EVT_NR; e++)
		cost[e] = rng_below(&r, 2 * US);
}

/* Plays one receiver: it takes the first due slot when its handler is done. */
static void check_receiver(u32 cpu, u32 *n)
{
	u64 pending[EVT_TIMER], now = 0, in_handlers = 0;
	u32 next = 0;

	for (u32 e = 0; e < EVT_TIMER; e++)
		pending[e] = TIME_NEVER;
	for (;;) {
		u64 take = TIME_NEVER;
		u32 slot = EVT_TIMER;

		for (u32 e = 0; e < EVT_TIMER; e++)
			if (pending[e] < take)
				take = pending[e];
		if (take < now)
			take = now;
		/* A sender of a lower number acts first at the same time. */
		if (next < SENDERS * SENDS && sends[next].at <= take) {
			const struct send *s = &sends[next++];

			if (s->to == cpu && s->arrives < pending[s->slot])
				pending[s->slot] = s->arrives;
			continue;
		}
		if (take == TIME_NEVER)
			break;
		for (u32 e = EVT_TIMER; e-- > 0;)
			if (pending[e] <= take)
				slot = e;
		pending[slot] = TIME_NEVER;
		while (notes[*n].cpu != cpu)
			++*n;
		assert_int_equal(notes[*n].what, NOTE_EVENT + slot);
		assert_int_equal(notes[*n].value, take);
		++*n;
		in_handlers += irq() + cost[slot];
		now = take + irq() + cost[slot];
	}
	while (notes[*n].cpu != cpu)
		++*n;
	assert_int_equal(notes[*n].what, DONE);
	/* The burst lost what the handlers took, and nothing else. */
	assert_int_equal(notes[*n].at_ps, 2 * MS + in_handlers);
}

static void test_random_ipis(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 5; seed++) {
		rig_init(2, 2, 2, 1);
		draw_storm(seed);
		raw_handler = storm_handler;
		run(storm);
		qsort(sends, SENDERS * SENDS, sizeof(*sends), by_time);
		for (u32 c = SENDERS; c < SENDERS + RECEIVERS; c++) {
			u32 n = 0;

			check_receiver(c, &n);
		}
	}
}

/* ---- bursts -------------------------------------------------------------- */

static void handler_of_7us(enum ecpu_event e)
{
	note(NOTE_EVENT + e, clock_ps() - irq());
	engine_charge_ps(7 * US);
}

static void interrupted_burst(u32 cpu)
{
	(void)cpu;
	engine_event_set(engine.cur, EVT_TIMER, T0 + 30 * US);
	engine_burn(100000, 5);
	note(DONE, 0);
	engine_event_set(engine.cur, EVT_TIMER, engine.cur->now_ps + 10 * US);
	engine_burn(10000, 0); /* ends when the event comes */
	note(DONE, 0);
	env_irq_off();
	engine_event_set(engine.cur, EVT_TIMER, engine.cur->now_ps + US);
	engine_burn(10000, 0);
	note(DONE, 0);
	env_irq_on();
	engine_burn(0, 0); /* no work, but a sync point */
	note(DONE, 0);
}

static void test_burst_is_stopped_at_the_event(void **state)
{
	u64 at = 30 * US;

	(void)state;
	rig_init(1, 1, 1, 1);
	raw_handler = handler_of_7us;
	run(interrupted_burst);
	assert_int_equal(noted(NOTE_EVENT + EVT_TIMER, 0)->value, at);
	at = 100 * US + 5 + irq() + 7 * US;
	assert_int_equal(noted(DONE, 0)->at_ps, at);
	at += 10 * US;
	assert_int_equal(noted(NOTE_EVENT + EVT_TIMER, 1)->value, at);
	at += irq() + 7 * US;
	assert_int_equal(noted(DONE, 1)->at_ps, at);
	at += 10 * US; /* interrupts were off: the burst is whole */
	assert_int_equal(noted(DONE, 2)->at_ps, at);
	assert_int_equal(noted(NOTE_EVENT + EVT_TIMER, 2)->value, at);
	assert_int_equal(noted(DONE, 3)->at_ps, at + irq() + 7 * US);
}

/* ---- ticks --------------------------------------------------------------- */

static void ticking(u32 cpu)
{
	engine_burn(cpu * 1700000 + 1, 0); /* start out of step */
	engine_tick_start(engine.cur);
	engine_burn(100000000, 0);
	note(DONE, 0);
}

static void test_all_cpus_tick_at_multiples(void **state)
{
	static const u32 hz[] = { 100, 250, 300, 1000 };

	(void)state;
	for (u32 h = 0; h < ARRAY_SIZE(hz); h++) {
		u32 ticks[4] = { 0 };
		bool done[4] = { 0 }; /* the first CPU's idle ticks are late by its exit latency */

		rig_init(1, 1, 4, 1);
		rig.cfg.hz = hz[h];
		run(ticking);
		for (u32 n = 0; n < nr_notes; n++) {
			const struct note *e = &notes[n];
			u64 started = e->cpu * 1700 * US + 1000, k, at;

			done[e->cpu] |= e->what == DONE;
			if (e->what != NOTE_EVENT + EVT_TICK || done[e->cpu])
				continue;
			/* The k-th multiple of 1/hz after the start, none left out.
			 * A third of a ps is lost per tick of hz 300. */
			k = started * hz[h] / 1000000000000 + 1 + ticks[e->cpu]++;
			at = (T0 + e->at_ps - tick_hw()) * hz[h];
			assert_in_range((hz[h] + k) * 1000000000000 - at, 0, (hz[h] + k) * hz[h]);
			if (hz[h] != 300)
				assert_int_equal(at, (hz[h] + k) * 1000000000000);
		}
		/* 100 ms of work, and the ticks themselves. */
		for (u32 c = 0; c < 4; c++)
			assert_in_range(ticks[c], hz[h] / 10, hz[h] / 10 + 1);
	}
}

static void late(u32 cpu)
{
	(void)cpu;
	engine_tick_start(engine.cur);
	env_irq_off();
	engine_burn(3500000, 0);
	env_irq_on();
	engine_burn(1000000, 0);
}

static void test_missed_ticks_are_taken_as_one(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	run(late);
	assert_int_equal(count_notes(NOTE_EVENT + EVT_TICK), 2);
	assert_int_equal(noted(NOTE_EVENT + EVT_TICK, 0)->at_ps, 3500 * US + tick_hw());
	assert_int_equal(noted(NOTE_EVENT + EVT_TICK, 1)->at_ps, 4 * MS + tick_hw());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_when_due_together),
		cmocka_unit_test(test_event_comes_before_the_pending_action),
		cmocka_unit_test(test_preemption_follows_the_handler),
		cmocka_unit_test(test_ipi_latency_by_distance),
		cmocka_unit_test(test_pending_ipis_merge),
		cmocka_unit_test(test_missing_distance_is_taken_from_the_next),
		cmocka_unit_test(test_random_ipis),
		cmocka_unit_test(test_burst_is_stopped_at_the_event),
		cmocka_unit_test(test_all_cpus_tick_at_multiples),
		cmocka_unit_test(test_missed_ticks_are_taken_as_one),
	};

	return cmocka_run_group_tests_name("engine_event", tests, NULL, NULL);
}
