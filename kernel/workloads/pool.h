/* SPDX-License-Identifier: MIT */
/* A few sleeping locks that all tasks of a workload contend for, each time for any
 * one of them. */
#ifndef WORKLOADS_POOL_H
#define WORKLOADS_POOL_H

#include "../sync.h"
#include "ctx.h"

struct pool_lock {
	struct mutex mutex;
	u64 entries; /* counted under it */
};

struct pool {
	struct pool_lock *lock;
	u32 nr;
	u64 taken; /* locks taken so far; atomic */
};

void pool_init(struct pool *p, u32 nr, const char *name, struct arena *a);

/* Takes one, drawn from the calling task's generator. (sync) */
struct pool_lock *pool_take(struct pool *p);
void pool_release(struct pool_lock *l); /* (sync) */

/* Sleeps of all tasks on all locks; each ended by one wake-up. */
u64 pool_sleeps(const struct pool *p);

/* After the run: what is counted under the locks lost nothing. */
void pool_check(const struct pool *p, struct wl_ctx *ctx);

#endif
