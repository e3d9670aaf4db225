/* SPDX-License-Identifier: MIT */
/*
 * The string functions the kernel needs. In the kernel they are ours
 * (string.c); a hosted build links its C library's, which have the same
 * prototypes.
 */
#ifndef LIB_STRING_H
#define LIB_STRING_H

#include "types.h"

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);

#endif
