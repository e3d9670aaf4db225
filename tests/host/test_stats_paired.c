/* SPDX-License-Identifier: MIT */
/* sources: kernel/stats/paired.c kernel/lib/math64.c */
/*
 * paired.c against long double arithmetic, against examples from the literature,
 * and its table of quantiles against the integral that defines them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/stats/paired.h"

typedef __int128 s128;

static u64 rnd(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ (u64)random();
}

/* Integral of cos^(df - 1) from 0 to `to`: with x = sqrt(df) tan(a) it is the
 * density of Student's t, up to a factor. Simpson's rule. */
static long double t_area(u32 df, long double to)
{
	const int steps = 200;
	long double sum = 0;

	for (int i = 0; i <= steps; i++) {
		long double y = powl(cosl(to * i / steps), df - 1);

		sum += i == 0 || i == steps ? y : i % 2 ? 4 * y : 2 * y;
	}
	return sum * to / steps / 3;
}

static long double t_quantile(u32 df)
{
	long double lo = 0, hi = acosl(0), whole = t_area(df, hi);

	for (int i = 0; i < 40; i++) {
		long double mid = (lo + hi) / 2;

		if (t_area(df, mid) < 0.95L * whole)
			lo = mid;
		else
			hi = mid;
	}
	return sqrtl(df) * tanl(lo);
}

static void test_quantiles(void **state)
{
	static const u32 exact[] = { 40, 60, 120 };

	(void)state;
	for (u32 df = 1; df <= 30; df++)
		assert_int_equal(student_t95_milli(df), lroundl(1000 * t_quantile(df)));
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		assert_int_equal(student_t95_milli(exact[i]), lroundl(1000 * t_quantile(exact[i])));
	/* Between rows: too wide, never too narrow, by less than 1.3 %. */
	for (u32 df = 31; df < PAIRED_MAX_RUNS; df += df < 130 ? 1 : 97) {
		long double t = 1000 * t_quantile(df);

		assert_true(student_t95_milli(df) >= t - 0.5L);
		assert_true(student_t95_milli(df) <= t * 1.013L);
	}
}

/* a is b rounded, b being known to a relative error of 2^-40. */
static bool is_rounded(s64 a, long double b)
{
	return fabsl(a - b) <= 0.5L + fabsl(b) * 1e-12L;
}

/* sqrt(sum((x - mean)^2) / (n - 1)) of ref - var, or of ref alone. */
static long double stdev(const s64 *ref, const s64 *var, u32 n)
{
	s128 sum = 0;
	long double squares = 0;

	for (u32 i = 0; i < n; i++)
		sum += (s128)ref[i] - (var ? var[i] : 0);
	for (u32 i = 0; i < n; i++) {
		/* Exact until here, or differences of large numbers would vanish. */
		long double dev = ((s128)ref[i] - (var ? var[i] : 0)) * n - sum;

		squares += dev * dev;
	}
	return sqrtl(squares / (n - 1)) / n;
}

static void check_sample(const s64 *x, u32 n, u32 digits)
{
	struct sample s;
	s128 sum = 0, scale = 1, rest;
	long double pct;

	sample_stats(&s, x, n, digits);
	for (u32 i = 0; i < n; i++)
		sum += x[i];
	assert_int_equal(s.runs, n);
	assert_in_range(s.mean_digits, digits, digits + 3);
	for (u32 i = digits; i < s.mean_digits; i++)
		scale *= 10;
	/* |mean * n - sum| <= n/2 is what rounding means; a half goes away from 0. */
	rest = (s128)s.mean * n - sum * scale;
	if (sum < 0)
		rest = -rest;
	assert_true(2 * rest <= n && 2 * rest > -(s128)n);
	/* Fewer digits only where 3 do not fit. */
	if (s.mean_digits < digits + 3)
		assert_true(fabsl((long double)s.mean) * 10 > 9.2e18L);
	if (n == 1 || sum == 0) {
		assert_false(s.stdev_known);
		return;
	}
	pct = 1e6L * stdev(x, NULL, n) / fabsl((long double)sum / n);
	assert_int_equal(s.stdev_known, pct < PCT_LIMIT);
	if (s.stdev_known)
		assert_true(is_rounded(s.stdev_pct, pct));
}

