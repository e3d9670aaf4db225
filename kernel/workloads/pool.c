/* SPDX-License-Identifier: MIT */
/* Locks that a workload contends for: see pool.h. */
#include "pool.h"

void pool_init(struct pool *p, u32 nr, const char *name, struct arena *a)
{
	*p = (struct pool){ .lock = arena_alloc(a, nr * sizeof(*p->lock)), .nr = nr };
	for (u32 i = 0; i < nr; i++)
		mutex_init(&p->lock[i].mutex, name, i);
}

struct pool_lock *pool_take(struct pool *p)
{
	struct pool_lock *l = &p->lock[rng_below(&task_self()->rng, p->nr)];

	mutex_lock(&l->mutex);
	l->entries++;
	__atomic_fetch_add(&p->taken, 1, __ATOMIC_RELAXED);
	return l;
}

void pool_release(struct pool_lock *l)
{
	mutex_unlock(&l->mutex);
}

u64 pool_sleeps(const struct pool *p)
{
	u64 sleeps = 0;

	for (u32 i = 0; i < p->nr; i++)
		sleeps += __atomic_load_n(&p->lock[i].mutex.sleeps, __ATOMIC_RELAXED);
	return sleeps;
}

void pool_check(const struct pool *p, struct wl_ctx *ctx)
{
	u64 entries = 0;

	for (u32 i = 0; i < p->nr; i++)
		entries += p->lock[i].entries;
	wl_check(ctx, entries == p->taken, "%llu entries under %s locks, %llu taken",
		 (unsigned long long)entries, p->lock->mutex.lock.name,
		 (unsigned long long)p->taken);
}
