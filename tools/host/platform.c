/* SPDX-License-Identifier: MIT */
/*
 * kernel/platform.h for a native Linux program: one CPU, so executor mux only.
 * Stacks come from one reserved range, so that a stack pointer tells its slot;
 * AddressSanitizer hears of every switch between them.
 *
 * A stack may be abandoned in mid-call, at the end of a run. Its next use starts
 * from clean shadow memory: the sanitizer must not find old red zones there.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "../../arch-x86/switch.h"
#include "../../kernel/platform.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif

#define EXIT_USAGE 2
#define EXIT_PANIC 3

#define ARENA_BYTES (4ull << 30) /* reserved, not committed */

/* libc and sanitized frames want more than the image's PLAT_STACK_BYTES. */
#define STACK_BYTES (256u << 10)
#define GUARD_BYTES 4096u
#define STRIDE (STACK_BYTES + GUARD_BYTES)
#define MAX_STACKS 32000u /* each takes two of Linux's 65,530 mappings */

_Static_assert(STACK_BYTES >= PLAT_STACK_BYTES, "platform.h promises no more");

static char *stacks;      /* the reserved range: guard page, stack, guard page, stack, ... */
static u32 stacks_mapped; /* slots below this one are usable */

/* What a stack's first function is called with, and what the sanitizer keeps. */
struct context {
	void (*fn)(void *arg);
	void *arg;
	void *fake_stack; /* __sanitizer_start_switch_fiber() */
};

static struct context context[MAX_STACKS + 1]; /* the last: the program's own stack */

static void noreturn_fn die(u32 status, const char *why)
{
	plat_write("host: ", 6);
	plat_write(why, strlen(why));
	plat_write("\n", 1);
	plat_exit(status);
}

static void noreturn_fn no_cpus(void)
{
	die(EXIT_USAGE, "exec=smp and exec=live need CPUs of their own; here there is only mux");
}

/* ---- console, end, memory ---------------------------------------------------- */

void plat_write(const char *s, size_t n)
{
	while (n) {
		ssize_t done = write(STDOUT_FILENO, s, n);

		if (done <= 0)
			return; /* nowhere to say so */
		s += done;
		n -= (size_t)done;
	}
}

bool plat_is_host(void)
{
	return true;
}

void plat_exit(u32 status)
{
	_exit((int)status);
}

static char *reserve(size_t bytes, int protection)
{
	char *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die(EXIT_PANIC, "no address space");
	return p;
}

void plat_arena(struct arena *a)
{
	arena_init(a, reserve(ARENA_BYTES, PROT_READ | PROT_WRITE), ARENA_BYTES);
}

/* ---- stacks --------------------------------------------------------------------- */

static char *stack_bottom(u32 slot)
{
	return stacks + (size_t)slot * STRIDE + GUARD_BYTES;
}

void *plat_stack(u32 slot)
{
	if (slot >= MAX_STACKS)
		die(EXIT_PANIC, "too many stacks");
	if (!stacks)
		stacks = reserve((size_t)MAX_STACKS * STRIDE, PROT_NONE);
	for (; stacks_mapped <= slot; stacks_mapped++)
		if (mprotect(stack_bottom(stacks_mapped), STACK_BYTES, PROT_READ | PROT_WRITE))
			die(EXIT_PANIC, "no memory for a stack");
	return stack_bottom(slot) + STACK_BYTES;
}

/* MAX_STACKS for the program's own stack. */
static u32 slot_of(const void *sp)
{
	size_t offset = (size_t)((const char *)sp - stacks);

	return stacks && offset < (size_t)MAX_STACKS * STRIDE ? (u32)(offset / STRIDE) : MAX_STACKS;
}

/* ---- the switch ------------------------------------------------------------------ */

#ifdef WITH_ASAN

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static const void *main_bottom;
static size_t main_size;

static void stack_is_new(u32 slot)
{
	__asan_unpoison_memory_region(stack_bottom(slot), STACK_BYTES);
}

static void leave(u32 from, u32 to)
{
	__sanitizer_start_switch_fiber(&context[from].fake_stack,
				       to == MAX_STACKS ? main_bottom : stack_bottom(to),
				       to == MAX_STACKS ? main_size : STACK_BYTES);
}

/* fake: NULL on a stack's first entry. */
static void arrive(void *fake)
{
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(fake, &bottom, &size);
	if (slot_of(bottom) == MAX_STACKS) { /* where control came from */
		main_bottom = bottom;
		main_size = size;
	}
}

#else

static void stack_is_new(u32 slot)
{
	(void)slot;
}

static void leave(u32 from, u32 to)
{
	(void)from, (void)to;
}

static void arrive(void *fake)
{
	(void)fake;
}

#endif

void plat_ctx_switch(void **save, void *load)
{
	u32 from = slot_of(__builtin_frame_address(0));

	leave(from, slot_of(load));
	ctx_switch(save, load);
	arrive(context[from].fake_stack);
}

static void first_entry(void *arg)
{
	struct context *c = arg;

	arrive(NULL);
	c->fn(c->arg);
	die(EXIT_PANIC, "a context returned");
}

void *plat_ctx_init(void *stack_top, void (*fn)(void *), void *arg)
{
	u32 slot = slot_of((char *)stack_top - 1);

	context[slot] = (struct context){ .fn = fn, .arg = arg };
	stack_is_new(slot);
	return ctx_init(stack_top, first_entry, &context[slot]);
}

/* ---- clocks ------------------------------------------------------------------------ */

u64 plat_cycles(void)
{
	return __builtin_ia32_rdtsc();
}

static u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

u64 plat_host_ns(void)
{
	static u64 start_ns;

	if (!start_ns)
		start_ns = monotonic_ns();
	return monotonic_ns() - start_ns;
}

/* ---- other CPUs and interrupts: there are none ---------------------------------------- */

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
