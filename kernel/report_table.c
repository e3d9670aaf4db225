/* SPDX-License-Identifier: MIT */
/* All seeds of all arms at a point: summary frames, and rows of the table. */
#include "report.h"

#include "console.h"
#include "frame.h"
#include "lib/fmt.h"
#include "lib/string.h"
#include "stats/summary.h"

/* About ten half-lives of the load averages (DESIGN section 5). */
#define SETTLED_NS 300000000

/* A command with one arm compares nothing and shows the columns before the
 * reference; a workload with one row needs no name of the metric. */
enum { COL_PARAMS, COL_METRIC, COL_ARM, COL_VALUE, COL_REF, COL_CHANGE, COL_CI, COL_VERDICT,
       COL_NR };

static const struct table_col all_columns[COL_NR] = {
	[COL_PARAMS] = { "parameters", true },	[COL_METRIC] = { "metric", true },
	[COL_ARM] = { "arm", true },		[COL_VALUE] = { "value", false },
	[COL_REF] = { "reference", false },	[COL_CHANGE] = { "change %", false },
	[COL_CI] = { "95% interval", false },	[COL_VERDICT] = { "verdict", true },
};

/* What the runs of the point in progress came to, by arm * runs + run, arms counted
 * from the first of the workload's. */
static struct {
	s64 *metric[WL_METRICS_MAX];
	u64 *samples;
	bool *settled;
} values;

static struct table table;
static struct table_col columns[COL_NR];
static char (*cells)[TABLE_CELL];
static u32 nr_cells;
static bool any_unsettled;

static u32 rows_of(const struct workload *w)
{
	return w->rows ? w->rows : 1;
}

bool report_settled(const struct run_result *r)
{
	return r->ctx.end_ns - r->ctx.begin_ns >= SETTLED_NS;
}

bool report_too_few(const struct workload *w, u32 metric, u64 samples)
{
	return w->percentiles && w->percentiles[metric] && samples < w->min_samples;
}

void report_init(const struct cmdline *cl, struct arena *a)
{
	u32 per_point = (u32)cl->number[OPT_runs] * cl->nr_arms, rows = 1;

	for (u32 i = 0; i < workload_count(); i++) {
		const struct workload *w = workload_at(i);

		panic_unless(w->nr_metrics <= WL_METRICS_MAX && w->rows <= w->nr_metrics,
			     "%s: %u metrics, %u rows", w->name, w->nr_metrics, w->rows);
		rows = w->rows > rows ? w->rows : rows;
	}
	nr_cells = TABLE_CELLS(COL_NR, (u32)plan_points(cl) * cl->nr_arms * rows);
	cells = arena_alloc(a, nr_cells * sizeof(*cells));
	for (u32 i = 0; i < WL_METRICS_MAX; i++)
		values.metric[i] = arena_alloc(a, per_point * sizeof(s64));
	values.samples = arena_alloc(a, per_point * sizeof(u64));
	values.settled = arena_alloc(a, per_point * sizeof(bool));
}

void report_note(const struct cmdline *cl, const struct plan_point *point,
		 const struct plan_run *run, const struct run_result *r)
{
	u32 arm = run->arm - cl->arms[point->bench].first;
	u32 i = arm * (u32)cl->number[OPT_runs] + run->run;

	for (u32 m = 0; m < r->ctx.w->nr_metrics; m++)
		values.metric[m][i] = r->ctx.metric[m];
	values.samples[i] = r->ctx.samples;
	values.settled[i] = report_settled(r);
}

/* Drops the metric's place from a list of columns. */
static void drop_metric(void *v, size_t size)
{
	char *at = (char *)v + COL_METRIC * size;

	memmove(at, at + size, (COL_NR - 1 - COL_METRIC) * size);
}

static void table_start(const struct cmdline *cl, u32 bench)
{
	bool named = rows_of(cl->bench[bench]) > 1;
	u32 nr = cl->arms[bench].nr == 1 ? COL_REF : COL_NR;

	memcpy(columns, all_columns, sizeof(columns));
	if (!named)
		drop_metric(columns, sizeof(columns[0]));
	table_init(&table, columns, nr - !named, cells, nr_cells);
	any_unsettled = false;
}

static u32 table_digits(const struct metric_info *m)
{
	return m->digits > 6 ? 6 : m->digits;
}

/* One metric of one arm at one point. */
struct row {
	const struct plan_point *point;
	u32 metric, arm; /* arm: among the workload's, the reference is 0 */
	struct sample ref, own;
	struct paired p; /* not for the reference itself */
	bool too_few;    /* samples, in some run of the point */
	bool settled;
};

static const char *arm_name(const struct cmdline *cl, const struct row *r, u32 arm)
{
	return cl->arm[cl->arms[r->point->bench].first + arm].name;
}

static void params_cell(const struct cmdline *cl, const struct row *r, char *buf, size_t n)
{
	size_t len;

	plan_params_text(cl, r->point, true, buf, n - 1);
	if (r->settled)
		return;
	len = strlen(buf);
	buf[len] = '*';
	buf[len + 1] = 0;
	any_unsettled = true;
}

