/* SPDX-License-Identifier: MIT */
/*
 * Taking text apart without copying it: spans, lists, integers and fixed-point
 * decimals. Nothing here writes outside its output or trusts a terminator.
 */
#ifndef LIB_PARSE_H
#define LIB_PARSE_H

#include "types.h"

struct span {
	const char *p;
	size_t n;
};

struct span span_of(const char *text);
bool span_is(struct span s, const char *text);

/* Index of the first c, or s.n. */
size_t span_find(struct span s, char c);

/*
 * Takes the next item off a list; false when there is none left. An empty list
 * has one empty item and "a," has two, so that callers see what was left out.
 */
bool span_next(struct span *rest, char separator, struct span *item);

/* s for a message: terminated, other bytes than printable ASCII as '?', cut with
 * "..." when longer than n - 1. n >= 4. Returns buf. */
char *span_text(struct span s, char *buf, size_t n);

/* Decimal digits only, the whole span. False when empty, anything else, or above 2^64-1. */
bool parse_u64(struct span s, u64 *v);

/* [-]digits[.digits] times 10^digits, digits <= 18. False as parse_u64, for more
 * decimals than `digits`, and beyond an s64. */
bool parse_decimal(struct span s, u32 digits, s64 *v);

/* value / 10^digits without trailing zeros: (1500, 3) -> "1.5". Returns buf. */
char *decimal_text(char buf[40], s64 value, u32 digits);

#endif
