/* SPDX-License-Identifier: MIT */
/* What each booted CPU owns: found through %gs, with its GDT, TSS and stacks.
 * CPU numbers are the kernel's: 0 is the boot CPU. */
#ifndef ARCH_PERCPU_H
#define ARCH_PERCPU_H

#include "../kernel/lib/types.h"

#define GDT_ENTRIES 6 /* null, code64, data, code32, TSS in two */

/* Interrupt stack table slots; 0 means: stay on the interrupted stack. */
enum ist { IST_DF = 1, IST_NMI = 2, IST_MC = 3, IST_NR = 3 };

/* SDM vol. 3A, "64-Bit Mode Task State Segment". */
struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3, iomap_base;
} __attribute__((packed));

struct percpu {
	struct percpu *self;
	u64 stack_top;         /* boot/ap_trampoline.S knows its place */
	u32 cpu;
	u32 apic_id;
	void *kernel_private;  /* kernel's; arch never looks at it */

	/* Written by the CPU when an NMI stops it, then `stopped` is released. */
	u64 stop_rip, stop_rbp;
	u32 stopped;

	u64 gdt[GDT_ENTRIES] __attribute__((aligned(16)));
	struct tss tss __attribute__((aligned(16)));
};

/* The boot CPU's, usable before paging: loads GDT, TSS and %gs. Until
 * percpu_boot_stacks() its IST entries share one early stack. */
void percpu_boot_init(void);

/* Gives the boot CPU its IST stacks; after paging_init(). */
void percpu_boot_stacks(void);

/* A new one, with guarded stacks, for percpu_load() on that CPU. Callers
 * serialise. */
struct percpu *percpu_alloc(u32 cpu, u32 apic_id);

/* Makes p the calling CPU's. Interrupts off. */
void percpu_load(struct percpu *p);

#define PERCPU_READ(field)                                                      \
	({                                                                      \
		__typeof__(((struct percpu *)0)->field) v_;                     \
		__asm__ volatile("mov %%gs:%c1, %0"                             \
				 : "=r"(v_)                                     \
				 : "i"(offsetof(struct percpu, field))          \
				 : "memory");                                   \
		v_;                                                             \
	})

/* With preemption possible, each of these may be stale when it returns. */
static inline u32 percpu_cpu(void)
{
	return PERCPU_READ(cpu);
}

static inline struct percpu *percpu_self(void)
{
	return PERCPU_READ(self);
}

static inline void *percpu_kernel(void)
{
	return PERCPU_READ(kernel_private);
}

static inline void percpu_set_kernel(void *p)
{
	percpu_self()->kernel_private = p;
}

#endif
