/* SPDX-License-Identifier: MIT */
/* Expansion of sweeps, arms and seeds: see plan.h. */
#include "plan.h"
#include "lib/fmt.h"
#include "panic.h"

static u64 mul_sat(u64 a, u64 b)
{
	u64 product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static u64 bench_points(const struct cmdline *cl, u32 bench)
{
	u64 n = 1;

	for (u32 p = 0; p < workload_nr_params(cl->bench[bench]); p++)
		n = mul_sat(n, cl->sweep[bench][p].nr);
	return n;
}

u64 plan_points(const struct cmdline *cl)
{
	u64 sum = 0;

	for (u32 b = 0; b < cl->nr_bench; b++)
		if (__builtin_add_overflow(sum, bench_points(cl, b), &sum))
			return UINT64_MAX;
	return sum;
}

/* Runs of all points of a workload. */
static u64 bench_runs(const struct cmdline *cl, u32 bench)
{
	return mul_sat(mul_sat(bench_points(cl, bench), cl->arms[bench].nr),
		       cl->number[OPT_runs]);
}

u64 plan_total(const struct cmdline *cl)
{
	u64 sum = 0;

	for (u32 b = 0; b < cl->nr_bench; b++)
		if (__builtin_add_overflow(sum, bench_runs(cl, b), &sum))
			return UINT64_MAX;
	return sum;
}

/* The k-th item of a sweep; it was checked when the command line was parsed. */
static void sweep_value(const struct param_info *p, const struct sweep *s, u64 k,
			struct param_value *out)
{
	struct span rest = span_of(s->text), item;
	char why[160];

	do {
		panic_unless(span_next(&rest, ',', &item), "%s=%s: no item left", p->name,
			     s->text);
	} while (k--);
	panic_unless(param_parse(p, item, out, why, sizeof(why)), "%s", why);
}

void plan_point(const struct cmdline *cl, u64 i, u32 cpus, u32 cores, struct plan_point *out)
{
	const struct workload *w;
	u32 bench = 0;

	while (i >= bench_points(cl, bench)) {
		i -= bench_points(cl, bench++);
		panic_unless(bench < cl->nr_bench, "point beyond the plan");
	}
	w = cl->bench[bench];
	*out = (struct plan_point){ .workload = w, .bench = bench };
	for (u32 p = workload_nr_params(w); p--;) {
		const struct sweep *s = &cl->sweep[bench][p];

		sweep_value(workload_param(w, p), s, i % s->nr, &out->values.p[p]);
		param_resolve(workload_param(w, p), &out->values.p[p], cpus, cores);
		i /= s->nr;
	}
	params_settle(w, &out->values);
}

struct plan_run plan_run(const struct cmdline *cl, u64 i)
{
	u64 runs = cl->number[OPT_runs], point = 0;
	const struct arm_range *arms;
	u32 bench = 0;

	while (i >= bench_runs(cl, bench)) {
		point += bench_points(cl, bench);
		i -= bench_runs(cl, bench++);
		panic_unless(bench < cl->nr_bench, "run beyond the plan");
	}
	arms = &cl->arms[bench];
	return (struct plan_run){
		.point = point + i / runs / arms->nr,
		.arm = arms->first + (u32)(i / runs % arms->nr),
		.run = (u32)(i % runs),
		.seed = cl->number[OPT_seed] + i % runs,
	};
}

void plan_params_json(struct json *j, const struct workload *w, const struct param_values *v)
{
	json_obj(j, "params");
	for (u32 p = 0; p < workload_nr_params(w); p++)
		param_json(j, workload_param(w, p), &v->p[p]);
	json_end_obj(j);
}

char *plan_params_text(const struct cmdline *cl, const struct plan_point *point, bool swept_only,
		       char *buf, size_t n)
{
	const struct workload *w = point->workload;
	char value[256];
	size_t len = 0;

	if (n)
		buf[0] = '\0';
	for (u32 p = 0; p < workload_nr_params(w) && len < n; p++) {
		const struct param_info *info = workload_param(w, p);

		if (swept_only && cl->sweep[point->bench][p].nr == 1)
			continue;
		param_text(info, &point->values.p[p], value, sizeof(value));
		len += (size_t)fmt_sn(buf + len, n - len, "%s%s=%s", len ? " " : "", info->name,
				      value);
	}
	return buf;
}
