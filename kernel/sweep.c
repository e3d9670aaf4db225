/* SPDX-License-Identifier: MIT */
/* Which workloads a command runs, and the values of their parameters. */
#include "cmdline.h"
#include "lib/fmt.h"
#include "lib/nearest.h"
#include "lib/string.h"

#define SHOWN 48 /* bytes of the user's text in a message */
#define ALLOWED_MAX 256

/* Words beside the names. */
static const char *const kind_words[WORKLOAD_KINDS] = { "list|none", "list", "list|all" };
static const char *const kind_noun[WORKLOAD_KINDS] = { "workload", "probe", "scenario" };

/* ---- names ----------------------------------------------------------------- */

/* "list|none|hackbench|..." */
static char *allowed_names(enum workload_kind kind, char *buf, size_t n)
{
	size_t len = (size_t)fmt_sn(buf, n, "%s", kind_words[kind]);

	for (u32 i = 0; i < workload_count() && len < n; i++)
		if (workload_at(i)->kind == kind)
			len += (size_t)fmt_sn(buf + len, n - len, "|%s", workload_at(i)->name);
	return buf;
}

static bool unknown_name(struct cmdline *cl, enum workload_kind kind, struct span name)
{
	char shown[SHOWN], near_text[80], names[ALLOWED_MAX];
	const struct workload *other = workload_find(name);
	struct nearest near;

	span_text(name, shown, sizeof(shown));
	if (other)
		return cmdline_error(cl, "%s=%s: that is a %s; did you mean %s=%s?",
				     workload_key[kind], shown, kind_noun[other->kind],
				     workload_key[other->kind], shown);
	nearest_init(&near, name);
	for (u32 i = 0; i < workload_count(); i++)
		if (workload_at(i)->kind == kind)
			nearest_offer(&near, workload_at(i)->name);
	nearest_text(&near, near_text, sizeof(near_text));
	return cmdline_error(cl, "unknown %s \"%s\" in %s=%s%s allowed %s", kind_noun[kind], shown,
			     workload_key[kind], near_text, near.best ? "" : ";",
			     allowed_names(kind, names, sizeof(names)));
}

static bool add_workload(struct cmdline *cl, enum workload_kind kind, struct span value,
			 struct span name)
{
	char shown[SHOWN], names[ALLOWED_MAX];
	const struct workload *w = workload_find(name);
	struct span rest = span_of(kind_words[kind]), word;

	if (cl->nr_bench == CMDLINE_BENCH_MAX)
		return cmdline_error(cl, "%s=: more than %d %ss", workload_key[kind],
				     CMDLINE_BENCH_MAX, kind_noun[kind]);
	if (!name.n)
		return cmdline_error(cl, "%s=%s: empty item; allowed %s", workload_key[kind],
				     span_text(value, shown, sizeof(shown)),
				     allowed_names(kind, names, sizeof(names)));
	while (span_next(&rest, '|', &word))
		if (word.n == name.n && !memcmp(word.p, name.p, name.n))
			return cmdline_error(cl, "%s=%s stands alone", workload_key[kind],
					     span_text(name, shown, sizeof(shown)));
	if (!w || w->kind != kind)
		return unknown_name(cl, kind, name);
	cl->bench[cl->nr_bench++] = w;
	return true;
}

static bool add_all(struct cmdline *cl, enum workload_kind kind, struct span value)
{
	for (u32 i = 0; i < workload_count(); i++)
		if (workload_at(i)->kind == kind &&
		    !add_workload(cl, kind, value, span_of(workload_at(i)->name)))
			return false;
	return true;
}

static bool parse_kind(struct cmdline *cl, enum workload_kind kind, struct span value)
{
	struct span rest = value, name;

	if (!value.n)
		return true; /* an empty value is reported with the others */
	if (span_is(value, "list")) {
		cl->help = true;
		cl->listed = kind;
		return true;
	}
	if (kind == WORKLOAD_BENCH && span_is(value, "none"))
		return true;
	if (kind == WORKLOAD_SCENARIO && span_is(value, "all"))
		return add_all(cl, kind, value);
	while (span_next(&rest, ',', &name))
		if (!add_workload(cl, kind, value, name))
			return false;
	return true;
}

bool workloads_parse(struct cmdline *cl)
{
	const struct cmdline_word *selftest = cmdline_word(cl, span_of("selftest")), *w;
	const char *other = NULL;

	for (u32 k = WORKLOAD_KINDS; k--;) {
		w = cmdline_word(cl, span_of(workload_key[k]));
		if (!w)
			continue;
		if (!other && selftest && k != WORKLOAD_BENCH)
			other = "selftest";
		if (other)
			return cmdline_error(cl, "%s= and %s= exclude one another",
					     workload_key[k], other);
		other = workload_key[k];
		if (!parse_kind(cl, (enum workload_kind)k, w->value))
			return false;
	}
	return true;
}

/* ---- parameters -------------------------------------------------------------- */

/* Checks every item of a sweep. */
static bool parse_sweep(struct cmdline *cl, const struct param_info *p, struct span value,
			struct sweep *out)
{
	char shown[SHOWN], allowed[ALLOWED_MAX], why[ALLOWED_MAX + 2 * SHOWN];
	struct span rest = value, item;
	struct param_value parsed;

	*out = (struct sweep){ .text = value.p };
	for (; span_next(&rest, ',', &item); out->nr++) {
		if (!item.n)
			return cmdline_error(cl, "%s=%s: empty item; allowed %s", p->name,
					     span_text(value, shown, sizeof(shown)),
					     param_allowed(p, allowed, sizeof(allowed)));
		if (!param_parse(p, item, &parsed, why, sizeof(why)))
			return cmdline_error(cl, "%s", why);
	}
	return true;
}

bool sweep_defaults(struct cmdline *cl)
{
	for (u32 b = 0; b < cl->nr_bench; b++)
		for (u32 p = 0; p < workload_nr_params(cl->bench[b]); p++) {
			struct span value = span_of(workload_param_default(cl->bench[b], p));

			if (!cl->sweep[b][p].nr &&
			    !parse_sweep(cl, workload_param(cl->bench[b], p), value,
					 &cl->sweep[b][p]))
				return false;
		}
	return true;
}

bool sweep_set(struct cmdline *cl, const struct cmdline_word *w, bool *found)
{
	char allowed[ALLOWED_MAX];

	*found = false;
	for (u32 b = 0; b < cl->nr_bench; b++) {
		u32 i = workload_param_find(cl->bench[b], w->key);
		const struct param_info *p;

		if (i == workload_nr_params(cl->bench[b]))
			continue;
		*found = true;
		p = workload_param(cl->bench[b], i);
		if (!w->value.n)
			return cmdline_needs_value(cl, p->name,
						   param_allowed(p, allowed, sizeof(allowed)));
		if (!parse_sweep(cl, p, w->value, &cl->sweep[b][i]))
			return false;
	}
	return true;
}
