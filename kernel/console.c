/* SPDX-License-Identifier: MIT */
/* Lines to the console in one write each, so that live CPUs do not interleave. */
#include "console.h"

#include "lib/fmt.h"
#include "lib/string.h"
#include "platform.h"

static u32 console_busy;

/* A bounded wait: a CPU that died inside must not silence the others. */
static bool console_take(void)
{
	for (u32 i = 0; i < 1000000; i++) {
		if (!__atomic_exchange_n(&console_busy, 1, __ATOMIC_ACQUIRE))
			return true;
		plat_relax();
	}
	return false;
}

void console_line(const char *text)
{
	bool taken = console_take();

	plat_write(text, strlen(text));
	plat_write("\n", 1);
	if (taken)
		__atomic_store_n(&console_busy, 0, __ATOMIC_RELEASE);
}

void console_printf(const char *f, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, f);
	fmt_vsn(buf, sizeof(buf), f, ap);
	va_end(ap);
	console_line(buf);
}
