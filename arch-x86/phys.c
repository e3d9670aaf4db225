/* SPDX-License-Identifier: MIT */
#include "phys.h"
#include "irq.h"
#include "paging.h"
#include "../kernel/lib/string.h"

#define MIB (1ull << 20)
#define GIB4 (1ull << 32)

struct region {
	u64 base, end;
};

/* Pages come from `low` first, because page tables must be below 4 GiB while
 * the boot tables are in use. On machines where one region is the largest both
 * ways, low is empty and everything comes from main. */
static struct region low, main_region;
static struct arena *arena;

static u64 region_size(const struct region *r)
{
	return r->end > r->base ? r->end - r->base : 0;
}

/* Keeps the larger part of r outside [from, to). */
static void region_cut(struct region *r, u64 from, u64 to)
{
	if (to <= r->base || from >= r->end)
		return;

	u64 below = from > r->base ? from - r->base : 0;
	u64 above = r->end > to ? r->end - to : 0;

	if (above >= below)
		r->base = to < r->end ? to : r->end;
	else
		r->end = from;
}

static struct region usable_part(const struct boot_info *bi, u64 base, u64 end)
{
	struct region r = { base, end };

	region_cut(&r, 0, MIB);
	region_cut(&r, (u64)image_start, (u64)image_end);
	for (u32 i = 0; i < bi->nr_mem; i++) {
		const struct boot_mem *m = &bi->mem[i];

		if (m->type != BOOT_MEM_RAM)
			region_cut(&r, m->base, m->base + m->len);
	}
	r.base = (r.base + PAGE_SIZE - 1) & ~(u64)(PAGE_SIZE - 1);
	r.end &= ~(u64)(PAGE_SIZE - 1);
	return r;
}

static void consider(const struct boot_info *bi, u64 base, u64 end)
{
	struct region r = usable_part(bi, base, end);

	if (r.end <= GIB4 && region_size(&r) > region_size(&low))
		low = r;
	if (region_size(&r) > region_size(&main_region))
		main_region = r;
}

void phys_init(const struct boot_info *bi)
{
	for (u32 i = 0; i < bi->nr_mem; i++) {
		u64 base = bi->mem[i].base, end = base + bi->mem[i].len;

		if (bi->mem[i].type != BOOT_MEM_RAM)
			continue;
		if (base < GIB4)
			consider(bi, base, end < GIB4 ? end : GIB4);
		if (end > GIB4)
			consider(bi, base > GIB4 ? base : GIB4, end);
	}
	if (!region_size(&low))
		arch_fatal("the boot loader's memory map has no usable RAM below 4 GiB");
	if (low.base == main_region.base)
		low.end = low.base;
}

void *phys_page_alloc(void)
{
	struct region *r = region_size(&low) ? &low : &main_region;

	if (!region_size(r))
		arch_fatal("out of memory: no page left");
	if (r == &main_region && arena) {
		if (arena->size < arena->used + PAGE_SIZE)
			arch_fatal("out of memory: give the machine more "
				   "(tools/run --qemu \"-m 4G\")");
		arena->size -= PAGE_SIZE;
	}
	r->end -= PAGE_SIZE;
	return (void *)r->end;
}

void *phys_page_zeroed(void)
{
	return memset(phys_page_alloc(), 0, PAGE_SIZE);
}

void arch_memory_arena(struct arena *a)
{
	arena_init(a, (void *)main_region.base, region_size(&main_region));
	arena = a;
}
