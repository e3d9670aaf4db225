/* SPDX-License-Identifier: MIT */
/*
 * Shared-line model, spec/group-load.md section 9. A line has a set of CPUs
 * that hold a copy and a time until which it is busy: misses queue behind one
 * another, hits do not.
 */
#include "../../sched/env.h"
#include "../lib/string.h"
#include "engine.h"

#define READ_HIT_PS 1000 /* spec/group-load.md section 9: h */

/* Spacing of transfers on a saturated line against one hand-over, per cent:
 * spec/machines.md, "RMW rule E". */
#define SPACING_PCT 85

void engine_line_init(struct env_line *l, u8 kind)
{
	*l = (struct env_line){ .kind = kind };
	/* Live has no use for it, nor a lock for the arena. */
	if (engine.live)
		return;
	l->sharers = engine.free_sets;
	if (l->sharers) {
		engine.free_sets = (u64 *)(uintptr_t)l->sharers[0];
		memset(l->sharers, 0, engine.set_words * sizeof(u64));
	} else {
		l->sharers = arena_alloc(engine.cfg.arena, engine.set_words * sizeof(u64));
	}
}

void engine_line_drop(struct env_line *l)
{
	if (!l->sharers)
		return;
	l->sharers[0] = (uintptr_t)engine.free_sets;
	engine.free_sets = l->sharers;
	l->sharers = NULL;
}

static bool others_hold(const struct env_line *l, u32 cpu, const struct cpumask *m)
{
	for (u32 i = 0; i < engine.set_words; i++) {
		u64 w = l->sharers[i] & (m ? m->w[i] : ~0ull);

		if (i == cpu / 64)
			w &= ~(1ull << (cpu % 64));
		if (w)
			return true;
	}
	return false;
}

/* Some holder other than cpu lies outside the mask. */
static bool held_outside(const struct env_line *l, const struct cpumask *m)
{
	for (u32 i = 0; i < engine.set_words; i++)
		if (l->sharers[i] & ~m->w[i])
			return true;
	return false;
}

/* Distance to the nearest other holder; DIST_SELF when there is none: memory. */
static enum topo_dist nearest(const struct env_line *l, u32 cpu)
{
	const struct sched_topo *t = engine.cfg.topo;

	if (others_hold(l, cpu, topo_mask(t, TOPO_SMT, cpu)))
		return DIST_SMT;
	if (others_hold(l, cpu, topo_mask(t, TOPO_LLC, cpu)))
		return DIST_LLC;
	if (others_hold(l, cpu, topo_mask(t, TOPO_PKG, cpu)))
		return DIST_PKG;
	return others_hold(l, cpu, NULL) ? DIST_REMOTE : DIST_SELF;
}

/* Distance to the farthest other holder; DIST_SELF when there is none. */
static enum topo_dist farthest(const struct env_line *l, u32 cpu)
{
	const struct sched_topo *t = engine.cfg.topo;

	if (held_outside(l, topo_mask(t, TOPO_PKG, cpu)))
		return DIST_REMOTE;
	if (held_outside(l, topo_mask(t, TOPO_LLC, cpu)))
		return DIST_PKG;
	if (held_outside(l, topo_mask(t, TOPO_SMT, cpu)))
		return DIST_LLC;
	return others_hold(l, cpu, NULL) ? DIST_SMT : DIST_SELF;
}

/* No copy anywhere: memory. The machine table has no such column; the farthest
 * hand-over is its nearest relative in size. */
static u64 miss_ps(const struct machine *m, enum topo_dist d)
{
	return machine_by_distance(m->c2c_ps, (d == DIST_SELF ? DIST_REMOTE : d) - DIST_SMT);
}

u64 line_access(struct env_line *l, u32 cpu, u64 at_ps, bool write)
{
	const struct machine *m = engine.cfg.machine;
	struct line_stats *st = &engine.line_stats[l->kind];
	u64 bit = 1ull << (cpu % 64);
	bool mine = l->sharers[cpu / 64] & bit;
	bool hit = mine && (!write || !others_hold(l, cpu, NULL));
	u64 cost_ps;

	if (write)
		st->writes++;
	else
		st->reads++;
	if (hit) {
		st->hits++;
		cost_ps = write ? m->lock_rmw_ps : READ_HIT_PS;
	} else {
		enum topo_dist d = write ? farthest(l, cpu) : nearest(l, cpu);
		u64 c_ps = miss_ps(m, d);
		u64 start_ps = at_ps > l->busy_until_ps ? at_ps : l->busy_until_ps;
		bool extends = write || !engine.cfg.reads_shared || !l->read_since_write;

		if (extends)
			l->busy_until_ps = start_ps + c_ps * SPACING_PCT / 100;
		st->misses[d]++;
		st->wait_ps += start_ps - at_ps;
		cost_ps = start_ps - at_ps + c_ps;
	}
	if (write)
		memset(l->sharers, 0, engine.set_words * sizeof(u64));
	l->sharers[cpu / 64] |= bit;
	l->read_since_write = !write;
	st->cost_ps += cost_ps;
	return cost_ps;
}

void engine_line_give(struct env_line *l, u32 cpu)
{
	memset(l->sharers, 0, engine.set_words * sizeof(u64));
	l->sharers[cpu / 64] = 1ull << (cpu % 64);
	l->read_since_write = false;
}

void line_pay(struct env_line *l, struct ecpu *c, bool write)
{
	u64 cost_ps = line_access(l, c->id, c->now_ps, write);

	engine.path_line_ps[path_top(c)] += cost_ps;
	c->now_ps += cost_ps;
}

static void access(struct env_line *l, bool write)
{
	engine_sync();
	line_pay(l, engine.cur, write);
}

void engine_line_read(struct env_line *l)
{
	access(l, false);
}

void engine_line_write(struct env_line *l)
{
	access(l, true);
}
