/* SPDX-License-Identifier: MIT */
/* The reweight micro loop: see reweight_loop.h. */
#include "reweight_loop.h"

#include "pelt.h"

#define ENTITIES 3
#define CHANGED 1 /* whose weight changes; not the first or last of the queue */

/* Weights walk through 2..4097 and come to each: the step has no factor 2. */
#define WEIGHTS 4096
#define WEIGHT_STEP 1237

struct reweight_loop {
	struct rq rq;
	struct cfs_rq below[ENTITIES];  /* the entities' own queues, empty */
	struct sched_entity se[ENTITIES];
	u64 calls;
};

static u64 nth_weight(u64 i)
{
	return scale_load(2 + i * WEIGHT_STEP % WEIGHTS);
}

/* Always runnable, so its average is its weight. */
static void join(struct reweight_loop *r, u32 i)
{
	struct cfs_rq *q = &r->rq.cfs;
	struct sched_entity *se = &r->se[i];

	init_cfs_rq(&r->below[i], &r->rq, q->tg);
	se->my_q = &r->below[i];
	se->cfs_rq = q;
	se->load.weight = nth_weight(0);
	init_entity_load_avg(r->rq.sched, se);
	se->avg.last_update_time = q->avg.last_update_time = 1;
	se->avg.load_sum = pelt_divider(&se->avg);
	if (!profile_v64(r->rq.sched))
		se->avg.runnable_load_sum = se->avg.load_sum;
	q->avg.load_avg += se->avg.load_avg;
	q->avg.load_sum += se_weight(r->rq.sched, se) * se->avg.load_sum;
	enqueue_runnable_load_avg(q, se);
	account_entity_enqueue(q, se);
	se->on_rq = true;
}

struct reweight_loop *reweight_loop_create(struct sched *s)
{
	struct reweight_loop *r = arena_alloc(s->arena, sizeof(*r));

	r->rq.sched = s;
	r->rq.policy = s->policy;
	list_init(&r->rq.tasks);
	init_cfs_rq(&r->rq.cfs, &r->rq, &s->root_tg);
	for (u32 i = 0; i < ENTITIES; i++)
		join(r, i);
	return r;
}

void reweight_loop_run(struct reweight_loop *r, u64 calls)
{
	env_irq_off(); /* as under a rq lock */
	while (calls--) {
		u64 weight = nth_weight(++r->calls);

		reweight_entity(&r->rq.cfs, &r->se[CHANGED], weight, 0, weight);
	}
	env_irq_on();
}

struct reweight_state reweight_loop_state(const struct reweight_loop *r)
{
	const struct cfs_rq *q = &r->rq.cfs;
	const struct sched_entity *se = &r->se[CHANGED];

	return (struct reweight_state){
		.weight = se->load.weight, .load = q->load.weight, .load_avg = se->avg.load_avg,
		.queue_load_avg = q->avg.load_avg, .nr_running = q->nr_running,
	};
}

struct reweight_state reweight_loop_expected(const struct reweight_loop *r, u64 calls)
{
	u64 others = (ENTITIES - 1) * nth_weight(0), last = nth_weight(calls);
	u64 avg = scale_load_down(r->rq.sched, last);

	return (struct reweight_state){
		.weight = last, .load = others + last, .load_avg = avg,
		.queue_load_avg = scale_load_down(r->rq.sched, others) + avg,
		.nr_running = ENTITIES,
	};
}
