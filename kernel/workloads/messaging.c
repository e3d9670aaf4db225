/* SPDX-License-Identifier: MIT */
/* Groups of senders and receivers: see messaging.h. A message carries its sender and
 * number, so that losses and reordering show. */
#include "messaging.h"

#include "../lib/math64.h"

struct group;

struct member {
	struct wl_ctx *ctx;
	struct group *group;
	u32 index;         /* within the group's senders or receivers */
	u64 *next;         /* receivers: number expected from each sender */
	u64 received, disordered;
};

struct group {
	struct channel *queue;     /* [fds], one per receiver */
	struct member *sender, *receiver;
};

static struct {
	struct messaging_config cfg;
	struct semaphore ready;
	struct gate start;
	struct group *group;
} msg; /* of the run */

static void report_ready(void)
{
	wl_start_delay();
	sem_up(&msg.ready);
	gate_wait(&msg.start);
}

static void sender_main(void *arg)
{
	struct member *m = arg;

	report_ready();
	for (u64 i = 0; i < msg.cfg.loops; i++)
		for (u32 q = 0; q < msg.cfg.fds; q++) {
			task_burn(wl_vary(m->ctx, msg.cfg.burst_ns));
			channel_write(&m->group->queue[q], (u64)m->index << 32 | (u32)i,
				      msg.cfg.bytes);
		}
}

static void receiver_main(void *arg)
{
	struct member *m = arg;
	u64 wanted = msg.cfg.loops * msg.cfg.fds;

	report_ready();
	while (m->received < wanted) {
		u64 message = channel_read(&m->group->queue[m->index], msg.cfg.bytes);
		u32 from = (u32)(message >> 32);

		if ((u32)message != (u32)m->next[from])
			m->disordered++;
		m->next[from]++;
		m->received++;
		task_burn(wl_vary(m->ctx, msg.cfg.burst_ns));
	}
}

static void group_start(struct wl_ctx *ctx, u32 g)
{
	struct group *group = &msg.group[g];

	group->queue = arena_alloc(ctx->arena, msg.cfg.fds * sizeof(*group->queue));
	group->sender = arena_alloc(ctx->arena, msg.cfg.fds * sizeof(*group->sender));
	group->receiver = arena_alloc(ctx->arena, msg.cfg.fds * sizeof(*group->receiver));
	for (u32 i = 0; i < msg.cfg.fds; i++)
		channel_init(&group->queue[i], msg.cfg.ipc, msg.cfg.bytes, "queue",
			     g * msg.cfg.fds + i, ctx->arena);
	for (u32 i = 0; i < 2 * msg.cfg.fds; i++) {
		bool sends = i >= msg.cfg.fds;
		struct member *m = sends ? &group->sender[i - msg.cfg.fds] : &group->receiver[i];
		struct task_attr attr = { .name = sends ? "sender" : "receiver", .unit = g + 1,
					  .mm = msg.cfg.process ? task_new_mm() : 0 };

		*m = (struct member){ ctx, group, sends ? i - msg.cfg.fds : i, NULL, 0, 0 };
		if (!sends)
			m->next = arena_alloc(ctx->arena, msg.cfg.fds * sizeof(*m->next));
		task_fork(&attr, sends ? sender_main : receiver_main, m);
	}
}

void messaging_start(struct wl_ctx *ctx, const struct messaging_config *cfg)
{
	msg.cfg = *cfg;
	sem_init(&msg.ready, "ready", 0, 0);
	gate_init(&msg.start, "start", 0);
	msg.group = arena_alloc(ctx->arena, cfg->groups * sizeof(*msg.group));
	for (u32 g = 0; g < cfg->groups; g++)
		group_start(ctx, g);
	for (u64 i = 0; i < 2ull * cfg->groups * cfg->fds; i++)
		sem_down(&msg.ready);
}

static u64 check_messages(struct wl_ctx *ctx)
{
	u64 received = 0, disordered = 0;
	u64 wanted = msg.cfg.groups * msg.cfg.loops * msg.cfg.fds * msg.cfg.fds;

	for (u32 g = 0; g < msg.cfg.groups; g++)
		for (u32 i = 0; i < msg.cfg.fds; i++) {
			for (u32 from = 0; from < msg.cfg.fds; from++)
				received += msg.group[g].receiver[i].next[from];
			disordered += msg.group[g].receiver[i].disordered;
		}
	wl_check(ctx, received == wanted, "%llu messages read of %llu sent",
		 (unsigned long long)received, (unsigned long long)wanted);
	wl_check(ctx, !disordered, "%llu messages out of order", (unsigned long long)disordered);
	return received;
}

u64 messaging_go(struct wl_ctx *ctx)
{
	u64 wakeups = wl_counter(wakeups), sync = wl_counter(wakeups_sync), plain;
	u64 tasks = 2ull * msg.cfg.groups * msg.cfg.fds;

	ctx->begin_ns = env_now();
	gate_open(&msg.start);
	task_wait_children();
	ctx->end_ns = env_now();
	/* Start and exit of each task wake without the hint, the rest hardly ever. */
	wakeups = wl_counter(wakeups) - wakeups;
	sync = wl_counter(wakeups_sync) - sync;
	plain = wakeups - sync;
	wl_check(ctx, plain <= 2 * tasks + wakeups / 20, "%llu of %llu wake-ups without sync hint",
		 (unsigned long long)plain, (unsigned long long)wakeups);
	return muldiv_u64(check_messages(ctx), 1000000000, ctx->end_ns - ctx->begin_ns);
}
