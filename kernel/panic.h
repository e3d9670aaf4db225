/* SPDX-License-Identifier: MIT */
/* The end of a run that cannot go on. Callable from everywhere, any context. */
#ifndef KERNEL_PANIC_H
#define KERNEL_PANIC_H

#include "lib/types.h"

/* Prints the reason, CPU, task, virtual time, symbolised backtrace, held locks
 * and last trace events, stops all CPUs, exits with status 3. Takes no locks. */
void noreturn_fn panic(const char *f, ...) printf_like(1, 2);

/* A report of the caller's own (held locks, last trace events), called by the
 * panicking CPU after the backtraces, in order of registration, with all other
 * CPUs stopped wherever they were: it must not take locks or wait. */
void panic_add_dump(void (*fn)(void));

/* Prints at once to the console, for such reports; at most 255 bytes a call. */
void panic_say(const char *f, ...) printf_like(1, 2);

#define panic_unless(cond, ...)             \
	do {                                \
		if (unlikely(!(cond)))      \
			panic(__VA_ARGS__); \
	} while (0)

#endif
