/* SPDX-License-Identifier: MIT */
/*
 * Random durations: see dist.h. Qn is fixed point with n bits behind the point.
 * The normal deviate is Marsaglia's: G. Marsaglia, T. A. Bray, "A convenient method
 * for generating normal variables", SIAM Review 6, 1964.
 */
#include "dist.h"

#include "math64.h"

#define LN2_Q64 0xb17217f7d1cf79abull   /* ln 2 */
#define LOG2E_Q60 0x171547652b82fe17ll  /* 1 / ln 2 */
#define ONE_Q62 (1ull << 62)
#define EXP_TERMS 14                    /* (ln 2)^15 / 15! is below 2^-48 */

/* 64 - log2(x) in Q32, at most 2^-31 too large; x > 0. Squaring the mantissa
 * doubles its logarithm, whose next bit is then whether it has reached 2. */
static u64 minus_log2(u64 x)
{
	u32 e = log2_floor(x);
	u64 mantissa = x << (63 - e), log = e; /* Q63, in [1, 2) */

	for (u32 bit = 0; bit < 32; bit++) {
		u128 square = (u128)mantissa * mantissa >> 63;
		bool carry = (u64)(square >> 64);

		mantissa = (u64)(square >> carry);
		log = log << 1 | carry;
	}
	return (64ull << 32) - log;
}

/* -ln(x / 2^64) in Q32; x > 0. */
static u64 minus_ln(u64 x)
{
	return (u64)((u128)minus_log2(x) * LN2_Q64 >> 64);
}

/* 2^f in Q62, f in Q32 and below 1: the exponential series by Horner's rule. */
static u64 exp2_fraction(u32 f)
{
	u64 x = (u64)((u128)f * LN2_Q64 >> 34), sum = ONE_Q62;

	for (u32 k = EXP_TERMS; k; k--)
		sum = ONE_Q62 + (u64)((u128)x * sum >> 62) / k;
	return sum;
}

/* Standard normal, Q32. A point drawn evenly from the square is kept if it lies in
 * the unit circle: then its angle and its s = u^2 + v^2 are independent. */
static s64 normal(struct rng *r)
{
	u64 u2, s, ratio, z;
	s64 u, v;

	do {
		u64 draw = rng_next(r);

		/* Odd numbers, over 2^32: symmetric, and s is not 0. */
		u = (s64)(draw >> 32) * 2 + 1 - (1ll << 32);
		v = (s64)(u32)draw * 2 + 1 - (1ll << 32);
		u2 = (u64)u * (u64)u; /* below 2^64, whatever the sign */
	} while (__builtin_add_overflow(u2, (u64)v * (u64)v, &s));
	ratio = (u64)div_u128((u128)u2 << 62, s); /* Q62, at most 1 */
	z = isqrt_u128((u128)(2 * minus_ln(s)) * ratio >> 30);
	return u < 0 ? -(s64)z : (s64)z;
}

u64 dist_exp(struct rng *r, u64 mean)
{
	u64 u = rng_next(r) | 1;

	return (u64)(((u128)mean * minus_ln(u) + (1u << 31)) >> 32);
}

u64 dist_logn(struct rng *r, u64 mean, u32 sigma_milli)
{
	s64 sigma = sigma_milli;
	/* sigma * Z - sigma^2 / 2, then as a power of 2 */
	s64 power = (normal(r) * sigma - (sigma * sigma << 32) / 2000) / 1000;
	s64 power2 = (s64)((__int128)power * LOG2E_Q60 >> 60);
	u32 down = (u32)(62 - (power2 >> 32)); /* 34..94 */

	return (u64)((((u128)mean * exp2_fraction((u32)power2) >> (down - 1)) + 1) >> 1);
}
