/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/dist.c kernel/lib/math64.c kernel/lib/rng.c */
/* dist.c against floating point: draw by draw, and as distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../kernel/lib/dist.h"

#define DRAWS 400000
#define MEAN 200000

static u64 value[DRAWS];

/* ---- draw by draw ---------------------------------------------------------- */

static double exact_exp(struct rng *r, double mean)
{
	return -mean * (logl((long double)(rng_next(r) | 1)) - 64 * logl(2));
}

static double exact_normal(struct rng *r)
{
	long double u, v, s;

	do {
		u64 draw = rng_next(r);

		u = (2.0L * (u32)(draw >> 32) + 1) / 4294967296.0L - 1;
		v = (2.0L * (u32)draw + 1) / 4294967296.0L - 1;
		s = u * u + v * v;
	} while (s >= 1);
	return (double)(u * sqrtl(-2 * logl(s) / s));
}

static void test_exponential_draw_by_draw(void **state)
{
	static const u64 mean[] = { 1, 1000, 15000, 1000000, 1ull << 40, DIST_EXP_MEAN_MAX };

	(void)state;
	for (size_t m = 0; m < ARRAY_SIZE(mean); m++) {
		struct rng r, twin;

		rng_init(&r, 1, m);
		twin = r;
		for (int i = 0; i < DRAWS / 4; i++) {
			double want = exact_exp(&twin, (double)mean[m]);

			assert_true(fabs((double)dist_exp(&r, mean[m]) - want) <=
				    (double)mean[m] * 0x1p-31 + 0.5001);
			assert_int_equal(r.state, twin.state);
		}
	}
}

static void test_lognormal_draw_by_draw(void **state)
{
	static const u64 mean[] = { 1, 1000, 170000, 1ull << 30, DIST_LOGN_MEAN_MAX };
	static const u32 sigma[] = { 1, 500, 1000, DIST_SIGMA_MAX };

	(void)state;
	for (size_t m = 0; m < ARRAY_SIZE(mean) * ARRAY_SIZE(sigma); m++) {
		u64 of = mean[m / ARRAY_SIZE(sigma)];
		u32 milli = sigma[m % ARRAY_SIZE(sigma)];
		double s = milli / 1000.0;
		struct rng r, twin;

		rng_init(&r, 2, m);
		twin = r;
		for (int i = 0; i < DRAWS / 8; i++) {
			double z = exact_normal(&twin);
			double want = (double)of * exp(s * z - s * s / 2);
			double off = fmin(0x1p-28 / fabs(z), 0x1p-14);

			assert_true(fabs((double)dist_logn(&r, of, milli) - want) <=
				    want * (s * off + 0x1p-30) + 0.5001);
			assert_int_equal(r.state, twin.state);
		}
	}
}

/* The largest exponential of all has its bits drawn as zeros. */
static void test_ends_of_the_exponential(void **state)
{
	(void)state;
	assert_int_equal(lround(64 * log(2) * 1e9), 44361419556);
	for (u64 i = 0; i < DRAWS; i++) {
		struct rng r;

		rng_init(&r, 3, i);
		assert_true(dist_exp(&r, 1000000000) <= 44361419556);
	}
}

static void test_sigma_0_is_the_mean(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 4, 0);
	for (u64 mean = 0; mean < 1000; mean++)
		assert_int_equal(dist_logn(&r, mean * 77777, 0), mean * 77777);
}

/* ---- as distributions --------------------------------------------------------- */

static int u64_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Mean and variance of f(value), each with five standard errors of room, the fourth
 * moment being kurtosis * variance^2. */
static void check_moments(double (*f)(double), double mean, double variance, double kurtosis)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < DRAWS; i++) {
		double d = f((double)value[i]) - mean;

		sum += d;
		squares += d * d;
	}
	assert_true(fabs(sum / DRAWS) < 5 * sqrt(variance / DRAWS));
	assert_true(fabs(squares / DRAWS - variance) <
		    5 * variance * sqrt((kurtosis - 1) / DRAWS));
}

/* The share of values at or below each exact quantile, from 1 in 10,000 to all but so
 * many. */
static void check_quantiles(double (*quantile)(double p))
{
	static const double p[] = { 0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999,
				    0.9999 };

	qsort(value, DRAWS, sizeof(*value), u64_order);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		double x = quantile(p[i]);
		int below = 0;

		while (below < DRAWS && (double)value[below] <= x)
			below++;
		assert_true(fabs((double)below / DRAWS - p[i]) <
			    5 * sqrt(p[i] * (1 - p[i]) / DRAWS));
	}
}

static double itself(double v)
{
	return v;
}

static double exp_quantile(double p)
{
	return -MEAN * log1p(-p);
}

static void test_exponential_moments_and_quantiles(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 5, 0);
	for (int i = 0; i < DRAWS; i++)
		value[i] = dist_exp(&r, MEAN);
	check_moments(itself, MEAN, (double)MEAN * MEAN, 9);
	check_quantiles(exp_quantile);
}

static double sigma; /* of the lognormal under test */

/* By bisection: libm has the distribution, not its inverse. */
static double logn_quantile(double p)
{
	double low = -10, high = 10;

	for (int i = 0; i < 60; i++) {
		double z = (low + high) / 2;

		*(erfc(-z / sqrt(2)) / 2 < p ? &low : &high) = z;
	}
	return MEAN * exp(sigma * low - sigma * sigma / 2);
}

static void test_lognormal_moments_and_quantiles(void **state)
{
	static const u32 milli[] = { 250, 1000, 1500 };

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(milli); s++) {
		struct rng r;

		sigma = milli[s] / 1000.0;
		rng_init(&r, 6, s);
		for (int i = 0; i < DRAWS; i++)
			value[i] = dist_logn(&r, MEAN, milli[s]);
		/* The fourth moment of the values is out of any sample's reach: their
		 * logarithms are normal. Of the values only the mean. */
		check_moments(log, log(MEAN) - sigma * sigma / 2, sigma * sigma, 3);
		double sum = 0;

		for (int i = 0; i < DRAWS; i++)
			sum += (double)value[i] / DRAWS;
		assert_true(fabs(sum / MEAN - 1) < 5 * sqrt(expm1(sigma * sigma) / DRAWS));
		check_quantiles(logn_quantile);
	}
}

/* Both halves of the normal, and no memory from one draw to the next. */
static void test_draws_do_not_depend_on_one_another(void **state)
{
	double median = MEAN * exp(-0.5);
	int above = 0, again = 0;
	bool last = false;
	struct rng r;

	(void)state;
	rng_init(&r, 7, 0);
	for (int i = 0; i < DRAWS; i++) {
		bool now = (double)dist_logn(&r, MEAN, 1000) > median;

		above += now;
		again += now == last;
		last = now;
	}
	assert_true(abs(above - DRAWS / 2) < 5 * sqrt(DRAWS) / 2);
	assert_true(abs(again - DRAWS / 2) < 5 * sqrt(DRAWS) / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exponential_draw_by_draw),
		cmocka_unit_test(test_lognormal_draw_by_draw),
		cmocka_unit_test(test_ends_of_the_exponential),
		cmocka_unit_test(test_sigma_0_is_the_mean),
		cmocka_unit_test(test_exponential_moments_and_quantiles),
		cmocka_unit_test(test_lognormal_moments_and_quantiles),
		cmocka_unit_test(test_draws_do_not_depend_on_one_another),
	};

	return cmocka_run_group_tests_name("dist", tests, NULL, NULL);
}
