/* SPDX-License-Identifier: MIT */
/* Spans, lists and numbers in text: see parse.h. */
#include "parse.h"
#include "fmt.h"
#include "string.h"

struct span span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

bool span_is(struct span s, const char *text)
{
	return strlen(text) == s.n && !memcmp(s.p, text, s.n);
}

size_t span_find(struct span s, char c)
{
	size_t i = 0;

	while (i < s.n && s.p[i] != c)
		i++;
	return i;
}

/* rest->p is NULL once the last item, which no separator follows, is taken. */
bool span_next(struct span *rest, char separator, struct span *item)
{
	size_t i;

	if (!rest->p)
		return false;
	i = span_find(*rest, separator);
	*item = (struct span){ rest->p, i };
	if (i == rest->n)
		*rest = (struct span){ NULL, 0 };
	else
		*rest = (struct span){ rest->p + i + 1, rest->n - i - 1 };
	return true;
}

char *span_text(struct span s, char *buf, size_t n)
{
	size_t len = s.n < n ? s.n : n - 1;

	for (size_t i = 0; i < len; i++)
		buf[i] = s.p[i] >= ' ' && s.p[i] <= '~' ? s.p[i] : '?';
	if (len < s.n)
		memcpy(buf + len - 3, "...", 3);
	buf[len] = '\0';
	return buf;
}

/* v * 10 + digit. False when that leaves 64 bits. */
static bool push_digit(u64 *v, char c)
{
	return !__builtin_mul_overflow(*v, 10ull, v) &&
	       !__builtin_add_overflow(*v, (u64)(c - '0'), v);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool parse_u64(struct span s, u64 *v)
{
	u64 sum = 0;

	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) || !push_digit(&sum, s.p[i]))
			return false;
	*v = sum;
	return true;
}

bool parse_decimal(struct span s, u32 digits, s64 *v)
{
	bool negative = s.n && s.p[0] == '-';
	size_t i = negative;
	size_t point;
	u64 sum = 0;

	for (point = i; point < s.n && s.p[point] != '.'; point++)
		if (!is_digit(s.p[point]) || !push_digit(&sum, s.p[point]))
			return false;
	if (point == i)
		return false;
	i = point < s.n ? point + 1 : s.n;
	if (point < s.n && (i == s.n || s.n - i > digits))
		return false;
	for (; i < s.n; i++, digits--)
		if (!is_digit(s.p[i]) || !push_digit(&sum, s.p[i]))
			return false;
	for (; digits; digits--)
		if (!push_digit(&sum, '0'))
			return false;
	if (sum > INT64_MAX)
		return false;
	*v = negative ? -(s64)sum : (s64)sum;
	return true;
}

char *decimal_text(char buf[40], s64 value, u32 digits)
{
	for (; digits && value % 10 == 0; digits--)
		value /= 10;
	return fmt_decimal(buf, value, digits);
}
