/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Fair shares, exactly: the last table of spec/cfs-core.md section 13. One CPU,
 * ticks of 1 ms, preemption at ticks only, 10,000 ticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"

#define TICKS 10000
#define TICK_NS 1000000
#define IDLE_TASK 99

/* A task or, with shares, a group; parent is the index of a group above it. */
struct member {
	int nice;
	u64 shares;
	int parent;
	u64 ran_ms;
};

struct shares {
	const char *name;
	u32 nr;
	struct member member[6];
	u64 switches;
};

#define TASK(nice, parent, ms) { nice, 0, parent, ms }
#define GROUP(shares, parent) { 0, shares, parent, 0 }
#define ROOT (-1)

static const struct shares table[] = {
	{ "0, 0", 2, { TASK(0, ROOT, 5001), TASK(0, ROOT, 4999) }, 3333 },
	{ "0, 1", 2, { TASK(0, ROOT, 5554), TASK(1, ROOT, 4446) }, 2776 },
	{ "0, 5", 2, { TASK(0, ROOT, 7535), TASK(5, ROOT, 2465) }, 3013 },
	{ "-5, 0, 5", 3,
	  { TASK(-5, ROOT, 6966), TASK(0, ROOT, 2286), TASK(5, ROOT, 748) }, 3255 },
	{ "-5, 0, 5, 10, 19", 5,
	  { TASK(-5, ROOT, 6776), TASK(0, ROOT, 2224), TASK(5, ROOT, 728), TASK(10, ROOT, 239),
	    TASK(19, ROOT, 33) }, 3453 },
	{ "0, SCHED_IDLE", 2, { TASK(0, ROOT, 9970), TASK(IDLE_TASK, ROOT, 30) }, 60 },
	{ "A 1024{a}, B 2048{b1,b2}", 5,
	  { GROUP(1024, ROOT), GROUP(2048, ROOT), TASK(0, 0, 3334), TASK(0, 1, 3333),
	    TASK(0, 1, 3333) }, 5000 },
	{ "T0, G 1024{g0, g5}", 4,
	  { TASK(0, ROOT, 5001), GROUP(1024, ROOT), TASK(0, 1, 3766), TASK(5, 1, 1233) }, 4566 },
	{ "T0, A 1024{B 512{b0,b5}, a0}", 6,
	  { TASK(0, ROOT, 5001), GROUP(1024, ROOT), GROUP(512, 1), TASK(0, 2, 1256),
	    TASK(5, 2, 411), TASK(0, 1, 3332) }, 5000 },
};

static struct machine m;

/* All keys are where the queues stand. */
static void populate(const struct shares *row, struct sched_task **task)
{
	struct task_group *group[6] = { NULL };

	for (u32 i = 0; i < row->nr; i++) {
		const struct member *k = &row->member[i];
		struct task_group *up = k->parent == ROOT ? &m.s->root_tg : group[k->parent];

		if (k->shares) {
			group[i] = tg_create(m.s, up, k->shares);
			group[i]->se[0]->vruntime = up->cfs_rq[0]->min_vruntime;
			continue;
		}
		task[i] = machine_fork(&m);
		if (k->nice == IDLE_TASK)
			sched_set_class(m.s, task[i], SCHED_CLASS_IDLE);
		else
			sched_set_nice(m.s, task[i], k->nice);
		sched_move_task(m.s, task[i], up);
		task[i]->se.vruntime = 0; /* relative */
	}
	for (u32 i = 0; i < row->nr; i++)
		if (task[i])
			sched_wake_new(m.s, task[i]);
}

static void test_shares(void **state)
{
	(void)state;
	for (u32 r = 0; r < ARRAY_SIZE(table); r++) {
		const struct shares *row = &table[r];
		struct sched_task *task[6] = { NULL };
		u64 switches = 0, total = 0;

		machine_init(&m, 1, 1, 1, PROFILE_V6_4, "NO_WAKEUP_PREEMPTION");
		populate(row, task);
		machine_interrupts(&m, 0);
		for (u32 tick = 0; tick < TICKS; tick++) {
			struct sched_task *ran = sched_current(m.s, 0);

			machine_advance(&m, TICK_NS);
			machine_tick(&m, 0);
			switches += sched_current(m.s, 0) != ran;
		}
		for (u32 i = 0; i < row->nr; i++) {
			if (!task[i])
				continue;
			total += task[i]->se.sum_exec_runtime;
			if (task[i]->se.sum_exec_runtime / TICK_NS != row->member[i].ran_ms)
				print_error("%s: member %u ran %llu\n", row->name, i,
					    (unsigned long long)task[i]->se.sum_exec_runtime);
			assert_int_equal(task[i]->se.sum_exec_runtime / TICK_NS,
					 row->member[i].ran_ms);
		}
		assert_int_equal(total, (u64)TICKS * TICK_NS);
		assert_int_equal(total, m.busy_ns);
		if (switches != row->switches)
			print_error("%s: %llu switches\n", row->name, (unsigned long long)switches);
		assert_int_equal(switches, row->switches);
		machine_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_shares) };

	return cmocka_run_group_tests_name("sched_shares", tests, NULL, NULL);
}
