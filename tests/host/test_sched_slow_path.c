/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Where fork and exec go: spec/idle-search.md sections 3 and 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "place_rig.h"

/* cpu's lowest domain. */
static struct sched_domain *domain(u32 cpu)
{
	return m.s->domains.bottom[cpu];
}

static u32 forks(u64 allowed)
{
	return place(wakee(allowed), test_env.cpu, SELECT_FORK, WAKE_FORK);
}

static u32 execs(u64 allowed)
{
	return place(wakee(allowed), test_env.cpu, SELECT_EXEC, 0);
}

/* Exit latencies known and equal, stamps equal, all loads 0. */
static void test_examples(void **state)
{
	static const struct { u32 cores, threads, fork; } table[] = { { 4, 1, 5 }, { 2, 2, 7 } };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		rig_begin(2, table[i].cores, table[i].threads, "");
		assert_int_equal(forks(0xff), table[i].fork);
		assert_int_equal(machine_count(&m, slow_path), 1);
		assert_int_equal(execs(0xff), 0);
		assert_int_equal(machine_count(&m, slow_path), 2);
		assert_int_equal(machine_count(&m, fallback_rq), 0);
		assert_int_equal(test_env.last[EV_PLACE_SLOW][3], SELECT_EXEC);
		machine_free(&m);
	}
	/* Each CPU looked at is paid for: 8 and 4 at DIE, 4 at MC, and the ways on. */
	rig_begin(2, 4, 1, "");
	forks(0xff);
	assert_int_equal(test_env.paths[PATH_SLOW_PATH], 1);
	assert_int_equal(test_env.paths[PATH_SLOW_STEP], (8 + 2) + (4 + 1) + (4 + 4));
	assert_int_equal(cpu_rq(m.s, 3)->state_line.reads, 1);
	machine_free(&m);
}

/* ---- which group? ------------------------------------------------------------------ */

/* Two packages of four, one CPU of each with load: R and V are a quarter of it. Margin
 * 256, scale 112. */
struct rule {
	const char *what;
	u64 here, here_load, there, there_load;
	bool leaves;
};

static const struct rule rules[] = {
	{ "all 0", 0, 0, 0, 0, true },
	{ "there at the margin", 0, 0, 4 * 256, 0, true },
	{ "there above it", 0, 0, 4 * 257, 0, false },
	{ "here below the margin, more behind it there", 4 * 255, 0, 0, 4, false },
	{ "here at the margin", 4 * 256, 0, 0, 4000, true },
	{ "less behind it here", 0, 4 * 111, 0, 4 * 100, false },
	{ "equal by 112 %", 0, 4 * 112, 0, 4 * 100, true },
};

static void test_two_groups(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *r = &rules[i];
		u32 cpu;

		rig_begin(2, 4, 1, "");
		avg.cpu[3].l = r->here;
		avg.cpu[3].load = r->here_load;
		avg.cpu[6].l = r->there;
		avg.cpu[6].load = r->there_load;
		cpu = forks(0xff);
		if ((cpu >= 4) != r->leaves)
			print_error("%s: %u\n", r->what, cpu);
		assert_int_equal(cpu >= 4, r->leaves);
		machine_free(&m);
	}
}

/* Four packages of two: three remote groups in the order of the ring. Here it is so
 * bad that p leaves. */
