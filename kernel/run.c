/* SPDX-License-Identifier: MIT */
/* Setting a run up, letting it go, and collecting what it left. */
#include "run.h"

#include "check.h"
#include "console.h"
#include "lib/string.h"
#include "platform.h"
#include "trace.h"

#define NICE_0_SHARES 1024 /* those of a group that weighs as a task of nice 0 */

static struct {
	const struct run_spec *spec;
	struct run_result *result;
} running;

/* group_depth=, groups_of=, group_shares=: a chain of groups, and siblings at its end. */
static void make_groups(struct wl_ctx *ctx)
{
	s64 depth = param_common(ctx->w, ctx->v, COMMON_GROUP_DEPTH);
	u32 nr = (u32)param_common(ctx->w, ctx->v, COMMON_GROUPS_OF);
	const struct param_value *shares = &ctx->v->p[ctx->w->nr_params + COMMON_GROUP_SHARES];
	struct task_group *above = sched_root_group(the_sched), **group;

	if (!depth)
		return;
	while (--depth)
		above = tg_create(the_sched, above, NICE_0_SHARES);
	group = arena_alloc(ctx->arena, nr * sizeof(*group));
	for (u32 i = 0; i < nr; i++)
		group[i] = tg_create(the_sched, above, (u64)shares->v[i % shares->nr]);
	tasks_deal_groups(group, nr);
}

/* The first task, which stays in the root group: the workload's own main. */
static void first_task(void *arg)
{
	(void)arg;
	if (!workload_bare(running.spec->workload))
		make_groups(&running.result->ctx);
	running.spec->workload->run(&running.result->ctx);
	engine_finish();
}

static void ctx_init(struct wl_ctx *ctx, const struct rig *rig, const struct run_spec *spec,
		     const struct sched_config *sc)
{
	*ctx = (struct wl_ctx){ .w = spec->workload, .v = spec->values,
				.vector = spec->vector, .topo = rig->topo, .arena = rig->arena,
				.sched_config = sc };
	env_line_init(&ctx->stop_line, LINE_USER);
}

static void latency_init(struct hist *h, struct arena *a)
{
	hist_init(h, arena_alloc(a, HIST_BUCKETS(HIST_SUB_BITS) * sizeof(u64)), HIST_SUB_BITS);
}

static struct task_deal deal(const struct run_spec *spec, enum param_common c)
{
	const struct param_value *p = &spec->values->p[spec->workload->nr_params + c];

	return (struct task_deal){ p->v, p->nr };
}

/* The common parameters that are the scheduler's business. Some have none, and
 * in-kernel tests no values. */
static void deal_traits(struct tasks_config *tc, struct sched *s, const struct run_spec *spec)
{
	struct task_deal group;

	if (workload_bare(spec->workload))
		return;
	tc->latency_nice = deal(spec, COMMON_LATENCY_NICE);
	tc->freq_heavy = deal(spec, COMMON_FREQ_HEAVY);
	group = deal(spec, COMMON_GROUP_LATENCY_NICE);
	if (group.nr)
		sched_set_group_latency_nice(s, sched_root_group(s), (s32)group.v[0]);
}

static void collect(struct run_result *r)
{
	u64 end_ps = engine.live ? live_now() * 1000 : engine.last_action_ps;

	window_result(&r->stats);
	/* The last CPU that acted ended the run. */
	r->vtime_ns = end_ps / 1000 - ENGINE_START_PS / 1000;
	r->switches = engine.passes;
	for (u32 i = 0; i < LN_CLASSES; i++)
		hist_merge(&r->wake_latency_ns, &r->ln_latency_ns[i]);
}

void run_execute(const struct rig *rig, const struct run_spec *spec, struct run_result *r)
{
	struct engine_config ec = {
		.topo = rig->topo, .machine = rig->machine, .arena = rig->arena, .hz = rig->hz,
		.slack_ps = rig->slack_ps, .vlimit_ps = rig->vlimit_ps,
		.cost_insn = rig->cost_insn, .reads_shared = rig->reads_shared, .exec = rig->exec,
	};
	struct sched_config sc = { .topo = rig->topo, .vector = *spec->vector, .hz = rig->hz,
				   .housekeeper = ec.housekeeper,
				   .arena = rig->arena, .lockstep = !rig->exec->live,
				   .punctual = !rig->exec->live, .plant = rig->plant };
	u64 host_ns = plat_host_ns(), cycles = plat_cycles();

	rig->arena->used = rig->arena_mark;
	memset(r, 0, sizeof(*r));
	latency_init(&r->wake_latency_ns, rig->arena);
	for (u32 i = 0; i < LN_CLASSES; i++)
		latency_init(&r->ln_latency_ns[i], rig->arena);
	trace_reset(rig->trace);
	engine_init(&ec);
	ctx_init(&r->ctx, rig, spec, &sc);
	running.spec = spec;
	running.result = r;

	struct sched *s = sched_create(&sc);

	struct tasks_config tc = { .sched = s, .arena = rig->arena, .seed = spec->seed,
				   .first = first_task, .wake_latency_ns = r->ln_latency_ns };

	deal_traits(&tc, s, spec);
	tasks_init(&tc);
	window_init(spec->workload->timed);
	rig->exec->run();
	trace_on = false;
	tasks_collect();
	collect(r);
	if (!engine.failed)
		r->ctx.checks_failed += check_run(&r->ctx, s);
	r->failed = engine.failed || r->ctx.checks_failed;
	r->host_ns = plat_host_ns() - host_ns;
	r->instructions = rig->cost_insn ? plat_cycles() - cycles : 0;
}
