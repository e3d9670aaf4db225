/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * Groups as they begin, change and end: spec/cfs-core.md section 9 and 10; both forms
 * of reweight; the walk of blocked load; other switches for a scheduler that runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "../../kernel/lib/rng.h"
#include "../../sched/pelt.h"
#include "env/machine.h"

#define PERIOD (1024 * 1024ull)
#define CALM "NO_IDLE_PULL+NO_WAKEUP_PREEMPTION"

extern jmp_buf *panic_jump;

static struct machine m;

static struct cfs_rq *root(u32 cpu)
{
	return &cpu_rq(m.s, cpu)->cfs;
}

static void run(u32 periods)
{
	for (u32 i = 0; i < periods; i++) {
		machine_advance(&m, PERIOD);
		for (u32 c = 0; c < m.topo.nr_cpus; c++)
			if (!sched_current(m.s, c)->is_idle_task)
				machine_tick(&m, c);
	}
	machine_settle(&m);
}

static void sleep_on(u32 cpu)
{
	machine_on(cpu);
	machine_sleep(&m);
	machine_settle(&m);
}

static void walk(u32 cpu)
{
	struct rq *rq = cpu_rq(m.s, cpu);

	rq_lock(rq);
	update_rq_clock(rq);
	update_blocked_load(rq);
	rq_unlock(rq);
}

static struct sched_task *member(struct task_group *tg, u32 cpu)
{
	struct sched_task *p = machine_start(&m, cpu);

	sched_move_task(m.s, p, tg);
	return p;
}

static void exits(u32 cpu)
{
	machine_on(cpu);
	sched_set_state(m.s, TASK_DEAD);
	machine_switch(&m, false);
}

#define assert_panics(action)                \
	do {                                 \
		jmp_buf jump_;               \
		panic_jump = &jump_;         \
		if (!setjmp(jump_)) {        \
			action;              \
			panic_jump = NULL;   \
			fail();              \
		}                            \
		panic_jump = NULL;           \
	} while (0)

/* ---- beginning and end ----------------------------------------------------------------- */

static void test_begin(void **state)
{
	struct task_group *a, *b;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, CALM);
	run(3);
	a = tg_create(m.s, NULL, 1024);
	b = tg_create_idle(m.s, a);
	assert_int_equal(tg_depth(b), 2);
	assert_ptr_equal(tg_next(m.s, NULL), sched_root_group(m.s));
	assert_ptr_equal(tg_next(m.s, sched_root_group(m.s)), a);
	assert_ptr_equal(tg_next(m.s, a), b);
	assert_null(tg_next(m.s, b));
	for (u32 c = 0; c < 2; c++) {
		/* Attached with nothing, whose sum is 1. */
		assert_int_equal(a->se[c]->avg.load_sum, 1);
		assert_int_equal(a->se[c]->avg.load_avg, 0);
		assert_int_equal(a->se[c]->load.weight, NICE_0_LOAD);
		assert_int_equal(a->se[c]->avg.last_update_time, root(c)->avg.last_update_time);
		assert_int_equal(b->se[c]->depth, 1);
		assert_ptr_equal(b->se[c]->parent, a->se[c]);
		assert_true(root(c)->on_list);
		assert_true(a->cfs_rq[c]->on_list);
		assert_false(b->cfs_rq[c]->on_list);
	}
	machine_free(&m);
}

