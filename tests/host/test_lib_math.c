/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/math64.c kernel/lib/rng.c */
/* math64.c against the compiler's own 128-bit arithmetic; rng.c's distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "../../kernel/lib/math64.h"
#include "../../kernel/lib/rng.h"

static u64 rnd(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ (u64)random();
}

/* Any length, and runs of ones and zeros, where carries and estimates go wrong. */
static u64 rnd_bits(void)
{
	u64 v = rnd() >> random() % 64;

	switch (random() % 4) {
	case 0:
		return ~(u64)0 << random() % 64;
	case 1:
		return ~(u64)0 >> random() % 64;
	case 2:
		return (~(u64)0 << random() % 64) + v % 3 - 1;
	default:
		return v;
	}
}

static void test_division(void **state)
{
	(void)state;
	for (int i = 0; i < 1000000; i++) {
		u128 n = (u128)rnd_bits() << 64 | rnd_bits();
		u64 d = rnd_bits();

		if (random() % 4 == 0)
			n >>= random() % 128;
		if (!d)
			continue;
		if (random() % 4 == 0) /* quotients that are exact, or one short of it */
			n = (u128)(u64)(n >> 64) * d - (u128)(random() % 2);
		if (div_u128(n, d) != n / d)
			fail_msg("%llx:%016llx / %llx", (unsigned long long)(n >> 64),
				 (unsigned long long)n, (unsigned long long)d);
	}
	assert_true(div_u128(~(u128)0, 1) == ~(u128)0);
	assert_true(div_u128(~(u128)0, ~0ull) == ((u128)1 << 64) + 1);
}

static void test_muldiv(void **state)
{
	(void)state;
	for (int i = 0; i < 500000; i++) {
		u64 a = rnd_bits(), b = rnd_bits(), d = rnd_bits();

		if (d && ((u128)a * b / d) >> 64 == 0)
			assert_int_equal(muldiv_u64(a, b, d), (u64)((u128)a * b / d));
	}
}

static void check_root(u128 n)
{
	u64 r = isqrt_u128(n);

	assert_true((u128)r * r <= n);
	assert_true(r == UINT64_MAX || ((u128)r + 1) * ((u128)r + 1) > n);
}

static void test_square_root(void **state)
{
	(void)state;
	for (u128 n = 0; n < 70000; n++)
		check_root(n);
	for (int i = 0; i < 200000; i++) {
		u64 r = rnd_bits();

		check_root(((u128)rnd_bits() << 64 | rnd_bits()) >> random() % 128);
		check_root((u128)r * r);
		if (r)
			check_root((u128)r * r - 1);
	}
	check_root(~(u128)0);
}

static void test_logarithms(void **state)
{
	(void)state;
	for (u32 e = 0; e < 64; e++) {
		u64 p = 1ull << e;

		assert_int_equal(log2_floor(p), e);
		assert_int_equal(log2_ceil(p), e);
		assert_int_equal(log2_floor(p | (p - 1)), e);
		if (e > 0)
			assert_int_equal(log2_ceil(p + 1), e + 1);
	}
	assert_int_equal(log2_ceil(0), 0);
	assert_int_equal(log2_bucket(0, 8), 0);
	assert_int_equal(log2_bucket(1, 8), 1);
	assert_int_equal(log2_bucket(63, 8), 6);
	assert_int_equal(log2_bucket(64, 8), 7);
	assert_int_equal(log2_bucket(~(u64)0, 8), 7);
}

