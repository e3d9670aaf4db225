/* SPDX-License-Identifier: MIT */
#include "lapic.h"
#include "cpu.h"
#include "irq.h"
#include "paging.h"
#include "tsc.h"
#include "regs/apic.h"
#include "regs/msr.h"
#include "../kernel/lib/math64.h"

#define CPUID1_EDX_APIC (1u << 9)
#define CPUID1_ECX_X2APIC (1u << 21)
#define NS_PER_S 1000000000ull
#define CALIBRATE_NS 5000000ull

struct lapic_ops {
	u32 (*read)(u32 reg);
	void (*write)(u32 reg, u32 v);
	void (*icr)(u32 apic_id, u32 low);
	u32 (*id)(void);
};

static volatile u32 *mmio;
static u64 timer_hz;
static bool x2apic;

static u32 xapic_read(u32 reg)
{
	return mmio[reg / 4];
}

static void xapic_write(u32 reg, u32 v)
{
	mmio[reg / 4] = v;
}

/* The ICR is two registers: an interrupt between them could send its own IPI
 * and spoil the destination. */
static void xapic_icr(u32 apic_id, u32 low)
{
	bool on = irq_save();

	/* A message takes well under 100 us; a stuck bus must not hold us. */
	for (u32 i = 0; i < 100000 && xapic_read(APIC_ICR) & APIC_ICR_PENDING; i++)
		cpu_pause();
	xapic_write(APIC_ICR_HIGH, apic_id << 24);
	xapic_write(APIC_ICR, low);
	irq_restore(on);
}

static u32 xapic_id(void)
{
	return xapic_read(APIC_ID) >> 24;
}

static u32 x2apic_read(u32 reg)
{
	return (u32)rdmsr(MSR_X2APIC + reg / 16);
}

static void x2apic_write(u32 reg, u32 v)
{
	wrmsr(MSR_X2APIC + reg / 16, v);
}

/* x2APIC register writes are not serialising (SDM vol. 3A, "x2APIC Register
 * Accesses"): the fence makes earlier stores visible before the message. */
static void x2apic_icr(u32 apic_id, u32 low)
{
	__asm__ volatile("mfence; lfence" ::: "memory");
	wrmsr(MSR_X2APIC + APIC_ICR / 16, (u64)apic_id << 32 | low);
}

static u32 x2apic_id(void)
{
	return x2apic_read(APIC_ID);
}

static const struct lapic_ops xapic_ops = { xapic_read, xapic_write, xapic_icr, xapic_id };
static const struct lapic_ops x2apic_ops = { x2apic_read, x2apic_write, x2apic_icr, x2apic_id };
static const struct lapic_ops *ops = &xapic_ops;

void lapic_init(bool want_x2apic)
{
	u32 eax = 1, ebx, ecx = 0, edx;

	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	if (!(edx & CPUID1_EDX_APIC))
		arch_fatal("this CPU has no local APIC");

	u64 base = rdmsr(MSR_APIC_BASE);

	x2apic = base & APIC_BASE_X2APIC || (want_x2apic && ecx & CPUID1_ECX_X2APIC);
	if (x2apic) {
		ops = &x2apic_ops;
	} else {
		mmio = (volatile u32 *)(base & APIC_BASE_ADDR);
		paging_map_device((u64)mmio);
	}
	lapic_enable();
}

void lapic_enable(void)
{
	u64 base = rdmsr(MSR_APIC_BASE);

	/* x2APIC is entered from the enabled xAPIC state only. */
	if (!(base & APIC_BASE_ENABLE)) {
		base |= APIC_BASE_ENABLE;
		wrmsr(MSR_APIC_BASE, base);
	}
	if (x2apic && !(base & APIC_BASE_X2APIC))
		wrmsr(MSR_APIC_BASE, base | APIC_BASE_X2APIC);
	ops->write(APIC_SVR, APIC_SVR_ENABLE | VEC_SPURIOUS);
	ops->write(APIC_TPR, 0);
	ops->write(APIC_LVT_TIMER, APIC_LVT_MASKED);
	ops->write(APIC_LVT_LINT0, APIC_LVT_MASKED);
	ops->write(APIC_LVT_LINT1, APIC_LVT_MASKED);
	ops->write(APIC_LVT_ERROR, APIC_LVT_MASKED);
	ops->write(APIC_TIMER_DIVIDE, APIC_DIVIDE_16);
}

bool lapic_is_x2apic(void)
{
	return x2apic;
}

u32 lapic_id(void)
{
	return ops->id();
}

void lapic_eoi(void)
{
	ops->write(APIC_EOI, 0);
}

void lapic_ipi(u32 apic_id, u8 vector)
{
	ops->icr(apic_id, APIC_ICR_FIXED | APIC_ICR_ASSERT | vector);
}

void lapic_nmi(u32 apic_id)
{
	ops->icr(apic_id, APIC_ICR_NMI | APIC_ICR_ASSERT);
}

void lapic_init_ipi(u32 apic_id)
{
	ops->icr(apic_id, APIC_ICR_INIT | APIC_ICR_ASSERT);
}

void lapic_sipi(u32 apic_id, u8 page)
{
	ops->icr(apic_id, APIC_ICR_STARTUP | APIC_ICR_ASSERT | page);
}

/* The counter beside the TSC at (nearly) the same moment: the tightest of a few
 * tries, since a hypervisor may take the CPU away between the two reads. */
static u32 timer_sample(u64 *tsc)
{
	u64 best = ~0ull;
	u32 count = 0;

	for (int i = 0; i < 5; i++) {
		u64 before = rdtsc();
		u32 c = ops->read(APIC_TIMER_CURRENT);
		u64 after = rdtsc();

		if (after - before < best) {
			best = after - before;
			*tsc = before + best / 2;
			count = c;
		}
	}
	return count;
}

void lapic_timer_calibrate(void)
{
	u64 tsc0 = 0, tsc1 = 0, cycles = tsc_from_ns(CALIBRATE_NS);
	u32 count0, count1;

	ops->write(APIC_TIMER_INIT, ~0u);
	count0 = timer_sample(&tsc0);
	while (rdtsc() - tsc0 < cycles)
		cpu_dawdle();
	count1 = timer_sample(&tsc1);
	ops->write(APIC_TIMER_INIT, 0);
	timer_hz = muldiv_u64(count0 - count1, tsc_hz(), tsc1 - tsc0);
	if (!timer_hz)
		arch_fatal("the local APIC timer does not count");
}

static void timer_arm(u64 ns, u32 mode)
{
	u64 limit = muldiv_u64(~0u, NS_PER_S, timer_hz);
	u64 count = muldiv_u64(ns < limit ? ns : limit, timer_hz, NS_PER_S);

	if (ns && !count)
		count = 1;
	ops->write(APIC_LVT_TIMER, mode | (ns ? VEC_TIMER : APIC_LVT_MASKED));
	ops->write(APIC_TIMER_INIT, (u32)count);
}

void lapic_timer_oneshot(u64 ns)
{
	timer_arm(ns, 0);
}
