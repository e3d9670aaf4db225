/* SPDX-License-Identifier: MIT */
/*
 * Groups of senders and receivers, all senders of a group writing to all its
 * receivers (spec/workloads.md section 1): what hackbench is, and what others put
 * beside a load. One set of groups at a time.
 */
#ifndef WORKLOADS_MESSAGING_H
#define WORKLOADS_MESSAGING_H

#include "../channel.h"
#include "ctx.h"

struct messaging_config {
	u32 groups, fds, bytes;  /* fds: senders, and receivers, of a group */
	u64 loops, burst_ns;
	bool process;            /* an address space per task */
	enum channel_kind ipc;
};

/* Forks all tasks from the calling one, and waits until they are ready. (sync) */
void messaging_start(struct wl_ctx *ctx, const struct messaging_config *cfg);

/* The start event; returns when all children of the calling task have exited. Sets
 * the window, checks that no message was lost and that wake-ups were sync. Returns
 * messages read per second. (sync) */
u64 messaging_go(struct wl_ctx *ctx);

#endif
