/* SPDX-License-Identifier: MIT */
/* Pairs over a loopback connection: see pair.h. */
#include "pair.h"

#define LAST_REQUEST (~0ull)

/* A message is its trip and its size. */
static void send(struct pair *p, struct channel *c, struct pair_side *side, u64 trip, u32 bytes)
{
	counter_add(&side->sent, bytes);
	channel_send(c, trip << 32 | bytes, bytes,
		     p->kind->wake_flags ? p->kind->wake_flags(p) : 0);
}

/* The trip, or LAST_REQUEST. The size is known only from the message. */
static u64 receive(struct channel *c, struct pair_side *side)
{
	u64 message = channel_read(c, 0);

	if (message == LAST_REQUEST)
		return message;
	task_copy((u32)message);
	counter_add(&side->received, (u32)message);
	return message >> 32;
}

static void client_main(void *arg)
{
	struct pair *p = arg;

	wl_start_delay();
	for (u64 i = 0; !wl_stopped(p->ctx); i++) {
		send(p, &p->there, &p->client, i, p->kind->request(p, i));
		if (receive(&p->back, &p->client) != i)
			p->wrong++;
		if (p->kind->done)
			p->kind->done(p, i);
		counter_add(&p->trips, 1);
	}
	channel_write(&p->there, LAST_REQUEST, 0);
}

static void server_main(void *arg)
{
	struct pair *p = arg;
	u64 trip;

	while ((trip = receive(&p->there, &p->server)) != LAST_REQUEST)
		send(p, &p->back, &p->server, trip, p->kind->reply(p, trip));
}

void pairs_start(struct pairs *ps, struct wl_ctx *ctx, const struct pair_kind *kind, u32 n,
		 u32 clients_mm, u32 servers_mm)
{
	*ps = (struct pairs){ .ctx = ctx, .n = n };
	ps->pair = arena_alloc(ctx->arena, n * sizeof(*ps->pair));
	for (u32 i = 0; i < n; i++) {
		struct pair *p = &ps->pair[i];
		struct task_attr client = { .name = "client", .unit = i + 1,
					    .footprint_kb = kind->footprint_kb,
					    .mm = clients_mm ? clients_mm : task_new_mm() };
		struct task_attr server = { .name = "server", .unit = i + 1,
					    .footprint_kb = kind->footprint_kb,
					    .mm = servers_mm ? servers_mm : task_new_mm() };

		p->ctx = ctx;
		p->kind = kind;
		p->index = i;
		channel_init(&p->there, CHANNEL_SOCKET, kind->bytes, "there", i, ctx->arena);
		channel_init(&p->back, CHANNEL_SOCKET, kind->bytes, "back", i, ctx->arena);
		task_fork(&server, server_main, p);
		task_fork(&client, client_main, p);
	}
}

u64 pairs_trips(const struct pairs *ps)
{
	u64 trips = 0;

	for (u32 i = 0; i < ps->n; i++)
		trips += __atomic_load_n(&ps->pair[i].trips, __ATOMIC_RELAXED);
	return trips;
}

/* Counted where they arrive. */
static u64 pairs_bytes(const struct pairs *ps)
{
	u64 bytes = 0;

	for (u32 i = 0; i < ps->n; i++)
		bytes += __atomic_load_n(&ps->pair[i].server.received, __ATOMIC_RELAXED) +
			 __atomic_load_n(&ps->pair[i].client.received, __ATOMIC_RELAXED);
	return bytes;
}

void pairs_edge(struct pairs *ps)
{
	ps->bytes = pairs_bytes(ps) - ps->bytes;
	ps->trips = pairs_trips(ps) - ps->trips;
	ps->wakeups = wl_counter(wakeups) - ps->wakeups;
	ps->migrations = wl_counter(wake_migrations) - ps->migrations;
	ps->imposed = wl_counter(wake_imposed) - ps->imposed;
}

u64 pairs_socket_sleeps(const struct pairs *ps)
{
	u64 sleeps = 0;

	for (u32 i = 0; i < ps->n; i++)
		sleeps += __atomic_load_n(&ps->pair[i].there.sleeps, __ATOMIC_RELAXED) +
			  __atomic_load_n(&ps->pair[i].back.sleeps, __ATOMIC_RELAXED);
	return sleeps;
}

u64 pairs_sleeps(const struct pairs *ps)
{
	return pairs_socket_sleeps(ps) + ps->n; /* each client's delayed start */
}

void pairs_check(const struct pairs *ps)
{
	u64 trips = pairs_trips(ps), reads = 2 * trips + ps->n, wrong = 0, sent = 0;
	u64 sleeps = pairs_socket_sleeps(ps), received = pairs_bytes(ps);

	for (u32 i = 0; i < ps->n; i++) {
		wrong += ps->pair[i].wrong;
		sent += ps->pair[i].client.sent + ps->pair[i].server.sent;
	}
	wl_check(ps->ctx, !wrong, "%llu replies to another request", (unsigned long long)wrong);
	wl_check(ps->ctx, received == sent, "%llu bytes received of %llu sent",
		 (unsigned long long)received, (unsigned long long)sent);
	wl_check(ps->ctx, trips > 0, "no round trip finished");
	wl_check(ps->ctx, sleeps <= reads, "%llu sleeps in %llu reads of a message",
		 (unsigned long long)sleeps, (unsigned long long)reads);
	/* On one CPU the wakee may preempt the writer before that blocks, which saves
	 * its sleep; never both of a pair that is alone. */
	if (ps->n == 1)
		wl_check(ps->ctx, sleeps >= trips, "%llu sleeps in %llu round trips",
			 (unsigned long long)sleeps, (unsigned long long)trips);
}
