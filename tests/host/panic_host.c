/* SPDX-License-Identifier: MIT */
/*
 * panic() for unit tests: says why and aborts. A test that expects a panic
 * declares `extern jmp_buf *panic_jump;` and points it at a buffer that setjmp()
 * filled: panic() then clears the pointer and returns 1 from that setjmp().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../kernel/panic.h"

extern jmp_buf *panic_jump;
jmp_buf *panic_jump;

void panic(const char *f, ...)
{
	jmp_buf *jump = panic_jump;
	va_list ap;

	if (jump) {
		panic_jump = NULL;
		longjmp(*jump, 1);
	}
	va_start(ap, f);
	fputs("PANIC: ", stderr);
	vfprintf(stderr, f, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}
