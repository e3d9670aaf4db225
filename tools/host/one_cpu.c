/* SPDX-License-Identifier: MIT */
/* The CPU of the native program that has one: executor mux only, called host. */
#include "../../kernel/cmdline.h"
#include "../../kernel/platform.h"

#define EXIT_USAGE 2

static void noreturn_fn no_cpus(void)
{
	static const char why[] =
		"host: exec=smp and exec=live need CPUs of their own; here there is only mux\n";

	plat_write(why, sizeof(why) - 1);
	plat_exit(EXIT_USAGE);
}

u32 plat_executors(void)
{
	return 1u << EXEC_HOST;
}

u32 plat_nr_cpus(void)
{
	return 1;
}

u32 plat_this_cpu(void)
{
	return 0;
}

void plat_run_on(u32 cpu, void (*fn)(void *), void *arg)
{
	(void)cpu, (void)fn, (void)arg;
	no_cpus();
}

void plat_send_ipi(u32 cpu, enum plat_ipi ipi)
{
	(void)cpu, (void)ipi;
	no_cpus();
}

void plat_on_ipi(enum plat_ipi ipi, void (*fn)(void))
{
	(void)ipi, (void)fn;
	no_cpus();
}

void plat_on_timer(void (*fn)(void))
{
	(void)fn;
	no_cpus();
}

void plat_irq_enable(void)
{
	no_cpus();
}

void plat_irq_disable(void)
{
	no_cpus();
}

void plat_wait(void)
{
	no_cpus();
}

void plat_timer_after(u64 ns)
{
	(void)ns;
	no_cpus();
}

void plat_relax(void)
{
	__builtin_ia32_pause();
}
