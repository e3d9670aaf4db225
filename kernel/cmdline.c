/* SPDX-License-Identifier: MIT */
/*
 * The command line: words and options. The workloads and their parameters are in
 * sweep.c, variants in arms.c, the product of all in plan.c. The first fault found
 * is reported; the order is: form of the words, bench= (probe=, scenario=), values
 * word by word, then keys against another.
 */
#include "cmdline.h"
#include "help.h"
#include "lib/fmt.h"
#include "lib/nearest.h"
#include "lib/string.h"
#include "panic.h"
#include "plan.h"

#define SHOWN 48 /* bytes of the user's text in a message */
#define ALLOWED_MAX 256

const struct option_info option_table[OPT_NR] = {
#define OPTION_NUMBER(k, d, v, lo, hi, h) \
	[OPT_##k] = { .name = #k, .kind = OPTION_KIND_NUMBER, .digits = d, .def = v, .min = lo, \
		      .max = hi, .help = h },
#define OPTION_WORD(k, v, w, h) \
	[OPT_##k] = { .name = #k, .kind = OPTION_KIND_WORD, .def = v, .words = w, .help = h },
#define OPTION_TEXT(k, v, w, h) \
	[OPT_##k] = { .name = #k, .kind = OPTION_KIND_TEXT, .def_text = v, .words = w, .help = h },
#include "options.def"
#undef OPTION_NUMBER
#undef OPTION_WORD
#undef OPTION_TEXT
};

const char *const plant_names[PLANT_NR + 1] = {
	[PLANT_none] = "none",
#define PLANT(name, help) [PLANT_##name] = #name,
#include "../sched/plants.def"
#undef PLANT
};

const char *const plant_help[PLANT_NR] = {
	[PLANT_none] = "no fault",
#define PLANT(name, help) [PLANT_##name] = help,
#include "../sched/plants.def"
#undef PLANT
};

bool cmdline_error(struct cmdline *cl, const char *f, ...)
{
	static const char prefix[] = "error: ";
	va_list ap;

	memcpy(cl->error, prefix, sizeof(prefix));
	va_start(ap, f);
	fmt_vsn(cl->error + sizeof(prefix) - 1, sizeof(cl->error) - sizeof(prefix) + 1, f, ap);
	va_end(ap);
	return false;
}

bool cmdline_needs_value(struct cmdline *cl, const char *key, const char *allowed)
{
	return cmdline_error(cl, "%s= needs a value; allowed %s", key, allowed);
}

static enum cmdline_option find_option(struct span key)
{
	u32 i = 0;

	while (i < OPT_NR && !span_is(key, option_table[i].name))
		i++;
	return (enum cmdline_option)i;
}

/* Options whose bare key means something. */
static bool may_stand_alone(enum cmdline_option o)
{
	return o == OPT_help || o == OPT_selftest;
}

/* A table that contradicts itself is a mistake in the build, not in the command. */
static void check_tables(void)
{
	char why[160];

	for (u32 i = 0; i < workload_count(); i++) {
		const struct workload *w = workload_at(i);

		panic_unless(workload_valid(w, why, sizeof(why)), "%s", why);
		panic_unless(workload_find(span_of(w->name)) == w && strcmp(w->name, "list") &&
				     strcmp(w->name, "none") && strcmp(w->name, "all"),
			     "workload %s: name taken", w->name);
		for (u32 p = 0; p < workload_nr_params(w); p++)
			panic_unless(find_option(span_of(workload_param(w, p)->name)) == OPT_NR,
				     "%s: %s= is an option", w->name, workload_param(w, p)->name);
	}
}

/* ---- words --------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const struct cmdline_word *cmdline_word(const struct cmdline *cl, struct span key)
{
	for (u32 i = 0; i < cl->nr_words; i++)
		if (cl->word[i].key.n == key.n && !memcmp(cl->word[i].key.p, key.p, key.n))
			return &cl->word[i];
	return NULL;
}

static bool add_word(struct cmdline *cl, struct span text, bool demo)
{
	size_t equals = span_find(text, '=');
	struct cmdline_word w = { .key = { text.p, equals }, .demo = demo };
	char shown[SHOWN];

	if (equals < text.n)
		w.value = (struct span){ text.p + equals + 1, text.n - equals - 1 };
	if (!equals)
		return cmdline_error(cl, "\"%s\" is not of the form key=value",
				     span_text(text, shown, sizeof(shown)));
	if (cmdline_word(cl, w.key)) {
		if (demo)
			return true;
		return cmdline_error(cl, "%s= is given twice",
				     span_text(w.key, shown, sizeof(shown)));
	}
	if (cl->nr_words == CMDLINE_WORDS_MAX)
		return cmdline_error(cl, "more than %d keys", CMDLINE_WORDS_MAX);
	cl->word[cl->nr_words++] = w;
	return true;
}

/* Cuts text, which lies in cl->text, into terminated words. */
static bool split_words(struct cmdline *cl, char *text, bool demo)
{
	while (*text) {
		char *end = text;

		if (is_blank(*text)) {
			text++;
			continue;
		}
		while (*end && !is_blank(*end))
			end++;
		if (!add_word(cl, (struct span){ text, (size_t)(end - text) }, demo))
			return false;
		text = end;
		if (*end) {
			*end = '\0';
			text++;
		}
	}
	return true;
}

static bool take_text(struct cmdline *cl, const char *text, bool truncated)
{
	size_t len = strnlen(text, CMDLINE_MAX + 1);
	char *demo = cl->text + len + 1;

	if (truncated || len > CMDLINE_MAX)
		return cmdline_error(cl, "command line longer than %d bytes", CMDLINE_MAX);
	memcpy(cl->text, text, len);
	if (!split_words(cl, cl->text, false))
		return false;
	if (cmdline_word(cl, span_of("help")) || cmdline_word(cl, span_of("selftest")))
		return true;
	for (u32 k = 0; k < WORKLOAD_KINDS; k++)
		if (cmdline_word(cl, span_of(workload_key[k])))
			return true;
	memcpy(demo, CMDLINE_DEMO, sizeof(CMDLINE_DEMO));
	return split_words(cl, demo, true);
}

/* ---- options ------------------------------------------------------------- */

static char *join_names(const char *const *names, char *buf, size_t n)
{
	size_t len = 0;

	buf[0] = '\0';
	for (u32 i = 0; names && names[i] && len < n; i++)
		len += (size_t)fmt_sn(buf + len, n - len, "%s%s", i ? "|" : "", names[i]);
	return buf;
}

char *option_allowed(const struct option_info *o, const struct cmdline_names *names, char *buf,
		     size_t n)
{
	char min[40], max[40];

	if (o == &option_table[OPT_machine])
		return join_names(names->machines, buf, n);
#ifdef ANECHOIC_DEBUG
	if (o == &option_table[OPT_plant])
		return join_names(plant_names, buf, n);
#endif
	if (o == &option_table[OPT_selftest] && names->selftests && names->selftests[0])
		return join_names(names->selftests, buf, n);
	if (o->kind != OPTION_KIND_NUMBER)
		fmt_sn(buf, n, "%s", o->words);
	else if (o->digits)
		fmt_sn(buf, n, "%s..%s", decimal_text(min, (s64)o->min, o->digits),
		       decimal_text(max, (s64)o->max, o->digits));
	else
		fmt_sn(buf, n, "%llu..%llu", (unsigned long long)o->min,
		       (unsigned long long)o->max);
	return buf;
}

/* Index of value among names, which end with NULL; false with the nearest offered. */
static bool pick_name(const char *const *names, struct span value, u64 *index,
		      struct nearest *near)
{
	for (*index = 0; names && names[*index]; ++*index) {
		if (span_is(value, names[*index]))
			return true;
		nearest_offer(near, names[*index]);
	}
	return false;
}

static bool pick_word(const char *words, struct span value, u64 *index)
{
	struct span rest = span_of(words), word;

	for (*index = 0; span_next(&rest, '|', &word); ++*index)
		if (word.n == value.n && !memcmp(word.p, value.p, word.n))
			return true;
	return false;
}

static bool parse_number(const struct option_info *o, struct span value, u64 *v)
{
	s64 decimal;

	if (!o->digits)
		return parse_u64(value, v) && *v >= o->min && *v <= o->max;
	if (!parse_decimal(value, o->digits, &decimal) || decimal < 0)
		return false;
	*v = (u64)decimal;
	return *v >= o->min && *v <= o->max;
}

/* The value of an option, but for texts that other files parse. */
static bool option_value_ok(struct cmdline *cl, enum cmdline_option o, struct span value,
			    const struct cmdline_names *names, struct nearest *near,
			    char hold[NEAREST_LEN_MAX])
{
	const struct option_info *info = &option_table[o];

	if (info->kind == OPTION_KIND_NUMBER)
		return parse_number(info, value, &cl->number[o]);
	if (info->kind == OPTION_KIND_WORD) {
		nearest_offer_words(near, info->words, hold);
		return pick_word(info->words, value, &cl->number[o]);
	}
	if (o == OPT_machine)
		return pick_name(names->machines, value, &cl->number[o], near);
#ifdef ANECHOIC_DEBUG
	if (o == OPT_plant)
		return pick_name(plant_names, value, &cl->number[o], near);
#endif
	if (o == OPT_selftest)
		return pick_name(names->selftests, value, &cl->number[o], near);
	if (o == OPT_help)
		return help_knows(names, value, near);
	return true;
}

static bool set_option(struct cmdline *cl, const struct cmdline_word *w, enum cmdline_option o,
		       const struct cmdline_names *names)
{
	const struct option_info *info = &option_table[o];
	char shown[SHOWN], near_text[80], allowed[ALLOWED_MAX], hold[NEAREST_LEN_MAX];
	struct nearest near;

	cl->given[o] = true;
	option_allowed(info, names, allowed, sizeof(allowed));
	if (!w->value.p && may_stand_alone(o)) {
		cl->value[o] = "";
		return true;
	}
	if (!w->value.n)
		return cmdline_needs_value(cl, info->name, allowed);
	cl->value[o] = w->value.p;
	nearest_init(&near, w->value);
	if (!option_value_ok(cl, o, w->value, names, &near, hold))
		return cmdline_error(cl, "%s=%s: allowed %s%s", info->name,
				     span_text(w->value, shown, sizeof(shown)), allowed,
				     nearest_text(&near, near_text, sizeof(near_text)));
	return true;
}

static void default_options(struct cmdline *cl)
{
	for (u32 o = 0; o < OPT_NR; o++) {
		cl->number[o] = option_table[o].def;
		cl->value[o] = option_table[o].def_text;
	}
}

/* ---- unknown keys -------------------------------------------------------- */

/* Another workload's parameter: says whose. */
static const struct workload *owner_of(struct span key)
{
	for (u32 i = 0; i < workload_count(); i++)
		if (workload_param_find(workload_at(i), key) < workload_nr_params(workload_at(i)))
			return workload_at(i);
	return NULL;
}

static bool unknown_key(struct cmdline *cl, const struct cmdline_word *w)
{
	const struct workload *owner = owner_of(w->key);
	char shown[SHOWN], near_text[80];
	struct nearest near;

	span_text(w->key, shown, sizeof(shown));
	if (!PLANTS_BUILT_IN && span_is(w->key, "plant"))
		return cmdline_error(cl, "plant=: only a debug build (make DEBUG=1) plants faults");
	if (owner)
		return cmdline_error(cl, "%s= is a parameter of %s, which %s= does not name",
				     shown, owner->name, workload_key[owner->kind]);
	nearest_init(&near, w->key);
	for (u32 b = 0; b < cl->nr_bench; b++)
		for (u32 i = 0; i < workload_nr_params(cl->bench[b]); i++)
			nearest_offer(&near, workload_param(cl->bench[b], i)->name);
	for (u32 o = 0; o < OPT_NR; o++)
		if (w->value.p || may_stand_alone((enum cmdline_option)o))
			nearest_offer(&near, option_table[o].name);
	nearest_text(&near, near_text, sizeof(near_text));
	if (!w->value.p)
		return cmdline_error(cl, "\"%s\" is not of the form key=value%s", shown,
				     near_text);
	return cmdline_error(cl, "unknown key \"%s\"%s", shown,
			     near.best ? near_text : "; help lists the keys");
}

static bool take_values(struct cmdline *cl, const struct cmdline_names *names)
{
	for (u32 i = 0; i < cl->nr_words; i++) {
		const struct cmdline_word *w = &cl->word[i];
		enum cmdline_option o = find_option(w->key);
		bool found;

		if (o != OPT_NR) {
			if (!set_option(cl, w, o, names))
				return false;
			continue;
		}
		if (!sweep_set(cl, w, &found))
			return false;
		if (!found && !unknown_key(cl, w))
			return false;
	}
	return true;
}

/* What a probe was specified for. */
static void imply_profile(struct cmdline *cl)
{
	if (cl->given[OPT_profile] || !cl->nr_bench || !cl->bench[0]->profile)
		return;
	cl->given[OPT_profile] = true;
	pick_word(option_table[OPT_profile].words, span_of(cl->bench[0]->profile),
		  &cl->number[OPT_profile]);
}

/* ---- keys against another ------------------------------------------------ */

static bool check_contradictions(struct cmdline *cl)
{
	u64 seed = cl->number[OPT_seed], runs = cl->number[OPT_runs];

	if (cl->number[OPT_calibrate] && cl->number[OPT_cost] != COST_INSN)
		return cmdline_error(cl, "calibrate=on needs cost=insn");
	if (cl->number[OPT_exec] >= EXEC_LIVE && cl->number[OPT_cost] == COST_INSN)
		return cmdline_error(cl, "cost=insn needs exec=mux or exec=smp, not exec=%s",
				     cl->number[OPT_exec] == EXEC_LIVE ? "live" : "host");
	if (cl->number[OPT_exec] == EXEC_LIVE && cl->number[OPT_slack_ns])
		return cmdline_error(cl, "slack_ns=%llu needs exec=mux or exec=smp, not exec=live",
				     (unsigned long long)cl->number[OPT_slack_ns]);
	if (cl->given[OPT_nodes] && !cl->given[OPT_topo])
		return cmdline_error(cl, "nodes=%llu needs topo=, whose packages it splits",
				     (unsigned long long)cl->number[OPT_nodes]);
	if (cl->nr_bench && cl->bench[0]->kind != WORKLOAD_BENCH &&
	    cl->number[OPT_exec] == EXEC_LIVE)
		return cmdline_error(cl, "%s=%s needs lockstep, not exec=live",
				     workload_key[cl->bench[0]->kind], cl->bench[0]->name);
	if (cl->nr_bench && cl->bench[0]->kind == WORKLOAD_PROBE && runs != 1)
		return cmdline_error(cl, "runs=%llu: a probe draws nothing from a seed; allowed 1",
				     (unsigned long long)runs);
	if (seed > UINT64_MAX - (runs - 1))
		return cmdline_error(cl, "seed=%llu: allowed 0..%llu with runs=%llu",
				     (unsigned long long)seed,
				     (unsigned long long)(UINT64_MAX - (runs - 1)),
				     (unsigned long long)runs);
	if (plan_total(cl) > PLAN_RUNS_MAX)
		return cmdline_error(cl, "more than %d runs: points of the sweep x arms x seeds",
				     PLAN_RUNS_MAX);
	return true;
}

bool cmdline_parse(struct cmdline *cl, const char *text, bool truncated,
		   const struct cmdline_names *names)
{
	static const u32 hz[] = { 100, 250, 300, 1000 };

	check_tables();
	memset(cl, 0, sizeof(*cl));
	default_options(cl);
	if (!take_text(cl, text, truncated) || !workloads_parse(cl) || !take_values(cl, names) ||
	    !sweep_defaults(cl))
		return false;
	imply_profile(cl);
	if (!arms_parse(cl) || !check_contradictions(cl))
		return false;
	cl->machine = (u32)cl->number[OPT_machine];
#ifdef ANECHOIC_DEBUG
	cl->plant = (enum sched_plant)cl->number[OPT_plant];
#endif
	cl->hz = hz[cl->number[OPT_hz]];
	switch_word(option_table[OPT_exec].words, (u32)cl->number[OPT_exec], cl->exec,
		    sizeof(cl->exec));
	cl->help |= cl->given[OPT_help];
	if (cl->given[OPT_help] && cl->value[OPT_help][0])
		cl->help_name = cl->value[OPT_help];
	return true;
}
