/* SPDX-License-Identifier: MIT */
/*
 * kernel/platform.h for a native Linux program: console, memory, stacks and
 * clocks. Its CPUs are one_cpu.c's or threads.c's. Stacks come from one reserved
 * range, so that a stack pointer tells its slot; the sanitizers hear of every
 * switch between them.
 *
 * A stack may be abandoned in mid-call, at the end of a run. Its next use starts
 * from clean shadow memory: AddressSanitizer must not find old red zones there,
 * and to ThreadSanitizer it is another fiber.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "../../arch-x86/switch.h"
#include "../../kernel/lib/cpumask.h"
#include "../../kernel/platform.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#endif

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
	void *kept; /* ASan: __sanitizer_start_switch_fiber()'s; TSan: its fiber */
};

static struct context context[MAX_STACKS + MAX_CPUS]; /* the last: the threads' own stacks */

static void noreturn_fn die(const char *why)
{
	plat_write("host: ", 6);
	plat_write(why, strlen(why));
	plat_write("\n", 1);
	plat_exit(EXIT_PANIC);
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

void plat_exit(u32 status)
{
	_exit((int)status);
}

static char *reserve(size_t bytes, int protection)
{
	char *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("no address space");
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
		die("too many stacks");
	if (!stacks)
		stacks = reserve((size_t)MAX_STACKS * STRIDE, PROT_NONE);
	for (; stacks_mapped <= slot; stacks_mapped++)
		if (mprotect(stack_bottom(stacks_mapped), STACK_BYTES, PROT_READ | PROT_WRITE))
			die("no memory for a stack");
	return stack_bottom(slot) + STACK_BYTES;
}

/* From MAX_STACKS on: the calling thread's own stack, which no other one is on. */
static u32 slot_of(const void *sp)
{
	size_t offset = (size_t)((const char *)sp - stacks);

	if (stacks && offset < (size_t)MAX_STACKS * STRIDE)
		return (u32)(offset / STRIDE);
	return MAX_STACKS + plat_this_cpu();
}

/* ---- the switch ------------------------------------------------------------------ */

#define inline_fn static inline __attribute__((always_inline))

#if defined(WITH_ASAN)

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static struct {
	const void *bottom;
	size_t size;
} own_stack[MAX_CPUS];

inline_fn void stack_is_new(u32 slot)
{
	__asan_unpoison_memory_region(stack_bottom(slot), STACK_BYTES);
}

inline_fn void leave(u32 from, u32 to)
{
	u32 cpu = to - MAX_STACKS;

	__sanitizer_start_switch_fiber(&context[from].kept,
				       to < MAX_STACKS ? stack_bottom(to) : own_stack[cpu].bottom,
				       to < MAX_STACKS ? STACK_BYTES : own_stack[cpu].size);
}

/* fake: NULL on a stack's first entry. */
inline_fn void arrive(void *fake)
{
	const void *bottom;
	size_t size;
	u32 from;

	__sanitizer_finish_switch_fiber(fake, &bottom, &size);
	from = slot_of(bottom); /* where control came from */
	if (from >= MAX_STACKS) {
		own_stack[from - MAX_STACKS].bottom = bottom;
		own_stack[from - MAX_STACKS].size = size;
	}
}

#elif defined(WITH_TSAN)

#include <sanitizer/tsan_interface.h>

inline_fn void stack_is_new(u32 slot)
{
	if (context[slot].kept)
		__tsan_destroy_fiber(context[slot].kept);
	context[slot].kept = __tsan_create_fiber(0);
}

/* One CPU runs both, so what was done before the switch is ordered before what
 * is done after it. That another CPU continues a stack only after it was left is
 * the kernel's to order. Inlined, because from here on the sanitizer's stack of
 * calls is the other one's. */
inline_fn void leave(u32 from, u32 to)
{
	if (from >= MAX_STACKS)
		context[from].kept = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(context[to].kept, 0);
}

inline_fn void arrive(void *kept)
{
	(void)kept;
}

#else

inline_fn void stack_is_new(u32 slot)
{
	(void)slot;
}

inline_fn void leave(u32 from, u32 to)
{
	(void)from, (void)to;
}

inline_fn void arrive(void *kept)
{
	(void)kept;
}

#endif

void plat_ctx_switch(void **save, void *load)
{
	u32 from = slot_of(__builtin_frame_address(0));

	/* Stored where ThreadSanitizer sees it, which the assembly's store it does not:
	 * who loads the context too early, races with this. */
	*save = NULL;
	leave(from, slot_of(load));
	ctx_switch(save, load);
	arrive(context[from].kept);
}

static void first_entry(void *arg)
{
	struct context *c = arg;

	arrive(NULL);
	c->fn(c->arg);
	die("a context returned");
}

void *plat_ctx_init(void *stack_top, void (*fn)(void *), void *arg)
{
	u32 slot = slot_of((char *)stack_top - 1);

	context[slot].fn = fn;
	context[slot].arg = arg;
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
