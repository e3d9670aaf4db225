/* SPDX-License-Identifier: MIT */
/*
 * The help text. One walk over all tables serves both questions: what to print,
 * and whether a name exists.
 */
#include "help.h"
#include "lib/fmt.h"
#include "lib/string.h"

struct help {
	const struct cmdline_names *names;
	struct span only;                /* p NULL: everything */
	struct nearest *near;            /* offered each name; may be NULL */
	void (*line)(const char *text);  /* NULL: only looking for the name */
	const char *section;             /* heading not yet printed, or NULL */
	bool found;
};

static void put(const struct help *h, const char *f, ...) printf_like(2, 3);

static void put(const struct help *h, const char *f, ...)
{
	char text[512];
	va_list ap;

	if (!h->line)
		return;
	va_start(ap, f);
	fmt_vsn(text, sizeof(text), f, ap);
	va_end(ap);
	h->line(text);
}

/* Whether the entry is to be printed; prints the section's heading before the first. */
static bool wanted(struct help *h, const char *name)
{
	if (h->near)
		nearest_offer(h->near, name);
	if (h->only.p && !span_is(h->only, name))
		return false;
	h->found = true;
	if (h->section)
		put(h, "%s", h->section);
	h->section = NULL;
	return true;
}

static void walk_options(struct help *h)
{
	char allowed[256], def[64];

	h->section = "keys:";
	for (u32 i = 0; i < OPT_NR; i++) {
		const struct option_info *o = &option_table[i];

		if (!wanted(h, o->name))
			continue;
		if (o->kind == OPTION_KIND_NUMBER)
			decimal_text(def, (s64)o->def, o->digits);
		else if (o->kind == OPTION_KIND_TEXT)
			fmt_sn(def, sizeof(def), "%s", o->def_text);
		else
			switch_word(o->words, (u32)o->def, def, sizeof(def));
		put(h, "  %s=%s%s%s", o->name, option_allowed(o, h->names, allowed,
							      sizeof(allowed)),
		    def[0] ? ", default " : "", def);
		put(h, "      %s", o->help);
	}
}

static void put_param(const struct help *h, const struct workload *w, u32 i, const char *of)
{
	const struct param_info *p = workload_param(w, i);
	char allowed[256];

	put(h, "    %s%s%s=%s, default %s%s", of, *of ? " " : "", p->name,
	    param_allowed(p, allowed, sizeof(allowed)), workload_param_default(w, i),
	    p->tag == 'G' ? " (a guess)" : "");
	put(h, "      %s", p->help);
}

static void put_metric(const struct help *h, const struct metric_info *m, const char *of)
{
	put(h, "    %s%s%s, %s is better", of, *of ? " " : "", m->name,
	    metric_better_name(m->better));
	put(h, "      %s", m->help);
}

static void walk_workload(struct help *h, const struct workload *w)
{
	bool whole = wanted(h, w->name);
	char arms[160];

	if (whole) {
		put(h, "  %s", w->name);
		put(h, "      %s%s%s", w->help, w->spec ? "; " : "", w->spec ? w->spec : "");
		if (w->arms)
			put(h, "      compares arms=%s",
			    span_text(span_of(w->arms), arms, sizeof(arms)));
	}
	for (u32 i = 0; i < workload_nr_params(w); i++)
		if (wanted(h, workload_param(w, i)->name) || whole)
			put_param(h, w, i, whole ? "" : w->name);
	if (whole && w->nr_metrics)
		put(h, "    metrics, the first is the result:");
	for (u32 i = 0; i < w->nr_metrics; i++)
		if (wanted(h, w->metrics[i].name) || whole)
			put_metric(h, &w->metrics[i], whole ? "" : w->name);
}

static void walk_kind(struct help *h, enum workload_kind kind)
{
	static const char *const section[WORKLOAD_KINDS] = {
		[WORKLOAD_BENCH] = "workloads, as in bench=NAME, with their parameters:",
		[WORKLOAD_PROBE] = "probes, as in probe=NAME, with their parameters:",
		[WORKLOAD_SCENARIO] = "scenarios, as in scenario=NAME, with their parameters:",
	};

	h->section = section[kind];
	for (u32 i = 0; i < workload_count(); i++)
		if (workload_at(i)->kind == kind)
			walk_workload(h, workload_at(i));
}

static void put_switch(const struct help *h, const struct switch_info *s)
{
	char word[64];

	switch (s->kind) {
	case SWITCH_BOOL:
		put(h, "  %s, default %s", s->name, s->def ? "on" : "off");
		break;
	case SWITCH_NUMBER:
		put(h, "  %s=%llu..%llu %s, default %llu", s->name, (unsigned long long)s->min,
		    (unsigned long long)s->max, s->unit, (unsigned long long)s->def);
		break;
	case SWITCH_WORD:
		switch_word(s->words, (u32)s->def, word, sizeof(word));
		put(h, "  %s=%s, default %s", s->name, s->words, word);
		break;
	}
	put(h, "      %s", s->help);
}

