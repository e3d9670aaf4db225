/* SPDX-License-Identifier: MIT */
#include "irq.h"
#include "cpu.h"
#include "lapic.h"
#include "percpu.h"
#include "regs/isa.h"
#include "../kernel/lib/fmt.h"

#define NR_VECTORS 256
#define STUB_SIZE 16
#define PIC_BASE 0x20
#define PIC_LINES 16
#define GATE_INTERRUPT 0x8e /* present, ring 0, interrupts off on entry */
#define EXC_MC 18

/* SDM vol. 3A, "64-Bit IDT Gate Descriptors". */
struct gate {
	u16 offset0, selector;
	u8 ist, type;
	u16 offset1;
	u32 offset2, reserved;
};

extern const char trap_stubs[];

static struct gate idt[NR_VECTORS] __attribute__((aligned(16)));
static irq_handler_fn handlers[NR_VECTORS];

void trap_dispatch(const struct trap_frame *f);

static void wake_only(void)
{
}

void irq_set_handler(u8 vector, irq_handler_fn fn)
{
	handlers[vector] = fn;
}

static void gate_set(u32 vector, u8 ist)
{
	u64 stub = (u64)trap_stubs + vector * STUB_SIZE;

	idt[vector] = (struct gate){
		.offset0 = (u16)stub,
		.offset1 = (u16)(stub >> 16),
		.offset2 = (u32)(stub >> 32),
		.selector = SEL_CODE64,
		.ist = ist,
		.type = GATE_INTERRUPT,
	};
}

void irq_load(void)
{
	struct {
		u16 limit;
		u64 base;
	} __attribute__((packed)) idtr = { sizeof(idt) - 1, (u64)idt };

	__asm__ volatile("lidt %0" ::"m"(idtr));
}

void irq_init(void)
{
	for (u32 v = 0; v < NR_VECTORS; v++)
		gate_set(v, 0);
	gate_set(EXC_DF, IST_DF);
	gate_set(EXC_NMI, IST_NMI);
	gate_set(EXC_MC, IST_MC);
	for (u32 v = VEC_RESCHED; v <= VEC_STOP; v++)
		irq_set_handler((u8)v, wake_only);
	irq_load();
}

void pic_mask(void)
{
	outb(PIC1_CMD, PIC_ICW1_INIT);
	outb(PIC2_CMD, PIC_ICW1_INIT);
	outb(PIC1_DATA, PIC_BASE);
	outb(PIC2_DATA, PIC_BASE + 8);
	outb(PIC1_DATA, 1 << 2); /* the second PIC hangs on line 2 */
	outb(PIC2_DATA, 2);
	outb(PIC1_DATA, PIC_ICW4_8086);
	outb(PIC2_DATA, PIC_ICW4_8086);
	outb(PIC1_DATA, 0xff);
	outb(PIC2_DATA, 0xff);
}

static void unexpected_vector(u64 vector)
{
	char text[64];

	fmt_sn(text, sizeof(text), "unexpected interrupt vector 0x%x", (u32)vector);
	arch_fatal(text);
}

/* From vectors.S, interrupts off. */
void trap_dispatch(const struct trap_frame *f)
{
	if (f->vector == EXC_NMI) {
		arch_nmi(f);
		return;
	}
	if (f->vector < NR_EXCEPTIONS)
		arch_exception(f);
	/* Neither a spurious LAPIC interrupt nor one of the masked PICs' takes
	 * an EOI at the LAPIC (SDM vol. 3A, "Spurious Interrupt"). */
	if (f->vector == VEC_SPURIOUS || f->vector - PIC_BASE < PIC_LINES)
		return;
	if (!handlers[f->vector])
		unexpected_vector(f->vector);
	lapic_eoi();
	handlers[f->vector]();
}
