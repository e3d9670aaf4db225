/* SPDX-License-Identifier: MIT */
/*
 * Pairs of tasks over a loopback connection (spec/workloads.md section 4): the client
 * works, writes a request and blocks for the reply; the server blocks for a request,
 * works and replies. Every write is a sync wake-up of a peer that sleeps.
 */
#ifndef WORKLOADS_PAIR_H
#define WORKLOADS_PAIR_H

#include "../channel.h"
#include "ctx.h"

/* What a side moved, in bytes; changed by that side only. */
struct pair_side {
	u64 sent, received;
};

struct pair {
	struct wl_ctx *ctx;
	const struct pair_kind *kind;
	u32 index;
	struct channel there, back;
	struct pair_side client, server;
	u64 trips; /* finished */
	u64 wrong; /* replies to another request */
};

/* What the two do besides, in the trip-th round trip (from 0). request and reply
 * return the size of the message that they are about to send. */
struct pair_kind {
	u32 bytes; /* of the largest message, for the connection's capacity */
	u32 (*request)(struct pair *p, u64 trip); /* client, before it writes */
	u32 (*reply)(struct pair *p, u64 trip);   /* server, before it writes */
	void (*done)(struct pair *p, u64 trip);   /* client, when it has read; may be NULL */
	u32 (*wake_flags)(struct pair *p); /* either side, for the other's wake-up; may be NULL */
	u32 footprint_kb;                  /* of each task's cache content */
};

/* All pairs of a run. */
struct pairs {
	struct wl_ctx *ctx;
	struct pair *pair;
	u32 n;
	/* Of the window; before its end: at its begin. */
	u64 trips, bytes, wakeups, migrations, imposed;
};

/* Forks n pairs, on their way when this returns, until wl_stopped(). An address
 * space for all clients or servers; 0: one for each. (sync) */
void pairs_start(struct pairs *ps, struct wl_ctx *ctx, const struct pair_kind *kind, u32 n,
		 u32 clients_mm, u32 servers_mm);

/* The window's edges: the first time notes, the second takes the difference. */
void pairs_edge(struct pairs *ps);

/* Sleeps of all pairs, or only of those that waited for a message; after they ended,
 * or while they run. */
u64 pairs_sleeps(const struct pairs *ps);
u64 pairs_socket_sleeps(const struct pairs *ps);

/* Round trips since the start. */
u64 pairs_trips(const struct pairs *ps);

/* After the run: each trip got its own reply, one was finished, all bytes arrived,
 * and the pairs slept no more often than they read; one that is alone, in each trip. */
void pairs_check(const struct pairs *ps);

#endif
