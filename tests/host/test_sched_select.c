/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* The CPU near which a woken task is placed: spec/idle-search.md sections 2, 3, 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "place_rig.h"

/* Where select_idle_sibling() was told to look, at the last placement. */
static u32 target(void)
{
	return (u32)test_env.last[EV_PLACE][3];
}

/* ---- wake_affine ---------------------------------------------------------------- */

/* Waker on CPU 0, p's last CPU was prev; loads of the two and of p and waker. */
struct weighing {
	const char *what;
	u64 here, task, there, waker;
	bool sync;
	u32 prev;
	const char *switches;
	u32 target;
};

static const struct weighing weighings[] = {
	{ "T=157286400 P=56623104", 1024, 512, 1024, 0, 0, 1, "", 1 },
	{ "T=52428800 P=113246209", 1024, 512, 1536, 1024, 1, 1, "", 0 },
	{ "the waker's load counts without sync", 1024, 512, 1536, 1024, 0, 1, "", 1 },
	{ "and so it does not with it", 1024, 512, 1536, 0, 1, 1, "", 1 },
	{ "waker above its CPU", 1023, 1 << 20, 0, 1024, 1, 1, "", 0 },
	{ "waker as its CPU", 1024, 1 << 20, 0, 1024, 1, 1, "", 1 },
	/* MC: 108 %. T=(2600+100)*100, P=(2600-100)*108: equal. */
	{ "equal", 2600, 100, 2600, 0, 0, 1, "", 1 },
	{ "less", 2599, 100, 2600, 0, 0, 1, "", 0 },
	{ "equal, sync", 2600, 100, 2600, 0, 1, 1, "", 0 },
	/* DIE: 112 %. */
	{ "equal, other cache", 2700, 100, 2600, 0, 0, 5, "", 5 },
	{ "less, other cache", 2699, 100, 2600, 0, 0, 5, "", 0 },
	{ "equal, no bias", 2400, 100, 2600, 0, 0, 1, "NO_WA_BIAS", 1 },
	{ "less, no bias", 2399, 100, 2600, 0, 0, 1, "NO_WA_BIAS", 0 },
	{ "nothing there: P<0", 0, 512, 0, 0, 0, 1, "", 1 },
	{ "P<0, sync", 0, 512, 0, 0, 1, 1, "", 1 },
	{ "no weighing", 0, 0, 1 << 20, 0, 0, 1, "NO_WA_WEIGHT", 1 },
	{ "large loads do not wrap", 1ull << 40, 0, 1ull << 41, 0, 0, 1, "", 0 },
};

static void test_weight(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(weighings); i++) {
		const struct weighing *w = &weighings[i];
		struct sched_task *p;
		u64 lines;

		rig_begin(2, 4, 1, w->switches);
		make_busy(0x23);
		machine_start(&m, 0); /* sync: the waker is not alone */
		p = wakee(0xff);
		avg.cpu[0].l = w->here;
		avg.cpu[w->prev].l = w->there;
		avg.task.load = w->task;
		avg.waker.load = w->waker;
		lines = cpu_rq(m.s, w->prev)->state_line.reads;
		place(p, w->prev, SELECT_WAKE, w->sync ? WAKE_SYNC : 0);
		if (target() != w->target)
			print_error("%s\n", w->what);
		assert_int_equal(target(), w->target);
		assert_int_equal(machine_count(&m, affine_attempts), 1);
		assert_int_equal(machine_count(&m, affine_wins), w->target == 0);
		assert_true(cpu_rq(m.s, w->prev)->state_line.reads > lines);
		machine_free(&m);
	}
}

/* The margin is the domain's: 105 % between the threads of a core. */
static void test_weight_smt(void **state)
{
	static const struct { u64 here; u32 target; } table[] = { { 1260, 1 }, { 1259, 0 } };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		rig_begin(1, 2, 2, "");
		make_busy(0x3);
		avg.cpu[0].l = table[i].here;
		avg.cpu[1].l = 1200;
		place(wakee(0xf), 1, SELECT_WAKE, 0);
		assert_int_equal(target(), table[i].target);
		machine_free(&m);
	}
}

/* ---- target choice ------------------------------------------------------------------ */

/* Two LLCs, 0-3 and 4-7; CPU 0 wakes p, whose last CPU was prev. */
struct choice {
	const char *what;
	u64 busy, allowed;
	bool sync, wide;
	u32 prev;
	const char *switches;
	u64 load_there;        /* of prev; CPU 0 has 1024 if it is busy */
	u32 target;
	bool stamps;           /* the waker's recent_used_cpu becomes 0 */
};

