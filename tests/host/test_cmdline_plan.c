/* SPDX-License-Identifier: MIT */
/* sources: sched/vector.c kernel/cmdline.c kernel/sweep.c kernel/arms.c kernel/plan.c kernel/help.c
 * kernel/workloads/param.c kernel/lib/fmt.c kernel/lib/json.c kernel/lib/nearest.c
 * kernel/lib/parse.c tests/host/panic_host.c */
/* Variants and sweeps: what arms= means, and which runs a command line asks for. */
#include "cmdline_fixture.h"

static void assert_vectors_equal(const struct sched_vector *a, const struct sched_vector *b)
{
	assert_int_equal(a->profile, b->profile);
	assert_memory_equal(a->value, b->value, sizeof(a->value));
}

static void test_arms(void **state)
{
	const struct cmdline *cl;
	struct sched_vector v;

	(void)state;
	vector_default(&v, PROFILE_V6_4);
	cl = parse_ok("arms=default,x:NO_WA_IDLE+LATENCY=3000000,"
		      "y:default+TUNABLE_SCALING=none,default,x:WA_IDLE,default");
	assert_int_equal(cl->nr_arms, 6);
	assert_string_equal(cl->arm[0].name, "default");
	assert_string_equal(cl->arm[1].name, "x");
	assert_string_equal(cl->arm[2].name, "y");
	assert_string_equal(cl->arm[3].name, "default#2");
	assert_string_equal(cl->arm[4].name, "x#2");
	assert_string_equal(cl->arm[5].name, "default#3");
	assert_vectors_equal(&cl->arm[0].vector, &v);
	assert_vectors_equal(&cl->arm[3].vector, &v);
	assert_vectors_equal(&cl->arm[4].vector, &v);
	v.value[FEAT_TUNABLE_SCALING] = 0;
	assert_vectors_equal(&cl->arm[2].vector, &v);
	vector_default(&v, PROFILE_V6_4);
	v.value[FEAT_WA_IDLE] = 0;
	v.value[TUN_LATENCY] = 3000000;
	assert_vectors_equal(&cl->arm[1].vector, &v);

	/* Without a preset: the reference with its switches; the first from default. */
	cl = parse_ok("arms=ref:NO_WA_IDLE,x:NEXT_BUDDY,y:default+NEXT_BUDDY");
	assert_false(feat(&cl->arm[0].vector, FEAT_WA_IDLE));
	assert_false(feat(&cl->arm[1].vector, FEAT_WA_IDLE));
	assert_true(feat(&cl->arm[1].vector, FEAT_NEXT_BUDDY));
	assert_true(feat(&cl->arm[2].vector, FEAT_WA_IDLE));
	cl = parse_ok("arms=v5.2,x:NO_WA_IDLE");
	assert_int_equal(cl->arm[1].vector.profile, PROFILE_V5_2);
	assert_false(feat(&cl->arm[1].vector, FEAT_AVG_DIV));
}

static void test_profiles(void **state)
{
	const struct cmdline *cl = parse_ok("arms=default,v5.2,x:v5.2+NO_WA_IDLE profile=v5.2");
	struct sched_vector v;

	(void)state;
	vector_default(&v, PROFILE_V5_2);
	assert_vectors_equal(&cl->arm[0].vector, &v);
	assert_vectors_equal(&cl->arm[1].vector, &v);
	v.value[FEAT_WA_IDLE] = 0;
	assert_vectors_equal(&cl->arm[2].vector, &v);
	cl = parse_ok("arms=v5.2 profile=v6.4");
	vector_default(&v, PROFILE_V6_4);
	assert_vectors_equal(&cl->arm[0].vector, &v);
	/* profile= counts wherever it stands. */
	assert_int_equal(parse_ok("profile=v5.2")->arm[1].vector.profile, PROFILE_V5_2);
}

#define GRAMMAR "allowed a preset or name:[preset+]switch+switch"
#define PRESETS "default|v5.2|base|v3-p1|v3-p2|v3-p3|v3-p4|v3-p5|v3-p6|v3-p7|v3|v3-nocore|" \
	"v3-nocore-noprop|core-first|smt-first|tg-base|tg-node|tg-delay|tg-skip|tg-rate|" \
	"tg-rate-skip|tg-rate-skip-node"
#define NAME_RULE "a name has 1..32 of A-Z a-z 0-9 _ . -"

