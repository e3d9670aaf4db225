/* SPDX-License-Identifier: MIT */
/*
 * splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014; the finaliser's constants are Stafford's mix 13.
 */
#include "rng.h"

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15ull

static u64 mix(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void rng_init(struct rng *r, u64 seed, u64 stream)
{
	/* Small seeds and streams must not land near each other: all states lie on
	 * one cycle, a step of GOLDEN_GAMMA apart. */
	r->state = mix(mix(seed + GOLDEN_GAMMA) + stream);
}

u64 rng_next(struct rng *r)
{
	return mix(r->state += GOLDEN_GAMMA);
}

/* Lemire, "Fast random integer generation in an interval", 2019: the high half
 * of a 128-bit product, redrawn where the low half shows an uneven share. */
u64 rng_below(struct rng *r, u64 n)
{
	u128 p = (u128)rng_next(r) * n;

	if (unlikely((u64)p < n)) {
		u64 uneven = -n % n;

		while ((u64)p < uneven)
			p = (u128)rng_next(r) * n;
	}
	return (u64)(p >> 64);
}

u64 rng_jitter(struct rng *r, u64 v, u32 pct)
{
	if (!pct)
		return v;
	/* In hundredths, so that small v vary as far as rounding lets them. */
	return (v * (100 - pct) + rng_below(r, 2 * v * pct + 1) + 50) / 100;
}