static void test_end(void **state)
{
	struct task_group *a, *b, *c;
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, CALM);
	a = tg_create(m.s, NULL, 1024);
	b = tg_create(m.s, a, 512);
	sched_set_group_latency_nice(m.s, b, 5);
	p = member(b, 1);
	run(400);
	assert_in_range(tg_load_peek(m.s, b), 1000, 1040);
	assert_in_range(root(1)->avg.load_avg, 1000, 1040);
	assert_int_equal(b->nr_tasks, 1);
	machine_on(1);
	p = machine_fork(&m); /* a child is of its parent's group, woken or not */
	assert_int_equal(b->nr_tasks, 2);
	sched_move_task(m.s, p, sched_root_group(m.s));
	exits(1);
	assert_int_equal(b->nr_tasks, 0);
	assert_panics(tg_destroy(m.s, a)); /* b is below it */
	test_env.irq_depth[1] = test_env.task_locks[1] = 0;
	m.s->group_lock.owner = TEST_NOBODY;
	tg_destroy(m.s, b);
	assert_int_equal(tg_load_peek(m.s, b), 0);
	assert_true(a->cfs_rq[1]->removed.nr > 0);
	assert_in_range(a->cfs_rq[1]->removed.load_avg, 500, 530); /* of the shares of b */
	assert_false(b->cfs_rq[1]->on_list);
	assert_ptr_equal(tg_next(m.s, a), NULL);
	walk(1);
	assert_int_equal(a->cfs_rq[1]->removed.nr, 0);
	assert_in_range(a->cfs_rq[1]->avg.load_avg, 0, 3);
	assert_in_range(root(1)->avg.load_avg, 0, 5);
	/* The next one is as new. */
	c = tg_create(m.s, NULL, 2048);
	assert_ptr_equal(c, b);
	assert_int_equal(tg_depth(c), 1);
	assert_int_equal(c->se[1]->load.weight, NICE_0_LOAD);
	assert_int_equal(c->cfs_rq[1]->avg.load_avg, 0);
	assert_int_equal(group_latency_nice(c), 0);
	tg_destroy(m.s, a);
	tg_destroy(m.s, c);
	machine_free(&m);
}

static void let_go(void)
{
	struct task_group *tg = tg_next(m.s, sched_root_group(m.s));

	assert_int_equal(tg->nr_tasks, 1);
	exits(0);
	machine_on(1);
}

static void test_end_waits(void **state)
{
	struct task_group *tg;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, CALM);
	tg = tg_create(m.s, NULL, 1024);
	member(tg, 0);
	machine_on(1);
	test_env.on_relax = let_go;
	tg_destroy(m.s, tg);
	test_env.on_relax = NULL;
	assert_panics(tg_destroy(m.s, tg)); /* twice */
	free(m.memory);
}

static void test_move_dead(void **state)
{
	struct task_group *tg;
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, CALM);
	tg = tg_create(m.s, NULL, 1024);
	p = machine_start(&m, 0);
	exits(0);
	sched_move_task(m.s, p, tg);
	assert_int_equal(tg->nr_tasks, 0);
	assert_ptr_equal(p->tg, sched_root_group(m.s));
	tg_destroy(m.s, tg);
	machine_free(&m);
}

/* ---- shares and idleness ------------------------------------------------------------------ */

static void test_shares(void **state)
{
	struct task_group *a, *b;

	(void)state;
	machine_init(&m, 1, 1, 1, PROFILE_V6_4, CALM);
	a = tg_create(m.s, NULL, 1024);
	b = tg_create(m.s, a, 1024);
	member(b, 0);
	run(400);
	/* On one CPU a group weighs its shares. */
	assert_int_equal(a->se[0]->load.weight, NICE_0_LOAD);
	tg_set_shares(m.s, b, 512);
	assert_int_equal(b->se[0]->load.weight, NICE_0_LOAD / 2);
	assert_in_range(a->cfs_rq[0]->avg.load_avg, 508, 516);
	assert_int_equal(a->se[0]->load.weight, NICE_0_LOAD);
	tg_set_shares(m.s, a, 2);
	assert_int_equal(a->se[0]->load.weight, 2048);
	tg_set_shares(m.s, a, 1 << 18);
	assert_int_equal(a->se[0]->load.weight, 1ull << 28);
	assert_panics(tg_set_shares(m.s, a, 1));
	assert_panics(tg_set_shares(m.s, sched_root_group(m.s), 1024));
	machine_free(&m);
}

