/* SPDX-License-Identifier: MIT */
/* hackbench and perf bench sched messaging (spec/workloads.md section 1). */
#include "messaging.h"

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

static int hackbench_run(struct wl_ctx *ctx)
{
	struct messaging_config cfg = {
		.groups = (u32)param_num(ctx->v, P_GROUPS), .fds = (u32)param_num(ctx->v, P_FDS),
		.bytes = (u32)param_num(ctx->v, P_BYTES), .loops = (u64)param_num(ctx->v, P_LOOPS),
		.burst_ns = (u64)param_num(ctx->v, P_BURST),
		.process = param_num(ctx->v, P_MODE) == MODE_PROCESS,
		.ipc = (enum channel_kind)param_num(ctx->v, P_IPC),
	};

	messaging_start(ctx, &cfg);
	ctx->metric[M_RATE] = (s64)messaging_go(ctx);
	ctx->metric[M_TIME] = (s64)(ctx->end_ns - ctx->begin_ns);
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