static void walk_switches(struct help *h, bool numbers)
{
	h->section = numbers ? "tunables, as in arms=x:NAME=value:" :
			       "features, as in arms=x:NO_NAME or arms=x:NAME:";
	for (u32 i = 0; i < SWITCH_NR; i++)
		if ((switch_table[i].kind == SWITCH_NUMBER) == numbers &&
		    wanted(h, switch_table[i].name))
			put_switch(h, &switch_table[i]);
}

static void walk_presets(struct help *h)
{
	h->section = "presets, as in arms=NAME or arms=x:NAME+switch:";
	for (u32 i = 0; i < preset_count; i++) {
		const struct preset_info *p = &preset_table[i];

		if (!wanted(h, p->name))
			continue;
		put(h, "  %s, profile %s%s%s", p->name, profile_names[p->profile],
		    p->switches[0] ? ", " : "", p->switches);
		put(h, "      %s", p->help);
	}
}

static void walk_plants(struct help *h)
{
	h->section = "faults, as in plant=NAME:";
	for (u32 i = PLANT_none + 1; PLANTS_BUILT_IN && i < PLANT_NR; i++)
		if (wanted(h, plant_names[i])) {
			put(h, "  %s", plant_names[i]);
			put(h, "      %s", plant_help[i]);
		}
}

static void walk_names(struct help *h, const char *section, const char *key,
		       const char *const *names)
{
	h->section = section;
	for (u32 i = 0; names && names[i]; i++)
		if (wanted(h, names[i]))
			put(h, "  %s=%s", key, names[i]);
}

static const struct {
	const char *name, *help;
	u32 buckets; /* of a histogram; 0: one count */
} counters[] = {
#define COUNTER(name, help) { #name, help, 0 },
#define HISTOGRAM(name, buckets, help) { #name, help, buckets },
#include "../sched/counters.def"
#undef COUNTER
#undef HISTOGRAM
};

static void walk_counters(struct help *h)
{
	h->section = "counters of a run, in its counters frame, summed over CPUs:";
	for (u32 i = 0; i < ARRAY_SIZE(counters); i++) {
		if (!wanted(h, counters[i].name))
			continue;
		if (counters[i].buckets)
			put(h, "  %s, %u buckets", counters[i].name, counters[i].buckets);
		else
			put(h, "  %s", counters[i].name);
		put(h, "      %s", counters[i].help);
	}
}

static const struct {
	const char *name, *arg[4];
} events[] = {
#define EVENT(name, a, b, c, d) { #name, { a, b, c, d } },
#include "../sched/events.def"
#undef EVENT
};

static void walk_events(struct help *h)
{
	h->section = "events, printed by trace=on as trace: MS cpu=N NAME ...:";
	for (u32 i = 0; i < ARRAY_SIZE(events); i++) {
		char args[96];
		int len = 0;

		if (!wanted(h, events[i].name))
			continue;
		args[0] = '\0';
		for (u32 a = 0; a < 4 && events[i].arg[a][0]; a++)
			len += fmt_sn(args + len, sizeof(args) - (size_t)len, " %s=",
				      events[i].arg[a]);
		put(h, "  %s%s", events[i].name, args);
	}
}

static void walk_stages(struct help *h)
{
	static const struct {
		const char *name, *help;
	} stages[] = {
#define STAGE(id, name, help) { name, help },
#include "../sched/stages.def"
#undef STAGE
	};

	h->section = "stages of a placement, as in PLACE and probe=place:";
	for (u32 i = 0; i < ARRAY_SIZE(stages); i++)
		if (wanted(h, stages[i].name)) {
			put(h, "  %s", stages[i].name);
			put(h, "      %s", stages[i].help);
		}
}

static void walk(struct help *h)
{
	if (!h->only.p) {
		put(h, "The command line is key=value words. A list of values (1,2,4) is a sweep.");
		put(h, "Without bench=, probe= and scenario= this fills in for keys not given:");
		put(h, "  %s", CMDLINE_DEMO);
	}
	walk_options(h);
	for (u32 k = 0; k < WORKLOAD_KINDS; k++)
		walk_kind(h, (enum workload_kind)k);
	walk_presets(h);
	walk_switches(h, false);
	walk_switches(h, true);
	walk_names(h, "machines:", "machine", h->names->machines);
	walk_counters(h);
	walk_stages(h);
	walk_events(h);
	walk_plants(h);
	walk_names(h, "tests inside the kernel:", "selftest", h->names->selftests);
}

void help_print(const struct cmdline_names *names, const char *name,
		void (*line)(const char *text))
{
	struct help h = { .names = names, .line = line };

	if (name)
		h.only = span_of(name);
	walk(&h);
}

void help_list(const struct cmdline_names *names, enum workload_kind kind,
	       void (*line)(const char *text))
{
	struct help h = { .names = names, .line = line };

	walk_kind(&h, kind);
}

bool help_knows(const struct cmdline_names *names, struct span name, struct nearest *near)
{
	struct help h = { .names = names, .only = name, .near = near };

	walk(&h);
	return h.found;
}
