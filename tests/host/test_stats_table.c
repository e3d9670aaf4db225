/* SPDX-License-Identifier: MIT */
/* sources: kernel/stats/table.c kernel/stats/summary.c kernel/stats/paired.c
 * kernel/lib/json.c kernel/lib/fmt.c kernel/lib/math64.c */
/* Tables and summaries as text, to the character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/stats/summary.h"
#include "../../kernel/stats/table.h"

static char printed[20000];

static void collect(const char *text)
{
	size_t len = strlen(printed);

	assert_true(len + strlen(text) + 2 < sizeof(printed));
	sprintf(printed + len, "%s\n", text);
}

static const char *print(struct table *t)
{
	printed[0] = '\0';
	table_print(t, collect);
	return printed;
}

/* A result as patch series print theirs, from the values of the runs. */
static void test_published_shape(void **state)
{
	static const struct table_col cols[] = {
		{ "groups", false }, { "default (±stdev%)", false }, { "v3 (±stdev%)", false },
		{ "change%", false }, { "95% CI", false }, { "verdict", true },
	};
	static const s64 runs[3][2][3] = {
		{ { 580, 590, 600 }, { 480, 491, 499 } },
		{ { 1200, 1300, 1250 }, { 1260, 1240, 1253 } },
		{ { 10000, 10000, 10000 }, { 10000, 10000, 10000 } },
	};
	char cells[TABLE_CELLS(6, 3)][TABLE_CELL];
	struct table t;

	(void)state;
	table_init(&t, cols, 6, cells, ARRAY_SIZE(cells));
	for (int i = 0; i < 3; i++) {
		char groups[4], ref[TABLE_CELL], var[TABLE_CELL], change[TABLE_CELL];
		char ci[TABLE_CELL];
		struct sample a, b;
		struct paired p;

		sample_stats(&a, runs[i][0], 3, 3);
		sample_stats(&b, runs[i][1], 3, 3);
		paired_compare(&p, runs[i][0], runs[i][1], 3, true);
		sprintf(groups, "%d", 1 << i);
		table_row(&t, (const char *const[]){
			groups, summary_mean_cell(ref, &a, 4), summary_mean_cell(var, &b, 4),
			summary_change_cell(change, &p), summary_ci_cell(ci, &p),
			verdict_name(p.verdict) });
	}
	/* By hand: differences 100, 99, 101 of 590, standard deviation 1, -+ 4.303 / sqrt(3);
	 * differences -60, 60, -3 of 1250, standard deviation 60.025. */
	assert_string_equal(print(&t),
"groups  default (±stdev%)      v3 (±stdev%)  change%            95% CI  verdict\n"
"     1    0.5900 (±1.69%)   0.4900 (±1.95%)   +16.95  +16.53 .. +17.37  better\n"
"     2    1.2500 (±4.00%)   1.2510 (±0.81%)    -0.08  -12.01 .. +11.85  no difference\n"
"     4   10.0000 (±0.00%)  10.0000 (±0.00%)     0.00      0.00 .. 0.00  no difference\n");
}

static void test_alignment(void **state)
{
	static const struct table_col cols[] = { { "name", true }, { "µs", false } };
	char cells[TABLE_CELLS(2, 8)][TABLE_CELL];
	struct table t;

	(void)state;
	table_init(&t, cols, 2, cells, ARRAY_SIZE(cells));
	assert_string_equal(print(&t), "name  µs\n");
	table_row(&t, (const char *const[]){ "größe", "1" });
	table_row(&t, (const char *const[]){ "x\n\ty", NULL });
	table_row(&t, (const char *const[]){ "", "12345" });
	assert_string_equal(print(&t),
			    "name      µs\n"
			    "größe      1\n"
			    "x??y\n"
			    "       12345\n");
}

/* Of a long cell as many whole characters as fit, and a mark. */
static void test_long_cells(void **state)
{
	static const struct table_col cols[] = { { "cell", true } };

	(void)state;
	for (size_t lead = 0; lead < 6; lead++) {
		for (size_t len = TABLE_CELL - 8; len < TABLE_CELL + 8; len++) {
			char cells[TABLE_CELLS(1, 1)][TABLE_CELL], text[100], want[120];
			struct table t;
			size_t at = lead;

			/* lead bytes of ASCII, then characters of three bytes. */
			memset(text, 'a', lead);
			for (; at + 3 <= len; at += 3)
				memcpy(text + at, "…", 3);
			text[at] = '\0';
			if (at < TABLE_CELL) {
				sprintf(want, "cell\n%s\n", text);
			} else {
				size_t keep = lead + (TABLE_CELL - 2 - lead) / 3 * 3;

				sprintf(want, "cell\n%.*s~\n", (int)keep, text);
			}
			table_init(&t, cols, 1, cells, 2);
			table_row(&t, (const char *const[]){ text });
			assert_string_equal(print(&t), want);
		}
	}
}

