/* SPDX-License-Identifier: MIT */
/*
 * JSON writer into a fixed buffer. Commas are placed by the writer. A buffer
 * that is too small sets `overflow` and drops the rest, and so do nesting beyond
 * JSON_DEPTH and an end too many; who emits the text must check it (frame_emit()
 * panics on it: nothing is lost silently). buf is always terminated, len is its
 * strlen. Strings are UTF-8; bytes that are not become U+FFFD.
 */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include "types.h"

#define JSON_DEPTH 8

struct json {
	char *buf;
	size_t size, len;
	bool overflow;
	u8 depth;
	bool comma[JSON_DEPTH];
};

void json_init(struct json *j, char *buf, size_t size);

/* key is NULL inside an array and for the outermost object. */
void json_obj(struct json *j, const char *key);
void json_arr(struct json *j, const char *key);
void json_end_obj(struct json *j);
void json_end_arr(struct json *j);
void json_str(struct json *j, const char *key, const char *s);
void json_u64(struct json *j, const char *key, u64 v);
void json_s64(struct json *j, const char *key, s64 v);
/* v / 10^digits as a JSON number. */
void json_dec(struct json *j, const char *key, s64 v, u32 digits);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

#endif
