/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c
 * sched/topo.c tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_raw.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* Locks in virtual time (DESIGN section 2, "Locks"): every time is added up by
 * hand, then random programs run against a list of requests in order of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "../../kernel/lib/rng.h"
#include "engine_rig.h"

enum { GOT = 1, FREED, TRIED, DONE, MARK };

static struct env_lock lock[8];

static void make_locks(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(lock); i++)
		env_lock_init(&lock[i], LINE_WAITQ, "test", i);
}

static void run(void (*script)(u32 cpu))
{
	raw_run(make_locks, script);
	assert_true(rig_ended_well());
}

static u64 irqsave(void)
{
	return rig.machine.irqsave_ps;
}

/* Transfer from a CPU of that distance. */
static u64 from(enum topo_dist d)
{
	return rig.machine.c2c_ps[d - DIST_SMT];
}

/* ---- nobody else wants it ------------------------------------------------ */

/* CPU c takes it at c ms: from memory, its sibling, LLC, package, far away. */
static void in_turns(u32 cpu)
{
	static const u32 turn[] = { 0, 1, 2, 4, 8 };

	for (u32 i = 0; i < ARRAY_SIZE(turn); i++) {
		if (turn[i] != cpu)
			continue;
		run_until(i * MS);
		for (u32 twice = 0; twice < 2; twice++) {
			u64 since = clock_ps();

			env_lock(&lock[0]);
			note(GOT, clock_ps() - since);
			env_unlock(&lock[0]);
			note(FREED, clock_ps());
		}
	}
}

static void test_uncontended_cost(void **state)
{
	u64 expected[5];

	(void)state;
	rig_init(2, 2, 2, 2);
	run(in_turns);
	expected[0] = rig.machine.c2c_ps[3]; /* memory */
	for (u32 d = DIST_SMT; d <= DIST_REMOTE; d++)
		expected[d] = from(d);
	for (u32 i = 0; i < 5; i++) {
		const struct note *cold = noted(GOT, 2 * i), *warm = noted(GOT, 2 * i + 1);

		assert_int_equal(cold->value, irqsave() + expected[i]);
		assert_int_equal(warm->value, irqsave() + rig.machine.lock_rmw_ps);
		/* Unlocking is free. */
		assert_int_equal(noted(FREED, 2 * i)->value, cold->at_ps);
	}
	for (u32 c = 0; c < 16; c++)
		assert_int_equal(engine.cpu[c].lock_wait_ps, 0);
}

/* ---- waiting ------------------------------------------------------------- */

#define HOLD (50 * US)

/* CPU 0 holds it over syncs; 3, 1 and 2 ask in this order. */
static void queue_up(u32 cpu)
{
	static const u64 asks[] = { 0, 20 * US, 30 * US, 10 * US };

	run_until(asks[cpu]);
	env_lock(&lock[0]);
	note(GOT, 0);
	for (u32 i = 0; i < 10; i++) {
		engine_charge_ps(HOLD / 10);
		env_sync();
	}
	env_unlock(&lock[0]);
	note(FREED, 0);
}

static void test_waiters_are_served_in_order_of_request(void **state)
{
	static const u32 order[] = { 0, 3, 1, 2 };
	u64 at, waits[4] = { 0 };

	(void)state;
	rig_init(1, 1, 4, 1);
	at = irqsave() + rig.machine.c2c_ps[3];
	run(queue_up);
	for (u32 i = 0; i < 4; i++) {
		const struct note *got = noted(GOT, i);

		assert_int_equal(got->cpu, order[i]);
		assert_int_equal(got->at_ps, at);
		at += HOLD;
		assert_int_equal(noted(FREED, i)->at_ps, at);
		if (i < 3)
			waits[order[i + 1]] = at;
		at += from(DIST_LLC);
	}
	/* From the request, its interrupts just turned off, to the release. */
	waits[3] -= 10 * US + irqsave();
	waits[1] -= 20 * US + irqsave();
	waits[2] -= 30 * US + irqsave();
	for (u32 c = 0; c < 4; c++)
		assert_int_equal(engine.cpu[c].lock_wait_ps, waits[c]);
}

/* CPU 0 takes it at 0, and lets go at 100 us without a sync point in between: to
 * the others, who come earlier in virtual time, the lock looks free by then. */
static void released_in_future(u32 cpu)
{
	if (cpu == 0) {
		env_lock(&lock[0]);
		run_until(100 * US);
		env_unlock(&lock[0]);
		env_sync();
		note(DONE, 0);
		return;
	}
	if (cpu == 3) {
		static const u64 tries[] = { 20 * US, 35 * US, 99 * US };

		for (u32 i = 0; i < ARRAY_SIZE(tries); i++) {
			bool got;

			run_until(tries[i]);
			got = env_trylock(&lock[0]);
			note(TRIED, got);
		}
		return;
	}
	run_until(cpu == 1 ? 40 * US : 30 * US);
	env_lock(&lock[0]);
	note(GOT, 0);
	engine_charge_ps(HOLD);
	env_unlock(&lock[0]);
}

