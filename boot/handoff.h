/* SPDX-License-Identifier: MIT */
/* What both boot protocols hand to the kernel: the same struct, filled by
 * boot/boot_info.c from PVH start info or multiboot2 tags. */
#ifndef BOOT_HANDOFF_H
#define BOOT_HANDOFF_H

#include "../kernel/lib/types.h"

#define BOOT_CMDLINE_MAX 8192
#define BOOT_MEM_MAX 128

enum boot_mem_type {
	BOOT_MEM_RAM = 1, /* usable; every other type is left alone */
};

struct boot_mem {
	u64 base, len; /* bytes */
	u32 type;      /* e820 type number */
};

struct boot_info {
	char cmdline[BOOT_CMDLINE_MAX];
	bool cmdline_truncated;
	struct boot_mem mem[BOOT_MEM_MAX];
	u32 nr_mem;
	u32 mem_dropped; /* entries beyond BOOT_MEM_MAX */
	u64 rsdp;        /* physical address; 0 if the loader gave none */
	const char *protocol; /* "pvh" or "multiboot2"; NULL: unknown loader, all else empty */
};

/* Where boot ends and the kernel begins: on the boot stack, interrupts off, on
 * temporary tables that map the first 4 GiB. Defined by kernel/main.c. */
void noreturn_fn kernel_main(const struct boot_info *bi);

#endif