static void table_add(const struct cmdline *cl, const struct row *r)
{
	const struct workload *w = r->point->workload;
	u32 digits = table_digits(&w->metrics[r->metric]);
	char params[160], value[2][TABLE_CELL], change[TABLE_CELL], ci[TABLE_CELL];
	const char *cell[COL_NR] = { params, w->metrics[r->metric].name, arm_name(cl, r, r->arm) };

	if (!table.rows)
		table_start(cl, r->point->bench);
	params_cell(cl, r, params, sizeof(params));
	cell[COL_VALUE] = r->too_few ? REPORT_TOO_FEW
				     : summary_mean_cell(value[1], &r->own, digits);
	if (r->arm && r->too_few) {
		cell[COL_REF] = cell[COL_VERDICT] = REPORT_TOO_FEW;
		cell[COL_CHANGE] = cell[COL_CI] = "-";
	} else if (r->arm) {
		cell[COL_REF] = summary_mean_cell(value[0], &r->ref, digits);
		cell[COL_CHANGE] = summary_change_cell(change, &r->p);
		cell[COL_CI] = summary_ci_cell(ci, &r->p);
		cell[COL_VERDICT] = verdict_name(r->p.verdict);
	}
	if (rows_of(w) == 1)
		drop_metric(cell, sizeof(cell[0]));
	table_row(&table, cell);
}

static u64 fewest(const u64 *samples, u32 n)
{
	u64 least = samples[0];

	for (u32 i = 1; i < n; i++)
		least = samples[i] < least ? samples[i] : least;
	return least;
}

static void summary_frame(const struct cmdline *cl, const struct row *r)
{
	const struct workload *w = r->point->workload;
	const struct metric_info *m = w->metrics;
	u32 runs = (u32)cl->number[OPT_runs];
	struct json *j = frame_begin("summary");

	json_str(j, "bench", w->name);
	plan_params_json(j, w, &r->point->values);
	json_str(j, "arm", arm_name(cl, r, r->arm));
	json_str(j, "reference", arm_name(cl, r, 0));
	json_str(j, "metric", m->name);
	json_str(j, "better", metric_better_name(m->better));
	json_bool(j, "settled", r->settled);
	if (w->percentiles && w->percentiles[0])
		json_u64(j, "samples", fewest(values.samples + (size_t)r->arm * runs, runs));
	summary_json(j, &r->own, r->arm ? &r->p : NULL);
	frame_end(j);
}

/* ---- notes: arms whose figures are below the workload's floor ---------------- */

#define NOTES_MAX 32

static struct {
	char text[NOTES_MAX][256];
	u32 nr, all; /* kept, and due */
} notes;

static void note_floor(const struct cmdline *cl, const struct row *r)
{
	const struct metric_floor *floor = r->point->workload->floor;
	const struct metric_info *m = &r->point->workload->metrics[r->metric];
	char params[120], mean[40], text[40];
	s64 least;

	if (!floor || floor->metric != r->metric)
		return;
	least = floor->least;
	for (u32 d = m->digits; d < r->own.mean_digits; d++)
		least *= 10;
	if (r->own.mean >= least)
		return;
	if (notes.all++ >= NOTES_MAX)
		return;
	plan_params_text(cl, r->point, true, params, sizeof(params));
	fmt_sn(notes.text[notes.nr++], sizeof(notes.text[0]),
	       "note: %s%sarm %s: %s %s, below %s: %s", params, *params ? " " : "",
	       arm_name(cl, r, r->arm), m->name,
	       fmt_rounded(mean, r->own.mean, r->own.mean_digits, m->digits),
	       fmt_decimal(text, floor->least, m->digits), floor->text);
}

static void notes_print(void)
{
	for (u32 i = 0; i < notes.nr; i++)
		console_line(notes.text[i]);
	if (notes.all > notes.nr)
		console_printf("note: and %u more like these", notes.all - notes.nr);
	notes.nr = notes.all = 0;
}

void report_point(const struct cmdline *cl, const struct plan_point *point)
{
	const struct workload *w = point->workload;
	u32 arms = cl->arms[point->bench].nr;
	u32 runs = (u32)cl->number[OPT_runs], all = runs * arms;
	u64 samples = fewest(values.samples, all);
	struct row r = { .point = point, .settled = true };

	for (u32 i = 0; i < all; i++)
		r.settled &= values.settled[i];
	for (r.metric = 0; r.metric < rows_of(w); r.metric++) {
		const struct metric_info *m = &w->metrics[r.metric];
		const s64 *ref = values.metric[r.metric];

		r.too_few = report_too_few(w, r.metric, samples);
		sample_stats(&r.ref, ref, runs, m->digits);
		for (r.arm = 0; r.arm < arms; r.arm++) {
			const s64 *own = ref + (size_t)r.arm * runs;

			sample_stats(&r.own, own, runs, m->digits);
			if (r.arm)
				paired_compare(&r.p, ref, own, runs, m->better == METRIC_LOWER);
			if (!r.metric)
				summary_frame(cl, &r);
			if (r.arm || arms == 1)
				table_add(cl, &r);
			note_floor(cl, &r);
		}
	}
}

void report_table(const struct cmdline *cl, u32 bench)
{
	const struct workload *w = cl->bench[bench];
	const struct arm_range *arms = &cl->arms[bench];
	bool several = rows_of(w) > 1;

	if (!table.rows)
		return;
	console_line("");
	console_printf("%s: %s, %s%s is better; mean and standard deviation over %llu seed%s%s%s",
		       w->name, w->metrics[0].name,
		       several ? "and other figures; a positive change" : "",
		       several ? "" : metric_better_name(w->metrics[0].better),
		       (unsigned long long)cl->number[OPT_runs],
		       cl->number[OPT_runs] == 1 ? "" : "s",
		       arms->nr > 1 ? "; reference " : "",
		       arms->nr > 1 ? cl->arm[arms->first].name : "");
	table_print(&table, console_line);
	if (any_unsettled)
		console_line("* settled: false, measured for less than 0.3 s of virtual time");
	notes_print();
	table.rows = 0;
}
