/* SPDX-License-Identifier: MIT */
/* sources: sched/vector.c kernel/lib/fmt.c kernel/lib/nearest.c kernel/lib/parse.c
 * tests/host/panic_host.c */
/* The switch vector: tables, profiles, presets, switches as text and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../../kernel/lib/fmt.h"
#include "../../kernel/lib/string.h"
#include "../../sched/vector.h"

static bool apply(struct sched_vector *v, const char *text, char why[256])
{
	return vector_apply(v, text, strlen(text), why, 256);
}

static void test_tables(void **state)
{
	struct sched_vector v;
	char word[64], why[256], text[128];

	(void)state;
	for (u32 i = 0; i < SWITCH_NR; i++) {
		const struct switch_info *s = &switch_table[i];

		assert_non_null(s->name);
		assert_true(s->help[0]);
		if (s->kind == SWITCH_WORD)
			assert_true(switch_word(s->words, (u32)s->def, word, sizeof(word)));
		else
			assert_true(s->def >= s->min && s->def <= s->max);
		assert_int_equal(vector_find(s->name, strlen(s->name)), i);
		for (u32 k = 0; k < i; k++)
			assert_string_not_equal(s->name, switch_table[k].name);
		for (u32 k = 0; k < preset_count; k++)
			assert_string_not_equal(s->name, preset_table[k].name);
	}
	/* Every preset applies, and what it prints leads back to it. */
	for (u32 p = 0; p < preset_count; p++) {
		struct sched_vector again;

		assert_ptr_equal(preset_find(preset_table[p].name, strlen(preset_table[p].name)),
				 &preset_table[p]);
		vector_preset(&v, &preset_table[p], preset_table[p].profile);
		vector_default(&again, preset_table[p].profile);
		for (u32 i = 0; i < SWITCH_NR; i++) {
			vector_format(&v, (enum sched_switch)i, text, sizeof(text));
			assert_true(apply(&again, text, why));
		}
		assert_memory_equal(v.value, again.value, sizeof(v.value));
	}
	assert_null(preset_find("defaul", 6));
	assert_string_equal(preset_table[0].name, "default");
}

static void test_profiles(void **state)
{
	struct sched_vector old, new;

	(void)state;
	vector_default(&old, PROFILE_V5_2);
	vector_default(&new, PROFILE_V6_4);
	assert_int_equal(old.profile, PROFILE_V5_2);
	assert_int_equal(new.profile, PROFILE_V6_4);
	assert_false(feat(&old, FEAT_AVG_DIV));
	assert_true(feat(&new, FEAT_AVG_DIV));
	old.value[FEAT_AVG_DIV] = 1;
	assert_memory_equal(old.value, new.value, sizeof(old.value));
	for (u32 i = 0; i < SWITCH_NR; i++)
		assert_int_equal(new.value[i], switch_table[i].def);
}

