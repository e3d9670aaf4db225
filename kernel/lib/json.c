/* SPDX-License-Identifier: MIT */
/* JSON writer (RFC 8259) into a fixed buffer: see json.h. */
#include "fmt.h"
#include "json.h"
#include "string.h"

static void put_bytes(struct json *j, const char *s, size_t n)
{
	/* One byte stays for the terminator. Nothing follows what did not fit. */
	if (j->overflow || n >= j->size - j->len) {
		j->overflow = true;
		return;
	}
	memcpy(j->buf + j->len, s, n);
	j->len += n;
	j->buf[j->len] = '\0';
}

static void put(struct json *j, const char *s)
{
	put_bytes(j, s, strlen(s));
}

/*
 * Length of the UTF-8 sequence at s, 0 when it is none: overlong forms,
 * surrogates and values above U+10FFFF are none (RFC 3629 section 4).
 */
static size_t utf8_len(const char *str)
{
	const u8 *s = (const u8 *)str;
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 :
		     s[0] < 0xf5 ? 4 : 0;

	/* The terminator is no continuation byte, so this stays inside. */
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

static void put_quoted(struct json *j, const char *s)
{
	static const char named[] = "\bb\ff\nn\rr\tt\"\"\\\\";
	char esc[8];

	put(j, "\"");
	while (*s) {
		size_t len = utf8_len(s);
		const char *name = NULL;

		for (const char *p = named; *p && !name; p += 2)
			if (*p == *s)
				name = p + 1;
		if (name) {
			esc[0] = '\\';
			esc[1] = *name;
			put_bytes(j, esc, 2);
		} else if ((u8)*s < 0x20) {
			fmt_sn(esc, sizeof(esc), "\\u%04x", (u8)*s);
			put(j, esc);
		} else if (!len) {
			/* Bytes typed by a user must not make the frame invalid. */
			put(j, "\\ufffd");
		} else {
			put_bytes(j, s, len);
		}
		s += len ? len : 1;
	}
	put(j, "\"");
}

/* What stands before every value. */
static void begin_value(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->comma[j->depth - 1])
			put(j, ",");
		j->comma[j->depth - 1] = true;
	}
	if (key) {
		put_quoted(j, key);
		put(j, ":");
	}
}

static void open(struct json *j, const char *key, const char *bracket)
{
	begin_value(j, key);
	if (j->depth == JSON_DEPTH) {
		j->overflow = true;
		return;
	}
	j->comma[j->depth++] = false;
	put(j, bracket);
}

static void close(struct json *j, const char *bracket)
{
	/* After an overflow the depth may lag behind: nothing is written any more. */
	if (!j->depth) {
		j->overflow = true;
		return;
	}
	j->depth--;
	put(j, bracket);
}

void json_init(struct json *j, char *buf, size_t size)
{
	*j = (struct json){ .buf = buf, .size = size, .overflow = !size };
	if (size)
		buf[0] = '\0';
}

void json_obj(struct json *j, const char *key)
{
	open(j, key, "{");
}

void json_arr(struct json *j, const char *key)
{
	open(j, key, "[");
}

void json_end_obj(struct json *j)
{
	close(j, "}");
}

void json_end_arr(struct json *j)
{
	close(j, "]");
}

void json_str(struct json *j, const char *key, const char *s)
{
	begin_value(j, key);
	if (s)
		put_quoted(j, s);
	else
		put(j, "null");
}

void json_u64(struct json *j, const char *key, u64 v)
{
	char text[24];

	begin_value(j, key);
	fmt_sn(text, sizeof(text), "%llu", (unsigned long long)v);
	put(j, text);
}

void json_s64(struct json *j, const char *key, s64 v)
{
	char text[24];

	begin_value(j, key);
	fmt_sn(text, sizeof(text), "%lld", (long long)v);
	put(j, text);
}

void json_dec(struct json *j, const char *key, s64 v, u32 digits)
{
	char text[40];

	begin_value(j, key);
	put(j, fmt_decimal(text, v, digits));
}

void json_bool(struct json *j, const char *key, bool v)
{
	begin_value(j, key);
	put(j, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	begin_value(j, key);
	put(j, "null");
}
