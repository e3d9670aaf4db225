/* SPDX-License-Identifier: MIT */
/*
 * Bump allocator. Each run starts from a reset arena, so that a run's memory
 * layout does not depend on the runs before it. Memory is zeroed when it is
 * handed out, by any CPU at any time; only a reset needs the arena for itself.
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include "types.h"

struct arena {
	char *base;
	size_t size, used, peak;
};

static inline void arena_init(struct arena *a, void *base, size_t size)
{
	*a = (struct arena){ .base = base, .size = size };
}

static inline void arena_reset(struct arena *a)
{
	a->used = 0;
}

/* Zeroed memory, aligned to a cache line; NULL when the arena is full. */
void *arena_try(struct arena *a, size_t size);

/* As arena_try, but a full arena ends the run through panic(). */
void *arena_alloc(struct arena *a, size_t size);

#endif
