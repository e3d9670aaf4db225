/* SPDX-License-Identifier: MIT */
/*
 * How results of paired.h are shown: as fields of a summary frame and as cells of
 * the table for people, in the shape in which patch series publish theirs. What is
 * not known is null in a frame and "-" in a cell.
 */
#ifndef STATS_SUMMARY_H
#define STATS_SUMMARY_H

#include "../lib/json.h"
#include "paired.h"
#include "table.h"

/* runs, mean, stdev_pct, change_pct, ci95_low_pct, ci95_high_pct, verdict into the
 * open object. vs_ref is NULL for the reference: all but the first three null. */
void summary_json(struct json *j, const struct sample *arm, const struct paired *vs_ref);

/* "0.5816 (±8.94%)", the mean rounded to `keep` digits. Returns buf, as do all. */
char *summary_mean_cell(char buf[TABLE_CELL], const struct sample *arm, u32 keep);

/* "+9.10" and "-1.50", in percent. */
char *summary_change_cell(char buf[TABLE_CELL], const struct paired *p);

/* "-1.20 .. +4.88", in percent. */
char *summary_ci_cell(char buf[TABLE_CELL], const struct paired *p);

#endif
