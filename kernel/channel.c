/* SPDX-License-Identifier: MIT */
/* Pipes and sockets. All their wake-ups carry the sync hint. */
#include "channel.h"

#include "sync.h"
#include "task.h"

/* spec/workloads.md section 1: a pipe has 16 pages, each holding whole messages;
 * a socket 212,992 bytes, of which a small message takes 768 with its overhead. */
#define PIPE_PAGES 16
#define PIPE_PAGE_BYTES 4096
#define SOCKET_BYTES 212992
#define SOCKET_OVERHEAD 668 /* 768 for a message of 100 */

static u32 capacity_for(enum channel_kind kind, u32 bytes)
{
	u32 n;

	if (kind == CHANNEL_PIPE && bytes <= PIPE_PAGE_BYTES)
		n = PIPE_PAGES * (PIPE_PAGE_BYTES / (bytes ? bytes : 1));
	else if (kind == CHANNEL_PIPE)
		n = PIPE_PAGES / ((bytes + PIPE_PAGE_BYTES - 1) / PIPE_PAGE_BYTES);
	else
		n = SOCKET_BYTES / (bytes + SOCKET_OVERHEAD);
	return n ? n : 1;
}

void channel_init(struct channel *c, enum channel_kind kind, u32 bytes, const char *name, u32 id,
		  struct arena *a)
{
	*c = (struct channel){ .kind = kind, .capacity = capacity_for(kind, bytes) };
	env_lock_init(&c->lock, LINE_WAITQ, name, id);
	list_init(&c->readers);
	list_init(&c->writers);
	c->ring = arena_alloc(a, c->capacity * sizeof(*c->ring));
}

/* Until woken. The lock is held. */
static void channel_wait(struct channel *c, struct list *waiters)
{
	counter_add(&c->sleeps, 1);
	wait_on(waiters, &c->lock);
}

void channel_write(struct channel *c, u64 message, u32 bytes)
{
	channel_send(c, message, bytes, 0);
}

void channel_send(struct channel *c, u64 message, u32 bytes, u32 flags)
{
	bool slept = false;

	task_syscall();
	task_copy(bytes);
	env_lock(&c->lock);
	while (c->used == c->capacity) {
		channel_wait(c, &c->writers);
		slept = true;
	}
	env_path_begin(PATH_PIPE_WRITE);
	c->ring[(c->head + c->used) % c->capacity] = message;
	c->used++;
	env_path_end(PATH_PIPE_WRITE);
	/* A pipe announces data only when it was empty; a socket to whoever sleeps. */
	if (c->kind == CHANNEL_SOCKET || c->used == 1)
		wake_first(&c->readers, WAKE_SYNC | flags);
	/* A pipe's reader woke one writer only: that one passes it on while it can. */
	if (c->kind == CHANNEL_PIPE && slept && c->used < c->capacity)
		wake_first(&c->writers, WAKE_SYNC);
	env_unlock(&c->lock);
}

u64 channel_read(struct channel *c, u32 bytes)
{
	bool slept = false, was_full;
	u64 message;

	task_syscall();
	env_lock(&c->lock);
	while (!c->used) {
		channel_wait(c, &c->readers);
		slept = true;
	}
	env_path_begin(PATH_PIPE_READ);
	was_full = c->used == c->capacity;
	message = c->ring[c->head];
	c->head = (c->head + 1) % c->capacity;
	c->used--;
	env_path_end(PATH_PIPE_READ);
	if (c->kind == CHANNEL_PIPE ? was_full : c->used * 4 <= c->capacity) {
		if (c->kind == CHANNEL_PIPE)
			wake_first(&c->writers, WAKE_SYNC);
		else
			wake_all(&c->writers, WAKE_SYNC);
	}
	if (c->kind == CHANNEL_PIPE && slept && c->used)
		wake_first(&c->readers, WAKE_SYNC);
	env_unlock(&c->lock);
	task_copy(bytes);
	return message;
}
