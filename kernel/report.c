/* SPDX-License-Identifier: MIT */
/* Header, and what each run leaves. */
#include "report.h"

#include "build_id.h"
#include "console.h"
#include "frame.h"
#include "lib/fmt.h"
#include "lib/math64.h"

/* ---- header --------------------------------------------------------------------- */

static void features_json(struct json *j, const struct sched_vector *v)
{
	char word[64];

	json_obj(j, "features");
	for (u32 s = 0; s < SWITCH_NR; s++) {
		const struct switch_info *i = &switch_table[s];

		if (i->kind == SWITCH_BOOL)
			json_bool(j, i->name, v->value[s]);
		else if (i->kind == SWITCH_NUMBER)
			json_u64(j, i->name, v->value[s]);
		else if (switch_word(i->words, (u32)v->value[s], word, sizeof(word)))
			json_str(j, i->name, word);
	}
	json_end_obj(j);
}

/* What an arm changes against the defaults of its profile. */
static void arm_line(const struct arm *a)
{
	struct sched_vector def;
	char buf[400];
	int len = fmt_sn(buf, sizeof(buf), "arm %s: %s", a->name, profile_names[a->vector.profile]);

	vector_default(&def, a->vector.profile);
	for (u32 s = 0; s < SWITCH_NR && (size_t)len < sizeof(buf); s++) {
		char text[80];

		if (a->vector.value[s] == def.value[s])
			continue;
		vector_format(&a->vector, (enum sched_switch)s, text, sizeof(text));
		len += fmt_sn(buf + len, sizeof(buf) - (size_t)len, " %s", text);
	}
	console_line(buf);
}

void report_header(const struct cmdline *cl, const struct rig *rig, u32 booted)
{
	struct json *j = frame_begin("header");

	json_str(j, "build", ANECHOIC_BUILD);
	json_str(j, "compiler", ANECHOIC_COMPILER);
	json_str(j, "exec", cl->exec);
	json_str(j, "cost", rig->cost_insn ? "insn" : "table");
	json_str(j, "machine", rig->machine->name);
	json_u64(j, "cpus", rig->topo->nr_cpus);
	json_u64(j, "smp", booted);
	json_u64(j, "hz", rig->hz);
	json_u64(j, "seed", cl->number[OPT_seed]);
	json_u64(j, "runs", cl->number[OPT_runs]);
	json_u64(j, "slack_ns", rig->slack_ps / 1000);
	json_str(j, "line_reads", rig->reads_shared ? "shared" : "serial");
	json_dec(j, "vlimit_s", (s64)cl->number[OPT_vlimit_s], 9);
	json_arr(j, "arms");
	for (u32 i = 0; i < cl->nr_arms; i++) {
		json_obj(j, NULL);
		json_str(j, "name", cl->arm[i].name);
		json_str(j, "profile", profile_names[cl->arm[i].vector.profile]);
		features_json(j, &cl->arm[i].vector);
		json_end_obj(j);
	}
	json_end_arr(j);
	frame_end(j);
	console_printf("anechoic %s, %s", ANECHOIC_BUILD, ANECHOIC_COMPILER);
	console_printf("exec=%s cost=%s machine=%s cpus=%u booted=%u hz=%u seed=%llu runs=%llu "
		       "slack_ns=%llu line_reads=%s",
		       cl->exec, rig->cost_insn ? "insn" : "table", rig->machine->name,
		       rig->topo->nr_cpus, booted, rig->hz,
		       (unsigned long long)cl->number[OPT_seed],
		       (unsigned long long)cl->number[OPT_runs],
		       (unsigned long long)(rig->slack_ps / 1000),
		       rig->reads_shared ? "shared" : "serial");
	for (u32 i = 0; i < cl->nr_arms; i++)
		arm_line(&cl->arm[i]);
}

/* ---- one run ---------------------------------------------------------------------- */

static void run_identity(struct json *j, const struct cmdline *cl, const struct plan_point *point,
			 const struct plan_run *run)
{
	json_str(j, "bench", point->workload->name);
	plan_params_json(j, point->workload, &point->values);
	json_str(j, "arm", cl->arm[run->arm].name);
	json_u64(j, "seed", run->seed);
}

static void result_frame(const struct cmdline *cl, const struct rig *rig,
			 const struct plan_point *point, const struct plan_run *run,
			 const struct run_result *r)
{
	const struct metric_info *m = point->workload->metrics;
	struct json *j = frame_begin("result");

	run_identity(j, cl, point, run);
	json_str(j, "metric", m->name);
	json_str(j, "better", metric_better_name(m->better));
	json_dec(j, "value", r->ctx.metric[0], m->digits);
	json_obj(j, "metrics");
	for (u32 i = 0; i < point->workload->nr_metrics; i++)
		json_dec(j, m[i].name, r->ctx.metric[i], m[i].digits);
	json_end_obj(j);
	if (point->workload->percentiles)
		json_u64(j, "samples", r->ctx.samples);
	json_u64(j, "vtime_ns", r->vtime_ns);
	json_bool(j, "settled", report_settled(r));
	frame_host(j);
	json_obj(j, "host");
	json_dec(j, "seconds", (s64)(r->host_ns / 1000), 6);
	if (rig->cost_insn)
		json_u64(j, "instructions", r->instructions);
	else
		json_null(j, "instructions");
	json_u64(j, "switches", r->switches);
	json_end_obj(j);
	frame_end(j);
}

