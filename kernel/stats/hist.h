/* SPDX-License-Identifier: MIT */
/*
 * Log-linear histogram of u64 values, by habit ns. Values below 2^(sub_bits+1)
 * have a bucket each; above, every octave [2^e, 2^(e+1)) is cut into 2^sub_bits
 * buckets of width 2^(e-sub_bits), so a bucket is never wider than its lower
 * bound / 2^sub_bits. Every u64 has a bucket: nothing is clipped.
 *
 * HIST_SUB_BITS (3 % wide) is what latencies use; 8, over us, is schbench's
 * (spec/workloads.md section 3). No locking: the owner serialises.
 */
#ifndef STATS_HIST_H
#define STATS_HIST_H

#include "../lib/json.h"
#include "../lib/types.h"

#define HIST_SUB_BITS 5
#define HIST_MAX_SUB_BITS 16
#define HIST_BUCKETS(sub_bits) ((65u - (sub_bits)) << (sub_bits))

struct hist {
	u64 *counts; /* HIST_BUCKETS(sub_bits) of them */
	u32 sub_bits;
	u64 count;
	u64 min, max; /* exact; UINT64_MAX and 0 while empty */
	u128 sum;     /* exact for any 2^64 values */
};

/* An empty histogram over the caller's HIST_BUCKETS(sub_bits) counters, which it
 * clears. sub_bits <= HIST_MAX_SUB_BITS. */
void hist_init(struct hist *h, u64 *counts, u32 sub_bits);

void hist_record(struct hist *h, u64 v);

/* Adds what `from` holds. False, and nothing done, when the widths differ. */
bool hist_merge(struct hist *into, const struct hist *from);

/*
 * The smallest value such that at least pct_milli/1000 percent of the values are
 * no larger (99.9 % = 99900; at most 100000), reported as the midpoint of its
 * bucket: at most 2^-(sub_bits+1) of it away. 0 when empty.
 */
u64 hist_percentile(const struct hist *h, u32 pct_milli);

/* floor(sum / count); 0 when empty. */
u64 hist_mean(const struct hist *h);

/* Bucket of v, and the lowest and middle value of a bucket. Widths are powers of
 * two, so the middle of an even width is the upper of the two middle values. */
u32 hist_bucket(u32 sub_bits, u64 v);
u64 hist_lower(u32 sub_bits, u32 bucket);
u64 hist_middle(u32 sub_bits, u32 bucket);

/* The buckets in use as [[lower, count], ...], ascending. */
void hist_json(const struct hist *h, struct json *j, const char *key);

#endif
