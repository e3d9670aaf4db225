/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c kernel/task.c
 * kernel/window.c
 * kernel/deal.c kernel/sync.c kernel/channel.c kernel/timer.c kernel/stats/hist.c sched/*.c
 * tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_tasks.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* Tasks on the engine: cache refill, bursts that move, timers, hangs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "../../kernel/channel.h"
#include "../../kernel/task.h"
#include "engine_rig.h"

enum { DONE = 1, MARK, FIRED };

static void run(void (*first)(void *arg))
{
	tasks_run(first, NULL, 1, "");
	assert_true(rig_ended_well());
}

static void start(const char *name, void (*fn)(void *), void *arg, u32 cpu, u32 kb)
{
	struct task_attr attr = { .name = name, .allowed = only(cpu), .footprint_kb = kb };

	task_fork(&attr, fn, arg);
}

/* ---- cache refill -------------------------------------------------------- */

/* Time of a burst beyond its work. */
static void note_refill(void)
{
	u64 since;

	env_sync();
	since = clock_ps();
	task_burn(10000);
	note(MARK, clock_ps() - since - 10 * US);
}

static void move_to(u32 cpu)
{
	sched_set_affinity(the_sched, &task_self()->st, only(cpu));
	env_sync();
	note(DONE, env_this_cpu());
}

/* From CPU 0 to its sibling, another core, LLC, package, and back. */
static const u32 tour[] = { 1, 2, 4, 8, 1 };

static void tourist(void *arg)
{
	(void)arg;
	note_refill(); /* it never ran before: nothing to refill */
	note_refill();
	for (u32 i = 0; i < ARRAY_SIZE(tour); i++) {
		move_to(tour[i]);
		note_refill();
		note_refill();
	}
}

static u32 footprint_kb;

static void tour_main(void *arg)
{
	(void)arg;
	start("tourist", tourist, NULL, 0, footprint_kb);
	task_wait_children();
}

static u64 refill(u32 kb, u32 column)
{
	u32 cap = column ? rig.machine.llc_kb : rig.machine.l2_kb;

	return (u64)(kb < cap ? kb : cap) * rig.machine.refill_ns_per_kb[column] * 1000;
}

/* What bursts paid, by distance: nobody else ran, so never for the same CPU. */
static void assert_paid(u64 smt, u64 llc, u64 pkg, u64 remote, u64 ps)
{
	const struct refill_stats *r = task_refills();

	assert_int_equal(r->paid[DIST_SELF], 0);
	assert_int_equal(r->paid[DIST_SMT], smt);
	assert_int_equal(r->paid[DIST_LLC], llc);
	assert_int_equal(r->paid[DIST_PKG], pkg);
	assert_int_equal(r->paid[DIST_REMOTE], remote);
	assert_int_equal(r->ps, ps);
}

static void test_refill_by_distance_and_cap(void **state)
{
	static const u32 kb[] = { 0, 50, 103, 500, 1009, 50000 };
	static const u32 column[] = { 0, 1, 2, 3, 3 };

	(void)state;
	for (u32 k = 0; k < ARRAY_SIZE(kb); k++) {
		u64 sum_ps = 0;

		rig_init(2, 2, 2, 2);
		rig.cfg.hz = 100; /* no tick before 10 ms */
		rig.machine.refill_ns_per_kb[3] = 7; /* to stay below */
		rig.machine.refill_ns_per_kb[2] = 5;
		rig.machine.refill_ns_per_kb[1] = 3;
		rig.machine.refill_ns_per_kb[0] = 2;
		footprint_kb = kb[k];
		run(tour_main);
		assert_int_equal(noted(MARK, 0)->value, 0);
		assert_int_equal(noted(MARK, 1)->value, 0);
		for (u32 i = 0; i < ARRAY_SIZE(tour); i++) {
			const struct note *cold = noted(MARK, 2 + 2 * i);

			assert_int_equal(noted(DONE, i)->value, tour[i]);
			assert_int_equal(cold->cpu, tour[i]);
			assert_int_equal(cold->value, refill(kb[k], column[i]));
			assert_int_equal(noted(MARK, 3 + 2 * i)->value, 0); /* paid once */
			sum_ps += cold->value;
		}
		assert_paid(!!kb[k], !!kb[k], !!kb[k], 2 * !!kb[k], sum_ps);
		assert_true(clock_ps() < 10 * MS);
	}
}

/* Two moves without work in between fetch once, over the longer way. */
static void hasty_tourist(void *arg)
{
	(void)arg;
	note_refill();
	move_to(8);
	move_to(9);
	note_refill();
}

