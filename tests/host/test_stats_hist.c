/* SPDX-License-Identifier: MIT */
/* sources: kernel/stats/hist.c kernel/stats/digest.c
 * kernel/lib/json.c kernel/lib/fmt.c kernel/lib/math64.c */
/* Histograms against the sorted values themselves; the digest's published vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/stats/digest.h"
#include "../../kernel/stats/hist.h"

#define MAX_BITS   8
#define MAX_VALUES 3000

static u64 counts[2][HIST_BUCKETS(MAX_BITS)];

static u64 rnd(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ (u64)random();
}

/* Buckets are adjacent, cover all of u64, and are as narrow as promised. */
static void test_buckets(void **state)
{
	(void)state;
	for (u32 bits = 0; bits <= MAX_BITS; bits++) {
		u64 next = 0;

		for (u32 b = 0; b < HIST_BUCKETS(bits); b++) {
			u64 lower = hist_lower(bits, b), middle = hist_middle(bits, b);
			bool top = b + 1 == HIST_BUCKETS(bits);
			u64 last = top ? UINT64_MAX : hist_lower(bits, b + 1) - 1;
			u64 width = last - lower + 1;

			assert_int_equal(lower, next);
			assert_int_equal(hist_bucket(bits, lower), b);
			assert_int_equal(hist_bucket(bits, last), b);
			assert_int_equal(middle, lower + width / 2);
			assert_true(width == 1 || width <= lower >> bits);
			assert_true(width == 1 || lower >= 2ull << bits);
			next = last + 1;
		}
		assert_int_equal(next, 0);
	}
}

/* schbench's: exact below 512; above, width 2^(floor(log2 v) - 8); and published
 * percentiles that are midpoints of width 64 (spec/workloads.md section 3). */
static void test_schbench_buckets(void **state)
{
	static const u64 published[] = { 20320, 23392, 31392 };

	(void)state;
	for (u64 v = 0; v < 512; v++)
		assert_int_equal(hist_middle(8, hist_bucket(8, v)), v);
	for (size_t i = 0; i < ARRAY_SIZE(published); i++) {
		u32 b = hist_bucket(8, published[i]);

		assert_int_equal(hist_middle(8, b), published[i]);
		assert_int_equal(hist_lower(8, b + 1) - hist_lower(8, b), 64);
	}
}

static int u64_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Sum of the exported pairs' counts; each pair must be a bucket's, in order. */
static u64 read_back(const char *text, u32 bits)
{
	u64 total = 0, lower, n, last = 0;
	int used;

	assert_memory_equal(text, "\"h\":[", 5);
	for (text += 5; *text != ']'; text += used) {
		u32 b;

		assert_int_equal(sscanf(text, "[%" SCNu64 ",%" SCNu64 "]%n", &lower, &n, &used), 2);
		b = hist_bucket(bits, lower);
		assert_int_equal(hist_lower(bits, b), lower);
		assert_int_equal(counts[0][b], n);
		assert_true(n > 0 && (total == 0 || lower > last));
		last = lower;
		total += n;
		if (text[used] == ',')
			used++;
	}
	return total;
}

