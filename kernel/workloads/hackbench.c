/* SPDX-License-Identifier: MIT */
/*
 * hackbench and perf bench sched messaging: groups of senders and receivers, all
 * senders of a group writing to all its receivers (spec/workloads.md section 1).
 * A message carries its sender and number, so that losses and reordering show.
 */
#include "../channel.h"
#include "../lib/math64.h"
#include "ctx.h"

enum { P_GROUPS, P_LOOPS, P_MODE, P_IPC, P_FDS, P_BYTES, P_BURST };
enum { M_TIME, M_RATE };
enum { MODE_PROCESS, MODE_THREAD };

#define HACKBENCH_PARAMS(groups_, loops_)                                                          \
	[P_GROUPS] = { .name = "groups", .min = 1, .max = 10000, .tag = 'P', .def = groups_,       \
		       .help = "groups of 2 * fds tasks" },                                        \
	[P_LOOPS] = { .name = "loops", .min = 1, .max = 100000000, .tag = 'P', .def = loops_,      \
		      .help = "messages from each sender to each receiver of its group" },         \
	[P_MODE] = { .name = "mode", .kind = PARAM_WORD, .words = "process|thread", .tag = 'S',    \
		     .def = "process", .help = "an address space per task, or one for all" },      \
	[P_IPC] = { .name = "ipc", .kind = PARAM_WORD, .words = "pipe|socket", .tag = 'S',         \
		    .def = "socket", .help = "wake-up rules and capacity of the queues" },         \
	[P_FDS] = { .name = "fds", .min = 1, .max = 1000, .tag = 'S', .def = "20",                 \
		    .help = "senders, and receivers, of a group" },                                \
	[P_BYTES] = { .name = "bytes", .min = 1, .max = 65536, .tag = 'S', .def = "100",           \
		      .help = "size of a message" },                                               \
	[P_BURST] = { .name = "burst_ns", .min = 0, .max = 1000000000, .tag = 'G', .def = "500",   \
		      .help = "work per message on either side, apart from the copy" },

static const struct param_info hackbench_params[] = { HACKBENCH_PARAMS("1,2,4,8,16", "1000") };
static const struct param_info messaging_params[] = { HACKBENCH_PARAMS("10", "100") };

static const struct metric_info hackbench_metrics[] = {
	[M_TIME] = { "time_s", 9, METRIC_LOWER, "from the start event to the last exit" },
	[M_RATE] = { "messages_per_s", 0, METRIC_HIGHER, "messages read per second" },
};

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

struct hackbench {
	struct semaphore ready;
	struct gate start;
	u32 fds, bytes;
	u64 loops, burst_ns;
	struct group *group;
};

static struct hackbench hb; /* of the run */

static void report_ready(void)
{
	wl_start_delay();
	sem_up(&hb.ready);
	gate_wait(&hb.start);
}

static void sender_main(void *arg)
{
	struct member *m = arg;

	report_ready();
	for (u64 i = 0; i < hb.loops; i++)
		for (u32 q = 0; q < hb.fds; q++) {
			task_burn(wl_vary(m->ctx, hb.burst_ns));
			channel_write(&m->group->queue[q], (u64)m->index << 32 | (u32)i, hb.bytes);
		}
}

static void receiver_main(void *arg)
{
	struct member *m = arg;
	u64 wanted = hb.loops * hb.fds;

	report_ready();
	while (m->received < wanted) {
		u64 message = channel_read(&m->group->queue[m->index], hb.bytes);
		u32 from = (u32)(message >> 32);

		if ((u32)message != (u32)m->next[from])
			m->disordered++;
		m->next[from]++;
		m->received++;
		task_burn(wl_vary(m->ctx, hb.burst_ns));
	}
}

