/* SPDX-License-Identifier: MIT */
/*
 * Named paths: what they cost, and whose time it is. Every CPU's time goes to the
 * innermost path of the task that it runs, to work, or to idleness; each moment
 * to one of them.
 */
#include "../../sched/env.h"
#include "../panic.h"
#include "engine.h"

/* c's time since the last call was the running path's. */
static void account(struct ecpu *c)
{
	engine.path_time_ps[path_top(c)] += c->now_ps - c->accounted_ps;
	c->accounted_ps = c->now_ps;
}

void engine_path_begin(u8 p)
{
	struct path_stack *s = engine.cur->paths;

	panic_unless(s->depth < sizeof(s->id), "path %u: nested too deep", p);
	account(engine.cur);
	s->id[s->depth++] = p;
	engine.path_count[p]++;
	engine_charge_code_ps(engine.path_ps[p]);
}

void engine_path_end(u8 p)
{
	struct path_stack *s = engine.cur->paths;

	panic_unless(s->depth && s->id[s->depth - 1] == p, "path %u ends inside another", p);
	account(engine.cur);
	s->depth--;
}

void engine_path_switch(u32 cpu, struct path_stack *to)
{
	struct ecpu *c = &engine.cpu[cpu];

	if (!engine.live)
		account(c);
	c->paths = to;
}

void path_pause(struct ecpu *c)
{
	account(c);
}

void path_resume(struct ecpu *c)
{
	c->accounted_ps = c->now_ps;
}
