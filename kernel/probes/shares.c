/* SPDX-License-Identifier: MIT */
/*
 * probe=shares: what a group's entity weighs on each CPU, and whether a queue tells
 * the group of its load (spec/group-load.md sections 1, 2, 4 and 5).
 */
#include "../../sched/formula.h"
#include "../console.h"
#include "../lib/fmt.h"
#include "probe.h"

enum {
	P_SHARES, P_WEIGHT, P_LOAD_AVG, P_CONTRIB, P_TG_LOAD, P_PUBLISH, P_BY, P_AGO, P_SITE,
	P_OTHERS, P_OLD
};

#define LOAD_MAX (1ll << 32)
#define CPU_MAX (PARAM_LIST_MAX - 1)

static const struct param_info shares_params[] = {
	[P_SHARES] = { .name = "shares", .min = 2, .max = 1 << 18, .def = "1024",
		       .help = "of the group; 1024 is as much as a nice-0 task" },
	[P_WEIGHT] = { .name = "weight", .kind = PARAM_LIST, .max = LOAD_MAX, .def = "1024",
		       .help = "of the group's queued tasks on CPU 0, 1, ...; nice 0 is 1024" },
	[P_LOAD_AVG] = { .name = "load_avg", .kind = PARAM_LIST, .max = LOAD_MAX,
			 .unset = "weight", .def = "weight", .help = "of its queues there" },
	[P_CONTRIB] = { .name = "contrib", .kind = PARAM_LIST, .max = LOAD_MAX,
			.unset = "load_avg", .def = "load_avg",
			.help = "what they published of it" },
	[P_TG_LOAD] = { .name = "tg_load", .max = LOAD_MAX, .unset = "sum", .def = "sum",
			.help = "the group's load counter, all nodes" },
	[P_PUBLISH] = { .name = "publish", .kind = PARAM_LIST, .max = CPU_MAX, .unset = "none",
			.def = "none", .help = "CPUs whose queues update_tg_load_avg, in turn" },
	[P_BY] = { .name = "by", .kind = PARAM_LIST, .max = CPU_MAX, .unset = "themselves",
		   .def = "themselves", .help = "CPUs that execute these calls" },
	[P_AGO] = { .name = "published_us", .min = 1, .max = 1000000, .unset = "never",
		    .def = "never", .help = "time since each queue published" },
	[P_SITE] = { .name = "site", .kind = PARAM_WORD, .words = SHARES_SITES, .def = "tick",
		     .help = "where the weight is then brought up to date" },
	[P_OTHERS] = { .name = "others", .max = 1000, .def = "0",
		       .help = "entities queued beside the group's" },
	[P_OLD] = { .name = "old_weight", .kind = PARAM_LIST, .min = 2, .max = 1ll << 28,
		    .unset = "new", .def = "new",
		    .help = "of the group's entities before; 1048576 is nice 0" },
};

#define NEW_WEIGHT (1u << 20)

struct answer {
	struct shares_answer cpu[PARAM_LIST_MAX];
	s64 counter[PARAM_LIST_MAX];
	u32 nr_counters;
};

static bool list_fits(const struct workload *w, const struct param_values *v, u32 i, u32 nr,
		      char *why, size_t n)
{
	if (param_unset(v, i) || v->p[i].nr == nr)
		return true;
	fmt_sn(why, n, "%s=: %u values; allowed %u, as many as weight= has",
	       workload_param(w, i)->name, v->p[i].nr, nr);
	return false;
}

static bool cpus_fit(const struct workload *w, const struct param_values *v, u32 i, u32 cpus,
		     char *why, size_t n)
{
	for (u32 k = 0; !param_unset(v, i) && k < v->p[i].nr; k++)
		if ((u64)v->p[i].v[k] >= cpus) {
			fmt_sn(why, n, "%s=%lld: allowed 0..%u", workload_param(w, i)->name,
			       (long long)v->p[i].v[k], cpus - 1);
			return false;
		}
	return true;
}

static bool shares_check(const struct workload *w, const struct param_values *v,
			 const struct sched_topo *topo, char *why, size_t n)
{
	u32 nr = v->p[P_WEIGHT].nr;
	u32 calls = param_unset(v, P_PUBLISH) ? 0 : v->p[P_PUBLISH].nr;

	if (nr > topo->nr_cpus) {
		fmt_sn(why, n, "weight=: %u values, more than the %u CPUs", nr, topo->nr_cpus);
		return false;
	}
	if (!param_unset(v, P_BY) && v->p[P_BY].nr != calls) {
		fmt_sn(why, n, "by=: %u values; allowed %u, as many as publish= has",
		       v->p[P_BY].nr, calls);
		return false;
	}
	return list_fits(w, v, P_LOAD_AVG, nr, why, n) && list_fits(w, v, P_CONTRIB, nr, why, n) &&
	       list_fits(w, v, P_OLD, nr, why, n) && cpus_fit(w, v, P_PUBLISH, nr, why, n) &&
	       cpus_fit(w, v, P_BY, topo->nr_cpus, why, n);
}