static void test_idle(void **state)
{
	struct task_group *a, *b;
	struct rq *rq;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, CALM);
	rq = cpu_rq(m.s, 0);
	a = tg_create(m.s, NULL, 1024);
	b = tg_create(m.s, a, 1024);
	member(b, 0);
	sched_set_class(m.s, member(b, 0), SCHED_CLASS_IDLE);
	member(a, 0);
	assert_int_equal(rq->cfs.idle_h_nr_running, 1);
	tg_set_idle(m.s, b, true);
	assert_int_equal(b->se[0]->load.weight, 3072);
	assert_int_equal(a->cfs_rq[0]->idle_nr_running, 1);
	assert_int_equal(a->cfs_rq[0]->idle_h_nr_running, 2);
	assert_int_equal(rq->cfs.idle_h_nr_running, 2);
	assert_int_equal(rq->cfs.idle_nr_running, 0);
	machine_check(&m);
	tg_set_idle(m.s, a, true);
	assert_int_equal(rq->cfs.idle_h_nr_running, 3);
	assert_int_equal(rq->cfs.idle_nr_running, 1);
	machine_check(&m);
	/* Whoever is below an idle group counts already. */
	tg_set_idle(m.s, b, false);
	assert_int_equal(a->cfs_rq[0]->idle_h_nr_running, 1);
	assert_int_equal(rq->cfs.idle_h_nr_running, 3);
	assert_int_equal(b->se[0]->load.weight, NICE_0_LOAD);
	machine_check(&m);
	tg_set_idle(m.s, a, false);
	assert_int_equal(rq->cfs.idle_h_nr_running, 1);
	assert_int_equal(rq->cfs.idle_nr_running, 0);
	machine_free(&m);
}

/* ---- blocked load --------------------------------------------------------------------------- */

static void test_blocked(void **state)
{
	struct task_group *a, *b;
	struct sched_task *p;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, CALM);
	a = tg_create(m.s, NULL, 1024);
	b = tg_create(m.s, a, 1024);
	p = member(b, 1);
	run(400);
	assert_int_equal(a->cfs_rq[1]->listed_children, 1);
	sleep_on(1);
	assert_in_range(tg_load_peek(m.s, a), 1000, 1040);
	/* CPU 1 idles: the housekeeping CPU's ticks age its queues, each 32. */
	for (u32 i = 0; i < 65; i++) {
		machine_advance(&m, 1000000);
		machine_tick(&m, 0);
	}
	assert_in_range(machine_count(&m, blocked_walks_idle), 2, 5);
	assert_in_range(b->cfs_rq[1]->avg.load_avg, 240, 530);
	assert_in_range(a->cfs_rq[1]->avg.load_avg, 240, 530);
	assert_in_range(root(1)->avg.load_avg, 240, 530);
	assert_in_range(tg_load_peek(m.s, b), 240, 530);
	for (u32 i = 0; i < 3000; i++) {
		machine_advance(&m, 1000000);
		machine_tick(&m, 0);
	}
	/* All forgotten, told, and no longer looked at. */
	assert_int_equal(tg_load_peek(m.s, a) + tg_load_peek(m.s, b), 0);
	assert_int_equal(b->cfs_rq[1]->avg.load_sum + root(1)->avg.util_sum, 0);
	assert_false(b->cfs_rq[1]->on_list || a->cfs_rq[1]->on_list || root(1)->on_list);
	assert_false(cpu_rq(m.s, 1)->has_blocked);
	sched_wake(m.s, p, 0);
	machine_settle(&m);
	assert_true(b->cfs_rq[p->cpu]->on_list && root(p->cpu)->on_list);
	machine_free(&m);
}

/* A busy CPU walks when its smallest domain's balance is due. */
static void test_blocked_on_tick(void **state)
{
	struct sched_domain *sd;
	u64 before;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, CALM);
	tg_create(m.s, NULL, 1024);
	machine_start(&m, 1);
	run(3);
	sd = m.s->domains.bottom[1];
	before = machine_count(&m, blocked_walks);
	for (u32 i = 0; i < 10 * sd->min_interval_ms * sd->busy_factor; i++) {
		machine_advance(&m, 1000000);
		machine_tick(&m, 1);
	}
	assert_int_equal(machine_count(&m, blocked_walks) - before, 10);
	machine_free(&m);
}