static void lines_json(struct json *j, const struct run_stats *s)
{
	static const char *const kind[LINE_NR_KINDS] = {
#define LINE_KIND(name, help) #name,
#include "../sched/lines.def"
#undef LINE_KIND
	};
	static const char *const miss[DIST_NR] = { "memory", "smt", "llc", "package", "remote" };

	json_obj(j, "lines");
	for (u32 k = 0; k < LINE_NR_KINDS; k++) {
		const struct line_stats *st = &s->lines[k];

		json_obj(j, kind[k]);
		json_u64(j, "reads", st->reads);
		json_u64(j, "writes", st->writes);
		json_u64(j, "hits", st->hits);
		json_obj(j, "misses");
		for (u32 d = 0; d < DIST_NR; d++)
			json_u64(j, miss[d], st->misses[d]);
		json_end_obj(j);
		json_u64(j, "wait_ns", st->wait_ps / 1000);
		json_u64(j, "cost_ns", st->cost_ps / 1000);
		json_end_obj(j);
	}
	json_end_obj(j);
}

const char *const path_names[PATH_NR + 1] = {
#define PATH(name, n, help) #name,
#include "../sched/costs.def"
#undef PATH
	"outside",
};

/* Whose time it was: all CPUs, nested paths excluded. Live mode has no such clock. */
static void paths_json(struct json *j, const struct run_stats *s)
{
	json_obj(j, "paths");
	for (u32 p = 0; p <= PATH_NR; p++) {
		json_obj(j, path_names[p]);
		json_u64(j, "calls", s->path_count[p]);
		json_u64(j, "ns", s->path_time_ps[p] / 1000);
		json_u64(j, "line_ns", s->path_line_ps[p] / 1000);
		json_u64(j, "lock_wait_ns", s->path_lock_ps[p] / 1000);
		json_end_obj(j);
	}
	json_end_obj(j);
	json_u64(j, "work_ns", s->work_ps / 1000);
}

/* Entries of one series that fit into the frame beside all others. */
#define SERIES_SHOWN 4000

static void array_json(struct json *j, const char *name, const u64 *v, u32 nr)
{
	json_arr(j, name);
	for (u32 k = 0; k < nr; k++)
		json_u64(j, NULL, v[k]);
	json_end_arr(j);
}

static void series_json(struct json *j, const struct wl_series *s)
{
	if (s->nr > SERIES_SHOWN) {
		json_null(j, s->name);
		console_printf("%s: %u entries, more than the %u that a frame holds: null",
			       s->name, s->nr, SERIES_SHOWN);
		return;
	}
	array_json(j, s->name, s->v, s->nr);
}

/* Wake-up to running, by the task's latency_nice. */
static void latencies_json(struct json *j, const struct run_result *r)
{
	static const char *const class[LN_CLASSES] = { "below_0", "0", "above_0" };

	json_obj(j, "wake_latency_by_latency_nice");
	for (u32 i = 0; i < LN_CLASSES; i++) {
		const struct hist *h = &r->ln_latency_ns[i];

		json_obj(j, class[i]);
		json_u64(j, "samples", h->count);
		json_u64(j, "p50_ns", hist_percentile(h, 50000));
		json_u64(j, "p95_ns", hist_percentile(h, 95000));
		json_u64(j, "p99_ns", hist_percentile(h, 99000));
		json_u64(j, "max_ns", h->max);
		hist_json(h, j, "hist_ns");
		json_end_obj(j);
	}
	json_end_obj(j);
}

static void refills_json(struct json *j, const struct refill_stats *r)
{
	static const char *const from[DIST_NR] = { "same_cpu", "smt", "llc", "package", "remote" };

	json_obj(j, "refills");
	for (u32 d = 0; d < DIST_NR; d++)
		json_u64(j, from[d], r->paid[d]);
	json_end_obj(j);
	json_u64(j, "refill_ns", r->ps / 1000);
}

#define GROUPS_SHOWN 64

/* Counts of the whole run for each group that is there at its end. */
static void groups_json(struct json *j)
{
	u32 shown = 0;

	json_arr(j, "task_groups");
	for (struct task_group *tg = tg_next(the_sched, NULL); tg && shown < GROUPS_SHOWN;
	     tg = tg_next(the_sched, tg), shown++) {
		struct tg_stats of;

		if (!tg_depth(tg))
			continue;
		tg_stats(the_sched, tg, &of);
		json_obj(j, NULL);
		json_u64(j, "depth", tg_depth(tg));
		json_u64(j, "weight_updates", of.weight_updates);
		json_u64(j, "load_reads", of.load_reads);
		json_u64(j, "published", of.published);
		json_u64(j, "below_threshold", of.below_threshold);
		json_u64(j, "rate_limited", of.rate_limited);
		json_u64(j, "samples", of.samples);
		json_u64(j, "formula_mean_permille", of.samples ? of.formula_sum / of.samples : 0);
		json_u64(j, "formula_max_permille", of.formula_max);
		json_u64(j, "ideal_mean_permille", of.samples ? of.ideal_sum / of.samples : 0);
		json_u64(j, "ideal_max_permille", of.ideal_max);
		json_u64(j, "load_mean_permille",
			 of.load_samples ? of.load_sum / of.load_samples : 0);
		json_u64(j, "load_max_permille", of.load_max);
		json_end_obj(j);
	}
	json_end_arr(j);
}