static void test_lock_released_in_the_future(void **state)
{
	u64 first, second, busy;

	(void)state;
	rig_init(1, 1, 4, 1);
	run(released_in_future);
	/* All tries fail, with nobody waiting and with one that does, and at once:
	 * the first takes a copy of the line, the others hit. */
	assert_int_equal(count_notes(TRIED), 3);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(TRIED, i)->value, false);
	assert_int_equal(noted(TRIED, 0)->at_ps, 20 * US + irqsave() + from(DIST_LLC));
	assert_int_equal(noted(TRIED, 1)->at_ps, 35 * US + irqsave() + 1000);
	assert_int_equal(noted(TRIED, 2)->at_ps, 99 * US + irqsave() + 1000);
	/* CPU 2 asked first. It waits to the release, and pays for its transfer. */
	first = 100 * US + from(DIST_LLC);
	assert_int_equal(noted(GOT, 0)->cpu, 2);
	assert_int_equal(noted(GOT, 0)->at_ps, first);
	assert_int_equal(engine.cpu[2].lock_wait_ps, 100 * US - 30 * US - irqsave());
	/* By CPU 1's turn the line is not busy any more. */
	second = first + HOLD + from(DIST_LLC);
	busy = first + HOLD;
	assert_int_equal(noted(GOT, 1)->cpu, 1);
	assert_int_equal(noted(GOT, 1)->at_ps, second);
	assert_int_equal(engine.cpu[1].lock_wait_ps, busy - 40 * US - irqsave());
}

static void try_it(u32 cpu)
{
	if (cpu == 0) {
		bool got = env_trylock(&lock[0]);

		note(TRIED, got);
		note(MARK, engine.cur->irq_depth);
		run_until(10 * US);
		env_sync();
		env_unlock(&lock[0]);
		note(MARK, engine.cur->irq_depth);
		env_sync();
		return;
	}
	run_until(5 * US); /* held */
	note(TRIED, env_trylock(&lock[0]));
	note(MARK, engine.cur->irq_depth);
	run_until(20 * US); /* free */
	note(TRIED, env_trylock(&lock[0]));
	note(MARK, engine.cur->irq_depth);
	env_unlock(&lock[0]);
}

static void test_trylock(void **state)
{
	static const bool got[] = { true, false, true };
	static const u32 depth[] = { 1, 0, 0, 1 };
	const struct machine *m = &rig.machine;

	(void)state;
	rig_init(1, 1, 2, 1);
	run(try_it);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(TRIED, i)->value, got[i]);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(noted(MARK, i)->value, depth[i]);
	assert_int_equal(noted(TRIED, 0)->at_ps, irqsave() + m->c2c_ps[3]);
	/* A failed try has read the line, so its owner holds it no more alone. */
	assert_int_equal(noted(TRIED, 1)->at_ps, 5 * US + irqsave() + m->c2c_ps[1]);
	assert_int_equal(noted(TRIED, 2)->at_ps, 20 * US + irqsave() + m->c2c_ps[1]);
	assert_int_equal(engine.line_stats[LINE_WAITQ].reads, 1);
	assert_int_equal(engine.line_stats[LINE_WAITQ].writes, 2);
}

/* ---- interrupts ---------------------------------------------------------- */

static void interrupted(u32 cpu)
{
	if (cpu == 0) {
		engine_event_set(engine.cur, EVT_TIMER, T0 + 10 * US);
		run_until(9 * US);
		env_lock(&lock[0]);
		run_until(20 * US);
		env_sync(); /* due, but off */
		env_line_write(&lock[1].line);
		note(MARK, 0);
		env_unlock(&lock[0]);
		note(MARK, 1);
		env_sync();
		note(MARK, 2);
	} else {
		/* Asked for at 15 us, due while it waits. */
		run_until(15 * US);
		engine_event_set(engine.cur, EVT_CALL, T0 + 16 * US);
		env_lock(&lock[0]);
		note(GOT, 0);
		env_unlock(&lock[0]);
		env_sync();
	}
}

