/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * The worked examples of spec/group-load.md section 10 on two CPUs of two nodes, by way
 * of the calls that tasks and ticks make. Averages are set to the round numbers of the
 * examples; then no time passes, so that nothing ages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../sched/group_load.h"
#include "../../sched/pelt.h"
#include "env/machine.h"

#define S NICE_0_LOAD
#define PERIOD (1024 * 1024ull)
#define COMMON "NO_IDLE_PULL+NO_WAKEUP_PREEMPTION+NO_TTWU_QUEUE+REWEIGHT=delta"

static const struct variant {
	const char *switches;
	u64 counter, publish, weight;
} variants[] = {
	{ COMMON, TG_COUNTER_SINGLE, TG_PUBLISH_IMMEDIATE, TG_WEIGHT_ALL },
	{ COMMON "+TG_COUNTER=node", TG_COUNTER_NODE, TG_PUBLISH_IMMEDIATE, TG_WEIGHT_ALL },
	{ COMMON "+TG_COUNTER=node+TG_PUBLISH=delay", TG_COUNTER_NODE, TG_PUBLISH_DELAY,
	  TG_WEIGHT_ALL },
	{ COMMON "+TG_COUNTER=node+TG_PUBLISH=delay+TG_WEIGHT=skip", TG_COUNTER_NODE,
	  TG_PUBLISH_DELAY, TG_WEIGHT_SKIP },
	{ COMMON "+TG_PUBLISH=rate", TG_COUNTER_SINGLE, TG_PUBLISH_RATE, TG_WEIGHT_ALL },
	{ COMMON "+TG_PUBLISH=rate+TG_WEIGHT=skip", TG_COUNTER_SINGLE, TG_PUBLISH_RATE,
	  TG_WEIGHT_SKIP },
	{ COMMON "+TG_PUBLISH=rate+TG_WEIGHT=skip+TG_COUNTER=node", TG_COUNTER_NODE,
	  TG_PUBLISH_RATE, TG_WEIGHT_SKIP },
};
#define BASE (&variants[0])
#define NODE (&variants[1])
#define DELAY (&variants[2])
#define RATE (&variants[4])

static struct machine m;
static struct task_group *tg;

static struct cfs_rq *queue(u32 cpu)
{
	return tg->cfs_rq[cpu];
}

static u64 weight(u32 cpu)
{
	return tg->se[cpu]->load.weight;
}

/* The entity's average and sum as if it had been runnable for load of 1024 ever since. */
static void set_avg(struct sched_entity *se, u64 load)
{
	se->avg.load_avg = se->avg.util_avg = se->avg.runnable_avg = load;
	se->avg.load_sum = load * pelt_divider(&se->avg) / 1024;
	se->avg.util_sum = se->avg.runnable_sum = load * pelt_divider(&se->avg);
}

static void set_queue(u32 cpu, u64 load, u64 contrib)
{
	struct cfs_rq *q = queue(cpu);

	q->avg.load_avg = q->avg.runnable_avg = load;
	q->avg.load_sum = q->avg.runnable_sum = load * pelt_divider(&q->avg);
	q->prop_runnable_sum = 0;
	q->propagate = false;
	tg->load[m.s->vector.value[FEAT_TG_COUNTER] == TG_COUNTER_NODE ? cpu : 0].value +=
		(s64)(contrib - q->tg_load_avg_contrib);
	q->tg_load_avg_contrib = contrib;
}

static void setup(const struct variant *v)
{
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, v->switches);
	m.topo.cpu[1].node = 1;
	m.topo.nr_nodes = 2;
	tg = tg_create(m.s, NULL, 1024);
}

static struct sched_task *member(u32 cpu)
{
	struct sched_task *p = machine_start(&m, cpu);

	sched_move_task(m.s, p, tg);
	set_avg(&p->se, 1024);
	return p;
}

/* CPU 0: three busy tasks of nice 0, CPU 1: one; all is known, and was told just now. */
static void rest(const struct variant *v)
{
	setup(v);
	for (u32 i = 0; i < 4; i++)
		member(i == 3);
	set_queue(0, 3072, 3072);
	set_queue(1, 1024, 1024);
	if (v->counter == TG_COUNTER_NODE) { /* each CPU has told its own */
		tg->load[0].value = 3072;
		tg->load[1].value = 1024;
	}
	queue(0)->published_ns = queue(1)->published_ns = test_env.now[0];
	machine_tick(&m, 0);
	machine_tick(&m, 1);
}

