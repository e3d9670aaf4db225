/* SPDX-License-Identifier: MIT */
/*
 * netperf TCP_STREAM (spec/workloads.md section 6): a sender that writes blocks
 * without end into a window, a receiver that drains it. Data wakes the receiver with
 * the sync hint, space wakes the sender without it, and only once a third is free.
 */
#include "../lib/math64.h"
#include "nr_pct.h"
#include "work.h"

enum { P_NR, P_BLOCK, P_WINDOW, P_WORK };
enum { M_RATE, M_MIGRATIONS, M_ALL, M_MOVED, M_WAKEUPS };

static const struct param_info tcp_stream_params[] = {
	[P_NR] = NR_PCT_PARAM,
	[P_BLOCK] = { .name = "block_kb", .min = 1, .max = 64, .tag = 'S', .def = "16",
		      .help = "size of a write, and of the largest read" },
	[P_WINDOW] = { .name = "window_kb", .min = 1, .max = 65536, .tag = 'G', .def = "128",
		       .help = "what a connection holds; at least a block" },
	/* Bursts last 20 to 200 us: a sender woken with three of eight blocks free, the
	 * shortest, is above that from 7 us a block on; eight blocks then take 64 us. */
	[P_WORK] = { .name = "block_us", .min = 0, .max = 1000000, .tag = 'G', .def = "8",
		     .help = "work per block on either side, in the kernel, apart from the copy" },
};

static const struct metric_info tcp_stream_metrics[] = {
	[M_RATE] = { "mb_per_s", 3, METRIC_HIGHER, "10^6 bits per second of one instance" },
	[M_MIGRATIONS] = { "migrations_per_wakeup", 4, METRIC_LOWER,
			   "wake-ups that moved the task off its CPU, of all" },
	[M_ALL] = { "all_mb_per_s", 3, METRIC_HIGHER, "of all instances" },
	[M_MOVED] = { "kb_per_wakeup", 3, METRIC_HIGHER, "received for each wake-up" },
	[M_WAKEUPS] = { "wakeups_per_s", 0, METRIC_HIGHER, "of the machine" },
};

/* A connection. Under its lock, but for ctx. */
struct stream {
	struct wl_ctx *ctx;
	struct env_lock lock;
	struct list receiver, sender; /* asleep: one each at most */
	u32 used;                     /* bytes on the way */
	bool closed;
	u64 sent, received, sleeps;   /* read anywhere */
};

static struct {
	struct stream *stream;
	u32 n, block, window; /* bytes */
	u64 work_ns;
	/* Of the window; before its end: at its begin. */
	u64 received, wakeups, migrations;
} ts;

/* The lock is held. */
static void stream_wait(struct stream *s, struct list *waiters)
{
	counter_add(&s->sleeps, 1);
	wait_on(waiters, &s->lock);
}

static void stream_write(struct stream *s)
{
	task_syscall();
	task_copy(ts.block);
	wl_kspin(s->ctx, wl_vary(s->ctx, ts.work_ns));
	env_lock(&s->lock);
	while (s->used + ts.block > ts.window)
		stream_wait(s, &s->sender);
	env_path_begin(PATH_PIPE_WRITE);
	s->used += ts.block;
	counter_add(&s->sent, ts.block);
	env_path_end(PATH_PIPE_WRITE);
	wake_first(&s->receiver, WAKE_SYNC);
	env_unlock(&s->lock);
}

/* Returns the bytes; 0: closed, and nothing left. */
static u32 stream_read(struct stream *s)
{
	u32 bytes;

	task_syscall();
	env_lock(&s->lock);
	while (!s->used && !s->closed)
		stream_wait(s, &s->receiver);
	env_path_begin(PATH_PIPE_READ);
	bytes = s->used < ts.block ? s->used : ts.block;
	s->used -= bytes;
	counter_add(&s->received, bytes);
	env_path_end(PATH_PIPE_READ);
	/* A third free, or room for a block where that is more. */
	if (3 * (ts.window - s->used) >= ts.window && ts.window - s->used >= ts.block)
		wake_first(&s->sender, 0);
	env_unlock(&s->lock);
	task_copy(bytes);
	wl_kspin(s->ctx, wl_vary(s->ctx, ts.work_ns * bytes / ts.block));
	return bytes;
}

