/* SPDX-License-Identifier: MIT */
/* The table of workloads and the values of their parameters: see workload.h. */
#include "workload.h"
#include "../lib/fmt.h"
#include "../lib/nearest.h"
#include "../lib/string.h"

#define SHOWN 48   /* bytes of the user's text in a message */
#define NS_DIGITS 9

/* Made by the linker around the section's pointers. */
extern const struct workload *const __start_workloads[];
extern const struct workload *const __stop_workloads[];

static const struct param_info common_params[COMMON_NR] = {
	[COMMON_JITTER_PCT] = {
		.name = "jitter_pct", .max = 100, .tag = 'G', .def = "10",
		.help = "constant bursts vary by up to this much either way, drawn from the seed",
	},
	[COMMON_LATENCY_NICE] = {
		.name = "latency_nice", .kind = PARAM_LIST, .min = -20, .max = 19,
		.unset = "none", .def = "none",
		.help = "latency_nice values, dealt out to the tasks in turn",
	},
	[COMMON_FREQ_HEAVY] = {
		.name = "freq_heavy", .kind = PARAM_LIST, .max = 1, .def = "0",
		.help = "1 for tasks that lower their core's frequency, as AVX512 does; dealt out",
	},
	[COMMON_GROUP_LATENCY_NICE] = {
		.name = "group_latency_nice", .min = -20, .max = 19, .unset = "none",
		.def = "none",
		.help = "latency_nice of the root group, for LN_GROUP",
	},
	[COMMON_GROUP_DEPTH] = {
		.name = "group_depth", .max = 8, .unset = "auto", .def = "auto",
		.help = "task groups nested so deep, the tasks in the deepest; 0: none; auto: as "
			"the workload was published",
	},
	[COMMON_GROUPS_OF] = {
		.name = "groups_of", .min = 1, .max = 1024, .def = "1",
		.help = "sibling groups at that depth, among which the tasks are dealt out: "
			"those that work together into one",
	},
	[COMMON_GROUP_SHARES] = {
		.name = "group_shares", .kind = PARAM_LIST, .min = 2, .max = 262144, .def = "1024",
		.help = "shares of these groups, in turn; a task of nice 0 weighs 1024",
	},
	[COMMON_RUNTIME_NS] = {
		.name = "runtime_s", .digits = NS_DIGITS, .min = 1000000, .max = 600000000000,
		.def = "1", .help = "virtual time that is measured",
	},
	[COMMON_WARMUP_NS] = {
		.name = "warmup_s", .digits = NS_DIGITS, .max = 600000000000,
		.def = "1", .help = "virtual time before that, not measured",
	},
};

const char *const workload_key[WORKLOAD_KINDS] = { "bench", "probe", "scenario" };

u32 workload_count(void)
{
	return (u32)(__stop_workloads - __start_workloads);
}

/* Compilers and link order arrange the section differently; names do not. */
static bool sorts_before(const struct workload *const *a, const struct workload *const *b)
{
	int order = strcmp((*a)->name, (*b)->name);

	return order < 0 || (order == 0 && a < b);
}

const struct workload *workload_at(u32 i)
{
	const struct workload *const *w, *const *other;
	u32 rank;

	for (w = __start_workloads; w < __stop_workloads; w++) {
		for (rank = 0, other = __start_workloads; other < __stop_workloads; other++)
			rank += sorts_before(other, w);
		if (rank == i)
			return *w;
	}
	return NULL;
}

const struct workload *workload_find(struct span name)
{
	for (const struct workload *const *w = __start_workloads; w < __stop_workloads; w++)
		if (span_is(name, (*w)->name))
			return *w;
	return NULL;
}

u32 workload_nr_params(const struct workload *w)
{
	if (workload_bare(w))
		return w->nr_params;
	return w->nr_params + (w->timed ? COMMON_NR : COMMON_RUNTIME_NS);
}

const struct param_info *workload_param(const struct workload *w, u32 i)
{
	return i < w->nr_params ? &w->params[i] : &common_params[i - w->nr_params];
}