static void hasty_main(void *arg)
{
	(void)arg;
	start("hasty tourist", hasty_tourist, NULL, 0, 70);
	task_wait_children();
}

static void test_refill_is_paid_once(void **state)
{
	(void)state;
	rig_init(2, 2, 2, 2);
	rig.cfg.hz = 100;
	run(hasty_main);
	assert_int_equal(noted(MARK, 1)->value, refill(70, 3));
	assert_paid(0, 0, 0, 1, refill(70, 3));
}

/* Sleeps twice on the same CPU; somebody else runs there the second time. */
static void sleeper(void *arg)
{
	(void)arg;
	note_refill();
	for (u32 i = 0; i < 2; i++) {
		task_sleep_ns(200000);
		note_refill();
	}
}

static void intruder(void *arg)
{
	(void)arg;
	task_sleep_ns(400000);
	task_burn(10000);
}

static void intruder_main(void *arg)
{
	(void)arg;
	start("intruder", intruder, NULL, 1, 0);
	task_sleep_ns(100000); /* it sleeps by then */
	start("sleeper", sleeper, NULL, 1, 70);
	task_wait_children();
}

static void test_refill_after_others_ran_there(void **state)
{
	(void)state;
	rig_init(1, 1, 2, 1);
	rig.cfg.hz = 100;
	run(intruder_main);
	assert_int_equal(noted(MARK, 0)->value, 0);
	assert_int_equal(noted(MARK, 1)->value, 0);
	assert_int_equal(noted(MARK, 2)->value, refill(70, 0));
}

/* ---- bursts that are preempted and moved --------------------------------- */

static struct task *worker;

static void work(void *arg)
{
	u64 from_ns = task_cpu_ns(task_self());

	task_burn((u64)(uintptr_t)arg);
	note(DONE, task_cpu_ns(task_self()) - from_ns);
}

/* Moves the worker twice in mid-burst, then puts a second one beside it. */
static void mover_main(void *arg)
{
	struct task_attr attr = { .name = "worker", .allowed = only(1) };

	(void)arg;
	worker = task_fork(&attr, work, (void *)5000000);
	for (u32 cpu = 2; cpu < 4; cpu++) {
		task_sleep_ns(1000000);
		note(MARK, worker->st.cpu);
		sched_set_affinity(the_sched, &worker->st, only(cpu));
	}
	task_sleep_ns(500000);
	note(MARK, worker->st.cpu);
	start("second", work, (void *)3000000, 3, 0);
	task_wait_children();
}

static void test_the_rest_of_a_burst_stays_with_its_task(void **state)
{
	u64 ticks_ns;

	(void)state;
	rig_init(1, 1, 4, 1);
	run(mover_main);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(MARK, i)->value, i + 1);
	assert_int_equal(count_notes(DONE), 2);
	for (u32 i = 0; i < 2; i++) {
		const struct note *d = noted(DONE, i);
		/* The first one has 2.5 ms to go when the second begins its 3. */
		u64 work_ns = i ? 3000000 : 5000000;

		assert_int_equal(d->cpu, 3);
		/* What interrupted it ran in its time: ticks, kicks, switches. */
		ticks_ns = 9 * 10000;
		assert_in_range(d->value, work_ns, work_ns + ticks_ns);
	}
	/* Both shared CPU 3 after 2.5 ms: 8 ms of work from 0 on CPUs 1 to 3. */
	assert_in_range(noted(DONE, 1)->at_ps, 8 * MS, 8400 * US);
}

/* ---- sleeping ------------------------------------------------------------ */

#define SLEEPS 100

static void sleeps(void *arg)
{
	struct rng *r = &task_self()->rng;

	(void)arg;
	for (u32 i = 0; i < SLEEPS; i++) {
		u64 ns = rng_below(r, i % 4 ? 50000 : 3000000), from_ps = clock_ps();

		task_sleep_ns(ns);
		note(MARK, clock_ps() / 1000 - from_ps / 1000 - ns);
	}
}

static void sleeps_main(void *arg)
{
	(void)arg;
	for (u32 c = 0; c < 4; c++)
		start("sleeper", sleeps, NULL, c, 0);
	task_wait_children();
}

static void test_sleep_is_never_short_and_hardly_long(void **state)
{
	(void)state;
	rig_init(1, 1, 4, 1);
	run(sleeps_main);
	assert_int_equal(count_notes(MARK), 4 * SLEEPS);
	for (u32 n = 0; n < nr_notes; n++)
		if (notes[n].what == MARK) /* deepest idle state, interrupt, tick, switch */
			assert_in_range(notes[n].value, 0, 140000);
}

/* ---- timers against a sorted list ---------------------------------------- */

