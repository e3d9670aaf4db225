/* SPDX-License-Identifier: MIT */
/*
 * The laws that hold whenever a rq lock is let go: spec/cfs-core.md section 11,
 * 1 to 6, spec/idle-search.md section 9, I8, spec/load-balance.md section 10, 1, 4
 * and 6. O(queued entities). Debug builds run it at every rq_unlock(), release
 * builds at the end of a run.
 */
#include "sched_int.h"
#include "../kernel/lib/fmt.h"

/* A CPU that works updates its clock at each tick. A tick comes late by as long
 * as interrupts were off. */
#define TICKS_LATE 3

void check_violated(struct sched *s, const char *f, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, f);
	fmt_vsn(text, sizeof(text), f, ap);
	va_end(ap);
	if (!s->check_line)
		panic("%s", text);
	s->check_failures++;
	s->check_line(text);
}

static u32 queue_depth(const struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);

	return se ? se->depth + 1 : 0;
}

static void describe(const struct sched_entity *se, u64 min_vruntime, char *buf, size_t n)
{
	bool task = se && entity_is_task(se);

	if (!se)
		fmt_sn(buf, n, "none");
	else
		fmt_sn(buf, n, "%s%u%s weight %llu vruntime min%+lld exec_start %llu",
		       task ? "task " : "group entity of depth ",
		       task ? task_of((struct sched_entity *)se)->id : se->depth,
		       se->on_rq ? "" : " off queue", (unsigned long long)se->load.weight,
		       (long long)(se->vruntime - min_vruntime),
		       (unsigned long long)se->exec_start);
}

/* se: the entity it is about; NULL: the queue's current one. */
static void queue_violated(const struct cfs_rq *q, const struct sched_entity *se,
			   const char *what)
{
	char entity[128];

	describe(se ? se : q->curr, q->min_vruntime, entity, sizeof(entity));
	check_violated(q->rq->sched,
		       "CPU %u, queue of depth %u: %s; nr %u h_nr %u load %llu min_vruntime %lld; "
		       "%s: %s", q->rq->cpu, queue_depth(q), what, q->nr_running, q->h_nr_running,
		       (unsigned long long)q->load.weight, (long long)q->min_vruntime,
		       se ? "entity" : "curr", entity);
}

#define CHECK(cond, q, se, what)                       \
	do {                                           \
		if (unlikely(!(cond)))                 \
			queue_violated(q, se, what);   \
	} while (0)

#define CHECK_CPU(cond, rq, what, ...)                                                   \
	do {                                                                             \
		if (unlikely(!(cond)))                                                   \
			check_violated((rq)->sched, "CPU %u: " what, (rq)->cpu, __VA_ARGS__); \
	} while (0)

/* ---- queues ---------------------------------------------------------------- */

struct sums {
	u64 weight;
	u32 nr, h_nr, idle_nr, idle_h_nr;
};

static void check_task(struct cfs_rq *q, struct sched_task *p)
{
	const struct rq *rq = q->rq;

	CHECK(task_on_rq(p) == TASK_QUEUED, q, &p->se, "a queued entity's task is not queued");
	CHECK(p->cpu == rq->cpu, q, &p->se, "a queued task is of another CPU");
	CHECK(!list_empty(&p->rq_node), q, &p->se, "a queued task is not on its rq's list");
	/* Who runs when its affinity changes goes at the next switch. */
	CHECK(cpumask_test(&p->allowed, rq->cpu) || (p == rq->curr && rq->need_resched), q, &p->se,
	      "a task is queued where it may not run");
}

static void check_entity(struct cfs_rq *q, struct sched_entity *se, struct sums *sum)
{
	const struct sched *s = q->rq->sched;
	u64 credit = sched_feat(s, GENTLE_FAIR_SLEEPERS) ? s->latency / 2 : s->latency;
	bool idle = se_is_idle(s, se);

	CHECK(se->on_rq, q, se, "an entity in the tree is not on_rq");
	CHECK(se->cfs_rq == q, q, se, "an entity sits on another queue than it says");
	CHECK(se->parent == owner_entity(q), q, se, "an entity's parent is not the queue's owner");
	CHECK(se->depth == queue_depth(q), q, se, "an entity's depth is not its parent's plus 1");
	CHECK(!se->relative, q, se, "a queued entity's vruntime is relative");
	if (q->rq->policy == &cfs_policy)
		CHECK((s64)(se->vruntime - (q->min_vruntime - credit)) >= 0, q, se,
		      "a vruntime is further left than a sleeper's credit");
	sum->weight += se->load.weight;
	sum->nr++;
	sum->idle_nr += idle;
	if (entity_is_task(se)) {
		check_task(q, task_of(se));
		sum->h_nr++;
		sum->idle_h_nr += idle;
	} else {
		CHECK(se->my_q->nr_running, q, se, "a queued group has nothing to run");
		sum->h_nr += se->my_q->h_nr_running;
		sum->idle_h_nr += se->my_q->idle ? se->my_q->h_nr_running
						     : se->my_q->idle_h_nr_running;
	}
}

static void check_buddy(struct cfs_rq *q, const struct sched_entity *se)
{
	CHECK(!se || (se->on_rq && se->cfs_rq == q), q, se, "a buddy is not on the queue");
}