const char *workload_param_default(const struct workload *w, u32 i)
{
	if (i == w->nr_params + COMMON_JITTER_PCT && w->jitter_pct)
		return w->jitter_pct;
	if (i == w->nr_params + COMMON_GROUPS_OF && w->groups_of)
		return w->groups_of;
	if (i == w->nr_params + COMMON_RUNTIME_NS && w->runtime_s)
		return w->runtime_s;
	if (i == w->nr_params + COMMON_WARMUP_NS && w->warmup_s)
		return w->warmup_s;
	return workload_param(w, i)->def;
}

u32 workload_param_find(const struct workload *w, struct span name)
{
	u32 i = 0;

	while (i < workload_nr_params(w) && !span_is(name, workload_param(w, i)->name))
		i++;
	return i;
}

/* ---- values from text ---------------------------------------------------- */

char *param_allowed(const struct param_info *p, char *buf, size_t n)
{
	char min[40], max[40];
	size_t len = 0;

	if (p->kind == PARAM_WORD) {
		fmt_sn(buf, n, "%s", p->words);
		return buf;
	}
	decimal_text(min, p->min, p->digits);
	decimal_text(max, p->max, p->digits);
	if (p->unset)
		len = (size_t)fmt_sn(buf, n, "%s or ", p->unset);
	if (p->kind == PARAM_MASK)
		fmt_sn(buf + len, n - len, "CPUs in hex, CPU 0 the lowest bit");
	else if (p->kind == PARAM_LIST)
		fmt_sn(buf + len, n - len, "%s..%s, up to %d joined by ':'", min, max,
		       PARAM_LIST_MAX);
	else
		fmt_sn(buf + len, n - len, "%s..%s%s", min, max,
		       p->per_machine ? ", or of CPUs and cores as in C/8, 1.5C, K" : "");
	return buf;
}

static bool parse_number(const struct param_info *p, struct span text, s64 *v)
{
	return parse_decimal(text, p->digits, v) && *v >= p->min && *v <= p->max;
}

/* [N]C[/D] or [N]K[/D]: N from 0.001 to 1000, D from 1 to 1000. */
static bool parse_per_machine(struct span text, struct param_value *out)
{
	size_t at = 0;
	s64 times = 1000;
	u64 divisor = 1;

	while (at < text.n && text.p[at] != 'C' && text.p[at] != 'K')
		at++;
	if (at == text.n)
		return false;
	if (at && (!parse_decimal((struct span){ text.p, at }, 3, &times) || times < 1 ||
		   times > 1000000))
		return false;
	if (at + 1 < text.n &&
	    (text.p[at + 1] != '/' ||
	     !parse_u64((struct span){ text.p + at + 2, text.n - at - 2 }, &divisor) ||
	     !divisor || divisor > 1000))
		return false;
	*out = (struct param_value){ .nr = 1, .of = text.p[at], .v = { times, (s64)divisor } };
	return true;
}

static bool parse_list(const struct param_info *p, struct span text, struct param_value *out)
{
	struct span item;

	while (span_next(&text, ':', &item))
		if (out->nr == PARAM_LIST_MAX || !parse_number(p, item, &out->v[out->nr++]))
			return false;
	return true;
}

static bool parse_word(const struct param_info *p, struct span text, struct param_value *out)
{
	struct span rest = span_of(p->words), word;

	for (out->nr = 1; span_next(&rest, '|', &word); out->v[0]++)
		if (word.n == text.n && !memcmp(word.p, text.p, text.n))
			return true;
	return false;
}

static s32 hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	     : c >= 'a' && c <= 'f' ? c - 'a' + 10
	     : c >= 'A' && c <= 'F' ? c - 'A' + 10
				    : -1;
}

static bool parse_mask(struct span text, struct param_value *out)
{
	for (size_t i = 0; i < text.n; i++)
		if (hex_digit(text.p[i]) < 0)
			return false;
	out->nr = 1;
	out->text = text;
	return text.n;
}

