/* SPDX-License-Identifier: MIT */
/* What workloads are made of: see work.h. */
#include "work.h"

#include "../lib/dist.h"
#include "../lib/math64.h"

static void work(u64 *done_ns, u64 ns)
{
	task_burn(ns);
	__atomic_fetch_add(done_ns, ns, __ATOMIC_RELAXED);
}

void wl_spin(struct wl_ctx *ctx, u64 ns)
{
	work(&ctx->work.user_ns, ns);
}

void wl_kspin(struct wl_ctx *ctx, u64 ns)
{
	work(&ctx->work.kernel_ns, ns);
}

void wl_work_edge(struct wl_ctx *ctx)
{
	struct wl_work *w = &ctx->work_window;

	w->user_ns = __atomic_load_n(&ctx->work.user_ns, __ATOMIC_RELAXED) - w->user_ns;
	w->kernel_ns = __atomic_load_n(&ctx->work.kernel_ns, __ATOMIC_RELAXED) - w->kernel_ns;
}

s64 wl_user_pct(const struct wl_ctx *ctx)
{
	const struct wl_work *w = &ctx->work_window;
	u64 all_ns = w->user_ns + w->kernel_ns;

	return all_ns ? (s64)muldiv_u64(w->user_ns, 100000, all_ns) : 0;
}

u64 wl_exp(u64 mean_ns)
{
	return dist_exp(&task_self()->rng, mean_ns);
}

u64 wl_logn(u64 mean_ns, u32 sigma_milli)
{
	return dist_logn(&task_self()->rng, mean_ns, sigma_milli);
}

bool wl_chance(u32 pct)
{
	return rng_below(&task_self()->rng, 100) < pct;
}

s64 wl_per_s(const struct wl_ctx *ctx, u64 n)
{
	return (s64)muldiv_u64(n, 1000000000, ctx->end_ns - ctx->begin_ns);
}

s64 wl_per(u64 n, u64 of)
{
	return of ? (s64)muldiv_u64(n, 1000, of) : 0;
}

void wl_check_wakeups(struct wl_ctx *ctx, u64 sleeps, u32 children)
{
	u64 wakeups = wl_counter(wakeups);

	wl_check(ctx, wakeups >= sleeps && wakeups <= sleeps + children + 2,
		 "%llu wake-ups, %llu sleeps, and up to %u of the first task",
		 (unsigned long long)wakeups, (unsigned long long)sleeps, children + 2);
}
