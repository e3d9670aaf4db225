/* SPDX-License-Identifier: MIT */
/*
 * FNV-1a, 64 bit (Fowler, Noll, Vo; draft-eastlake-fnv; isthe.com/chongo/tech/
 * comp/fnv): tells runs apart, keeps nobody out. Bytes in, so the value does not
 * depend on how they were cut into updates.
 */
#ifndef STATS_DIGEST_H
#define STATS_DIGEST_H

#include "../lib/types.h"

struct digest {
	u64 state;
};

void digest_init(struct digest *d);
void digest_update(struct digest *d, const void *data, size_t n);

/* The hash of all bytes so far; more may follow. */
u64 digest_value(const struct digest *d);

#endif