static void test_arm_errors(void **state)
{
	static const char *const cases[][2] = {
		{ "arms=defualt", "unknown preset \"defualt\" in arms=; did you mean \"default\"? "
		  "allowed " PRESETS ", or name:switches" },
		{ "arms=qq", "unknown preset \"qq\" in arms=; allowed " PRESETS ", or "
		  "name:switches" },
		{ "arms=default,,v5.2", "arms=: empty item; " GRAMMAR },
		{ "arms=default,", "arms=: empty item; " GRAMMAR },
		{ "arms=NO_WA_IDLE",
		  "arms=NO_WA_IDLE: a variant needs a name, as in x:NO_WA_IDLE" },
		{ "arms=default+WA_IDLE",
		  "arms=default+WA_IDLE: a variant needs a name, as in x:default+WA_IDLE" },
		{ "arms=:NO_WA_IDLE", "arms=:NO_WA_IDLE: " NAME_RULE },
		{ "arms=a#2:NO_WA_IDLE", "arms=a#2:NO_WA_IDLE: " NAME_RULE },
		{ "arms=a23456789b123456789c123456789d123:WA_IDLE",
		  "arms=a23456789b123456789c123456789d123:WA_IDLE: " NAME_RULE },
		{ "arms=x:", "arms=x:: empty item; " GRAMMAR },
		{ "arms=x:WA_IDLE+", "arms=x:WA_IDLE+: empty item; " GRAMMAR },
		{ "arms=x:+WA_IDLE", "arms=x:+WA_IDLE: empty item; " GRAMMAR },
		{ "arms=x:defalt",
		  "arms=x:defalt: unknown preset or switch \"defalt\"; did you mean \"default\"?" },
		{ "arms=x:QQQQQ",
		  "arms=x:QQQQQ: unknown preset or switch \"QQQQQ\"; help lists both" },
		{ "arms=x:NO_WA_IDEL", "arms=x:NO_WA_IDEL: unknown switch \"NO_WA_IDEL\"; did you "
		  "mean \"NO_WA_IDLE\"?" },
		{ "arms=x:default+LATENCI=5", "arms=x:default+LATENCI=5: unknown switch "
		  "\"LATENCI\"; did you mean \"LATENCY\"?" },
		{ "arms=x:LATENCY=5",
		  "arms=x:LATENCY=5: LATENCY=5: allowed LATENCY=100000..1000000000 ns" },
		{ "arms=x:WA_IDLE+default",
		  "arms=x:WA_IDLE+default: preset \"default\" must come first" },
		{ "arms=x:default+v5.2",
		  "arms=x:default+v5.2: preset \"v5.2\" must come first" },
		{ "arms=x:WA_IDLE+NO_WA_IDLE",
		  "arms=x:WA_IDLE+NO_WA_IDLE: WA_IDLE is given twice" },
		{ "arms=default,v5.2",
		  "arms=: default follows v6.4, v5.2 follows v5.2; profile= gives all the same" },
		{ "arms=v5.2,x:NO_WA_IDLE,y:default+WA_IDLE",
		  "arms=: v5.2 follows v5.2, y follows v6.4; profile= gives all the same" },
	};
	char text[512];
	size_t len;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char expect[CMDLINE_ERROR_MAX];

		fmt_sn(expect, sizeof(expect), "error: %s", cases[i][1]);
		assert_false(cmdline_parse(&fixture_cl, cases[i][0], false, &fixture_names));
		assert_string_equal(fixture_cl.error, expect);
	}
	len = (size_t)fmt_sn(text, sizeof(text), "arms=default");
	for (u32 i = 1; i < ARM_MAX; i++)
		len += (size_t)fmt_sn(text + len, sizeof(text) - len, ",default");
	assert_int_equal(parse_ok(text)->nr_arms, ARM_MAX);
	assert_string_equal(fixture_cl.arm[ARM_MAX - 1].name, "default#32");
	fmt_sn(text + len, sizeof(text) - len, ",default");
	assert_false(cmdline_parse(&fixture_cl, text, false, &fixture_names));
	assert_string_equal(fixture_cl.error, "error: arms=: more than 32 variants");
	fmt_sn(text, sizeof(text), "arms=a23456789b123456789c123456789d12:WA_IDLE");
	assert_string_equal(parse_ok(text)->arm[0].name, "a23456789b123456789c123456789d12");
}

