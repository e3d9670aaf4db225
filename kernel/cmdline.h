/* SPDX-License-Identifier: MIT */
/*
 * The kernel command line, parsed and checked as a whole before anything runs:
 * words key=value separated by blanks, keys from options.def and from the
 * parameters of the workloads in bench=, probe= or scenario=.
 */
#ifndef KERNEL_CMDLINE_H
#define KERNEL_CMDLINE_H

#include "../sched/plant.h"
#include "../sched/vector.h"
#include "lib/parse.h"
#include "workloads/workload.h"

/*
 * Without bench=, probe=, scenario=, help and selftest these words fill in for keys
 * that were not given: an empty command line runs the demo comparison, exec=smp
 * alone runs it on that executor.
 */
#define CMDLINE_DEMO \
	"bench=hackbench groups=1,2 loops=20 runs=5 " \
	"arms=default,nopull:NO_IDLE_PULL,nowa:NO_WA_IDLE"

#define CMDLINE_MAX 8191      /* bytes */
#define CMDLINE_WORDS_MAX 128
#define CMDLINE_ERROR_MAX 512
#define CMDLINE_BENCH_MAX 32  /* workloads of one command */
#define ARM_MAX 32
#define ARM_NAME_MAX 32       /* as typed; "#2" and the like come on top */
#define PLAN_RUNS_MAX 1000000 /* points x arms x seeds of one command */

enum cmdline_option {
#define OPTION_NUMBER(key, digits, def, min, max, help) OPT_##key,
#define OPTION_WORD(key, def, words, help) OPT_##key,
#define OPTION_TEXT(key, def, allowed, help) OPT_##key,
#include "options.def"
#undef OPTION_NUMBER
#undef OPTION_WORD
#undef OPTION_TEXT
	OPT_NR
};

/* Words of options.def, in its order. profile= follows enum sched_profile. */
enum cmdline_cost { COST_TABLE, COST_INSN };
enum cmdline_exec { EXEC_MUX, EXEC_SMP, EXEC_LIVE, EXEC_HOST };
enum cmdline_topo_rules { TOPO_RULES_CURRENT, TOPO_RULES_LINUX52 };
enum cmdline_line_reads { LINE_READS_SERIAL, LINE_READS_SHARED };

enum option_kind { OPTION_KIND_NUMBER, OPTION_KIND_WORD, OPTION_KIND_TEXT };

struct option_info {
	const char *name;
	enum option_kind kind;
	u32 digits;
	u64 def, min, max;    /* numbers, times 10^digits; def of a word its index */
	const char *words;    /* of a word; of a text what is allowed */
	const char *def_text; /* of a text */
	const char *help;
};

extern const struct option_info option_table[OPT_NR];

/* plants.def, by enum sched_plant; NULL behind the last name. */
extern const char *const plant_names[PLANT_NR + 1];
extern const char *const plant_help[PLANT_NR];

/* Names that only the caller knows; NULL at the end, or no table. */
struct cmdline_names {
	const char *const *machines;  /* the first is the default */
	const char *const *selftests;
};

struct arm {
	char name[ARM_NAME_MAX + 8];
	struct sched_vector vector;
};

struct cmdline_word {
	struct span key, value; /* value.p is NULL for a bare word */
	bool demo;              /* filled in, not typed */
};

/* Variants that are compared with each other, the first of them being the reference. */
struct arm_range {
	u32 first, nr; /* of cl->arm */
};

/* The values of one parameter: text, so that long sweeps need no table. */
struct sweep {
	const char *text; /* items separated by ',', each checked */
	u32 nr;
};

struct cmdline {
	char text[CMDLINE_MAX + 1 + sizeof(CMDLINE_DEMO)]; /* terminated words; spans and
							      pointers below lead here */
	struct cmdline_word word[CMDLINE_WORDS_MAX];
	u32 nr_words;
	bool given[OPT_NR];              /* on the command line or by the demo */
	u64 number[OPT_NR];              /* numbers and indices of words, defaults filled in */
	const char *value[OPT_NR];       /* texts, defaults filled in; "" for a bare word */
	const struct workload *bench[CMDLINE_BENCH_MAX]; /* of one kind */
	struct sweep sweep[CMDLINE_BENCH_MAX][PARAM_MAX];
	struct arm_range arms[CMDLINE_BENCH_MAX]; /* of each workload */
	u32 nr_bench;                    /* 0 for bench=list, help or selftest alone */
	struct arm arm[ARM_MAX];
	u32 nr_arms;                     /* at least 1 */
	u32 machine;                     /* index into the names' machines */
	u32 hz;
	enum sched_plant plant;          /* PLANT_none in release builds */
	char exec[8];                    /* the word of exec= */
	bool help;                       /* print the help and run nothing */
	const char *help_name;           /* restricts it; NULL: everything, */
	enum workload_kind listed;       /* or probe=list, scenario=list: those */
	char error[CMDLINE_ERROR_MAX];   /* "error: ..." when parsing failed, else "" */
};

/*
 * Parses text (terminated within CMDLINE_MAX + 1 bytes, else it is too long).
 * truncated: the loader's text was cut. False with cl->error: the caller prints
 * it and exits with status 2. cl must stay where it is. Panics if a table
 * compiled in contradicts itself.
 */
bool cmdline_parse(struct cmdline *cl, const char *text, bool truncated,
		   const struct cmdline_names *names);

/* Parts of cmdline_parse(), false with a reason in cl->error. */

/* Parses bench=, probe= or scenario= into cl->bench. */
bool workloads_parse(struct cmdline *cl);

/* Gives the value to each workload that has the parameter; *found if any has. */
bool sweep_set(struct cmdline *cl, const struct cmdline_word *w, bool *found);

/* And their defaults to the parameters that were not given. */
bool sweep_defaults(struct cmdline *cl);

/* Parses arms=, or what scenarios compare without it; profile= is read from cl. */
bool arms_parse(struct cmdline *cl);

/* The word with that key; NULL when it was not given. */
const struct cmdline_word *cmdline_word(const struct cmdline *cl, struct span key);

/* "error: KEY= needs a value; allowed ..."; returns false. */
bool cmdline_needs_value(struct cmdline *cl, const char *key, const char *allowed);

/* What is allowed for an option: "1..1000", "mux|smp|live". Returns buf. */
char *option_allowed(const struct option_info *o, const struct cmdline_names *names, char *buf,
		     size_t n);

/* "error: " and the text into cl->error; returns false. */
bool cmdline_error(struct cmdline *cl, const char *f, ...) printf_like(2, 3);

#endif
