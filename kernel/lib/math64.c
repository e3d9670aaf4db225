/* SPDX-License-Identifier: MIT */
/* 128-bit division and square root from 64-bit instructions: see math64.h. */
#include "math64.h"

/*
 * One digit of schoolbook division in base 2^32 (Knuth, TAOCP vol. 2, 4.3.1,
 * algorithm D): floor((rem * 2^32 + next) / d), rem < d, d normalised.
 * The estimate from d's upper half is at most 2 too large.
 */
static u64 div_digit(u64 rem, u32 next, u64 d)
{
	u64 d_hi = d >> 32, d_lo = (u32)d;
	u64 q = rem / d_hi;
	u64 r = rem % d_hi;

	while (q >> 32 || q * d_lo > (r << 32 | next)) {
		q--;
		r += d_hi;
		if (r >> 32)
			break;
	}
	return q;
}

/* floor((hi * 2^64 + lo) / d), hi < d: the quotient fits. */
static u64 div_128_64(u64 hi, u64 lo, u64 d)
{
	u32 shift = (u32)__builtin_clzll(d);
	u64 q_hi, q_lo;

	if (!hi)
		return lo / d;
	d <<= shift;
	if (shift) {
		hi = hi << shift | lo >> (64 - shift);
		lo <<= shift;
	}
	q_hi = div_digit(hi, (u32)(lo >> 32), d);
	/* The remainder is below d, so arithmetic modulo 2^64 is exact. */
	hi = (hi << 32 | lo >> 32) - q_hi * d;
	q_lo = div_digit(hi, (u32)lo, d);
	return q_hi << 32 | q_lo;
}

u128 div_u128(u128 n, u64 d)
{
	u64 hi = (u64)(n >> 64);
	u64 q_hi = hi / d;

	return (u128)q_hi << 64 | div_128_64(hi % d, (u64)n, d);
}

/* Digit by digit in base 4: each step decides one bit of the root. */
u64 isqrt_u128(u128 n)
{
	u128 root = 0;
	u128 bit = (u128)1 << 126;

	while (bit > n)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		u128 trial = root + bit;

		root >>= 1;
		if (n >= trial) {
			n -= trial;
			root += bit;
		}
	}
	return (u64)root;
}