static void group_start(struct wl_ctx *ctx, u32 g)
{
	struct group *group = &hb.group[g];
	bool process = param_num(ctx->v, P_MODE) == MODE_PROCESS;

	group->queue = arena_alloc(ctx->arena, hb.fds * sizeof(*group->queue));
	group->sender = arena_alloc(ctx->arena, hb.fds * sizeof(*group->sender));
	group->receiver = arena_alloc(ctx->arena, hb.fds * sizeof(*group->receiver));
	for (u32 i = 0; i < hb.fds; i++)
		channel_init(&group->queue[i], (enum channel_kind)param_num(ctx->v, P_IPC),
			     hb.bytes, "queue", g * hb.fds + i, ctx->arena);
	for (u32 i = 0; i < 2 * hb.fds; i++) {
		bool sends = i >= hb.fds;
		struct member *m = sends ? &group->sender[i - hb.fds] : &group->receiver[i];
		struct task_attr attr = { .name = sends ? "sender" : "receiver",
					  .mm = process ? task_new_mm() : 0 };

		*m = (struct member){ ctx, group, sends ? i - hb.fds : i, NULL, 0, 0 };
		if (!sends)
			m->next = arena_alloc(ctx->arena, hb.fds * sizeof(*m->next));
		task_fork(&attr, sends ? sender_main : receiver_main, m);
	}
}

static void check_messages(struct wl_ctx *ctx, u32 groups)
{
	u64 received = 0, disordered = 0, wanted = groups * hb.loops * hb.fds * hb.fds;

	for (u32 g = 0; g < groups; g++)
		for (u32 i = 0; i < hb.fds; i++) {
			received += hb.group[g].receiver[i].received;
			disordered += hb.group[g].receiver[i].disordered;
		}
	wl_check(ctx, received == wanted, "%llu messages read of %llu sent",
		 (unsigned long long)received, (unsigned long long)wanted);
	wl_check(ctx, !disordered, "%llu messages out of order", (unsigned long long)disordered);
	ctx->metric[M_RATE] = (s64)muldiv_u64(received, 1000000000, ctx->end_ns - ctx->begin_ns);
}

static int hackbench_run(struct wl_ctx *ctx)
{
	u32 groups = (u32)param_num(ctx->v, P_GROUPS);
	u64 wakeups, sync, plain, tasks;

	hb = (struct hackbench){ .fds = (u32)param_num(ctx->v, P_FDS),
				 .bytes = (u32)param_num(ctx->v, P_BYTES),
				 .loops = (u64)param_num(ctx->v, P_LOOPS),
				 .burst_ns = (u64)param_num(ctx->v, P_BURST) };
	tasks = 2ull * groups * hb.fds;
	sem_init(&hb.ready, "ready", 0, 0);
	gate_init(&hb.start, "start", 0);
	hb.group = arena_alloc(ctx->arena, groups * sizeof(*hb.group));
	for (u32 g = 0; g < groups; g++)
		group_start(ctx, g);
	for (u64 i = 0; i < tasks; i++)
		sem_down(&hb.ready);

	wakeups = wl_counter(wakeups);
	sync = wl_counter(wakeups_sync);
	ctx->begin_ns = env_now();
	gate_open(&hb.start);
	task_wait_children();
	ctx->end_ns = env_now();

	ctx->metric[M_TIME] = (s64)(ctx->end_ns - ctx->begin_ns);
	check_messages(ctx, groups);
	/* Start and exit of each task wake without the hint, the rest hardly ever. */
	wakeups = wl_counter(wakeups) - wakeups;
	sync = wl_counter(wakeups_sync) - sync;
	plain = wakeups - sync;
	wl_check(ctx, plain <= 2 * tasks + wakeups / 20, "%llu of %llu wake-ups without sync hint",
		 (unsigned long long)plain, (unsigned long long)wakeups);
	return (int)ctx->checks_failed;
}

static const struct workload hackbench = {
	.name = "hackbench", .help = "groups of tasks that send to one another",
	.spec = "workloads.md section 1",
	.params = hackbench_params, .nr_params = ARRAY_SIZE(hackbench_params),
	.metrics = hackbench_metrics, .nr_metrics = ARRAY_SIZE(hackbench_metrics),
	.run = hackbench_run,
};
WORKLOAD(hackbench);

static const struct workload messaging = {
	.name = "messaging", .help = "hackbench with the defaults of perf bench sched messaging",
	.spec = "workloads.md section 1",
	.params = messaging_params, .nr_params = ARRAY_SIZE(messaging_params),
	.metrics = hackbench_metrics, .nr_metrics = ARRAY_SIZE(hackbench_metrics),
	.run = hackbench_run,
};
WORKLOAD(messaging);
