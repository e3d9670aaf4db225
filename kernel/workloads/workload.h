/* SPDX-License-Identifier: MIT */
/*
 * What a workload declares about itself: parameters, metrics, how to run it.
 * Command line, help, sweeps and frames all read this, so that a workload is one
 * file that ends in WORKLOAD(name).
 */
#ifndef WORKLOADS_WORKLOAD_H
#define WORKLOADS_WORKLOAD_H

#include "../lib/json.h"
#include "../lib/parse.h"
#include "../stats/metric.h"

enum param_kind {
	PARAM_NUMBER, /* fixed point: the value times 10^digits */
	PARAM_WORD,   /* index into the words */
	PARAM_LIST,   /* numbers separated by ':', one value for the sweep */
};

struct param_info {
	const char *name;
	enum param_kind kind;
	u32 digits;        /* numbers: decimals kept; runtime_s has 9, so it is in ns */
	s64 min, max;      /* numbers: inclusive, in the same fixed point */
	const char *words; /* "process|thread" */
	bool per_machine;  /* a number without decimals may be C/8, 1.5C, K: CPUs, cores */
	char tag;          /* spec/workloads.md: 'P' published, 'S' known, 'G' guess; 0 */
	const char *def;   /* as on the command line; may be a list to sweep */
	const char *help;
};

#define PARAM_LIST_MAX 16
#define PARAM_MAX 16 /* of one workload, the common ones included */

/* One value. Numbers and words use v[0]. */
struct param_value {
	u32 nr;
	char of; /* 'C', 'K': v[0]/1000 times the CPUs or cores, over v[1]; else 0 */
	s64 v[PARAM_LIST_MAX];
};

/* One point of the sweep: own parameters in table order, then the common ones. */
struct param_values {
	struct param_value p[PARAM_MAX];
};

/* Parameters that workloads have without declaring them, in this order behind
 * their own; the last two only if timed. */
enum param_common { COMMON_JITTER_PCT, COMMON_RUNTIME_NS, COMMON_WARMUP_NS, COMMON_NR };

struct wl_ctx; /* a run in progress, kernel/workloads/ */

struct workload {
	const char *name, *help;
	const char *spec;                  /* where its pattern is specified */
	const struct param_info *params;
	u32 nr_params;
	const struct metric_info *metrics; /* the first is the result's value */
	u32 nr_metrics;
	bool timed;                        /* has runtime_s and warmup_s */
	const char *runtime_s, *warmup_s;  /* their defaults; NULL: 1 */
	int (*run)(struct wl_ctx *ctx);    /* 0, or the number of checks that failed */
};

/* Puts a pointer to w into the table. Pointers, because compilers pad structs in
 * a section differently. */
#define WORKLOAD(w)                                                      \
	static const struct workload *const w##_registered               \
		__attribute__((section("workloads"), used)) = &w

u32 workload_count(void);
const struct workload *workload_at(u32 i); /* in the order of their names */
const struct workload *workload_find(struct span name); /* NULL: unknown */

u32 workload_nr_params(const struct workload *w);
const struct param_info *workload_param(const struct workload *w, u32 i);
const char *workload_param_default(const struct workload *w, u32 i);

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

/* A resolved value as it is written on the command line; lists are cut at n. Returns buf. */
char *param_text(const struct param_info *p, const struct param_value *v, char *buf, size_t n);

/* A resolved value as a JSON member: number, string, or array of numbers. */
void param_json(struct json *j, const struct param_info *p, const struct param_value *v);

/* Value of a number, or index of a word. i counts the workload's own parameters. */
static inline s64 param_num(const struct param_values *v, u32 i)
{
	return v->p[i].v[0];
}

/* A common parameter: percent or ns. The last two only for timed workloads. */
static inline s64 param_common(const struct workload *w, const struct param_values *v,
			       enum param_common c)
{
	return v->p[w->nr_params + c].v[0];
}

#endif