/* Every point in the order promised, against nested loops. */
static void test_order(void **state)
{
	static const s64 groups[] = { 4, 1, 4 }, loops[] = { 10, 20 };
	static const char *const modes[] = { "thread", "process" };
	const struct cmdline *cl;
	struct plan_point point;
	u64 i = 0;

	(void)state;
	cl = parse_ok("mode=thread,process loops=10,20 bench=hackbench,spinners groups=4,1,4 "
		      "runs=3 seed=7 arms=default,x:NO_WA_IDLE nice=0:5,-20");
	for (u32 g = 0; g < 3; g++)
		for (u32 l = 0; l < 2; l++)
			for (u32 m = 0; m < 2; m++, i++) {
				char word[16];

				plan_point(cl, i, 8, 4, &point);
				assert_string_equal(point.workload->name, "hackbench");
				assert_int_equal(point.bench, 0);
				assert_int_equal(param_num(&point.values, 0), groups[g]);
				assert_int_equal(param_num(&point.values, 1), loops[l]);
				param_text(&hackbench_params[2], &point.values.p[2], word,
					   sizeof(word));
				assert_string_equal(word, modes[m]);
				assert_int_equal(param_num(&point.values, 3), 0);
				assert_int_equal(param_common(point.workload, &point.values,
							      COMMON_JITTER_PCT), 10);
			}
	for (u32 n = 0; n < 2; n++)
		for (u32 l = 0; l < 2; l++, i++) {
			plan_point(cl, i, 8, 4, &point);
			assert_string_equal(point.workload->name, "spinners");
			assert_int_equal(point.bench, 1);
			assert_int_equal(param_num(&point.values, 0), 4);
			assert_int_equal(point.values.p[2].nr, n ? 1 : 2);
			assert_int_equal(point.values.p[2].v[0], n ? -20 : 0);
			assert_int_equal(point.values.p[2].v[1], n ? 0 : 5);
			assert_int_equal(param_num(&point.values, 4), loops[l]);
			assert_int_equal(param_common(point.workload, &point.values,
						      COMMON_RUNTIME_NS), 500000000);
			assert_int_equal(param_common(point.workload, &point.values,
						      COMMON_WARMUP_NS), 0);
		}
	assert_int_equal(plan_points(cl), i);
	assert_int_equal(plan_total(cl), i * 2 * 3);
	for (u64 k = 0, point_nr = 0; point_nr < i; point_nr++)
		for (u32 arm = 0; arm < 2; arm++)
			for (u32 run = 0; run < 3; run++, k++) {
				struct plan_run r = plan_run(cl, k);

				assert_int_equal(r.point, point_nr);
				assert_int_equal(r.arm, arm);
				assert_int_equal(r.run, run);
				assert_int_equal(r.seed, 7 + run);
			}
}

/* Random sweeps: as many points as the product, no two alike. */
static void test_products(void **state)
{
	static struct plan_point points[4096];
	u64 seed = 12345;

	(void)state;
	for (u32 round = 0; round < 50; round++) {
		u32 n[4], product = 1;
		char text[512];
		size_t len = (size_t)fmt_sn(text, sizeof(text), "bench=hackbench");
		static const char *const keys[] = { "groups", "loops", "jitter_pct" };

		for (u32 k = 0; k < ARRAY_SIZE(keys); k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			n[k] = 1 + (u32)(seed >> 60);
			product *= n[k];
			len += (size_t)fmt_sn(text + len, sizeof(text) - len, " %s=", keys[k]);
			for (u32 v = 0; v < n[k]; v++)
				len += (size_t)fmt_sn(text + len, sizeof(text) - len, "%s%u",
						      v ? "," : "", v + 1);
		}
		parse_ok(text);
		assert_int_equal(plan_points(&fixture_cl), product);
		for (u32 i = 0; i < product; i++)
			plan_point(&fixture_cl, i, 1, 1, &points[i]);
		/* Points ascend in the order of their digits, so none repeats. */
		for (u32 i = 1; i < product; i++) {
			const struct param_value *v = points[i].values.p;
			const struct param_value *last = points[i - 1].values.p;
			u32 p = 0;

			while (p < 5 && v[p].v[0] == last[p].v[0])
				p++;
			assert_true(p < 5 && v[p].v[0] > last[p].v[0]);
		}
	}
}

static void test_per_machine(void **state)
{
	static const struct {
		const char *text;
		s64 value; /* with 88 CPUs, 44 cores */
	} cases[] = {
		{ "C", 88 }, { "C/8", 11 }, { "C/16", 6 }, { "1.5C", 132 }, { "0.25C", 22 },
		{ "K", 44 }, { "K/3", 15 }, { "2.5K/2", 55 }, { "C/1000", 1 }, { "1000C", 4096 },
		{ "7", 7 },
	};
	char text[64];
	struct plan_point point;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		fmt_sn(text, sizeof(text), "bench=spinners n=%s", cases[i].text);
		plan_point(parse_ok(text), 0, 88, 44, &point);
		assert_int_equal(param_num(&point.values, 0), cases[i].value);
		assert_int_equal(point.values.p[0].of, 0);
	}
}

