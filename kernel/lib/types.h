/* SPDX-License-Identifier: MIT */
/* Fixed-width names and the few macros that every folder uses. */
#ifndef LIB_TYPES_H
#define LIB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define noreturn_fn __attribute__((noreturn))
#define printf_like(f, a) __attribute__((format(printf, f, a)))

/* Adds to a variable that one CPU at a time changes, and any may read by an atomic
 * load meanwhile: cheaper than an atomic addition. */
#define counter_add(p, n)                                                       \
	do {                                                                    \
		__auto_type counter_ = (p);                                     \
		__atomic_store_n(counter_, *counter_ + (n), __ATOMIC_RELAXED); \
	} while (0)

#define CACHE_LINE 64

#endif
