/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own string functions; compilers also call the mem* ones. Plain
 * loops over words: an emulator runs a string instruction one element at a
 * time, several times slower, and on hardware the difference does not matter
 * for the sizes copied here.
 */
#include "string.h"

/* x86 takes words at any address. */
typedef u64 __attribute__((may_alias, aligned(1))) word;

void *memcpy(void *dst, const void *src, size_t n)
{
	u8 *d = dst;
	const u8 *s = src;

	for (; n >= 32; n -= 32, d += 32, s += 32) {
		u64 a = ((const word *)s)[0], b = ((const word *)s)[1];
		u64 c = ((const word *)s)[2], e = ((const word *)s)[3];

		((word *)d)[0] = a;
		((word *)d)[1] = b;
		((word *)d)[2] = c;
		((word *)d)[3] = e;
	}
	for (; n >= 8; n -= 8, d += 8, s += 8)
		*(word *)d = *(const word *)s;
	while (n--)
		*d++ = *s++;
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	u8 *d = dst;
	const u8 *s = src;

	if ((size_t)(d - s) >= n)
		return memcpy(dst, src, n);
	while (n--)
		d[n] = s[n];
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	u8 *d = dst;
	u64 v = 0x0101010101010101ull * (u8)c;

	for (; n >= 32; n -= 32, d += 32) {
		((word *)d)[0] = v;
		((word *)d)[1] = v;
		((word *)d)[2] = v;
		((word *)d)[3] = v;
	}
	for (; n >= 8; n -= 8, d += 8)
		*(word *)d = v;
	while (n--)
		*d++ = (u8)c;
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

size_t strnlen(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i])
		i++;
	return i;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i] || !a[i])
			return (u8)a[i] - (u8)b[i];
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(size_t)s;
		if (!*s)
			return NULL;
	}
}
