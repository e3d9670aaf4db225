/* SPDX-License-Identifier: MIT */
/*
 * Sleeping and waking: the wait primitive, and what is built on it. Wakers hold
 * the same lock as waiters, so no wake-up is lost; it is taken before the
 * scheduler's locks.
 */
#ifndef KERNEL_SYNC_H
#define KERNEL_SYNC_H

#include "../sched/sched.h"
#include "lib/list.h"

/* Sleeps on `waiters` until somebody wakes this very entry. lock is held on
 * entry and return, and let go meanwhile. First come, first woken. (sync) */
void wait_on(struct list *waiters, struct env_lock *lock);

/* Wakes the first waiter; false when there is none. Lock held. flags: enum
 * sched_wake_flags. (sync) */
bool wake_first(struct list *waiters, u32 flags);

/* Wakes all; returns how many. Lock held. (sync) */
u32 wake_all(struct list *waiters, u32 flags);

struct semaphore {
	struct env_lock lock;
	u32 count;
	struct list waiters;
};

void sem_init(struct semaphore *s, const char *name, u32 id, u32 count);
void sem_down(struct semaphore *s); /* (sync), sleeps while the count is 0 */
void sem_up(struct semaphore *s);   /* (sync), wakes one, no sync hint */

/* Handed from owner to the first waiter: nobody overtakes. */
struct mutex {
	struct env_lock lock;
	struct task *owner;     /* lock to change; watchers read it */
	struct list waiters;
	u64 sleeps;             /* times that a task slept on it; lock to change */
	u32 watch_ns, look_ns;  /* mutex_watch() */
};

void mutex_init(struct mutex *m, const char *name, u32 id);

/* From now on who finds m busy watches it for watch_ns, looking every look_ns > 0,
 * before it sleeps. A mutex that others sleep on is handed over, never free. */
void mutex_watch(struct mutex *m, u32 watch_ns, u32 look_ns);

void mutex_lock(struct mutex *m);   /* (sync), sleeps; not recursive */
void mutex_unlock(struct mutex *m); /* (sync) */

/* Opens once, for everybody. */
struct gate {
	struct env_lock lock;
	bool open;
	struct list waiters;
};

void gate_init(struct gate *g, const char *name, u32 id);
void gate_wait(struct gate *g); /* (sync), sleeps until it is open */
void gate_open(struct gate *g); /* (sync), wakes all, no sync hint */

/* A task's futex word, as programs use it to sleep until somebody posts: who posts
 * to a task that is not about to sleep enters no system call. Posts do not add up. */
struct futex {
	struct env_lock lock;
	struct env_line line;
	u32 blocked;
	struct list waiters;
};

void futex_init(struct futex *f, const char *name, u32 id);

/* From here on a post counts. The owner, before it looks at what it waits for. (sync) */
void futex_arm(struct futex *f);

/* Sleeps until somebody has posted since futex_arm(). (sync) */
void futex_wait(struct futex *f);

/* No sync hint. (sync) */
void futex_post(struct futex *f);

#endif