static bool parse_value(const struct param_info *p, struct span text, struct param_value *out)
{
	*out = (struct param_value){ .nr = 0 };
	if (p->unset && span_is(text, p->unset)) {
		out->unset = true;
		return true;
	}
	switch (p->kind) {
	case PARAM_NUMBER:
		out->nr = 1;
		return parse_number(p, text, &out->v[0]) ||
		       (p->per_machine && parse_per_machine(text, out));
	case PARAM_LIST:
		return parse_list(p, text, out);
	case PARAM_WORD:
		return parse_word(p, text, out);
	case PARAM_MASK:
		return parse_mask(text, out);
	}
	return false;
}

bool param_parse(const struct param_info *p, struct span text, struct param_value *out,
		 char *why, size_t n)
{
	char allowed[160], shown[SHOWN], near_text[80] = "", hold[NEAREST_LEN_MAX];
	struct nearest near;

	if (parse_value(p, text, out))
		return true;
	if (p->kind == PARAM_WORD) {
		nearest_init(&near, text);
		nearest_offer_words(&near, p->words, hold);
		nearest_text(&near, near_text, sizeof(near_text));
	}
	fmt_sn(why, n, "%s=%s: allowed %s%s", p->name, span_text(text, shown, sizeof(shown)),
	       param_allowed(p, allowed, sizeof(allowed)), near_text);
	return false;
}

void param_resolve(const struct param_info *p, struct param_value *v, u32 cpus, u32 cores)
{
	s64 count, divisor;

	if (!v->of)
		return;
	divisor = 1000 * v->v[1];
	count = ((v->of == 'C' ? cpus : cores) * v->v[0] + divisor / 2) / divisor;
	count = count < p->min ? p->min : count > p->max ? p->max : count;
	*v = (struct param_value){ .nr = 1, .v = { count } };
}

void params_settle(const struct workload *w, struct param_values *v)
{
	struct param_value *depth = &v->p[w->nr_params + COMMON_GROUP_DEPTH];

	if (!workload_bare(w) && depth->unset)
		*depth = (struct param_value){
			.nr = 1, .v = { w->group_depth ? w->group_depth(v) : 0 },
		};
}

bool params_agree(const struct workload *w, const struct param_values *v, char *why, size_t n)
{
	s64 groups;

	if (workload_bare(w))
		return true;
	groups = param_common(w, v, COMMON_GROUPS_OF);
	/* A default is no request. */
	if (groups == 1 || w->groups_of || param_common(w, v, COMMON_GROUP_DEPTH))
		return true;
	fmt_sn(why, n, "groups_of=%lld: needs group_depth=; allowed 1..8", (long long)groups);
	return false;
}

/* ---- masks --------------------------------------------------------------- */

static bool mask_bit(struct span digits, u32 cpu)
{
	return cpu / 4 < digits.n && hex_digit(digits.p[digits.n - 1 - cpu / 4]) >> cpu % 4 & 1;
}

bool param_fits(const struct param_info *p, const struct param_value *v, u32 cpus, char *why,
		size_t n)
{
	char shown[SHOWN];

	for (u32 c = (u32)v->text.n * 4; c-- > cpus;)
		if (mask_bit(v->text, c)) {
			fmt_sn(why, n, "%s=%s: CPU %u of %u; allowed bits 0..%u", p->name,
			       span_text(v->text, shown, sizeof(shown)), c, cpus, cpus - 1);
			return false;
		}
	return true;
}

void param_mask(const struct param_value *v, struct cpumask *out)
{
	memset(out, 0, sizeof(*out));
	for (u32 c = 0; c < v->text.n * 4 && c < MAX_CPUS; c++)
		if (mask_bit(v->text, c))
			cpumask_set(out, c);
}

/* ---- values to text ------------------------------------------------------ */

static char *word_text(const struct param_info *p, s64 index, char *buf, size_t n)
{
	struct span rest = span_of(p->words), word = { "", 0 };

	for (s64 i = 0; i <= index && span_next(&rest, '|', &word); i++)
		;
	fmt_sn(buf, n, "%.*s", (int)word.n, word.p);
	return buf;
}

