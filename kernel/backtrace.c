/* SPDX-License-Identifier: MIT */
#include "backtrace.h"
#include "lib/fmt.h"
#include "../arch-x86/paging.h"

/* A frame this far above the one before is not on the same stack. An interrupt
 * frame stays within it: interrupts do not change stacks here. */
#define FRAME_SPAN_MAX STACK_USABLE

/* Generated from the first link pass by kernel/symtab.awk, sorted by address. */
struct symbol {
	u32 addr; /* the image lies below 4 GiB */
	u32 name; /* offset into symtab_names */
};

extern const struct symbol symtab[], symtab_end[];
extern const char symtab_names[];
extern const char text_start[], text_end[];

u32 backtrace_walk(u64 rip, u64 rbp, u64 out[BACKTRACE_MAX])
{
	u32 n = 0;

	if (rip)
		out[n++] = rip;
	while (n < BACKTRACE_MAX && rbp && paging_readable(rbp) && paging_readable(rbp + 8)) {
		const u64 *frame = (const u64 *)rbp;
		u64 next = frame[0];

		if (!frame[1])
			break;
		out[n++] = frame[1];
		if (next <= rbp || next - rbp > FRAME_SPAN_MAX)
			break;
		rbp = next;
	}
	return n;
}

void symbol_format(u64 addr, char *buf, size_t n)
{
	size_t lo = 0, hi = (size_t)(symtab_end - symtab);

	if (addr < (u64)text_start || addr >= (u64)text_end || !hi || addr < symtab[0].addr) {
		fmt_sn(buf, n, "0x%llx", (unsigned long long)addr);
		return;
	}
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (symtab[mid].addr <= addr)
			lo = mid;
		else
			hi = mid;
	}

	u64 end = &symtab[lo + 1] < symtab_end ? symtab[lo + 1].addr : (u64)text_end;

	fmt_sn(buf, n, "%s+0x%llx/0x%llx", symtab_names + symtab[lo].name,
	       (unsigned long long)(addr - symtab[lo].addr),
	       (unsigned long long)(end - symtab[lo].addr));
}
