/* SPDX-License-Identifier: MIT */
/* Other switches for a scheduler that runs: spec/group-load.md section 5. */
#include "pelt.h"

/* What the old variant has put off on one CPU: postponed removals, small changes that
 * nobody was told, the time of the last publish. */
static void settle(struct rq *rq)
{
	rq_lock(rq);
	update_rq_clock(rq);
	env_line_write(&rq->state_line);
	list_for_each(n, &rq->leaf_queues) {
		struct cfs_rq *q = container_of(n, struct cfs_rq, leaf_node);
		struct sched_entity *se = owner_entity(q);

		update_cfs_rq_load_avg(q, rq_clock_pelt(rq));
		fold_removed(q);
		if (!se)
			continue;
		publish_load(q, false);
		update_load_avg(se->cfs_rq, se, 0);
	}
	for (struct task_group *tg = NULL; (tg = tg_next(rq->sched, tg));)
		tg->cfs_rq[rq->cpu]->published_ns = 0;
	rq_unlock(rq);
}

/* A single counter is the first node's. */
static void fold_counters(struct sched *s, struct task_group *tg)
{
	s64 sum = tg_load_peek(s, tg);

	for (u32 n = 0; n < s->topo->nr_nodes; n++) {
		env_line_write(&tg->load[n].line);
		__atomic_store_n(&tg->load[n].value, n ? 0 : sum, __ATOMIC_RELAXED);
	}
}

void sched_switch_vector(struct sched *s, const struct sched_vector *vector)
{
	env_assert(vector->profile == s->vector.profile &&
		   feat(vector, FEAT_SD_PKG) == sched_feat(s, SD_PKG),
		   "profile and domains are built in");
	env_irq_off();
	for (u32 c = 0; c < s->nr_cpus; c++)
		settle(cpu_rq(s, c));
	for (struct task_group *tg = &s->root_tg; (tg = tg_next(s, tg));)
		fold_counters(s, tg);
	s->vector = *vector;
	sched_init_granularity(s, cpumask_weight(&s->online, s->nr_cpus));
	for (u32 c = 0; c < s->nr_cpus; c++)
		rq_follow_vector(cpu_rq(s, c));
	env_irq_on();
}
