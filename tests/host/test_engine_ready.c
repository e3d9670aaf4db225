/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/rng.c kernel/lib/math64.c */
/* The ready queue against a scan of all keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "../../kernel/engine/ready.h"
#include "../../kernel/lib/rng.h"

#define NEVER (~0ull)
#define CPUS_MAX 4096
#define LEAVES_MAX 4096

static u64 key[2 * LEAVES_MAX], before[2 * LEAVES_MAX], plain[CPUS_MAX];
static u32 leaves, nr;

static void queue_init(u32 cpus)
{
	nr = cpus;
	for (leaves = 1; leaves < cpus; leaves *= 2)
		;
	memset(key, 0xff, sizeof(key));
	memset(plain, 0xff, sizeof(plain));
}

static u32 scan_first(void)
{
	u32 first = 0;

	for (u32 c = 1; c < nr; c++)
		if (plain[c] < plain[first])
			first = c;
	return first;
}

static void set(u32 cpu, u64 value)
{
	plain[cpu] = value;
	ready_set(key, leaves, cpu, value);
}

static void test_random_keys(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 5, 16, 88, 224, 1023, 1024, 1025, 4096 };
	struct rng r;

	(void)state;
	rng_init(&r, 1, 1);
	for (u32 s = 0; s < ARRAY_SIZE(sizes); s++) {
		queue_init(sizes[s]);
		for (u32 i = 0; i < 4000; i++) {
			/* Few different keys make ties, many make a long order. */
			u64 range = i % 2 ? 4 : 1ull << 50;
			u64 value = rng_below(&r, 5) ? rng_below(&r, range) : NEVER;

			set((u32)rng_below(&r, nr), value);
			assert_int_equal(ready_min(key), plain[scan_first()]);
			if (ready_min(key) != NEVER)
				assert_int_equal(ready_first(key, leaves), scan_first());
		}
	}
}

static void test_ties_go_to_the_lower_cpu(void **state)
{
	(void)state;
	for (u32 cpus = 1; cpus <= 33; cpus++)
		for (u32 low = 0; low < cpus; low++) {
			queue_init(cpus);
			for (u32 c = cpus; c-- > low;)
				set(c, 7);
			assert_int_equal(ready_first(key, leaves), low);
			set(cpus - 1, 6);
			assert_int_equal(ready_first(key, leaves), cpus - 1);
		}
}

/* As the engine uses it: the first leaves, and comes back later. */
static void test_rounds_in_order(void **state)
{
	struct rng r;
	u64 last = 0;

	(void)state;
	rng_init(&r, 2, 2);
	queue_init(1024);
	for (u32 c = 0; c < nr; c++)
		set(c, rng_below(&r, 1000));
	for (u32 i = 0; i < 20000; i++) {
		u32 c = ready_first(key, leaves);

		assert_int_equal(c, scan_first());
		assert_true(plain[c] >= last);
		last = plain[c];
		set(c, NEVER);
		set(c, last + 1 + rng_below(&r, 1000));
	}
}

static u32 nodes_changed(u32 cpu, u64 value)
{
	u32 changed = 0;

	memcpy(before, key, sizeof(key));
	set(cpu, value);
	for (u32 i = 1; i < 2 * leaves; i++) {
		if (key[i] == before[i])
			continue;
		changed++;
		/* Only the CPU's own path to the root. */
		u32 node = leaves + cpu;

		while (node > i)
			node /= 2;
		assert_int_equal(node, i);
	}
	return changed;
}

static void test_cost_is_the_number_of_levels(void **state)
{
	u32 levels = 1;

	(void)state;
	for (u32 cpus = 1; cpus <= 4096; cpus *= 2, levels++) {
		queue_init(cpus);
		for (u32 c = 0; c < cpus; c++)
			set(c, 1000 + c);
		assert_int_equal(nodes_changed(cpus - 1, 1), levels);
		/* A key that is least nowhere changes only its leaf. */
		if (cpus > 1)
			assert_int_equal(nodes_changed(cpus - 2, 5000), 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_keys),
		cmocka_unit_test(test_ties_go_to_the_lower_cpu),
		cmocka_unit_test(test_rounds_in_order),
		cmocka_unit_test(test_cost_is_the_number_of_levels),
	};

	return cmocka_run_group_tests_name("engine_ready", tests, NULL, NULL);
}
