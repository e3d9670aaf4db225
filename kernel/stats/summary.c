/* SPDX-License-Identifier: MIT */
/* Results as frame fields and table cells: see summary.h. */
#include "../lib/fmt.h"
#include "summary.h"

#define CELL_PCT_DIGITS 2
#define HALF_CELL_UNIT  50 /* from here on PCT_DIGITS - CELL_PCT_DIGITS = 2 digits round up */

static void pct_json(struct json *j, const char *key, bool known, s64 pct)
{
	if (known)
		json_dec(j, key, pct, PCT_DIGITS);
	else
		json_null(j, key);
}

void summary_json(struct json *j, const struct sample *arm, const struct paired *vs_ref)
{
	static const struct paired nothing;
	const struct paired *p = vs_ref ? vs_ref : &nothing;

	json_u64(j, "runs", arm->runs);
	json_dec(j, "mean", arm->mean, arm->mean_digits);
	pct_json(j, "stdev_pct", arm->stdev_known, arm->stdev_pct);
	pct_json(j, "change_pct", p->change_known, p->change_pct);
	pct_json(j, "ci95_low_pct", p->ci_known, p->ci95_low_pct);
	pct_json(j, "ci95_high_pct", p->ci_known, p->ci95_high_pct);
	json_str(j, "verdict", vs_ref ? verdict_name(p->verdict) : NULL);
}

char *summary_mean_cell(char buf[TABLE_CELL], const struct sample *arm, u32 keep)
{
	char mean[40], stdev[40];

	fmt_rounded(mean, arm->mean, arm->mean_digits, keep);
	if (arm->stdev_known) {
		fmt_rounded(stdev, arm->stdev_pct, PCT_DIGITS, CELL_PCT_DIGITS);
		fmt_sn(buf, TABLE_CELL, "%s (\u00b1%s%%)", mean, stdev);
	} else {
		fmt_sn(buf, TABLE_CELL, "%s (-)", mean);
	}
	return buf;
}

/* The sign of fmt_rounded()'s text where it has none; "" for a zero. */
static const char *plus(s64 pct)
{
	return pct >= HALF_CELL_UNIT ? "+" : "";
}

char *summary_change_cell(char buf[TABLE_CELL], const struct paired *p)
{
	char change[40];

	if (!p->change_known) {
		fmt_sn(buf, TABLE_CELL, "-");
		return buf;
	}
	fmt_rounded(change, p->change_pct, PCT_DIGITS, CELL_PCT_DIGITS);
	fmt_sn(buf, TABLE_CELL, "%s%s", plus(p->change_pct), change);
	return buf;
}

char *summary_ci_cell(char buf[TABLE_CELL], const struct paired *p)
{
	char low[40], high[40];

	if (!p->ci_known) {
		fmt_sn(buf, TABLE_CELL, "-");
		return buf;
	}
	fmt_rounded(low, p->ci95_low_pct, PCT_DIGITS, CELL_PCT_DIGITS);
	fmt_rounded(high, p->ci95_high_pct, PCT_DIGITS, CELL_PCT_DIGITS);
	fmt_sn(buf, TABLE_CELL, "%s%s .. %s%s", plus(p->ci95_low_pct), low,
	       plus(p->ci95_high_pct), high);
	return buf;
}