static void test_remote_groups(void **state)
{
	static const struct { u64 r[3], v[3]; u32 group; } table[] = {
		{ { 600, 300, 0 }, { 0, 0, 0 }, 3 },     /* each beats the last by the margin */
		{ { 600, 344, 344 }, { 0, 0, 0 }, 1 },   /* at the margin: no */
		{ { 600, 343, 87 }, { 0, 0, 0 }, 2 },
		{ { 600, 343, 86 }, { 0, 0, 0 }, 3 },
		{ { 300, 100, 44 }, { 0, 0, 0 }, 1 },
		{ { 300, 100, 300 }, { 50, 44, 44 }, 2 }, /* 5000 > 112 * 44 */
		{ { 300, 100, 300 }, { 50, 45, 45 }, 1 },
		{ { 300, 100, 555 }, { 50, 40, 35 }, 3 }, /* the bound on R stays 300 */
		{ { 300, 100, 556 }, { 50, 40, 35 }, 2 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		u32 cpu;

		rig_begin(4, 2, 1, "");
		avg.cpu[0].l = avg.cpu[0].load = 1 << 20;
		for (u32 g = 0; g < 3; g++) {
			avg.cpu[2 * g + 2].l = 2 * table[i].r[g];
			avg.cpu[2 * g + 2].load = 2 * table[i].v[g];
		}
		cpu = forks(0xff);
		if (cpu / 2 != table[i].group)
			print_error("row %u: %u\n", i, cpu);
		assert_int_equal(cpu / 2, table[i].group);
		machine_free(&m);
	}
}

/* Exec knows what the task uses: room counts before load, which says stay (far) or
 * leave (not far). */
static void test_spare(void **state)
{
	static const struct { u64 here, there, task; bool far, leaves; } table[] = {
		{ 900, 1008, 0, true, true },     /* 112 * 900 = 100 * 1008 */
		{ 900, 1007, 0, true, false },
		{ 500, 501, 1000, true, true },   /* 500 is not above half of 1000 */
		{ 500, 500, 1000, true, false },
		{ 500, 500, 1000, false, true },
		{ 501, 500, 1000, false, false },
		{ 501, 500, 1001, false, false }, /* half, rounded down */
		{ 0, 0, 0, true, false },         /* nothing to spare anywhere */
		{ 0, 1, 0, true, true },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct sched_task *p;
		u32 cpu;

		rig_begin(2, 4, 1, "");
		p = wakee(0xff);
		for (u32 c = 0; c < 8; c++)
			avg.cpu[c].util = 3000; /* beyond its capacity, even without p */
		/* The roomiest CPU counts. */
		avg.cpu[2].util = 1024 - table[i].here;
		avg.cpu[5].util = 1024 - table[i].there;
		avg.cpu[6].load = table[i].far ? 40000 : 0;
		avg.task.util = table[i].task;
		cpu = place(p, 0, SELECT_EXEC, 0);
		if ((cpu >= 4) != table[i].leaves)
			print_error("row %u: %u\n", i, cpu);
		assert_int_equal(cpu >= 4, table[i].leaves);
		machine_free(&m);
	}

	/* CPU 0's 900 are the task's own: 924 to spare there, not 24. */
	rig_begin(2, 4, 1, "");
	for (u32 c = 0; c < 8; c++)
		avg.cpu[c].util = 1000;
	avg.task.util = 900;
	assert_int_equal(execs(0xff), 0);
	machine_free(&m);
}

/* Memory is near: between nodes the margin must be exceeded, not only reached. */
static void test_numa(void **state)
{
	static const struct { u8 distance; u64 here; bool leaves; } table[] = {
		{ 20, 0, false }, { 20, 4 * 256, false }, { 20, 4 * 257, true },
		{ 30, 4 * 257, true }, { 31, 1 << 20, false }, /* fork does not look so far */
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		rig_begin(2, 4, 1, "");
		rig_nodes(table[i].distance);
		avg.cpu[0].l = avg.cpu[0].load = table[i].here;
		assert_int_equal(forks(0xff) >= 4, table[i].leaves);
		/* Nothing here is allowed: no load is too much. */
		if (table[i].distance <= 30)
			assert_true(forks(0xf0) >= 4);
		machine_free(&m);
	}
}

/* ---- what affinity rules out -------------------------------------------------------- */

static void test_allowed(void **state)
{
	(void)state;
	/* Groups without an allowed CPU are passed over, however idle. */
	rig_begin(4, 2, 1, "");
	for (u32 c = 4; c < 6; c++)
		avg.cpu[c].l = avg.cpu[c].load = 5000;
	assert_int_equal(forks(0x30), 4);
	/* Nothing allowed here: the load there is no reason to stay, nor does it wrap.
	 * A fallback would give the lowest. */
	make_busy(0x10);
	assert_int_equal(forks(0x30), 5);
	assert_int_equal(execs(0x30), 5);
	/* What the others of a group carry counts for it all the same. */
	avg.cpu[4].l = avg.cpu[4].load = 0;
	avg.cpu[5].l = avg.cpu[5].load = 2000;
	assert_int_equal(forks(0x1c) / 2, 1);
	assert_int_equal(machine_count(&m, fallback_rq), 0);
	machine_free(&m);

	/* No allowed CPU in any domain that balances: the task's own. */
	rig_begin(2, 4, 1, "");
	rig_nodes(40);
	assert_int_equal(place(wakee(0x50), 6, SELECT_EXEC, 0), 6);
	assert_int_equal(machine_count(&m, slow_path), 1);
	assert_int_equal(machine_count(&m, fallback_rq), 0);
	assert_int_equal(test_env.paths[PATH_SLOW_STEP], 0);
	machine_free(&m);
}

/* ---- which CPU of it? ----------------------------------------------------------------- */

/* Two packages of eight, the first without room: exec goes to 8..15, and stays where
 * it gets there. What CPUs 8, 9 and 10 are like; 11..15 are as 8, with stamp 0. */
struct pick {
	const char *what;
	u64 busy;              /* of 8..15 */
	u64 exit_ns[3], stamp[3], load[3];
	u32 cpu;
};

#define UNKNOWN ENV_EXIT_UNKNOWN

static const struct pick picks[] = {
	{ "equal", 0, { 9, 9, 9 }, { 0, 0, 0 }, { 0 }, 8 },
	{ "least exit latency", 0, { 9, 8, 8 }, { 5, 4, 3 }, { 0 }, 9 },
	{ "latest stamp", 0, { 9, 9, 9 }, { 5, 6, 7 }, { 0 }, 10 },
	{ "tie of stamps", 0, { 9, 9, 9 }, { 5, 6, 6 }, { 0 }, 9 },
	{ "latency before stamp", 0, { 9, 8, 9 }, { 5, 1, 7 }, { 0 }, 9 },
	{ "unknown, later", 0, { 9, UNKNOWN, 9 }, { 5, 6, 6 }, { 0 }, 9 },
	{ "unknown, not later", 0, { 9, UNKNOWN, 9 }, { 5, 5, 5 }, { 0 }, 8 },
	{ "after an unknown one, less", 0, { 9, UNKNOWN, 8 }, { 5, 6, 0 }, { 0 }, 10 },
	{ "unknown with stamp", 0, { UNKNOWN, UNKNOWN, UNKNOWN }, { 0, 1, 0 }, { 0 }, 9 },
	{ "busy before idle", 0x1, { 9, 9, 9 }, { 0, 0, 0 }, { 0 }, 9 },
	{ "least load", 0xff, { 0 }, { 0 }, { 70, 50, 50 }, 9 },
	{ "idle before less load", 0xf5, { 9, 9, 9 }, { 0, 0, 0 }, { 0 }, 9 },
	{ "unknown ones do not count, nor hide the busy", 0xfd,
	  { 0, UNKNOWN, 0 }, { 0, 0, 0 }, { 60, 10, 50 }, 10 },
};

static void test_picks(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(picks); i++) {
		const struct pick *k = &picks[i];
		u32 cpu;

		rig_begin(2, 8, 1, "");
		make_busy(k->busy << 8);
		for (u32 c = 0; c < 8; c++)
			avg.cpu[c].util = 1024;
		for (u32 c = 8; c < 16; c++) {
			u32 j = c < 11 ? c - 8 : 0;

			test_env.exit_latency_ns[c] = k->exit_ns[j];
			cpu_rq(m.s, c)->idle_stamp = c < 11 ? k->stamp[j] : 0;
			avg.cpu[c].l = c < 11 ? k->load[j] : 60;
		}
		cpu = execs(0xffff);
		if (cpu != k->cpu)
			print_error("%s: %u\n", k->what, cpu);
		assert_int_equal(cpu, k->cpu);
		machine_free(&m);
	}
}

