/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Arithmetic and clock of load tracking: spec/cfs-core.md sections 10 and 13, and a
 * comparison with the exact geometric series. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "../../kernel/lib/rng.h"
#include "../../sched/pelt.h"
#include "env/machine.h"

#define UNIT 1024ull
#define PERIOD (1024 * UNIT)
#define BEGIN (PERIOD * 1000) /* no clock starts at 0 */
#define MS 1000000ull

static const struct pelt_rate runs = { .load = 1, .runnable = 1, .running = true };
static const struct pelt_rate sleeps;

static struct machine m;

static void step(struct sched_avg *a, u64 ns, const struct pelt_rate *rate, u64 weight)
{
	if (pelt_step(a, a->last_update_time + ns, rate))
		pelt_average(a, weight, 0);
}

static void test_decay(void **state)
{
	(void)state;
	assert_int_equal(pelt_decay(47742, 0), 47741); /* y^0 is 2^32 - 1 */
	assert_int_equal(pelt_decay(47742, 1), 46718);
	assert_int_equal(pelt_decay(1024, 32), 511);
	assert_int_equal(pelt_decay(1ull << 40, 33), 0xfa83b2daull << 7);
	assert_int_equal(pelt_decay(UINT64_MAX, 2016), 0); /* 1, times less than 1 */
	assert_int_equal(pelt_decay(UINT64_MAX, 2017), 0);
}

static void test_always_running(void **state)
{
	static const struct { u32 n; u64 once[4], steps[4]; } table[] = {
		{ 1, { 1002, 1026048, 21, 21 }, { 1002, 1026048, 21, 21 } },
		{ 2, { 1981, 2028544, 43, 43 }, { 1982, 2030109, 43, 43 } },
		{ 8, { 7433, 7611392, 162, 162 }, { 7436, 7618458, 162, 163 } },
		{ 32, { 23359, 23919616, 512, 512 }, { 23369, 23941816, 512, 512 } },
		{ 64, { 35039, 35879936, 768, 768 }, { 35053, 35912725, 768, 768 } },
		{ 128, { 43799, 44850176, 960, 960 }, { 43817, 44890905, 960, 960 } },
		{ 345, { 46692, 47812608, 1023, 1023 }, { 46714, 47856424, 1023, 1024 } },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct sched_avg once = { .last_update_time = BEGIN }, steps = once;

		step(&once, table[i].n * PERIOD, &runs, 1024);
		assert_int_equal(once.load_sum, table[i].once[0]);
		assert_int_equal(once.util_sum, table[i].once[1]);
		assert_int_equal(once.load_avg, table[i].once[2]);
		assert_int_equal(once.util_avg, table[i].once[3]);
		assert_int_equal(once.runnable_sum, once.util_sum);
		for (u32 k = 0; k < table[i].n; k++)
			step(&steps, PERIOD, &runs, 1024);
		assert_int_equal(steps.load_sum, table[i].steps[0]);
		assert_int_equal(steps.util_sum, table[i].steps[1]);
		assert_int_equal(steps.load_avg, table[i].steps[2]);
		assert_int_equal(steps.util_avg, table[i].steps[3]);
		assert_int_equal(steps.last_update_time, once.last_update_time);
	}
}

static void test_wall_time(void **state)
{
	static const struct { u64 ms, pc, sum, avg; } table[] = {
		{ 10, 549, 8824, 191 }, { 100, 376, 41126, 894 },
	};
	struct sched_avg a = { .last_update_time = BEGIN };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		a = (struct sched_avg){ .last_update_time = BEGIN };
		step(&a, table[i].ms * MS, &runs, 1024);
		assert_int_equal(a.period_contrib, table[i].pc);
		assert_int_equal(a.load_sum, table[i].sum);
		assert_int_equal(a.load_avg, table[i].avg);
		/* Less than a unit is left over. */
		assert_int_equal(a.last_update_time, BEGIN + table[i].ms * MS / UNIT * UNIT);
	}
	a = (struct sched_avg){ .last_update_time = BEGIN };
	step(&a, 600 * UNIT, &runs, 1024);
	assert_int_equal(a.load_sum, 600);
	assert_int_equal(a.load_avg, 0);
	step(&a, 600 * UNIT, &runs, 1024);
	assert_int_equal(a.load_sum, 1177);
	assert_int_equal(a.period_contrib, 176);
	assert_int_equal(a.load_avg, 25);
	/* A clock that trails moves nothing but the time. */
	assert_false(pelt_step(&a, BEGIN, &runs));
	assert_int_equal(a.last_update_time, BEGIN);
	assert_int_equal(a.load_sum, 1177);
}