static void test_too_many(void **state)
{
	struct table_col cols[TABLE_MAX_COLS + 2];
	const char *row[TABLE_MAX_COLS + 2];
	char cells[TABLE_CELLS(TABLE_MAX_COLS, 2)][TABLE_CELL], longest[TABLE_CELL + 1];
	char *line;
	struct table t;

	(void)state;
	/* The widest line there can be: blanks, not text, in rows of wide characters. */
	memset(longest, 'w', TABLE_CELL);
	longest[TABLE_CELL] = '\0';
	for (size_t c = 0; c < ARRAY_SIZE(cols); c++) {
		cols[c] = (struct table_col){ longest, c % 2 };
		row[c] = "äääääääääääääääääääääää";
	}
	table_init(&t, cols, ARRAY_SIZE(cols), cells, ARRAY_SIZE(cells));
	for (int i = 0; i < 3; i++)
		table_row(&t, row);
	print(&t);
	for (int i = 0; i < 3; i++)
		line = strtok(i ? NULL : printed, "\n");
	assert_true(strlen(line) > TABLE_MAX_COLS * (TABLE_CELL + 18));
	assert_string_equal(strtok(NULL, "\n"), "(1 more row not shown)");
	assert_string_equal(strtok(NULL, "\n"), "(2 more columns not shown)");
	assert_null(strtok(NULL, "\n"));
}

static const char *summary(const struct sample *s, const struct paired *p)
{
	static char text[400];
	struct json j;

	json_init(&j, text, sizeof(text));
	json_obj(&j, NULL);
	summary_json(&j, s, p);
	json_end_obj(&j);
	assert_false(j.overflow);
	return text;
}

static void test_frames(void **state)
{
	static const s64 a[] = { 10, 20, 30 }, b[] = { 9, 18, 27 };
	struct sample s;
	struct paired p;

	(void)state;
	sample_stats(&s, b, 3, 1);
	paired_compare(&p, a, b, 3, true);
	assert_string_equal(summary(&s, &p),
		"{\"runs\":3,\"mean\":1.8000,\"stdev_pct\":50.0000,\"change_pct\":10.0000,"
		"\"ci95_low_pct\":-2.4217,\"ci95_high_pct\":22.4217,"
		"\"verdict\":\"no difference\"}");
	assert_string_equal(summary(&s, NULL),
		"{\"runs\":3,\"mean\":1.8000,\"stdev_pct\":50.0000,\"change_pct\":null,"
		"\"ci95_low_pct\":null,\"ci95_high_pct\":null,\"verdict\":null}");
	sample_stats(&s, b, 1, 1);
	paired_compare(&p, a, b, 1, true);
	assert_string_equal(summary(&s, &p),
		"{\"runs\":1,\"mean\":0.9000,\"stdev_pct\":null,\"change_pct\":10.0000,"
		"\"ci95_low_pct\":null,\"ci95_high_pct\":null,\"verdict\":\"one run\"}");
}

static void test_cells(void **state)
{
	struct sample s = { .runs = 1, .mean = 12345678, .mean_digits = 6 };
	struct paired p = { .change_known = true };
	char buf[TABLE_CELL];

	(void)state;
	assert_string_equal(summary_mean_cell(buf, &s, 2), "12.35 (-)");
	/* The longest that can be: nothing is cut. */
	s = (struct sample){ .mean = INT64_MIN, .mean_digits = 18, .stdev_known = true,
			     .stdev_pct = PCT_LIMIT - 1 };
	assert_string_equal(summary_mean_cell(buf, &s, 18),
			    "-9.223372036854775808 (±1000000000.00%)");
	p.change_pct = 49;
	assert_string_equal(summary_change_cell(buf, &p), "0.00");
	p.change_pct = 50;
	assert_string_equal(summary_change_cell(buf, &p), "+0.01");
	p.change_pct = -49;
	assert_string_equal(summary_change_cell(buf, &p), "0.00");
	p.change_pct = -50;
	assert_string_equal(summary_change_cell(buf, &p), "-0.01");
	assert_string_equal(summary_ci_cell(buf, &p), "-");
	p = (struct paired){ .ci_known = true, .ci95_low_pct = -2 * PCT_LIMIT,
			     .ci95_high_pct = 2 * PCT_LIMIT };
	assert_string_equal(summary_ci_cell(buf, &p), "-2000000000.00 .. +2000000000.00");
	assert_string_equal(summary_change_cell(buf, &p), "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_shape),
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_long_cells),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_cells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