static void prepare_far(const char *switches)
{
	rig_begin(2, 8, 1, switches);
	for (u32 c = 0; c < 8; c++)
		avg.cpu[c].util = 1024;
}

static void test_pick_allowed(void **state)
{
	(void)state;
	prepare_far("");
	test_env.exit_latency_ns[8] = 100;
	assert_int_equal(execs(0xffff), 9);
	assert_int_equal(execs(0xf1ff), 12);
	assert_int_equal(execs(0x01ff), 8);
	/* The host has taken its CPU away. */
	test_env.preempted[9] = true;
	assert_int_equal(execs(0xffff), 10);
	machine_free(&m);

	/* All unknown and never idled: nothing speaks for another CPU than this one. */
	prepare_far("");
	for (u32 c = 0; c < 16; c++)
		test_env.exit_latency_ns[c] = UNKNOWN;
	domain(0)->flags = 0;
	assert_int_equal(execs(0xffff), 0);
	machine_free(&m);
}

/* From v6.4 on a CPU with only SCHED_IDLE tasks passes as idle, and is awake. */
static void test_pick_sched_idle(void **state)
{
	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		machine_init(&m, 2, 8, 1, profile, "");
		memset(&avg, 0, sizeof(avg));
		for (u32 c = 0; c < 16; c++) {
			avg.cpu[c].util = c < 8 ? 1024 : 0;
			test_env.exit_latency_ns[c] = 100;
		}
		make_busy(0x800);
		sched_set_class(m.s, sched_current(m.s, 11), SCHED_CLASS_IDLE);
		assert_int_equal(execs(0xffff), profile == PROFILE_V6_4 ? 11 : 8);
		machine_free(&m);
	}
}

