/* SPDX-License-Identifier: MIT */
/*
 * The switch vector: every feature and tunable with its value. A variant of
 * one's own is one line in features.def, one `if`, and a test; parser, help,
 * report header and frames expand the same table.
 */
#ifndef SCHED_VECTOR_H
#define SCHED_VECTOR_H

#include "../kernel/lib/types.h"

enum sched_switch {
#define FEATURE(name, on, help) FEAT_##name,
#define FEATURE_WORD(name, def, words, help) FEAT_##name,
#include "features.def"
#undef FEATURE
#undef FEATURE_WORD
#define TUNABLE(name, unit, def, min, max, help) TUN_##name,
#include "tunables.def"
#undef TUNABLE
	SWITCH_NR
};

enum sched_profile { PROFILE_V5_2, PROFILE_V6_4, PROFILE_NR };

struct sched_vector {
	enum sched_profile profile;
	u64 value[SWITCH_NR]; /* bool 0/1, number, or index into the words */
};

enum switch_kind { SWITCH_BOOL, SWITCH_NUMBER, SWITCH_WORD };

struct switch_info {
	const char *name;
	enum switch_kind kind;
	u64 def, min, max;
	const char *unit;  /* numbers */
	const char *words; /* "a|b|c" */
	const char *help;
};

struct preset_info {
	const char *name;
	enum sched_profile profile;
	const char *switches; /* "NO_A+B=2", applied to the defaults */
	const char *help;
};

extern const struct switch_info switch_table[SWITCH_NR];
extern const struct preset_info preset_table[];
extern const u32 preset_count;
extern const char *const profile_names[PROFILE_NR];

/* NULL when there is none of that name. */
const struct preset_info *preset_find(const char *name, size_t len);

/* The switch that NAME, NO_NAME or NAME=value means, whether or not the value
 * is allowed; SWITCH_NR for none. */
enum sched_switch vector_find(const char *text, size_t len);

/* Defaults of the profile. */
void vector_default(struct sched_vector *v, enum sched_profile profile);

/* Defaults of the profile, then the preset's switches; the preset's own profile
 * is up to the caller. */
void vector_preset(struct sched_vector *v, const struct preset_info *p,
		   enum sched_profile profile);

/* Applies one switch: NAME, NO_NAME, NAME=value (0 and 1 for a feature). False with a reason in why
 * (bounded by n), which names the switch, what is allowed and the nearest name. */
bool vector_apply(struct sched_vector *v, const char *text, size_t len, char *why, size_t n);

/* Prints a switch's value as it is written on the command line: "NO_X", "X",
 * "X=5", "X=word". */
void vector_format(const struct sched_vector *v, enum sched_switch s, char *buf, size_t n);

/* i-th word of "a|b|c" into buf; false past the end. */
bool switch_word(const char *words, u32 i, char *buf, size_t n);

static inline bool feat(const struct sched_vector *v, enum sched_switch s)
{
	return v->value[s] != 0;
}

#endif
