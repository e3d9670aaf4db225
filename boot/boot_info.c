/* SPDX-License-Identifier: MIT */
/*
 * Fills struct boot_info from what the loader left in memory. That memory is
 * plain RAM which the kernel hands out later, so everything is copied. All of
 * it is input from outside: sizes and addresses are checked before use, and
 * only the first 4 GiB, which the boot tables map, are ever read.
 *
 * PVH: Xen's "x86/HVM direct boot ABI" (hvm_start_info).
 * multiboot2: the Multiboot2 Specification 2.0, section 3.6.
 */
#include "handoff.h"
#include "../kernel/lib/string.h"

#define MAPPED_END (1ull << 32)

/* Where a physical address is seen: the boot tables map it to itself. Fuzzing
 * (tests/fuzz) has it elsewhere. */
#ifndef PHYS
#define PHYS(addr) ((const void *)(u64)(addr))
#endif

#define PVH_MAGIC 0x336ec578u

struct pvh_start_info {
	u32 magic, version, flags, nr_modules;
	u64 modlist, cmdline, rsdp;
	u64 memmap; /* version 1 and later, as is the count */
	u32 memmap_entries, reserved;
};

struct pvh_memmap_entry {
	u64 addr, size;
	u32 type, reserved;
} __attribute__((packed)); /* nothing promises that the map is aligned */

#define MB2_BOOT_MAGIC 0x36d76289u
#define MB2_INFO_MAX (1u << 20)

enum mb2_tag_type {
	MB2_TAG_END = 0,
	MB2_TAG_CMDLINE = 1,
	MB2_TAG_MMAP = 6,
	MB2_TAG_ACPI_OLD = 14,
	MB2_TAG_ACPI_NEW = 15,
};

struct mb2_tag {
	u32 type, size; /* size without the padding to 8 bytes */
};

struct mb2_mmap_tag {
	struct mb2_tag tag;
	u32 entry_size, entry_version;
};

struct mb2_mmap_entry {
	u64 addr, len;
	u32 type, reserved;
} __attribute__((packed));

#define RSDP_V1_SIZE 20
#define RSDP_V2_SIZE 36

static struct boot_info info;
static u8 rsdp_copy[RSDP_V2_SIZE] __attribute__((aligned(16)));

void noreturn_fn boot_main(u32 magic, u32 info_addr);

static bool readable(u64 addr, u64 size)
{
	return addr && addr < MAPPED_END && size <= MAPPED_END - addr;
}

static void set_cmdline(const char *s, u64 room)
{
	size_t limit = room < BOOT_CMDLINE_MAX ? room : BOOT_CMDLINE_MAX;
	size_t n = strnlen(s, limit);

	if (n == BOOT_CMDLINE_MAX) {
		info.cmdline_truncated = true;
		n--;
	}
	memcpy(info.cmdline, s, n);
	info.cmdline[n] = '\0';
}

static void add_mem(u64 base, u64 len, u32 type)
{
	if (!len || base + len < base)
		return;
	if (info.nr_mem == BOOT_MEM_MAX) {
		info.mem_dropped++;
		return;
	}
	info.mem[info.nr_mem++] = (struct boot_mem){ .base = base, .len = len, .type = type };
}

static void parse_pvh(const struct pvh_start_info *si)
{
	info.protocol = "pvh";
	if (readable(si->cmdline, 1))
		set_cmdline(PHYS(si->cmdline), MAPPED_END - si->cmdline);
	info.rsdp = si->rsdp;
	if (si->version < 1 ||
	    !readable(si->memmap, (u64)si->memmap_entries * sizeof(struct pvh_memmap_entry)))
		return;

	const struct pvh_memmap_entry *e = PHYS(si->memmap);

	for (u32 i = 0; i < si->memmap_entries; i++)
		add_mem(e[i].addr, e[i].size, e[i].type);
}

static void parse_mb2_mmap(const struct mb2_mmap_tag *t)
{
	if (t->tag.size < sizeof(*t) || t->entry_size < sizeof(struct mb2_mmap_entry))
		return;

	u32 n = (t->tag.size - (u32)sizeof(*t)) / t->entry_size;

	for (u32 i = 0; i < n; i++) {
		const struct mb2_mmap_entry *e = (const struct mb2_mmap_entry *)
			((const char *)(t + 1) + (u64)i * t->entry_size);

		add_mem(e->addr, e->len, e->type);
	}
}

/* The tag holds a copy of the RSDP; the newer one wins. */
static void copy_mb2_rsdp(const struct mb2_tag *t, size_t size)
{
	if (t->size - sizeof(*t) < size)
		return;
	memcpy(rsdp_copy, t + 1, size);
	info.rsdp = (u64)rsdp_copy;
}

static void parse_mb2(u64 addr)
{
	u32 total = *(const u32 *)PHYS(addr);
	bool have_new_rsdp = false;
	u32 off = 8; /* past total size and a reserved word */

	info.protocol = "multiboot2";
	if (total > MB2_INFO_MAX || !readable(addr, total))
		return;
	while (off <= total && total - off >= sizeof(struct mb2_tag)) {
		const struct mb2_tag *t = PHYS(addr + off);

		if (t->type == MB2_TAG_END || t->size < sizeof(*t) || t->size > total - off)
			return;
		switch (t->type) {
		case MB2_TAG_CMDLINE:
			set_cmdline((const char *)(t + 1), t->size - sizeof(*t));
			break;
		case MB2_TAG_MMAP:
			parse_mb2_mmap((const struct mb2_mmap_tag *)t);
			break;
		case MB2_TAG_ACPI_OLD:
			if (!have_new_rsdp)
				copy_mb2_rsdp(t, RSDP_V1_SIZE);
			break;
		case MB2_TAG_ACPI_NEW:
			have_new_rsdp = true;
			copy_mb2_rsdp(t, RSDP_V2_SIZE);
			break;
		}
		off += (t->size + 7) & ~7u;
	}
}

static u64 scan_rsdp(u64 from, u64 to)
{
	for (u64 a = (from + 15) & ~15ull; a + RSDP_V1_SIZE <= to; a += 16) {
		const u8 *p = PHYS(a);
		u8 sum = 0;

		if (memcmp(p, "RSD PTR ", 8))
			continue;
		for (u32 i = 0; i < RSDP_V1_SIZE; i++)
			sum = (u8)(sum + p[i]);
		if (!sum)
			return a;
	}
	return 0;
}

/* ACPI specification, "Finding the RSDP on IA-PC Systems": the first KiB of
 * the EBDA, whose segment the BIOS data area names, then the BIOS area. */
static u64 find_rsdp(void)
{
	const volatile u16 *ebda_segment = PHYS(0x40e);
	u64 ebda = (u64)*ebda_segment << 4;
	u64 rsdp = 0;

	if (ebda >= 0x400 && ebda < 0xa0000)
		rsdp = scan_rsdp(ebda, ebda + 1024);
	return rsdp ? rsdp : scan_rsdp(0xe0000, 0x100000);
}

/* magic: 0 when entered by PVH, else what the multiboot2 loader left in EAX. */
void noreturn_fn boot_main(u32 magic, u32 info_addr)
{
	if (magic == MB2_BOOT_MAGIC && readable(info_addr, 8))
		parse_mb2(info_addr);
	else if (!magic && readable(info_addr, sizeof(struct pvh_start_info)) &&
		 *(const u32 *)PHYS(info_addr) == PVH_MAGIC)
		parse_pvh(PHYS(info_addr));
	if (!info.rsdp)
		info.rsdp = find_rsdp();
	kernel_main(&info);
}
