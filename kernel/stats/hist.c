/* SPDX-License-Identifier: MIT */
/* Log-linear histogram: see hist.h. */
#include "../lib/math64.h"
#include "../lib/string.h"
#include "hist.h"

/*
 * Bucket number = (shift << sub_bits) + (v >> shift), shift being how many low
 * bits the octave drops; v >> shift keeps its leading one, so each octave starts
 * where the one before ended.
 */
u32 hist_bucket(u32 sub_bits, u64 v)
{
	u32 shift = v >> sub_bits > 1 ? log2_floor(v) - sub_bits : 0;

	return (shift << sub_bits) + (u32)(v >> shift);
}

static u32 bucket_shift(u32 sub_bits, u32 bucket)
{
	u32 octave = bucket >> sub_bits;

	return octave > 1 ? octave - 1 : 0;
}

u64 hist_lower(u32 sub_bits, u32 bucket)
{
	u32 shift = bucket_shift(sub_bits, bucket);

	return (u64)(bucket - (shift << sub_bits)) << shift;
}

u64 hist_middle(u32 sub_bits, u32 bucket)
{
	return hist_lower(sub_bits, bucket) + ((1ull << bucket_shift(sub_bits, bucket)) >> 1);
}

void hist_init(struct hist *h, u64 *counts, u32 sub_bits)
{
	*h = (struct hist){ .counts = counts, .sub_bits = sub_bits, .min = UINT64_MAX };
	memset(counts, 0, HIST_BUCKETS(sub_bits) * sizeof(*counts));
}

void hist_record(struct hist *h, u64 v)
{
	h->counts[hist_bucket(h->sub_bits, v)]++;
	h->count++;
	h->sum += v;
	if (v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
}

bool hist_merge(struct hist *into, const struct hist *from)
{
	if (into->sub_bits != from->sub_bits)
		return false;
	for (u32 b = 0; b < HIST_BUCKETS(from->sub_bits); b++)
		into->counts[b] += from->counts[b];
	into->count += from->count;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	return true;
}

u64 hist_percentile(const struct hist *h, u32 pct_milli)
{
	u64 rank, seen = 0;
	u32 b;

	if (!h->count)
		return 0;
	if (pct_milli > 100000)
		pct_milli = 100000;
	rank = (u64)div_u128((u128)h->count * pct_milli + 99999, 100000);
	if (!rank)
		rank = 1;
	b = hist_bucket(h->sub_bits, h->min);
	while ((seen += h->counts[b]) < rank)
		b++;
	return hist_middle(h->sub_bits, b);
}

u64 hist_mean(const struct hist *h)
{
	return h->count ? (u64)div_u128(h->sum, h->count) : 0;
}

void hist_json(const struct hist *h, struct json *j, const char *key)
{
	json_arr(j, key);
	for (u32 b = 0; b < HIST_BUCKETS(h->sub_bits); b++) {
		if (!h->counts[b])
			continue;
		json_arr(j, NULL);
		json_u64(j, NULL, hist_lower(h->sub_bits, b));
		json_u64(j, NULL, h->counts[b]);
		json_end_arr(j);
	}
	json_end_arr(j);
}