static void sender_main(void *arg)
{
	struct stream *s = arg;

	wl_start_delay();
	while (!wl_stopped(s->ctx))
		stream_write(s);
	env_lock(&s->lock);
	s->closed = true;
	wake_first(&s->receiver, WAKE_SYNC);
	env_unlock(&s->lock);
}

static void receiver_main(void *arg)
{
	struct stream *s = arg;

	while (stream_read(s))
		;
}

static u64 sum(size_t member)
{
	u64 all = 0;

	for (u32 i = 0; i < ts.n; i++)
		all += __atomic_load_n((u64 *)((char *)&ts.stream[i] + member), __ATOMIC_RELAXED);
	return all;
}

#define stream_sum(member) sum(offsetof(struct stream, member))

static void window_edge(struct wl_ctx *ctx)
{
	(void)ctx;
	ts.received = stream_sum(received) - ts.received;
	ts.wakeups = wl_counter(wakeups) - ts.wakeups;
	ts.migrations = wl_counter(wake_migrations) - ts.migrations;
}

static void start(struct wl_ctx *ctx)
{
	ts.stream = arena_alloc(ctx->arena, ts.n * sizeof(*ts.stream));
	for (u32 i = 0; i < ts.n; i++) {
		struct stream *s = &ts.stream[i];
		struct task_attr receiver = { .name = "receiver", .mm = task_new_mm(),
					      .unit = i + 1 };
		struct task_attr sender = { .name = "sender", .mm = task_new_mm(),
					    .unit = i + 1 };

		s->ctx = ctx;
		env_lock_init(&s->lock, LINE_WAITQ, "stream", i);
		list_init(&s->receiver);
		list_init(&s->sender);
		task_fork(&receiver, receiver_main, s);
		task_fork(&sender, sender_main, s);
	}
}

/* Section 14, check 5, and that nothing was lost. */
static void check(struct wl_ctx *ctx)
{
	u64 sent = stream_sum(sent), received = stream_sum(received);
	/* A block wakes its receiver at most once, and its room the sender. */
	u64 least = ts.block / 2 < 8192 ? ts.block / 2 : 8192;

	wl_check(ctx, sent && sent == received, "%llu bytes received of %llu sent",
		 (unsigned long long)received, (unsigned long long)sent);
	wl_check_wakeups(ctx, stream_sum(sleeps) + ts.n, 2 * ts.n);
	wl_check(ctx, ts.received >= least * ts.wakeups, "%llu bytes moved in %llu wake-ups",
		 (unsigned long long)ts.received, (unsigned long long)ts.wakeups);
}

static int tcp_stream_run(struct wl_ctx *ctx)
{
	u64 window_ns;

	ts.n = nr_pct_instances(ctx, P_NR);
	ts.block = (u32)param_num(ctx->v, P_BLOCK) * 1024;
	ts.window = (u32)param_num(ctx->v, P_WINDOW) * 1024;
	ts.window = ts.window < ts.block ? ts.block : ts.window;
	ts.work_ns = (u64)param_num(ctx->v, P_WORK) * 1000;
	ts.received = ts.wakeups = ts.migrations = 0;
	start(ctx);
	wl_timed_window(ctx, window_edge, window_edge);
	task_wait_children();
	window_ns = ctx->end_ns - ctx->begin_ns;
	ctx->metric[M_RATE] = (s64)muldiv_u64(ts.received, 8000000, window_ns * ts.n);
	ctx->metric[M_ALL] = (s64)muldiv_u64(ts.received, 8000000, window_ns);
	ctx->metric[M_MIGRATIONS] =
		ts.wakeups ? (s64)muldiv_u64(ts.migrations, 10000, ts.wakeups) : 0;
	ctx->metric[M_MOVED] = wl_per(ts.received / 1024, ts.wakeups);
	ctx->metric[M_WAKEUPS] = wl_per_s(ctx, ts.wakeups);
	check(ctx);
	return (int)ctx->checks_failed;
}

static const struct workload tcp_stream = {
	.name = "tcp_stream", .help = "netperf TCP_STREAM: blocks through a window, one way",
	.spec = "workloads.md section 6",
	.params = tcp_stream_params, .nr_params = ARRAY_SIZE(tcp_stream_params),
	.metrics = tcp_stream_metrics, .nr_metrics = ARRAY_SIZE(tcp_stream_metrics),
	.rows = M_MIGRATIONS + 1, .group_depth = nr_pct_group_depth,
	.timed = true, .run = tcp_stream_run,
};
WORKLOAD(tcp_stream);
