/* SPDX-License-Identifier: MIT */
/*
 * Sets of CPUs. Fixed size so that masks can be embedded; loops are bounded by
 * nr, the number of CPUs of the machine, so that a small machine does not pay
 * for MAX_CPUS.
 */
#ifndef LIB_CPUMASK_H
#define LIB_CPUMASK_H

#include "types.h"

#define MAX_CPUS 4096

struct cpumask {
	u64 w[MAX_CPUS / 64];
};

static inline void cpumask_set(struct cpumask *m, u32 cpu)
{
	m->w[cpu / 64] |= 1ull << (cpu % 64);
}

static inline void cpumask_clear(struct cpumask *m, u32 cpu)
{
	m->w[cpu / 64] &= ~(1ull << (cpu % 64));
}

static inline bool cpumask_test(const struct cpumask *m, u32 cpu)
{
	return m->w[cpu / 64] >> (cpu % 64) & 1;
}

/* Lowest member >= from; nr when there is none. */
static inline u32 cpumask_next(const struct cpumask *m, u32 from, u32 nr)
{
	while (from < nr) {
		u64 w = m->w[from / 64] >> (from % 64);

		if (w) {
			from += (u32)__builtin_ctzll(w);
			return from < nr ? from : nr;
		}
		from = (from / 64 + 1) * 64;
	}
	return nr;
}

static inline u32 cpumask_first(const struct cpumask *m, u32 nr)
{
	return cpumask_next(m, 0, nr);
}

static inline void cpumask_fill(struct cpumask *m, u32 nr)
{
	for (u32 c = 0; c < nr; c++)
		cpumask_set(m, c);
}

/* Set bits of w, by halves: without POPCNT, which not every x86-64 has, the
 * compiler's builtin is a libgcc call. */
static inline u32 popcount64(u64 w)
{
	w -= w >> 1 & 0x5555555555555555ull;
	w = (w & 0x3333333333333333ull) + (w >> 2 & 0x3333333333333333ull);
	w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (u32)(w * 0x0101010101010101ull >> 56);
}

static inline u32 cpumask_weight(const struct cpumask *m, u32 nr)
{
	u32 n = 0;

	for (u32 i = 0; i < (nr + 63) / 64; i++)
		n += popcount64(m->w[i]);
	return n;
}

static inline bool cpumask_equal(const struct cpumask *a, const struct cpumask *b, u32 nr)
{
	for (u32 i = 0; i < (nr + 63) / 64; i++)
		if (a->w[i] != b->w[i])
			return false;
	return true;
}

/* Every member of a is in b. */
static inline bool cpumask_subset(const struct cpumask *a, const struct cpumask *b, u32 nr)
{
	for (u32 i = 0; i < (nr + 63) / 64; i++)
		if (a->w[i] & ~b->w[i])
			return false;
	return true;
}

static inline bool cpumask_intersects(const struct cpumask *a, const struct cpumask *b, u32 nr)
{
	for (u32 i = 0; i < (nr + 63) / 64; i++)
		if (a->w[i] & b->w[i])
			return true;
	return false;
}

static inline void cpumask_or(struct cpumask *a, const struct cpumask *b, u32 nr)
{
	for (u32 i = 0; i < (nr + 63) / 64; i++)
		a->w[i] |= b->w[i];
}

static inline void cpumask_and(struct cpumask *a, const struct cpumask *b, u32 nr)
{
	for (u32 i = 0; i < (nr + 63) / 64; i++)
		a->w[i] &= b->w[i];
}

#define for_each_cpu(c, m, nr) \
	for (u32 c = cpumask_first(m, nr); c < (nr); c = cpumask_next(m, c + 1, nr))

/* order(mask, start) of spec/idle-search.md section 1: members >= start, then
 * those below it. `seen` counts members, at most weight(mask). */
#define for_each_cpu_wrap(c, m, start, nr)                                        \
	for (u32 c##_wrapped = 0, c = cpumask_next_wrap(m, start, start, nr, &c##_wrapped); \
	     c < (nr); c = cpumask_next_wrap(m, c + 1, start, nr, &c##_wrapped))

static inline u32 cpumask_next_wrap(const struct cpumask *m, u32 from, u32 start, u32 nr,
				    u32 *wrapped)
{
	u32 c = cpumask_next(m, from, nr);

	if (!*wrapped) {
		if (c < nr)
			return c;
		*wrapped = 1;
		c = cpumask_first(m, nr);
	}
	return c < start ? c : nr;
}

#endif
