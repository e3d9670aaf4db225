/* SPDX-License-Identifier: MIT */
/*
 * Formatted text without floating point.
 * %d %i %u %x %X %c %s %p %% with flags - 0 + space, width, precision, '*',
 * lengths l ll z h hh; results as C11's, NULL strings are "(null)", pointers have
 * 0x. The rest of a format from an unknown conversion on appears as it stands.
 * An addition would break the compiler's format check, so decimals go through
 * fmt_decimal().
 */
#ifndef LIB_FMT_H
#define LIB_FMT_H

#include <stdarg.h>
#include "types.h"

/* As vsnprintf: always terminates when n > 0, returns the length wanted
 * (at most INT_MAX). */
int fmt_vsn(char *buf, size_t n, const char *f, va_list ap);
int fmt_sn(char *buf, size_t n, const char *f, ...) printf_like(3, 4);

/* value / 10^digits as text, e.g. (12345, 3) -> "12.345", (-5, 2) -> "-0.05".
 * Never more than 40 bytes; digits beyond the 36th are cut off. Returns buf. */
char *fmt_decimal(char buf[40], s64 value, u32 digits);

/* As fmt_decimal but rounded half away from zero to `keep` digits; fewer digits
 * than that stay as they are. Zero has no sign. */
char *fmt_rounded(char buf[40], s64 value, u32 digits, u32 keep);

#endif
