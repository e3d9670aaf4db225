/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of load tracking, and its clock: spec/cfs-core.md section 10. Every
 * step truncates as the kernel's does. Averages and last_update_time are read by
 * other CPUs without the lock, so each is one store.
 */
#include "pelt.h"

#define UNIT_SHIFT 10      /* 1024 ns */
#define PERIOD_UNITS 1024
#define HALF_LIFE 32       /* periods */
#define FORGOTTEN (63 * HALF_LIFE)

/* y^n * (2^32 - 1), rounded down; y^32 = 1/2. */
static const u32 decay_inverse[HALF_LIFE] = {
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a, 0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb,
	0xdbfbb796, 0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85, 0xc5672a10, 0xc12c4cc9,
	0xbd08a39e, 0xb8fbaf46, 0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4, 0xa5fed6a9,
	0xa2704302, 0x9ef5325f, 0x9b8d39b9, 0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a,
	0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
};

u64 pelt_decay(u64 x, u64 periods)
{
	if (periods > FORGOTTEN)
		return 0;
	x >>= periods / HALF_LIFE;
	return (u64)((u128)x * decay_inverse[periods % HALF_LIFE] >> 32);
}

/* The contribution of the rest of a period that had contrib units, of all whole ones
 * until the current one, and of its first rest units, aged. */
static u64 contribution(u32 contrib, u64 periods, u32 rest)
{
	return pelt_decay(PERIOD_UNITS - contrib, periods) +
	       (LOAD_AVG_MAX - pelt_decay(LOAD_AVG_MAX, periods) - PERIOD_UNITS) + rest;
}

static inline void store(u64 *where, u64 value)
{
	__atomic_store_n(where, value, __ATOMIC_RELAXED);
}

bool pelt_step(struct sched_avg *a, u64 now_ns, const struct pelt_rate *rate)
{
	u64 delta = now_ns - a->last_update_time, periods, c;

	if (unlikely((s64)delta < 0)) {
		store(&a->last_update_time, now_ns);
		return false;
	}
	delta >>= UNIT_SHIFT;
	if (!delta)
		return false;
	store(&a->last_update_time, a->last_update_time + (delta << UNIT_SHIFT));
	c = delta;
	delta += a->period_contrib;
	periods = delta / PERIOD_UNITS;
	delta %= PERIOD_UNITS;
	if (periods) {
		a->load_sum = pelt_decay(a->load_sum, periods);
		a->runnable_sum = pelt_decay(a->runnable_sum, periods);
		a->util_sum = pelt_decay(a->util_sum, periods);
		a->runnable_load_sum = pelt_decay(a->runnable_load_sum, periods);
		c = contribution(a->period_contrib, periods, (u32)delta);
	}
	a->period_contrib = (u32)delta;
	if (rate->load) {
		a->load_sum += rate->load * c;
		a->runnable_sum += (rate->runnable * c) << SCHED_FIXEDPOINT_SHIFT;
		a->util_sum += rate->running ? c << SCHED_FIXEDPOINT_SHIFT : 0;
		a->runnable_load_sum += rate->runnable_load * c;
	}
	return periods;
}

static u64 average(u64 sum, u64 divider)
{
	env_charge(ENV_DIV);
	return sum / divider;
}

void pelt_average(struct sched_avg *a, u64 weight, u64 runnable_weight)
{
	u64 divider = pelt_divider(a);

	store(&a->load_avg, average(weight * a->load_sum, divider));
	store(&a->runnable_avg, average(a->runnable_sum, divider));
	store(&a->util_avg, average(a->util_sum, divider));
	store(&a->runnable_load_avg,
	      runnable_weight ? average(runnable_weight * a->runnable_load_sum, divider) : 0);
}

bool pelt_step_entity(struct cfs_rq *q, struct sched_entity *se, u64 now_ns)
{
	const struct sched *s = q->rq->sched;
	const struct pelt_rate rate = {
		.load = se->on_rq,
		.runnable = entity_is_task(se) ? se->on_rq : se->runnable_weight,
		.runnable_load = se->on_rq && !profile_v64(s),
		.running = q->curr == se,
	};

	if (!pelt_step(&se->avg, now_ns, &rate))
		return false;
	pelt_average(&se->avg, se_weight(s, se), profile_v64(s) ? 0 : se_runnable(s, se));
	return true;
}

bool pelt_step_blocked(const struct sched *s, struct sched_entity *se, u64 now_ns)
{
	static const struct pelt_rate nothing;

	if (!pelt_step(&se->avg, now_ns, &nothing))
		return false;
	pelt_average(&se->avg, se_weight(s, se), profile_v64(s) ? 0 : se_runnable(s, se));
	return true;
}

bool pelt_step_queue(struct cfs_rq *q, u64 now_ns)
{
	const struct sched *s = q->rq->sched;
	const struct pelt_rate rate = {
		.load = scale_load_down(s, q->load.weight),
		.runnable = q->h_nr_running,
		.runnable_load = profile_v64(s) ? 0 : scale_load_down(s, q->runnable_load_weight),
		.running = q->curr,
	};

	if (!pelt_step(&q->avg, now_ns, &rate))
		return false;
	pelt_average(&q->avg, 1, !profile_v64(s));
	return true;
}

/* ---- the clock --------------------------------------------------------------------- */

void update_rq_clock_pelt(struct rq *rq, u64 delta_ns)
{
	if (rq->curr == rq->idle)
		rq->clock_pelt = rq->clock_task;
	else
		rq->clock_pelt += delta_ns * rq->capacity / SCHED_CAPACITY;
}

void pelt_go_idle(struct rq *rq)
{
	/* Never idle at less than full capacity: what it would have done meanwhile is
	 * unknown, so the time by which clock_pelt trails does not count as idle. */
	const u64 saturated = (PELT_MIN_DIVIDER << SCHED_FIXEDPOINT_SHIFT) - LOAD_AVG_MAX;

	if (rq->cfs.avg.util_sum >= saturated)
		rq->lost_idle_time += rq->clock_task - rq->clock_pelt;
	rq->clock_pelt = rq->clock_task;
	store(&rq->clock_idle, rq->clock);
	store(&rq->clock_pelt_idle, rq_clock_pelt(rq));
}
