/* SPDX-License-Identifier: MIT */
/*
 * select_idle_sibling: an idle CPU near the one that select.c chose.
 * spec/idle-search.md sections 1, 4 and 7. p->wake_lock is held and interrupts
 * are off throughout; all that is read of other CPUs is racy, and only a hint.
 */
#include "idle_search.h"

/* ---- is a CPU idle? -------------------------------------------------------- */

/* After env_line_read(state_line), of a CPU that runs nothing. */
static bool expects_nothing(struct rq *rq)
{
	env_line_read(&rq->wake_line);
	return wake_list_empty(rq) && !env_cpu_preempted(rq->cpu);
}

bool idle_cpu(struct sched *s, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);

	env_line_read(&rq->state_line);
	return runs_nothing(rq) && expects_nothing(rq);
}

bool available_cpu(struct sched *s, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);

	env_line_read(&rq->state_line);
	return runs_nothing(rq) ? expects_nothing(rq) : runs_only_sched_idle(rq);
}

/* ---- the stages ---------------------------------------------------------------------- */

/* The searches of the target's cache; q->why->stage says which found the answer. */
static u32 search_cache(struct search *q)
{
	bool smt_first = sched_feat(q->s, SMT_FIRST);
	struct search_check check;
	u32 cpu;

	q->why->stage = STAGE_CORE;
	check_search_begin(&check, q);
	cpu = select_idle_core(q);
	check_core_search(&check, q, cpu);
	if (cpu != CPU_NONE)
		return cpu;
	if (smt_first) {
		q->why->stage = STAGE_SMT;
		cpu = select_idle_smt(q);
		if (cpu != CPU_NONE)
			return cpu;
	}
	q->why->stage = STAGE_CPU;
	check_search_begin(&check, q);
	cpu = select_idle_cpu(q);
	check_cpu_scan(&check, q, cpu);
	if (cpu != CPU_NONE || smt_first)
		return cpu;
	q->why->stage = STAGE_SMT;
	return select_idle_smt(q);
}

static u32 search_stages(struct search *q, u32 prev)
{
	struct sched *s = q->s;
	struct sched_task *p = q->p;
	u32 recent = p->recent_used_cpu, target = q->target, cpu = CPU_NONE;

	q->why->stage = STAGE_TARGET;
	if (available_cpu(s, target))
		return target;
	q->why->stage = STAGE_PREV;
	if (prev != target && share_cache(s, prev, target) && available_cpu(s, prev))
		return prev;
	q->why->stage = STAGE_RECENT;
	if (recent != prev && recent != target && share_cache(s, recent, target) &&
	    available_cpu(s, recent) && cpumask_test(&p->allowed, recent)) {
		/* The next wake-up may find the way back. */
		p->recent_used_cpu = prev;
		return recent;
	}
	if (q->sd)
		cpu = search_cache(q);
	if (cpu != CPU_NONE)
		return cpu;
	q->why->stage = STAGE_NONE;
	return target;
}

/* ---- the oracle ------------------------------------------------------------------------ */

static bool core_idles(const struct sched *s, u32 cpu)
{
	for_each_cpu(t, topo_mask(s->topo, TOPO_SMT, cpu), s->nr_cpus)
		if (!stands_idle(cpu_rq(s, t)))
			return false;
	return true;
}

/* What the whole cache had to offer when the answer was given. */
static void ask_oracle(const struct search *q, struct sched_counters *n, u32 answer)
{
	struct sched *s = q->s;
	bool cpu = false, core = false;
	bool core_taken = !topo_has_smt(s->topo) || core_idles(s, answer);

	counter_add(&n->oracle_samples, 1);
	for_each_cpu(c, q->sd->span, s->nr_cpus) {
		const struct rq *rq = cpu_rq(s, c);

		if ((core || core_taken) && (cpu || q->why->stage != STAGE_NONE))
			break;
		if (!cpumask_test(&q->p->allowed, c))
			continue;
		cpu = cpu || stands_idle(rq) || runs_only_sched_idle(rq);
		core = core || (!core_taken && core_idles(s, c));
	}
	counter_add(&n->idle_core_missed, core && !core_taken);
	counter_add(&n->idle_cpu_missed, cpu && q->why->stage == STAGE_NONE);
}

static void count_answer(const struct search *q, u32 answer)
{
	struct sched_counters *n = &this_rq(q->s)->count;
	u64 *const hits[STAGE_NR] = {
		&n->stage_target, &n->stage_prev, &n->stage_recent, &n->stage_core,
		&n->stage_core_first, &n->stage_cpu, &n->stage_smt, &n->stage_none,
	};
	u64 every = q->s->vector.value[TUN_ORACLE_EVERY];

	env_uncharged_begin();
	counter_add(&n->fast_path, 1);
	counter_add(hits[q->why->stage], 1);
	if (q->sd && every && n->fast_path % every == 0)
		ask_oracle(q, n, answer);
	env_uncharged_end();
}

/* ---- the door --------------------------------------------------------------------------- */

const char *const place_stage_name[STAGE_NR] = {
#define STAGE(id, name, help) name,
#include "stages.def"
#undef STAGE
};

u32 select_idle_sibling(struct sched *s, struct sched_task *p, u32 prev, u32 target,
			struct placement *why)
{
	struct search q = { .s = s, .p = p, .sd = s->domains.llc[target], .target = target,
			    .ln = task_latency_nice(s, p), .why = why };
	u32 cpu;

	*why = (struct placement){ .stage = STAGE_NONE };
	cpu = search_stages(&q, prev);
	p->found_idle = why->stage != STAGE_NONE;
	check_stage(&q, prev, cpu);
	count_answer(&q, cpu);
	if (why->scanned)
		env_trace(EV_SCAN, p->id, why->nr, why->visits, why->budget_out);
	env_trace(EV_PLACE, p->id, cpu, why->stage, target);
	return cpu;
}
