/* SPDX-License-Identifier: MIT */
/* Wait lists, semaphore, mutex, gate. */
#include "sync.h"

#include "task.h"

void wait_on(struct list *waiters, struct env_lock *lock)
{
	struct task *t = task_self();

	env_path_begin(PATH_WAIT);
	list_add_tail(waiters, &t->wait_entry);
	__atomic_store_n(&t->waits_for, lock, __ATOMIC_RELAXED);
	env_path_end(PATH_WAIT);
	/* The waker takes t off the list under the lock; until then every return
	 * from the switch is a preemption or a wake-up meant for something else. */
	while (!list_empty(&t->wait_entry)) {
		sched_set_state(the_sched, TASK_SLEEPING);
		env_unlock(lock);
		task_schedule(false);
		env_lock(lock);
	}
	__atomic_store_n(&t->waits_for, NULL, __ATOMIC_RELAXED);
}

bool wake_first(struct list *waiters, u32 flags)
{
	struct task *t;

	if (list_empty(waiters))
		return false;
	env_path_begin(PATH_WAKE_QUEUE);
	t = list_first(waiters, struct task, wait_entry);
	list_del(&t->wait_entry);
	env_path_end(PATH_WAKE_QUEUE);
	sched_wake(the_sched, &t->st, flags);
	return true;
}

u32 wake_all(struct list *waiters, u32 flags)
{
	u32 n = 0;

	while (wake_first(waiters, flags))
		n++;
	return n;
}

/* ---- semaphore ------------------------------------------------------------ */

void sem_init(struct semaphore *s, const char *name, u32 id, u32 count)
{
	env_lock_init(&s->lock, LINE_WAITQ, name, id);
	s->count = count;
	list_init(&s->waiters);
}

void sem_down(struct semaphore *s)
{
	env_lock(&s->lock);
	while (!s->count)
		wait_on(&s->waiters, &s->lock);
	s->count--;
	env_unlock(&s->lock);
}

void sem_up(struct semaphore *s)
{
	env_lock(&s->lock);
	s->count++;
	wake_first(&s->waiters, 0);
	env_unlock(&s->lock);
}

/* ---- mutex ------------------------------------------------------------------ */

void mutex_init(struct mutex *m, const char *name, u32 id)
{
	env_lock_init(&m->lock, LINE_WAITQ, name, id);
	m->owner = NULL;
	m->sleeps = 0;
	m->watch_ns = m->look_ns = 0;
	list_init(&m->waiters);
}

void mutex_watch(struct mutex *m, u32 watch_ns, u32 look_ns)
{
	m->watch_ns = watch_ns;
	m->look_ns = look_ns;
}

/* Takes CPU time as work does, until m is free or watch_ns of it are spent. */
static void watch(struct mutex *m)
{
	for (u32 spent_ns = 0; spent_ns < m->watch_ns; spent_ns += m->look_ns) {
		task_burn(m->look_ns);
		env_line_read(&m->lock.line);
		if (!__atomic_load_n(&m->owner, __ATOMIC_RELAXED))
			break;
	}
}

static void set_owner(struct mutex *m, struct task *t)
{
	__atomic_store_n(&m->owner, t, __ATOMIC_RELAXED);
}

void mutex_lock(struct mutex *m)
{
	struct task *self = task_self();

	env_lock(&m->lock);
	panic_unless(m->owner != self, "mutex %s %u: task %u takes it twice", m->lock.name,
		     m->lock.id, self->st.id);
	if (m->owner && m->watch_ns) {
		env_unlock(&m->lock);
		watch(m);
		env_lock(&m->lock);
	}
	if (m->owner) {
		counter_add(&m->sleeps, 1);
		wait_on(&m->waiters, &m->lock); /* the owner made it ours */
	} else {
		set_owner(m, self);
	}
	env_unlock(&m->lock);
}

void mutex_unlock(struct mutex *m)
{
	env_lock(&m->lock);
	panic_unless(m->owner == task_self(), "mutex %s %u: unlocked by task %u", m->lock.name,
		     m->lock.id, task_self()->st.id);
	set_owner(m, list_empty(&m->waiters)
			     ? NULL
			     : list_first(&m->waiters, struct task, wait_entry));
	wake_first(&m->waiters, 0);
	env_unlock(&m->lock);
}

/* ---- gate --------------------------------------------------------------------- */

void gate_init(struct gate *g, const char *name, u32 id)
{
	env_lock_init(&g->lock, LINE_WAITQ, name, id);
	g->open = false;
	list_init(&g->waiters);
}

void gate_wait(struct gate *g)
{
	env_lock(&g->lock);
	if (!g->open)
		wait_on(&g->waiters, &g->lock);
	env_unlock(&g->lock);
}

void gate_open(struct gate *g)
{
	env_lock(&g->lock);
	g->open = true;
	wake_all(&g->waiters, 0);
	env_unlock(&g->lock);
}

/* ---- futex -------------------------------------------------------------------- */

void futex_init(struct futex *f, const char *name, u32 id)
{
	env_lock_init(&f->lock, LINE_WAITQ, name, id);
	env_line_init(&f->line, LINE_USER);
	f->blocked = 0;
	list_init(&f->waiters);
}

void futex_arm(struct futex *f)
{
	env_line_write(&f->line);
	__atomic_store_n(&f->blocked, 1, __ATOMIC_SEQ_CST);
}

void futex_wait(struct futex *f)
{
	for (;;) {
		env_line_read(&f->line);
		if (!__atomic_load_n(&f->blocked, __ATOMIC_ACQUIRE))
			return;
		task_syscall();
		env_lock(&f->lock);
		/* A poster clears the word first, and takes the lock then. */
		if (__atomic_load_n(&f->blocked, __ATOMIC_ACQUIRE))
			wait_on(&f->waiters, &f->lock);
		env_unlock(&f->lock);
	}
}

void futex_post(struct futex *f)
{
	env_line_write(&f->line);
	if (!__atomic_exchange_n(&f->blocked, 0, __ATOMIC_SEQ_CST))
		return;
	task_syscall();
	env_lock(&f->lock);
	wake_first(&f->waiters, 0);
	env_unlock(&f->lock);
}