/* ---- the way down ----------------------------------------------------------------------- */

/* A CPU found goes on in its own domains, those with the flag. */
static void test_way_down(void **state)
{
	(void)state;
	for (u32 with = 0; with < 2; with++) {
		rig_begin(2, 2, 2, "");
		for (u32 c = 0; c < 5; c++)
			avg.cpu[c].util = 1024;
		/* CPU 4 is the first of its group, which is good enough for MC, and
		 * without room itself, which is why SMT leaves it. */
		if (!with)
			domain(4)->flags &= ~(u32)SD_BALANCE_EXEC;
		assert_int_equal(execs(0xff), with ? 5 : 4);
		machine_free(&m);

		rig_begin(2, 2, 2, "");
		if (!with)
			domain(6)->flags &= ~(u32)SD_BALANCE_FORK;
		assert_int_equal(forks(0xff), with ? 7 : 6);
		machine_free(&m);
	}
}

/* ---- a task that is made ------------------------------------------------------------- */

static void test_fork(void **state)
{
	struct sched_task *parent, *child;
	u64 debit;

	(void)state;
	rig_begin(2, 4, 1, "");
	parent = machine_start(&m, 1);
	machine_on(1);
	cpu_rq(m.s, 6)->cfs.min_vruntime += 1000000000;
	child = machine_fork(&m);
	debit = child->se.vruntime;
	for (u32 c = 0; c < 8; c++)
		if (c != 6)
			test_env.exit_latency_ns[c] = 9;
	/* From here the way down only leads to other cores: stop where it arrives. */
	domain(6)->flags = 0;
	test_env.kicks = 0;
	assert_int_equal(child->recent_used_cpu, 1);
	sched_wake_new(m.s, child);
	assert_int_equal(child->cpu, 6);
	assert_int_equal(child->wake_cpu, 6);
	assert_int_equal(child->recent_used_cpu, 1);
	assert_int_equal(test_env.kicks, 1);
	assert_int_equal(child->se.vruntime, cpu_rq(m.s, 6)->cfs.min_vruntime + debit);
	assert_int_equal(sched_nr_running(m.s, 6), 1);
	machine_settle(&m);
	assert_ptr_equal(sched_current(m.s, 6), child);
	assert_ptr_equal(sched_current(m.s, 1), parent);
	assert_int_equal(machine_count(&m, slow_path), 1);
	assert_int_equal(machine_count(&m, fast_path), 0);
	cpu_rq(m.s, 6)->cfs.checked_min_vruntime = cpu_rq(m.s, 6)->cfs.min_vruntime;
	machine_free(&m);
}

/* ---- exec ------------------------------------------------------------------------------ */

/* A task on CPU 0, whose package has no room, and its sched_exec(). */
static struct sched_task *exec_on_0(void)
{
	struct sched_task *p;

