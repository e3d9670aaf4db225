/* SPDX-License-Identifier: MIT */
/*
 * The laws of groups: spec/cfs-core.md section 11, 11 and 12, and that the list of
 * queues with load is complete and in order. Part of sched_check_cpu(), but for the
 * sums over CPUs, which are looked at on ticks in lockstep and at the end of a run.
 */
#include "group_load.h"
#include "pelt.h"

static void violated(const struct cfs_rq *q, const char *what)
{
	const struct sched_entity *se = owner_entity(q);

	check_violated(q->rq->sched,
		       "CPU %u, group of depth %u: %s; weight %llu shares %llu load_avg %llu "
		       "contrib %llu nr %u", q->rq->cpu, q->tg->depth, what,
		       (unsigned long long)(se ? se->load.weight : 0),
		       (unsigned long long)q->weighed_shares,
		       (unsigned long long)q->avg.load_avg,
		       (unsigned long long)q->tg_load_avg_contrib, q->nr_running);
}

#define CHECK(cond, q, what)                 \
	do {                                 \
		if (unlikely(!(cond)))       \
			violated(q, what);   \
	} while (0)

void check_group(struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);

	CHECK(!q->nr_running || q->on_list, q, "has entities and is not listed");
	CHECK(!q->listed_children || q->on_list, q, "has listed children and is not");
	if (!se)
		return;
	CHECK(!q->tg_load_avg_contrib || q->on_list, q, "contributes and is not listed");
	CHECK(!q->weighed_shares || (se->load.weight >= MIN_SHARES &&
				     se->load.weight <= q->weighed_shares), q,
	      "weighs less than 2 or more than its shares");
}

void check_leaf_list(struct rq *rq)
{
	u32 children = 0, listed = 0;

	list_for_each(n, &rq->leaf_queues) {
		struct cfs_rq *q = container_of(n, struct cfs_rq, leaf_node);
		const struct sched_entity *se = owner_entity(q);

		CHECK(q->on_list, q, "is in the list and says it is not");
		children += q->listed_children;
		listed += se != NULL;
		CHECK(!se || se->cfs_rq->listed_children, q, "is listed, and its parent has none");
		for (const struct list *p = rq->leaf_queues.next; se && p != n; p = p->next)
			CHECK(p != &se->cfs_rq->leaf_node, q, "is listed after its parent");
	}
	if (children != listed)
		check_violated(rq->sched, "CPU %u: %u queues listed, %u counted by their parents",
			       rq->cpu, listed, children);
}

void check_tg_load(struct sched *s)
{
	for (struct task_group *tg = &s->root_tg; (tg = tg_next(s, tg));) {
		s64 load = tg_load_peek(s, tg), sum = 0;

		for (u32 c = 0; c < s->nr_cpus; c++)
			sum += (s64)__atomic_load_n(&tg->cfs_rq[c]->tg_load_avg_contrib,
						    __ATOMIC_RELAXED);
		if (load != sum)
			check_violated(s, "group of depth %u: load %lld, contributions %lld",
				       tg->depth, (long long)load, (long long)sum);
	}
}
