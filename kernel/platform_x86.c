/* SPDX-License-Identifier: MIT */
/* Joins kernel/platform.h to arch-x86 and the booted CPUs. */
#include "platform.h"

#include "../arch-x86/cpu.h"
#include "../arch-x86/exit.h"
#include "../arch-x86/irq.h"
#include "../arch-x86/lapic.h"
#include "../arch-x86/paging.h"
#include "../arch-x86/percpu.h"
#include "../arch-x86/serial.h"
#include "../arch-x86/switch.h"
#include "../arch-x86/tsc.h"
#include "cmdline.h"
#include "smp.h"

static const u8 ipi_vector[PLAT_NR_IPIS] = {
	[PLAT_IPI_TOKEN] = VEC_TOKEN,
	[PLAT_IPI_RESCHED] = VEC_RESCHED,
	[PLAT_IPI_CALL] = VEC_CALL,
	[PLAT_IPI_STOP] = VEC_STOP,
};

void plat_write(const char *s, size_t n)
{
	serial_write(s, n);
}

u32 plat_executors(void)
{
	return 1u << EXEC_MUX | 1u << EXEC_SMP | 1u << EXEC_LIVE;
}

void plat_exit(u32 status)
{
	arch_exit(status);
}

void plat_arena(struct arena *a)
{
	arch_memory_arena(a);
}

void *plat_stack(u32 slot)
{
	_Static_assert(PLAT_STACK_BYTES == STACK_USABLE, "platform.h tells the truth");
	return stack_slot(slot);
}

void plat_ctx_switch(void **save, void *load)
{
	ctx_switch(save, load);
}

void *plat_ctx_init(void *stack_top, void (*fn)(void *), void *arg)
{
	return ctx_init(stack_top, fn, arg);
}

u64 plat_cycles(void)
{
	return rdtsc();
}

u64 plat_host_ns(void)
{
	return tsc_to_ns(rdtsc());
}

u32 plat_nr_cpus(void)
{
	return smp_nr();
}

void plat_run_on(u32 cpu, void (*fn)(void *), void *arg)
{
	smp_wait_parked(cpu);
	smp_run_on(cpu, fn, arg);
}

u32 plat_this_cpu(void)
{
	return percpu_cpu();
}

void plat_send_ipi(u32 cpu, enum plat_ipi ipi)
{
	smp_ipi(cpu, ipi_vector[ipi]);
}

static void ignore(void)
{
}

void plat_on_ipi(enum plat_ipi ipi, void (*fn)(void))
{
	irq_set_handler(ipi_vector[ipi], fn ? fn : ignore);
}

void plat_on_timer(void (*fn)(void))
{
	irq_set_handler(VEC_TIMER, fn);
}

void plat_irq_enable(void)
{
	irq_enable();
}

void plat_irq_disable(void)
{
	irq_disable();
}

void plat_wait(void)
{
	cpu_halt_until_irq();
}

void plat_timer_after(u64 ns)
{
	lapic_timer_oneshot(ns);
}

void plat_relax(void)
{
	cpu_pause();
}
