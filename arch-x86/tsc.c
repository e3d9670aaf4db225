/* SPDX-License-Identifier: MIT */
#include "tsc.h"
#include "cpu.h"
#include "cpuid.h"
#include "regs/isa.h"
#include "../kernel/lib/math64.h"

#define NS_PER_S 1000000000ull
#define PIT_START 0xffffu
#define PIT_TICKS (PIT_HZ / 100) /* 10 ms */
#define GUESS_HZ NS_PER_S

static u64 hz;

static u64 from_cpuid(const struct cpuid_snap *s)
{
	const struct cpuid_leaf *l = cpuid_find(s, 0x40000010, 0);

	if (l && l->eax)
		return l->eax * 1000ull; /* kHz */
	l = cpuid_find(s, 0x15, 0);
	if (l && l->eax && l->ebx && l->ecx)
		return muldiv_u64(l->ecx, l->ebx, l->eax); /* crystal Hz x ratio */
	return 0;
}

static u32 pit_read(void)
{
	u32 lo;

	outb(PIT_CMD, PIT_CMD_LATCH_CH2);
	lo = inb(PIT_CH2);
	return lo | (u32)inb(PIT_CH2) << 8;
}

/* Counter and TSC at nearly the same moment: the tightest of a few tries, since
 * a hypervisor may take the CPU away between the reads. */
static u32 pit_sample(u64 *tsc)
{
	u64 best = ~0ull;
	u32 count = 0;

	for (int i = 0; i < 5; i++) {
		u64 before = rdtsc();
		u32 c = pit_read();
		u64 after = rdtsc();

		if (after - before < best) {
			best = after - before;
			*tsc = before + best / 2;
			count = c;
		}
	}
	return count;
}

/* One count-down from 65535, which lasts 55 ms. Returns 0 when it ran out
 * before the second sample, or when there is no PIT. */
static u64 pit_measure(void)
{
	u64 tsc0 = 0, tsc1 = 0;
	u32 count0, count1;

	outb(PORT_B, (u8)((inb(PORT_B) & ~PORT_B_SPEAKER) | PORT_B_GATE2));
	outb(PIT_CMD, PIT_CMD_CH2_MODE0);
	outb(PIT_CH2, PIT_START & 0xff);
	outb(PIT_CH2, PIT_START >> 8);
	count0 = pit_sample(&tsc0);
	for (u32 i = 0; i < 1000000 && count0 - pit_read() < PIT_TICKS; i++)
		cpu_dawdle();
	count1 = pit_sample(&tsc1);
	if (inb(PORT_B) & PORT_B_OUT2 || count1 >= count0 || count0 - count1 < PIT_TICKS)
		return 0;
	return muldiv_u64(tsc1 - tsc0, PIT_HZ, count0 - count1);
}

void tsc_init(void)
{
	static struct cpuid_snap snap;
	const struct cpuid_leaf *l;

	cpuid_capture(&snap);
	hz = from_cpuid(&snap);
	for (int i = 0; i < 3 && !hz; i++)
		hz = pit_measure();
	if (hz)
		return;
	l = cpuid_find(&snap, 0x16, 0);
	hz = l && l->eax ? l->eax * 1000000ull : GUESS_HZ; /* base MHz */
}

u64 tsc_hz(void)
{
	return hz;
}

u64 tsc_to_ns(u64 cycles)
{
	return muldiv_u64(cycles, NS_PER_S, hz);
}

u64 tsc_from_ns(u64 ns)
{
	return muldiv_u64(ns, hz, NS_PER_S);
}

void tsc_delay_us(u32 us)
{
	u64 start = rdtsc(), cycles = tsc_from_ns(us * 1000ull);

	while (rdtsc() - start < cycles)
		cpu_pause();
}
