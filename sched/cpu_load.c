/* SPDX-License-Identifier: MIT */
/*
 * Reads of any CPU's averages without its lock, after env_line_read() of its
 * state_line: what placement compares. spec/cfs-core.md section 10.
 */
#include "load_parts.h"

u64 cpu_load(const struct rq *rq)
{
	return read_once(profile_v64(rq->sched) ? &rq->cfs.avg.load_avg
						: &rq->cfs.avg.runnable_load_avg);
}

u64 cpu_load_avg(const struct rq *rq)
{
	return read_once(&rq->cfs.avg.load_avg);
}

static u64 capped(const struct rq *rq, u64 util)
{
	return util < cpu_capacity(rq) ? util : cpu_capacity(rq);
}

u64 cpu_util(const struct rq *rq)
{
	return capped(rq, read_once(&rq->cfs.avg.util_avg));
}

u64 cpu_util_without(const struct rq *rq, const struct sched_task *p)
{
	u64 util = read_once(&rq->cfs.avg.util_avg);

	if (task_cpu(p) == rq->cpu && p->se.avg.last_update_time)
		util = minus(util, task_util(p));
	return capped(rq, util);
}

u64 task_util(const struct sched_task *p)
{
	return read_once(&p->se.avg.util_avg);
}

/* The load of all tasks in and below q, as its CPU sees it. */
static u64 queue_h_load(const struct cfs_rq *q)
{
	const struct sched_entity *se = owner_entity(q);

	if (!se)
		return read_once(&q->avg.load_avg);
	return divide(queue_h_load(se->cfs_rq) * read_once(&se->avg.load_avg),
		      read_once(&se->cfs_rq->avg.load_avg) + 1);
}

u64 task_h_load(const struct sched_task *p)
{
	const struct cfs_rq *q = p->se.cfs_rq;
	u64 own = read_once(&p->se.avg.load_avg);

	if (!owner_entity(q))
		return own;
	return divide(own * queue_h_load(q), read_once(&q->avg.load_avg) + 1);
}