static void pin(struct sched_task *p, u64 allowed)
{
	struct cpumask mask = { { allowed } };

	sched_set_affinity(m.s, p, &mask);
}

/* What runs on a CPU falls asleep. */
static struct sched_task *sleeps(u32 cpu)
{
	struct sched_task *p = sched_current(m.s, cpu);

	machine_on(cpu);
	machine_sleep(&m);
	return p;
}

static void test_rest(void **state)
{
	(void)state;
	for (const struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		rest(v);
		assert_int_equal(tg_load_peek(m.s, tg), 4096);
		assert_int_equal(weight(0), 786432);
		assert_int_equal(weight(1), 262144);
		machine_free(&m);
	}
}

static void test_just_woken(void **state)
{
	(void)state;
	for (const struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		setup(v);
		for (u32 c = 0; c < 2; c++) {
			set_avg(&member(c)->se, 0);
			set_queue(c, 0, 0);
			machine_tick(&m, c);
			assert_int_equal(weight(c), S);
		}
		machine_tick(&m, 0);
		assert_int_equal(weight(0) + weight(1), 2 * S);
		machine_free(&m);
	}
}

/* ---- publishing --------------------------------------------------------------------- */

static bool publishes(u64 contrib, u64 load)
{
	u64 told;
	s64 before;

	set_queue(0, load, contrib);
	before = tg_load_peek(m.s, tg);
	rq_lock(queue(0)->rq);
	update_tg_load_avg(queue(0), PUBLISH_AGE);
	rq_unlock(queue(0)->rq);
	told = queue(0)->tg_load_avg_contrib;
	assert_int_equal(tg_load_peek(m.s, tg) - before, (s64)(told - contrib));
	assert_true(told == load || told == contrib);
	return told == load;
}

static void test_threshold(void **state)
{
	u64 before;

	(void)state;
	setup(BASE);
	member(0);
	set_queue(0, 0, 0);
	before = machine_count(&m, tg_published);
	machine_on(0);
	assert_false(publishes(1024, 1040));
	assert_true(publishes(1024, 1041));
	assert_false(publishes(1024, 1008));
	assert_true(publishes(1024, 1007));
	assert_true(publishes(63, 64));
	assert_true(publishes(63, 62));
	assert_false(publishes(64, 65));
	m.s->vector.value[FEAT_TG_THRESHOLD] = 1; /* one part in 16 */
	assert_false(publishes(1024, 1088));
	assert_true(publishes(1024, 1089));
	assert_int_equal(machine_count(&m, tg_published) - before, 5);
	assert_int_equal(queue(0)->stats.below_threshold, machine_count(&m, tg_below_threshold));
	machine_free(&m);
	assert_true(publish_due(17, 16, 64));
	assert_false(publish_due(16, 16, 64));
}

static void test_rate(void **state)
{
	(void)state;
	setup(RATE);
	member(0);
	machine_on(0);
	queue(0)->published_ns = 0;
	assert_true(publishes(1024, 2048)); /* never before */
	test_env.now[0] += 999999;
	assert_false(publishes(2048, 4096));
	test_env.now[0] += 1;
	assert_false(publishes(2048, 2050)); /* below the threshold: time does not start anew */
	assert_true(publishes(2048, 4096));
	assert_int_equal(queue(0)->stats.rate_limited, 1);
	machine_free(&m);
}

/* ---- wake migration ------------------------------------------------------------------ */

/* From rest, one of CPU 0's three sleeps and wakes on CPU 1. */
static void migrates(const struct variant *v)
{
	struct sched_task *p;

	rest(v);
	p = sleeps(0);
	assert_int_equal(p->se.avg.load_avg, 1024);
	pin(p, 2);
	machine_on(1);
	sched_wake(m.s, p, 0);
	machine_settle(&m);
	assert_int_equal(p->cpu, 1);
	assert_int_equal(queue(0)->removed.load_avg, 1024);
	assert_int_equal(queue(0)->tg_load_avg_contrib, 3072);
	assert_int_equal(queue(1)->avg.load_avg, 2048);
	assert_int_equal(weight(1), 419430);
}

