/* SPDX-License-Identifier: MIT */
/* sources: sched/vector.c kernel/cmdline.c kernel/sweep.c kernel/arms.c kernel/plan.c kernel/help.c
 * kernel/workloads/param.c kernel/lib/fmt.c kernel/lib/json.c kernel/lib/nearest.c
 * kernel/lib/parse.c tests/host/panic_host.c */
/* The command line: values taken, and the exact text of every error. */
#include "cmdline_fixture.h"

static void test_options(void **state)
{
	const struct cmdline *cl;

	(void)state;
	cl = parse_ok("bench=hackbench");
	assert_int_equal(cl->number[OPT_runs], 1);
	assert_int_equal(cl->number[OPT_seed], 1);
	assert_int_equal(cl->number[OPT_exec], EXEC_MUX);
	assert_int_equal(cl->number[OPT_cost], COST_TABLE);
	assert_int_equal(cl->number[OPT_vlimit_s], 600000000000);
	assert_int_equal(cl->hz, 1000);
	assert_int_equal(cl->machine, 0);
	assert_false(cl->given[OPT_topo] || cl->given[OPT_machine] || cl->help);
	assert_string_equal(cl->value[OPT_topo], "");

	cl = parse_ok("bench=hackbench runs=1000 seed=18446744073709550616 topo=2x4x2 nodes=2\t"
		      "machine=skx-2x22x2\nslack_ns=1000000 vlimit_s=0.25 hz=300 exec=smp "
		      "topo_rules=linux52 line_reads=shared cost=insn calibrate=on trace=on ");
	assert_int_equal(cl->number[OPT_runs], 1000);
	assert_int_equal(cl->number[OPT_seed], UINT64_MAX - 999);
	assert_string_equal(cl->value[OPT_topo], "2x4x2");
	assert_int_equal(cl->number[OPT_nodes], 2);
	assert_int_equal(cl->machine, 1);
	assert_true(cl->given[OPT_machine]);
	assert_int_equal(cl->number[OPT_slack_ns], 1000000);
	assert_int_equal(cl->number[OPT_vlimit_s], 250000000);
	assert_int_equal(cl->hz, 300);
	assert_int_equal(cl->number[OPT_exec], EXEC_SMP);
	assert_int_equal(cl->number[OPT_topo_rules], TOPO_RULES_LINUX52);
	assert_int_equal(cl->number[OPT_line_reads], LINE_READS_SHARED);
	assert_int_equal(cl->number[OPT_cost], COST_INSN);
	assert_int_equal(cl->number[OPT_calibrate], 1);
	assert_int_equal(cl->number[OPT_trace], 1);
	assert_int_equal(parse_ok("exec=live hz=100")->number[OPT_exec], EXEC_LIVE);
	assert_int_equal(fixture_cl.hz, 100);
	assert_int_equal(parse_ok("hz=250")->hz, 250);
}

/* The words of options.def follow the enums they are compared with. */
static void test_word_order(void **state)
{
	char word[32];

	(void)state;
	for (u32 i = 0; i < PROFILE_NR; i++) {
		assert_true(switch_word(option_table[OPT_profile].words, i, word, sizeof(word)));
		assert_string_equal(word, profile_names[i]);
	}
	assert_false(switch_word(option_table[OPT_profile].words, PROFILE_NR, word,
				 sizeof(word)));
	assert_true(switch_word(option_table[OPT_exec].words, EXEC_LIVE, word, sizeof(word)));
	assert_string_equal(word, "live");
	assert_true(switch_word(option_table[OPT_cost].words, COST_INSN, word, sizeof(word)));
	assert_string_equal(word, "insn");
	for (u32 o = 0; o < OPT_NR; o++)
		if (option_table[o].kind == OPTION_KIND_NUMBER)
			assert_true(option_table[o].def >= option_table[o].min &&
				    option_table[o].def <= option_table[o].max);
}

static void test_demo(void **state)
{
	const struct cmdline *cl;

	(void)state;
	cl = parse_ok("");
	assert_int_equal(cl->nr_bench, 1);
	assert_string_equal(cl->bench[0]->name, "hackbench");
	assert_int_equal(cl->number[OPT_runs], 5);
	assert_int_equal(cl->nr_arms, 3);
	assert_int_equal(plan_total(cl), 30);
	/* What is given stands, the rest is filled in. */
	cl = parse_ok(" exec=smp groups=8 runs=2 ");
	assert_int_equal(cl->number[OPT_exec], EXEC_SMP);
	assert_int_equal(cl->sweep[0][0].nr, 1);
	assert_int_equal(plan_total(cl), 6);
	/* Nothing is filled in beside bench=, help and selftest. */
	cl = parse_ok("bench=hackbench");
	assert_int_equal(plan_total(cl), 5);
	assert_int_equal(cl->nr_arms, 1);
	assert_string_equal(cl->arm[0].name, "default");
	cl = parse_ok("selftest=lock_cycle");
	assert_true(cl->given[OPT_selftest]);
	assert_int_equal(cl->number[OPT_selftest], 1);
	assert_string_equal(cl->value[OPT_selftest], "lock_cycle");
	assert_int_equal(plan_total(cl), 0);
	cl = parse_ok("selftest");
	assert_true(cl->given[OPT_selftest]);
	assert_string_equal(cl->value[OPT_selftest], "");
}

