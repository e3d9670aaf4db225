/* SPDX-License-Identifier: MIT */
/* What all workloads share. */
#include "ctx.h"

#include "../console.h"
#include "../window.h"
#include "../lib/fmt.h"

#define START_DELAY_MAX_NS 100000

void wl_check(struct wl_ctx *ctx, bool ok, const char *f, ...)
{
	char buf[256];
	va_list ap;

	if (ok)
		return;
	va_start(ap, f);
	fmt_vsn(buf, sizeof(buf), f, ap);
	va_end(ap);
	console_printf("check failed: %s: %s", ctx->w->name, buf);
	ctx->checks_failed++;
}

u64 wl_vary(const struct wl_ctx *ctx, u64 ns)
{
	return rng_jitter(&task_self()->rng, ns,
			  (u32)param_common(ctx->w, ctx->v, COMMON_JITTER_PCT));
}

void wl_run_on(const struct wl_ctx *ctx, u32 cpu)
{
	struct cpumask *only = arena_alloc(ctx->arena, sizeof(*only));

	cpumask_set(only, cpu);
	sched_set_affinity(the_sched, &task_self()->st, only);
	while (env_this_cpu() != cpu)
		task_yield();
}

s64 verdict_sum(const struct wl_verdict *d, u32 arm, u32 m)
{
	s64 sum = 0;

	for (u32 r = 0; r < d->runs; r++)
		sum += verdict_metric(d, arm, r, m);
	return sum;
}

void verdict_say(struct wl_verdict *d, const char *f, ...)
{
	va_list ap;

	if (d->nr_lines == WL_VERDICT_LINES)
		return;
	va_start(ap, f);
	fmt_vsn(d->line[d->nr_lines++], sizeof(d->line[0]), f, ap);
	va_end(ap);
}

void wl_start_delay(void)
{
	task_sleep_ns(rng_below(&task_self()->rng, START_DELAY_MAX_NS + 1));
}

void wl_timed_window(struct wl_ctx *ctx, void (*begin)(struct wl_ctx *ctx),
		     void (*end)(struct wl_ctx *ctx))
{
	u64 warmup_ns = (u64)param_common(ctx->w, ctx->v, COMMON_WARMUP_NS);

	if (warmup_ns)
		task_sleep_ns(warmup_ns);
	ctx->begin_ns = env_now();
	window_begin();
	begin(ctx);
	task_sleep_ns((u64)param_common(ctx->w, ctx->v, COMMON_RUNTIME_NS));
	ctx->end_ns = env_now();
	window_end();
	end(ctx); /* the stop takes its time, on a line that everybody reads */
	wl_stop(ctx);
}

void wl_stop(struct wl_ctx *ctx)
{
	env_line_write(&ctx->stop_line);
	__atomic_store_n(&ctx->stop, true, __ATOMIC_RELEASE);
}

bool wl_stopped(struct wl_ctx *ctx)
{
	env_line_read(&ctx->stop_line);
	return __atomic_load_n(&ctx->stop, __ATOMIC_ACQUIRE);
}

void wl_series_add(struct wl_ctx *ctx, const char *name, const u64 *v, u32 nr)
{
	panic_unless(ctx->nr_series < WL_SERIES_MAX, "%s: too many series", ctx->w->name);
	ctx->series[ctx->nr_series++] = (struct wl_series){ name, v, nr };
}

void wl_hist_add(struct wl_ctx *ctx, const char *name, const struct hist *h)
{
	panic_unless(ctx->nr_hists < WL_HISTS_MAX, "%s: too many histograms", ctx->w->name);
	ctx->hist[ctx->nr_hists++] = (struct wl_hist){ name, h };
}

void wl_percentiles(struct wl_ctx *ctx, const struct hist *h)
{
	ctx->samples = h->count;
	for (u32 i = 0; i < ctx->w->nr_metrics; i++)
		if (ctx->w->percentiles[i])
			ctx->metric[i] = (s64)hist_percentile(h, ctx->w->percentiles[i]);
}

u64 wl_counter_sum(size_t offset)
{
	u64 sum = 0;

	for (u32 c = 0; c < engine.nr_cpus; c++)
		sum += __atomic_load_n((const u64 *)((const char *)sched_counters(the_sched, c) +
						     offset), __ATOMIC_RELAXED);
	return sum;
}
