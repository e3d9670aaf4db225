/* SPDX-License-Identifier: MIT */
/* Bump allocator: see arena.h. */
#include "arena.h"
#include "string.h"

/* Up-call: the library includes nothing of the kernel, which defines this
 * (kernel/panic.h; tests/host/panic_host.c in unit tests). */
void noreturn_fn panic(const char *f, ...) printf_like(1, 2);

void *arena_try(struct arena *a, size_t size)
{
	size_t used = __atomic_load_n(&a->used, __ATOMIC_RELAXED), end, peak;
	char *p;

	do {
		/* The address is aligned, not the offset: base may be anything. */
		size_t pad = -(uintptr_t)(a->base + used) % CACHE_LINE;
		size_t room = a->size - used;

		if (pad > room || size > room - pad)
			return NULL;
		p = a->base + used + pad;
		end = used + pad + size;
	} while (!__atomic_compare_exchange_n(&a->used, &used, end, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	peak = __atomic_load_n(&a->peak, __ATOMIC_RELAXED);
	while (end > peak && !__atomic_compare_exchange_n(&a->peak, &peak, end, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return memset(p, 0, size);
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p = arena_try(a, size);

	if (unlikely(!p))
		panic("arena full: %zu bytes wanted, %zu of %zu used", size, a->used, a->size);
	return p;
}
