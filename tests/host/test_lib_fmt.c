/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/fmt.c */
/* fmt.c against the C library's snprintf, on random formats and values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/lib/fmt.h"

static u64 rnd(void)
{
	return (u64)random() << 42 ^ (u64)random() << 21 ^ (u64)random();
}

/* All sizes of number alike, and the ends of every type's range. */
static u64 rnd_value(void)
{
	static const u64 ends[] = { 0, 1, 9, 10, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff,
		INT_MAX, (u64)INT_MIN, UINT_MAX, INT64_MAX, (u64)INT64_MIN, UINT64_MAX };

	if (random() % 4 == 0)
		return ends[(size_t)random() % ARRAY_SIZE(ends)];
	return rnd() >> random() % 64;
}

/* Formats the same arguments both ways into dirty buffers of n bytes. The compilers
 * warn of what is odd on purpose here, unless the format is hidden from them. */
#define COMPARE(n, f, ...)                                                            \
	do {                                                                          \
		const char *volatile hidden = f;                                      \
		char ours[300], libc[300];                                            \
		int got, want;                                                        \
                                                                                      \
		memset(ours, '#', sizeof(ours));                                      \
		memset(libc, '#', sizeof(libc));                                      \
		got = fmt_sn(ours, n, hidden, __VA_ARGS__);                           \
		want = snprintf(libc, n, hidden, __VA_ARGS__);                        \
		if (got != want || memcmp(ours, libc, (n) + 1))                       \
			fail_msg("'%s' into %zu: %d '%.*s', wanted %d '%.*s'", f,     \
				 (size_t)(n), got, (int)(n), ours, want, (int)(n), libc); \
	} while (0)

static void rnd_spec(char *f, const char *flags, bool precision)
{
	*f++ = '%';
	for (int i = (int)(random() % 4); i > 0 && *flags; i--)
		*f++ = flags[(size_t)random() % strlen(flags)];
	if (random() % 2)
		f += sprintf(f, "%d", 1 + (int)(random() % 45));
	if (precision && random() % 2)
		f += random() % 4 ? sprintf(f, ".%d", (int)(random() % 30)) : sprintf(f, ".");
	*f = '\0';
}

static void test_integers_as_libc(void **state)
{
	static const char *const lengths[] = { "", "l", "ll", "z", "h", "hh" };
	static const char *const conversions[] = { "d", "i", "u", "x", "X" };

	(void)state;
	for (int i = 0; i < 200000; i++) {
		const char *length = lengths[random() % 6];
		const char *conv = conversions[random() % 5];
		size_t n = random() % 3 ? 200 : (size_t)(random() % 30);
		u64 v = rnd_value();
		char spec[32], f[64];

		rnd_spec(spec, "-0+ ", true);
		sprintf(f, "a%s%s%sb", spec, length, conv);
		if (*length == 'l' || *length == 'z')
			COMPARE(n, f, v);
		else
			COMPARE(n, f, (unsigned int)v);
	}
}

static void test_text_as_libc(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		size_t n = random() % 3 ? 200 : (size_t)(random() % 30);
		char text[32], spec[32], f[64];
		size_t len = (size_t)random() % sizeof(text);
		int c = (int)(1 + random() % 255);
		void *p = (void *)(uintptr_t)(1 + rnd_value() % INT64_MAX);

		memset(text, 'a' + (int)(random() % 26), len);
		text[len] = '\0';
		rnd_spec(spec, "-", true);
		sprintf(f, "%ss|", spec);
		COMPARE(n, f, text);
		rnd_spec(spec, "-", false);
		sprintf(f, "%sc|%%%%", spec);
		COMPARE(n, f, c);
		sprintf(f, "%sp|", spec);
		COMPARE(n, f, p);
	}
	/* Only as many bytes are read as the precision says: no terminator here. */
	COMPARE(20, "%.3s", ((const char[]){ 'x', 'y', 'z' }));
}

static void test_star_as_libc(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		int width = (int)(random() % 61) - 30, precision = (int)(random() % 41) - 20;
		u64 v = rnd_value();

		COMPARE((size_t)200, "%*.*ld|", width, precision, (long)v);
		COMPARE((size_t)200, "%0*lx|", width, v);
		COMPARE((size_t)200, "%-*.*s|", width, precision, "some text");
	}
}