static void test_percentiles(void **state)
{
	static const u32 pcts[] = { 0, 1, 50000, 75000, 90000, 95000, 99000, 99500, 99900, 100000 };
	static u64 values[MAX_VALUES];
	static char text[200000];

	(void)state;
	for (int round = 0; round < 400; round++) {
		u32 bits = (u32)random() % (MAX_BITS + 1), n = 1 + (u32)random() % MAX_VALUES;
		u32 cut = (u32)random() % 64;
		u128 sum = 0;
		struct hist h;
		struct json j;

		if (random() % 2)
			n = 1 + n % 12;
		memset(counts[0], 0xa5, sizeof(counts[0]));
		hist_init(&h, counts[0], bits);
		for (u32 i = 0; i < n; i++) {
			values[i] = rnd() >> (random() % 2 ? cut : (u32)random() % 64);
			hist_record(&h, values[i]);
			sum += values[i];
		}
		qsort(values, n, sizeof(*values), u64_order);
		assert_int_equal(h.count, n);
		assert_int_equal(h.min, values[0]);
		assert_int_equal(h.max, values[n - 1]);
		assert_true(h.sum == sum);
		assert_int_equal(hist_mean(&h), (u64)(sum / n));
		for (u32 i = 0; i < ARRAY_SIZE(pcts) + 5; i++) {
			u32 pct = i < ARRAY_SIZE(pcts) ? pcts[i] : (u32)random() % 100001;
			u32 rank = 1;
			u64 got = hist_percentile(&h, pct), exact;

			/* The first rank whose share of all reaches pct. */
			while ((u64)rank * 100000 < (u64)n * pct)
				rank++;
			exact = values[rank - 1];
			assert_int_equal(got, hist_middle(bits, hist_bucket(bits, exact)));
			if (got < exact)
				assert_true(exact - got <= exact >> (bits + 1));
			else
				assert_true(got - exact <= exact >> (bits + 1));
		}
		json_init(&j, text, sizeof(text));
		hist_json(&h, &j, "h");
		assert_false(j.overflow);
		assert_int_equal(read_back(text, bits), n);
	}
}

static void test_merge(void **state)
{
	struct hist a, b, other;

	(void)state;
	hist_init(&a, counts[0], 5);
	hist_init(&b, counts[1], 5);
	assert_int_equal(hist_percentile(&a, 50000), 0);
	assert_int_equal(hist_mean(&a), 0);
	assert_true(hist_merge(&a, &b));
	assert_int_equal(a.min, UINT64_MAX); /* still empty */
	for (u64 v = 1; v <= 1000; v++)
		hist_record(v % 3 ? &a : &b, v * v);
	assert_true(hist_merge(&a, &b));

	u64 whole[HIST_BUCKETS(5)];
	struct hist all;

	hist_init(&all, whole, 5);
	for (u64 v = 1; v <= 1000; v++)
		hist_record(&all, v * v);
	assert_memory_equal(a.counts, whole, sizeof(whole));
	assert_int_equal(a.count, 1000);
	assert_int_equal(a.min, 1);
	assert_int_equal(a.max, 1000000);
	assert_true(a.sum == all.sum && a.sum == 333833500);
	hist_init(&other, counts[1], 6);
	hist_record(&other, 1);
	assert_false(hist_merge(&a, &other));
	assert_int_equal(a.count, 1000);
}

/* Test vectors of the FNV authors (isthe.com, test_fnv.c), 64-bit FNV-1a. */
static void test_digest(void **state)
{
	static const struct {
		const char *text;
		u64 hash;
	} known[] = {
		{ "", 0xcbf29ce484222325ull },
		{ "a", 0xaf63dc4c8601ec8cull },
		{ "b", 0xaf63df4c8601f1a5ull },
		{ "foobar", 0x85944171f73967e8ull },
	};
	char text[200];
	struct digest d, parts;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		digest_init(&d);
		digest_update(&d, known[i].text, strlen(known[i].text));
		assert_int_equal(digest_value(&d), known[i].hash);
	}
	for (int i = 0; i < 1000; i++) {
		size_t at = 0;

		for (size_t k = 0; k < sizeof(text); k++)
			text[k] = (char)random();
		digest_init(&d);
		digest_update(&d, text, sizeof(text));
		digest_init(&parts);
		while (at < sizeof(text)) {
			size_t n = (size_t)random() % (sizeof(text) - at + 1);

			digest_update(&parts, text + at, n);
			at += n;
		}
		assert_int_equal(digest_value(&parts), digest_value(&d));
		text[(size_t)random() % sizeof(text)] ^= 1 << random() % 8;
		digest_init(&parts);
		digest_update(&parts, text, sizeof(text));
		assert_true(digest_value(&parts) != digest_value(&d));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),
		cmocka_unit_test(test_schbench_buckets),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