static const struct choice choices[] = {
	{ "interrupt, prev idle", 0x00, 0xff, 0, 0, 2, "", 4096, 2, 1 },
	{ "interrupt, prev busy", 0x04, 0xff, 0, 0, 2, "", 0, 0, 1 },
	{ "interrupt, prev far", 0x00, 0xff, 0, 0, 5, "", 0, 5, 1 },
	{ "interrupt, prev far and loaded", 0x00, 0xff, 0, 0, 5, "", 1, 0, 1 },
	{ "interrupt, sync, prev far", 0x00, 0xff, 1, 0, 5, "", 0, 0, 1 },
	{ "interrupt, no WA_IDLE", 0x04, 0xff, 0, 0, 2, "NO_WA_IDLE", 0, 2, 1 },
	{ "sync, prev far", 0x01, 0xff, 1, 0, 5, "", 0, 0, 1 },
	{ "not sync, prev far", 0x01, 0xff, 0, 0, 5, "", 0, 5, 1 },
	{ "not sync, prev far and loaded", 0x01, 0xff, 0, 0, 5, "", 4096, 0, 1 },
	{ "sync, not allowed here", 0x01, 0xfe, 1, 0, 5, "", 4096, 5, 0 },
	{ "sync, wide", 0x01, 0xff, 1, 1, 5, "", 4096, 5, 0 },
	{ "here already", 0x01, 0xff, 1, 0, 0, "", 0, 0, 1 },
};

static void test_target_choice(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct choice *c = &choices[i];
		struct sched_task *waker, *p;

		rig_begin(2, 4, 1, c->switches);
		make_busy(c->busy);
		p = wakee(c->allowed);
		avg.cpu[c->prev].l = c->load_there;
		avg.cpu[0].l = c->busy & 1 ? 1024 : 0;
		waker = sched_current(m.s, 0);
		waker->recent_used_cpu = 7;
		waker->last_wakee = p;
		waker->wakee_flips = c->wide ? 64 : 0;
		p->wakee_flips = c->wide ? 4 : 0;
		place(p, c->prev, SELECT_WAKE, c->sync ? WAKE_SYNC : 0);
		if (target() != c->target)
			print_error("%s\n", c->what);
		assert_int_equal(target(), c->target);
		assert_int_equal(waker->recent_used_cpu, c->stamps ? 0 : 7);
		assert_int_equal(machine_count(&m, wake_wide), c->wide);
		assert_int_equal(machine_count(&m, affine_attempts), c->stamps && c->prev);
		assert_int_equal(machine_count(&m, affine_wins), c->target == 0 && c->prev);
		assert_int_equal(machine_count(&m, slow_path), 0);
		machine_free(&m);
	}
}

/* A waker that exits has nothing left to run: sync does not count. */
static void test_sync_of_the_dying(void **state)
{
	struct sched_task *p;

	(void)state;
	rig_begin(2, 4, 1, "");
	make_busy(0x01);
	p = wakee(0xff);
	sched_set_state(m.s, TASK_DEAD);
	place(p, 5, SELECT_WAKE, WAKE_SYNC);
	assert_int_equal(target(), 5);
	machine_free(&m);
}

static void test_wake_wide(void **state)
{
	static const struct { u32 lo, hi; bool wide; } table[] = {
		{ 7, 1000, false }, { 8, 63, false }, { 8, 64, true },
	};

	(void)state;
	rig_begin(1, 8, 1, "");
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct sched_task a = { .wakee_flips = table[i].lo };
		struct sched_task b = { .wakee_flips = table[i].hi };

		assert_int_equal(wake_wide(m.s, &a, &b, 0), table[i].wide);
		assert_int_equal(wake_wide(m.s, &b, &a, 0), table[i].wide);
	}
	machine_free(&m);
}

static void test_flips(void **state)
{
	struct sched_task *waker, *a, *b;

	(void)state;
	rig_begin(1, 8, 1, "");
	waker = machine_start(&m, 0);
	a = wakee(0xff);
	b = wakee(0xff);
	test_env.jiffies = 10;
	for (u32 i = 0; i < 5; i++)
		place(i & 1 ? a : b, 0, SELECT_WAKE, 0);
	test_env.jiffies = 1000; /* not yet more than a second since 0 */
	place(b, 0, SELECT_WAKE, 0);
	assert_int_equal(waker->wakee_flips, 5);
	/* Making a task is no wake-up. */
	place(a, 0, SELECT_FORK, WAKE_FORK);
	assert_int_equal(waker->wakee_flips, 5);
	test_env.jiffies = 9001; /* however long ago: halved once */
	place(b, 0, SELECT_WAKE, 0);
	assert_int_equal(waker->wakee_flips, 2);
	assert_int_equal(waker->flip_decay_jiffies, 9001);
	machine_free(&m);
}

/* ---- the walk up the domains ----------------------------------------------------------- */

static struct sched_domain *domain(u32 cpu, const char *name)
{
	struct sched_domain *sd = m.s->domains.bottom[cpu];

	while (sd && strcmp(sd->name, name))
		sd = sd->parent;
	assert_non_null(sd);
	return sd;
}

/* Of CPU 0's domains MC and DIE: what is missing decides how far each kind looks.
 * CPU 5 carries a load that wake_affine would flee, 0 to 3 one that fork would. */
