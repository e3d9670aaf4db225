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
	return n->stage_target + n->stage_prev + n->stage_recent + n->stage_core +
	       n->stage_core_first + n->stage_cpu + n->stage_smt + n->stage_none;
}

static u64 bucket_sum(const u64 *bucket, u32 nr)
{
	u64 sum = 0;

	while (nr--)
		sum += bucket[nr];
	return sum;
}

/* How many values a histogram of counters.def holds. */
#define values_in(bucket) bucket_sum(bucket, ARRAY_SIZE(bucket))

/* The search's counts against each other: idle-search.md section 9, I7 and I13. */
static void check_search_counters(const struct rq *rq, bool inside)
{
	const struct sched_counters *n = &rq->count;

	check_sum(rq, inside, n->fast_path, stage_hits(n), "searches");
	check_sum(rq, inside, n->fast_path + n->wake_dictated, values_in(n->distance_prev),
		  "searches (distance)");
	check_sum(rq, inside, n->fast_path + n->wake_dictated, values_in(n->distance_waker),
		  "searches (from waker)");
	check_sum(rq, inside, n->scans, values_in(n->scan_visits_hist), "scans (visits)");
	check_sum(rq, inside, n->scans, values_in(n->scan_time_log2_ns), "scans (time)");
	check_sum(rq, inside, n->scans, values_in(n->scan_nr_log2), "scans (budget)");
	check_sum(rq, inside, n->scans, values_in(n->scan_cost_log2_ns), "scans (cost)");
	check_part(rq, n->scan_tests, n->scan_visits + n->scans *
		   rq->sched->topo->smt_max, "idle tests");
	check_part(rq, n->scan_budget_out + n->scan_exhausted, n->scans, "scans ended early");
	check_part(rq, n->stage_cpu + n->stage_core_first, n->scans, "CPUs found by scans");
	check_part(rq, n->stage_core, n->core_searches, "cores found by searches");
	check_sum(rq, inside, n->core_searches, n->stage_core + n->flag_clears, "core searches");
	check_part(rq, n->idle_core_missed, n->oracle_samples, "idle cores missed");
	check_part(rq, n->idle_cpu_missed, n->stage_none, "idle CPUs missed");
	check_part(rq, n->oracle_samples, n->fast_path, "oracle samples");
	check_part(rq, n->next_cpu_remote, n->next_cpu_writes, "remote next_cpu stores");
	CHECK(sched_feat(rq->sched, SIS_CORE) || !n->flag_clears, rq,
	      "%llu idle-core flags cleared with SIS_CORE off", (unsigned long long)n->flag_clears);
}

/* I5 and I10. */
static void check_search_state(const struct rq *rq)
{
	const struct sched *s = rq->sched;
	const struct sched_domain *sd = s->domains.llc[rq->cpu];

	CHECK(rq->next_cpu == -1 ||
	      (sd && rq->next_cpu >= 0 && cpumask_test(sd->span, (u32)rq->next_cpu)), rq,
	      "next_cpu is %d, outside the cache", rq->next_cpu);
	CHECK(s->vector.value[FEAT_SIB_WEIGHT] == SIB_WEIGHT_PERCPU_V3 ||
	      rq->sibling_weight == s->topo->sibling_weight[rq->cpu], rq,
	      "sibling weight %u is not its core's", rq->sibling_weight);
}

static void check_counters(const struct rq *rq, bool inside)
{
	const struct sched_counters *n = &rq->count;

	check_sum(rq, inside, n->wakeups,
		  n->wakeups_queued + n->fast_path + n->wake_dictated + rq->check.pinned,
		  "wake-ups");
	check_part(rq, n->wake_imposed, n->wake_dictated, "imposed wake-ups");
	/* Whoever is not idle now got there from the idle task, which nobody counts. */
	check_sum(rq, false, n->switches,
		  n->switches_voluntary + n->switches_preempt + n->idle_entries +
			  (rq->curr != rq->idle), "switches");
	check_part(rq, n->wakeups_sync, n->wakeups, "sync wake-ups");
	check_part(rq, n->wakeups_remote, n->wakeups, "remote wake-ups");
	check_part(rq, n->wake_list_ipis, n->wake_list_queued, "wake-list IPIs");
	check_part(rq, n->wake_list_queued, n->wake_list_ipis + n->ipis_saved + inside,
		   "queued wake-ups");
	check_part(rq, n->affine_wins, n->affine_attempts, "affine wins");
	check_part(rq, n->tick_preemptions, n->ticks, "tick preemptions");
	check_part(rq, n->pulled, n->pulls, "pulled tasks");
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
		check_search_counters(rq, cpumask_test(&at->inside, c));
		check_search_state(rq);
		check_wake_list(rq, at);
		if (cpumask_test(&at->locked, c))
			continue;
		sched_check_cpu(s, c);
		check_ticks(rq, at->now_ns[c]);
		if (at->idle_ns)
			check_idle(rq, at->now_ns[c], at->idle_ns[c]);
	}
	/* A publish is under way only where a runqueue is locked. */
	if (!cpumask_weight(&at->locked, s->nr_cpus))
		check_tg_load(s);
	s->check_line = NULL;
	if (s->check_failures)
		sched_dump(s, line);
	return s->check_failures;
}
