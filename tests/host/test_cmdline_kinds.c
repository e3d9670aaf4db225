/* SPDX-License-Identifier: MIT */
/* sources: sched/vector.c kernel/cmdline.c kernel/sweep.c kernel/arms.c kernel/plan.c kernel/help.c
 * kernel/workloads/param.c kernel/lib/fmt.c kernel/lib/json.c kernel/lib/nearest.c
 * kernel/lib/parse.c tests/host/panic_host.c */
/* Workloads, probes and scenarios on the command line; masks, and values left out. */
#include "cmdline_fixture.h"

/* Nothing is filled in beside a probe or a scenario, and each kind is its own. */
static void test_kinds(void **state)
{
	const struct cmdline *cl = parse_ok("probe=peek busy=0F,f0 this=3");

	(void)state;
	assert_int_equal(cl->nr_bench, 1);
	assert_ptr_equal(cl->bench[0], &peek);
	assert_int_equal(plan_total(cl), 2);
	assert_int_equal(cl->nr_arms, 1);
	assert_string_equal(cl->arm[0].name, "default");
	assert_int_equal(cl->arm[0].vector.profile, PROFILE_V5_2);
	assert_int_equal(parse_ok("probe=peek profile=v6.4")->arm[0].vector.profile, PROFILE_V6_4);
	/* What would contradict itself is of one profile. */
	assert_int_equal(parse_ok("probe=peek arms=default,base,v3")->nr_arms, 3);
	cl = parse_ok("probe=list");
	assert_true(cl->help && !cl->nr_bench);
	assert_int_equal(cl->listed, WORKLOAD_PROBE);
	cl = parse_ok("scenario=list");
	assert_true(cl->help && cl->listed == WORKLOAD_SCENARIO);

	/* Each scenario has its arms, with names and reference of their own. */
	cl = parse_ok("scenario=all runs=2");
	assert_int_equal(cl->nr_bench, 2);
	assert_ptr_equal(cl->bench[0], &drift);
	assert_ptr_equal(cl->bench[1], &window);
	assert_int_equal(cl->nr_arms, 5);
	assert_int_equal(cl->arms[0].first, 0);
	assert_int_equal(cl->arms[0].nr, 3);
	assert_int_equal(cl->arms[1].first, 3);
	assert_int_equal(cl->arms[1].nr, 2);
	assert_string_equal(cl->arm[2].name, "x");
	assert_string_equal(cl->arm[4].name, "x");
	assert_false(feat(&cl->arm[2].vector, FEAT_SIS_LIMIT));
	assert_true(feat(&cl->arm[4].vector, FEAT_SIS_LIMIT));
	assert_int_equal(plan_points(cl), 3);
	assert_int_equal(plan_total(cl), 2 * 3 * 2 + 2 * 2);
	cl = parse_ok("scenario=window,drift arms=v3,base rounds=5");
	assert_ptr_equal(cl->bench[0], &window);
	assert_int_equal(cl->nr_arms, 2);
	assert_int_equal(cl->arms[0].nr, 2);
	assert_int_equal(cl->arms[1].first, 0);
	assert_int_equal(plan_total(cl), 4);
}

/* Runs count on over points and arms of all workloads. */
static void test_plan_of_scenarios(void **state)
{
	const struct cmdline *cl = parse_ok("scenario=all runs=2 seed=5");
	u64 i = 0;

	(void)state;
	for (u32 point = 0; point < 3; point++) {
		const struct arm_range *arms = &cl->arms[point == 2];

		for (u32 a = 0; a < arms->nr; a++)
			for (u32 r = 0; r < 2; r++, i++) {
				struct plan_run run = plan_run(cl, i);

				assert_int_equal(run.point, point);
				assert_int_equal(run.arm, arms->first + a);
				assert_int_equal(run.run, r);
				assert_int_equal(run.seed, 5 + r);
			}
	}
	assert_int_equal(plan_total(cl), i);
}

static struct param_value mask_value(const char *digits)
{
	struct param_value v;
	char why[160];