static void test_walk(void **state)
{
	static const struct {
		const char *where;
		u32 flag;
		bool affine, fork_far, fork_moves, exec_far;
	} table[] = {
		{ "DIE", 0, true, true, true, true },
		{ "DIE", SD_WAKE_AFFINE, false, true, true, true },
		{ "MC", SD_WAKE_AFFINE, true, true, true, true },
		{ "DIE", SD_LOAD_BALANCE, false, false, true, false },
		{ "MC", SD_LOAD_BALANCE, false, false, false, false },
		{ "DIE", SD_BALANCE_FORK, true, false, true, true },
		{ "MC", SD_BALANCE_FORK, true, false, false, true },
		{ "DIE", SD_BALANCE_EXEC, true, true, true, false },
		{ "MC", SD_BALANCE_EXEC, true, true, true, false },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		u32 cpu;

		rig_begin(2, 4, 1, "");
		make_busy(0x01);
		domain(0, table[i].where)->flags &= ~table[i].flag;
		for (u32 c = 0; c < 4; c++) {
			avg.cpu[c].l = 1000;
			avg.cpu[c].util = 1024;
		}
		avg.cpu[5].l = 10000;
		place(wakee(0xff), 5, SELECT_WAKE, 0);
		assert_int_equal(target(), table[i].affine ? 0 : 5);
		assert_int_equal(machine_count(&m, affine_attempts), table[i].affine);
		avg.cpu[5].l = 0;
		cpu = place(wakee(0xff), 0, SELECT_FORK, WAKE_FORK);
		assert_int_equal(cpu >= 4, table[i].fork_far);
		assert_int_equal(cpu != 0, table[i].fork_moves);
		assert_int_equal(place(wakee(0xff), 0, SELECT_EXEC, 0) >= 4, table[i].exec_far);
		machine_free(&m);
	}
}

/* On an asymmetric machine domains would carry BALANCE_WAKE: then what wake_affine
 * does not decide takes the slow path. */
static void test_balance_wake(void **state)
{
	(void)state;
	rig_begin(2, 4, 1, "");
	domain(0, "MC")->flags |= SD_BALANCE_WAKE;
	domain(0, "DIE")->flags |= SD_BALANCE_WAKE;
	place(wakee(0xff), 5, SELECT_WAKE, 0);
	assert_int_equal(machine_count(&m, slow_path), 0);
	assert_int_equal(machine_count(&m, fast_path), 1);
	place(wakee(0xfe), 5, SELECT_WAKE, 0);
	assert_int_equal(machine_count(&m, slow_path), 1);
	assert_int_equal(machine_count(&m, fast_path), 1);
	machine_free(&m);
}

/* No domain, no choice. */
static void test_no_domain(void **state)
{
	(void)state;
	rig_begin(1, 1, 1, "");
	assert_int_equal(place(wakee(1), 0, SELECT_FORK, WAKE_FORK), 0);
	machine_free(&m);
	rig_begin(1, 2, 1, "");
	m.s->domains.bottom[0] = NULL;
	assert_int_equal(place(wakee(3), 1, SELECT_FORK, WAKE_FORK), 1);
	place(wakee(3), 1, SELECT_WAKE, WAKE_SYNC);
	assert_int_equal(target(), 1);
	assert_int_equal(machine_count(&m, slow_path), 0);
	machine_free(&m);
}

/* ---- what affinity leaves ------------------------------------------------------------ */

static void test_fallback(void **state)
{
	struct sched_task *p;

	(void)state;
	rig_begin(2, 4, 1, "");
	rig_nodes(40); /* too far for fork, exec and wake_affine */
	make_busy(0x01);
	/* target and prev are not tested against affinity: mended afterwards. */
	p = wakee(0xe8);
	assert_int_equal(place(p, 1, SELECT_WAKE, 0), 3);
	assert_int_equal(machine_count(&m, fallback_rq), 1);
	assert_false(p->found_idle); /* CPU 1 was, but this is CPU 3 */
	/* No CPU of its node: the first allowed anywhere. */
	assert_int_equal(place(wakee(0xc0), 1, SELECT_WAKE, 0), 6);
	assert_int_equal(machine_count(&m, fallback_rq), 2);
	/* The node is that of the CPU it is on, not of the one considered. */
	assert_int_equal(place(wakee(0x88), 6, SELECT_WAKE, 0), 3);
	assert_int_equal(machine_count(&m, fallback_rq), 3);
	/* One CPU leaves no choice, and needs no search. */
	assert_int_equal(place(wakee(0x80), 1, SELECT_WAKE, 0), 7);
	/* None in any domain that balances: the task's own CPU, and from there. */
	assert_int_equal(place(wakee(0xe0), 0, SELECT_FORK, WAKE_FORK), 5);
	assert_int_equal(machine_count(&m, fallback_rq), 4);
	assert_int_equal(place(wakee(0x60), 6, SELECT_EXEC, 0), 6);
	assert_int_equal(machine_count(&m, fallback_rq), 4);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weight),
		cmocka_unit_test(test_weight_smt),
		cmocka_unit_test(test_target_choice),
		cmocka_unit_test(test_sync_of_the_dying),
		cmocka_unit_test(test_wake_wide),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_balance_wake),
		cmocka_unit_test(test_no_domain),
		cmocka_unit_test(test_fallback),
	};

	return cmocka_run_group_tests_name("sched_select", tests, NULL, NULL);
}