static void test_apply(void **state)
{
	struct sched_vector v;
	char why[256], text[64];

	(void)state;
	vector_default(&v, PROFILE_V6_4);
	assert_true(apply(&v, "NO_WA_IDLE", why));
	assert_false(feat(&v, FEAT_WA_IDLE));
	vector_format(&v, FEAT_WA_IDLE, text, sizeof(text));
	assert_string_equal(text, "NO_WA_IDLE");
	assert_true(apply(&v, "WA_IDLE", why));
	assert_true(feat(&v, FEAT_WA_IDLE));
	assert_true(apply(&v, "WA_IDLE=0", why));
	assert_false(feat(&v, FEAT_WA_IDLE));
	assert_true(apply(&v, "WA_IDLE=1", why));
	vector_format(&v, FEAT_WA_IDLE, text, sizeof(text));
	assert_string_equal(text, "WA_IDLE");
	assert_true(apply(&v, "LATENCY=3000000", why));
	assert_int_equal(v.value[TUN_LATENCY], 3000000);
	vector_format(&v, TUN_LATENCY, text, sizeof(text));
	assert_string_equal(text, "LATENCY=3000000");
	assert_true(apply(&v, "TUNABLE_SCALING=linear", why));
	assert_int_equal(v.value[FEAT_TUNABLE_SCALING], 2);
	vector_format(&v, FEAT_TUNABLE_SCALING, text, sizeof(text));
	assert_string_equal(text, "TUNABLE_SCALING=linear");
	assert_int_equal(vector_find("NO_LATENCY=5", 12), TUN_LATENCY);
	assert_int_equal(vector_find("LATENC", 6), SWITCH_NR);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "WA_IDEL", "unknown switch \"WA_IDEL\"; did you mean \"WA_IDLE\"?" },
		{ "wa_idle", "unknown switch \"wa_idle\"; did you mean \"WA_IDLE\"?" },
		{ "NO_WA_IDEL", "unknown switch \"NO_WA_IDEL\"; did you mean \"NO_WA_IDLE\"?" },
		{ "LATENCI=3", "unknown switch \"LATENCI\"; did you mean \"LATENCY\"?" },
		{ "QQQQQ", "unknown switch \"QQQQQ\"; help lists the switches" },
		{ "NO_", "unknown switch \"NO_\"; help lists the switches" },
		{ "", "unknown switch \"\"; help lists the switches" },
		{ "a\x01\xff", "unknown switch \"a??\"; help lists the switches" },
		{ "LATENCY", "LATENCY: allowed LATENCY=100000..1000000000 ns" },
		{ "LATENCY=", "LATENCY=: allowed LATENCY=100000..1000000000 ns" },
		{ "NO_LATENCY", "NO_LATENCY: allowed LATENCY=100000..1000000000 ns" },
		{ "LATENCY=99999", "LATENCY=99999: allowed LATENCY=100000..1000000000 ns" },
		{ "LATENCY=1000000001",
		  "LATENCY=1000000001: allowed LATENCY=100000..1000000000 ns" },
		{ "LATENCY=18446744073709651616",
		  "LATENCY=18446744073709651616: allowed LATENCY=100000..1000000000 ns" },
		{ "LATENCY=3000000x", "LATENCY=3000000x: allowed LATENCY=100000..1000000000 ns" },
		{ "LATENCY=-1", "LATENCY=-1: allowed LATENCY=100000..1000000000 ns" },
		{ "WA_IDLE=2", "WA_IDLE=2: allowed WA_IDLE or NO_WA_IDLE" },
		{ "WA_IDLE=", "WA_IDLE=: allowed WA_IDLE or NO_WA_IDLE" },
		{ "NO_WA_IDLE=1", "NO_WA_IDLE=1: allowed WA_IDLE or NO_WA_IDLE" },
		{ "TUNABLE_SCALING", "TUNABLE_SCALING: allowed TUNABLE_SCALING=none|log|linear" },
		{ "TUNABLE_SCALING=liner", "TUNABLE_SCALING=liner: allowed "
		  "TUNABLE_SCALING=none|log|linear; did you mean \"linear\"?" },
		{ "TUNABLE_SCALING=1",
		  "TUNABLE_SCALING=1: allowed TUNABLE_SCALING=none|log|linear" },
	};
	struct sched_vector v, before;
	char why[256];

	(void)state;
	vector_default(&v, PROFILE_V6_4);
	before = v;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_false(apply(&v, cases[i].text, why));
		assert_string_equal(why, cases[i].why);
		assert_memory_equal(v.value, before.value, sizeof(v.value));
	}
	/* A reason that does not fit is cut, never overrun. */
	memset(why, 'x', sizeof(why));
	assert_false(vector_apply(&v, "LATENCY=5", 9, why, 16));
	assert_string_equal(why, "LATENCY=5: allo");
	assert_int_equal(why[16], 'x');
}

static void test_words(void **state)
{
	char word[8];

	(void)state;
	assert_true(switch_word("none|log|linear", 0, word, sizeof(word)));
	assert_string_equal(word, "none");
	assert_true(switch_word("none|log|linear", 2, word, sizeof(word)));
	assert_string_equal(word, "linear");
	assert_false(switch_word("none|log|linear", 3, word, sizeof(word)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_profiles),
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
