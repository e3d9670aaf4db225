/* SPDX-License-Identifier: MIT */
/*
 * Physical memory for code that reads firmware's tables: 4 GiB of zeros, as the
 * boot tables map them, with nothing behind. What an input brings is put right
 * before the end, or before one of a few pages that cannot be read: to read beyond
 * it is then a crash.
 */
#ifndef FUZZ_PHYS_H
#define FUZZ_PHYS_H

#include <sys/mman.h>
#include "input.h"

#define PHYS_END (1ull << 32)
#define PHYS_PAGE 4096

static char *phys_memory;

/* By integers: code under test may form an address before it looks at it. */
#define PHYS(addr) ((const void *)((u64)phys_memory + (addr)))

static inline void phys_init(void)
{
	if (phys_memory)
		return;
	phys_memory = mmap(NULL, PHYS_END + PHYS_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(phys_memory != MAP_FAILED);
	must(!mprotect(phys_memory + PHYS_END, PHYS_PAGE, PROT_NONE));
}

/* Copies size bytes so that they end at end, below which room bytes are theirs.
 * Returns their address. */
static inline u64 phys_put(u64 end, const void *data, size_t size, size_t room)
{
	must(size <= room);
	memset(phys_memory + end - room, 0, room - size);
	memcpy(phys_memory + end - size, data, size);
	return end - size;
}

#endif
