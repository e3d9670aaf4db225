/* SPDX-License-Identifier: MIT */
/* The switch vector: tables expanded from the .def files, and their text form. */
#include "vector.h"
#include "../kernel/lib/fmt.h"
#include "../kernel/lib/nearest.h"
#include "../kernel/lib/string.h"
#include "../kernel/panic.h"

#define SHOWN 48 /* bytes of the user's text in a message */

const struct switch_info switch_table[SWITCH_NR] = {
#define FEATURE(n, on, h) \
	[FEAT_##n] = { .name = #n, .kind = SWITCH_BOOL, .def = on, .max = 1, .help = h },
#define FEATURE_WORD(n, d, w, h) \
	[FEAT_##n] = { .name = #n, .kind = SWITCH_WORD, .def = d, .words = w, .help = h },
#include "features.def"
#undef FEATURE
#undef FEATURE_WORD
#define TUNABLE(n, u, d, lo, hi, h) \
	[TUN_##n] = { .name = #n, .kind = SWITCH_NUMBER, .def = d, .min = lo, .max = hi, \
		      .unit = u, .help = h },
#include "tunables.def"
#undef TUNABLE
};

const struct preset_info preset_table[] = {
#define PRESET(n, p, s, h) { .name = n, .profile = p, .switches = s, .help = h },
#include "presets.def"
#undef PRESET
};

const u32 preset_count = ARRAY_SIZE(preset_table);

const char *const profile_names[PROFILE_NR] = {
	[PROFILE_V5_2] = "v5.2",
	[PROFILE_V6_4] = "v6.4",
};

/* What differs from the tables' defaults, which are v6.4's. */
static const struct {
	enum sched_profile profile;
	enum sched_switch which;
	u64 value;
} profile_overrides[] = {
	{ PROFILE_V5_2, FEAT_AVG_DIV, 0 },
};

void vector_default(struct sched_vector *v, enum sched_profile profile)
{
	v->profile = profile;
	for (u32 i = 0; i < SWITCH_NR; i++)
		v->value[i] = switch_table[i].def;
	for (u32 i = 0; i < ARRAY_SIZE(profile_overrides); i++)
		if (profile_overrides[i].profile == profile)
			v->value[profile_overrides[i].which] = profile_overrides[i].value;
}

const struct preset_info *preset_find(const char *name, size_t len)
{
	for (u32 i = 0; i < preset_count; i++)
		if (span_is((struct span){ name, len }, preset_table[i].name))
			return &preset_table[i];
	return NULL;
}

void vector_preset(struct sched_vector *v, const struct preset_info *p,
		   enum sched_profile profile)
{
	struct span rest = span_of(p->switches), item;
	char why[160];

	vector_default(v, profile);
	while (rest.n && span_next(&rest, '+', &item))
		panic_unless(vector_apply(v, item.p, item.n, why, sizeof(why)),
			     "preset %s: %s", p->name, why);
}

bool switch_word(const char *words, u32 i, char *buf, size_t n)
{
	struct span rest = span_of(words), word;

	do {
		if (!span_next(&rest, '|', &word))
			return false;
	} while (i--);
	fmt_sn(buf, n, "%.*s", (int)word.n, word.p);
	return true;
}

/* A switch as written, taken apart. */
struct written {
	struct span stem, value;
	bool negated, has_value;
	enum sched_switch which; /* SWITCH_NR: none */
};

static enum sched_switch find_name(struct span name)
{
	u32 i = 0;

	while (i < SWITCH_NR && !span_is(name, switch_table[i].name))
		i++;
	return (enum sched_switch)i;
}

static struct written take_apart(struct span text)
{
	struct written w = { .stem = { text.p, span_find(text, '=') } };

	w.has_value = w.stem.n < text.n;
	if (w.has_value)
		w.value = (struct span){ text.p + w.stem.n + 1, text.n - w.stem.n - 1 };
	w.which = find_name(w.stem);
	if (w.which == SWITCH_NR && w.stem.n > 3 && !memcmp(w.stem.p, "NO_", 3)) {
		w.negated = true;
		w.stem = (struct span){ w.stem.p + 3, w.stem.n - 3 };
		w.which = find_name(w.stem);
	}
	return w;
}

enum sched_switch vector_find(const char *text, size_t len)
{
	return take_apart((struct span){ text, len }).which;
}

static bool unknown_switch(const struct written *w, char *why, size_t n)
{
	const char *no = w->negated ? "NO_" : "";
	char shown[SHOWN];
	struct nearest near;

	nearest_init(&near, w->stem);
	for (u32 i = 0; i < SWITCH_NR; i++)
		if (!w->negated || switch_table[i].kind == SWITCH_BOOL)
			nearest_offer(&near, switch_table[i].name);
	span_text(w->stem, shown, sizeof(shown));
	if (near.best)
		fmt_sn(why, n, "unknown switch \"%s%s\"; did you mean \"%s%s\"?", no, shown, no,
		       near.best);
	else
		fmt_sn(why, n, "unknown switch \"%s%s\"; help lists the switches", no, shown);
	return false;
}

/* "NAME=what: allowed ..." */
static bool not_allowed(const struct written *w, char *why, size_t n)
{
	const struct switch_info *s = &switch_table[w->which];
	const char *no = w->negated ? "NO_" : "";
	char value[SHOWN] = "", near_text[80] = "", hold[NEAREST_LEN_MAX];
	const char *equals = w->has_value ? "=" : "";
	struct nearest near;

	if (w->has_value)
		span_text(w->value, value, sizeof(value));
	switch (s->kind) {
	case SWITCH_BOOL:
		fmt_sn(why, n, "%s%s%s%s: allowed %s or NO_%s", no, s->name, equals, value,
		       s->name, s->name);
		break;
	case SWITCH_NUMBER:
		fmt_sn(why, n, "%s%s%s%s: allowed %s=%llu..%llu %s", no, s->name, equals, value,
		       s->name, (unsigned long long)s->min, (unsigned long long)s->max, s->unit);
		break;
	case SWITCH_WORD:
		nearest_init(&near, w->value);
		nearest_offer_words(&near, s->words, hold);
		fmt_sn(why, n, "%s%s%s%s: allowed %s=%s%s", no, s->name, equals, value, s->name,
		       s->words, nearest_text(&near, near_text, sizeof(near_text)));
		break;
	}
	return false;
}

/* Index of the word, or false. */
static bool find_word(const char *words, struct span text, u64 *index)
{
	struct span rest = span_of(words), word;

	for (*index = 0; span_next(&rest, '|', &word); ++*index)
		if (word.n == text.n && !memcmp(word.p, text.p, text.n))
			return true;
	return false;
}

bool vector_apply(struct sched_vector *v, const char *text, size_t len, char *why, size_t n)
{
	struct written w = take_apart((struct span){ text, len });
	const struct switch_info *s;
	u64 value;

	if (w.which == SWITCH_NR)
		return unknown_switch(&w, why, n);
	s = &switch_table[w.which];
	if (s->kind == SWITCH_BOOL && !w.has_value) {
		v->value[w.which] = !w.negated;
		return true;
	}
	if (w.negated || !w.has_value)
		return not_allowed(&w, why, n);
	if (s->kind == SWITCH_WORD) {
		if (!find_word(s->words, w.value, &value))
			return not_allowed(&w, why, n);
	} else if (!parse_u64(w.value, &value) || value < s->min || value > s->max) {
		return not_allowed(&w, why, n);
	}
	v->value[w.which] = value;
	return true;
}

void vector_format(const struct sched_vector *v, enum sched_switch which, char *buf, size_t n)
{
	const struct switch_info *s = &switch_table[which];
	u64 value = v->value[which];
	char word[SHOWN];

	switch (s->kind) {
	case SWITCH_BOOL:
		fmt_sn(buf, n, "%s%s", value ? "" : "NO_", s->name);
		break;
	case SWITCH_NUMBER:
		fmt_sn(buf, n, "%s=%llu", s->name, (unsigned long long)value);
		break;
	case SWITCH_WORD:
		panic_unless(switch_word(s->words, (u32)value, word, sizeof(word)),
			     "%s has no word %llu", s->name, (unsigned long long)value);
		fmt_sn(buf, n, "%s=%s", s->name, word);
		break;
	}
}
