/* SPDX-License-Identifier: MIT */
/*
 * The laws that hold whenever a rq lock is let go: spec/cfs-core.md section 11,
 * 1 to 6. O(queued entities). Debug builds run it at every rq_unlock().
 */
#include "sched_int.h"

#define CHECK(cond, q, what) \
	env_assert(cond, "CPU %u, queue of depth %u: %s", (q)->rq->cpu, queue_depth(q), what)

static u32 queue_depth(const struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);

	return se ? se->depth + 1 : 0;
}

struct sums {
	u64 weight;
	u32 nr, h_nr, idle_nr, idle_h_nr;
};

static void check_entity(struct cfs_rq *q, struct sched_entity *se, struct sums *sum)
{
	const struct sched *s = q->rq->sched;
	u64 credit = sched_feat(s, GENTLE_FAIR_SLEEPERS) ? s->latency / 2 : s->latency;
	bool idle = se_is_idle(s, se);

	CHECK(se->on_rq, q, "an entity in the tree is not on_rq");
	CHECK(se->cfs_rq == q, q, "an entity sits on another queue than it says");
	CHECK(se->parent == owner_entity(q), q, "an entity's parent is not the queue's owner");
	CHECK(se->depth == queue_depth(q), q, "an entity's depth is not its parent's plus 1");
	if (q->rq->policy == &cfs_policy)
		CHECK((s64)(se->vruntime - (q->min_vruntime - credit)) >= 0, q,
		      "a vruntime is further left than a sleeper's credit");
	sum->weight += se->load.weight;
	sum->nr++;
	sum->idle_nr += idle;
	if (entity_is_task(se)) {
		struct sched_task *p = task_of(se);

		CHECK(task_on_rq(p) == TASK_QUEUED, q, "a queued entity's task is not queued");
		CHECK(p->cpu == q->rq->cpu, q, "a queued task is of another CPU");
		CHECK(!list_empty(&p->rq_node), q, "a queued task is not on its rq's list");
		sum->h_nr++;
		sum->idle_h_nr += idle;
	} else {
		CHECK(se->my_q->nr_running, q, "a queued group has nothing to run");
		sum->h_nr += se->my_q->h_nr_running;
		sum->idle_h_nr += se->my_q->tg->idle ? se->my_q->h_nr_running
						     : se->my_q->idle_h_nr_running;
	}
}

static void check_buddy(struct cfs_rq *q, const struct sched_entity *se)
{
	CHECK(!se || (se->on_rq && se->cfs_rq == q), q, "a buddy is not on the queue");
}

/* A group's time is what its members ran; while it runs, theirs may be charged up
 * to another moment than its own. */
static void check_group_runtime(struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);
	u64 members = q->exec_clock, group = se->sum_exec_runtime;

	CHECK(se->on_rq == (q->nr_running > 0), q, "group on_rq does not match its queue");
	if (q->curr) {
		CHECK(se->cfs_rq->curr == se, q, "a group runs whose entity does not");
		members -= q->curr->exec_start;
		group -= se->exec_start;
	}
	CHECK(members == group, q, "a group ran longer or shorter than its members");
}

static void check_queue(struct cfs_rq *q)
{
	struct sums sum = { 0 };
	int in_tree = rb_check(&q->tree, q->rq->policy->less);

	for (struct rb_node *n = rb_first(&q->tree); n; n = rb_next(n)) {
		CHECK(entity_of_node(n) != q->curr, q, "curr is in the tree");
		check_entity(q, entity_of_node(n), &sum);
	}
	CHECK(in_tree == (int)sum.nr, q, "the tree is not in order");
	if (q->curr && q->curr->on_rq)
		check_entity(q, q->curr, &sum);
	CHECK(q->load.weight == sum.weight, q, "load is not the sum of weights");
	CHECK(q->nr_running == sum.nr, q, "nr_running is not tree and curr");
	CHECK(q->h_nr_running == sum.h_nr, q, "h_nr_running is not the tasks below");
	CHECK(q->idle_nr_running == sum.idle_nr, q, "idle_nr_running is wrong");
	CHECK(q->idle_h_nr_running == sum.idle_h_nr, q, "idle_h_nr_running is wrong");
	check_buddy(q, q->next);
	check_buddy(q, q->last);
	check_buddy(q, q->skip);
	CHECK((s64)(q->min_vruntime - q->checked_min_vruntime) >= 0, q, "min_vruntime went back");
	q->checked_min_vruntime = q->min_vruntime;
	if (owner_entity(q))
		check_group_runtime(q);
}

void sched_check_cpu(struct sched *s, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);
	u32 listed = 0;

	for (struct task_group *tg = &s->root_tg; tg; tg = tg->next)
		check_queue(tg->cfs_rq[cpu]);
	list_for_each(n, &rq->tasks)
		listed++;
	env_assert(rq->nr_running == rq->cfs.h_nr_running, "CPU %u: %u running, %u in the root",
		   cpu, rq->nr_running, rq->cfs.h_nr_running);
	env_assert(listed == rq->nr_running, "CPU %u: %u running, %u listed", cpu, rq->nr_running,
		   listed);
}
