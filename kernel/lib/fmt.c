/* SPDX-License-Identifier: MIT */
/*
 * Formatted text without floating point: see fmt.h. Behaves as C11's vsnprintf
 * for the conversions it knows; with an unknown one the arguments' types are
 * lost, so the rest of the format appears as it stands.
 */
#include "fmt.h"
#include "string.h"

/* gcc's limits.h wants the C library's. */
#define INT_MAX __INT_MAX__
#define INT_MIN (-INT_MAX - 1)

struct out {
	char *buf;
	size_t size, len; /* len counts what did not fit, too */
};

struct spec {
	bool left, zero, plus, space;
	int width;
	int precision; /* -1: none given */
	int length;    /* in bytes: 1, 2, 4 or 8 */
};

static void put(struct out *o, char c)
{
	if (o->len + 1 < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void put_bytes(struct out *o, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(o, s[i]);
}

static void pad(struct out *o, char c, int n)
{
	while (n-- > 0)
		put(o, c);
}

static void put_text(struct out *o, const struct spec *sp, const char *s, size_t len)
{
	int gap = len < (size_t)sp->width ? sp->width - (int)len : 0;

	if (!sp->left)
		pad(o, ' ', gap);
	put_bytes(o, s, len);
	if (sp->left)
		pad(o, ' ', gap);
}

/* sign is the text before the digits: "", "-", "+", " " or "0x". */
static void put_number(struct out *o, const struct spec *sp, const char *sign, u64 v, u32 base,
		       bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char rev[20]; /* 2^64 has 20 decimal digits */
	int sign_len = (int)strlen(sign);
	int n = 0, zeros, gap;

	for (; v; v /= base)
		rev[n++] = digits[v % base];
	zeros = (sp->precision < 0 ? 1 : sp->precision) - n;
	if (zeros < 0)
		zeros = 0;
	/* Subtractions only: a width or precision of INT_MAX must not overflow. */
	gap = sp->width - n - sign_len;
	gap = gap > zeros ? gap - zeros : 0;
	if (sp->zero && !sp->left && sp->precision < 0) {
		zeros += gap;
		gap = 0;
	}
	if (!sp->left)
		pad(o, ' ', gap);
	put_bytes(o, sign, (size_t)sign_len);
	pad(o, '0', zeros);
	while (n)
		put(o, rev[--n]);
	if (sp->left)
		pad(o, ' ', gap);
}

static void put_signed(struct out *o, const struct spec *sp, s64 v)
{
	const char *sign = v < 0 ? "-" : sp->plus ? "+" : sp->space ? " " : "";

	put_number(o, sp, sign, v < 0 ? -(u64)v : (u64)v, 10, false);
}

/* Digits at *f, at most INT_MAX. */
static int parse_int(const char **f)
{
	int v = 0;

	for (; **f >= '0' && **f <= '9'; ++*f) {
		int digit = **f - '0';

		v = v > (INT_MAX - digit) / 10 ? INT_MAX : v * 10 + digit;
	}
	return v;
}

static const char *parse_flags(const char *f, struct spec *sp)
{
	for (;; f++) {
		switch (*f) {
		case '-':
			sp->left = true;
			break;
		case '0':
			sp->zero = true;
			break;
		case '+':
			sp->plus = true;
			break;
		case ' ':
			sp->space = true;
			break;
		default:
			return f;
		}
	}
}

static const char *parse_length(const char *f, struct spec *sp)
{
	sp->length = sizeof(int);
	if (*f == 'z') {
		sp->length = sizeof(size_t);
		f++;
	} else if (*f == 'l') {
		f += f[1] == 'l' ? 2 : 1;
		sp->length = sizeof(long long);
	} else if (*f == 'h') {
		sp->length = f[1] == 'h' ? 1 : 2;
		f += f[1] == 'h' ? 2 : 1;
	}
	return f;
}

_Static_assert(sizeof(long) == 8 && sizeof(size_t) == 8, "LP64: l, ll and z are one length");

int fmt_vsn(char *buf, size_t n, const char *f, va_list args)
{
	struct out o = { .buf = buf, .size = n };
	va_list ap;

	/* A copy has the same type whether or not va_list is an array. */
	va_copy(ap, args);
	while (*f) {
		const char *start = f;
		struct spec sp = { .precision = -1 };
		const char *s;
		s64 d;
		u64 u;
		char c;

		if (*f++ != '%') {
			put(&o, *start);
			continue;
		}
		f = parse_flags(f, &sp);
		if (*f == '*') {
			sp.width = va_arg(ap, int);
			f++;
			if (sp.width < 0) {
				sp.left = true;
				sp.width = sp.width == INT_MIN ? INT_MAX : -sp.width;
			}
		} else {
			sp.width = parse_int(&f);
		}
		if (*f == '.') {
			f++;
			if (*f == '*') {
				sp.precision = va_arg(ap, int);
				f++;
				if (sp.precision < 0)
					sp.precision = -1;
			} else {
				sp.precision = parse_int(&f);
			}
		}
		f = parse_length(f, &sp);
		switch (*f) {
		case 'd':
		case 'i':
			d = sp.length == 8 ? va_arg(ap, s64) : va_arg(ap, int);
			if (sp.length == 2)
				d = (s16)d;
			else if (sp.length == 1)
				d = (s8)d;
			put_signed(&o, &sp, d);
			break;
		case 'u':
		case 'x':
		case 'X':
			u = sp.length == 8 ? va_arg(ap, u64) : va_arg(ap, unsigned int);
			if (sp.length == 2)
				u = (u16)u;
			else if (sp.length == 1)
				u = (u8)u;
			put_number(&o, &sp, "", u, *f == 'u' ? 10 : 16, *f == 'X');
			break;
		case 'c':
			c = (char)va_arg(ap, int);
			put_text(&o, &sp, &c, 1);
			break;
		case 's':
			s = va_arg(ap, const char *);
			if (!s)
				s = "(null)";
			put_text(&o, &sp, s,
				 sp.precision < 0 ? strlen(s) : strnlen(s, (size_t)sp.precision));
			break;
		case 'p':
			put_number(&o, &sp, "0x", (uintptr_t)va_arg(ap, void *), 16, false);
			break;
		case '%':
			put(&o, '%');
			break;
		default:
			put_bytes(&o, start, strlen(start));
			goto out;
		}
		f++;
	}
out:
	va_end(ap);
	if (n)
		buf[o.len < n ? o.len : n - 1] = '\0';
	return o.len > INT_MAX ? INT_MAX : (int)o.len;
}

int fmt_sn(char *buf, size_t n, const char *f, ...)
{
	va_list ap;
	int len;

	va_start(ap, f);
	len = fmt_vsn(buf, n, f, ap);
	va_end(ap);
	return len;
}

/* Sign, point, a digit before it and the terminator fill the rest of 40. */
#define MAX_DECIMALS 36

/* The magnitude apart from its sign: rounding may leave s64's range. */
static char *put_decimal(char buf[40], bool negative, u64 v, u32 digits)
{
	char rev[40];
	u32 n = 0;
	char *p = buf;

	for (; digits > MAX_DECIMALS; digits--)
		v /= 10;
	for (; v || n <= digits; v /= 10)
		rev[n++] = (char)('0' + v % 10);
	if (negative)
		*p++ = '-';
	while (n) {
		if (n == digits)
			*p++ = '.';
		*p++ = rev[--n];
	}
	*p = '\0';
	return buf;
}

static u64 magnitude(s64 v)
{
	return v < 0 ? -(u64)v : (u64)v;
}

char *fmt_decimal(char buf[40], s64 value, u32 digits)
{
	return put_decimal(buf, value < 0, magnitude(value), digits);
}

char *fmt_rounded(char buf[40], s64 value, u32 digits, u32 keep)
{
	u64 v = magnitude(value);
	u32 last = 0; /* the digit dropped last decides */

	for (; digits > keep; digits--) {
		last = (u32)(v % 10);
		v /= 10;
	}
	if (last >= 5)
		v++;
	/* No "-0.0". */
	return put_decimal(buf, value < 0 && v, v, digits);
}
