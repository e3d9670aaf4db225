/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * The checks of placements: a search as it should be passes, and each way to get
 * it wrong is told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "../../sched/idle_search.h"
#include "env/machine.h"

static struct machine m;
static struct search q;
static struct search_check check;
static struct placement why;
static u32 found;
static char said[1024];

static void take_line(const char *text)
{
	size_t len = strlen(said);

	snprintf(said + len, sizeof(said) - len, "%s\n", text);
}

/* 1x4x2, CPUs 0 to 2 busy, the scan from CPU 0 within nr=4 finds CPU 3. */
static void begin(const char *switches)
{
	machine_init(&m, 1, 4, 2, PROFILE_V5_2, switches);
	for (u32 c = 0; c < 3; c++)
		machine_start(&m, c);
	machine_on(0);
	m.s->check_line = take_line;
	m.s->lockstep = true;
	m.s->domains.llc[0]->avg_scan_cost_ns = 976;
	cpu_rq(m.s, 0)->avg_idle = 100000;
	why = (struct placement){ .stage = STAGE_CPU, .scanned = true, .nr = 4, .visits = 4 };
	q = (struct search){ .s = m.s, .p = machine_fork(&m), .sd = m.s->domains.llc[0],
			     .target = 0, .why = &why };
	check_search_begin(&check, &q);
	why.visits = 3;
	why.budget_out = true;
	found = CPU_NONE;
	said[0] = '\0';
}

static void expect(const char *what)
{
	if (!what[0] ? said[0] : !strstr(said, what))
		fail_msg("expected \"%s\", told \"%s\"", what, said);
	m.s->check_line = NULL;
	machine_free(&m);
}

static void scan_is(const char *told)
{
	check_cpu_scan(&check, &q, found);
	expect(told);
}

static void test_scan(void **state)
{
	(void)state;
	begin("");
	scan_is("");
	begin("");
	why.nr = 5;
	scan_is("has a budget of 5, not 4");
	begin("SIS_LIMIT"); /* nr is 2 then */
	scan_is("has a budget of 4, not 2");
	begin("SIS_LIMIT+LN_SCAN=depth"); /* any budget will do */
	why.visits = 4;
	scan_is("visited 4 CPUs, allowed 3 of 8");
	begin("NR_EXACT");
	why.visits = 4; /* and CPU 3 idles */
	scan_is("passed CPU 3, which idles");
	begin("NR_EXACT");
	why.visits = 5;
	scan_is("visited 5 CPUs, allowed 4 of 8");
	begin("NO_SIS_PROP");
	why.nr = INT32_MAX;
	why.visits = 9;
	found = 3;
	why.budget_out = false;
	why.avg_updated = true;
	scan_is("visited 9 CPUs, allowed 2147483646 of 8");
	begin("");
	m.s->domains.llc[0]->avg_scan_cost_ns++;
	scan_is("ran out of budget and changed its average cost");
	begin("");
	why.avg_updated = true;
	scan_is("the average learns of hits and full misses");
	begin("SIS_ROTATE");
	cpu_rq(m.s, 0)->next_cpu = 8;
	scan_is("next_cpu of CPU 0 is 8, outside its cache");
	begin("SIS_ROTATE"); /* where it began counts, not where next_cpu is by then */
	cpu_rq(m.s, 0)->next_cpu = 3;
	scan_is("");
	begin("SIS_ROTATE");
	q.start = 3;
	scan_is("passed CPU 3, which idles");
	begin("");
	q.start = 1;
	scan_is("scan from CPU 0 began at CPU 1");
}

static void test_core(void **state)
{
	(void)state;
	begin("");
	check_core_search(&check, &q, CPU_NONE); /* there was none */
	expect("");
	begin("");
	cpu_rq(m.s, 0)->count.core_searches++;
	check_core_search(&check, &q, 4);
	expect("");
	begin("");
	cpu_rq(m.s, 0)->count.core_searches++;
	check_core_search(&check, &q, CPU_NONE);
	expect("CPU 7's core idles, found -1");
	begin("");
	cpu_rq(m.s, 0)->count.core_searches++;
	m.s->llc[0].has_idle_cores = true;
	q.p->allowed.w[0] = 0xf; /* no idle core may be used */
	check_core_search(&check, &q, CPU_NONE);
	expect("and the flag stayed");
	begin("NO_SIS_CORE");
	cpu_rq(m.s, 0)->count.core_searches++;
	check_core_search(&check, &q, 4);
	expect("a core search with SIS_CORE off");
}

static void answer_is(const char *switches, enum place_stage stage, u64 allowed, u32 prev,
		      u32 cpu, const char *told)
{
	begin(switches);
	why.stage = stage;
	q.p->allowed.w[0] = allowed;
	check_stage(&q, prev, cpu);
	expect(told);
}

static void test_answers(void **state)
{
	(void)state;
	answer_is("", STAGE_TARGET, 0xff, 0, 0, "");
	answer_is("", STAGE_TARGET, 0xff, 0, 1, "stage target from CPU 0 put");
	answer_is("", STAGE_NONE, 0xff, 0, 3, "stage none from CPU 0 put");
	answer_is("", STAGE_PREV, 0xff, 3, 3, "");
	answer_is("", STAGE_PREV, 0x01, 3, 3, ""); /* which asks for no permission */
	answer_is("", STAGE_PREV, 0xff, 4, 3, "stage prev");
	answer_is("", STAGE_CPU, 0x08, 0, 3, "");
	answer_is("", STAGE_CPU, 0x07, 0, 3, "stage cpu from CPU 0");
	answer_is("", STAGE_SMT, 0x07, 0, 3, "stage smt");
	answer_is("", STAGE_CORE, 0x0f, 0, 4, "stage core from");
	answer_is("", STAGE_RECENT, 0x07, 0, 3, "stage recent");
	answer_is("CORE_FIRST=2", STAGE_CORE_FIRST, 0x07, 0, 3, "stage core_first");
	answer_is("CORE_FIRST=1", STAGE_CORE_FIRST, 0x07, 0, 3, "");
	begin("");
	cpu_rq(m.s, 3)->wake_list = q.p;
	check_stage(&q, 0, 3);
	cpu_rq(m.s, 3)->wake_list = NULL;
	expect("took CPU 3 as idle, which has wake-ups pending");
	begin("");
	q.p->allowed.w[0] = 0xf0;
	check_placement(m.s, q.p, 3);
	expect("was put on CPU 3: not allowed or not online");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
