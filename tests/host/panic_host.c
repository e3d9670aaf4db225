/* SPDX-License-Identifier: MIT */
/*
 * panic() for unit tests: says why and aborts. A test that expects a panic
 * declares `extern jmp_buf *panic_jump;` and points it at a buffer that setjmp()
 * filled: panic() then clears the pointer, leaves its text in panic_text and
 * returns 1 from that setjmp().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../kernel/panic.h"

extern jmp_buf *panic_jump;
jmp_buf *panic_jump;
extern char panic_text[256];
char panic_text[256];

void panic(const char *f, ...)
{
	jmp_buf *jump = panic_jump;
	va_list ap;

	va_start(ap, f);
	vsnprintf(panic_text, sizeof(panic_text), f, ap);
	va_end(ap);
	if (jump) {
		panic_jump = NULL;
		longjmp(*jump, 1);
	}
	fprintf(stderr, "PANIC: %s\n", panic_text);
	abort();
}

void panic_say(const char *f, ...)
{
	va_list ap;

	va_start(ap, f);
	vfprintf(stderr, f, ap);
	va_end(ap);
}
