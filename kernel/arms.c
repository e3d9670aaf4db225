/* SPDX-License-Identifier: MIT */
/*
 * arms=: the variants to compare. `preset`, or `name:` with an optional preset
 * and switches joined by '+'; without a preset a definition starts from the
 * reference, which is the first arm; the first one from `default`.
 */
#include "cmdline.h"
#include "lib/fmt.h"
#include "lib/nearest.h"
#include "lib/string.h"
#include "panic.h"

#define SHOWN 48 /* bytes of the user's text in a message */

static const char grammar[] = "a preset or name:[preset+]switch+switch";

static const struct preset_info *find_preset(struct span name)
{
	return preset_find(name.p, name.n);
}

static bool name_ok(struct span name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '_' && c != '.' && c != '-')
			return false;
	}
	return name.n && name.n <= ARM_NAME_MAX;
}

static char *preset_names(char *buf, size_t n)
{
	size_t len = 0;

	for (u32 i = 0; i < preset_count && len < n; i++)
		len += (size_t)fmt_sn(buf + len, n - len, "%s%s", i ? "|" : "",
				      preset_table[i].name);
	return buf;
}

static bool unknown_preset(struct cmdline *cl, struct span name)
{
	char shown[SHOWN], near_text[80], names[512];
	struct nearest near;

	span_text(name, shown, sizeof(shown));
	if (span_find(name, '+') < name.n || vector_find(name.p, name.n) != SWITCH_NR)
		return cmdline_error(cl, "arms=%s: a variant needs a name, as in x:%s", shown,
				     shown);
	nearest_init(&near, name);
	for (u32 i = 0; i < preset_count; i++)
		nearest_offer(&near, preset_table[i].name);
	nearest_text(&near, near_text, sizeof(near_text));
	return cmdline_error(cl, "unknown preset \"%s\" in arms=%s%s allowed %s, or name:switches",
			     shown, near_text, near.best ? "" : ";",
			     preset_names(names, sizeof(names)));
}

/* What the first item of a definition could have been. */
static bool unknown_first(struct cmdline *cl, struct span arm, struct span item)
{
	char shown_arm[SHOWN], shown[SHOWN], near_text[80];
	struct nearest near;

	nearest_init(&near, item);
	for (u32 i = 0; i < preset_count; i++)
		nearest_offer(&near, preset_table[i].name);
	for (u32 i = 0; i < SWITCH_NR; i++)
		nearest_offer(&near, switch_table[i].name);
	nearest_text(&near, near_text, sizeof(near_text));
	return cmdline_error(cl, "arms=%s: unknown preset or switch \"%s\"%s",
			     span_text(arm, shown_arm, sizeof(shown_arm)),
			     span_text(item, shown, sizeof(shown)),
			     near.best ? near_text : "; help lists both");
}

/* Applies the items behind the colon. */
static bool parse_definition(struct cmdline *cl, struct span arm, struct span rest,
			     struct sched_vector *v)
{
	char shown[SHOWN], why[256];
	bool seen[SWITCH_NR] = { false };
	struct span item;

	span_text(arm, shown, sizeof(shown));
	for (bool first = true; span_next(&rest, '+', &item); first = false) {
		const struct preset_info *p = find_preset(item);
		enum sched_switch s = vector_find(item.p, item.n);

		if (!item.n)
			return cmdline_error(cl, "arms=%s: empty item; allowed %s", shown,
					     grammar);
		if (p && !first)
			return cmdline_error(cl, "arms=%s: preset \"%s\" must come first", shown,
					     p->name);
		if (p) {
			vector_preset(v, p, cl->given[OPT_profile] ?
				      (enum sched_profile)cl->number[OPT_profile] : p->profile);
			continue;
		}
		/* NO_ alone says that a switch was meant. */
		if (s == SWITCH_NR && first && (item.n < 3 || memcmp(item.p, "NO_", 3)))
			return unknown_first(cl, arm, item);
		if (s != SWITCH_NR && seen[s])
			return cmdline_error(cl, "arms=%s: %s is given twice", shown,
					     switch_table[s].name);
		if (!vector_apply(v, item.p, item.n, why, sizeof(why)))
			return cmdline_error(cl, "arms=%s: %s", shown, why);
		seen[s] = true;
	}
	return true;
}

/* Gives the n-th arm of a name "#n". first: of those that it is compared with. */
static void set_name(struct cmdline *cl, u32 first, struct arm *arm, struct span name)
{
	u32 n = 1;

	for (u32 i = first; i < cl->nr_arms; i++) {
		struct span other = span_of(cl->arm[i].name);

		other.n = span_find(other, '#');
		n += other.n == name.n && !memcmp(other.p, name.p, name.n);
	}
	if (n == 1)
		fmt_sn(arm->name, sizeof(arm->name), "%.*s", (int)name.n, name.p);
	else
		fmt_sn(arm->name, sizeof(arm->name), "%.*s#%u", (int)name.n, name.p, n);
}

static bool parse_arm(struct cmdline *cl, u32 first, struct span text)
{
	struct arm *arm = &cl->arm[cl->nr_arms];
	size_t colon = span_find(text, ':');
	struct span name = { text.p, colon };
	bool defined = colon < text.n;
	const struct preset_info *p = find_preset(defined ? span_of("default") : name);
	char shown[SHOWN];

	if (!text.n)
		return cmdline_error(cl, "arms=: empty item; allowed %s", grammar);
	if (!p)
		return unknown_preset(cl, name);
	if (!name_ok(name))
		return cmdline_error(cl, "arms=%s: a name has 1..%d of A-Z a-z 0-9 _ . -",
				     span_text(text, shown, sizeof(shown)), ARM_NAME_MAX);
	if (defined && cl->nr_arms > first)
		arm->vector = cl->arm[first].vector;
	else
		vector_preset(&arm->vector, p, cl->given[OPT_profile] ?
			      (enum sched_profile)cl->number[OPT_profile] : p->profile);
	set_name(cl, first, arm, name);
	if (defined && !parse_definition(cl, text, (struct span){ text.p + colon + 1,
								  text.n - colon - 1 },
					 &arm->vector))
		return false;
	cl->nr_arms++;
	return true;
}

static bool parse_list(struct cmdline *cl, const char *text, struct arm_range *out)
{
	struct span rest = span_of(text), item;

	out->first = cl->nr_arms;
	while (span_next(&rest, ',', &item)) {
		if (cl->nr_arms == ARM_MAX)
			return cmdline_error(cl, "arms=: more than %d variants", ARM_MAX);
		if (!parse_arm(cl, out->first, item))
			return false;
	}
	out->nr = cl->nr_arms - out->first;
	return true;
}

bool arms_parse(struct cmdline *cl)
{
	struct arm_range all;

	if (cl->nr_bench && cl->bench[0]->arms && !cl->given[OPT_arms]) {
		for (u32 b = 0; b < cl->nr_bench; b++)
			if (!parse_list(cl, cl->bench[b]->arms, &cl->arms[b]))
				return false;
	} else {
		if (!parse_list(cl, cl->value[OPT_arms], &all))
			return false;
		for (u32 b = 0; b < cl->nr_bench; b++)
			cl->arms[b] = all;
	}
	for (u32 i = 1; i < cl->nr_arms; i++)
		if (cl->arm[i].vector.profile != cl->arm[0].vector.profile)
			return cmdline_error(cl, "arms=: %s follows %s, %s follows %s; "
					     "profile= gives all the same", cl->arm[0].name,
					     profile_names[cl->arm[0].vector.profile],
					     cl->arm[i].name,
					     profile_names[cl->arm[i].vector.profile]);
	return true;
}
