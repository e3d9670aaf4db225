/* SPDX-License-Identifier: MIT */
/* SDM vol. 3A, "MP Initialization"; the code the APs run: boot/ap_trampoline.S. */
#include "ap.h"
#include "cpu.h"
#include "cpuid.h"
#include "lapic.h"
#include "paging.h"
#include "tsc.h"
#include "../kernel/lib/string.h"

#define LOW_FIRST 0x1000ull
#define LOW_END 0x9f000ull
#define PREFERRED_PAGE 0x8000ull
#define INT3 0xcc

/* The SDM's example waits 10 ms after INIT, for the external APICs of old. QEMU
 * and KVM latch the messages in order and need none; 224 APs at 10 ms each
 * would cost over two seconds. */
#define INIT_DELAY_US 10000
/* The SDM's second SIPI follows after 200 us unless the AP has woken: for
 * hardware that lost the first. Harmless elsewhere, as an AP that is awake
 * ignores it. */
#define SIPI_WAIT_US 200

extern const char ap_trampoline[], ap_trampoline_end[];
extern const char ap_trampoline_cr3[], ap_trampoline_gdt_base[], ap_trampoline_jump32[];

struct percpu *ap_ticket; /* taken by the AP with an exchange */

static u64 page;
static u32 init_delay_us;

static bool is_ram(const struct boot_info *bi, u64 base)
{
	bool ram = false;

	for (u32 i = 0; i < bi->nr_mem; i++) {
		u64 from = bi->mem[i].base, to = from + bi->mem[i].len;

		if (bi->mem[i].type == BOOT_MEM_RAM)
			ram |= from <= base && base + PAGE_SIZE <= to;
		else if (from < base + PAGE_SIZE && base < to)
			return false;
	}
	return ram;
}

static void patch(const char *where, u32 add)
{
	u32 v;
	char *p = (char *)page + (where - ap_trampoline);

	memcpy(&v, p, sizeof(v));
	v += add;
	memcpy(p, &v, sizeof(v));
}

bool ap_prepare(const struct boot_info *bi)
{
	static struct cpuid_snap snap;
	const struct cpuid_leaf *l;

	page = PREFERRED_PAGE;
	if (!is_ram(bi, page))
		for (page = LOW_FIRST; page < LOW_END && !is_ram(bi, page);)
			page += PAGE_SIZE;
	if (page >= LOW_END)
		return false;

	memset((void *)page, INT3, PAGE_SIZE);
	memcpy((void *)page, ap_trampoline, (size_t)(ap_trampoline_end - ap_trampoline));
	patch(ap_trampoline_cr3, (u32)read_cr3());
	patch(ap_trampoline_gdt_base, (u32)page);
	patch(ap_trampoline_jump32, (u32)page);
	paging_low_exec(page, true);

	cpuid_capture(&snap);
	l = cpuid_find(&snap, 1, 0);
	init_delay_us = l->ecx >> 31 ? 0 : INIT_DELAY_US; /* ECX[31]: hypervisor */
	return true;
}

void ap_start(struct percpu *p)
{
	u64 start, wait = tsc_from_ns(SIPI_WAIT_US * 1000ull);

	__atomic_store_n(&ap_ticket, p, __ATOMIC_RELEASE);
	lapic_init_ipi(p->apic_id);
	tsc_delay_us(init_delay_us);
	lapic_sipi(p->apic_id, (u8)(page >> 12));
	start = rdtsc();
	while (rdtsc() - start < wait) {
		if (!__atomic_load_n(&ap_ticket, __ATOMIC_ACQUIRE))
			return;
		cpu_pause();
	}
	lapic_sipi(p->apic_id, (u8)(page >> 12));
}

void ap_cancel(struct percpu *p)
{
	__atomic_store_n(&ap_ticket, NULL, __ATOMIC_RELEASE);
	lapic_init_ipi(p->apic_id);
}

void ap_finish(void)
{
	paging_low_exec(page, false);
}
