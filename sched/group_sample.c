/* SPDX-License-Identifier: MIT */
/*
 * How far off group weights are: spec/group-load.md section 6. At a CPU's tick, each
 * group whose entity is queued there, for a weight off queue decides nothing. Compared
 * with the formula, had every CPU published what its queue's average is now, what
 * wakers have taken away already off; and with shares by the weight of what is queued.
 * Averages of other CPUs are as of their last update.
 */
#include "../kernel/lib/math64.h"
#include "group_load.h"
#include "load_parts.h"

/* What the other CPUs have of a group, and this one. */
struct group_sum {
	u64 load_avg;   /* as it is */
	u64 current;    /* without removals that are pending */
	u64 weight;
};

static u64 current_load(const struct cfs_rq *q)
{
	u64 load = read_once(&q->avg.load_avg), removed = read_once(&q->removed.load_avg);

	return load > removed ? load - removed : 0;
}

static struct group_sum sum_up(const struct sched *s, const struct task_group *tg)
{
	struct group_sum sum = { 0 };

	for (u32 c = 0; c < s->nr_cpus; c++) {
		const struct cfs_rq *q = tg->cfs_rq[c];

		sum.load_avg += read_once(&q->avg.load_avg);
		sum.current += current_load(q);
		sum.weight += scale_load_down(s, read_once(&q->load.weight));
	}
	return sum;
}

static u64 permille_off(u64 is, u64 should)
{
	u64 off = is > should ? is - should : should - is;

	return off * 1000 / should;
}

/* An error into its sums: of the CPU, and of the queue. */
#define NOTE(count, stats, what, is, should)                                              \
	do {                                                                              \
		u64 off_ = permille_off(is, should);                                      \
		counter_add(&(count)->tg_##what##_sum, off_);                             \
		counter_add(&(count)->tg_##what##_high, (is) > (should));                 \
		counter_add(&(count)->tg_##what##_log2                                    \
				     [log2_bucket(off_,                                   \
						  ARRAY_SIZE((count)->tg_##what##_log2))], \
			    1);                                                           \
		counter_add(&(stats)->what##_sum, off_);                                  \
		if (off_ > (stats)->what##_max)                                           \
			__atomic_store_n(&(stats)->what##_max, off_, __ATOMIC_RELAXED);   \
	} while (0)

static void sample(struct rq *rq, struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched *s = rq->sched;
	struct sched_counters *count = &rq->count;
	struct group_sum sum = sum_up(s, q->tg);
	u64 own = current_load(q), ideal, weight = se->load.weight;
	struct group_load g = {
		.shares = __atomic_load_n(&q->tg->shares, __ATOMIC_RELAXED),
		.tg_load = (s64)sum.current, .contrib = own, .load_avg = own,
		.weight = scale_load_down(s, q->load.weight),
	};
	u64 formula = calc_group_shares(&g);
	s64 told = tg_load_peek(s, q->tg);

	ideal = sum.weight ? g.shares * g.weight / sum.weight : g.shares;
	if (ideal < MIN_SHARES)
		ideal = MIN_SHARES;
	counter_add(&count->tg_samples, 1);
	counter_add(&q->stats.samples, 1);
	NOTE(count, &q->stats, formula, weight, formula);
	NOTE(count, &q->stats, ideal, weight, ideal);
	if (!sum.load_avg)
		return;
	counter_add(&count->tg_load_samples, 1);
	counter_add(&q->stats.load_samples, 1);
	NOTE(count, &q->stats, load, told > 0 ? (u64)told : 0, sum.load_avg);
}

void sample_groups(struct rq *rq)
{
	u64 every = rq->sched->vector.value[TUN_TG_SAMPLE_EVERY];

	if (!every || rq->count.ticks % every)
		return;
	env_uncharged_begin();
	list_for_each(n, &rq->leaf_queues) {
		struct cfs_rq *q = container_of(n, struct cfs_rq, leaf_node);
		const struct sched_entity *se = owner_entity(q);

		if (se && se->on_rq)
			sample(rq, q, se);
	}
	env_uncharged_end();
}

void tg_stats(const struct sched *s, const struct task_group *tg, struct tg_stats *out)
{
	*out = (struct tg_stats){ 0 };
	for (u32 c = 0; c < s->nr_cpus; c++) {
		const struct tg_cpu_stats *k = &tg->cfs_rq[c]->stats;

#define ADD(field) out->field += read_once(&k->field)
#define MAX(field) \
	out->field = out->field > read_once(&k->field) ? out->field : read_once(&k->field)
		ADD(weight_updates);
		ADD(load_reads);
		ADD(published);
		ADD(below_threshold);
		ADD(rate_limited);
		ADD(samples);
		ADD(formula_sum);
		MAX(formula_max);
		ADD(ideal_sum);
		MAX(ideal_max);
		ADD(load_samples);
		ADD(load_sum);
		MAX(load_max);
#undef ADD
#undef MAX
	}
}
