/* SPDX-License-Identifier: MIT */
/* Runqueues as text, for panics and hang reports: no locks, trusts little. */
#include "sched_int.h"
#include "../kernel/lib/fmt.h"

static const char *const class_names[] = { "normal", "batch", "idle" };

static void dump_task(const struct rq *rq, const struct sched_task *p,
		      void (*line)(const char *text))
{
	char buf[160];

	fmt_sn(buf, sizeof(buf), "cpu %u %c task %u (%s) nice %d %s vruntime %lld%+lld ran %llu ns",
	       rq->cpu, p == rq->curr ? '*' : ' ', p->id, p->name ? p->name : "?", p->nice,
	       class_names[p->class], (long long)p->se.cfs_rq->min_vruntime,
	       (long long)(p->se.vruntime - p->se.cfs_rq->min_vruntime),
	       (unsigned long long)p->se.sum_exec_runtime);
	line(buf);
}

void sched_dump(const struct sched *s, void (*line)(const char *text))
{
	char buf[160];

	for (u32 c = 0; c < s->nr_cpus; c++) {
		const struct rq *rq = cpu_rq(s, c);
		u32 left = rq->nr_running;

		if (!left && rq->curr == rq->idle && !rq->wake_list)
			continue;
		fmt_sn(buf, sizeof(buf), "cpu %u: curr %u, %u running%s%s", c,
		       rq->curr ? rq->curr->id : 0, left, rq->need_resched ? ", resched" : "",
		       rq->wake_list ? ", remote wake-ups pending" : "");
		line(buf);
		/* The count bounds the walk of a list that may be broken. */
		for (const struct list *n = rq->tasks.next; n != &rq->tasks && left; n = n->next) {
			dump_task(rq, container_of(n, struct sched_task, rq_node), line);
			left--;
		}
	}
}