static void test_weights(void **state)
{
	static const u64 want[][2] = { { 335, 167 }, { 88761, 44380 } };
	const struct pelt_rate three = { .load = 3072, .runnable = 3, .running = true };
	struct sched_avg q = { .last_update_time = BEGIN };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
		struct sched_avg a = { .last_update_time = BEGIN };

		step(&a, 32 * PERIOD, &runs, want[i][0]);
		assert_int_equal(a.load_avg, want[i][1]);
	}
	step(&q, 32 * PERIOD, &three, 1);
	assert_int_equal(q.load_avg, 1536);
	assert_int_equal(q.runnable_avg, 1536);
	assert_int_equal(q.util_avg, 512);
	/* Without load nobody was runnable or ran. */
	q = (struct sched_avg){ .last_update_time = BEGIN };
	step(&q, PERIOD, &(struct pelt_rate){ .runnable = 3, .running = true }, 1);
	assert_int_equal(q.runnable_sum + q.util_sum, 0);
}

/* Averages round differently: 47742 is itself truncated. */
static void test_settles(void **state)
{
	const struct pelt_rate three = { .load = 3072, .runnable = 3, .running = true };
	struct sched_avg q = { .last_update_time = BEGIN }, a = q;

	(void)state;
	for (u32 i = 0; i < 2000; i++) {
		step(&q, PERIOD, &three, 1);
		step(&a, PERIOD, &runs, 1024);
	}
	assert_int_equal(q.load_avg, 3074);
	assert_int_equal(a.load_avg, 1023);
}

static void test_sleeping(void **state)
{
	static const u64 table[][3] = {
		{ 1, 45716, 1002 }, { 8, 39284, 861 }, { 16, 33034, 724 }, { 32, 23358, 511 },
		{ 64, 11678, 255 }, { 128, 2918, 63 }, { 345, 26, 0 },
	};
	struct sched_avg a = { .last_update_time = BEGIN };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct sched_avg b = { .last_update_time = BEGIN, .load_sum = 46718 };

		step(&b, table[i][0] * PERIOD, &sleeps, 1024);
		assert_int_equal(b.load_sum, table[i][1]);
		assert_int_equal(b.load_avg, table[i][2]);
	}
	for (u32 i = 0; i < 200; i++) {
		for (u32 k = 0; k < 8; k++)
			step(&a, PERIOD, &runs, 1024);
		if (i == 199)
			assert_int_equal(a.load_avg, 556);
		for (u32 k = 0; k < 8; k++)
			step(&a, PERIOD, &sleeps, 1024);
	}
	assert_int_equal(a.load_avg, 467);
}

/* ---- against the exact series ------------------------------------------------------ */

/*
 * exact: each unit counts y^k, k the periods ended since. What a step that ends p >= 1
 * periods may be off, in units, beside what was off before times y^p:
 *  - every D() rounds down by less than 1 in its product, and from a half-life on by
 *    less than 1 in its shift: that of the sum and that of the period's rest make it
 *    too small, that of 47742, which is subtracted, too large;
 *  - 47742 is less than the limit K of the exact series: too small by
 *    (K - 47742) * (1 - y^p).
 * The table's own error, 2^-31 of a sum, is below 1e-4. In sums of utilisation the
 * decay rounds on a scale 1024 times finer, the contribution as for load.
 */
struct exact {
	double sum, low, high;
};

static void exact_step(struct exact *e, u64 contrib, u64 units, bool on)
{
	const double y = pow(0.5, 1.0 / 32), limit = 1024 / (1 - y);
	u64 p = (contrib + units) / 1024;
	double yp = pow(y, (double)p), d = p >= 32 ? 2 : 1;

	if (!p) {
		e->sum += on ? (double)units : 0;
		return;
	}
	e->sum *= yp;
	if (on)
		e->sum += (double)(1024 - contrib) * yp + limit * (y - yp) +
			  (double)((contrib + units) % 1024);
	e->low = e->low * yp + 2 * d + (limit - 47742) * (1 - yp) + 1e-4;
	e->high = e->high * yp + d + 1e-4;
}