static void test_formats(void **state)
{
	const struct cmdline *cl;
	struct plan_point point;
	char text[400];
	struct json j;

	(void)state;
	cl = parse_ok("bench=spinners nice=0:5:-20,3 burst_us=1.25 runtime_s=2 warmup_s=0.001 "
		      "jitter_pct=0,5 pin=on n=C/2");
	plan_point(cl, 1, 16, 8, &point);
	json_init(&j, text, sizeof(text));
	json_obj(&j, NULL);
	plan_params_json(&j, point.workload, &point.values);
	json_end_obj(&j);
	assert_false(j.overflow);
	assert_string_equal(text, "{\"params\":{\"n\":8,\"pin\":\"on\",\"nice\":[0,5,-20],"
			    "\"burst_us\":1.25,\"loops\":15,\"jitter_pct\":5,"
			    "\"latency_nice\":\"none\",\"freq_heavy\":[0],"
			    "\"group_latency_nice\":\"none\",\"group_depth\":0,\"groups_of\":1,"
			    "\"group_shares\":[1024],\"runtime_s\":2,"
			    "\"warmup_s\":0.001}}");
	assert_string_equal(plan_params_text(cl, &point, false, text, sizeof(text)),
			    "n=8 pin=on nice=0:5:-20 burst_us=1.25 loops=15 jitter_pct=5 "
			    "latency_nice=none freq_heavy=0 group_latency_nice=none "
			    "group_depth=0 groups_of=1 group_shares=1024 runtime_s=2 "
			    "warmup_s=0.001");
	assert_string_equal(plan_params_text(cl, &point, true, text, sizeof(text)),
			    "nice=0:5:-20 jitter_pct=5");
	/* What does not fit is cut. */
	memset(text, 'x', sizeof(text));
	assert_string_equal(plan_params_text(cl, &point, false, text, 12), "n=8 pin=on ");
	assert_int_equal(text[12], 'x');
	cl = parse_ok("bench=spinners");
	plan_point(cl, 0, 16, 8, &point);
	assert_string_equal(plan_params_text(cl, &point, true, text, sizeof(text)), "");
}

static u32 deep(const struct param_values *v)
{
	return param_num(v, 0) == 7 ? 1 : 3;
}

/* group_depth=auto is the workload's business, and groups_of= needs a depth. */
static void test_groups(void **state)
{
	struct workload w = { .name = "w", .nr_params = 1 };
	struct param_values v = { .p = { { .nr = 1, .v = { 7 } } } };
	struct param_value *depth = &v.p[1 + COMMON_GROUP_DEPTH];
	struct param_value *groups = &v.p[1 + COMMON_GROUPS_OF];
	struct plan_point point;
	char why[160];

	(void)state;
	depth->unset = true;
	*groups = (struct param_value){ .nr = 1, .v = { 1 } };
	params_settle(&w, &v);
	assert_false(depth->unset);
	assert_int_equal(depth->v[0], 0);
	assert_true(params_agree(&w, &v, why, sizeof(why)));
	groups->v[0] = 4;
	assert_false(params_agree(&w, &v, why, sizeof(why)));
	assert_string_equal(why, "groups_of=4: needs group_depth=; allowed 1..8");
	w.groups_of = "4";
	assert_true(params_agree(&w, &v, why, sizeof(why)));
	w.groups_of = NULL;
	w.group_depth = deep;
	depth->unset = true;
	params_settle(&w, &v);
	assert_int_equal(depth->v[0], 1);
	assert_true(params_agree(&w, &v, why, sizeof(why)));
	v.p[0].v[0] = 8;
	params_settle(&w, &v); /* what is settled stays */
	assert_int_equal(depth->v[0], 1);
	depth->unset = true;
	params_settle(&w, &v);
	assert_int_equal(depth->v[0], 3);

	plan_point(parse_ok("bench=hackbench group_depth=2 groups_of=3 group_shares=2:262144"), 0,
		   8, 4, &point);
	assert_int_equal(param_common(point.workload, &point.values, COMMON_GROUP_DEPTH), 2);
	assert_int_equal(param_common(point.workload, &point.values, COMMON_GROUPS_OF), 3);
	assert_int_equal(point.values.p[point.workload->nr_params + COMMON_GROUP_SHARES].v[1],
			 262144);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arms),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_arm_errors),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_per_machine),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
