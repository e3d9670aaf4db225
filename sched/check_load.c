/* SPDX-License-Identifier: MIT */
/*
 * The laws of load averages: spec/cfs-core.md section 11, 7 to 9. Part of
 * sched_check_cpu(): per queue, whenever its rq lock is let go in debug builds, and
 * at the end of a run. Another CPU's clock may trail in live mode, never this one's.
 */
#include "pelt.h"

static void violated(const struct cfs_rq *q, const struct sched_entity *se, const char *what)
{
	const struct sched_avg *a = se ? &se->avg : &q->avg;

	check_violated(q->rq->sched,
		       "CPU %u, load of %s: %s; at %llu+%u load %llu/%llu runnable %llu/%llu "
		       "util %llu/%llu, queue at %llu+%u", q->rq->cpu,
		       !se ? "queue" : se->my_q ? "group entity" : "task", what,
		       (unsigned long long)a->last_update_time, a->period_contrib,
		       (unsigned long long)a->load_sum, (unsigned long long)a->load_avg,
		       (unsigned long long)a->runnable_sum, (unsigned long long)a->runnable_avg,
		       (unsigned long long)a->util_sum, (unsigned long long)a->util_avg,
		       (unsigned long long)q->avg.last_update_time, q->avg.period_contrib);
}

#define CHECK(cond, q, se, what)                \
	do {                                    \
		if (unlikely(!(cond)))          \
			violated(q, se, what);  \
	} while (0)

/* Law 8, of what is attached: a new task has a load_avg and no sum. Not of v5.2's
 * runnable load: average and sum are subtracted without regard to each other. */
static void check_sums(const struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched_avg *a = se ? &se->avg : &q->avg;

	CHECK(a->period_contrib < 1024, q, se, "more than a period has begun");
	CHECK(a->load_sum || !a->load_avg, q, se, "load_avg without a sum");
	/* Of these, unlike load, the sums of parts are exact. */
	CHECK(a->runnable_sum >= a->runnable_avg * PELT_MIN_DIVIDER, q, se,
	      "runnable_sum is less than its average demands");
	CHECK(a->util_sum >= a->util_avg * PELT_MIN_DIVIDER, q, se,
	      "util_sum is less than its average demands");
}

/* Law 9: of a queued entity, which may be older than its queue, by whole units. */
static void check_age(const struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched_avg *a = &se->avg;
	u64 older = q->avg.last_update_time - a->last_update_time;

	CHECK(a->last_update_time, q, se, "queued and not attached");
	CHECK((s64)older >= 0, q, se, "updated later than its queue");
	CHECK(!(older % 1024) && (a->period_contrib + older / 1024) % 1024 == q->avg.period_contrib,
	      q, se, "its periods are not its queue's");
}

static void check_queued(const struct cfs_rq *q, const struct sched_entity *se)
{
	const struct sched_avg *a = &se->avg;

	check_sums(q, se);
	check_age(q, se);
	if (!entity_is_task(se))
		return;
	CHECK(a->load_sum <= pelt_divider(a), q, se, "runnable for longer than ever");
	CHECK(a->util_sum <= a->runnable_sum, q, se, "ran for longer than it was runnable");
}

void check_load(struct cfs_rq *q)
{
	check_sums(q, NULL);
	for (struct rb_node *n = rb_first(&q->tree); n; n = rb_next(n))
		check_queued(q, entity_of_node(n));
	if (q->curr && q->curr->on_rq)
		check_queued(q, q->curr);
}