static void test_zero_and_extremes(void **state)
{
	(void)state;
	COMPARE((size_t)40, "[%.0d][%5.0u][%+.0d][%.d]", 0, 0u, 0, 0);
	COMPARE((size_t)40, "[%08d][%-08d][%08.3d]", -42, -42, -42);
	COMPARE((size_t)40, "%d %lld", INT_MIN, LLONG_MIN);
	COMPARE((size_t)0, "%d", 12345);
	COMPARE((size_t)1, "%d", 12345);
	COMPARE((size_t)6, "%d", 12345);
	COMPARE((size_t)5, "%d", 12345);
}

static void test_own_rules(void **state)
{
	const char *volatile null = NULL;
	const char *volatile unknown = "%d%q%d", *volatile cut = "50%";
	char buf[64];

	(void)state;
	assert_int_equal(fmt_sn(buf, sizeof(buf), "%8s", null), 8);
	assert_string_equal(buf, "  (null)");
	fmt_sn(buf, sizeof(buf), "%p", (void *)0);
	assert_string_equal(buf, "0x0");
	assert_int_equal(fmt_sn(buf, sizeof(buf), unknown, 1, 2), 5);
	assert_string_equal(buf, "1%q%d");
	assert_int_equal(fmt_sn(buf, sizeof(buf), cut, 0), 3);
	assert_string_equal(buf, "50%");
	assert_int_equal(fmt_sn(NULL, 0, "%s", "abc"), 3);
}

/* Oracle: digits and point placed by snprintf on the integer parts. */
static void oracle_decimal(char *buf, bool negative, u64 v, u32 digits)
{
	u64 unit = 1;

	for (u32 i = 0; i < digits; i++)
		unit *= 10;
	if (digits)
		sprintf(buf, "%s%llu.%0*llu", negative ? "-" : "", (unsigned long long)(v / unit),
			(int)digits, (unsigned long long)(v % unit));
	else
		sprintf(buf, "%s%llu", negative ? "-" : "", (unsigned long long)v);
}

static void test_decimal(void **state)
{
	char buf[40], want[64];

	(void)state;
	assert_string_equal(fmt_decimal(buf, 12345, 3), "12.345");
	assert_string_equal(fmt_decimal(buf, -5, 2), "-0.05");
	assert_string_equal(fmt_decimal(buf, 0, 2), "0.00");
	assert_string_equal(fmt_decimal(buf, INT64_MIN, 36),
			    "-0.000000000000000009223372036854775808");
	assert_string_equal(fmt_decimal(buf, INT64_MIN, 38),
			    "-0.000000000000000000092233720368547758");
	for (int i = 0; i < 100000; i++) {
		s64 v = (s64)rnd_value();
		u32 digits = (u32)(random() % 20);

		oracle_decimal(want, v < 0, v < 0 ? -(u64)v : (u64)v, digits);
		assert_string_equal(fmt_decimal(buf, v, digits), want);
	}
}

static void test_rounded(void **state)
{
	char buf[40], want[64];

	(void)state;
	assert_string_equal(fmt_rounded(buf, 12345, 3, 2), "12.35");
	assert_string_equal(fmt_rounded(buf, -12345, 3, 2), "-12.35");
	assert_string_equal(fmt_rounded(buf, 12344999, 6, 2), "12.34");
	assert_string_equal(fmt_rounded(buf, 995, 3, 2), "1.00");
	assert_string_equal(fmt_rounded(buf, -4, 2, 1), "0.0");
	assert_string_equal(fmt_rounded(buf, -5, 2, 1), "-0.1");
	assert_string_equal(fmt_rounded(buf, 5, 1, 0), "1");
	assert_string_equal(fmt_rounded(buf, 5, 1, 3), "0.5");
	assert_string_equal(fmt_rounded(buf, INT64_MIN, 1, 0), "-922337203685477581");
	assert_string_equal(fmt_rounded(buf, INT64_MAX, 25, 2), "0.00");
	for (int i = 0; i < 100000; i++) {
		s64 v = (s64)rnd_value();
		u64 mag = v < 0 ? -(u64)v : (u64)v, unit = 1;
		u32 digits = (u32)(random() % 19), keep = (u32)(random() % (digits + 1));

		for (u32 d = keep; d < digits; d++)
			unit *= 10;
		/* Half away from zero: twice the rest reaches the unit. */
		mag = mag / unit + (mag % unit * 2 >= unit && unit > 1);
		oracle_decimal(want, v < 0 && mag, mag, keep);
		assert_string_equal(fmt_rounded(buf, v, digits, keep), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_as_libc),
		cmocka_unit_test(test_text_as_libc),
		cmocka_unit_test(test_star_as_libc),
		cmocka_unit_test(test_zero_and_extremes),
		cmocka_unit_test(test_own_rules),
		cmocka_unit_test(test_decimal),
		cmocka_unit_test(test_rounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
