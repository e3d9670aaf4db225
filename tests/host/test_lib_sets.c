/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/arena.c tests/host/panic_host.c */
/* Arena, CPU masks and lists: the containers that everything else is made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/lib/arena.h"
#include "../../kernel/lib/cpumask.h"
#include "../../kernel/lib/list.h"

extern jmp_buf *panic_jump;

static void test_arena(void **state)
{
	static char memory[4096 + 1];
	struct arena a;

	(void)state;
	/* Twice, the second time over dirty memory, and from an odd address. */
	memset(memory, 0xa5, sizeof(memory));
	arena_init(&a, memory + 1, 4096);
	for (int round = 0; round < 2; round++) {
		char *end = memory + 1, *p;
		size_t size = 1;

		while ((p = arena_try(&a, size))) {
			assert_int_equal((uintptr_t)p % CACHE_LINE, 0);
			assert_true(p >= end && p < end + CACHE_LINE);
			end = p + size;
			assert_true(end <= memory + 1 + 4096);
			for (size_t i = 0; i < size; i++)
				assert_int_equal(p[i], 0);
			memset(p, 0xa5, size);
			size = size * 3 / 2 + 1;
		}
		assert_int_equal(a.used, end - (memory + 1));
		assert_int_equal(a.peak, a.used);
		arena_reset(&a);
		assert_int_equal(a.used, 0);
		assert_true(a.peak > 0);
	}
}

static void test_arena_limits(void **state)
{
	static char memory[256] __attribute__((aligned(CACHE_LINE)));
	jmp_buf jump;
	struct arena a;

	(void)state;
	arena_init(&a, memory, sizeof(memory));
	assert_null(arena_try(&a, 257));
	assert_null(arena_try(&a, SIZE_MAX));
	assert_int_equal(a.used, 0);
	assert_ptr_equal(arena_alloc(&a, 256), memory);
	assert_null(arena_try(&a, 1));
	if (setjmp(jump) == 0) {
		panic_jump = &jump;
		arena_alloc(&a, 1);
		fail_msg("a full arena must panic");
	}
	assert_null(panic_jump);
	arena_init(&a, memory + 1, 255); /* 63 bytes go to alignment */
	assert_null(arena_try(&a, 193));
	assert_ptr_equal(arena_try(&a, 192), memory + CACHE_LINE);
	arena_init(&a, memory + 1, 62); /* no aligned byte inside */
	assert_null(arena_try(&a, 1));
}

#define CPUS 200

static void random_mask(struct cpumask *m, bool *in, u32 nr)
{
	u32 density = 1 + (u32)random() % 8;

	memset(m, 0, sizeof(*m));
	for (u32 c = 0; c < CPUS; c++) {
		in[c] = (u32)random() % density == 0;
		/* Members beyond nr must not be seen. */
		if (in[c])
			cpumask_set(m, c);
		in[c] = in[c] && c < nr;
	}
}

static void test_cpumask(void **state)
{
	static struct cpumask m, all;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		u32 nr = 1 + (u32)random() % CPUS, weight = 0;
		bool in[CPUS];

		random_mask(&m, in, nr);
		for (u32 c = 0; c < nr; c++)
			assert_int_equal(cpumask_test(&m, c), in[c]);
		for (u32 from = 0; from <= nr; from++) {
			u32 want = from;

			while (want < nr && !in[want])
				want++;
			assert_int_equal(cpumask_next(&m, from, nr), want);
		}
		for_each_cpu(c, &m, nr) {
			assert_true(in[c]);
			weight++;
		}
		for (u32 c = 0; c < nr; c++)
			weight -= in[c];
		assert_int_equal(weight, 0);
		memset(&all, 0, sizeof(all));
		cpumask_fill(&all, nr);
		assert_int_equal(cpumask_weight(&all, nr), nr);
		assert_int_equal(cpumask_next(&all, nr - 1, nr), nr - 1);
		cpumask_clear(&all, nr - 1);
		assert_int_equal(cpumask_weight(&all, nr), nr - 1);
		assert_int_equal(cpumask_test(&all, nr - 1), false);
	}
}

/* order(mask, start): members from start upwards, then those below it. */
static void test_cpumask_wrap(void **state)
{
	static struct cpumask m;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		u32 nr = 1 + (u32)random() % CPUS, start = (u32)random() % nr;
		u32 want[CPUS], n = 0, at = 0;
		bool in[CPUS];

		random_mask(&m, in, nr);
		for (u32 k = 0; k < nr; k++)
			if (in[(start + k) % nr])
				want[n++] = (start + k) % nr;
		for_each_cpu_wrap(c, &m, start, nr) {
			assert_true(at < n);
			assert_int_equal(c, want[at]);
			at++;
		}
		assert_int_equal(at, n);
	}
}

static void test_cpumask_algebra(void **state)
{
	static struct cpumask a, b, both, either;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		u32 nr = CPUS / 64 * 64 + 64; /* whole words */
		bool in_a[CPUS], in_b[CPUS], subset = true;

		random_mask(&a, in_a, nr);
		random_mask(&b, in_b, nr);
		if (random() % 2) /* make it so that a is in b at times */
			cpumask_or(&b, &a, nr);
		both = either = a;
		cpumask_and(&both, &b, nr);
		cpumask_or(&either, &b, nr);
		for (u32 c = 0; c < CPUS; c++) {
			bool x = cpumask_test(&a, c), y = cpumask_test(&b, c);

			assert_int_equal(cpumask_test(&both, c), x && y);
			assert_int_equal(cpumask_test(&either, c), x || y);
			subset = subset && (!x || y);
		}
		assert_int_equal(cpumask_subset(&a, &b, nr), subset);
		assert_int_equal(cpumask_intersects(&a, &b, nr), cpumask_weight(&both, nr) > 0);
		assert_int_equal(cpumask_equal(&both, &a, nr), subset);
		for (u32 c = 0; c < CPUS; c++)
			if (in_a[c])
				cpumask_clear(&b, c);
		assert_false(cpumask_intersects(&a, &b, nr));
	}
}

struct entry {
	struct list link;
	int value;
};

static void test_list(void **state)
{
	struct entry e[6] = { 0 };
	struct list head;
	int at = 0;

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	for (int i = 0; i < 3; i++) {
		e[i].value = i;
		list_add_tail(&head, &e[i].link);
		e[i + 3].value = -1 - i;
		list_add_head(&head, &e[i + 3].link);
	}
	list_for_each(pos, &head) {
		assert_int_equal(container_of(pos, struct entry, link)->value, at - 3);
		assert_ptr_equal(pos->next->prev, pos);
		at++;
	}
	assert_int_equal(at, 6);
	assert_int_equal(list_first(&head, struct entry, link)->value, -3);
	list_for_each_safe(pos, tmp, &head) {
		if (container_of(pos, struct entry, link)->value % 2) {
			list_del(pos);
			assert_true(list_empty(pos));
		}
	}
	at = -2;
	list_for_each(pos, &head) {
		assert_int_equal(container_of(pos, struct entry, link)->value, at);
		at += 2;
	}
	assert_int_equal(at, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_arena_limits),
		cmocka_unit_test(test_cpumask),
		cmocka_unit_test(test_cpumask_wrap),
		cmocka_unit_test(test_cpumask_algebra),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