	rig_begin(2, 4, 1, "");
	p = machine_start(&m, 0);
	machine_on(0);
	for (u32 c = 0; c < 4; c++)
		avg.cpu[c].util = 1024;
	avg_dictate(p);
	sched_exec(m.s);
	avg_restore(p);
	return p;
}

static void test_exec(void **state)
{
	struct sched_task *p = exec_on_0();
	u64 switches, lead;

	(void)state;
	assert_int_equal(machine_count(&m, slow_path), 1);
	assert_true(sched_need_resched(m.s, 0));
	assert_int_equal(p->cpu, 0);
	lead = p->se.vruntime - cpu_rq(m.s, 0)->cfs.min_vruntime;
	cpu_rq(m.s, 4)->cfs.min_vruntime += 1000000000;
	switches = machine_count(&m, switches);
	machine_interrupts(&m, 0);
	assert_true(sched_current(m.s, 0)->is_idle_task);
	assert_int_equal(p->cpu, 4);
	assert_int_equal(p->on_rq, TASK_QUEUED);
	assert_false(p->on_cpu);
	machine_settle(&m);
	assert_ptr_equal(sched_current(m.s, 4), p);
	assert_int_equal(machine_count(&m, switches), switches + 2);
	assert_int_equal(p->migrations, 1);
	assert_int_equal(p->se.vruntime - cpu_rq(m.s, 4)->cfs.min_vruntime, lead);
	/* Once is enough. */
	machine_on(4);
	machine_switch(&m, true);
	assert_ptr_equal(sched_current(m.s, 4), p);
	cpu_rq(m.s, 4)->cfs.checked_min_vruntime = cpu_rq(m.s, 4)->cfs.min_vruntime;
	machine_free(&m);
}

/* All is well here: it stays, and nobody is disturbed. */
static void test_exec_stays(void **state)
{
	struct sched_task *p;

	(void)state;
	rig_begin(2, 4, 1, "");
	p = machine_start(&m, 0);
	avg_dictate(p);
	sched_exec(m.s);
	avg_restore(p);
	assert_int_equal(machine_count(&m, slow_path), 1);
	assert_false(sched_need_resched(m.s, 0));
	machine_switch(&m, true);
	assert_int_equal(p->cpu, 0);
	machine_free(&m);
}

/* Between the choice and the switch the affinity changes: the choice is void. */
static void test_exec_and_affinity(void **state)
{
	static const struct { u64 allowed; u32 cpu; } table[] = {
		{ 0x0f, 0 }, { 0xfe, 4 }, { 0x0c, 2 }, { 0x20, 5 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct cpumask mask = { { table[i].allowed } };
		struct sched_task *p = exec_on_0();

		sched_set_affinity(m.s, p, &mask);
		machine_settle(&m);
		assert_int_equal(p->cpu, table[i].cpu);
		/* And forgotten, even when it would be possible again. */
		mask.w[0] = 0xff;
		sched_set_affinity(m.s, p, &mask);
		machine_on(p->cpu);
		machine_switch(&m, true);
		assert_int_equal(p->cpu, table[i].cpu);
		machine_free(&m);
	}
}

/* Asleep before it could go: its wake-up chooses anew. */
static void test_exec_and_sleep(void **state)
{
	struct sched_task *p = exec_on_0();

	(void)state;
	machine_sleep(&m);
	assert_int_equal(p->cpu, 0);
	sched_wake(m.s, p, 0);
	assert_int_equal(p->cpu, 0);
	machine_settle(&m);
	machine_switch(&m, true);
	assert_int_equal(p->cpu, 0);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_two_groups),
		cmocka_unit_test(test_remote_groups),
		cmocka_unit_test(test_spare),
		cmocka_unit_test(test_numa),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_picks),
		cmocka_unit_test(test_pick_allowed),
		cmocka_unit_test(test_pick_sched_idle),
		cmocka_unit_test(test_way_down),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_stays),
		cmocka_unit_test(test_exec_and_affinity),
		cmocka_unit_test(test_exec_and_sleep),
	};

	return cmocka_run_group_tests_name("sched_slow_path", tests, NULL, NULL);
}