static void check_pair(const s64 *ref, const s64 *var, u32 n, bool lower)
{
	struct paired p;
	s128 total = 0, gain = 0, twice;
	long double half, diff;

	paired_compare(&p, ref, var, n, lower);
	for (u32 i = 0; i < n; i++) {
		total += ref[i];
		gain += lower ? (s128)ref[i] - var[i] : (s128)var[i] - ref[i];
	}
	if (total < 0)
		total = -total;
	assert_int_equal(p.change_known, total != 0 &&
			 fabsl(1e6L * gain / (long double)total) < PCT_LIMIT - 0.5L);
	if (p.change_known) {
		/* change * total = gain within half a unit, exactly, halves outwards. */
		twice = 2 * ((s128)p.change_pct * total - gain * 1000000);
		if (gain < 0)
			twice = -twice;
		assert_true(twice <= total && twice > -total);
	}
	if (n == 1) {
		assert_int_equal(p.verdict, VERDICT_ONE_RUN);
		assert_false(p.ci_known);
		return;
	}
	diff = fabsl((long double)gain) / n;
	half = student_t95_milli(n - 1) / 1000.0L * stdev(ref, var, n) / sqrtl(n);
	if (p.ci_known) {
		long double half_pct = 1e6L * half / ((long double)total / n);

		assert_true(p.change_known);
		assert_true(is_rounded(p.change_pct - p.ci95_low_pct, half_pct));
		assert_int_equal(p.ci95_high_pct - p.change_pct, p.change_pct - p.ci95_low_pct);
		/* The verdict is the printed interval's. */
		assert_int_equal(p.verdict == VERDICT_NO_DIFFERENCE,
				 p.ci95_low_pct <= 0 && p.ci95_high_pct >= 0);
		assert_int_equal(p.verdict == VERDICT_BETTER, p.ci95_low_pct > 0);
		assert_int_equal(p.verdict == VERDICT_WORSE, p.ci95_high_pct < 0);
		if (fabsl(diff - half) * n < (long double)total * 2e-6L)
			return; /* decided by rounding */
	}
	if (fabsl(diff - half) > 1e-9L * half)
		assert_int_equal(p.verdict, diff < half ? VERDICT_NO_DIFFERENCE :
				 gain > 0 ? VERDICT_BETTER : VERDICT_WORSE);
}

static s64 ref[PAIRED_MAX_RUNS], var[PAIRED_MAX_RUNS];

/* What runs look like: a level, the seeds' spread, an effect, and noise. */
static void test_random_runs(void **state)
{
	(void)state;
	for (int i = 0; i < 30000; i++) {
		u32 n = 1 + (u32)random() % (i % 50 ? 12 : PAIRED_MAX_RUNS);
		u64 level = rnd() >> (3 + random() % 59);
		u64 spread = level / (1 + (u64)random() % 1000) + 1;
		u64 noise = spread / (1 + (u64)random() % 1000) + 1;
		s64 effect = (s64)(level >> random() % 40) / (random() % 2 ? 2 : -2);

		for (u32 k = 0; k < n; k++) {
			ref[k] = (s64)(level + rnd() % spread);
			var[k] = ref[k] + effect + (s64)(rnd() % noise);
		}
		check_sample(ref, n, (u32)random() % 10);
		check_sample(var, n, (u32)random() % 10);
		check_pair(ref, var, n, random() % 2);
	}
}

/* Small numbers of either sign: halves, zero means and ties are frequent. */
static void test_small_numbers(void **state)
{
	(void)state;
	for (int i = 0; i < 100000; i++) {
		u32 n = 1 + (u32)random() % 6;
		long range = 1 + random() % 40;

		for (u32 k = 0; k < n; k++) {
			ref[k] = random() % (2 * range + 1) - range;
			var[k] = random() % (2 * range + 1) - range;
		}
		check_sample(ref, n, 0);
		check_pair(ref, var, n, random() % 2);
	}
}

/* The limits stated: 1000 runs, values up to 2^62 of either sign, in any mixture. */
static void test_limits(void **state)
{
	const s64 most = (1ll << 62) - 1;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		u32 n = i % 8 ? 1 + (u32)random() % 20 : PAIRED_MAX_RUNS - (u32)random() % 2;
		u32 mix = (u32)random() % 4, small = (u32)random() % 62;

		for (u32 k = 0; k < n; k++) {
			s64 x = (s64)(rnd() >> 2), y = (s64)(rnd() >> 2);

			ref[k] = mix & 1 ? most - (x >> small) : random() % 2 ? most : -most;
			var[k] = mix & 2 ? -most + (y >> small) : random() % 2 ? most : -most;
			if (mix == 0 && random() % 4)
				ref[k] = 0;
		}
		check_sample(ref, n, 0);
		check_sample(var, n, 0);
		check_pair(ref, var, n, true);
		check_pair(var, ref, n, false);
	}
	/* The smallest spread on the largest values. */
	for (u32 k = 0; k < PAIRED_MAX_RUNS; k++) {
		ref[k] = most - (k == 7);
		var[k] = -most;
	}
	check_sample(ref, PAIRED_MAX_RUNS, 0);
	check_pair(ref, var, PAIRED_MAX_RUNS, true);
}

