/* SPDX-License-Identifier: MIT */
/*
 * Bounded message queues between tasks, with the wake-up rules of pipes and of
 * UNIX sockets (spec/workloads.md section 1). A message is a number for the
 * self-checks; its bytes cost a copy on either side.
 */
#ifndef KERNEL_CHANNEL_H
#define KERNEL_CHANNEL_H

#include "../sched/sched.h"
#include "lib/list.h"

enum channel_kind { CHANNEL_PIPE, CHANNEL_SOCKET };

struct channel {
	enum channel_kind kind;
	struct env_lock lock;
	struct list readers, writers;
	u64 *ring;
	u32 capacity, used, head; /* messages */
	u64 sleeps;               /* of readers and writers; lock to change */
};

/* bytes: size of a message, which decides how many fit. */
void channel_init(struct channel *c, enum channel_kind kind, u32 bytes, const char *name, u32 id,
		  struct arena *a);

/* One system call each. bytes are copied; sleeps while full, or empty. (sync) */
void channel_write(struct channel *c, u64 message, u32 bytes);

/* With flags of enum sched_wake_flags besides for the reader that it wakes. (sync) */
void channel_send(struct channel *c, u64 message, u32 bytes, u32 flags);
u64 channel_read(struct channel *c, u32 bytes);

#endif