/* First values of the published generator from state 1234567. */
static void test_rng_reference(void **state)
{
	static const u64 want[] = { 6457827717110365317u, 3203168211198807973u,
		9817491932198370423u, 4593380528125082431u, 16408922859458223821u };
	struct rng r = { 1234567 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(rng_next(&r), want[i]);
}

static int u64_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void test_rng_streams(void **state)
{
	static u64 first[200 * 200];
	size_t n = 0;

	(void)state;
	for (u64 seed = 0; seed < 200; seed++) {
		for (u64 stream = 0; stream < 200; stream++) {
			struct rng r, again;

			rng_init(&r, seed, stream);
			rng_init(&again, seed, stream);
			first[n] = rng_next(&r);
			assert_int_equal(first[n++], rng_next(&again));
		}
	}
	qsort(first, n, sizeof(*first), u64_order);
	for (size_t i = 1; i < n; i++)
		assert_true(first[i - 1] != first[i]);
}

/*
 * Chi-squared over `cells` equally likely outcomes. Mean cells - 1, standard
 * deviation sqrt(2 (cells - 1)); six of those are out of reach for a fair one.
 */
static void assert_uniform(const u32 *seen, u32 cells, u32 draws)
{
	double expected = (double)draws / cells, chi = 0, over;

	for (u32 c = 0; c < cells; c++)
		chi += (seen[c] - expected) * (seen[c] - expected) / expected;
	over = chi - (cells - 1);
	if (over > 0 && over * over > 36.0 * 2 * (cells - 1))
		fail_msg("chi squared %f over %u cells", chi, cells);
}

static void test_rng_below(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 1, 2);
	for (u32 n = 1; n <= 100; n++) {
		u32 seen[100] = { 0 };

		for (int i = 0; i < 5000; i++) {
			u64 v = rng_below(&r, n);

			assert_true(v < n);
			seen[v]++;
		}
		if (n > 1)
			assert_uniform(seen, n, 5000);
	}
}

/* Three quarters of 2^64: unless a quarter of all draws is repeated, every third
 * value comes twice as often; a modulo would double the lowest third instead. */
static void test_rng_below_unbiased(void **state)
{
	u32 residue[3] = { 0 }, third[3] = { 0 };
	u64 n = 3ull << 62;
	struct rng r;

	(void)state;
	rng_init(&r, 3, 4);
	for (int i = 0; i < 30000; i++) {
		u64 v = rng_below(&r, n);

		assert_true(v < n);
		residue[v % 3]++;
		third[v / (n / 3)]++;
	}
	assert_uniform(residue, 3, 30000);
	assert_uniform(third, 3, 30000);
}

static void test_rng_jitter(void **state)
{
	u32 seen[201] = { 0 }, up = 0;
	struct rng r, before;

	(void)state;
	rng_init(&r, 5, 6);
	before = r;
	assert_int_equal(rng_jitter(&r, 12345, 0), 12345);
	assert_int_equal(r.state, before.state);
	assert_int_equal(rng_jitter(&r, 0, 100), 0);
	for (int i = 0; i < 100000; i++) {
		u64 v = rng_jitter(&r, 1000, 10);

		assert_in_range(v, 900, 1100);
		seen[v - 900]++;
	}
	/* The ends collect half a unit only. */
	assert_in_range(seen[0] + seen[200], 330, 670);
	assert_uniform(seen + 1, 199, 100000 - seen[0] - seen[200]);
	/* Below a unit of spread: 7 +- 0.7 rounds to 8 where it exceeds 7.5, in
	 * 2 of 14 tenths of the range. */
	for (int i = 0; i < 14000; i++) {
		u64 v = rng_jitter(&r, 7, 10);

		assert_in_range(v, 6, 8);
		up += v == 8;
	}
	assert_in_range(up, 1800, 2200);
	/* The upper end itself: 1.5 rounds to 2, one draw in 101. */
	up = 0;
	for (int i = 0; i < 10100; i++)
		up += rng_jitter(&r, 1, 50) == 2;
	assert_in_range(up, 50, 150);
	for (int i = 0; i < 10000; i++)
		assert_true(rng_jitter(&r, (1ull << 56) - 1, 100) <= (1ull << 57) - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_division),
		cmocka_unit_test(test_muldiv),
		cmocka_unit_test(test_square_root),
		cmocka_unit_test(test_logarithms),
		cmocka_unit_test(test_rng_reference),
		cmocka_unit_test(test_rng_streams),
		cmocka_unit_test(test_rng_below),
		cmocka_unit_test(test_rng_below_unbiased),
		cmocka_unit_test(test_rng_jitter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
