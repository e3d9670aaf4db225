/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c arch-x86/topo.c arch-x86/cpuid.c arch-x86/switch.S kernel/lib/*.c
 * kernel/engine/*.c kernel/stats/*.c kernel/workloads/*.c kernel/probes/*.c
 * kernel/scenarios/*.c kernel/arms.c kernel/ch*.c kernel/cmdline.c kernel/sweep.c kernel/frame.c
 * kernel/console.c kernel/deal.c kernel/help.c kernel/plan.c kernel/run.c kernel/se*.c
 * kernel/sync.c kernel/t*.c kernel/window.c
 * tools/host/platform.c tools/host/one_cpu.c tools/host/panic.c */
/* flags: -I kernel/env */
/* fuzz: -max_len=1000 */
/*
 * Text as a command line, with the workloads and machines of the image. What comes
 * of it is one line that says what is wrong, or a plan whose points can be made.
 */
#include "input.h"
#include "kernel/cmdline.h"
#include "kernel/engine/machine.h"
#include "kernel/help.h"
#include "kernel/plan.h"
#include "kernel/selftest.h"

static const char *machines[16];
static const struct cmdline_names names = { .machines = machines, .selftests = selftest_names };
static struct cmdline cl;

static void check_error(void)
{
	size_t len = strnlen(cl.error, sizeof(cl.error));

	must(len > 10 && len < sizeof(cl.error) && !memcmp(cl.error, "error: ", 7));
	for (size_t i = 0; i < len; i++)
		must(cl.error[i] >= ' ' && cl.error[i] <= '~');
}

static void check_point(u64 i)
{
	static char text[8192];
	struct plan_point point;
	struct json j;

	plan_point(&cl, i, 16, 8, &point);
	for (u32 p = 0; p < workload_nr_params(point.workload); p++) {
		const struct param_info *info = workload_param(point.workload, p);
		const struct param_value *v = &point.values.p[p];

		must(v->unset ? info->unset && !v->nr : v->nr >= 1 && v->nr <= PARAM_LIST_MAX);
		if (info->kind == PARAM_WORD || info->kind == PARAM_MASK)
			continue;
		for (u32 k = 0; k < v->nr; k++)
			must(v->v[k] >= info->min && v->v[k] <= info->max);
	}
	json_init(&j, text, sizeof(text));
	json_obj(&j, NULL);
	plan_params_json(&j, point.workload, &point.values);
	json_end_obj(&j);
	must(!j.overflow);
	plan_params_text(&cl, &point, false, text, sizeof(text));
}

static void ignore_line(const char *text)
{
	must(strlen(text) < 4096);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static char text[CMDLINE_MAX + 2];
	u64 points;

	for (u32 i = 0; i < machine_count; i++)
		machines[i] = machine_table[i].name;
	if (size > sizeof(text) - 1)
		size = sizeof(text) - 1;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!cmdline_parse(&cl, text, false, &names)) {
		check_error();
		return 0;
	}
	must(!cl.error[0] && cl.nr_arms >= 1 && cl.nr_arms <= ARM_MAX);
	must(plan_total(&cl) <= PLAN_RUNS_MAX);
	if (cl.help)
		help_print(&names, cl.help_name, ignore_line);
	points = plan_points(&cl);
	if (points) {
		check_point(0);
		check_point(points - 1);
	}
	return 0;
}
