/* SPDX-License-Identifier: MIT */
/*
 * What workloads are made of (spec/workloads.md section 0): work as user or in the
 * kernel, random durations, and the law that every sleep ends by one wake-up.
 */
#ifndef WORKLOADS_WORK_H
#define WORKLOADS_WORK_H

#include "ctx.h"

/* ns of CPU work at full speed; counted in ctx->work when done. (sync) */
void wl_spin(struct wl_ctx *ctx, u64 ns);  /* as a program */
void wl_kspin(struct wl_ctx *ctx, u64 ns); /* for one, in the kernel */

/* The window's edges: the first time notes the work done, the second takes the
 * difference into ctx->work_window. */
void wl_work_edge(struct wl_ctx *ctx);

/* User's share of the window's work, in 1/1000 %. What wake-ups, switches and system
 * calls cost is not work. 0 when none was done. */
s64 wl_user_pct(const struct wl_ctx *ctx);
#define WL_USER_PCT { "user_pct", 3, METRIC_HIGHER, \
		      "work done as user, of all work; scheduling is not counted" }

/* From the calling task's generator: durations (kernel/lib/dist.h), and true in pct
 * of 100 cases. */
u64 wl_exp(u64 mean_ns);
u64 wl_logn(u64 mean_ns, u32 sigma_milli);
bool wl_chance(u32 pct);

/* n per second of the window, and n per one of `of` in 1/1000; 0 for of 0. */
s64 wl_per_s(const struct wl_ctx *ctx, u64 n);
s64 wl_per(u64 n, u64 of);

/*
 * At the run's end: its wake-ups are the sleeps that the workload counted, and those
 * of the first task: one for either end of wl_timed_window(), one for each of its
 * children at most. First wake-ups of new tasks are counted elsewhere.
 */
void wl_check_wakeups(struct wl_ctx *ctx, u64 sleeps, u32 children);

#endif
