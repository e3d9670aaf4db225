/* SPDX-License-Identifier: MIT */
/* Text tables: see table.h. */
#include "../lib/fmt.h"
#include "../lib/string.h"
#include "table.h"

static bool continues_char(char c)
{
	return ((u8)c & 0xc0) == 0x80;
}

static u32 columns_of(const char *s)
{
	u32 n = 0;

	for (; *s; s++)
		n += !continues_char(*s);
	return n;
}

static void cell_set(char cell[TABLE_CELL], const char *text)
{
	size_t len = strnlen(text, TABLE_CELL);
	bool cut = len == TABLE_CELL;

	if (cut) {
		len = TABLE_CELL - 2;
		/* Not in the middle of a character: text[len] begins one. */
		while (len && continues_char(text[len]))
			len--;
	}
	for (size_t i = 0; i < len; i++)
		cell[i] = (u8)text[i] < 0x20 ? '?' : text[i];
	if (cut)
		cell[len++] = '~';
	cell[len] = '\0';
}

static char *cell_at(struct table *t, u32 row, u32 col)
{
	return t->cells[row * t->shown_cols + col];
}

void table_init(struct table *t, const struct table_col *cols, u32 nr_cols,
		char (*cells)[TABLE_CELL], u32 nr_cells)
{
	t->cols = cols;
	t->nr_cols = nr_cols;
	t->shown_cols = nr_cols < TABLE_MAX_COLS ? nr_cols : TABLE_MAX_COLS;
	t->cells = cells;
	t->max_rows = nr_cells / t->shown_cols - 1;
	t->rows = t->rows_lost = 0;
	for (u32 c = 0; c < t->shown_cols; c++)
		cell_set(cell_at(t, 0, c), cols[c].name);
}

void table_row(struct table *t, const char *const *cells)
{
	if (t->rows == t->max_rows) {
		t->rows_lost++;
		return;
	}
	t->rows++;
	for (u32 c = 0; c < t->shown_cols; c++)
		cell_set(cell_at(t, t->rows, c), cells[c] ? cells[c] : "");
}

static char *put_blanks(char *p, u32 n)
{
	memset(p, ' ', n);
	return p + n;
}

static void print_row(struct table *t, u32 row, const u32 *widths, void (*line)(const char *))
{
	char *p = t->line;

	/* Per column at most TABLE_CELL - 1 bytes of text, as many blanks, and 2. */
	for (u32 c = 0; c < t->shown_cols; c++) {
		const char *cell = cell_at(t, row, c);
		size_t len = strlen(cell);
		u32 gap = widths[c] - columns_of(cell);

		if (c)
			p = put_blanks(p, 2);
		if (!t->cols[c].left)
			p = put_blanks(p, gap);
		memcpy(p, cell, len);
		p += len;
		if (t->cols[c].left)
			p = put_blanks(p, gap);
	}
	while (p > t->line && p[-1] == ' ')
		p--;
	*p = '\0';
	line(t->line);
}

static void print_lost(struct table *t, u32 n, const char *what, void (*line)(const char *))
{
	if (!n)
		return;
	fmt_sn(t->line, sizeof(t->line), "(%u more %s%s not shown)", n, what, n == 1 ? "" : "s");
	line(t->line);
}

void table_print(struct table *t, void (*line)(const char *text))
{
	u32 widths[TABLE_MAX_COLS] = { 0 };

	for (u32 r = 0; r <= t->rows; r++) {
		for (u32 c = 0; c < t->shown_cols; c++) {
			u32 w = columns_of(cell_at(t, r, c));

			if (w > widths[c])
				widths[c] = w;
		}
	}
	for (u32 r = 0; r <= t->rows; r++)
		print_row(t, r, widths, line);
	print_lost(t, t->rows_lost, "row", line);
	print_lost(t, t->nr_cols - t->shown_cols, "column", line);
}
