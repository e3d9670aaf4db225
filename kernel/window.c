/* SPDX-License-Identifier: MIT */
/* The measured part of a run: see window.h. */
#include "window.h"

#include "lib/string.h"

static struct {
	bool open, begun, ended;
	struct run_stats begin, end;
} window;

void window_init(bool timed)
{
	memset(&window, 0, sizeof(window));
	window.open = !timed;
	window.begin.at_ps = ENGINE_START_PS;
}

static void add_counters(struct run_stats *out)
{
	u64 *to = (u64 *)&out->counters;

	for (u32 c = 0; c < engine.nr_cpus; c++) {
		const u64 *from = (const u64 *)sched_counters(the_sched, c);

		for (u32 i = 0; i < sizeof(out->counters) / sizeof(u64); i++)
			to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	}
}

/* c's time since its account was last made up goes where it belongs, up to at_ps. */
static void add_cpu(struct run_stats *out, const struct ecpu *c, u64 at_ps)
{
	out->idle_ps += c->idle_total_ps;
	out->lock_wait_ps += c->lock_wait_ps;
	out->irqs += c->irqs;
	switch (c->state) {
	case ECPU_IDLE:
		out->idle_ps += at_ps > c->idle_since_ps ? at_ps - c->idle_since_ps : 0;
		break;
	case ECPU_BURN:
		out->work_ps += at_ps > c->accounted_ps ? at_ps - c->accounted_ps : 0;
		break;
	default:
		out->path_time_ps[path_top(c)] += c->now_ps - c->accounted_ps;
		break;
	}
}

static void add_engine(struct run_stats *out)
{
	for (u32 c = 0; c < engine.nr_cpus; c++)
		add_cpu(out, &engine.cpu[c], out->at_ps);
	out->work_ps += engine.work_ps;
	for (u32 p = 0; p <= PATH_NR; p++) {
		out->path_count[p] = engine.path_count[p];
		out->path_time_ps[p] += engine.path_time_ps[p];
		out->path_line_ps[p] = engine.path_line_ps[p];
		out->path_lock_ps[p] = engine.path_lock_ps[p];
	}
	memcpy(out->lines, engine.line_stats, sizeof(out->lines));
	out->refills = *task_refills();
}

static void take(struct run_stats *out, bool stands_still, u64 at_ps)
{
	memset(out, 0, sizeof(*out));
	out->at_ps = at_ps;
	add_counters(out);
	if (stands_still)
		add_engine(out);
}

static void edge(struct run_stats *out, bool open)
{
	env_uncharged_begin();
	take(out, !engine.live, env_now() * 1000);
	__atomic_store_n(&window.open, open, __ATOMIC_RELAXED);
	env_uncharged_end();
}

void window_begin(void)
{
	edge(&window.begin, true);
	window.begun = true;
}

void window_end(void)
{
	edge(&window.end, false);
	window.ended = true;
}

bool window_open(void)
{
	return __atomic_load_n(&window.open, __ATOMIC_RELAXED);
}

void window_result(struct run_stats *out)
{
	const u64 *from = (const u64 *)&window.begin;
	u64 *to = (u64 *)out;

	if (window.ended && !engine.live) {
		*out = window.end;
	} else {
		take(out, true, engine.live ? live_now() * 1000 : engine.last_action_ps);
		if (window.ended) { /* live: what was atomic ends with the window */
			out->counters = window.end.counters;
			out->at_ps = window.end.at_ps;
		}
	}
	_Static_assert(sizeof(*out) % sizeof(u64) == 0, "nothing but u64");
	for (u32 i = 0; i < sizeof(*out) / sizeof(u64); i++)
		to[i] -= from[i];
}
