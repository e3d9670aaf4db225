/* SPDX-License-Identifier: MIT */
#include "percpu.h"
#include "cpu.h"
#include "paging.h"
#include "regs/msr.h"

#define TSS_AVAILABLE 0x89ull /* present, 64-bit available TSS */

extern char boot_stack_top[];

static struct percpu boot_cpu;
static char early_ist[4096] __attribute__((aligned(16)));

static void gdt_fill(struct percpu *p)
{
	u64 base = (u64)&p->tss, limit = sizeof(p->tss) - 1;

	p->gdt[SEL_CODE64 / 8] = GDT_CODE64;
	p->gdt[SEL_DATA / 8] = GDT_DATA;
	p->gdt[SEL_CODE32 / 8] = GDT_CODE32;
	/* SDM vol. 3A, "TSS Descriptor in 64-bit mode". */
	p->gdt[SEL_TSS / 8] = limit | (base & 0xffffff) << 16 | TSS_AVAILABLE << 40 |
			      (base >> 24 & 0xff) << 56;
	p->gdt[SEL_TSS / 8 + 1] = base >> 32;
	p->tss.iomap_base = sizeof(p->tss);
}

static void set_stacks(struct percpu *p, const struct cpu_stacks *s)
{
	p->tss.ist[IST_DF - 1] = s->df;
	p->tss.ist[IST_NMI - 1] = s->nmi;
	p->tss.ist[IST_MC - 1] = s->mc;
}

void percpu_load(struct percpu *p)
{
	struct {
		u16 limit;
		u64 base;
	} __attribute__((packed)) gdtr = { sizeof(p->gdt) - 1, (u64)p->gdt };

	/* CS keeps its selector and its hidden part: the same descriptor. */
	__asm__ volatile("lgdt %0" ::"m"(gdtr));
	__asm__ volatile("ltr %w0" ::"r"(SEL_TSS));
	wrmsr(MSR_GS_BASE, (u64)p);
}

void percpu_boot_init(void)
{
	struct percpu *p = &boot_cpu;
	u64 top = (u64)early_ist + sizeof(early_ist);
	struct cpu_stacks early = { .df = top, .nmi = top, .mc = top };

	p->self = p;
	p->stack_top = (u64)boot_stack_top;
	gdt_fill(p);
	set_stacks(p, &early);
	percpu_load(p);
}

void percpu_boot_stacks(void)
{
	struct cpu_stacks s;

	paging_cpu_stacks(0, &s);
	set_stacks(&boot_cpu, &s);
}

struct percpu *percpu_alloc(u32 cpu, u32 apic_id)
{
	_Static_assert(sizeof(struct percpu) <= PAGE_SIZE, "one page per CPU");
	_Static_assert(offsetof(struct percpu, stack_top) == 8, "boot/ap_trampoline.S");
	struct percpu *p = phys_page_zeroed();
	struct cpu_stacks s;

	paging_cpu_stacks(cpu, &s);
	p->self = p;
	p->stack_top = s.main;
	p->cpu = cpu;
	p->apic_id = apic_id;
	gdt_fill(p);
	set_stacks(p, &s);
	return p;
}
