/* SPDX-License-Identifier: MIT */
/* sources: sched/vector.c kernel/cmdline.c kernel/sweep.c kernel/arms.c kernel/plan.c kernel/help.c
 * kernel/workloads/param.c kernel/lib/fmt.c kernel/lib/json.c kernel/lib/nearest.c
 * kernel/lib/parse.c kernel/lib/rng.c tests/host/panic_host.c */
/*
 * Seeded garbage into the command line, under the sanitizers: whatever comes in,
 * the answer is a plan whose points can be made or one line of printable text.
 */
#include "cmdline_fixture.h"
#include "../../kernel/lib/rng.h"

#define INPUTS 100000

static const char *const pieces[] = {
	"bench", "arms", "runs", "seed", "topo", "machine", "profile", "cost", "hz", "exec",
	"nodes", "slack_ns", "vlimit_s", "help", "selftest", "calibrate", "groups", "loops",
	"mode", "ipc", "n", "nice", "pin", "burst_us", "jitter_pct", "runtime_s", "warmup_s",
	"=", "=", "=", " ", " ", ",", ",", ":", "+", "/", "-", ".", "#", "\t", "\n",
	"hackbench", "spinners", "list", "default", "v5.2", "v6.4", "x", "NO_", "WA_IDLE",
	"LATENCY", "TUNABLE_SCALING", "linear", "process", "thread", "insn", "live", "generic",
	"probe", "scenario", "busy", "this", "latency_nice", "peek", "drift", "all", "none",
	"0F",
	"panic", "C/8", "K", "1.5C", "0", "1", "2", "10", "1000", "3000000", "0.5",
	"18446744073709551615", "99999999999999999999", "2x4x2", "\x01", "\xff", "\"",
};

/* Words that parse on their own; shuffled together, many are right as a whole. */
static const char *const good[] = {
	"bench=hackbench", "bench=spinners", "bench=spinners,hackbench", "arms=default",
	"arms=default,x:NO_WA_IDLE", "arms=v5.2,y:LATENCY=3000000", "runs=2", "seed=5",
	"topo=2x4x2", "nodes=2", "profile=v5.2", "cost=insn", "calibrate=on", "hz=250",
	"exec=smp", "exec=live", "groups=1,2,3", "loops=10,11", "mode=thread,process",
	"nice=0:5,1:2:3", "n=C/8,K,3", "burst_us=0.001,999.5", "jitter_pct=0",
	"probe=peek", "scenario=all", "scenario=drift", "busy=0F,none", "this=target,5",
	"latency_nice=0", "freq_heavy=0:1", "rounds=3", "runtime_s=0.3,1", "help",
	"selftest=panic", "help=groups",
};

/* Text from pieces, with the odd random byte. */
static size_t make_garbage(struct rng *r, char *text, size_t size)
{
	u64 n = rng_below(r, 24);
	size_t len = 0;

	for (u64 i = 0; i < n; i++) {
		const char *piece = pieces[rng_below(r, ARRAY_SIZE(pieces))];
		size_t piece_len = strlen(piece);

		if (len + piece_len + 1 >= size)
			break;
		memcpy(text + len, piece, piece_len);
		len += piece_len;
		if (!rng_below(r, 16))
			text[len++] = (char)(1 + rng_below(r, 255));
	}
	text[len] = '\0';
	return len;
}

/* A right command line, or nearly: now and then one byte is changed. */
static size_t make_nearly_right(struct rng *r, char *text, size_t size)
{
	u64 n = rng_below(r, 5);
	size_t len = 0;

	text[0] = '\0';
	for (u64 i = 0; i <= n; i++)
		len += (size_t)fmt_sn(text + len, size - len, "%s ",
				      good[rng_below(r, ARRAY_SIZE(good))]);
	if (!rng_below(r, 4))
		text[rng_below(r, len)] = (char)(1 + rng_below(r, 255));
	return len;
}

