/* SPDX-License-Identifier: MIT */
/*
 * What a workload declares about itself: parameters, metrics, how to run it.
 * Command line, help, sweeps and frames all read this, so that a workload is one
 * file that ends in WORKLOAD(name). Probes and scenarios are workloads too.
 */
#ifndef WORKLOADS_WORKLOAD_H
#define WORKLOADS_WORKLOAD_H

#include "../lib/cpumask.h"
#include "../lib/json.h"
#include "../lib/parse.h"
#include "../stats/metric.h"

enum param_kind {
	PARAM_NUMBER, /* fixed point: the value times 10^digits */
	PARAM_WORD,   /* index into the words */
	PARAM_LIST,   /* numbers separated by ':', one value for the sweep */
	PARAM_MASK,   /* CPUs in hex, CPU 0 the lowest bit */
};

struct param_info {
	const char *name;
	enum param_kind kind;
	u32 digits;        /* numbers: decimals kept; runtime_s has 9, so it is in ns */
	s64 min, max;      /* numbers: inclusive, in the same fixed point */
	const char *words; /* "process|thread" */
	const char *unset; /* not words: what "no value" is called, "none"; NULL: not allowed */
	bool per_machine;  /* a number without decimals may be C/8, 1.5C, K: CPUs, cores */
	char tag;          /* spec/workloads.md: 'P' published, 'S' known, 'G' guess; 0 */
	const char *def;   /* as on the command line; may be a list to sweep */
	const char *help;
};

#define PARAM_LIST_MAX 16
#define PARAM_MAX 24 /* of one workload, the common ones included */

/* One value. Numbers and words use v[0]. */
struct param_value {
	u32 nr;
	char of; /* 'C', 'K': v[0]/1000 times the CPUs or cores, over v[1]; else 0 */
	bool unset;       /* the parameter's word for no value; nr is 0 */
	struct span text; /* of a mask: its digits, on the command line or in the table */
	s64 v[PARAM_LIST_MAX];
};

/* One point of the sweep: own parameters in table order, then the common ones. */
struct param_values {
	struct param_value p[PARAM_MAX];
};

/* Parameters that benches and scenarios have without declaring them, in this order
 * behind their own; the last two only if timed. Probes have none. */
enum param_common {
	COMMON_JITTER_PCT, COMMON_LATENCY_NICE, COMMON_FREQ_HEAVY, COMMON_GROUP_LATENCY_NICE,
	COMMON_GROUP_DEPTH, COMMON_GROUPS_OF, COMMON_GROUP_SHARES,
	COMMON_RUNTIME_NS, COMMON_WARMUP_NS, COMMON_NR
};

/* The key that names it, and what its runs leave: a bench figures that arms are
 * compared by; a probe its own frames; a scenario figures and a verdict. */
enum workload_kind { WORKLOAD_BENCH, WORKLOAD_PROBE, WORKLOAD_SCENARIO, WORKLOAD_KINDS };

struct wl_ctx;     /* a run in progress, kernel/workloads/ctx.h */
struct wl_verdict; /* all runs of a point, kernel/workloads/ctx.h */
struct sched_topo;

/* A figure below which a result says nothing about what it was run for: a note says
 * so, behind the mean of each arm that is lower. */
struct metric_floor {
	u32 metric;
	s64 least;
	const char *text;
};

struct workload {
	enum workload_kind kind;
	const char *name, *help;
	const char *spec;                  /* where its pattern is specified */
	const struct param_info *params;
	u32 nr_params;
	const struct metric_info *metrics; /* the first is the result's value; probes: none */
	u32 nr_metrics;
	u32 rows;                          /* how many of them, the first, the table shows; 0: 1 */
	const u32 *percentiles;            /* which percentile of its samples each metric is, */
					   /* 99.9 % = 99900, 0: none; NULL: it has no samples */
	u64 min_samples;                   /* below, the table shows no percentile */
	const struct metric_floor *floor;  /* NULL: none */
	const char *jitter_pct;            /* its default; NULL: 10 */
	bool bare;                         /* has no tasks of its own: none of the common
					      parameters; probes always */
	bool timed;                        /* has runtime_s and warmup_s */
	const char *runtime_s, *warmup_s;  /* their defaults; NULL: 1 */
	u32 (*group_depth)(const struct param_values *v); /* what "auto" is; NULL: 0 */
	const char *groups_of;             /* its default; NULL: 1 */
	const char *profile;               /* unless profile= is given; NULL: the presets' */
	const char *arms;                  /* scenarios: unless arms= is given */

