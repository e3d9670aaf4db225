/* SPDX-License-Identifier: MIT */
/*
 * The runs that a command line asks for. Points: workloads in the order of
 * bench=, and for each the product of its parameters' values, in table order
 * with the last one varying fastest, the common ones last. Every point is run
 * for each of its workload's arms (outer) with each seed (inner).
 */
#ifndef KERNEL_PLAN_H
#define KERNEL_PLAN_H

#include "cmdline.h"

struct plan_point {
	const struct workload *workload;
	u32 bench; /* its place in bench=, probe= or scenario= */
	struct param_values values;
};

struct plan_run {
	u64 point;
	u32 arm, run; /* arm: of cl->arm */
	u64 seed;
};

/* Sizes; saturated at 2^64-1, though cmdline_parse() admits PLAN_RUNS_MAX runs. */
u64 plan_points(const struct cmdline *cl);
u64 plan_total(const struct cmdline *cl);

/* The i-th point, i < plan_points(). cpus and cores (those simulated) resolve
 * parameters given as C/8 or K. */
void plan_point(const struct cmdline *cl, u64 i, u32 cpus, u32 cores, struct plan_point *out);

/* The i-th run of all, i < plan_total(). */
struct plan_run plan_run(const struct cmdline *cl, u64 i);

/* Member "params": all parameters, defaults included. */
void plan_params_json(struct json *j, const struct workload *w, const struct param_values *v);

/* "groups=4 loops=100 ...": all parameters, or only those of which the command
 * has several values; "" if there are none. Cut at n. Returns buf. */
char *plan_params_text(const struct cmdline *cl, const struct plan_point *point, bool swept_only,
		       char *buf, size_t n);

#endif