static void test_interrupts_wait_for_the_release(void **state)
{
	const struct note *timer, *call;

	(void)state;
	rig_init(1, 1, 2, 1);
	run(interrupted);
	timer = noted(NOTE_EVENT + EVT_TIMER, 0);
	call = noted(NOTE_EVENT + EVT_CALL, 0);
	assert_int_equal(count_notes(NOTE_EVENT + EVT_TIMER), 1);
	assert_int_equal(timer->cpu, 0);
	assert_true(timer > noted(MARK, 1) && timer < noted(MARK, 2));
	assert_int_equal(timer->at_ps, noted(MARK, 1)->at_ps + rig.machine.irq_ns * 1000);
	assert_int_equal(call->at_ps, noted(GOT, 0)->at_ps + rig.machine.irq_ns * 1000);
}

/* The request itself turns them off: what is due then waits too. */
static void due_at_request(u32 cpu)
{
	(void)cpu;
	engine_event_set(engine.cur, EVT_TIMER, T0 + 10 * US);
	run_until(10 * US);
	env_lock(&lock[0]);
	note(GOT, 0);
	env_unlock(&lock[0]);
	env_sync();
}

static void test_interrupts_are_off_from_the_request(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	run(due_at_request);
	assert_true(noted(NOTE_EVENT + EVT_TIMER, 0) > noted(GOT, 0));
}

static void nested(u32 cpu)
{
	(void)cpu;
	engine_event_set(engine.cur, EVT_TIMER, T0 + 1);
	env_lock(&lock[0]);
	env_lock(&lock[1]);
	env_lock(&lock[2]);
	note(MARK, engine.cur->nr_held);
	env_unlock(&lock[0]); /* in another order */
	env_sync();
	env_unlock(&lock[2]);
	env_sync();
	note(MARK, engine.cur->nr_held);
	note(TRIED, env_held(&lock[0]));
	note(TRIED, env_held(&lock[1]));
	note(TRIED, env_held(&lock[2]));
	env_lock(&lock[0]);
	env_unlock(&lock[1]);
	env_unlock(&lock[0]);
	note(MARK, engine.cur->nr_held);
	env_sync();
}

static void test_locks_nest_in_any_order(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	run(nested);
	assert_int_equal(noted(MARK, 0)->value, 3);
	assert_int_equal(noted(MARK, 1)->value, 1);
	assert_int_equal(noted(MARK, 2)->value, 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(TRIED, i)->value, i == 1);
	assert_true(noted(NOTE_EVENT + EVT_TIMER, 0) > noted(MARK, 2));
}

/* ---- mistakes ------------------------------------------------------------ */

extern jmp_buf *panic_jump;
extern char panic_text[256];

static void take_twice(u32 cpu)
{
	jmp_buf jump;

	(void)cpu;
	env_lock(&lock[3]);
	if (!setjmp(jump)) {
		panic_jump = &jump;
		env_lock(&lock[3]);
		note(MARK, 0);
	}
	engine_finish();
}

static void unlock_other(u32 cpu)
{
	jmp_buf jump;

	if (cpu == 0) {
		env_lock(&lock[3]);
		run_until(10 * US);
		env_sync();
	} else {
		run_until(5 * US);
		env_sync();
		if (!setjmp(jump)) {
			panic_jump = &jump;
			env_unlock(&lock[3]);
			note(MARK, 0);
		}
	}
	engine_finish();
}

static void test_mistakes_panic(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	raw_run(make_locks, take_twice);
	assert_int_equal(count_notes(MARK), 0);
	assert_string_equal(panic_text, "lock test 3: cpu 0 takes it twice");
	rig_init(1, 1, 2, 1);
	raw_run(make_locks, unlock_other);
	assert_int_equal(count_notes(MARK), 0);
	assert_string_equal(panic_text, "unlock of test 3 by cpu 1, owner 0");
}

/* Each takes its own, then the next one's. */
static void crosswise(u32 cpu)
{
	if (cpu == 0)
		return; /* idles, with its tick pending */
	env_lock(&lock[cpu]);
	run_until(cpu * 10 * US);
	env_lock(&lock[cpu + 1 == engine.nr_cpus ? 1 : cpu + 1]);
	note(MARK, 0);
}

static void test_cycles_fail_the_run(void **state)
{
	(void)state;
	rig_init(1, 1, 3, 1);
	raw_run(make_locks, crosswise);
	assert_true(rig_failed_with("lock cycle: cpu 2 waits for test 1, in the end for itself"));
	assert_true(rig_failed_with("cpu 1 holds lock test 1\n"));
	assert_true(rig_failed_with("cpu 1 waits for lock test 2, owner cpu 2\n"));
	assert_true(rig_failed_with("cpu 2 holds lock test 2\n"));
	assert_true(rig_failed_with("cpu 2 waits for lock test 1, owner cpu 1\n"));
	assert_int_equal(count_notes(MARK), 0);

	rig_init(1, 1, 5, 1);
	raw_run(make_locks, crosswise);
	assert_true(rig_failed_with("lock cycle: cpu 4 waits for test 1, in the end for itself"));
	assert_true(rig_failed_with("cpu 3 waits for lock test 4, owner cpu 4\n"));
}

