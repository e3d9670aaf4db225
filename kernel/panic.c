/* SPDX-License-Identifier: MIT */
/*
 * A panic takes no locks and trusts nothing: the first CPU to arrive prints,
 * the others are stopped by NMI and their stacks read from here. A fault on the
 * way prints its reason and ends the machine at once.
 */
#include "panic.h"
#include "backtrace.h"
#include "smp.h"
#include "lib/fmt.h"
#include "../arch-x86/cpu.h"
#include "../arch-x86/exit.h"
#include "../arch-x86/irq.h"
#include "../arch-x86/paging.h"
#include "../arch-x86/percpu.h"
#include "../arch-x86/serial.h"

#define EXIT_PANIC 3
#define LINE_MAX 256
#define DUMPS_MAX 8
#define NO_CPU 0u

static u32 owner = NO_CPU; /* CPU + 1 of the one that prints, __atomic */
static void (*dumps[DUMPS_MAX])(void);
static u32 nr_dumps;

static const char *const exception_names[NR_EXCEPTIONS] = {
	[0] = "divide error",
	[1] = "debug",
	[2] = "NMI",
	[3] = "breakpoint",
	[4] = "overflow",
	[5] = "bound range",
	[6] = "invalid opcode",
	[7] = "device not available",
	[8] = "double fault",
	[10] = "invalid TSS",
	[11] = "segment not present",
	[12] = "stack fault",
	[13] = "general protection",
	[14] = "page fault",
	[16] = "x87 error",
	[17] = "alignment check",
	[18] = "machine check",
	[19] = "SIMD error",
	[20] = "virtualization",
	[21] = "control protection",
};

void panic_add_dump(void (*fn)(void))
{
	if (nr_dumps == DUMPS_MAX)
		panic("panic: more than %d dumps", DUMPS_MAX);
	dumps[nr_dumps++] = fn;
}

static void say_v(const char *f, va_list ap)
{
	char line[LINE_MAX];
	int n = fmt_vsn(line, sizeof(line), f, ap);

	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	serial_write(line, (size_t)n);
}

void panic_say(const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	say_v(f, ap);
	va_end(ap);
}

static void print_stack(u64 rip, u64 rbp)
{
	u64 addr[BACKTRACE_MAX];
	u32 n = backtrace_walk(rip, rbp, addr);
	char name[128];

	for (u32 i = 0; i < n; i++) {
		/* A return address may be the first byte after its function. */
		symbol_format(addr[i] - (i || !rip), name, sizeof(name));
		panic_say("  0x%016llx %s\n", (unsigned long long)addr[i], name);
	}
}

static void print_registers(const struct trap_frame *f)
{
	static const struct {
		const char *name;
		u32 offset;
	} reg[] = {
#define REG(r) { #r, offsetof(struct trap_frame, r) }
		REG(rip), REG(rsp), REG(rbp), REG(rflags), REG(rax), REG(rbx), REG(rcx),
		REG(rdx), REG(rsi), REG(rdi), REG(r8), REG(r9), REG(r10), REG(r11),
		REG(r12), REG(r13), REG(r14), REG(r15), REG(cs), REG(ss), REG(error),
#undef REG
	};

	for (u32 i = 0; i < ARRAY_SIZE(reg); i++)
		panic_say("%6s %016llx%s", reg[i].name,
			  (unsigned long long)*(const u64 *)((const char *)f + reg[i].offset),
			  i % 3 == 2 ? "\n" : "");
	panic_say("   cr2 %016llx   cr3 %016llx\n", (unsigned long long)read_cr2(),
		  (unsigned long long)read_cr3());
}

/* Runs of CPUs in the same quiet state take one line. */
static void print_quiet(u32 from, u32 to, const char *what)
{
	if (from == to)
		panic_say("CPU %u: %s\n", from, what);
	else
		panic_say("CPUs %u-%u: %s\n", from, to, what);
}

static const char *quiet_state(u32 cpu)
{
	switch (smp_state(cpu)) {
	case SMP_OFFLINE:
		return "offline";
	case SMP_PARKED:
		return "parked";
	default:
		if (__atomic_load_n(&smp_percpu(cpu)->stopped, __ATOMIC_ACQUIRE))
			return NULL;
		return "running, did not stop";
	}
}

