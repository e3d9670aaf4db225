/* SPDX-License-Identifier: MIT */
/*
 * probe=place: which CPU one wake-up chooses, and why (spec/idle-search.md
 * sections 4 and 7). The search runs on the waker's CPU with its real costs; the
 * machine around it is as the parameters say.
 */
#include "../../sched/place.h"
#include "../console.h"
#include "../lib/fmt.h"
#include "probe.h"

enum {
	P_BUSY, P_ALLOWED, P_THIS, P_PREV, P_TARGET, P_RECENT, P_FLAG, P_NEXT_CPU, P_AVG_IDLE,
	P_AVG_SCAN_COST, P_LATENCY_NICE, P_WAKES
};

/* Averages beyond a second mean nothing, and sums of them do not overflow. */
#define AVG_MAX_NS 1000000000
#define CPU_MAX (MAX_CPUS - 1)

static const struct param_info place_params[] = {
	[P_BUSY] = { .name = "busy", .kind = PARAM_MASK, .unset = "none", .def = "none",
		     .help = "CPUs that run something" },
	[P_ALLOWED] = { .name = "allowed", .kind = PARAM_MASK, .unset = "all", .def = "all",
			.help = "the woken task's affinity" },
	[P_THIS] = { .name = "this", .max = CPU_MAX, .unset = "target", .def = "target",
		     .help = "the waker's CPU" },
	[P_PREV] = { .name = "prev", .max = CPU_MAX, .unset = "target", .def = "target",
		     .help = "where the woken task last ran" },
	[P_TARGET] = { .name = "target", .max = CPU_MAX, .def = "0",
		       .help = "where the search starts, as wake_affine chose it" },
	[P_RECENT] = { .name = "recent", .max = CPU_MAX, .unset = "prev", .def = "prev",
		       .help = "recent_used_cpu of the woken task" },
	[P_FLAG] = { .name = "flag", .max = 1, .def = "0",
		     .help = "has_idle_cores of the target's cache" },
	[P_NEXT_CPU] = { .name = "next_cpu", .min = -1, .max = CPU_MAX, .def = "-1",
			 .help = "where the rotating scan for it goes on; -1: at the target" },
	[P_AVG_IDLE] = { .name = "avg_idle", .max = AVG_MAX_NS, .def = "1000000",
			 .help = "ns that the waker's CPU idles on average, at each wake-up" },
	[P_AVG_SCAN_COST] = { .name = "avg_scan_cost", .max = AVG_MAX_NS, .def = "0",
			      .help = "ns that a scan takes on average there, at each wake-up" },
	[P_LATENCY_NICE] = { .name = "latency_nice", .min = -20, .max = 19, .def = "0",
			     .help = "of the woken task" },
	[P_WAKES] = { .name = "wakes", .min = 1, .max = 1000, .def = "1",
		      .help = "wake-ups in a row; none is enqueued, what they leave stays" },
};

/* ---- the state asked for ------------------------------------------------------- */

static u32 cpu_or(const struct param_values *v, u32 i, u32 other)
{
	return param_unset(v, i) ? other : (u32)param_num(v, i);
}

static void take_cpus(const struct param_values *v, struct place_probe *in)
{
	in->target = (u32)param_num(v, P_TARGET);
	in->this_cpu = cpu_or(v, P_THIS, in->target);
	in->prev = cpu_or(v, P_PREV, in->target);
	in->recent = cpu_or(v, P_RECENT, in->prev);
	in->next_cpu = (s32)param_num(v, P_NEXT_CPU);
}

static bool cpu_ok(const struct workload *w, u32 i, u32 cpu, const struct sched_topo *topo,
		   char *why, size_t n)
{
	const char *name = workload_param(w, i)->name;

	if (cpu >= topo->nr_cpus) {
		fmt_sn(why, n, "%s=%u: allowed 0..%u", name, cpu, topo->nr_cpus - 1);
		return false;
	}
	if (!topo->cpu[cpu].online) {
		fmt_sn(why, n, "%s=%u: that CPU is offline", name, cpu);
		return false;
	}
	return true;
}

static bool allowed_ok(const struct param_values *v, const struct sched_topo *topo, char *why,
		       size_t n)
{
	struct cpumask mask;

	if (param_unset(v, P_ALLOWED))
		return true;
	param_mask(&v->p[P_ALLOWED], &mask);
	for_each_cpu(c, &mask, topo->nr_cpus)
		if (topo->cpu[c].online)
			return true;
	fmt_sn(why, n, "allowed=%.*s: names no online CPU", (int)v->p[P_ALLOWED].text.n,
	       v->p[P_ALLOWED].text.p);
	return false;
}

static bool place_check(const struct workload *w, const struct param_values *v,
			const struct sched_topo *topo, char *why, size_t n)
{
	struct place_probe in;

	take_cpus(v, &in);
	if (!cpu_ok(w, P_TARGET, in.target, topo, why, n) ||
	    !cpu_ok(w, P_THIS, in.this_cpu, topo, why, n) ||
	    !cpu_ok(w, P_PREV, in.prev, topo, why, n) ||
	    !cpu_ok(w, P_RECENT, in.recent, topo, why, n) || !allowed_ok(v, topo, why, n))
		return false;
	/* Invariant I5: a scan leaves nothing else. */
	if (in.next_cpu >= 0 &&
	    ((u32)in.next_cpu >= topo->nr_cpus || !topo->cpu[in.next_cpu].online ||
	     topo->cpu[in.next_cpu].llc != topo->cpu[in.target].llc)) {
		fmt_sn(why, n, "next_cpu=%d: allowed -1, or a CPU of the cache of target=%u",
		       in.next_cpu, in.target);
		return false;
	}
	return true;
}