static void assert_error_line(const char *text, const char *error)
{
	size_t len = strnlen(error, CMDLINE_ERROR_MAX);

	if (len >= CMDLINE_ERROR_MAX || len < 10 || memcmp(error, "error: ", 7))
		fail_msg("\"%s\": no reason given", text);
	for (size_t i = 0; i < len; i++)
		if (error[i] < ' ' || error[i] > '~')
			fail_msg("\"%s\": byte %d in the reason", text, error[i]);
}

static void assert_plan(const struct cmdline *cl, struct rng *r)
{
	u64 points = plan_points(cl);
	static char text[4096];
	struct plan_point point;
	struct json j;

	assert_true(plan_total(cl) <= PLAN_RUNS_MAX);
	assert_true(cl->nr_arms >= 1);
	if (!points)
		return;
	plan_point(cl, rng_below(r, points), 16, 8, &point);
	for (u32 p = 0; p < workload_nr_params(point.workload); p++) {
		const struct param_info *info = workload_param(point.workload, p);
		const struct param_value *v = &point.values.p[p];

		assert_in_range(v->nr, v->unset ? 0 : 1, v->unset ? 0 : PARAM_LIST_MAX);
		if (info->kind == PARAM_WORD || info->kind == PARAM_MASK)
			continue;
		for (u32 i = 0; i < v->nr; i++)
			assert_true(v->v[i] >= info->min && v->v[i] <= info->max);
	}
	json_init(&j, text, sizeof(text));
	json_obj(&j, NULL);
	plan_params_json(&j, point.workload, &point.values);
	json_end_obj(&j);
	assert_false(j.overflow);
	plan_params_text(cl, &point, false, text, sizeof(text));
}

static void test_garbage(void **state)
{
	u32 right = 0, wrong = 0;
	static char text[1024];
	struct rng r;

	(void)state;
	rng_init(&r, 1, 0);
	for (u32 i = 0; i < INPUTS; i++) {
		if (i % 2)
			make_garbage(&r, text, sizeof(text));
		else
			make_nearly_right(&r, text, sizeof(text));
		if (cmdline_parse(&fixture_cl, text, false, &fixture_names)) {
			assert_plan(&fixture_cl, &r);
			right++;
		} else {
			assert_error_line(text, fixture_cl.error);
			wrong++;
		}
	}
	/* Both sides are reached, or the inputs prove nothing. */
	assert_true(right > INPUTS / 10 && wrong > INPUTS / 4);
}

/* Sizes at and beyond every limit: long keys, values, lists, no terminator. */
static void test_long(void **state)
{
	static const char *const starts[] = { "", "groups=", "bench=", "arms=", "arms=x:",
					      "bench=spinners nice=", "bench=spinners n=",
					      "help=", "topo=" };
	static const char fill[] = "1,=:+ aA_/";
	static char text[CMDLINE_MAX + 1];

	(void)state;
	for (u32 s = 0; s < ARRAY_SIZE(starts); s++)
		for (u32 f = 0; f < sizeof(fill) - 1; f++)
			for (u32 len = 1; len <= sizeof(text); len *= 2) {
				size_t start = strlen(starts[s]);

				if (len <= start)
					continue;
				memset(text, fill[f], len);
				memcpy(text, starts[s], start);
				if (len < sizeof(text))
					text[len] = '\0';
				if (!cmdline_parse(&fixture_cl, text, false, &fixture_names))
					assert_error_line(starts[s], fixture_cl.error);
			}
	/* A sweep as long as fits: 4,000 values of one digit. */
	fmt_sn(text, sizeof(text), "bench=hackbench groups=1");
	for (u32 len = 24; len + 2 < sizeof(text); len += 2)
		memcpy(text + len, ",2", 3);
	assert_true(cmdline_parse(&fixture_cl, text, false, &fixture_names));
	assert_int_equal(plan_points(&fixture_cl), 1 + (CMDLINE_MAX - 24) / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
