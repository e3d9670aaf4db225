/* SPDX-License-Identifier: MIT */
/* Endless loops: see spin.h. */
#include "spin.h"

#include "../lib/math64.h"

struct spinner {
	struct wl_ctx *ctx;
	struct task *task;
	u64 work_ns, done_cpu_ns;  /* of finished bursts: work, and CPU time it took */
	u64 burst_ns, from_cpu_ns; /* the current one: its work, and CPU time at its start */
};

static struct {
	struct spin_config cfg;
	struct spinner *spinner;
	struct spin_window win;
} sp;

static void spinner_main(void *arg)
{
	struct spinner *s = arg;
	const struct task *self = task_self();

	wl_start_delay();
	while (!wl_stopped(s->ctx)) {
		u64 ns = wl_vary(s->ctx, sp.cfg.burst_ns), from_ns = task_cpu_ns(self);

		__atomic_store_n(&s->from_cpu_ns, from_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&s->burst_ns, ns, __ATOMIC_RELAXED);
		task_burn(ns);
		counter_add(&s->work_ns, ns);
		counter_add(&s->done_cpu_ns, task_cpu_ns(self) - from_ns);
		__atomic_store_n(&s->burst_ns, 0, __ATOMIC_RELAXED);
	}
}

/* Work so far: that of finished bursts, and of the current one what its CPU time
 * bought at the task's mean speed, which starts at that of an idle core. */
static u64 work_done(const struct spinner *s, u64 cpu_ns)
{
	u64 work_ns = __atomic_load_n(&s->work_ns, __ATOMIC_RELAXED);
	u64 done_cpu_ns = __atomic_load_n(&s->done_cpu_ns, __ATOMIC_RELAXED);
	u64 burst_ns = __atomic_load_n(&s->burst_ns, __ATOMIC_RELAXED);
	u64 from_ns = __atomic_load_n(&s->from_cpu_ns, __ATOMIC_RELAXED);
	u64 part_ns = burst_ns && cpu_ns > from_ns ? cpu_ns - from_ns : 0;

	if (done_cpu_ns)
		part_ns = muldiv_u64(part_ns, work_ns, done_cpu_ns);
	return work_ns + (part_ns < burst_ns ? part_ns : burst_ns);
}

/* The first time notes where the tasks are, the second takes the difference. */
void spin_edge(struct wl_ctx *ctx)
{
	struct spin_window *w = &sp.win;

	(void)ctx;
	for (u32 i = 0; i < sp.cfg.n; i++) {
		const struct spinner *s = &sp.spinner[i];

		u64 cpu_ns = task_cpu_ns(s->task);

		w->cpu_ns[i] = cpu_ns - w->cpu_ns[i];
		w->work_ns[i] = work_done(s, cpu_ns) - w->work_ns[i];
		w->migrations[i] = __atomic_load_n(&s->task->st.migrations, __ATOMIC_RELAXED) -
				   w->migrations[i];
	}
}

static u32 online_cpus(const struct sched_topo *t)
{
	u32 online = 0;

	for (u32 c = 0; c < t->nr_cpus; c++)
		online += t->cpu[c].online;
	return online;
}

/* The i-th online CPU, round and round. */
static u32 online_cpu(const struct sched_topo *t, u32 i)
{
	u32 cpu = 0;

	for (i %= online_cpus(t); !t->cpu[cpu].online || i--; cpu++)
		;
	return cpu;
}

static const struct cpumask *pinned(const struct wl_ctx *ctx, u32 i)
{
	const struct sched_topo *t = ctx->topo;
	struct cpumask *m;
	u32 cpu = 0;

	if (sp.cfg.pin == PIN_NONE)
		return NULL;
	if (sp.cfg.pin == PIN_EACH)
		cpu = online_cpu(t, i);
	if (sp.cfg.pin == PIN_CORE)
		while (t->cpu[cpu].core != i % t->nr_cores)
			cpu++;
	m = arena_alloc(ctx->arena, sizeof(*m));
	cpumask_set(m, cpu);
	return m;
}

/* Pinned ones that make up one round over the machine: so each CPU has some of
 * every group. */
static u32 unit(const struct sched_topo *t, u32 i)
{
	return sp.cfg.pin == PIN_EACH ? 1 + i / online_cpus(t)
	     : sp.cfg.pin == PIN_CORE ? 1 + i / t->nr_cores
				      : 0;
}

void spin_start(struct wl_ctx *ctx, const struct spin_config *cfg)
{
	size_t bytes = cfg->n * sizeof(u64);

	sp.cfg = *cfg;
	sp.spinner = arena_alloc(ctx->arena, cfg->n * sizeof(*sp.spinner));
	sp.win = (struct spin_window){ .cpu_ns = arena_alloc(ctx->arena, bytes),
				       .work_ns = arena_alloc(ctx->arena, bytes),
				       .migrations = arena_alloc(ctx->arena, bytes) };
	for (u32 i = 0; i < cfg->n; i++) {
		const struct param_value *nice = cfg->nice;
		struct task_attr attr = { .name = "spinner",
					  .nice = nice ? (s32)nice->v[i % nice->nr] : 0,
					  .allowed = pinned(ctx, i),
					  .unit = unit(ctx->topo, i) };

		sp.spinner[i].ctx = ctx;
		sp.spinner[i].task = task_fork(&attr, spinner_main, &sp.spinner[i]);
	}
}

const struct spin_window *spin_figures(void)
{
	struct spin_window *w = &sp.win;

	w->min_cpu_ns = ~0ull;
	for (u32 i = 0; i < sp.cfg.n; i++) {
		w->all_cpu_ns += w->cpu_ns[i];
		w->all_work_ns += w->work_ns[i];
		w->min_cpu_ns = w->cpu_ns[i] < w->min_cpu_ns ? w->cpu_ns[i] : w->min_cpu_ns;
		w->max_cpu_ns = w->cpu_ns[i] > w->max_cpu_ns ? w->cpu_ns[i] : w->max_cpu_ns;
	}
	return w;
}
