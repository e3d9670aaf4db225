/* SPDX-License-Identifier: MIT */
/* FNV-1a: see digest.h for the source of the constants. */
#include "digest.h"

#define FNV64_OFFSET_BASIS 0xcbf29ce484222325ull
#define FNV64_PRIME        0x00000100000001b3ull

void digest_init(struct digest *d)
{
	d->state = FNV64_OFFSET_BASIS;
}

void digest_update(struct digest *d, const void *data, size_t n)
{
	const u8 *p = data;

	for (size_t i = 0; i < n; i++)
		d->state = (d->state ^ p[i]) * FNV64_PRIME;
}

u64 digest_value(const struct digest *d)
{
	return d->state;
}