char *param_text(const struct param_info *p, const struct param_value *v, char *buf, size_t n)
{
	char number[40];
	size_t len = 0;

	if (p->kind == PARAM_WORD)
		return word_text(p, v->v[0], buf, n);
	if (v->unset) {
		fmt_sn(buf, n, "%s", p->unset);
		return buf;
	}
	if (p->kind == PARAM_MASK) {
		struct span digits = v->text;

		for (; digits.n >= n && *digits.p == '0'; digits.n--)
			digits.p++;
		fmt_sn(buf, n, "%.*s", (int)digits.n, digits.p);
		return buf;
	}
	for (u32 i = 0; i < v->nr && len < n; i++)
		len += (size_t)fmt_sn(buf + len, n - len, "%s%s", i ? ":" : "",
				      decimal_text(number, v->v[i], p->digits));
	return buf;
}

static void json_number(struct json *j, const char *key, s64 v, u32 digits)
{
	for (; digits && v % 10 == 0; digits--)
		v /= 10;
	json_dec(j, key, v, digits);
}

void param_json(struct json *j, const struct param_info *p, const struct param_value *v)
{
	char word[MAX_CPUS / 4 + SHOWN];

	if (v->unset) {
		json_str(j, p->name, p->unset);
		return;
	}
	switch (p->kind) {
	case PARAM_MASK:
		json_str(j, p->name, param_text(p, v, word, sizeof(word)));
		break;
	case PARAM_NUMBER:
		json_number(j, p->name, v->v[0], p->digits);
		break;
	case PARAM_WORD:
		json_str(j, p->name, word_text(p, v->v[0], word, sizeof(word)));
		break;
	case PARAM_LIST:
		json_arr(j, p->name);
		for (u32 i = 0; i < v->nr; i++)
			json_number(j, NULL, v->v[i], p->digits);
		json_end_arr(j);
		break;
	}
}

/* ---- the declaration ----------------------------------------------------- */

/* [a-z][a-z0-9_]*, so that it can be a key and a field of a frame. */
static bool name_ok(const char *name)
{
	if (name[0] < 'a' || name[0] > 'z')
		return false;
	for (; *name; name++)
		if (!(*name >= 'a' && *name <= 'z') && !(*name >= '0' && *name <= '9') &&
		    *name != '_')
			return false;
	return true;
}

static bool param_valid(const struct workload *w, u32 i, char *why, size_t n)
{
	const struct param_info *p = workload_param(w, i);
	struct span rest = span_of(workload_param_default(w, i)), item;
	struct param_value value;

	if (!name_ok(p->name) || workload_param_find(w, span_of(p->name)) != i) {
		fmt_sn(why, n, "%s: bad or repeated parameter name \"%s\"", w->name, p->name);
		return false;
	}
	if (p->per_machine && p->digits) {
		fmt_sn(why, n, "%s: %s counts CPUs and has decimals", w->name, p->name);
		return false;
	}
	while (span_next(&rest, ',', &item))
		if (!param_parse(p, item, &value, why, n))
			return false;
	return true;
}

bool workload_valid(const struct workload *w, char *why, size_t n)
{
	if (!name_ok(w->name)) {
		fmt_sn(why, n, "bad workload name \"%s\"", w->name);
		return false;
	}
	if (workload_nr_params(w) > PARAM_MAX || !w->nr_metrics != (w->kind == WORKLOAD_PROBE)) {
		fmt_sn(why, n, "%s: %u parameters, at most %d; %u metrics, at least 1, a probe 0",
		       w->name, workload_nr_params(w), PARAM_MAX, w->nr_metrics);
		return false;
	}
	if ((w->kind == WORKLOAD_SCENARIO) != (w->judge && w->arms) ||
	    (w->kind == WORKLOAD_PROBE) != (w->report != NULL)) {
		fmt_sn(why, n, "%s: a scenario has judge and arms, a probe report", w->name);
		return false;
	}
	for (u32 i = 0; i < workload_nr_params(w); i++)
		if (!param_valid(w, i, why, n))
			return false;
	for (u32 i = 0; i < w->nr_metrics; i++)
		if (!name_ok(w->metrics[i].name)) {
			fmt_sn(why, n, "%s: bad metric name \"%s\"", w->name, w->metrics[i].name);
			return false;
		}
	return true;
}
