/* SPDX-License-Identifier: MIT */
/*
 * Exceptions and interrupts. Interrupt handlers run with interrupts off on the
 * stack of whatever was interrupted, so a handler may switch
 * stacks: the interrupted code goes on when its stack is switched back to.
 * Double fault, NMI and machine check have stacks of their own.
 */
#ifndef ARCH_IRQ_H
#define ARCH_IRQ_H

#include "../kernel/lib/types.h"

#define EXC_NMI 2
#define EXC_DF 8
#define EXC_PF 14
#define NR_EXCEPTIONS 32

enum irq_vector {
	VEC_TIMER = 0xe0,   /* LAPIC timer */
	VEC_RESCHED = 0xe1, /* IPI: look at the runqueue */
	VEC_CALL = 0xe2,    /* IPI: look at the mailbox */
	VEC_TOKEN = 0xe3,   /* IPI: lockstep control arrives */
	VEC_STOP = 0xe4,    /* IPI: stop, where an NMI is too strong */
	VEC_SPURIOUS = 0xff,
};

/* As arch-x86/vectors.S pushes it. */
struct trap_frame {
	u64 r15, r14, r13, r12, r11, r10, r9, r8;
	u64 rbp, rdi, rsi, rdx, rcx, rbx, rax;
	u64 vector, error;
	u64 rip, cs, rflags, rsp, ss;
};

typedef void (*irq_handler_fn)(void);

/* The IPI vectors start with a handler that does nothing: they only end a HLT.
 * Any other vector without a handler is fatal. EOI is sent before the handler
 * runs. Not to be changed while other CPUs take that vector. */
void irq_set_handler(u8 vector, irq_handler_fn fn);

/* Builds the IDT (shared by all CPUs) and loads it on the calling one. */
void irq_init(void);

/* Loads the IDT on the calling CPU. */
void irq_load(void);

/* Moves both 8259s to vectors 0x20.. and masks every line. */
void pic_mask(void);

/* Up-calls, defined by kernel/panic.c. */

/* Any exception but an NMI. */
void noreturn_fn arch_exception(const struct trap_frame *f);

void arch_nmi(const struct trap_frame *f);

/* The architecture layer cannot go on. */
void noreturn_fn arch_fatal(const char *reason);

#endif
