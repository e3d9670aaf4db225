/* SPDX-License-Identifier: MIT */
/*
 * How tasks wait for a log to be written: led by one of them, or by a task of its
 * own. Either wakes those that its write covers one after the other, without the
 * sync hint, from one CPU (spec/workloads.md sections 7 to 9).
 */
#ifndef WORKLOADS_COMMIT_H
#define WORKLOADS_COMMIT_H

#include "../../sched/sched.h"
#include "../lib/list.h"

/* Group commit: who finds no batch leads one, which others join until the leader's
 * write is done. */
struct group_commit {
	struct env_lock lock;
	struct list followers;
	bool open;
	u64 batches, joined; /* led, and members of all; lock to change */
};

void commit_init(struct group_commit *g, const char *name);

/* Returns when the batch that the calling task joined is written, which takes io_ns
 * from its first member on. (sync) */
void commit_join(struct group_commit *g, u64 io_ns);

/* Each batch put its leader to sleep once, each other member too. */
static inline u64 commit_sleeps(const struct group_commit *g)
{
	return g->joined;
}

enum log_rule {
	LOG_GATHERED,  /* a write covers who had posted when it began */
	LOG_UP_TO_END, /* ... who has posted when it ends */
};

/* A task that writes for others; its users post until they leave. */
struct log_writer {
	struct env_lock lock;
	struct list posted;    /* users that no write covers yet */
	struct list covered;   /* by the write under way */
	struct list idle;      /* the writer, with nothing to write */
	enum log_rule rule;
	u32 users;             /* that have not left */
	u64 io_ns;
	u64 writes, posts, idled; /* so far; lock to change */
};

void log_init(struct log_writer *w, const char *name, enum log_rule rule, u64 io_ns, u32 users);
void log_post(struct log_writer *w);  /* sleeps until it is written. (sync) */
void log_leave(struct log_writer *w); /* the calling task posts no more. (sync) */

/* The writer's life, as a task's main; until all users have left. */
void log_writer_main(void *log_writer);

/* Of users and writer: a post, a write and idling are one each. */
static inline u64 log_sleeps(const struct log_writer *w)
{
	return w->posts + w->writes + w->idled;
}

#endif
