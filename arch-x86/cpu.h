/* SPDX-License-Identifier: MIT */
/* Single instructions as functions. No state, callable anywhere; those that
 * are privileged run in ring 0 only. */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "../kernel/lib/types.h"
#include "regs/cr.h"

static inline void cpu_pause(void)
{
	__asm__ volatile("pause" ::: "memory");
}

/* Passes a little time (about 1 us) without PAUSE, which under icount leaves the
 * emulator's loop each time: for waits of milliseconds in which no other CPU is
 * expected to do anything. */
static inline void cpu_dawdle(void)
{
	for (u32 i = 0; i < 1000; i++)
		__asm__ volatile("");
}

static inline void irq_disable(void)
{
	__asm__ volatile("cli" ::: "memory");
}

static inline void irq_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

/* True when the calling CPU takes interrupts. */
static inline bool irq_enabled(void)
{
	u64 flags;

	__asm__ volatile("pushfq; popq %0" : "=r"(flags)::"memory");
	return flags & RFLAGS_IF;
}

/* Returns the state for irq_restore(). */
static inline bool irq_save(void)
{
	bool on = irq_enabled();

	irq_disable();
	return on;
}

static inline void irq_restore(bool on)
{
	if (on)
		irq_enable();
}

/* Call with interrupts off: STI holds them back for one more instruction, so
 * one that became pending since the caller's last check ends the HLT.
 * Returns with interrupts off again. */
static inline void cpu_halt_until_irq(void)
{
	__asm__ volatile("sti; hlt; cli" ::: "memory");
}

/* Never returns; NMIs are still taken. */
static inline void noreturn_fn cpu_halt_forever(void)
{
	for (;;)
		__asm__ volatile("cli; hlt" ::: "memory");
}

static inline u64 rdtsc(void)
{
	u32 lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi)::"memory");
	return (u64)hi << 32 | lo;
}

static inline u64 rdmsr(u32 msr)
{
	u32 lo, hi;

	__asm__ volatile("rdmsr" : "=a"(lo), "=d"(hi) : "c"(msr) : "memory");
	return (u64)hi << 32 | lo;
}

static inline void wrmsr(u32 msr, u64 v)
{
	__asm__ volatile("wrmsr" ::"a"((u32)v), "d"((u32)(v >> 32)), "c"(msr) : "memory");
}

static inline u8 inb(u16 port)
{
	u8 v;

	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline u16 inw(u16 port)
{
	u16 v;

	__asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port) : "memory");
	return v;
}

static inline void outb(u16 port, u8 v)
{
	__asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void outw(u16 port, u16 v)
{
	__asm__ volatile("outw %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline void outl(u16 port, u32 v)
{
	__asm__ volatile("outl %0, %1" ::"a"(v), "Nd"(port) : "memory");
}

static inline u64 read_cr2(void)
{
	u64 v;

	__asm__ volatile("movq %%cr2, %0" : "=r"(v));
	return v;
}

static inline u64 read_cr3(void)
{
	u64 v;

	__asm__ volatile("movq %%cr3, %0" : "=r"(v)::"memory");
	return v;
}

static inline void write_cr3(u64 v)
{
	__asm__ volatile("movq %0, %%cr3" ::"r"(v) : "memory");
}

static inline void invlpg(u64 va)
{
	__asm__ volatile("invlpg (%0)" ::"r"(va) : "memory");
}

#endif