/* ---- the run ----------------------------------------------------------------------- */

static int place_run(struct wl_ctx *ctx)
{
	const struct param_values *v = ctx->v;
	u32 wakes = (u32)param_num(v, P_WAKES);
	struct place_probe_result *out = arena_alloc(ctx->arena, wakes * sizeof(*out));
	struct cpumask *busy = arena_alloc(ctx->arena, sizeof(*busy));
	struct cpumask *allowed = arena_alloc(ctx->arena, sizeof(*allowed));
	struct place_probe in = {
		.busy = busy, .allowed = allowed,
		.has_idle_cores = param_num(v, P_FLAG),
		.avg_idle_ns = (u64)param_num(v, P_AVG_IDLE),
		.avg_scan_cost_ns = (u64)param_num(v, P_AVG_SCAN_COST),
		.latency_nice = (s32)param_num(v, P_LATENCY_NICE),
	};
	struct place_prober *prober;

	take_cpus(v, &in);
	param_mask(&v->p[P_BUSY], busy);
	param_mask(&v->p[P_ALLOWED], allowed);
	if (param_unset(v, P_ALLOWED))
		cpumask_fill(allowed, ctx->topo->nr_cpus);
	prober = sched_prober_create(ctx->sched_config);
	wl_run_on(ctx, in.this_cpu);
	for (u32 i = 0; i < wakes; i++) {
		task_syscall(); /* as a waker enters one; interrupts get in */
		env_irq_off();
		sched_prober_ask(prober, &in, !i, &out[i]);
		env_irq_on();
	}
	ctx->answer = out;
	return 0;
}

/* ---- the answer ---------------------------------------------------------------------- */

static void number_or_null(struct json *j, const char *key, bool known, u64 v)
{
	if (known)
		json_u64(j, key, v);
	else
		json_null(j, key);
}

static void probe_frame(const struct wl_ctx *ctx, const char *arm, u32 wake,
			const struct place_probe_result *r)
{
	struct json *j = probe_begin(ctx, arm);

	json_u64(j, "wake", wake);
	json_u64(j, "cpu", r->cpu);
	json_u64(j, "chosen", r->chosen);
	json_str(j, "stage", place_stage_name[r->why.stage]);
	number_or_null(j, "nr", r->why.scanned, r->why.nr);
	number_or_null(j, "visits", r->why.scanned, r->why.visits);
	number_or_null(j, "scan_ns", r->why.scanned, r->why.scan_ns);
	json_bool(j, "budget_out", r->why.budget_out);
	json_bool(j, "avg_updated", r->why.avg_updated);
	json_s64(j, "next_cpu", r->next_cpu);
	json_bool(j, "has_idle_cores", r->has_idle_cores);
	json_u64(j, "recent", r->recent);
	probe_end(ctx, j);
}

static const char *const stage_words[STAGE_NR] = {
#define STAGE(id, name, help) help,
#include "../../sched/stages.def"
#undef STAGE
};

/* "; the scan visited 3 CPUs, budget 4, and ran out of it in 120 ns" */
static void put_row(const char *arm, u32 wake, const struct place_probe_result *r)
{
	char text[320], budget[40] = "no budget";
	int len = fmt_sn(text, sizeof(text), "%s", stage_words[r->why.stage]);

	if (r->why.nr < INT32_MAX) /* else what base has without SIS_PROP */
		fmt_sn(budget, sizeof(budget), "budget %llu", (unsigned long long)r->why.nr);
	if (r->why.scanned)
		len += fmt_sn(text + len, sizeof(text) - (size_t)len,
			      "; the scan visited %llu in %llu ns, %s%s",
			      (unsigned long long)r->why.visits,
			      (unsigned long long)r->why.scan_ns, budget,
			      r->why.budget_out ? " spent" : "");
	if (r->cpu != r->chosen)
		fmt_sn(text + len, sizeof(text) - (size_t)len,
		       "; CPU %u is not allowed: fallback", r->chosen);
	console_printf("%-20s %4u %4u  %-10s %s", arm, wake, r->cpu,
		       place_stage_name[r->why.stage], text);
}

static void place_report(const struct wl_ctx *ctx, const char *arm, bool first)
{
	const struct place_probe_result *out = ctx->answer;

	if (first)
		probe_heading(ctx, "%-20s %4s %4s  %-10s %s", "arm", "wake", "cpu", "stage", "why");
	for (u32 i = 0; i < (u32)param_num(ctx->v, P_WAKES); i++) {
		probe_frame(ctx, arm, i + 1, &out[i]);
		put_row(arm, i + 1, &out[i]);
	}
}

static const struct workload place = {
	.kind = WORKLOAD_PROBE, .name = "place",
	.help = "which CPU the idle search and the affinity fallback give a woken task, and why",
	.spec = "idle-search.md section 4",
	.params = place_params, .nr_params = ARRAY_SIZE(place_params),
	.profile = "v5.2", .check = place_check, .run = place_run, .report = place_report,
};
WORKLOAD(place);