/*
 * Student's own example ("The probable error of a mean", Biometrika 1908; R's
 * `sleep`): hours of sleep gained by ten patients under two drugs. R prints
 * t = -4.0621, df = 9, interval of the difference -2.4598858 .. -0.7001142, means
 * 0.75 and 2.33, standard deviations 1.789010 and 2.002249.
 */
static void test_students_example(void **state)
{
	static const s64 drug1[] = { 7, -16, -2, -12, -1, 34, 37, 8, 0, 20 };
	static const s64 drug2[] = { 19, 8, 11, 1, -1, 44, 55, 16, 46, 34 };
	struct sample s;
	struct paired p;

	(void)state;
	sample_stats(&s, drug1, 10, 1);
	assert_int_equal(s.mean, 7500);
	assert_int_equal(s.mean_digits, 4);
	assert_true(labs(s.stdev_pct - lround(1e6 * 1.789010 / 0.75)) <= 1);
	sample_stats(&s, drug2, 10, 1);
	assert_int_equal(s.mean, 23300);
	assert_true(labs(s.stdev_pct - lround(1e6 * 2.002249 / 2.33)) <= 1);
	paired_compare(&p, drug1, drug2, 10, false);
	assert_int_equal(p.change_pct, lround(1e6 * 1.58 / 0.75));
	/* Three decimals of t leave 0.01 % of the half width. */
	assert_true(labs(p.ci95_low_pct - lround(1e6 * 0.7001142 / 0.75)) < 120);
	assert_true(labs(p.ci95_high_pct - lround(1e6 * 2.4598858 / 0.75)) < 120);
	assert_int_equal(p.verdict, VERDICT_BETTER);
	paired_compare(&p, drug1, drug2, 10, true);
	assert_int_equal(p.change_pct, -lround(1e6 * 1.58 / 0.75));
	assert_int_equal(p.verdict, VERDICT_WORSE);
}

/* Differences 1, 2, 3: mean 2, standard deviation 1, t(2) = 4.303, so the interval
 * is 10 % -+ 100 * 4.303 / sqrt(3) / 20 = 12.4217 %. */
static void test_by_hand(void **state)
{
	static const s64 a[] = { 10, 20, 30 }, b[] = { 9, 18, 27 };
	struct sample s;
	struct paired p;

	(void)state;
	sample_stats(&s, a, 3, 0);
	assert_int_equal(s.mean, 20000);
	assert_int_equal(s.stdev_pct, 500000);
	paired_compare(&p, a, b, 3, true);
	assert_int_equal(p.change_pct, 100000);
	assert_int_equal(p.ci95_low_pct, 100000 - 124217);
	assert_int_equal(p.ci95_high_pct, 100000 + 124217);
	assert_int_equal(p.verdict, VERDICT_NO_DIFFERENCE);
	assert_string_equal(verdict_name(p.verdict), "no difference");
}

static void test_special(void **state)
{
	static const s64 same[] = { 5, 6, 7 }, more[] = { 6, 7, 8 };
	static const s64 zero[] = { -1, 0, 1 }, far[] = { 99, 100, 101 };
	struct sample s;
	struct paired p;

	(void)state;
	paired_compare(&p, same, same, 3, true);
	assert_true(p.change_known && p.ci_known);
	assert_int_equal(p.change_pct, 0);
	assert_int_equal(p.ci95_low_pct, 0);
	assert_int_equal(p.ci95_high_pct, 0);
	assert_int_equal(p.verdict, VERDICT_NO_DIFFERENCE);

	/* The same difference in every run has an interval of no width. */
	paired_compare(&p, same, more, 3, true);
	assert_int_equal(p.ci95_low_pct, -166667);
	assert_int_equal(p.ci95_high_pct, -166667);
	assert_int_equal(p.verdict, VERDICT_WORSE);
	paired_compare(&p, same, more, 3, false);
	assert_int_equal(p.verdict, VERDICT_BETTER);

	/* No percentages of 0, but still a verdict. */
	paired_compare(&p, zero, far, 3, false);
	assert_false(p.change_known || p.ci_known);
	assert_int_equal(p.verdict, VERDICT_BETTER);
	paired_compare(&p, zero, zero, 3, false);
	assert_int_equal(p.verdict, VERDICT_NO_DIFFERENCE);
	sample_stats(&s, zero, 3, 0);
	assert_false(s.stdev_known);
	assert_int_equal(s.mean, 0);

	paired_compare(&p, same, more, 1, true);
	assert_true(p.change_known);
	assert_int_equal(p.change_pct, -200000);
	assert_false(p.ci_known);
	assert_int_equal(p.verdict, VERDICT_ONE_RUN);
	assert_string_equal(verdict_name(VERDICT_ONE_RUN), "one run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_random_runs),
		cmocka_unit_test(test_small_numbers),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_students_example),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_special),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
