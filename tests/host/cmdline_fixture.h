/* SPDX-License-Identifier: MIT */
/*
 * Workloads and names for the tests of command line and plan: every kind of
 * parameter, a timed workload, a parameter that two workloads share, a probe and
 * two scenarios. They are never run.
 */
#ifndef TESTS_CMDLINE_FIXTURE_H
#define TESTS_CMDLINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../../kernel/cmdline.h"
#include "../../kernel/help.h"
#include "../../kernel/lib/fmt.h"
#include "../../kernel/lib/string.h"
#include "../../kernel/plan.h"

static int never_run(struct wl_ctx *ctx)
{
	(void)ctx;
	return 1;
}

static const struct metric_info fixture_metrics[] = {
	{ "elapsed_s", 9, METRIC_LOWER, "from the common start to the last exit" },
	{ "messages_per_s", 0, METRIC_HIGHER, "messages over elapsed time" },
};

static const struct param_info hackbench_params[] = {
	{ .name = "groups", .min = 1, .max = 10000, .def = "1,2,4,8,16", .help = "groups of 40" },
	{ .name = "loops", .min = 1, .max = 10000000, .def = "1000", .help = "messages per pair" },
	{ .name = "mode", .kind = PARAM_WORD, .words = "process|thread", .def = "process",
	  .help = "own or shared address space" },
	{ .name = "ipc", .kind = PARAM_WORD, .words = "socket|pipe", .def = "socket",
	  .help = "channel" },
};

static const struct workload hackbench = {
	.name = "hackbench", .help = "all-to-all messages", .spec = "workloads.md 1",
	.params = hackbench_params, .nr_params = ARRAY_SIZE(hackbench_params),
	.metrics = fixture_metrics, .nr_metrics = ARRAY_SIZE(fixture_metrics),
	.run = never_run,
};
WORKLOAD(hackbench);

static const struct param_info spinners_params[] = {
	{ .name = "n", .min = 1, .max = 4096, .per_machine = true, .def = "K",
	  .help = "endless loops" },
	{ .name = "pin", .kind = PARAM_WORD, .words = "off|on", .def = "off", .help = "pinned" },
	{ .name = "nice", .kind = PARAM_LIST, .min = -20, .max = 19, .def = "0",
	  .help = "one for each, in turn" },
	{ .name = "burst_us", .digits = 3, .min = 1, .max = 1000000, .tag = 'G', .def = "0.5",
	  .help = "work between two looks at the clock" },
	{ .name = "loops", .min = 10, .max = 20, .def = "15", .help = "another range" },
};

static const struct workload spinners = {
	.name = "spinners", .help = "endless loops", .spec = "workloads.md 2",
	.params = spinners_params, .nr_params = ARRAY_SIZE(spinners_params),
	.metrics = fixture_metrics, .nr_metrics = ARRAY_SIZE(fixture_metrics),
	.timed = true, .runtime_s = "0.5", .warmup_s = "0", .run = never_run,
};
WORKLOAD(spinners);

static const struct param_info peek_params[] = {
	{ .name = "busy", .kind = PARAM_MASK, .unset = "none", .def = "none", .help = "busy CPUs" },
	{ .name = "mask", .kind = PARAM_MASK, .def = "0f", .help = "needs a value" },
	{ .name = "this", .max = 4095, .unset = "target", .def = "target", .help = "waker" },
	{ .name = "latency_nice", .min = -20, .max = 19, .def = "0", .help = "of the wakee" },
};

static inline void never_report(const struct wl_ctx *ctx, const char *arm, bool first)
{
	(void)ctx;
	(void)arm;
	(void)first;
}

static const struct workload peek = {
	.kind = WORKLOAD_PROBE, .name = "peek", .help = "one decision",
	.params = peek_params, .nr_params = ARRAY_SIZE(peek_params),
	.profile = "v5.2", .run = never_run, .report = never_report,
};
WORKLOAD(peek);

static inline bool never_judge(struct wl_verdict *verdict)
{
	(void)verdict;
	return false;
}

static const struct param_info drift_params[] = {
	{ .name = "rounds", .min = 1, .max = 100, .def = "1,2", .help = "times" },
};

static const struct workload drift = {
	.kind = WORKLOAD_SCENARIO, .name = "drift", .help = "drift of tasks",
	.params = drift_params, .nr_params = ARRAY_SIZE(drift_params),
	.metrics = fixture_metrics, .nr_metrics = ARRAY_SIZE(fixture_metrics),
	.profile = "v5.2", .arms = "base,v3,x:SIS_ROTATE", .run = never_run,
	.judge = never_judge,
};
WORKLOAD(drift);

static const struct workload window = {
	.kind = WORKLOAD_SCENARIO, .name = "window", .help = "chance of a hit",
	.metrics = fixture_metrics, .nr_metrics = ARRAY_SIZE(fixture_metrics),
	.profile = "v5.2", .arms = "base,x:v3+SIS_LIMIT", .run = never_run,
	.judge = never_judge,
};
WORKLOAD(window);

static const char *const fixture_machines[] = { "generic", "skx-2x22x2", NULL };
static const char *const fixture_selftests[] = { "panic", "lock_cycle", NULL };
static const struct cmdline_names fixture_names = { fixture_machines, fixture_selftests };

static struct cmdline fixture_cl;

/* Parses a command line that must be right. */
static inline const struct cmdline *parse_ok(const char *text)
{
	if (!cmdline_parse(&fixture_cl, text, false, &fixture_names))
		fail_msg("\"%s\": %s", text, fixture_cl.error);
	assert_string_equal(fixture_cl.error, "");
	return &fixture_cl;
}

#endif