#define TIMERS 400
#define CPUS 4
#define REARMS 5

struct shot {
	struct timer timer;
	u32 cpu, index;
	u64 first_ns, again_ns[REARMS];
	u32 fired;
};

static struct shot shot[CPUS][TIMERS];
static u32 pending[CPUS];

static void shoot(struct timer *t)
{
	struct shot *s = container_of(t, struct shot, timer);

	note(FIRED, (u64)s->cpu << 32 | s->index);
	note(MARK, env_now() - t->expires_ns);
	if (s->fired < REARMS && s->again_ns[s->fired])
		timer_start(t, t->expires_ns + s->again_ns[s->fired], shoot);
	else
		pending[s->cpu]--;
	s->fired++;
}

static void shooter(void *arg)
{
	u32 cpu = (u32)(uintptr_t)arg;

	env_irq_off(); /* so that all are started before the first fires */
	for (u32 i = 0; i < TIMERS; i++)
		timer_start(&shot[cpu][i].timer, shot[cpu][i].first_ns, shoot);
	env_irq_on();
	while (pending[cpu])
		task_burn(100000);
}

static void timers_main(void *arg)
{
	(void)arg;
	for (u32 c = 0; c < CPUS; c++)
		start("shooter", shooter, (void *)(uintptr_t)c, c, 0);
	task_wait_children();
}

/* What fires next is the least (expiry, order of start), found by scanning. */
static void check_shots(u32 cpu)
{
	u64 due[TIMERS], order[TIMERS], orders = 0;
	u32 fired[TIMERS] = { 0 }, n = 0;

	for (u32 i = 0; i < TIMERS; i++) {
		due[i] = shot[cpu][i].first_ns;
		order[i] = orders++;
	}
	for (;;) {
		u32 next = TIMERS;

		for (u32 i = 0; i < TIMERS; i++)
			if (due[i] != TIME_NEVER &&
			    (next == TIMERS || due[i] < due[next] ||
			     (due[i] == due[next] && order[i] < order[next])))
				next = i;
		if (next == TIMERS)
			break;
		while (notes[n].what != FIRED || notes[n].value >> 32 != cpu)
			n++;
		assert_true(n < nr_notes);
		assert_int_equal((u32)notes[n].value, next);
		assert_int_equal(notes[n].cpu, cpu);
		assert_true(notes[n].at_ps + T0 >= due[next] * 1000);
		n++;
		if (fired[next] < REARMS && shot[cpu][next].again_ns[fired[next]]) {
			due[next] += shot[cpu][next].again_ns[fired[next]];
			order[next] = orders++;
		} else {
			due[next] = TIME_NEVER;
		}
		fired[next]++;
	}
	for (u32 i = 0; i < TIMERS; i++) {
		assert_int_equal(fired[i], shot[cpu][i].fired);
		assert_false(shot[cpu][i].timer.pending);
	}
}

static void test_timers_against_a_sorted_list(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 3; seed++) {
		u32 late = 0;
		struct rng r;

		rig_init(1, 1, CPUS, 1);
		rng_init(&r, seed, 0);
		memset(shot, 0, sizeof(shot));
		for (u32 c = 0; c < CPUS; c++)
			for (u32 i = 0; i < TIMERS; i++) {
				struct shot *s = &shot[c][i];

				s->cpu = c;
				s->index = i;
				/* Many at the same time, many already past. */
				s->first_ns = 1000000000 + 1000 * rng_below(&r, i % 2 ? 50 : 20000);
				for (u32 k = 0; k < REARMS && rng_below(&r, 3); k++)
					s->again_ns[k] = 1 + rng_below(&r, 2000000);
			}
		for (u32 c = 0; c < CPUS; c++)
			pending[c] = TIMERS;
		run(timers_main);
		for (u32 c = 0; c < CPUS; c++)
			check_shots(c);
		/* Once the first crowd is through, they come on time. */
		for (u32 n = 0; n < nr_notes; n++)
			if (notes[n].what == MARK && notes[n].at_ps > 3 * MS)
				late += notes[n].value > 20000;
		assert_true(late * 20 < count_notes(MARK));
	}
}

/* ---- hangs --------------------------------------------------------------- */

static struct semaphore never;

static void waits_for_ever(void *arg)
{
	(void)arg;
	sem_down(&never);
}

static void lost_main(void *arg)
{
	(void)arg;
	sem_init(&never, "never upped", 9, 0);
	start("waiter", waits_for_ever, NULL, 3, 0);
	task_wait_children();
}

