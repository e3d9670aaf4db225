/* SPDX-License-Identifier: MIT */
/*
 * Ready queue: a tournament tree over CPUs in one flat array of keys. key[1]
 * is the least key, key[leaves + cpu] the CPU's own. A change walks one path
 * to the root and stops where nothing changes; ties go to the lower CPU because
 * the left child wins. 1,024 CPUs take 16 KiB.
 */
#ifndef ENGINE_READY_H
#define ENGINE_READY_H

#include "../lib/types.h"

static inline void ready_set(u64 *key, u32 leaves, u32 cpu, u64 value)
{
	u32 i = leaves + cpu;

	key[i] = value;
	while (i > 1) {
		u64 a = key[i & ~1u], b = key[i | 1u], min = a <= b ? a : b;

		i >>= 1;
		if (key[i] == min)
			return;
		key[i] = min;
	}
}

static inline u64 ready_min(const u64 *key)
{
	return key[1];
}

/* The lowest CPU that has the least key. */
static inline u32 ready_first(const u64 *key, u32 leaves)
{
	u64 min = key[1];
	u32 i = 1;

	while (i < leaves)
		i = key[2 * i] == min ? 2 * i : 2 * i + 1;
	return i - leaves;
}

#endif