static void test_migration(void **state)
{
	(void)state;
	for (const struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		bool limited = v->publish == TG_PUBLISH_RATE, late = v->publish == TG_PUBLISH_DELAY;

		migrates(v);
		assert_int_equal(tg_load_peek(m.s, tg), limited ? 4096 : 5120);
		machine_tick(&m, 0);
		assert_int_equal(queue(0)->avg.load_avg, 2048);
		assert_int_equal(queue(0)->tg_load_avg_contrib, limited || late ? 3072 : 2048);
		assert_int_equal(queue(1)->tg_load_avg_contrib, limited ? 1024 : 2048);
		assert_int_equal(tg_load_peek(m.s, tg), late ? 5120 : 4096);
		assert_int_equal(weight(0), limited ? 699050 : 524288);
		machine_tick(&m, 1);
		assert_int_equal(weight(1), limited || late ? 419430 : 524288);
		machine_free(&m);
	}
}

static void test_migration_nodes(void **state)
{
	(void)state;
	migrates(NODE);
	machine_tick(&m, 0);
	assert_int_equal(tg->load[0].value, 2048);
	assert_int_equal(tg->load[1].value, 2048);
	machine_free(&m);
	/* Another node's CPU walks the queue. */
	migrates(NODE);
	machine_on(1);
	rq_lock(queue(0)->rq);
	update_blocked_load(queue(0)->rq);
	rq_unlock(queue(0)->rq);
	assert_int_equal(tg->load[0].value, 3072);
	assert_int_equal(tg->load[1].value, 1024);
	assert_int_equal(tg_load_peek(m.s, tg), 4096);
	machine_free(&m);
}

/* What is put off comes with the next period, or with a walk after it. */
static void test_migration_later(void **state)
{
	(void)state;
	for (u32 walk = 0; walk < 2; walk++) {
		migrates(DELAY);
		machine_tick(&m, 0);
		assert_true(queue(0)->prop_removed_sum < 0);
		assert_false(queue(0)->propagate);
		machine_advance(&m, 2 * PERIOD);
		machine_on(0);
		if (walk) {
			rq_lock(queue(0)->rq);
			update_rq_clock(queue(0)->rq);
			update_blocked_load(queue(0)->rq);
			rq_unlock(queue(0)->rq);
			assert_int_equal(queue(0)->prop_removed_sum, 0);
		} else {
			machine_tick(&m, 0);
			assert_true(queue(0)->prop_removed_sum < 0); /* the ancestors wait on */
		}
		assert_in_range(queue(0)->tg_load_avg_contrib, 2040, 2056);
		assert_in_range(tg_load_peek(m.s, tg), 4080, 4110);
		machine_free(&m);
	}
}

/* ---- skip -------------------------------------------------------------------------------- */

/* Virtual time of CPU 1's group over the next ms, of which it is charged. */
static u64 charged(u32 cpu, u64 ns)
{
	u64 before = tg->se[cpu]->vruntime;

	machine_advance(&m, ns);
	machine_tick(&m, cpu);
	return tg->se[cpu]->vruntime - before;
}

static void test_skip_wakeup(void **state)
{
	(void)state;
	for (const struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		bool skip = v->weight == TG_WEIGHT_SKIP;
		struct sched_task *p;

		rest(v);
		p = sleeps(1);
		if (skip)
			assert_int_equal(weight(1), 262144);
		set_avg(&p->se, 512);
		set_queue(1, 512, 512);
		set_queue(0, 7168, 7168);
		sched_wake(m.s, p, 0);
		machine_settle(&m);
		assert_int_equal(sched_current(m.s, 1)->id, p->id);
		assert_int_equal(weight(1), skip ? 262144 : 131072);
		/* Off by the truncated inverse at most. */
		assert_in_range(charged(1, 1000000), skip ? 3999990 : 7999990,
				skip ? 4000000 : 8000000);
		assert_in_range(weight(1), 130000, 132200); /* the tick has put it right */
		machine_free(&m);
	}
}

static void test_skip_sleep(void **state)
{
	(void)state;
	for (const struct variant *v = variants; v < variants + ARRAY_SIZE(variants); v++) {
		bool skip = v->weight == TG_WEIGHT_SKIP;
		struct cfs_rq *root;

		rest(v);
		root = &cpu_rq(m.s, 1)->cfs;
		set_queue(1, 102, 102);
		machine_tick(&m, 1);
		assert_int_equal(tg_load_peek(m.s, tg), 3174);
		assert_int_equal(weight(1), 262144);
		/* The group has run for a tenth of the time. */
		tg->se[1]->avg.load_sum = pelt_divider(&tg->se[1]->avg) / 10;
		tg->se[1]->avg.load_avg = 25;
		root->avg.load_avg = 25;
		root->avg.load_sum = 256 * tg->se[1]->avg.load_sum;
		sleeps(1);
		assert_int_equal(weight(1), skip ? 262144 : 33697);
		assert_int_equal(root->avg.load_avg, skip ? 25 : 3);
		machine_free(&m);
	}
}

