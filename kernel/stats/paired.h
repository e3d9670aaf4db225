/* SPDX-License-Identifier: MIT */
/*
 * Statistics over seeds. Every arm runs the same seeds, so two arms are compared
 * run by run: the workload's variance, which both share, cancels out of the
 * differences, and their mean gets a confidence interval from Student's t.
 *
 * Values are fixed point, scaled by 10^digits (digits <= 15), |value| < 2^62, 1 to
 * PAIRED_MAX_RUNS of them. Percentages are scaled by 10^PCT_DIGITS. Means and
 * percentages are rounded half away from zero; a standard deviation is known to
 * 2^-43 of itself before that. Integers only: same digits everywhere.
 */
#ifndef STATS_PAIRED_H
#define STATS_PAIRED_H

#include "../lib/types.h"

#define PAIRED_MAX_RUNS 1000
#define PCT_DIGITS      4
/* 10^9 %: what is not below counts as unknown. It comes of a mean of nearly 0. */
#define PCT_LIMIT       10000000000000ll

/* One arm. */
struct sample {
	u32 runs;
	s64 mean;
	u32 mean_digits;  /* digits + 3, or what of that fits s64 */
	bool stdev_known; /* runs > 1, mean not 0, below PCT_LIMIT */
	s64 stdev_pct;    /* sample standard deviation (n - 1), percent of |mean| */
};

enum verdict {
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_NO_DIFFERENCE, /* the interval spans or touches 0 */
	VERDICT_ONE_RUN,       /* one run has no interval */
	VERDICT_NR
};

/* A variant against the reference. */
struct paired {
	bool change_known; /* the reference's mean is not 0, change below PCT_LIMIT */
	bool ci_known;     /* change_known, more than one run, width below PCT_LIMIT */
	s64 change_pct;    /* of the reference's |mean|; positive = better */
	s64 ci95_low_pct, ci95_high_pct; /* change -+ t * s(differences) / sqrt(n) */
	enum verdict verdict; /* as the interval printed says, where it is known */
};

void sample_stats(struct sample *out, const s64 *values, u32 n, u32 digits);

/* ref[i] and var[i] are of the same seed and the same scale. */
void paired_compare(struct paired *out, const s64 *ref, const s64 *var, u32 n,
		    bool lower_is_better);

/* Two-sided 95 % quantile of Student's t in thousandths; df >= 1. Between the
 * rows of its table it takes the one of fewer df: intervals err to the wide. */
u32 student_t95_milli(u32 df);

/* "better", "worse", "no difference", "one run". */
const char *verdict_name(enum verdict v);

#endif