	assert_true(param_parse(&peek_params[1], span_of(digits), &v, why, sizeof(why)));
	return v;
}

static void test_masks(void **state)
{
	static char digits[1024 + 3000 + 1];
	struct param_value v = mask_value("0000aF1");
	struct cpumask mask;
	char why[160], text[40];

	(void)state;
	param_mask(&v, &mask);
	assert_int_equal(mask.w[0], 0xaf1);
	assert_int_equal(cpumask_weight(&mask, MAX_CPUS), 7);
	assert_string_equal(param_text(&peek_params[1], &v, text, sizeof(text)), "0000aF1");
	/* The highest bit counts, not the number of digits. */
	assert_true(param_fits(&peek_params[1], &v, 12, why, sizeof(why)));
	assert_false(param_fits(&peek_params[1], &v, 11, why, sizeof(why)));
	assert_string_equal(why, "mask=0000aF1: CPU 11 of 11; allowed bits 0..10");
	/* All of 4096, with leading zeros beyond. */
	memset(digits, '0', 3000);
	memset(digits + 3000, 'f', 1024);
	v = mask_value(digits);
	param_mask(&v, &mask);
	assert_int_equal(cpumask_weight(&mask, MAX_CPUS), MAX_CPUS);
	assert_true(param_fits(&peek_params[1], &v, MAX_CPUS, why, sizeof(why)));
	assert_false(param_fits(&peek_params[1], &v, MAX_CPUS - 1, why, sizeof(why)));
	digits[0] = '1';
	v = mask_value(digits);
	assert_false(param_fits(&peek_params[1], &v, MAX_CPUS, why, sizeof(why)));
	v = mask_value("0");
	param_mask(&v, &mask);
	assert_int_equal(cpumask_weight(&mask, MAX_CPUS), 0);
	assert_true(param_fits(&peek_params[1], &v, 1, why, sizeof(why)));
}

/* No value is a word, in text and in frames. */
static void test_unset(void **state)
{
	struct plan_point point;
	char text[256];
	struct json j;

	(void)state;
	plan_point(parse_ok("probe=peek busy=none,3"), 0, 8, 4, &point);
	assert_true(param_unset(&point.values, 0) && param_unset(&point.values, 2));
	assert_false(param_unset(&point.values, 1));
	json_init(&j, text, sizeof(text));
	json_obj(&j, NULL);
	plan_params_json(&j, point.workload, &point.values);
	json_end_obj(&j);
	assert_string_equal(text, "{\"params\":{\"busy\":\"none\",\"mask\":\"0f\","
			    "\"this\":\"target\",\"latency_nice\":0}}");
	assert_string_equal(plan_params_text(&fixture_cl, &point, true, text, sizeof(text)),
			    "busy=none");
	plan_point(parse_ok("bench=hackbench latency_nice=-20:19 freq_heavy=1:0 "
			    "group_latency_nice=3"), 0, 8, 4, &point);
	assert_int_equal(point.values.p[4 + COMMON_LATENCY_NICE].nr, 2);
	assert_int_equal(point.values.p[4 + COMMON_LATENCY_NICE].v[1], 19);
	assert_int_equal(point.values.p[4 + COMMON_FREQ_HEAVY].v[0], 1);
	assert_int_equal(param_common(point.workload, &point.values, COMMON_GROUP_LATENCY_NICE), 3);
	plan_point(parse_ok("bench=hackbench"), 0, 8, 4, &point);
	assert_true(param_unset(&point.values, 4 + COMMON_LATENCY_NICE));
	assert_int_equal(point.values.p[4 + COMMON_LATENCY_NICE].nr, 0);
}