static void test_no_groups(void **state)
{
	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4, "");
	machine_start(&m, 0);
	run(200);
	sleep_on(0);
	machine_on(0);
	for (u32 i = 0; i < 100; i++) {
		machine_advance(&m, 1000000);
		machine_tick(&m, 0);
	}
	assert_int_equal(machine_count(&m, blocked_walks), 0);
	machine_free(&m);
}

/* ---- reweight ------------------------------------------------------------------------------ */

/* Queue load 1310720, 262144 to 131072: both forms end at 1179648. */
static void test_reweight(void **state)
{
	static const char *const forms[] = { "REWEIGHT=full", "REWEIGHT=delta" };

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		struct task_group *tg;
		struct sched_task *p;

		machine_init(&m, 1, 1, 1, PROFILE_V6_4, forms[i]);
		tg = tg_create(m.s, NULL, 256);
		p = member(tg, 0);
		member(sched_root_group(m.s), 0);
		assert_int_equal(root(0)->load.weight, 1310720);
		rq_lock(root(0)->rq);
		reweight_entity(root(0), tg->se[0], 131072, 0, 0);
		assert_int_equal(root(0)->load.weight, 1179648);
		assert_int_equal(root(0)->nr_running, 2);
		assert_int_equal(tg->se[0]->load.inv_weight, 0);
		assert_int_equal(root(0)->load.inv_weight, 0);
		/* The one difference: a task moves to the head of the CPU's list. */
		p = container_of(root(0)->rq->tasks.prev, struct sched_task, rq_node);
		reweight_entity(p->se.cfs_rq, &p->se, p->se.load.weight, 0, 0);
		assert_int_equal(root(0)->rq->tasks.next == &p->rq_node, !i);
		rq_unlock(root(0)->rq);
		machine_free(&m);
	}
}

static u64 hash(u64 h, u64 x)
{
	return (h ^ x) * 0x100000001b3ull;
}

static u64 hash_entity(u64 h, const struct sched_entity *se)
{
	h = hash(hash(hash(h, se->load.weight), se->vruntime), se->avg.load_avg);
	return hash(hash(h, se->avg.load_sum), se->sum_exec_runtime);
}

static u64 hash_queue(u64 h, const struct cfs_rq *q)
{
	h = hash(hash(hash(h, q->load.weight), q->nr_running), q->h_nr_running);
	return hash(hash(hash(h, q->min_vruntime), q->avg.load_avg), q->avg.load_sum);
}

#define REWEIGHTS 10000

/* What every entity and queue comes to, after each of many reweights. */
static void random_reweights(const char *form, enum sched_profile profile, u64 *trail)
{
	struct sched_entity *se[8];
	struct rng r;
	struct task_group *a, *b;

	rng_init(&r, 7, 7);
	machine_init(&m, 1, 1, 1, profile, form);
	a = tg_create(m.s, NULL, 1024);
	b = tg_create(m.s, a, 1024);
	for (u32 i = 0; i < 6; i++)
		se[i] = &member(i < 2 ? b : i < 4 ? a : sched_root_group(m.s), 0)->se;
	se[6] = a->se[0];
	se[7] = b->se[0];
	for (u32 i = 0; i < REWEIGHTS; i++) {
		struct sched_entity *x = se[rng_below(&r, 8)];
		/* A group keeps to its shares, or the checks complain. */
		u64 weight = x->my_q ? 2048 + rng_below(&r, NICE_0_LOAD - 2048)
				     : scale_load(3 + rng_below(&r, 88761));
		u64 h = 0xcbf29ce484222325ull;

		machine_advance(&m, rng_below(&r, 1ull << rng_below(&r, 22)));
		rq_lock(root(0)->rq);
		update_rq_clock(root(0)->rq);
		update_load_avg(x->cfs_rq, x, 0);
		reweight_entity(x->cfs_rq, x, weight, 0, x->my_q ? weight / 2 : 0);
		rq_unlock(root(0)->rq);
		machine_tick(&m, 0);
		for (u32 k = 0; k < 8; k++)
			h = hash_entity(h, se[k]);
		h = hash_queue(hash_queue(hash_queue(h, root(0)), a->cfs_rq[0]), b->cfs_rq[0]);
		trail[i] = h;
	}
	assert_true(machine_count(&m, reweights_queued) > REWEIGHTS);
	machine_free(&m);
}