/* A group's time is what its members ran; while it runs, theirs may be charged up
 * to another moment than its own. */
static void check_group_runtime(struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);
	u64 members = q->exec_clock, group = se->sum_exec_runtime;

	CHECK(se->on_rq == (q->nr_running > 0), q, se, "group on_rq does not match its queue");
	if (q->curr) {
		CHECK(se->cfs_rq->curr == se, q, se, "a group runs whose entity does not");
		members -= q->curr->exec_start;
		group -= se->exec_start;
	}
	CHECK(members == group, q, se, "a group ran longer or shorter than its members");
}

static void check_queue(struct cfs_rq *q)
{
	struct sums sum = { 0 };
	int in_tree = rb_check(&q->tree, q->rq->policy->less);

	for (struct rb_node *n = rb_first(&q->tree); n; n = rb_next(n)) {
		CHECK(entity_of_node(n) != q->curr, q, NULL, "curr is in the tree");
		check_entity(q, entity_of_node(n), &sum);
	}
	CHECK(in_tree == (int)sum.nr, q, NULL, "the tree is not in order");
	if (q->curr && q->curr->on_rq)
		check_entity(q, q->curr, &sum);
	CHECK(q->load.weight == sum.weight, q, NULL, "load is not the sum of weights");
	CHECK(q->nr_running == sum.nr, q, NULL, "nr_running is not tree and curr");
	CHECK(q->h_nr_running == sum.h_nr, q, NULL, "h_nr_running is not the tasks below");
	CHECK(q->idle_nr_running == sum.idle_nr, q, NULL, "idle_nr_running is wrong");
	CHECK(q->idle_h_nr_running == sum.idle_h_nr, q, NULL, "idle_h_nr_running is wrong");
	check_buddy(q, q->next);
	check_buddy(q, q->last);
	check_buddy(q, q->skip);
	CHECK((s64)(q->min_vruntime - q->checked_min_vruntime) >= 0, q, NULL,
	      "min_vruntime went back");
	q->checked_min_vruntime = q->min_vruntime;
	if (owner_entity(q))
		check_group_runtime(q);
}

/* ---- CPUs ------------------------------------------------------------------ */

/* The clock is what tasks ran and what nobody did, up to the moment until which
 * the running one is charged: exactly, for both are sums of its differences. */
static void check_time(struct rq *rq)
{
	const struct sched_entity *curr = rq->cfs.curr;
	u64 until = curr ? curr->exec_start : rq->check.put_clock;
	u64 sum = rq->cfs.exec_clock + rq->check.nobody_ns;

	CHECK_CPU(sum == until, rq, "tasks ran %llu ns and nobody %llu ns of %llu ns",
		  (unsigned long long)rq->cfs.exec_clock, (unsigned long long)rq->check.nobody_ns,
		  (unsigned long long)until);
}

void check_ticks(struct rq *rq, u64 now_ns)
{
	u64 tick_ns = 1000000000ull / rq->sched->hz;

	if (!rq->sched->punctual || !rq->cfs.curr || !rq->cfs.curr->on_rq)
		return;
	CHECK_CPU((s64)(now_ns - rq->clock) <= (s64)(TICKS_LATE * tick_ns), rq,
		  "task %u ran %llu ns without a tick", rq->curr->id,
		  (unsigned long long)(now_ns - rq->clock));
}

static void check_current(struct rq *rq)
{
	const struct sched_entity *se = rq->cfs.curr;

	CHECK_CPU(rq->curr->on_cpu, rq, "task %u is current and not on_cpu", rq->curr->id);
	/* A CPU that looks for work puts its task before it switches. */
	if (!se)
		return;
	while (se->my_q && se->my_q->curr)
		se = se->my_q->curr;
	CHECK_CPU(se == &rq->curr->se, rq, "task %u is current, another one its queue's",
		  rq->curr->id);
}

void sched_check_cpu(struct sched *s, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);
	u32 listed = 0;

	for (struct task_group *tg = &s->root_tg; tg; tg = tg_next(s, tg)) {
		check_queue(tg->cfs_rq[cpu]);
		check_load(tg->cfs_rq[cpu]);
		check_group(tg->cfs_rq[cpu]);
	}
	check_leaf_list(rq);
	list_for_each(n, &rq->tasks)
		listed++;
	CHECK_CPU(rq->nr_running == rq->cfs.h_nr_running, rq, "%u running, %u in the root",
		  rq->nr_running, rq->cfs.h_nr_running);
	CHECK_CPU(listed == rq->nr_running, rq, "%u running, %u listed", rq->nr_running, listed);
	CHECK_CPU(rq->avg_idle <= 2 * rq->max_idle_balance_cost, rq,
		  "avg_idle %llu exceeds twice %llu", (unsigned long long)rq->avg_idle,
		  (unsigned long long)rq->max_idle_balance_cost);
	CHECK_CPU(rq->max_idle_balance_cost >= s->vector.value[TUN_MIGRATION_COST], rq,
		  "max_idle_balance_cost %llu is below MIGRATION_COST",
		  (unsigned long long)rq->max_idle_balance_cost);
	CHECK_CPU(!rq->need_resched || rq == this_rq(s) || env_kick_pending(cpu), rq,
		  "task %u should be switched out, and no IPI is on its way", rq->curr->id);
	check_current(rq);
	check_time(rq);
}
