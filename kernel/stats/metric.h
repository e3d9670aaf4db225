/* SPDX-License-Identifier: MIT */
/* What a figure of a workload is. Values are s64, in units of 10^-digits. */
#ifndef STATS_METRIC_H
#define STATS_METRIC_H

#include "../lib/types.h"

enum metric_better { METRIC_LOWER, METRIC_HIGHER };

struct metric_info {
	const char *name;  /* field of the frames; carries the unit: "elapsed_s" */
	u32 digits;        /* decimals that the integer holds */
	enum metric_better better;
	const char *help;
};

static inline const char *metric_better_name(enum metric_better b)
{
	return b == METRIC_LOWER ? "lower" : "higher";
}

#endif