static void test_help_words(void **state)
{
	(void)state;
	assert_true(parse_ok("help")->help);
	assert_null(fixture_cl.help_name);
	assert_true(parse_ok("bench=list")->help);
	assert_int_equal(fixture_cl.nr_bench, 0);
	assert_true(parse_ok("help=WA_IDLE")->help);
	assert_string_equal(fixture_cl.help_name, "WA_IDLE");
	assert_true(parse_ok("bench=spinners help=nice nice=0:5")->help);
}

static void test_length(void **state)
{
	char text[CMDLINE_MAX + 2];

	(void)state;
	memset(text, ' ', sizeof(text));
	text[CMDLINE_MAX] = '\0';
	memcpy(text + CMDLINE_MAX - 6, "runs=2", 6);
	assert_int_equal(parse_ok(text)->number[OPT_runs], 2);
	assert_int_equal(fixture_cl.nr_arms, 3);
	text[CMDLINE_MAX] = '5';
	text[CMDLINE_MAX + 1] = '\0';
	assert_false(cmdline_parse(&fixture_cl, text, false, &fixture_names));
	assert_string_equal(fixture_cl.error, "error: command line longer than 8191 bytes");
	assert_false(cmdline_parse(&fixture_cl, "runs=2", true, &fixture_names));
	assert_string_equal(fixture_cl.error, "error: command line longer than 8191 bytes");
}