static void print_others(void)
{
	u32 self = percpu_cpu(), nr = smp_nr();

	for (u32 cpu = 0; cpu < nr; cpu++) {
		u32 first = cpu;
		const char *state;

		if (cpu == self)
			continue;
		state = quiet_state(cpu);
		if (!state) {
			const struct percpu *p = smp_percpu(cpu);

			panic_say("STACK of CPU %u:\n", cpu);
			print_stack(p->stop_rip, p->stop_rbp);
			continue;
		}
		while (cpu + 1 < nr && cpu + 1 != self && quiet_state(cpu + 1) == state)
			cpu++;
		print_quiet(first, cpu, state);
	}
}

static void stop_self(u64 rip, u64 rbp)
{
	struct percpu *p = percpu_self();

	p->stop_rip = rip;
	p->stop_rbp = rbp;
	__atomic_store_n(&p->stopped, 1, __ATOMIC_RELEASE);
}

/* Returns, with the others stopped, when this CPU is the one to report. */
static void enter(const char *f, va_list ap, u64 rip, u64 rbp)
{
	u32 expected = NO_CPU, me = percpu_cpu() + 1;
	static bool again;

	irq_disable();
	if (__atomic_compare_exchange_n(&owner, &expected, me, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		smp_stop_others();
		return;
	}
	if (expected != me) {
		stop_self(rip, rbp);
		cpu_halt_forever();
	}
	if (!again) {
		again = true;
		panic_say("\nPANIC while reporting: ");
		say_v(f, ap);
		panic_say("\n");
	}
	arch_exit(EXIT_PANIC);
}

static void noreturn_fn report(const struct trap_frame *frame, u64 rip, u64 rbp)
{
	panic_say("CPU %u, APIC id %u\n", percpu_cpu(), percpu_self()->apic_id);
	if (frame)
		print_registers(frame);
	panic_say("STACK:\n");
	print_stack(rip, rbp);
	print_others();
	for (u32 i = 0; i < nr_dumps; i++)
		dumps[i]();
	arch_exit(EXIT_PANIC);
}

static void noreturn_fn panic_v(const struct trap_frame *frame, u64 rip, u64 rbp,
				const char *f, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	enter(f, again, rip, rbp);
	va_end(again);
	panic_say("\nPANIC: ");
	say_v(f, ap);
	panic_say("\n");
	report(frame, rip, rbp);
}

/* At the place that frame describes. */
static void noreturn_fn printf_like(2, 3)
	panic_at(const struct trap_frame *frame, const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	panic_v(frame, frame->rip, frame->rbp, f, ap);
}

void noreturn_fn panic(const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	panic_v(NULL, 0, (u64)__builtin_frame_address(0), f, ap);
}

void noreturn_fn arch_fatal(const char *reason)
{
	panic("%s", reason);
}

void noreturn_fn arch_exception(const struct trap_frame *f)
{
	const char *name = f->vector < NR_EXCEPTIONS ? exception_names[f->vector] : NULL;
	u64 cr2 = read_cr2();
	char guard[40];

	/* A push onto a guard page faults, and the fault cannot be pushed either. */
	if ((f->vector == EXC_PF || f->vector == EXC_DF) &&
	    paging_guard_name(cr2, guard, sizeof(guard)))
		panic_at(f, "stack overflow: %s, at 0x%llx", guard, (unsigned long long)cr2);
	if (f->vector == EXC_PF)
		panic_at(f, "page fault: %s 0x%llx, %s%s",
			 f->error & 16 ? "execute" : f->error & 2 ? "write" : "read",
			 (unsigned long long)cr2, f->error & 1 ? "forbidden" : "not mapped",
			 cr2 < PAGE_SIZE ? " (null pointer)" : "");
	panic_at(f, "exception %llu: %s, error 0x%llx",
		 (unsigned long long)f->vector, name ? name : "reserved",
		 (unsigned long long)f->error);
}

void arch_nmi(const struct trap_frame *f)
{
	u32 who = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);

	if (who != NO_CPU && who != percpu_cpu() + 1) {
		stop_self(f->rip, f->rbp);
		cpu_halt_forever();
	}
	panic_at(f, "unexpected NMI");
}
