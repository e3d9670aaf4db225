/* SPDX-License-Identifier: MIT */
/* kernel/panic.h for the native program: the same report, by libc's means. */
#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "../../kernel/panic.h"
#include "panic.h"

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

/* What is a page fault in the image. The stack that faulted may be used up. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	panic("%s at %p", sig == SIGILL ? "illegal instruction" : "memory fault", info->si_addr);
}

/* Sanitizers have handlers of their own, which say more. */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

void panic_on_faults(void)
{
	static char stack[65536];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = on_fault,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (__asan_init || __tsan_init)
		return;
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGILL, &action, NULL);
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