static const u64 *list(const struct param_values *v, u32 i, const u64 *instead)
{
	return param_unset(v, i) ? instead : (const u64 *)v->p[i].v;
}

static int shares_run(struct wl_ctx *ctx)
{
	static u64 new_weight[PARAM_LIST_MAX];
	const struct param_values *v = ctx->v;
	struct answer *a = arena_alloc(ctx->arena, sizeof(*a));
	struct shares_probe in = {
		.shares = (u64)param_num(v, P_SHARES), .nr = v->p[P_WEIGHT].nr,
		.weight = (const u64 *)v->p[P_WEIGHT].v,
		.others = (u64)param_num(v, P_OTHERS),
		.published_ago_ns = param_unset(v, P_AGO) ? 0 : (u64)param_num(v, P_AGO) * 1000,
	};
	struct shares_prober *prober;

	for (u32 i = 0; i < PARAM_LIST_MAX; i++)
		new_weight[i] = NEW_WEIGHT;
	in.load_avg = list(v, P_LOAD_AVG, in.weight);
	in.contrib = list(v, P_CONTRIB, in.load_avg);
	in.old_weight = list(v, P_OLD, new_weight);
	for (u32 i = 0; i < in.nr; i++)
		in.tg_load += (s64)in.contrib[i];
	if (!param_unset(v, P_TG_LOAD))
		in.tg_load = param_num(v, P_TG_LOAD);
	prober = sched_shares_create(ctx->sched_config, &in);
	for (u32 i = 0; !param_unset(v, P_PUBLISH) && i < v->p[P_PUBLISH].nr; i++) {
		u32 cpu = (u32)v->p[P_PUBLISH].v[i];

		wl_run_on(ctx, param_unset(v, P_BY) ? cpu : (u32)v->p[P_BY].v[i]);
		env_irq_off();
		sched_shares_publish(prober, cpu);
		env_irq_on();
	}
	env_irq_off();
	for (u32 c = 0; c < in.nr; c++)
		a->cpu[c] = sched_shares_weigh(prober, c, (u32)param_num(v, P_SITE));
	env_irq_on();
	a->nr_counters = ctx->topo->nr_nodes < PARAM_LIST_MAX ? ctx->topo->nr_nodes : 1;
	for (u32 n = 0; n < a->nr_counters; n++)
		a->counter[n] = sched_shares_counter(prober, n);
	ctx->answer = a;
	return 0;
}

static void shares_report(const struct wl_ctx *ctx, const char *arm, bool first)
{
	const struct answer *a = ctx->answer;

	if (first)
		probe_heading(ctx, "%-16s %4s %10s %10s %10s %12s %8s", "arm", "cpu", "weight",
			      "ideal", "error 1/1k", "ns per ms", "contrib");
	for (u32 c = 0; c < ctx->v->p[P_WEIGHT].nr; c++) {
		const struct shares_answer *r = &a->cpu[c];
		struct json *j = probe_begin(ctx, arm);

		json_u64(j, "cpu", c);
		json_u64(j, "weight", r->weight);
		json_u64(j, "ideal", r->ideal);
		json_s64(j, "error_permille", r->error_permille);
		json_u64(j, "charge_ns", r->charge_ns);
		json_u64(j, "contrib", r->contrib);
		json_arr(j, "tg_load");
		for (u32 n = 0; n < a->nr_counters; n++)
			json_s64(j, NULL, a->counter[n]);
		json_end_arr(j);
		probe_end(ctx, j);
		console_printf("%-16s %4u %10llu %10llu %10lld %12llu %8llu", arm, c,
			       (unsigned long long)r->weight, (unsigned long long)r->ideal,
			       (long long)r->error_permille, (unsigned long long)r->charge_ns,
			       (unsigned long long)r->contrib);
	}
}

static const struct workload shares = {
	.kind = WORKLOAD_PROBE, .name = "shares",
	.help = "what a group's entity weighs on each CPU, and which loads are published",
	.spec = "group-load.md sections 1 to 5",
	.params = shares_params, .nr_params = ARRAY_SIZE(shares_params),
	.check = shares_check, .run = shares_run, .report = shares_report,
};
WORKLOAD(shares);