static u64 mean_burst_ns(const struct run_stats *s)
{
	u64 busy_ps = s->at_ps * engine.nr_cpus - s->idle_ps;

	return s->counters.switches ? busy_ps / 1000 / s->counters.switches : 0;
}

static void counters_frame(const struct cmdline *cl, const struct plan_point *point,
			   const struct plan_run *run, const struct run_result *r)
{
	struct json *j = frame_begin("counters");

	run_identity(j, cl, point, run);
	json_obj(j, "counters");
#define COUNTER(name, help) json_u64(j, #name, r->stats.counters.name);
#define HISTOGRAM(name, buckets, help) array_json(j, #name, r->stats.counters.name, buckets);
#include "../sched/counters.def"
#undef COUNTER
#undef HISTOGRAM
	json_u64(j, "window_ns", r->stats.at_ps / 1000);
	json_u64(j, "irqs", r->stats.irqs);
	json_u64(j, "idle_ns", r->stats.idle_ps / 1000);
	json_u64(j, "mean_burst_ns", mean_burst_ns(&r->stats));
	json_u64(j, "lock_wait_ns", r->stats.lock_wait_ps / 1000);
	json_u64(j, "wake_latency_samples", r->wake_latency_ns.count);
	json_u64(j, "wake_latency_p50_ns", hist_percentile(&r->wake_latency_ns, 50000));
	json_u64(j, "wake_latency_p99_ns", hist_percentile(&r->wake_latency_ns, 99000));
	json_u64(j, "wake_latency_max_ns", r->wake_latency_ns.max);
	hist_json(&r->wake_latency_ns, j, "wake_latency_ns");
	latencies_json(j, r);
	refills_json(j, &r->stats.refills);
	for (u32 i = 0; i < r->ctx.nr_series; i++)
		series_json(j, &r->ctx.series[i]);
	for (u32 i = 0; i < r->ctx.nr_hists; i++)
		hist_json(r->ctx.hist[i].h, j, r->ctx.hist[i].name);
	lines_json(j, &r->stats);
	paths_json(j, &r->stats);
	groups_json(j);
	json_end_obj(j);
	frame_end(j);
}

/* A command of one arm and one seed has no table worth the name: all metrics. */
static void all_figures(const struct plan_point *point, const struct run_result *r)
{
	const struct workload *w = point->workload;
	const struct metric_info *m = w->metrics;
	char value[40];

	for (u32 i = 0; i < w->nr_metrics; i++)
		console_printf("%s: %-20s %14s  %s", w->name, m[i].name,
			       report_too_few(w, i, r->ctx.samples) ? REPORT_TOO_FEW
			       : fmt_rounded(value, r->ctx.metric[i], m[i].digits,
					     m[i].digits > 6 ? 6 : m[i].digits),
			       m[i].help);
	if (r->switches && r->host_ns)
		console_printf("%s: %llu control switches in %llu ms of real time, %llu per s",
			       point->workload->name, (unsigned long long)r->switches,
			       (unsigned long long)(r->host_ns / 1000000),
			       (unsigned long long)muldiv_u64(r->switches, 1000000000,
							      r->host_ns));
	profile_run(point->workload->name, &r->stats);
}

void report_run(const struct cmdline *cl, const struct rig *rig, const struct plan_point *point,
		const struct plan_run *run, const struct run_result *r)
{
	report_note(cl, point, run, r);
	result_frame(cl, rig, point, run, r);
	counters_frame(cl, point, run, r);
	if (cl->arms[point->bench].nr == 1 && cl->number[OPT_runs] == 1)
		all_figures(point, r);
}

/* ---- calibration --------------------------------------------------------------------- */

static u64 calls[PATH_NR + 1], insns[PATH_NR + 1];

void calibrate_add(void)
{
	for (u32 p = 0; p <= PATH_NR; p++) {
		calls[p] += engine.path_count[p];
		insns[p] += engine.path_insns[p];
	}
}

void calibrate_print(void)
{
	console_line("calibration: instructions per path, nested paths and engine excluded");
	for (u32 p = 0; p < PATH_NR; p++) {
		char mean[40];

		if (!calls[p]) {
			console_printf("calibrate: %-12s not reached", path_names[p]);
			continue;
		}
		fmt_decimal(mean, (s64)(insns[p] * 10 / calls[p]), 1);
		console_printf("calibrate: %-12s %8s instructions, %llu calls", path_names[p], mean,
			       (unsigned long long)calls[p]);
	}
	console_printf("calibrate: outside all paths %llu instructions",
		       (unsigned long long)insns[PATH_NR]);
}
