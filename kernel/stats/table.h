/* SPDX-License-Identifier: MIT */
/*
 * Text tables for people. Rows are kept until the end, so that columns are as
 * wide as their widest cell, in memory the caller gives. What does not fit shows:
 * a cut cell ends in '~', rows and columns left out are counted below the table.
 * Text is UTF-8, one column per character; control characters become '?'.
 */
#ifndef STATS_TABLE_H
#define STATS_TABLE_H

#include "../lib/types.h"

#define TABLE_MAX_COLS 12
#define TABLE_CELL     48 /* bytes of a cell with its terminator */
#define TABLE_LINE     (TABLE_MAX_COLS * (2 * TABLE_CELL + 2))

struct table_col {
	const char *name;
	bool left; /* aligned to the left; numbers go to the right */
};

struct table {
	const struct table_col *cols;
	u32 nr_cols;     /* of cols, and so of each row given */
	u32 shown_cols;  /* at most TABLE_MAX_COLS */
	char (*cells)[TABLE_CELL]; /* shown_cols of the header, then of each row */
	u32 max_rows, rows, rows_lost;
	char line[TABLE_LINE];
};

/* Cells that a table of that many columns and rows needs, header included. */
#define TABLE_CELLS(cols, rows) ((cols) * ((rows) + 1))

/* nr_cells >= TABLE_CELLS(nr_cols, 0), nr_cols > 0. cols must stay. */
void table_init(struct table *t, const struct table_col *cols, u32 nr_cols,
		char (*cells)[TABLE_CELL], u32 nr_cells);

/* Copies nr_cols strings; NULL is an empty cell. */
void table_row(struct table *t, const char *const *cells);

/* Header and rows, one call of `line` each, without newline or trailing blanks.
 * The text is valid during the call only. */
void table_print(struct table *t, void (*line)(const char *text));

#endif