static void test_lost_wakeup_fails_and_names_the_sleepers(void **state)
{
	(void)state;
	rig_init(1, 1, 4, 1);
	tasks_run(lost_main, NULL, 1, "");
	assert_true(rig_failed_with("no task can run and nothing is pending but ticks"));
	assert_true(rig_failed_with("task 1 main: sleeping on exits of task 1"));
	assert_true(rig_failed_with("task 2 waiter: sleeping on never upped 9, cpu 3"));
	assert_true(engine.last_action_ps - T0 < 10 * MS);
}

static void runs_for_ever(void *arg)
{
	(void)arg;
	task_sleep_ns(100000);
	sem_up(&never);
	for (;;)
		task_burn(1000000);
}

static void endless_main(void *arg)
{
	(void)arg;
	sem_init(&never, "upped once", 9, 0);
	start("endless", runs_for_ever, NULL, 1, 0);
	sem_down(&never); /* it waits for that no more */
	task_sleep_ns(60000000000);
}

static void test_vlimit_fails_and_names_the_tasks(void **state)
{
	(void)state;
	rig_init(1, 1, 2, 1);
	rig.cfg.vlimit_ps = 50 * MS;
	tasks_run(endless_main, NULL, 1, "");
	assert_true(rig_failed_with("virtual time passed vlimit_s"));
	assert_true(rig_failed_with("task 1 main: sleeping until a timer"));
	assert_true(rig_failed_with("task 2 endless: runnable, cpu 1"));
}

static struct env_lock held;

static void holds(void *arg)
{
	(void)arg;
	env_lock(&held);
	engine.cur->irq_depth--; /* the mistake: to sleep with a lock held */
	sem_down(&never);
}

static void wants(void *arg)
{
	(void)arg;
	task_sleep_ns(100000);
	env_lock(&held);
}

static void sleeper_holds_main(void *arg)
{
	(void)arg;
	sem_init(&never, "never upped", 9, 0);
	env_lock_init(&held, LINE_USER, "held", 5);
	start("holder", holds, NULL, 2, 0);
	start("wanter", wants, NULL, 1, 0);
	start("wanter", wants, NULL, 3, 0);
	task_wait_children();
}

static void test_owner_and_waiters_of_a_lost_lock_are_named(void **state)
{
	(void)state;
	rig_init(1, 1, 4, 1);
	tasks_run(sleeper_holds_main, NULL, 1, "");
	assert_true(rig_failed_with("no task can run and nothing is pending but ticks"));
	assert_true(rig_failed_with("cpu 2 holds lock held 5"));
	assert_true(rig_failed_with("cpu 1 waits for lock held 5, owner cpu 2"));
	assert_true(rig_failed_with("cpu 3 waits for lock held 5, owner cpu 2"));
	assert_true(rig_failed_with("task 2 holder: sleeping on never upped 9, cpu 2"));
	assert_true(rig_failed_with("task 3 wanter: runnable, cpu 1"));
}

/* spec/workloads.md section 1: 16 pages of whole messages, or of whole pages for a
 * message that is larger; a socket's 212,992 bytes. */
static void test_capacities(void **state)
{
	static const struct { enum channel_kind kind; u32 bytes, messages; } table[] = {
		{ CHANNEL_PIPE, 100, 640 },  { CHANNEL_PIPE, 4096, 16 },
		{ CHANNEL_PIPE, 3000, 16 },  { CHANNEL_PIPE, 4097, 8 },
		{ CHANNEL_PIPE, 8192, 8 },   { CHANNEL_PIPE, 65536, 1 },
		{ CHANNEL_SOCKET, 100, 277 },
	};
	struct channel c;

	(void)state;
	rig_init(1, 1, 1, 1);
	engine_init(&rig.cfg);
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		channel_init(&c, table[i].kind, table[i].bytes, "sized", i, &rig.arena);
		assert_int_equal(c.capacity, table[i].messages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capacities),
		cmocka_unit_test(test_refill_by_distance_and_cap),
		cmocka_unit_test(test_refill_is_paid_once),
		cmocka_unit_test(test_refill_after_others_ran_there),
		cmocka_unit_test(test_the_rest_of_a_burst_stays_with_its_task),
		cmocka_unit_test(test_sleep_is_never_short_and_hardly_long),
		cmocka_unit_test(test_timers_against_a_sorted_list),
		cmocka_unit_test(test_lost_wakeup_fails_and_names_the_sleepers),
		cmocka_unit_test(test_vlimit_fails_and_names_the_tasks),
		cmocka_unit_test(test_owner_and_waiters_of_a_lost_lock_are_named),
	};

	return cmocka_run_group_tests_name("engine_task", tests, NULL, NULL);
}
