/* SPDX-License-Identifier: MIT */
/*
 * What the kernel needs from below, whatever lies below: platform_x86.c joins
 * it to arch-x86 in the image. Nothing above this header names the hardware.
 */
#ifndef KERNEL_PLATFORM_H
#define KERNEL_PLATFORM_H

#include "lib/arena.h"
#include "lib/types.h"

/* Console bytes, unbuffered, any context. */
void plat_write(const char *s, size_t n);

/* Executors that there are: bit per enum cmdline_exec. */
u32 plat_executors(void);

/* Ends the program: 0 ok, 1 a check failed, 2 usage, 3 panic. */
void noreturn_fn plat_exit(u32 status);

/* Memory for runs; called once. */
void plat_arena(struct arena *a);

/* Top of stack slot i (mapped on first use, guard page below). Callers
 * serialise. Ends the run when memory is exhausted. */
void *plat_stack(u32 slot);

/* Bytes between the top that plat_stack() gives and the guard. */
#define PLAT_STACK_BYTES 16384

/* Saves the callee-saved state on the current stack, stores the stack pointer
 * to *save, continues from load. */
void plat_ctx_switch(void **save, void *load);

/* Prepares a stack so that switching to the result calls fn(arg), which never
 * returns. */
void *plat_ctx_init(void *stack_top, void (*fn)(void *), void *arg);

/* A counter that advances with executed instructions under icount and with
 * real time otherwise. Any context. */
u64 plat_cycles(void);

/* Real time since start in ns, for the host object of results. */
u64 plat_host_ns(void);

/* CPUs that can run code of their own: 1 for mux only. */
u32 plat_nr_cpus(void);

/* Runs fn(arg) on another CPU, which is parked; returns at once. When fn
 * returns the CPU parks again. */
void plat_run_on(u32 cpu, void (*fn)(void *), void *arg);

/* The CPU executing this, by hardware. */
u32 plat_this_cpu(void);

/* Interrupts that the kernel sends itself. */
enum plat_ipi { PLAT_IPI_TOKEN, PLAT_IPI_RESCHED, PLAT_IPI_CALL, PLAT_IPI_STOP, PLAT_NR_IPIS };

/* Any context. */
void plat_send_ipi(u32 cpu, enum plat_ipi ipi);

/* fn runs with interrupts off, after end of interrupt was signalled, so it may
 * switch stacks. NULL: the interrupt only ends a plat_wait(). */
void plat_on_ipi(enum plat_ipi ipi, void (*fn)(void));
void plat_on_timer(void (*fn)(void));

/* Hardware interrupt flag of this CPU. */
void plat_irq_enable(void);
void plat_irq_disable(void);

/* Enables interrupts and halts until one came, without a gap; returns with
 * interrupts off. */
void plat_wait(void);

/* One interrupt on this CPU after ns, replacing an earlier request; 0 cancels. */
void plat_timer_after(u64 ns);

/* A PAUSE. Where interrupts are polled, pending ones come here. */
void plat_relax(void);

#endif
