/* SPDX-License-Identifier: MIT */
/* Waiting for a log to be written: see commit.h. */
#include "commit.h"

#include "../task.h"

/* ---- led by a member --------------------------------------------------------- */

void commit_init(struct group_commit *g, const char *name)
{
	*g = (struct group_commit){ .open = false };
	env_lock_init(&g->lock, LINE_WAITQ, name, 0);
	list_init(&g->followers);
}

void commit_join(struct group_commit *g, u64 io_ns)
{
	env_lock(&g->lock);
	counter_add(&g->joined, 1);
	if (g->open) {
		wait_on(&g->followers, &g->lock);
	} else {
		g->open = true;
		counter_add(&g->batches, 1);
		env_unlock(&g->lock);
		task_sleep_ns(io_ns);
		env_lock(&g->lock);
		g->open = false;
		wake_all(&g->followers, 0);
	}
	env_unlock(&g->lock);
}

/* ---- a task of its own ---------------------------------------------------------- */

void log_init(struct log_writer *w, const char *name, enum log_rule rule, u64 io_ns, u32 users)
{
	*w = (struct log_writer){ .rule = rule, .io_ns = io_ns, .users = users };
	env_lock_init(&w->lock, LINE_WAITQ, name, 0);
	list_init(&w->posted);
	list_init(&w->covered);
	list_init(&w->idle);
}

void log_post(struct log_writer *w)
{
	env_lock(&w->lock);
	counter_add(&w->posts, 1);
	wake_first(&w->idle, 0);
	wait_on(&w->posted, &w->lock);
	env_unlock(&w->lock);
}

void log_leave(struct log_writer *w)
{
	env_lock(&w->lock);
	if (!--w->users)
		wake_first(&w->idle, 0);
	env_unlock(&w->lock);
}

/* Those who have posted are covered: the wake-up finds them on the other list. */
static void gather(struct log_writer *w)
{
	while (!list_empty(&w->posted)) {
		struct list *first = w->posted.next;

		list_del(first);
		list_add_tail(&w->covered, first);
	}
}

void log_writer_main(void *log_writer)
{
	struct log_writer *w = log_writer;

	env_lock(&w->lock);
	while (w->users || !list_empty(&w->posted)) {
		if (list_empty(&w->posted)) {
			counter_add(&w->idled, 1);
			wait_on(&w->idle, &w->lock);
			continue;
		}
		counter_add(&w->writes, 1);
		if (w->rule == LOG_GATHERED)
			gather(w);
		env_unlock(&w->lock);
		task_sleep_ns(w->io_ns);
		env_lock(&w->lock);
		if (w->rule == LOG_UP_TO_END)
			gather(w);
		wake_all(&w->covered, 0);
	}
	env_unlock(&w->lock);
}