static void test_errors(void **state)
{
	static const char *const cases[][2] = {
		/* form */
		{ "foo", "\"foo\" is not of the form key=value" },
		{ "hepl", "\"hepl\" is not of the form key=value; did you mean \"help\"?" },
		{ "=5", "\"=5\" is not of the form key=value" },
		{ "runs", "runs= needs a value; allowed 1..1000" },
		{ "runs=", "runs= needs a value; allowed 1..1000" },
		{ "groups", "groups= needs a value; allowed 1..10000" },
		{ "bench=", "bench= needs a value; allowed list, none, or names of workloads" },
		{ "bench", "bench= needs a value; allowed list, none, or names of workloads" },
		{ "arms=", "arms= needs a value; allowed preset or name:[preset+]switch+switch" },
		{ "topo=", "topo= needs a value; allowed SOCKETSxCORESxTHREADS or "
		  "SOCKETSxDIESxCORESxTHREADS" },
		{ "help=", "help= needs a value; allowed alone, or any name in this text" },
		{ "selftest=", "selftest= needs a value; allowed panic|lock_cycle" },
		{ "runs=2 seed=1 runs=2", "runs= is given twice" },
		{ "help help", "help= is given twice" },
		{ "frob=1 frob=1", "frob= is given twice" },
		/* keys and workloads */
		{ "grops=1", "unknown key \"grops\"; did you mean \"groups\"?" },
		{ "RUNS=1", "unknown key \"RUNS\"; did you mean \"runs\"?" },
		{ "jitter=1", "unknown key \"jitter\"; did you mean \"jitter_pct\"?" },
		{ "frobnicate=1", "unknown key \"frobnicate\"; help lists the keys" },
		{ "n\x7f=1", "unknown key \"n?\"; help lists the keys" },
		{ "nice=1", "nice= is a parameter of spinners, which bench= does not name" },
		{ "help groups=1",
		  "groups= is a parameter of hackbench, which bench= does not name" },
		{ "bench=spinners grops=1", "unknown key \"grops\"; did you mean \"loops\"?" },
		{ "bench=hackbnch", "unknown workload \"hackbnch\" in bench=; did you mean "
		  "\"hackbench\"? allowed list|none|hackbench|spinners" },
		{ "bench=hackbench,qq",
		  "unknown workload \"qq\" in bench=; allowed list|none|hackbench|spinners" },
		{ "bench=hackbench,", "bench=hackbench,: empty item; allowed "
		  "list|none|hackbench|spinners" },
		{ "bench=hackbench,list", "bench=list stands alone" },
		{ "bench=hackbench,none", "bench=none stands alone" },
		{ "help=hackbnch", "help=hackbnch: allowed alone, or any name in this text; "
		  "did you mean \"hackbench\"?" },
		{ "selftest=panik",
		  "selftest=panik: allowed panic|lock_cycle; did you mean \"panic\"?" },
		/* numbers */
		{ "runs=0", "runs=0: allowed 1..1000" },
		{ "runs=1001", "runs=1001: allowed 1..1000" },
		{ "runs=+1", "runs=+1: allowed 1..1000" },
		{ "runs=1x", "runs=1x: allowed 1..1000" },
		{ "runs=0x10", "runs=0x10: allowed 1..1000" },
		{ "runs=1.5", "runs=1.5: allowed 1..1000" },
		{ "runs=1,2", "runs=1,2: allowed 1..1000" },
		{ "runs=18446744073709551617", "runs=18446744073709551617: allowed 1..1000" },
		{ "seed=-1", "seed=-1: allowed 0..18446744073709551615" },
		{ "seed=18446744073709551616",
		  "seed=18446744073709551616: allowed 0..18446744073709551615" },
		{ "nodes=65", "nodes=65: allowed 1..64" },
		{ "slack_ns=1000001", "slack_ns=1000001: allowed 0..1000000" },
		{ "vlimit_s=0", "vlimit_s=0: allowed 0.001..1000000" },
		{ "vlimit_s=-1", "vlimit_s=-1: allowed 0.001..1000000" },
		{ "vlimit_s=1.", "vlimit_s=1.: allowed 0.001..1000000" },
		{ "vlimit_s=.5", "vlimit_s=.5: allowed 0.001..1000000" },
		{ "vlimit_s=1000000.000000001",
		  "vlimit_s=1000000.000000001: allowed 0.001..1000000" },
		{ "vlimit_s=1.0000000001", "vlimit_s=1.0000000001: allowed 0.001..1000000" },
		{ "vlimit_s=99999999999999999999",
		  "vlimit_s=99999999999999999999: allowed 0.001..1000000" },
		/* words */
		{ "exec=mxu", "exec=mxu: allowed mux|smp|live|host; did you mean \"mux\"?" },
		{ "exec=guest", "exec=guest: allowed mux|smp|live|host" },
		{ "exec=host cost=insn", "cost=insn needs exec=mux or exec=smp, not exec=host" },
		{ "exec=", "exec= needs a value; allowed mux|smp|live|host" },
		{ "cost=tables", "cost=tables: allowed table|insn; did you mean \"table\"?" },
		{ "hz=200", "hz=200: allowed 100|250|300|1000; did you mean \"100\"?" },
		{ "profile=v5.3", "profile=v5.3: allowed v5.2|v6.4; did you mean \"v5.2\"?" },
		{ "topo_rules=linux",
		  "topo_rules=linux: allowed current|linux52; did you mean \"linux52\"?" },
		{ "line_reads=x", "line_reads=x: allowed serial|shared" },
		{ "trace=yes", "trace=yes: allowed off|on" },
		{ "machine=generik",
		  "machine=generik: allowed generic|skx-2x22x2; did you mean \"generic\"?" },
		/* parameters */
		{ "groups=0", "groups=0: allowed 1..10000" },
		{ "groups=1,10001,0", "groups=10001: allowed 1..10000" },
		{ "groups=1,,2", "groups=1,,2: empty item; allowed 1..10000" },
		{ "groups=1,", "groups=1,: empty item; allowed 1..10000" },
		{ "groups=,1", "groups=,1: empty item; allowed 1..10000" },
		{ "groups=1:2", "groups=1:2: allowed 1..10000" },
		{ "groups=C/2", "groups=C/2: allowed 1..10000" },
		{ "groups=4.0", "groups=4.0: allowed 1..10000" },
		{ "groups=99999999999999999999", "groups=99999999999999999999: allowed 1..10000" },
		{ "groups=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		  "groups=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...: allowed 1..10000" },
		{ "mode=proces",
		  "mode=proces: allowed process|thread; did you mean \"process\"?" },
		{ "mode=process,", "mode=process,: empty item; allowed process|thread" },
		{ "mode=0", "mode=0: allowed process|thread" },
		{ "jitter_pct=101", "jitter_pct=101: allowed 0..100" },
		{ "runtime_s=1", "runtime_s= is a parameter of spinners, which bench= does not "
		  "name" },
		{ "bench=spinners runtime_s=0", "runtime_s=0: allowed 0.001..600" },
		{ "bench=spinners runtime_s=600.1", "runtime_s=600.1: allowed 0.001..600" },
		{ "bench=spinners runtime_s=0.0010000001",
		  "runtime_s=0.0010000001: allowed 0.001..600" },
		{ "bench=spinners warmup_s=-0.1", "warmup_s=-0.1: allowed 0..600" },
		{ "bench=spinners nice=0:20",
		  "nice=0:20: allowed -20..19, up to 16 joined by ':'" },
		{ "bench=spinners nice=0:", "nice=0:: allowed -20..19, up to 16 joined by ':'" },
		{ "bench=spinners nice=0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0",
		  "nice=0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0: allowed -20..19, up to 16 joined by "
		  "':'" },
		{ "bench=spinners burst_us=0", "burst_us=0: allowed 0.001..1000" },
		{ "bench=spinners n=0", "n=0: allowed 1..4096, or of CPUs and cores as in C/8, "
		  "1.5C, K" },
		{ "bench=spinners n=C/0", "n=C/0: allowed 1..4096, or of CPUs and cores as in "
		  "C/8, 1.5C, K" },
		{ "bench=spinners n=C2", "n=C2: allowed 1..4096, or of CPUs and cores as in C/8, "
		  "1.5C, K" },
		/* one key, two ranges: each workload's own counts */
		{ "bench=hackbench,spinners loops=5", "loops=5: allowed 10..20" },
		/* keys against another */
		{ "calibrate=on", "calibrate=on needs cost=insn" },
		{ "exec=live cost=insn", "cost=insn needs exec=mux or exec=smp, not exec=live" },
		{ "exec=live slack_ns=5",
		  "slack_ns=5 needs exec=mux or exec=smp, not exec=live" },
		{ "nodes=2", "nodes=2 needs topo=, whose packages it splits" },
		{ "seed=18446744073709551615 runs=2",
		  "seed=18446744073709551615: allowed 0..18446744073709551614 with runs=2" },
		{ "arms=default runs=1000 loops=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,"
		  "21,22,23,24,25 groups=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,"
		  "23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41",
		  "more than 1000000 runs: points of the sweep x arms x seeds" },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char expect[CMDLINE_ERROR_MAX];

		fmt_sn(expect, sizeof(expect), "error: %s", cases[i][1]);
		assert_false(cmdline_parse(&fixture_cl, cases[i][0], false, &fixture_names));
		assert_string_equal(fixture_cl.error, expect);
	}
}

/* As many keys as fit, and one more. */
static void test_too_many(void **state)
{
	char text[CMDLINE_MAX + 1];
	size_t len = 0;

	(void)state;
	for (u32 i = 0; i <= CMDLINE_WORDS_MAX; i++)
		len += (size_t)fmt_sn(text + len, sizeof(text) - len, "k%u=1 ", i);
	assert_false(cmdline_parse(&fixture_cl, text, false, &fixture_names));
	assert_string_equal(fixture_cl.error, "error: more than 128 keys");
	len = (size_t)fmt_sn(text, sizeof(text), "bench=hackbench");
	for (u32 i = 0; i < CMDLINE_BENCH_MAX; i++)
		len += (size_t)fmt_sn(text + len, sizeof(text) - len, ",hackbench");
	assert_false(cmdline_parse(&fixture_cl, text, false, &fixture_names));
	assert_string_equal(fixture_cl.error, "error: bench=: more than 32 workloads");
	text[len - 10] = '\0';
	assert_int_equal(parse_ok(text)->nr_bench, CMDLINE_BENCH_MAX);
}

/* ---- help ---------------------------------------------------------------- */

static char help_text[65536];
static size_t help_len;

static void collect(const char *text)
{
	int n = snprintf(help_text + help_len, sizeof(help_text) - help_len, "%s\n", text);

	assert_true(n > 0 && (size_t)n < sizeof(help_text) - help_len);
	assert_null(strchr(text, '\n'));
	help_len += (size_t)n;
}

static const char *help_of(const char *name)
{
	help_len = 0;
	help_text[0] = '\0';
	help_print(&fixture_names, name, collect);
	return help_text;
}

static bool contains(const char *text, const char *part)
{
	size_t n = strlen(part);

	for (; *text; text++)
		if (!strncmp(text, part, n))
			return true;
	return false;
}

static void assert_described(const char *name, const char *help)
{
	char part[256];
	struct nearest near;

	nearest_init(&near, span_of(name));
	assert_true(help_knows(&fixture_names, span_of(name), &near));
	if (!contains(help_of(name), name) || !contains(help_text, help))
		fail_msg("help=%s: %s", name, help_text);
	snprintf(part, sizeof(part), "%s", name);
	assert_true(contains(help_of(NULL), part) && contains(help_text, help));
}

/* Everything that can be named is described, alone and in the whole text. */
static void test_help(void **state)
{
	struct nearest near;

	(void)state;
	for (u32 i = 0; i < OPT_NR; i++)
		assert_described(option_table[i].name, option_table[i].help);
	for (u32 i = 0; i < SWITCH_NR; i++)
		assert_described(switch_table[i].name, switch_table[i].help);
	for (u32 i = 0; i < preset_count; i++)
		assert_described(preset_table[i].name, preset_table[i].help);
	for (u32 i = 0; i < workload_count(); i++) {
		const struct workload *w = workload_at(i);

		assert_described(w->name, w->help);
		for (u32 p = 0; p < workload_nr_params(w); p++)
			assert_described(workload_param(w, p)->name, workload_param(w, p)->help);
		for (u32 m = 0; m < w->nr_metrics; m++)
			assert_described(w->metrics[m].name, w->metrics[m].help);
	}
	assert_described("skx-2x22x2", "machine=skx-2x22x2");
	assert_described("lock_cycle", "selftest=lock_cycle");
	nearest_init(&near, span_of("nothing"));
	assert_false(help_knows(&fixture_names, span_of("nothing"), &near));
	assert_string_equal(help_of("groups"),
			    "workloads, as in bench=NAME, with their parameters:\n"
			    "    hackbench groups=1..10000, default 1,2,4,8,16\n"
			    "      groups of 40\n");
	assert_true(contains(help_of("spinners"), "    burst_us=0.001..1000, default 0.5 (a "
			     "guess)\n"));
	assert_true(contains(help_text, "    runtime_s=0.001..600, default 0.5\n"));
	assert_true(contains(help_text, "    warmup_s=0..600, default 0\n"));
	assert_true(contains(help_text, "    elapsed_s, lower is better\n"));
	assert_false(contains(help_text, "hackbench"));
	assert_string_equal(help_of("this"),
			    "probes, as in probe=NAME, with their parameters:\n"
			    "    peek this=target or 0..4095, default target\n"
			    "      waker\n");
	assert_true(contains(help_of("drift"), "      compares arms=base,v3,x:SIS_ROTATE\n"));
	assert_described("scan_visits", "CPUs that scans came by");
	assert_described("SCAN", "SCAN task= nr= visits= budget_out=");
	assert_described("core_first", "looked at first");
	help_len = 0;
	help_list(&fixture_names, WORKLOAD_SCENARIO, collect);
	assert_true(contains(help_text, "  drift\n") && contains(help_text, "  window\n"));
	assert_false(contains(help_text, "peek") || contains(help_text, "keys:"));
}

/* ---- declarations -------------------------------------------------------- */

static void test_declarations(void **state)
{
	struct param_info params[] = { hackbench_params[0], hackbench_params[1] };
	struct metric_info metric = fixture_metrics[0];
	struct workload w = { .name = "w", .params = params, .nr_params = 2,
			      .metrics = &metric, .nr_metrics = 1 };
	char why[160];

	(void)state;
	assert_true(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(workload_param_default(&w, 2), "10");
	w.jitter_pct = "101";
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "jitter_pct=101: allowed 0..100");
	w.jitter_pct = "0";
	assert_string_equal(workload_param_default(&w, 2), "0");
	params[0].def = "1,0";
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "groups=0: allowed 1..10000");
	params[0] = spinners_params[0];
	params[0].digits = 1;
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "w: n counts CPUs and has decimals");
	params[0] = hackbench_params[1];
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "w: bad or repeated parameter name \"loops\"");
	params[0].name = "jitter_pct";
	assert_false(workload_valid(&w, why, sizeof(why)));
	params[0].name = "No";
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "w: bad or repeated parameter name \"No\"");
	params[0].name = "ok_1";
	metric.name = "p99 us";
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "w: bad metric name \"p99 us\"");
	w.nr_metrics = 0;
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "w: 9 parameters, at most 24; 0 metrics, at least 1, a "
			    "probe 0");
	w.kind = WORKLOAD_PROBE;
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "w: a scenario has judge and arms, a probe report");
	w.report = never_report;
	assert_true(workload_valid(&w, why, sizeof(why)));
	w.kind = WORKLOAD_SCENARIO;
	w.nr_metrics = 1;
	metric.name = "p99_us";
	assert_false(workload_valid(&w, why, sizeof(why)));
	w.name = "";
	assert_false(workload_valid(&w, why, sizeof(why)));
	assert_string_equal(why, "bad workload name \"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_word_order),
		cmocka_unit_test(test_demo),
		cmocka_unit_test(test_help_words),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_declarations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
