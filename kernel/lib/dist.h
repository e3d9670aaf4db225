/* SPDX-License-Identifier: MIT */
/*
 * Random durations of given distributions, in integer arithmetic, so that all
 * compilers and executors draw the same. One generator, one sequence.
 */
#ifndef LIB_DIST_H
#define LIB_DIST_H

#include "rng.h"

#define DIST_EXP_MEAN_MAX (1ull << 57)
#define DIST_LOGN_MEAN_MAX (1ull << 35) /* 34 s in ns */
#define DIST_SIGMA_MAX 2000

/* Exponential: -mean * ln(U) from one draw U, at most mean * 2^-31 and 1/2 away
 * from the exact value. mean <= DIST_EXP_MEAN_MAX. */
u64 dist_exp(struct rng *r, u64 mean);

/*
 * Lognormal with that mean (its median is mean * exp(-sigma^2 / 2)); sigma, that of
 * the logarithm, in 1/1000, at most DIST_SIGMA_MAX; mean <= DIST_LOGN_MEAN_MAX.
 * One draw or more: a normal Z by the polar method, at most 2^-28 / |Z| or 2^-14
 * away from its exact value, the smaller; the duration is as far off in proportion,
 * times sigma, and by 1/2.
 */
u64 dist_logn(struct rng *r, u64 mean, u32 sigma_milli);

#endif
