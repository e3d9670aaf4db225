/* SPDX-License-Identifier: MIT */
/*
 * Where CPU time went, by function and by what it waited for: of one run all paths;
 * of arms with task groups a table beside the results, in the terms of the published
 * profile (spec/group-load.md section 8).
 */
#include "report.h"

#include "console.h"
#include "lib/fmt.h"
#include "lib/math64.h"
#include "lib/string.h"
#include "stats/table.h"

#define ERROR_BUCKETS ARRAY_SIZE(((struct sched_counters *)0)->tg_formula_log2)

/* Sums over the seeds of one arm at one point. */
struct spent {
	u64 path_ps[PATH_NR + 1], all_ps, busy_ps; /* busy: paths and work */
	u64 line_ps, lock_ps;
	u64 wakeups, migrations, publishes, weights;
	u64 samples, formula_sum, ideal_sum, formula_max, ideal_max; /* errors in 1/1000 */
	u64 formula_log2[ERROR_BUCKETS], ideal_log2[ERROR_BUCKETS];
};

enum { COL_PARAMS, COL_ARM, COL_BUSY, COL_LINES, COL_LOCKS, COL_WEIGHT, COL_LOAD, COL_MIGRATIONS,
       COL_PUBLISHES, COL_FORMULA, COL_IDEAL, COL_READS, COL_NR };

static const struct table_col columns[COL_NR] = {
	[COL_PARAMS] = { "parameters", true },
	[COL_ARM] = { "arm", true },
	[COL_BUSY] = { "busy %", false },
	[COL_LINES] = { "moving lines %", false },
	[COL_LOCKS] = { "waiting for locks %", false },
	[COL_WEIGHT] = { "update_cfs_group %", false },
	[COL_LOAD] = { "update_load_avg %", false },
	[COL_MIGRATIONS] = { "migrations/wakeup", false },
	[COL_PUBLISHES] = { "publishes/migration", false },
	[COL_FORMULA] = { "off formula", false },
	[COL_IDEAL] = { "off ideal", false },
	[COL_READS] = { "line_reads", true },
};

static struct spent *spent; /* by arm, of the point in progress */
static struct table table;
static char (*cells)[TABLE_CELL];
static u32 nr_cells;

void profile_init(const struct cmdline *cl, struct arena *a)
{
	nr_cells = TABLE_CELLS(COL_NR, (u32)plan_points(cl) * cl->nr_arms);
	cells = arena_alloc(a, nr_cells * sizeof(*cells));
	spent = arena_alloc(a, cl->nr_arms * sizeof(*spent));
	table_init(&table, columns, COL_NR, cells, nr_cells);
}

void profile_note(const struct plan_run *run, const struct run_result *r)
{
	const struct run_stats *st = &r->stats;
	struct spent *s = &spent[run->arm];

	for (u32 p = 0; p <= PATH_NR; p++) {
		s->path_ps[p] += st->path_time_ps[p];
		s->busy_ps += st->path_time_ps[p];
		s->line_ps += st->path_line_ps[p];
		s->lock_ps += st->path_lock_ps[p];
	}
	s->busy_ps += st->work_ps;
	s->all_ps += st->at_ps * engine.nr_cpus;
	s->wakeups += st->counters.wakeups;
	s->migrations += st->counters.wake_migrations;
	s->publishes += st->counters.tg_published;
	s->weights += st->counters.tg_weight_updates;
	s->samples += st->counters.tg_samples;
	s->formula_sum += st->counters.tg_formula_sum;
	s->ideal_sum += st->counters.tg_ideal_sum;
	for (u32 b = 0; b < ERROR_BUCKETS; b++) {
		s->formula_log2[b] += st->counters.tg_formula_log2[b];
		s->ideal_log2[b] += st->counters.tg_ideal_log2[b];
	}
	for (struct task_group *tg = tg_next(the_sched, NULL); tg; tg = tg_next(the_sched, tg)) {
		struct tg_stats of;

		tg_stats(the_sched, tg, &of);
		s->formula_max = of.formula_max > s->formula_max ? of.formula_max : s->formula_max;
		s->ideal_max = of.ideal_max > s->ideal_max ? of.ideal_max : s->ideal_max;
	}
}

/* "12/63/250": mean, 99th percentile (the end of its bucket), and maximum. */
static const char *errors(char *buf, size_t n, const struct spent *s, u64 sum,
			  const u64 bucket[ERROR_BUCKETS], u64 max)
{
	u64 seen = 0;
	u32 b = 0;

	if (!s->samples)
		return "-";
	while (b < ERROR_BUCKETS - 1 && (seen += bucket[b]) * 100 < s->samples * 99)
		b++;
	u64 p99 = b ? (1ull << b) - 1 : 0;

	fmt_sn(buf, n, "%llu/%llu/%llu", (unsigned long long)(sum / s->samples),
	       (unsigned long long)(p99 < max ? p99 : max), (unsigned long long)max);
	return buf;
}

