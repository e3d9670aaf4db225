/* SPDX-License-Identifier: MIT */
/*
 * The weight of a group's entity on one CPU, and the counters of the group's load on
 * all CPUs that it follows from: spec/group-load.md sections 1, 2, 4 and 5. Every
 * CPU that runs tasks of the group reads and writes these counters' lines under its
 * rq lock, which is what the series of 2023 is about.
 */
#include "group_load.h"
#include "pelt.h"

static inline bool counts_by_node(const struct sched *s)
{
	return s->vector.value[FEAT_TG_COUNTER] == TG_COUNTER_NODE;
}

/* ---- the counters --------------------------------------------------------------- */

/* One after the other: a sum while others write may be of no moment at all. */
static s64 tg_load_read(struct cfs_rq *q)
{
	struct sched *s = q->rq->sched;
	struct task_group *tg = q->tg;
	u32 nr = counts_by_node(s) ? s->topo->nr_nodes : 1;
	s64 sum = 0;

	for (u32 n = 0; n < nr; n++) {
		env_line_read(&tg->load[n].line);
		sum += __atomic_load_n(&tg->load[n].value, __ATOMIC_RELAXED);
	}
	counter_add(&this_rq(s)->count.tg_load_reads, nr);
	counter_add(&q->stats.load_reads, nr);
	return sum;
}

s64 tg_load_peek(const struct sched *s, const struct task_group *tg)
{
	s64 sum = 0;

	for (u32 n = 0; n < s->topo->nr_nodes; n++)
		sum += __atomic_load_n(&tg->load[n].value, __ATOMIC_RELAXED);
	return sum;
}

/* By the CPU that does the work, whichever queue it works on. */
static void tg_load_add(struct cfs_rq *q, s64 delta)
{
	struct sched *s = q->rq->sched;
	u32 n = counts_by_node(s) ? s->topo->cpu[env_this_cpu()].node : 0;
	struct tg_load *load = &q->tg->load[n];

	env_line_write(&load->line);
	if (!planted_once(s, lost_publish))
		__atomic_fetch_add(&load->value, delta, __ATOMIC_RELAXED);
}

/* ---- publishing ------------------------------------------------------------------- */

void publish_load(struct cfs_rq *q, bool teardown)
{
	u64 load = teardown ? 0 : q->avg.load_avg;

	if (load == q->tg_load_avg_contrib)
		return;
	env_path_begin(PATH_UPDATE_TG_LOAD);
	tg_load_add(q, (s64)(load - q->tg_load_avg_contrib));
	__atomic_store_n(&q->tg_load_avg_contrib, load, __ATOMIC_RELAXED);
	env_path_end(PATH_UPDATE_TG_LOAD);
	if (teardown)
		schedstat_inc(q->rq->sched, tg_teardowns);
}

static bool rate_limited(const struct cfs_rq *q, u64 *now_ns)
{
	if (q->rq->sched->vector.value[FEAT_TG_PUBLISH] != TG_PUBLISH_RATE)
		return false;
	env_charge(ENV_RDTSC);
	*now_ns = env_now();
	return publish_limited(*now_ns, q->published_ns);
}

void update_tg_load_avg(struct cfs_rq *q, enum publish_cause cause)
{
	struct sched *s = q->rq->sched;
	u64 parts = s->vector.value[FEAT_TG_THRESHOLD] ? 16 : 64, now_ns = 0;
	struct sched_counters *count;

	if (!q->tg->parent)
		return;
	env_path_begin(PATH_UPDATE_TG_LOAD);
	count = &this_rq(s)->count;
	counter_add(&count->tg_publish_calls, 1);
	if (rate_limited(q, &now_ns)) {
		counter_add(&count->tg_rate_limited, 1);
		counter_add(&q->stats.rate_limited, 1);
	} else if (!publish_due(q->avg.load_avg, q->tg_load_avg_contrib, parts)) {
		counter_add(&count->tg_below_threshold, 1);
		counter_add(&q->stats.below_threshold, 1);
	} else {
		tg_load_add(q, (s64)(q->avg.load_avg - q->tg_load_avg_contrib));
		__atomic_store_n(&q->tg_load_avg_contrib, q->avg.load_avg, __ATOMIC_RELAXED);
		q->published_ns = now_ns;
		counter_add(&count->tg_published, 1);
		counter_add(&count->tg_publish_cause[cause], 1);
		counter_add(&q->stats.published, 1);
	}
	env_path_end(PATH_UPDATE_TG_LOAD);
}

/* ---- weight ---------------------------------------------------------------------------- */

/* An entity off its queue decides nothing, one alone there has nobody to compete with:
 * the skip patch. */
static bool left_out(const struct sched_entity *se, enum weight_site site)
{
	switch (se->cfs_rq->rq->sched->vector.value[FEAT_TG_WEIGHT]) {
	case TG_WEIGHT_SKIP:
		return site == WEIGHT_DEQUEUE ||
		       (site == WEIGHT_ENQUEUE && !se->cfs_rq->nr_running);
	case TG_WEIGHT_TICK:
		return site != WEIGHT_TICK && site != WEIGHT_SHARES;
	default:
		return false;
	}
}

void update_group_weight(struct sched_entity *se, enum weight_site site)
{
	struct cfs_rq *q = se->my_q;
	struct sched *s = q->rq->sched;
	struct sched_counters *count = &this_rq(s)->count;
	struct group_load g;
	u64 weight, runnable = 0;

	if (left_out(se, site)) {
		counter_add(&count->tg_skip_site[site], 1);
		return;
	}
	env_path_begin(PATH_UPDATE_CFS_GROUP);
	counter_add(&count->tg_weight_updates, 1);
	counter_add(&count->tg_weight_site[site], 1);
	counter_add(&q->stats.weight_updates, 1);
	g.tg_load = tg_load_read(q);
	g.shares = __atomic_load_n(&q->tg->shares, __ATOMIC_RELAXED);
	g.contrib = q->tg_load_avg_contrib;
	g.weight = scale_load_down(s, q->load.weight);
	g.load_avg = q->avg.load_avg;
	env_charge(ENV_DIV);
	weight = calc_group_shares(&g);
	if (group_total_load(&g) < 0 || (!group_total_load(&g) && group_local_load(&g)))
		counter_add(&count->tg_total_negative, 1);
	if (!profile_v64(s)) {
		env_charge(ENV_DIV);
		runnable = calc_group_runnable(&g, weight, q->avg.runnable_load_avg,
					       scale_load_down(s, q->runnable_load_weight));
	}
	if (weight == se->load.weight)
		counter_add(&count->tg_weight_same, 1);
	reweight_entity(se->cfs_rq, se, weight, 0, runnable);
	q->weighed_shares = g.shares;
	env_path_end(PATH_UPDATE_CFS_GROUP);
}
