/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c
 * tests/host/property_case.c tests/host/property_model.c */
/*
 * Random operation sequences on random machines against a fluid reference: the
 * properties are stated in property_model.c. PROPERTY_SEED=n runs that seed alone,
 * as the message of a failure says; PROPERTY_SEEDS=n runs that many.
 *
 * Then schedulers and environments that are broken on purpose: each must be found
 * by the property that it breaks, and shrunk to a few operations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "property.h"

#define SEEDS 1500
#define FIND_SEEDS 200 /* within which a fault must show */

static struct prop_case c;
static char text[16384];

static void assert_holds(u64 seed)
{
	static const struct prop_world real;
	struct prop_failure f;

	prop_generate(&c, seed);
	if (prop_run(&c, &real, &f))
		return;
	prop_shrink(&c, &real, &f);
	fail_msg("%s", prop_format(&c, &f, text, sizeof(text)));
}

/* A number above 0 from the environment; otherwise is used when it is not set. A
 * mistyped one must not look like a test that passed. */
static u64 env_number(const char *name, u64 otherwise)
{
	const char *text = getenv(name);
	char *end;
	u64 n;

	if (!text)
		return otherwise;
	n = strtoull(text, &end, 10);
	if (!n || *end)
		fail_msg("%s=%s: a number above 0", name, text);
	return n;
}

static void test_properties(void **state)
{
	u64 seed = env_number("PROPERTY_SEED", 0), last = env_number("PROPERTY_SEEDS", SEEDS);

	(void)state;
	if (seed) {
		print_message("replaying seed %llu alone\n", (unsigned long long)seed);
		assert_holds(seed);
		return;
	}
	for (u64 s = 1; s <= last; s++)
		assert_holds(s);
}

/* ---- what must be found ---------------------------------------------------------- */

/* Some seed shows it as that property, twice alike, and max_ops operations do. */
static void assert_found(const struct prop_world *w, const char *property, u32 max_ops)
{
	struct prop_failure f = { .property = NULL }, again;
	u64 seed = 0;

	while (!f.property && seed < FIND_SEEDS) {
		prop_generate(&c, ++seed);
		prop_run(&c, w, &f);
	}
	if (!f.property)
		fail_msg("%u seeds do not show that %s is broken", FIND_SEEDS, property);
	prop_generate(&c, seed);
	assert_false(prop_run(&c, w, &again));
	assert_string_equal(f.text, again.text);
	prop_shrink(&c, w, &f);
	prop_format(&c, &f, text, sizeof(text));
	assert_string_equal(f.property, property);
	assert_non_null(strstr(text, "PROPERTY_SEED="));
	if (c.nr_ops > max_ops)
		fail_msg("not shrunk to %u operations:\n%s", max_ops, text);
	assert_false(prop_run(&c, w, &again));
}

static void test_finds_lost_ticks(void **state)
{
	(void)state;
	assert_found(&(struct prop_world){ .no_ticks = true, .only = "slice" }, "slice", 4);
}

static void test_finds_lost_pull_calls(void **state)
{
	(void)state;
	assert_found(&(struct prop_world){ .lost_pull_calls = true }, "idle", 8);
}

static bool never_over(struct cfs_rq *q, struct sched_entity *curr)
{
	(void)q, (void)curr;
	return false;
}

static void test_finds_no_slices(void **state)
{
	struct sched_policy policy = cfs_policy;

	(void)state;
	policy.tick = never_over;
	assert_found(&(struct prop_world){ .policy = &policy }, "slice", 4);
}

static struct sched_entity *pick_rightmost(struct cfs_rq *q, struct sched_entity *curr)
{
	struct rb_node *last = rb_first(&q->tree);

	for (struct rb_node *n = last; n; n = rb_next(n))
		last = n;
	return last ? entity_of_node(last) : curr;
}

static void test_finds_pick_from_the_wrong_end(void **state)
{
	struct sched_policy policy = cfs_policy;

	(void)state;
	policy.pick = pick_rightmost;
	assert_found(&(struct prop_world){ .policy = &policy }, "pick", 6);
}

/* Task 2 runs only when there is no other. */
static struct sched_entity *pick_not_task_2(struct cfs_rq *q, struct sched_entity *curr)
{
	struct sched_entity *se = cfs_policy.pick(q, curr);
	struct rb_node *n = rb_first(&q->tree);

	if (task_of(se)->id != 2)
		return se;
	if (curr && curr != se)
		return curr;
	while (n && entity_of_node(n) == se)
		n = rb_next(n);
	return n ? entity_of_node(n) : se;
}

static void test_finds_starvation(void **state)
{
	struct sched_policy policy = cfs_policy;

	(void)state;
	policy.pick = pick_not_task_2;
	assert_found(&(struct prop_world){ .policy = &policy, .only = "starve" }, "starve", 8);
}

static void charge_without_weight(struct cfs_rq *q, struct sched_entity *curr, u64 delta_ns)
{
	curr->vruntime += delta_ns;
	cfs_policy.floor(q);
}

static void test_finds_lag(void **state)
{
	struct sched_policy policy = cfs_policy;

	(void)state;
	policy.charge = charge_without_weight;
	assert_found(&(struct prop_world){ .policy = &policy, .only = "lag" }, "lag", 8);
}

static void place_far_left(struct cfs_rq *q, struct sched_entity *se, enum place_why why)
{
	cfs_policy.place(q, se, why);
	if (why == PLACE_WAKEUP)
		se->vruntime = q->min_vruntime - 2 * q->rq->sched->latency;
}

static void test_finds_too_much_credit(void **state)
{
	struct sched_policy policy = cfs_policy;

	(void)state;
	policy.place = place_far_left;
	assert_found(&(struct prop_world){ .policy = &policy }, "join", 4);
}

static void floor_back(struct cfs_rq *q)
{
	cfs_policy.floor(q);
	q->min_vruntime -= 2000000;
}

static void test_finds_what_check_c_finds(void **state)
{
	struct sched_policy policy = cfs_policy;

	(void)state;
	policy.floor = floor_back;
	assert_found(&(struct prop_world){ .policy = &policy, .only = "panic" }, "panic", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_finds_lost_ticks),
		cmocka_unit_test(test_finds_lost_pull_calls),
		cmocka_unit_test(test_finds_no_slices),
		cmocka_unit_test(test_finds_pick_from_the_wrong_end),
		cmocka_unit_test(test_finds_starvation),
		cmocka_unit_test(test_finds_lag),
		cmocka_unit_test(test_finds_too_much_credit),
		cmocka_unit_test(test_finds_what_check_c_finds),
	};

	return cmocka_run_group_tests_name("property", tests, NULL, NULL);
}