static void assert_near(const struct exact *e, double got, u64 seed)
{
	if (got < e->sum - e->low || got > e->sum + e->high)
		fail_msg("seed %llu: sum %.3f, exact %.3f, bound -%.3f +%.3f",
			 (unsigned long long)seed, got, e->sum, e->low, e->high);
}

static void test_series(void **state)
{
	double widest = 0, worst = 0;

	(void)state;
	for (u64 seed = 1; seed <= 300; seed++) {
		struct sched_avg a = { .last_update_time = BEGIN };
		struct exact load = { 0 }, util = { 0 };
		struct rng r;

		rng_init(&r, seed, 1);
		for (u32 i = 0; i < 400; i++) {
			u64 units = rng_below(&r, 1ull << rng_below(&r, seed % 2 ? 12 : 18));
			bool on = rng_below(&r, 2), running = on && rng_below(&r, 2);
			const struct pelt_rate rate = { on, on, 0, running };

			exact_step(&load, a.period_contrib, units, on);
			exact_step(&util, a.period_contrib, units, running);
			pelt_step(&a, a.last_update_time + units * UNIT, &rate);
			assert_near(&load, (double)a.load_sum, seed);
			assert_near(&load, (double)a.runnable_sum / 1024, seed);
			assert_near(&util, (double)a.util_sum / 1024, seed);
			widest = fmax(widest, load.low + load.high);
			worst = fmax(worst, fabs((double)a.load_sum - load.sum));
		}
	}
	/* The bound says something: periods one by one, (3 + K - 47742) / (1 - y). */
	assert_true(widest < 190);
	assert_true(worst > 1); /* and it is not vacuous: the truncation shows */
}

/* ---- the clock -------------------------------------------------------------------------- */

static void test_clock(void **state)
{
	(void)state;
	for (u32 saturated = 0; saturated < 2; saturated++) {
		struct rq *rq;
		u64 before, pelt;

		machine_init(&m, 1, 1, 1, PROFILE_V6_4, "");
		rq = cpu_rq(m.s, 0);
		machine_start(&m, 0);
		assert_int_equal(rq->clock_pelt, rq->clock_task); /* it idled until now */
		rq->capacity = 512;
		before = rq->clock_pelt;
		machine_advance(&m, 10 * MS);
		rq_lock(rq);
		update_rq_clock(rq);
		assert_int_equal(rq->clock_pelt - before, 5 * MS);
		rq_unlock(rq);
		pelt = rq_clock_pelt(rq);
		/* Below and above what a CPU that never idles has at least. */
		rq->cfs.avg.util_sum = 47791490 - !saturated;
		rq_lock(rq);
		pelt_go_idle(rq);
		assert_int_equal(rq->lost_idle_time, saturated ? 5 * MS : 0);
		assert_int_equal(rq_clock_pelt(rq) - pelt, saturated ? 0 : 5 * MS);
		assert_int_equal(rq->clock_pelt, rq->clock_task);
		assert_int_equal(rq->clock_pelt_idle, rq_clock_pelt(rq));
		assert_int_equal(rq->clock_idle, rq->clock);
		rq_unlock(rq);
		rq->capacity = SCHED_CAPACITY;
		machine_advance(&m, 1000);
		machine_sleep(&m);
		assert_int_equal(rq->clock_idle, rq->clock);
		assert_int_equal(rq->clock_pelt_idle, rq_clock_pelt(rq));
		/* Idle: in step with clock_task. */
		machine_advance(&m, 3 * MS);
		rq_lock(rq);
		update_rq_clock(rq);
		assert_int_equal(rq->clock_pelt, rq->clock_task);
		rq_unlock(rq);
		machine_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decay),
		cmocka_unit_test(test_always_running),
		cmocka_unit_test(test_wall_time),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_settles),
		cmocka_unit_test(test_sleeping),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests_name("sched_pelt", tests, NULL, NULL);
}
