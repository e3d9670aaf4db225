/* SPDX-License-Identifier: MIT */
/* What the fuzz targets share: reading an input, and saying what is wrong with
 * what came of it. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/lib/types.h"

struct input {
	const u8 *p;
	size_t left;
};

/* 0 when nothing is left. */
static inline u8 take8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static inline u32 take16(struct input *in)
{
	u32 low = take8(in);

	return low | (u32)take8(in) << 8;
}

static inline u32 take32(struct input *in)
{
	u32 low = take16(in);

	return low | take16(in) << 16;
}

/* Ends the process, so that libFuzzer keeps the input. */
#define must(cond)                                                                        \
	do {                                                                              \
		if (!(cond)) {                                                            \
			fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                          \
		}                                                                         \
	} while (0)

/* libFuzzer's entry point. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif
