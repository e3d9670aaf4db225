/* SPDX-License-Identifier: MIT */
/* Four-level page tables: SDM vol. 3A chapter "Paging". */
#include "paging.h"
#include "cpu.h"
#include "irq.h"
#include "phys.h"
#include "../kernel/lib/fmt.h"

#define PTE_NX (1ull << PTE_NX_BIT)
#define PTE_ADDR 0x000ffffffffff000ull
#define LARGE_PAGE 0x200000ull

#define MAP_TEXT PTE_P
#define MAP_RODATA (PTE_P | PTE_NX)
#define MAP_DATA (PTE_P | PTE_W | PTE_NX)
#define MAP_DEVICE (MAP_DATA | PTE_PCD | PTE_PWT) /* PAT entry 3: uncached */

#define STACKS_VA 0xffffc00000000000ull
#define CPU_STACKS_VA 0xffffd00000000000ull

/* Pages of one CPU's stacks, from the bottom; all others are guards. */
#define CPU_STACKS_SIZE 0x10000
#define CPU_STACKS_MAX 4096
#define DF_PAGE 1
#define NMI_PAGE 4
#define MC_PAGE 7
#define IST_PAGES 2
#define CPU_MAIN_PAGE 12
#define CPU_MAIN_PAGES 4

extern char text_start[], text_end[], rodata_start[], rodata_end[], data_start[], data_end[];
extern char boot_stack_guard[], boot_stack_top[];

static u64 root[512] __attribute__((aligned(PAGE_SIZE)));

/* The entry for va at the given level (0: 4 KiB page, 1: 2 MiB); missing
 * tables are added, or, without `add`, NULL is returned. A large page found on
 * the way is the answer. */
static u64 *walk(u64 va, u32 level, bool add)
{
	u64 *table = root;

	for (u32 l = 3;; l--) {
		u64 *e = &table[va >> (12 + 9 * l) & 511];

		if (l == level || (*e & (PTE_P | PTE_PS)) == (PTE_P | PTE_PS))
			return e;
		if (!(*e & PTE_P)) {
			if (!add)
				return NULL;
			*e = (u64)phys_page_zeroed() | PTE_P | PTE_W;
		}
		table = (u64 *)(*e & PTE_ADDR);
	}
}

static void map_page(u64 va, u64 pa, u64 bits)
{
	*walk(va, 0, true) = pa | bits;
}

/* One to one, the pages that lie wholly within [from, to). A loader's map may
 * list RAM twice: what is mapped already stays as it is. */
static void map_ram(u64 from, u64 to)
{
	u64 a = (from + PAGE_SIZE - 1) & ~(u64)(PAGE_SIZE - 1);
	u64 size;

	for (; a + PAGE_SIZE <= to; a += size) {
		/* Image, page 0 and the trampoline need single pages. */
		bool small = a % LARGE_PAGE || to - a < LARGE_PAGE ||
			     a < (((u64)image_end + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1));
		u64 *e = walk(a, small ? 0 : 1, true);

		if (!(*e & PTE_P))
			*e = a | MAP_DATA | (small ? 0 : PTE_PS);
		size = small ? PAGE_SIZE : LARGE_PAGE;
	}
}

static void map_section(const char *start, const char *end, u64 bits)
{
	for (u64 a = (u64)start; a < (u64)end; a += PAGE_SIZE)
		map_page(a, a, bits);
}

void paging_init(const struct boot_info *bi)
{
	phys_init(bi);
	for (u32 i = 0; i < bi->nr_mem; i++)
		if (bi->mem[i].type == BOOT_MEM_RAM)
			map_ram(bi->mem[i].base, bi->mem[i].base + bi->mem[i].len);
	map_section(text_start, text_end, MAP_TEXT);
	map_section(rodata_start, rodata_end, MAP_RODATA);
	map_section(data_start, data_end, MAP_DATA);
	map_page((u64)boot_stack_guard, 0, 0);
	map_page(0, 0, 0);
	write_cr3((u64)root);
}

static void map_stack(u64 bottom, u32 pages)
{
	for (u32 i = 0; i < pages; i++)
		map_page(bottom + i * PAGE_SIZE, (u64)phys_page_alloc(), MAP_DATA);
}

void *stack_slot(u32 i)
{
	u64 top = STACKS_VA + (u64)(i + 1) * STACK_SLOT_SIZE;
	u64 bottom = top - STACK_USABLE;
	u64 *e;

	if (i >= STACK_SLOT_MAX)
		arch_fatal("too many task stacks");
	e = walk(bottom, 0, false);
	if (!e || !(*e & PTE_P))
		map_stack(bottom, STACK_USABLE / PAGE_SIZE);
	return (void *)top;
}

void paging_cpu_stacks(u32 cpu, struct cpu_stacks *out)
{
	u64 base = CPU_STACKS_VA + (u64)cpu * CPU_STACKS_SIZE;

	if (cpu >= CPU_STACKS_MAX)
		arch_fatal("too many CPU stacks");
	map_stack(base + DF_PAGE * PAGE_SIZE, IST_PAGES);
	map_stack(base + NMI_PAGE * PAGE_SIZE, IST_PAGES);
	map_stack(base + MC_PAGE * PAGE_SIZE, IST_PAGES);
	out->df = base + (DF_PAGE + IST_PAGES) * PAGE_SIZE;
	out->nmi = base + (NMI_PAGE + IST_PAGES) * PAGE_SIZE;
	out->mc = base + (MC_PAGE + IST_PAGES) * PAGE_SIZE;
	out->main = (u64)boot_stack_top;
	if (cpu) { /* the boot CPU stays on the stack it came with */
		map_stack(base + CPU_MAIN_PAGE * PAGE_SIZE, CPU_MAIN_PAGES);
		out->main = base + (CPU_MAIN_PAGE + CPU_MAIN_PAGES) * PAGE_SIZE;
	}
}

void paging_map_device(u64 pa)
{
	map_page(pa & PTE_ADDR, pa & PTE_ADDR, MAP_DEVICE);
	invlpg(pa);
}

void paging_low_exec(u64 pa, bool exec)
{
	map_page(pa, pa, exec ? MAP_TEXT : MAP_DATA);
	invlpg(pa);
}

bool paging_readable(u64 va)
{
	bool canonical = (u64)((s64)(va << 16) >> 16) == va;
	u64 *e;

	if (!canonical || va % 8)
		return false;
	if (read_cr3() != (u64)root) /* still on the boot tables */
		return va >= (u64)image_start && va < (u64)image_end;
	e = walk(va, 0, false);
	return e && *e & PTE_P;
}

bool paging_guard_name(u64 va, char *buf, size_t n)
{
	u64 *e = walk(va, 0, false);

	if (e && *e & PTE_P)
		return false;
	if (va - (u64)boot_stack_guard < PAGE_SIZE)
		fmt_sn(buf, n, "boot stack");
	else if (va - STACKS_VA < (u64)STACK_SLOT_MAX * STACK_SLOT_SIZE)
		fmt_sn(buf, n, "task stack %llu",
		       (unsigned long long)((va - STACKS_VA) / STACK_SLOT_SIZE));
	else if (va - CPU_STACKS_VA < (u64)CPU_STACKS_MAX * CPU_STACKS_SIZE)
		fmt_sn(buf, n, "stack of CPU %llu",
		       (unsigned long long)((va - CPU_STACKS_VA) / CPU_STACKS_SIZE));
	else
		return false;
	return true;
}
