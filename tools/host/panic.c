/* SPDX-License-Identifier: MIT */
/* kernel/panic.h for the native program: the same report, by libc's means. */
#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "../../kernel/panic.h"

#define EXIT_PANIC 3
#define MAX_DUMPS 8
#define MAX_FRAMES 64

static void (*dumps[MAX_DUMPS])(void);
static u32 nr_dumps;
static bool panicking;

void panic_say(const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	vdprintf(STDOUT_FILENO, f, ap);
	va_end(ap);
}

void panic_add_dump(void (*fn)(void))
{
	if (nr_dumps < MAX_DUMPS)
		dumps[nr_dumps++] = fn;
}

void panic(const char *f, ...)
{
	void *frame[MAX_FRAMES];
	va_list ap;

	dprintf(STDOUT_FILENO, "\nPANIC: ");
	va_start(ap, f);
	vdprintf(STDOUT_FILENO, f, ap);
	va_end(ap);
	if (panicking) { /* a dump went wrong */
		dprintf(STDOUT_FILENO, "\n");
		_exit(EXIT_PANIC);
	}
	panicking = true;
	dprintf(STDOUT_FILENO, "\nSTACK:\n");
	backtrace_symbols_fd(frame, backtrace(frame, MAX_FRAMES), STDOUT_FILENO);
	for (u32 i = 0; i < nr_dumps; i++)
		dumps[i]();
	_exit(EXIT_PANIC);
}
