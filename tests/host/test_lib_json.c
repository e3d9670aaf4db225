/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/json.c kernel/lib/fmt.c */
/* json.c: exact texts, and strings read back by an independent decoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/lib/json.h"

static void test_commas_and_values(void **state)
{
	char buf[400];
	struct json j;

	(void)state;
	json_init(&j, buf, sizeof(buf));
	json_obj(&j, NULL);
	json_u64(&j, "max", UINT64_MAX);
	json_s64(&j, "min", INT64_MIN);
	json_arr(&j, "list");
	json_end_arr(&j);
	json_arr(&j, "rows");
	json_arr(&j, NULL);
	json_u64(&j, NULL, 1);
	json_u64(&j, NULL, 2);
	json_end_arr(&j);
	json_obj(&j, NULL);
	json_end_obj(&j);
	json_str(&j, NULL, "a text~\x7f");
	json_end_arr(&j);
	json_dec(&j, "dec", -12345, 3);
	json_bool(&j, "yes", true);
	json_bool(&j, "no", false);
	json_null(&j, "none");
	json_str(&j, "null", NULL);
	json_obj(&j, "in\"ner");
	json_dec(&j, "small", 7, 2);
	json_end_obj(&j);
	json_end_obj(&j);
	assert_false(j.overflow);
	assert_int_equal(j.depth, 0);
	assert_int_equal(j.len, strlen(buf));
	assert_string_equal(buf,
		"{\"max\":18446744073709551615,\"min\":-9223372036854775808,\"list\":[],"
		"\"rows\":[[1,2],{},\"a text~\x7f\"],\"dec\":-12.345,\"yes\":true,\"no\":false,"
		"\"none\":null,\"null\":null,\"in\\\"ner\":{\"small\":0.07}}");
}

/* UTF-8 of a code point by RFC 3629's table; the oracle of all that follows. */
static size_t encode(u32 cp, char out[4])
{
	static const u8 lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, cp >>= 6)
		out[i] = (char)(0x80 | (cp & 0x3f));
	out[0] = (char)(lead[n] | cp);
	return n;
}

/* A valid character's length: whatever is decoded loosely must encode to the same. */
static size_t valid_len(const char *s)
{
	u8 c = (u8)s[0];
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	u32 cp = n == 1 ? c : c & (0xffu >> (n + 1));
	char again[4];

	for (size_t i = 1; i < n; i++) {
		if (!s[i])
			return 0;
		cp = cp << 6 | ((u8)s[i] & 0x3f);
	}
	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return 0;
	return encode(cp, again) == n && !memcmp(again, s, n) ? n : 0;
}

/* Reads a JSON string literal; every byte must be one that JSON allows. */
static void decode(const char *in, char *out)
{
	assert_int_equal(*in++, '"');
	while (*in != '"') {
		assert_true((u8)*in >= 0x20);
		if (*in != '\\') {
			*out++ = *in++;
			continue;
		}
		switch (*++in) {
		case 'u': {
			char hex[5] = { 0 };

			memcpy(hex, in + 1, 4);
			assert_int_equal(strspn(hex, "0123456789abcdef"), 4);
			out += encode((u32)strtoul(hex, NULL, 16), out);
			in += 5;
			continue;
		}
		case 'b': *out++ = '\b'; break;
		case 'f': *out++ = '\f'; break;
		case 'n': *out++ = '\n'; break;
		case 'r': *out++ = '\r'; break;
		case 't': *out++ = '\t'; break;
		default:
			assert_true(*in == '"' || *in == '\\');
			*out++ = *in;
		}
		in++;
	}
	*out = '\0';
	assert_int_equal(in[1], '\0');
}

static void check_string(const char *s)
{
	char want[400], got[400], buf[400], *w = want;
	struct json j;

	for (const char *p = s; *p;) {
		size_t n = valid_len(p);

		if (n)
			memcpy(w, p, n);
		w += n ? n : encode(0xfffd, w);
		p += n ? n : 1;
	}
	*w = '\0';
	json_init(&j, buf, sizeof(buf));
	json_str(&j, NULL, s);
	assert_false(j.overflow);
	decode(buf, got);
	assert_string_equal(got, want);
}

static void test_every_character(void **state)
{
	(void)state;
	for (u32 cp = 1; cp <= 0x10ffff; cp++) {
		char s[8], buf[16];
		size_t n = encode(cp, s);
		struct json j;

		s[n] = '\0';
		if (cp < 0x100 || random() % 64 == 0)
			check_string(s);
		if (cp < 0x80 || (cp >= 0xd800 && cp <= 0xdfff))
			continue;
		json_init(&j, buf, sizeof(buf));
		json_str(&j, NULL, s);
		/* Unchanged between its quotes. */
		if (j.len != n + 2 || memcmp(buf + 1, s, n))
			fail_msg("U+%04X became %s", cp, buf);
	}
}

static void test_any_bytes(void **state)
{
	(void)state;
	check_string("\xed\xa0\x80"); /* surrogate */
	check_string("\xc0\xaf");     /* overlong */
	check_string("\xf4\x90\x80\x80"); /* above U+10FFFF */
	check_string("\xe2\x82");     /* cut off */
	for (int i = 0; i < 100000; i++) {
		char s[24];
		size_t len = (size_t)random() % sizeof(s);

		for (size_t k = 0; k < len; k++)
			s[k] = (char)(random() % 2 ? 0x80 + random() % 0x80 : 1 + random() % 255);
		s[len] = '\0';
		check_string(s);
	}
}

static void write_sample(struct json *j)
{
	json_obj(j, NULL);
	json_str(j, "name", "a\nb");
	json_arr(j, "v");
	json_u64(j, NULL, 12);
	json_end_arr(j);
	json_end_obj(j);
}

/* Every size: a prefix and the flag where it does not fit, no byte beyond. */
static void test_overflow(void **state)
{
	char whole[64], buf[64];
	struct json j;
	size_t len;

	(void)state;
	json_init(&j, whole, sizeof(whole));
	write_sample(&j);
	assert_false(j.overflow);
	len = j.len;
	for (size_t size = 0; size < sizeof(buf); size++) {
		memset(buf, '#', sizeof(buf));
		json_init(&j, buf, size);
		write_sample(&j);
		assert_int_equal(j.overflow, size <= len);
		if (size) {
			assert_int_equal(j.len, strlen(buf));
			assert_memory_equal(buf, whole, j.len);
		}
		assert_int_equal(buf[size], '#');
	}
}

static void test_depth(void **state)
{
	char buf[64];
	struct json j;

	(void)state;
	json_init(&j, buf, sizeof(buf));
	for (int i = 0; i < JSON_DEPTH; i++)
		json_arr(&j, NULL);
	assert_false(j.overflow);
	for (int i = 0; i < JSON_DEPTH; i++)
		json_end_arr(&j);
	assert_false(j.overflow);
	assert_string_equal(buf, "[[[[[[[[]]]]]]]]");
	json_end_obj(&j);
	assert_true(j.overflow);

	json_init(&j, buf, sizeof(buf));
	for (int i = 0; i <= JSON_DEPTH; i++)
		json_obj(&j, NULL);
	assert_true(j.overflow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commas_and_values),
		cmocka_unit_test(test_every_character),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