	/* Values against the machine, before anything runs; may be NULL. False with
	 * "prev=9: allowed 0..7" in why. */
	bool (*check)(const struct workload *w, const struct param_values *v,
		      const struct sched_topo *topo, char *why, size_t n);

	int (*run)(struct wl_ctx *ctx);    /* 0, or the number of checks that failed */

	/* Probes: prints what the run left in ctx->answer, frames and text. first: of
	 * this point. */
	void (*report)(const struct wl_ctx *ctx, const char *arm, bool first);

	/* Scenarios: says what the runs of a point show, and whether that is as it
	 * must be. */
	bool (*judge)(struct wl_verdict *verdict);
};

/* Puts a pointer to w into the table. Pointers, because compilers pad structs in
 * a section differently. */
#define WORKLOAD(w)                                                      \
	static const struct workload *const w##_registered               \
		__attribute__((section("workloads"), used)) = &w

u32 workload_count(void);
const struct workload *workload_at(u32 i); /* in the order of their names */
const struct workload *workload_find(struct span name); /* of any kind; NULL: unknown */

/* "bench", "probe", "scenario". */
extern const char *const workload_key[WORKLOAD_KINDS];

u32 workload_nr_params(const struct workload *w);
const struct param_info *workload_param(const struct workload *w, u32 i);
const char *workload_param_default(const struct workload *w, u32 i);

/* None of the common parameters. */
static inline bool workload_bare(const struct workload *w)
{
	return w->kind == WORKLOAD_PROBE || w->bare;
}

/* Index of the parameter, or workload_nr_params(). */
u32 workload_param_find(const struct workload *w, struct span name);

/* Checks a declaration: table sizes, ranges, defaults, names used twice or in
 * a bad form, no metric. False with a reason. */
bool workload_valid(const struct workload *w, char *why, size_t n);

/* One value of a sweep from text. False with "groups=0: allowed 1..10000" in why. */
bool param_parse(const struct param_info *p, struct span text, struct param_value *out,
		 char *why, size_t n);

/* What is allowed: "1..10000", "process|thread". Returns buf. */
char *param_allowed(const struct param_info *p, char *buf, size_t n);

/* Turns a number of CPUs or cores into a plain one, rounded half up and held
 * within the parameter's range. Others stay. */
void param_resolve(const struct param_info *p, struct param_value *v, u32 cpus, u32 cores);

/* A value against the machine: a mask beyond its CPUs. False with a reason. */
bool param_fits(const struct param_info *p, const struct param_value *v, u32 cpus, char *why,
		size_t n);

/* Gives resolved values that follow from others theirs: group_depth=auto. */
void params_settle(const struct workload *w, struct param_values *v);

/* Settled values against one another. False with a reason. */
bool params_agree(const struct workload *w, const struct param_values *v, char *why, size_t n);

/* The CPUs of a mask that param_fits(), else of none; the rest of out is cleared. */
void param_mask(const struct param_value *v, struct cpumask *out);

/* A resolved value as it is written on the command line; lists are cut at n. Returns buf. */
char *param_text(const struct param_info *p, const struct param_value *v, char *buf, size_t n);

/* A resolved value as a JSON member: number, string (words, masks, no value), or
 * array of numbers. */
void param_json(struct json *j, const struct param_info *p, const struct param_value *v);

/* Value of a number, or index of a word. i counts the workload's own parameters. */
static inline s64 param_num(const struct param_values *v, u32 i)
{
	return v->p[i].v[0];
}

/* The parameter's word for no value was given. */
static inline bool param_unset(const struct param_values *v, u32 i)
{
	return v->p[i].unset;
}

/* A common parameter: percent or ns. The last two only for timed workloads. */
static inline s64 param_common(const struct workload *w, const struct param_values *v,
			       enum param_common c)
{
	return v->p[w->nr_params + c].v[0];
}

#endif
