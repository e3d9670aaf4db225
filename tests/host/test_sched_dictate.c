/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Wake-ups whose place the waker dictates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "place_rig.h"

/* 2 caches of 4 CPUs; p slept on CPU 1, the waker is on CPU 0. */
static void test_places(void **state)
{
	static const struct {
		const char *what;
		u64 busy, allowed;
		u32 prev, flags, cpu;
		u64 imposed;
	} row[] = {
		{ "next idle one", 0x0, 0xff, 1, WAKE_MOVE, 2, 1 },
		{ "idle one beyond busy ones", 0x0d, 0xff, 2, WAKE_MOVE, 1, 1 },
		{ "prev idles and is left", 0x0d, 0xff, 1, WAKE_MOVE, 2, 1 },
		{ "none idles: the next", 0x0f, 0xff, 1, WAKE_MOVE, 2, 1 },
		{ "round the cache", 0x0f, 0xff, 3, WAKE_MOVE, 0, 1 },
		{ "round the other cache", 0xf0, 0xff, 7, WAKE_MOVE, 4, 1 },
		{ "idle, not allowed", 0x0b, 0xfb, 1, WAKE_MOVE, 3, 1 },
		{ "none idles: the next allowed", 0x0f, 0xfb, 1, WAKE_MOVE, 3, 1 },
		{ "alone in its cache", 0x00, 0xf2, 1, WAKE_MOVE, 1, 0 },
		{ "stays, idle", 0x01, 0xff, 1, WAKE_STAY, 1, 0 },
		{ "stays, busy", 0x03, 0xff, 1, WAKE_STAY | WAKE_SYNC, 1, 0 },
		{ "stays where it may", 0x01, 0xfc, 1, WAKE_STAY, 2, 0 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(row); i++) {
		struct sched_task *p;
		u64 reads = 0, charged;
		u32 cpu;

		rig_begin(2, 4, 1, "");
		make_busy(row[i].busy);
		p = wakee(row[i].allowed);
		for (u32 c = 0; c < 8; c++)
			reads += cpu_rq(m.s, c)->state_line.reads;
		cpu = place(p, row[i].prev, SELECT_WAKE, row[i].flags);
		if (cpu != row[i].cpu)
			print_error("%s\n", row[i].what);
		assert_int_equal(cpu, row[i].cpu);
		assert_int_equal(p->found_idle,
				 !(row[i].busy >> cpu & 1) &&
					 cpumask_test(&p->allowed, row[i].prev));
		assert_int_equal(machine_count(&m, wake_dictated), 1);
		assert_int_equal(machine_count(&m, wake_imposed), row[i].imposed);
		assert_int_equal(machine_count(&m, fast_path), 0);
		charged = 0;
		for (u32 c = 0; c < 8; c++)
			charged += cpu_rq(m.s, c)->state_line.reads;
		assert_int_equal(charged, reads); /* nobody paid for the looks */
		machine_free(&m);
	}
}

/* Who has one CPU has nothing to be told; without flags the search goes on as ever. */
static void test_not_dictated(void **state)
{
	(void)state;
	rig_begin(2, 4, 1, "");
	assert_int_equal(place(wakee(0x02), 1, SELECT_WAKE, WAKE_MOVE), 1);
	assert_int_equal(place(wakee(0xff), 1, SELECT_WAKE, WAKE_SYNC), 1);
	assert_int_equal(machine_count(&m, wake_dictated), 0);
	assert_int_equal(machine_count(&m, fast_path), 1);
	machine_free(&m);
}

/* From sleep to run, with its counters. */
static void test_whole_wake_up(void **state)
{
	struct sched_task *p;

	(void)state;
	rig_begin(1, 4, 1, "");
	p = machine_start(&m, 1);
	machine_on(1);
	machine_sleep(&m);
	machine_on(0);
	assert_true(sched_wake(m.s, p, WAKE_SYNC | WAKE_MOVE));
	machine_settle(&m);
	assert_int_equal(p->cpu, 2);
	assert_int_equal(machine_count(&m, wake_migrations), 1);
	machine_on(2);
	machine_sleep(&m);
	machine_on(0);
	assert_true(sched_wake(m.s, p, WAKE_STAY));
	machine_settle(&m);
	assert_int_equal(p->cpu, 2);
	assert_int_equal(machine_count(&m, wake_migrations), 1);
	assert_int_equal(machine_count(&m, wake_dictated), 2);
	assert_int_equal(machine_count(&m, wake_imposed), 1);
	assert_int_equal(machine_count(&m, wakeups), 2);
	machine_check(&m);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_not_dictated),
		cmocka_unit_test(test_whole_wake_up),
	};

	return cmocka_run_group_tests_name("sched_dictate", tests, NULL, NULL);
}
