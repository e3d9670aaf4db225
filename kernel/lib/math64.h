/* SPDX-License-Identifier: MIT */
/*
 * 64x64 and 128/64 bit arithmetic. GCC's own 128-bit division is a libgcc call
 * compiled with a red zone, which an interrupt in kernel mode would overwrite;
 * so the kernel divides here.
 */
#ifndef LIB_MATH64_H
#define LIB_MATH64_H

#include "types.h"

/* floor(n / d); d > 0. */
u128 div_u128(u128 n, u64 d);

/* floor(sqrt(n)). */
u64 isqrt_u128(u128 n);

/* floor(a * b / d), the product in 128 bits; the quotient must fit. d > 0. */
static inline u64 muldiv_u64(u64 a, u64 b, u64 d)
{
	u128 p = (u128)a * b;

	if ((u64)(p >> 64) == 0)
		return (u64)p / d;
	return (u64)div_u128(p, d);
}

/* ceil(log2(n)); 0 for n <= 1. */
static inline u32 log2_ceil(u64 n)
{
	return n <= 1 ? 0 : 64 - (u32)__builtin_clzll(n - 1);
}

/* floor(log2(n)); n > 0. */
static inline u32 log2_floor(u64 n)
{
	return 63 - (u32)__builtin_clzll(n);
}

/* Where n counts in a histogram: 0, then [2^(i-1), 2^i) in bucket i, the last one open. */
static inline u32 log2_bucket(u64 n, u32 buckets)
{
	u32 i = n ? log2_floor(n) + 1 : 0;

	return i < buckets ? i : buckets - 1;
}

#endif