static void test_reweight_forms(void **state)
{
	static u64 full[REWEIGHTS], delta[REWEIGHTS];

	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		random_reweights("REWEIGHT=full", profile, full);
		random_reweights("REWEIGHT=delta", profile, delta);
		for (u32 i = 0; i < REWEIGHTS; i++)
			if (full[i] != delta[i])
				fail_msg("profile %u: reweight %u differs", profile, i);
		assert_true(full[0] != full[REWEIGHTS - 1]);
	}
}

/* ---- other switches -------------------------------------------------------------------------- */

static void switch_to(const char *switches)
{
	struct sched_vector v = m.vector;
	char why[100];

	while (*switches) {
		size_t len = strcspn(switches, "+");

		assert_true(vector_apply(&v, switches, len, why, sizeof(why)));
		switches += len + (switches[len] == '+');
	}
	sched_switch_vector(m.s, &v);
}

static void test_switch(void **state)
{
	struct task_group *a, *b;
	struct sched_task *p;
	struct cpumask one = { { 2 } };
	s64 sum = 0;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V6_4,
		     CALM "+NO_TTWU_QUEUE+TG_COUNTER=node+TG_PUBLISH=delay+TG_WEIGHT=skip");
	m.topo.cpu[1].node = 1;
	m.topo.nr_nodes = 2;
	a = tg_create(m.s, NULL, 1024);
	b = tg_create(m.s, a, 1024);
	p = member(b, 0);
	member(b, 0);
	member(b, 1);
	run(400);
	/* One task leaves CPU 0, and that is postponed. */
	p = sched_current(m.s, 0);
	sleep_on(0);
	sched_set_affinity(m.s, p, &one);
	machine_on(1);
	sched_wake(m.s, p, 0);
	machine_settle(&m);
	machine_tick(&m, 0);
	assert_true(b->cfs_rq[0]->prop_removed_sum < 0);
	assert_true(tg_load_peek(m.s, b) > 3900);
	assert_true(b->load[1].value != 0);
	switch_to("TG_COUNTER=single+TG_PUBLISH=rate+LATENCY=12000000+MIGRATION_COST=100000");
	for (u32 c = 0; c < 2; c++) {
		struct cfs_rq *q = b->cfs_rq[c];

		assert_int_equal(q->prop_removed_sum + q->prop_runnable_sum, 0);
		assert_int_equal(q->tg_load_avg_contrib, q->avg.load_avg);
		assert_int_equal(q->published_ns, 0);
		assert_int_equal(cpu_rq(m.s, c)->max_idle_balance_cost, 100000);
		assert_true(cpu_rq(m.s, c)->avg_idle <= 200000);
		sum += (s64)q->avg.load_avg;
	}
	assert_int_equal(b->load[0].value, sum);
	assert_int_equal(b->load[1].value, 0);
	assert_in_range(sum, 3000, 3100);
	assert_int_equal(m.s->latency, 24000000); /* of two CPUs */
	assert_int_equal(m.s->vector.value[FEAT_TG_COUNTER], TG_COUNTER_SINGLE);
	run(50);
	switch_to("TG_COUNTER=node");
	run(50);
	m.vector.profile = PROFILE_V5_2;
	assert_panics(sched_switch_vector(m.s, &m.vector));
	free(m.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_end_waits),
		cmocka_unit_test(test_move_dead),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_blocked_on_tick),
		cmocka_unit_test(test_no_groups),
		cmocka_unit_test(test_reweight),
		cmocka_unit_test(test_reweight_forms),
		cmocka_unit_test(test_switch),
	};

	return cmocka_run_group_tests_name("sched_tg_life", tests, NULL, NULL);
}
