/* SPDX-License-Identifier: MIT */
/*
 * Paired statistics in integers: see paired.h. Magnitudes are bounded as noted:
 * values 2^62, their sums 2^72; differences 2^63, their sums 2^73 (n <= 1000 < 2^10).
 */
#include "../lib/math64.h"
#include "paired.h"

typedef __int128 s128;

/* 10^6 = 100 % in units of 10^-PCT_DIGITS percent. */
#define PCT_ONE 1000000u
_Static_assert(PCT_DIGITS == 4, "PCT_ONE is 100 * 10^PCT_DIGITS");

/*
 * NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2 (critical
 * values of Student's t), column 0.975; rows 40, 60 and 120 as in Fisher and
 * Yates. The row for infinity (1.960) is no fewer df than any.
 */
static const u16 t95_milli[] = {
	0, 12706, 4303, 3182, 2776, 2571, 2447, 2365, 2306, 2262, 2228,
	2201, 2179, 2160, 2145, 2131, 2120, 2110, 2101, 2093, 2086,
	2080, 2074, 2069, 2064, 2060, 2056, 2052, 2048, 2045, 2042,
};

u32 student_t95_milli(u32 df)
{
	if (df < ARRAY_SIZE(t95_milli))
		return t95_milli[df];
	return df < 40 ? 2042 : df < 60 ? 2021 : df < 120 ? 2000 : 1980;
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[VERDICT_NR] = {
		[VERDICT_BETTER] = "better",
		[VERDICT_WORSE] = "worse",
		[VERDICT_NO_DIFFERENCE] = "no difference",
		[VERDICT_ONE_RUN] = "one run",
	};

	return names[v];
}

static u128 magnitude(s128 v)
{
	return v < 0 ? -(u128)v : (u128)v;
}

static u32 bit_length(u128 v)
{
	return v >> 64 ? 65 + log2_floor((u64)(v >> 64)) : v ? 1 + log2_floor((u64)v) : 0;
}

/* n / d, a half rounded up; d < 2^127. One bit at a time: no divisor of more
 * than 64 bits is in math64.h, and this runs a few times per report. */
static u128 div_round(u128 n, u128 d)
{
	u128 q = 0, rem = 0;

	for (int bit = 127; bit >= 0; bit--) {
		rem = rem << 1 | (n >> bit & 1);
		q <<= 1;
		if (rem >= d) {
			rem -= d;
			q |= 1;
		}
	}
	return q + (rem >= d - rem);
}

/* a[i], or a[i] - b[i]. */
static s128 element(const s64 *a, const s64 *b, u32 i)
{
	return b ? (s128)a[i] - b[i] : a[i];
}

static s128 sum_of(const s64 *a, const s64 *b, u32 n)
{
	s128 sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += element(a, b, i);
	return sum;
}

/* A non-negative number, value * 2^-exp. */
struct scaled {
	u64 value;
	int exp;
};

/* v * 2^exp, rounded. The caller knows that it fits. */
static u64 scale(u128 v, int exp)
{
	return (u64)(exp >= 0 ? v << exp : ((v >> (-exp - 1)) + 1) >> 1);
}

/*
 * n * sqrt(sum((x - mean)^2) / div) for x = element(a, b, i); n > 1. With
 * n*x - sum for n*(x - mean) all is integer. The largest of those (< 2^74) is
 * brought near 2^58, so that 1000 squares fit 128 bits; max_exp (>= 54) limits
 * that where the caller's numbers leave less room. div < 2^20: the root keeps at
 * least 44 bits.
 */
static struct scaled spread(const s64 *a, const s64 *b, u32 n, u64 div, int max_exp)
{
	s128 sum = sum_of(a, b, n);
	struct scaled s;
	u128 largest = 0, squares = 0;

	for (u32 i = 0; i < n; i++) {
		u128 dev = magnitude(element(a, b, i) * n - sum);

		if (dev > largest)
			largest = dev;
	}
	s.exp = 58 - (int)bit_length(largest);
	if (s.exp > max_exp)
		s.exp = max_exp;
	for (u32 i = 0; i < n; i++) {
		u64 dev = scale(magnitude(element(a, b, i) * n - sum), s.exp);

		squares += (u128)dev * dev;
	}
	s.value = isqrt_u128(div_u128(squares, div));
	return s;
}

/*
 * factor * s / total, rounded: factor < 2^25, total != 0 a magnitude < 2^72.
 * s.value < 2^59 and s.exp in [-16, 127 - bits of total], so neither side
 * leaves 128 bits.
 */
static u128 ratio(u32 factor, struct scaled s, u128 total)
{
	u128 num = (u128)s.value * factor;

	return s.exp >= 0 ? div_round(num, total << s.exp) : div_round(num << -s.exp, total);
}

static int room_above(u128 total)
{
	return 126 - (int)bit_length(total);
}

void sample_stats(struct sample *out, const s64 *values, u32 n, u32 digits)
{
	s128 sum = sum_of(values, NULL, n);
	u128 total = magnitude(sum), mean, pct;
	u32 scale10 = 1000;

	*out = (struct sample){ .runs = n, .mean_digits = digits + 3 };
	/* |mean| < 2^62 fits without further digits. */
	while ((mean = div_round(total * scale10, n)) > INT64_MAX) {
		scale10 /= 10;
		out->mean_digits--;
	}
	out->mean = sum < 0 ? -(s64)mean : (s64)mean;
	if (n < 2 || !total)
		return;
	pct = ratio(PCT_ONE, spread(values, NULL, n, n - 1, room_above(total)), total);
	out->stdev_known = pct < PCT_LIMIT;
	if (out->stdev_known)
		out->stdev_pct = (s64)pct;
}

static enum verdict verdict_of(bool spans_zero, bool better)
{
	return spans_zero ? VERDICT_NO_DIFFERENCE : better ? VERDICT_BETTER : VERDICT_WORSE;
}

void paired_compare(struct paired *out, const s64 *ref, const s64 *var, u32 n,
		    bool lower_is_better)
{
	u128 total = magnitude(sum_of(ref, NULL, n));
	s128 gain = lower_is_better ? sum_of(ref, var, n) : sum_of(var, ref, n);
	u128 change = 0, half = 0;
	struct scaled err;
	u32 t;

	*out = (struct paired){ .verdict = VERDICT_ONE_RUN };
	if (total) {
		change = div_round(magnitude(gain) * PCT_ONE, total);
		out->change_known = change < PCT_LIMIT;
	}
	if (out->change_known)
		out->change_pct = gain < 0 ? -(s64)change : (s64)change;
	if (n < 2)
		return;

	t = student_t95_milli(n - 1);
	err = spread(ref, var, n, (u64)n * (n - 1), room_above(total));
	if (out->change_known) {
		half = ratio(PCT_ONE / 1000 * t, err, total);
		out->ci_known = half < PCT_LIMIT;
	}
	if (out->ci_known) {
		out->ci95_low_pct = out->change_pct - (s64)half;
		out->ci95_high_pct = out->change_pct + (s64)half;
		out->verdict = verdict_of(half >= change, gain > 0);
	} else {
		/* No percentages: t * standard error against the mean difference, both
		 * times 1000 n. */
		u128 reach = (u128)err.value * t;

		reach = err.exp >= 0 ? reach >> err.exp : reach << -err.exp;
		out->verdict = verdict_of(reach >= magnitude(gain) * 1000, gain > 0);
	}
}
