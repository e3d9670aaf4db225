/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of weights and slices: spec/cfs-core.md sections 2, 3 and 6. Every
 * step truncates as the kernel's does, for published results depend on it.
 */
#include "sched_int.h"
#include "../kernel/lib/math64.h"

const u32 sched_prio_to_weight[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548,  7620,  6100,  4904,  3906,  3121,  2501,  1991,	1586,  1277,
	1024,  820,   655,   526,   423,   335,	  272,	 215,	172,   137,
	110,   87,    70,    56,    45,	   36,	  29,	 23,	18,    15,
};

/* About 2^32 / weight; rounded both ways, as published. */
const u32 sched_prio_to_wmult[40] = {
	48388,	   59856,     76040,	 92818,	    118348,    147320,	  184698,    229616,
	287308,	   360437,    449829,	 563644,    704093,    875809,	  1099582,   1376151,
	1717300,   2157191,   2708050,	 3363326,   4194304,   5237765,	  6557202,   8165337,
	10153587,  12820798,  15790321,	 19976592,  24970740,  31350126,  39045157,  49367440,
	61356676,  76695844,  95443717,	 119304647, 148102320, 186737708, 238609294, 286331153,
};

u64 scale_load_down(const struct sched *s, u64 w)
{
	u64 down = w >> SCHED_FIXEDPOINT_SHIFT;

	if (profile_v64(s) && w && down < 2)
		return 2;
	return down;
}

static void fill_inverse(const struct sched *s, struct load_weight *lw)
{
	u64 w = scale_load_down(s, lw->weight);

	if (w >= UINT32_MAX) {
		lw->inv_weight = 1;
	} else if (!w) {
		lw->inv_weight = UINT32_MAX;
	} else {
		env_charge(ENV_DIV);
		lw->inv_weight = (u32)(UINT32_MAX / w);
	}
}

u64 calc_delta(const struct sched *s, u64 delta, u64 weight, struct load_weight *lw)
{
	u64 fact = scale_load_down(s, weight);
	int shift = 32;

	if (!lw->inv_weight)
		fill_inverse(s, lw);
	for (; fact >> 32; shift--)
		fact >>= 1;
	fact = (u64)(u32)fact * lw->inv_weight;
	for (; fact >> 32; shift--)
		fact >>= 1;
	env_assert(shift >= 0, "calc_delta: weight %llu over %llu", (unsigned long long)weight,
		   (unsigned long long)lw->weight);
	return (u64)((u128)delta * fact >> shift);
}

u64 calc_delta_fair(const struct sched *s, u64 delta, struct sched_entity *se)
{
	if (se->load.weight == NICE_0_LOAD)
		return delta;
	return calc_delta(s, delta, NICE_0_LOAD, &se->load);
}

void update_load_add(struct load_weight *lw, u64 w)
{
	__atomic_store_n(&lw->weight, lw->weight + w, __ATOMIC_RELAXED);
	lw->inv_weight = 0;
}

void update_load_sub(struct load_weight *lw, u64 w)
{
	__atomic_store_n(&lw->weight, lw->weight - w, __ATOMIC_RELAXED);
	lw->inv_weight = 0;
}

void sched_init_granularity(struct sched *s, u32 cpus)
{
	const u64 *v = s->vector.value;
	u32 n = cpus < 8 ? cpus : 8;
	u64 factor;

	switch (v[FEAT_TUNABLE_SCALING]) {
	case 0: /* none */
		factor = 1;
		break;
	case 1: /* log */
		factor = 1 + log2_floor(n);
		break;
	default: /* linear */
		factor = n;
		break;
	}
	s->latency = v[TUN_LATENCY] * factor;
	s->min_granularity = v[TUN_MIN_GRANULARITY] * factor;
	s->wakeup_granularity = v[TUN_WAKEUP_GRANULARITY] * factor;
	s->idle_min_granularity = v[TUN_IDLE_MIN_GRANULARITY];
	s->nr_latency = (u32)v[TUN_NR_LATENCY];
}

u64 sched_slice(struct cfs_rq *q, struct sched_entity *se)
{
	const struct sched *s = q->rq->sched;
	u32 n = profile_v64(s) ? q->rq->cfs.h_nr_running : q->nr_running;
	bool idle = se_is_idle(s, se) && q->nr_running != q->idle_nr_running;
	u64 slice, floor;

	n += !se->on_rq;
	slice = n > s->nr_latency ? n * s->min_granularity : s->latency;
	for_each_sched_entity(se) {
		struct load_weight *load = &se->cfs_rq->load, with_se;

		if (!se->on_rq) {
			with_se = *load;
			update_load_add(&with_se, se->load.weight);
			load = &with_se;
		}
		slice = calc_delta(s, slice, se->load.weight, load);
	}
	if (profile_v64(s)) {
		floor = idle ? s->idle_min_granularity : s->min_granularity;
		if (slice < floor)
			slice = floor;
	}
	return slice;
}

u64 sched_vslice(struct cfs_rq *q, struct sched_entity *se)
{
	return calc_delta_fair(q->rq->sched, sched_slice(q, se), se);
}
