/* SPDX-License-Identifier: MIT */
/* Event ring and its text form; names from sched/events.def. */
#include "trace.h"

#include "../sched/place.h"
#include "console.h"
#include "lib/fmt.h"
#include "lib/string.h"

#define TRACE_RING 1024

struct trace_entry {
	u64 now_ns;
	u32 cpu, event;
	u64 arg[4];
};

static const struct {
	const char *name, *arg[4];
} event_info[EV_NR] = {
#define EVENT(name_, a, b, c, d) [EV_##name_] = { #name_, { a, b, c, d } },
#include "../sched/events.def"
#undef EVENT
};

/* ---- words for arguments ------------------------------------------------------- */

static const char *stage_word(u64 v)
{
	static const char *const name[] = {
#define STAGE(id, name, help) name,
#include "../sched/stages.def"
#undef STAGE
	};

	return v < ARRAY_SIZE(name) ? name[v] : NULL;
}

static const char *state_word(u64 v)
{
	return v <= TASK_DEAD ? sched_state_name((enum sched_state)v) : NULL;
}

static const char *flags_word(u64 v)
{
	static const char *const name[] = { "none", "sync", "fork", "sync+fork" };

	return v < ARRAY_SIZE(name) ? name[v] : NULL;
}

static const char *kind_word(u64 v)
{
	static const char *const name[] = { "wake", "fork", "exec" };

	return v < ARRAY_SIZE(name) ? name[v] : NULL;
}

static const char *call_word(u64 v)
{
	return v == ENV_CALL_WAKE_LIST ? "wake_list" : v == ENV_CALL_PULL ? "pull" : NULL;
}

static const char *line_word(u64 v)
{
	static const char *const name[] = {
#define LINE_KIND(name, help) #name,
#include "../sched/lines.def"
#undef LINE_KIND
	};

	return v < ARRAY_SIZE(name) ? name[v] : NULL;
}

/* Arguments that are enums, by their name in events.def. */
static const struct {
	const char *arg;
	const char *(*word)(u64 v); /* NULL: print the number */
} arg_words[] = {
	{ "stage", stage_word }, { "prev_state", state_word }, { "why", state_word },
	{ "flags", flags_word }, { "kind", kind_word }, { "what", call_word },
	{ "lock", line_word },
};

static const char *arg_word(const char *arg, u64 v)
{
	for (u32 i = 0; i < ARRAY_SIZE(arg_words); i++)
		if (!strcmp(arg_words[i].arg, arg))
			return arg_words[i].word(v);
	return NULL;
}

/* ---- the ring --------------------------------------------------------------------- */

bool trace_on;
static bool trace_print;
static struct trace_entry ring[TRACE_RING];
static u64 ring_next; /* live: claimed atomically */
static u64 counts[EV_NR];

static void format(const struct trace_entry *t, char *buf, size_t n)
{
	int len = fmt_sn(buf, n, "trace: %llu.%06llu cpu=%u %s",
			 (unsigned long long)(t->now_ns / 1000000),
			 (unsigned long long)(t->now_ns % 1000000), t->cpu,
			 event_info[t->event].name);

	for (u32 i = 0; i < 4 && event_info[t->event].arg[i][0] && (size_t)len < n; i++) {
		const char *arg = event_info[t->event].arg[i], *word = arg_word(arg, t->arg[i]);

		if (word)
			len += fmt_sn(buf + len, n - (size_t)len, " %s=%s", arg, word);
		else
			len += fmt_sn(buf + len, n - (size_t)len, " %s=%llu", arg,
				      (unsigned long long)t->arg[i]);
	}
}

void trace_reset(bool print)
{
	trace_on = true;
	trace_print = print;
	ring_next = 0;
	for (u32 e = 0; e < EV_NR; e++)
		counts[e] = 0;
}

/* Live: CPUs that lap one another may fill one entry at once, which is then mixed. */
static void fill(struct trace_entry *t, u32 e, const u64 arg[4])
{
	__atomic_store_n(&t->now_ns, env_now(), __ATOMIC_RELAXED);
	__atomic_store_n(&t->cpu, env_this_cpu(), __ATOMIC_RELAXED);
	__atomic_store_n(&t->event, e, __ATOMIC_RELAXED);
	for (u32 i = 0; i < 4; i++)
		__atomic_store_n(&t->arg[i], arg[i], __ATOMIC_RELAXED);
}

void trace_event(u32 e, u64 a, u64 b, u64 c, u64 d)
{
	struct trace_entry *t;

	env_irq_off(); /* live: time, CPU and the console stay together */
	env_uncharged_begin();
	t = &ring[__atomic_fetch_add(&ring_next, 1, __ATOMIC_RELAXED) % TRACE_RING];
	fill(t, e, (const u64[4]){ a, b, c, d });
	__atomic_fetch_add(&counts[e], 1, __ATOMIC_RELAXED);
	if (trace_print) {
		char buf[200];

		format(t, buf, sizeof(buf));
		console_line(buf);
	}
	env_uncharged_end();
	env_irq_on();
}

void trace_dump(u32 n, void (*line)(const char *text))
{
	u64 end = ring_next, from = end > n ? end - n : 0;
	char buf[200];

	if (end - from > TRACE_RING)
		from = end - TRACE_RING;
	for (u64 i = from; i < end; i++) {
		format(&ring[i % TRACE_RING], buf, sizeof(buf));
		line(buf);
	}
}

u64 trace_count(u32 e)
{
	return counts[e];
}
