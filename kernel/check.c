/* SPDX-License-Identifier: MIT */
/*
 * The end of a run: how every CPU stands, for the scheduler's own checks, and what
 * must hold of the engine's locks. All CPUs are stopped; nothing is charged.
 */
#include "check.h"

#include "console.h"
#include "lib/fmt.h"
#include "lib/string.h"

static struct {
	const struct wl_ctx *ctx;
	u32 failed;
} checking;

static void report(const char *text)
{
	console_printf("check failed: end of %s: %s", checking.ctx->w->name, text);
}

static void lock_violated(const char *f, ...) printf_like(1, 2);

static void lock_violated(const char *f, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, f);
	fmt_vsn(text, sizeof(text), f, ap);
	va_end(ap);
	report(text);
	checking.failed++;
}

/* Interrupts off, apart from the level that ended the run: the interrupt that
 * stopped the CPU in live mode, engine_finish() in lockstep. */
static bool stands_inside(const struct ecpu *c)
{
	return c->irq_depth > (engine.live || c == engine.cur ? 1 : 0) || c->waiting_for;
}

static void check_locks(const struct ecpu *c, struct sched_standstill *at)
{
	if (c->nr_held && !stands_inside(c))
		lock_violated("cpu %u holds %s %u with interrupts on", c->id, c->held[0]->name,
			      c->held[0]->id);
	for (u32 h = 0; h < c->nr_held; h++) {
		const struct env_lock *l = c->held[h];

		if (l->owner != c->id)
			lock_violated("cpu %u holds %s %u, whose owner is %u", c->id, l->name,
				      l->id, l->owner);
		if (l->line.kind == LINE_RQ_LOCK)
			cpumask_set(&at->locked, l->id);
	}
}

static bool wake_ipi_pending(const struct ecpu *c)
{
	u32 e = EVT_CALL + ENV_CALL_WAKE_LIST;

	return engine.live ? c->live_pending >> e & 1 : c->event_ps[e] != TIME_NEVER;
}

u32 check_run(const struct wl_ctx *ctx, struct sched *s)
{
	u64 *now_ns = arena_alloc(ctx->arena, engine.nr_cpus * sizeof(*now_ns));
	u64 *idle_ns = arena_alloc(ctx->arena, engine.nr_cpus * sizeof(*idle_ns));
	struct sched_standstill *at = arena_alloc(ctx->arena, sizeof(*at));

	memset(at, 0, sizeof(*at));
	at->now_ns = now_ns;
	at->idle_ns = engine.live ? NULL : idle_ns;
	checking.ctx = ctx;
	checking.failed = 0;
	for (u32 i = 0; i < engine.nr_cpus; i++) {
		const struct ecpu *c = &engine.cpu[i];

		now_ns[i] = engine.live ? live_now() : c->now_ps / 1000;
		idle_ns[i] = c->idle_total_ps / 1000;
		if (stands_inside(c))
			cpumask_set(&at->inside, i);
		if (wake_ipi_pending(c))
			cpumask_set(&at->pending, i);
		check_locks(c, at);
	}
	return checking.failed + sched_check_end(s, at, report);
}