/* part / whole to two decimals, in percent or plain; "-": of nothing. */
static const char *ratio(char *buf, u64 part, u64 whole, u32 times)
{
	if (!whole)
		return "-";
	fmt_decimal(buf, (s64)muldiv_u64(part, 100 * times, whole), 2);
	return buf;
}

static void row(const struct cmdline *cl, const struct plan_point *point, u32 arm)
{
	const struct spent *s = &spent[arm];
	u64 weight_ps = s->path_ps[PATH_UPDATE_CFS_GROUP] + s->path_ps[PATH_REWEIGHT_FULL] +
			s->path_ps[PATH_REWEIGHT_DELTA];
	u64 load_ps = s->path_ps[PATH_UPDATE_LOAD_AVG] + s->path_ps[PATH_UPDATE_TG_LOAD];
	char params[TABLE_CELL], text[COL_NR][40];

	plan_params_text(cl, point, true, params, sizeof(params));

	const char *const cell[COL_NR] = {
		[COL_PARAMS] = params,
		[COL_ARM] = cl->arm[arm].name,
		[COL_BUSY] = ratio(text[COL_BUSY], s->busy_ps, s->all_ps, 100),
		[COL_LINES] = ratio(text[COL_LINES], s->line_ps, s->busy_ps, 100),
		[COL_LOCKS] = ratio(text[COL_LOCKS], s->lock_ps, s->busy_ps, 100),
		[COL_WEIGHT] = ratio(text[COL_WEIGHT], weight_ps, s->busy_ps, 100),
		[COL_LOAD] = ratio(text[COL_LOAD], load_ps, s->busy_ps, 100),
		[COL_MIGRATIONS] = ratio(text[COL_MIGRATIONS], s->migrations, s->wakeups, 1),
		[COL_PUBLISHES] = ratio(text[COL_PUBLISHES], s->publishes, s->migrations, 1),
		[COL_FORMULA] = errors(text[COL_FORMULA], sizeof(text[0]), s, s->formula_sum,
				       s->formula_log2, s->formula_max),
		[COL_IDEAL] = errors(text[COL_IDEAL], sizeof(text[0]), s, s->ideal_sum,
				     s->ideal_log2, s->ideal_max),
		[COL_READS] = cl->number[OPT_line_reads] == LINE_READS_SHARED ? "shared" : "serial",
	};
	table_row(&table, cell);
}

void profile_point(const struct cmdline *cl, const struct plan_point *point)
{
	u32 first = cl->arms[point->bench].first, nr = cl->arms[point->bench].nr;

	for (u32 arm = first; arm < first + nr; arm++) {
		/* Without groups nothing of this happens; live mode does not measure it. */
		if (spent[arm].weights && spent[arm].busy_ps)
			row(cl, point, arm);
		memset(&spent[arm], 0, sizeof(spent[arm]));
	}
}

void profile_table(void)
{
	if (!table.rows)
		return;
	console_line("");
	console_line("task groups: CPU time in percent of what was not idle; update_cfs_group "
		     "with reweighting,");
	console_line("update_load_avg with publishing. Weights off the formula with current "
		     "averages, and off shares");
	console_line("by queued weight, in 1/1000: mean/p99/max");
	table_print(&table, console_line);
	table.rows = 0;
}

void profile_run(const char *name, const struct run_stats *st)
{
	u64 busy_ps = st->work_ps;
	char share[40], line[40], lock[40];

	for (u32 p = 0; p <= PATH_NR; p++)
		busy_ps += st->path_time_ps[p];
	if (!busy_ps)
		return;
	console_printf("%s: CPU time in percent of what was not idle; of it moving lines, and "
		       "waiting for locks", name);
	console_printf("%s: %-16s %8s", name, "work", ratio(share, st->work_ps, busy_ps, 100));
	for (u32 p = 0; p <= PATH_NR; p++) {
		if (!st->path_time_ps[p])
			continue;
		console_printf("%s: %-16s %8s %8s %8s", name, path_names[p],
			       ratio(share, st->path_time_ps[p], busy_ps, 100),
			       ratio(line, st->path_line_ps[p], busy_ps, 100),
			       ratio(lock, st->path_lock_ps[p], busy_ps, 100));
	}
}
