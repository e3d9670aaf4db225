/* SPDX-License-Identifier: MIT */
/* sources: tests/host/panic_host.c */
/* fuzz: -max_len=4096 */
/*
 * Bytes as what a loader left: multiboot2 information or PVH start info, right
 * before the end of what is mapped. The first byte chooses. PVH addresses below
 * the size of the input are taken relative to it, so that some lead there.
 *
 * FUZZ_PLANT is a fault for the test of the fuzzer: texts are read one byte beyond
 * their room.
 */
#include "phys.h"
#include "boot/handoff.h"
#include "kernel/lib/string.h"

#ifdef FUZZ_PLANT
#define strnlen(s, n) (strnlen)(s, (n) + 1)
#endif
#include "boot/boot_info.c"
#undef strnlen

#include <setjmp.h>

#define INPUT_MAX 8192

static jmp_buf handed_over;

void kernel_main(const struct boot_info *bi)
{
	must(bi == &info);
	longjmp(handed_over, 1);
}

static void relocate(u64 *addr, u64 base, size_t size)
{
	if (*addr && *addr < size)
		*addr += base;
}

static u32 put_pvh(const u8 *data, size_t size)
{
	static u8 copy[INPUT_MAX];
	struct pvh_start_info *si = (struct pvh_start_info *)copy;

	memcpy(copy, data, size);
	if (size >= sizeof(*si)) {
		si->magic = PVH_MAGIC;
		relocate(&si->cmdline, PHYS_END - size, size);
		relocate(&si->memmap, PHYS_END - size, size);
		/* A map of gigabytes of zeros says nothing and takes seconds. */
		si->memmap_entries &= 0xfff;
	}
	return (u32)phys_put(PHYS_END, copy, size, INPUT_MAX);
}

static u32 put_mb2(const u8 *data, size_t size)
{
	static u8 copy[INPUT_MAX];
	u32 total = (u32)size;

	memcpy(copy, data, size);
	if (size >= sizeof(total))
		memcpy(copy, &total, sizeof(total));
	return (u32)phys_put(PHYS_END, copy, size, INPUT_MAX);
}

static void check_info(void)
{
	must(info.nr_mem <= BOOT_MEM_MAX);
	must(!info.mem_dropped || info.nr_mem == BOOT_MEM_MAX);
	must(strnlen(info.cmdline, sizeof(info.cmdline)) < sizeof(info.cmdline));
	must(!info.cmdline_truncated || strlen(info.cmdline) == BOOT_CMDLINE_MAX - 1);
	for (u32 i = 0; i < info.nr_mem; i++) {
		must(info.mem[i].len);
		must(info.mem[i].base + info.mem[i].len >= info.mem[i].base);
	}
	must(info.protocol || (!info.nr_mem && !info.cmdline[0]));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	bool mb2 = take8(&in) % 2;
	u32 addr;

	phys_init();
	if (in.left > INPUT_MAX)
		in.left = INPUT_MAX;
	in.left &= ~7ul; /* both structures are aligned to 8 bytes */
	memset(&info, 0, sizeof(info));
	addr = mb2 ? put_mb2(in.p, in.left) : put_pvh(in.p, in.left);
	if (!setjmp(handed_over))
		boot_main(mb2 ? MB2_BOOT_MAGIC : 0, addr);
	check_info();
	return 0;
}
