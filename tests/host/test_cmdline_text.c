/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/fmt.c kernel/lib/nearest.c kernel/lib/parse.c kernel/lib/rng.c */
/* nearest.c against the recursive definition; parse.c at the edges of its ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../kernel/lib/nearest.h"
#include "../../kernel/lib/rng.h"
#include "../../kernel/lib/string.h"

static u32 min2(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Distance of the first i and j bytes, straight from the definition. */
static u32 slow_distance(const char *a, size_t i, const char *b, size_t j)
{
	u32 d;

	if (!i || !j)
		return (u32)(i + j);
	d = min2(slow_distance(a, i - 1, b, j) + 1, slow_distance(a, i, b, j - 1) + 1);
	d = min2(d, slow_distance(a, i - 1, b, j - 1) + (a[i - 1] != b[j - 1]));
	if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
		d = min2(d, slow_distance(a, i - 2, b, j - 2) + 1);
	return d;
}

static void test_distance(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 3, 0);
	for (u32 i = 0; i < 2000; i++) {
		char a[8], b[8];
		size_t na = rng_below(&r, 6), nb = rng_below(&r, 6);

		for (size_t k = 0; k < na; k++)
			a[k] = (char)('a' + rng_below(&r, 3));
		for (size_t k = 0; k < nb; k++)
			b[k] = (char)('a' + rng_below(&r, 3));
		assert_int_equal(edit_distance((struct span){ a, na }, (struct span){ b, nb }),
				 slow_distance(a, na, b, nb));
	}
	assert_int_equal(edit_distance(span_of("WA_IDLE"), span_of("wa_ilde")), 1);
}

static const char *nearest_of(const char *typed, const char *words)
{
	static char hold[NEAREST_LEN_MAX];
	struct nearest n;

	nearest_init(&n, span_of(typed));
	nearest_offer_words(&n, words, hold);
	return n.best ? n.best : "";
}

static void test_nearest(void **state)
{
	char longest[NEAREST_LEN_MAX + 2];

	(void)state;
	assert_string_equal(nearest_of("lops", "groups|loops|mode"), "loops");
	assert_string_equal(nearest_of("abcd", "abce|abcf"), "abce");
	assert_string_equal(nearest_of("hack", "mode|hackbench"), "hackbench");
	assert_string_equal(nearest_of("ha", "mode|hackbench"), "");
	assert_string_equal(nearest_of("run", "seed|runs"), "runs");
	assert_string_equal(nearest_of("xyz", "hz|runs"), "");
	assert_string_equal(nearest_of("x", "n|m"), "");
	assert_string_equal(nearest_of("N", "n|m"), "n");
	assert_string_equal(nearest_of("", "n|m"), "");
	memset(longest, 'a', sizeof(longest));
	longest[NEAREST_LEN_MAX + 1] = '\0';
	assert_string_equal(nearest_of(longest, "aaaaaaaaaaaaaaaa|b"), "");
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		u32 digits;
		bool ok;
		s64 value;
	} cases[] = {
		{ "0", 0, true, 0 }, { "-0", 0, true, 0 }, { "007", 0, true, 7 },
		{ "1.5", 1, true, 15 }, { "1.5", 3, true, 1500 }, { "-1.25", 2, true, -125 },
		{ "9223372036854775807", 0, true, INT64_MAX },
		{ "-9223372036854775807", 0, true, -INT64_MAX },
		{ "9223372036854775808", 0, false, 0 }, { "9223372036.854775807", 9, true,
		  INT64_MAX }, { "9223372036.854775808", 9, false, 0 },
		{ "18446744073709551616", 0, false, 0 }, { "18446744074", 9, false, 0 },
		{ "18446744073.709551616", 9, false, 0 },
		{ "1.5", 0, false, 0 }, { "1.", 2, false, 0 }, { ".5", 2, false, 0 },
		{ "", 2, false, 0 }, { "-", 2, false, 0 }, { "1.2.3", 3, false, 0 },
		{ "1.x", 3, false, 0 }, { "+1", 0, false, 0 }, { "1e3", 0, false, 0 },
		{ "--1", 0, false, 0 },
	};
	char text[40];
	u64 u;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		s64 v = -77;

		assert_int_equal(parse_decimal(span_of(cases[i].text), cases[i].digits, &v),
				 cases[i].ok);
		assert_int_equal(v, cases[i].ok ? cases[i].value : -77);
	}
	assert_true(parse_u64(span_of("18446744073709551615"), &u));
	assert_true(u == UINT64_MAX);
	assert_false(parse_u64(span_of("18446744073709551616"), &u));
	assert_false(parse_u64(span_of(""), &u));
	assert_false(parse_u64(span_of("1 "), &u));
	assert_string_equal(decimal_text(text, 1500, 3), "1.5");
	assert_string_equal(decimal_text(text, 100, 0), "100");
	assert_string_equal(decimal_text(text, 0, 9), "0");
	assert_string_equal(decimal_text(text, -2500000, 6), "-2.5");
}

static void test_spans(void **state)
{
	struct span rest = span_of("a,,b,"), item;
	char text[8];

	(void)state;
	assert_true(span_next(&rest, ',', &item) && span_is(item, "a"));
	assert_true(span_next(&rest, ',', &item) && span_is(item, ""));
	assert_true(span_next(&rest, ',', &item) && span_is(item, "b"));
	assert_true(span_next(&rest, ',', &item) && span_is(item, ""));
	assert_false(span_next(&rest, ',', &item));
	assert_string_equal(span_text(span_of("1234567"), text, sizeof(text)), "1234567");
	assert_string_equal(span_text(span_of("12345678"), text, sizeof(text)), "1234...");
	assert_string_equal(span_text(span_of("a\n\x7f\x80"), text, sizeof(text)), "a???");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
