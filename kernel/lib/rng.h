/* SPDX-License-Identifier: MIT */
/*
 * Seeded random numbers, integers only. splitmix64 (Steele, Lea, Flood 2014):
 * one u64 of state, so that every task owns a generator.
 */
#ifndef LIB_RNG_H
#define LIB_RNG_H

#include "types.h"

struct rng {
	u64 state;
};

/* Streams with different (seed, stream) are independent. */
void rng_init(struct rng *r, u64 seed, u64 stream);
u64 rng_next(struct rng *r);

/* Uniform in [0, n), without modulo bias; n > 0. */
u64 rng_below(struct rng *r, u64 n);

/* v varied uniformly by +-pct percent, rounded to an integer; pct 0 returns v
 * and draws nothing. pct <= 100, v < 2^56 (two years in ns). */
u64 rng_jitter(struct rng *r, u64 v, u32 pct);

#endif