/* ---- the formula ---------------------------------------------------------------------------- */

static void test_formula(void **state)
{
	static const struct {
		struct group_load g;
		u64 shares;
	} rows[] = {
		{ { .shares = S, .tg_load = 4096, .contrib = 3072, .weight = 3072,
		    .load_avg = 3072 }, 786432 },
		{ { .shares = S, .weight = 1024 }, S },
		{ { .shares = S }, MIN_SHARES },
		/* Clamp */
		{ { .shares = 2048, .tg_load = 8192 }, 2 },
		{ { .shares = 15360, .tg_load = 8192, .contrib = 1024, .weight = 1024,
		    .load_avg = 1024 }, 1920 },
		/* The larger of what is queued and what was. */
		{ { .shares = S, .tg_load = 1024, .contrib = 512, .weight = 100, .load_avg = 512 },
		  S / 2 },
		/* Node counters read while they changed. */
		{ { .shares = S, .tg_load = -2048, .weight = 1024 }, MIN_SHARES },
		{ { .shares = S, .tg_load = 100, .contrib = 1200, .weight = 50, .load_avg = 60 },
		  MIN_SHARES },
		{ { .shares = S, .tg_load = 0, .contrib = 512, .weight = 1024 }, S },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(calc_group_shares(&rows[i].g), rows[i].shares);
}

/* ---- which events read and write the counter: section 9 ----------------------------------- */

static u64 counted_reads, counted_writes;

static void count_from_here(void)
{
	counted_reads = tg->load[0].line.reads;
	counted_writes = tg->load[0].line.writes;
}

static void assert_accesses(u64 reads, u64 writes)
{
	assert_int_equal(tg->load[0].line.reads - counted_reads, reads);
	assert_int_equal(tg->load[0].line.writes - counted_writes, writes);
}

static void test_sites(void **state)
{
	(void)state;
	for (u32 skip = 0; skip < 2; skip++) {
		struct sched_task *p, *other;

		rest(skip ? &variants[5] : BASE);
		other = sleeps(1); /* the last */
		set_queue(1, other->se.avg.load_avg, other->se.avg.load_avg);
		machine_on(1);
		count_from_here();
		sched_wake(m.s, other, 0); /* the group idles here */
		machine_settle(&m);
		assert_accesses(!skip, 0);
		count_from_here();
		sleeps(1);
		assert_accesses(!skip, 0);
		p = sleeps(0);
		pin(p, 1);
		machine_on(0);
		count_from_here();
		sched_wake(m.s, p, 0); /* it is queued here */
		machine_settle(&m);
		assert_accesses(1, 0);
		count_from_here();
		sleeps(0); /* others remain */
		assert_accesses(1, 0);
		count_from_here();
		machine_tick(&m, 0);
		assert_accesses(1, 0);
		/* A competitor in the queue above: then its weight matters. */
		machine_start(&m, 1);
		pin(other, 2);
		machine_on(1);
		count_from_here();
		sched_wake(m.s, other, 0);
		machine_settle(&m);
		assert_accesses(1, 0);
		machine_free(&m);
	}
}

static void test_shares_sites(void **state)
{
	struct sched_task *p;

	(void)state;
	rest(BASE);
	count_from_here();
	tg_set_shares(m.s, tg, 2048);
	assert_accesses(2, 0); /* every CPU */
	assert_int_equal(weight(0), 2 * 786432);
	assert_int_equal(weight(1), 2 * 262144);
	p = sched_current(m.s, 1);
	count_from_here();
	sched_move_task(m.s, p, sched_root_group(m.s));
	assert_accesses(1, 1); /* its entity leaves, and its load */
	assert_int_equal(tg_load_peek(m.s, tg), 3072);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_just_woken),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_migration),
		cmocka_unit_test(test_migration_nodes),
		cmocka_unit_test(test_migration_later),
		cmocka_unit_test(test_skip_wakeup),
		cmocka_unit_test(test_skip_sleep),
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_shares_sites),
	};

	return cmocka_run_group_tests_name("sched_tg", tests, NULL, NULL);
}