static void test_kind_errors(void **state)
{
	static const char *const cases[][2] = {
		/* kinds */
		{ "probe=", "probe= needs a value; allowed list, or name of a probe" },
		{ "scenario", "scenario= needs a value; allowed list, all, or names of scenarios" },
		{ "probe=peke", "unknown probe \"peke\" in probe=; did you mean \"peek\"? allowed "
		  "list|peek" },
		{ "scenario=qqqqqq",
		  "unknown scenario \"qqqqqq\" in scenario=; allowed list|all|drift|window" },
		{ "scenario=drfit", "unknown scenario \"drfit\" in scenario=; did you mean "
		  "\"drift\"? allowed list|all|drift|window" },
		{ "scenario=drift,", "scenario=drift,: empty item; allowed list|all|drift|window" },
		{ "scenario=drift,all", "scenario=all stands alone" },
		{ "scenario=list,drift", "scenario=list stands alone" },
		{ "probe=hackbench",
		  "probe=hackbench: that is a workload; did you mean bench=hackbench?" },
		{ "bench=peek", "bench=peek: that is a probe; did you mean probe=peek?" },
		{ "bench=drift", "bench=drift: that is a scenario; did you mean scenario=drift?" },
		{ "probe=peek bench=hackbench", "bench= and probe= exclude one another" },
		{ "probe=peek scenario=all", "probe= and scenario= exclude one another" },
		{ "bench=none scenario=all", "bench= and scenario= exclude one another" },
		{ "probe=peek selftest", "probe= and selftest= exclude one another" },
		{ "selftest=panic scenario=all", "scenario= and selftest= exclude one another" },
		{ "probe=peek groups=1",
		  "groups= is a parameter of hackbench, which bench= does not name" },
		{ "busy=1", "busy= is a parameter of peek, which probe= does not name" },
		{ "rounds=1", "rounds= is a parameter of drift, which scenario= does not name" },
		{ "probe=peek jitter_pct=1",
		  "jitter_pct= is a parameter of drift, which scenario= does not name" },
		{ "probe=peek busi=1", "unknown key \"busi\"; did you mean \"busy\"?" },
		{ "probe=peek runs=2",
		  "runs=2: a probe draws nothing from a seed; allowed 1" },
		{ "probe=peek exec=live", "probe=peek needs lockstep, not exec=live" },
		{ "scenario=all exec=live", "scenario=drift needs lockstep, not exec=live" },
		/* masks, and values that may be left out */
		{ "probe=peek busy=",
		  "busy= needs a value; allowed none or CPUs in hex, CPU 0 the lowest bit" },
		{ "probe=peek busy=0x1",
		  "busy=0x1: allowed none or CPUs in hex, CPU 0 the lowest bit" },
		{ "probe=peek busy=1,g",
		  "busy=g: allowed none or CPUs in hex, CPU 0 the lowest bit" },
		{ "probe=peek busy=-1",
		  "busy=-1: allowed none or CPUs in hex, CPU 0 the lowest bit" },
		{ "probe=peek busy=1:2",
		  "busy=1:2: allowed none or CPUs in hex, CPU 0 the lowest bit" },
		{ "probe=peek mask=none", "mask=none: allowed CPUs in hex, CPU 0 the lowest bit" },
		{ "probe=peek this=none", "this=none: allowed target or 0..4095" },
		{ "probe=peek this=4096", "this=4096: allowed target or 0..4095" },
		{ "probe=peek latency_nice=none", "latency_nice=none: allowed -20..19" },
		{ "probe=peek latency_nice=0:1", "latency_nice=0:1: allowed -20..19" },
		{ "latency_nice=20",
		  "latency_nice=20: allowed none or -20..19, up to 16 joined by ':'" },
		{ "latency_nice=0:none",
		  "latency_nice=0:none: allowed none or -20..19, up to 16 joined by ':'" },
		{ "freq_heavy=2", "freq_heavy=2: allowed 0..1, up to 16 joined by ':'" },
		{ "group_latency_nice=1:2", "group_latency_nice=1:2: allowed none or -20..19" },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char expect[CMDLINE_ERROR_MAX];

		fmt_sn(expect, sizeof(expect), "error: %s", cases[i][1]);
		assert_false(cmdline_parse(&fixture_cl, cases[i][0], false, &fixture_names));
		assert_string_equal(fixture_cl.error, expect);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_plan_of_scenarios),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_unset),
		cmocka_unit_test(test_kind_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
