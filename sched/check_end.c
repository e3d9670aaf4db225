/* SPDX-License-Identifier: MIT */
/*
 * What must hold when a run is over: the laws of check.c on every CPU, and sums
 * of counters. CPUs stop wherever they are: one that is inside the kernel may be
 * between two counts, a queue whose lock is held may be half changed.
 */
#include "sched_int.h"

#define CHECK(cond, rq, what, ...)                                                  \
	do {                                                                        \
		if (unlikely(!(cond)))                                              \
			check_violated((rq)->sched, "CPU %u: " what, (rq)->cpu,     \
				       __VA_ARGS__);                                \
	} while (0)

/* whole is the sum of its parts; on a CPU inside the kernel, one may be missing. */
static void check_sum(const struct rq *rq, bool inside, u64 whole, u64 parts, const char *what)
{
	CHECK(whole == parts || (inside && whole == parts + 1), rq, "%llu %s, %llu by kind",
	      (unsigned long long)whole, what, (unsigned long long)parts);
}

static void check_part(const struct rq *rq, u64 part, u64 whole, const char *what)
{
	CHECK(part <= whole, rq, "%llu %s, of %llu", (unsigned long long)part, what,
	      (unsigned long long)whole);
}

static u64 stage_hits(const struct sched_counters *n)
{
	return n->stage_target + n->stage_prev + n->stage_recent + n->stage_core + n->stage_cpu +
	       n->stage_smt + n->stage_none;
}

static void check_counters(const struct rq *rq, bool inside)
{
	const struct sched_counters *n = &rq->count;

	/* I13 of idle-search.md section 9. */
	check_sum(rq, inside, rq->check.searches, stage_hits(n), "searches");
	check_sum(rq, inside, n->wakeups,
		  n->wakeups_queued + rq->check.searches + rq->check.pinned, "wake-ups");
	/* Whoever is not idle now got there from the idle task, which nobody counts. */
	check_sum(rq, false, n->switches,
		  n->switches_voluntary + n->switches_preempt + n->idle_entries +
			  (rq->curr != rq->idle), "switches");
	check_part(rq, n->wakeups_sync, n->wakeups, "sync wake-ups");
	check_part(rq, n->wakeups_remote, n->wakeups, "remote wake-ups");
	check_part(rq, n->wake_list_ipis, n->wake_list_queued, "wake-list IPIs");
	check_part(rq, n->affine_wins, n->affine_attempts, "affine wins");
	check_part(rq, n->tick_preemptions, n->ticks, "tick preemptions");
	check_part(rq, n->pulled, n->pulls, "pulled tasks");
	check_part(rq, n->stage_cpu, n->scan_visits, "CPUs found by scans");
	check_part(rq, n->stage_core, n->core_visits, "cores found by searches");
}

/* The engine saw the CPU idle no longer than nobody ran there. Each period between
 * two tasks is rounded to whole ns at both ends. */
static void check_idle(const struct rq *rq, u64 now_ns, u64 idle_ns)
{
	u64 nobody_ns = rq->check.nobody_ns;

	if (!rq->cfs.curr)
		nobody_ns += now_ns - rq->check.put_clock;
	CHECK(idle_ns <= nobody_ns + rq->count.switches + 1, rq,
	      "idle for %llu ns, without a task for %llu ns", (unsigned long long)idle_ns,
	      (unsigned long long)nobody_ns);
}

/* A list that is not empty has an IPI on its way; whoever is inside the kernel may
 * be about to send it, or to look. */
static void check_wake_list(const struct rq *rq, const struct sched_standstill *at)
{
	bool anyone = false;

	for (u32 c = 0; c < rq->sched->nr_cpus; c++)
		anyone |= cpumask_test(&at->inside, c);
	if (rq->wake_list && !anyone && !cpumask_test(&at->pending, rq->cpu))
		CHECK(false, rq, "task %u waits on the wake list, and no IPI is on its way",
		      rq->wake_list->id);
}

u32 sched_check_end(struct sched *s, const struct sched_standstill *at,
		    void (*line)(const char *text))
{
	u32 wrong = topo_wrong_weight(s->topo);

	s->check_line = line;
	if (wrong != s->nr_cpus)
		check_violated(s, "CPU %u: sibling weight %u is not its core's", wrong,
			       s->topo->sibling_weight[wrong]);
	for (u32 c = 0; c < s->nr_cpus; c++) {
		struct rq *rq = cpu_rq(s, c);

		check_counters(rq, cpumask_test(&at->inside, c));
		check_wake_list(rq, at);
		if (cpumask_test(&at->locked, c))
			continue;
		sched_check_cpu(s, c);
		check_ticks(rq, at->now_ns[c]);
		if (at->idle_ns)
			check_idle(rq, at->now_ns[c], at->idle_ns[c]);
	}
	s->check_line = NULL;
	if (s->check_failures)
		sched_dump(s, line);
	return s->check_failures;
}