/* ---- random programs against a list of requests -------------------------- */

#define ROUNDS 300
#define LOCKS 3

struct step {
	u64 think, hold;
	u32 lock;
	bool sync; /* while holding */
};

static struct step step[16][ROUNDS];

static void contend(u32 cpu)
{
	for (u32 i = 0; i < ROUNDS; i++) {
		const struct step *s = &step[cpu][i];

		engine_charge_ps(s->think);
		env_lock(&lock[s->lock]);
		note(GOT, clock_ps());
		engine_charge_ps(s->hold / 2);
		if (s->sync)
			env_sync();
		engine_charge_ps(s->hold - s->hold / 2);
		env_unlock(&lock[s->lock]);
	}
}

struct lock_model {
	u32 last;     /* who holds its line alone */
	u64 released, busy;
};

/* When cpu, which asks at `at`, gets it. */
static u64 grant(struct lock_model *l, u32 cpu, u64 at, u64 *waited)
{
	u64 start, c;

	at += irqsave();
	if (l->released > at) {
		*waited += l->released - at;
		at = l->released;
	}
	if (l->last == cpu)
		return at + rig.machine.lock_rmw_ps;
	c = l->last == NO_CPU ? rig.machine.c2c_ps[3]
			      : from(topo_distance(&rig.topo, cpu, l->last));
	start = at > l->busy ? at : l->busy;
	l->busy = start + c * 85 / 100;
	l->last = cpu;
	return start + c;
}

static void draw_steps(u64 seed, u32 cpus, u64 think)
{
	struct rng r;

	rng_init(&r, seed, think);
	for (u32 c = 0; c < cpus; c++)
		for (u32 i = 0; i < ROUNDS; i++)
			step[c][i] = (struct step){ rng_below(&r, think), rng_below(&r, US),
						    (u32)rng_below(&r, LOCKS), rng_below(&r, 2) };
}

static void check_against_list(u32 cpus)
{
	struct lock_model l[LOCKS];
	u64 asks[16] = { 0 }, waited[16] = { 0 };
	u32 round[16] = { 0 };
	/* The engine notes in order of its own; compare per CPU. */
	u32 place[16] = { 0 };
	static u64 got[16][ROUNDS];

	for (u32 i = 0; i < LOCKS; i++)
		l[i] = (struct lock_model){ .last = NO_CPU };
	for (u32 c = 0; c < cpus; c++)
		asks[c] = step[c][0].think;
	for (u32 n = 0; n < cpus * ROUNDS; n++) {
		u32 next = 0;

		for (u32 c = 1; c < cpus; c++)
			if (round[next] == ROUNDS || (round[c] < ROUNDS && asks[c] < asks[next]))
				next = c;
		const struct step *s = &step[next][round[next]];

		got[next][round[next]] = grant(&l[s->lock], next, asks[next], &waited[next]);
		l[s->lock].released = got[next][round[next]] + s->hold;
		asks[next] = l[s->lock].released;
		if (++round[next] < ROUNDS)
			asks[next] += step[next][round[next]].think;
	}
	assert_int_equal(nr_notes, cpus * ROUNDS);
	for (u32 n = 0; n < nr_notes; n++) {
		u32 c = notes[n].cpu;

		assert_int_equal(notes[n].value, got[c][place[c]++]);
	}
	for (u32 c = 0; c < cpus; c++)
		assert_int_equal(engine.cpu[c].lock_wait_ps, waited[c]);
}

static void test_random_contention(void **state)
{
	(void)state;
	for (u32 seed = 1; seed <= 4; seed++)
		for (u64 think = US; think <= 100 * US; think *= 10) {
			rig_init(2, 2, 2, 2);
			draw_steps(seed, 16, think);
			run(contend);
			check_against_list(16);
			rig_init(1, 1, 3, 1);
			draw_steps(seed, 3, think);
			run(contend);
			check_against_list(3);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uncontended_cost),
		cmocka_unit_test(test_waiters_are_served_in_order_of_request),
		cmocka_unit_test(test_lock_released_in_the_future),
		cmocka_unit_test(test_trylock),
		cmocka_unit_test(test_interrupts_wait_for_the_release),
		cmocka_unit_test(test_interrupts_are_off_from_the_request),
		cmocka_unit_test(test_locks_nest_in_any_order),
		cmocka_unit_test(test_mistakes_panic),
		cmocka_unit_test(test_cycles_fail_the_run),
		cmocka_unit_test(test_random_contention),
	};

	return cmocka_run_group_tests_name("engine_lock", tests, NULL, NULL);
}
