/* SPDX-License-Identifier: MIT */
/*
 * What-ifs on one placement: a scheduler whose CPUs are busy by decree, a task
 * that is placed and never enqueued. See place.h.
 */
#include "idle_search.h"

struct place_prober {
	struct sched *s;
	struct sched_task idle, hog, task; /* each CPU runs one of the first two */
	struct cpumask busy;
	bool asked;
};

/* As if the CPU itself had just begun or ceased to run something. */
static void set_busy(struct place_prober *prober, u32 cpu, bool busy)
{
	struct rq *rq = cpu_rq(prober->s, cpu);

	rq->curr = busy ? &prober->hog : &prober->idle;
	rq->nr_running = busy;
	if (busy)
		cpumask_set(&prober->busy, cpu);
	else
		cpumask_clear(&prober->busy, cpu);
	env_line_give(&rq->state_line, cpu);
	env_line_give(&rq->wake_line, cpu);
	check_available_changed(rq);
}

struct place_prober *sched_prober_create(const struct sched_config *cfg)
{
	struct place_prober *prober = arena_alloc(cfg->arena, sizeof(*prober));
	struct sched *s = sched_create(cfg);

	prober->s = s;
	prober->hog.id = 1;
	prober->task.id = 2;
	prober->task.tg = prober->hog.tg = &s->root_tg;
	env_lock_init(&prober->task.wake_lock, LINE_TASK, "probe", prober->task.id);
	env_line_init(&prober->task.state_line, LINE_TASK);
	for (u32 c = 0; c < s->nr_cpus; c++) {
		cpu_rq(s, c)->idle = &prober->idle;
		set_busy(prober, c, false);
	}
	return prober;
}

static void set_up(struct place_prober *prober, const struct place_probe *in, bool fresh)
{
	struct sched *s = prober->s;
	struct sched_task *p = &prober->task;
	struct sched_domain *ts = s->domains.llc[in->this_cpu];

	for (u32 c = 0; c < s->nr_cpus; c++) {
		bool busy = cpumask_test(in->busy, c);

		if (busy != cpumask_test(&prober->busy, c))
			set_busy(prober, c, busy);
		if (fresh)
			cpu_rq(s, c)->next_cpu = c == in->target ? in->next_cpu : -1;
	}
	p->allowed = *in->allowed;
	cpumask_and(&p->allowed, &s->online, s->nr_cpus);
	p->nr_allowed = cpumask_weight(&p->allowed, s->nr_cpus);
	p->cpu = p->wake_cpu = in->prev;
	p->has_latency_nice = true;
	p->latency_nice = in->latency_nice;
	if (fresh) {
		p->recent_used_cpu = in->recent;
		s->llc[s->domains.llc_id[in->target]].has_idle_cores = in->has_idle_cores;
	}
	cpu_rq(s, in->this_cpu)->avg_idle = in->avg_idle_ns;
	if (ts)
		ts->avg_scan_cost_ns = in->avg_scan_cost_ns;
}

void sched_prober_ask(struct place_prober *prober, const struct place_probe *in, bool fresh,
		      struct place_probe_result *out)
{
	struct sched *s = prober->s;
	struct sched_task *p = &prober->task;

	env_assert(env_this_cpu() == in->this_cpu, "the probe's waker is CPU %u, not %u",
		   env_this_cpu(), in->this_cpu);
	set_up(prober, in, fresh || !prober->asked);
	prober->asked = true;
	env_lock(&p->wake_lock);
	env_path_begin(PATH_SELECT);
	out->chosen = select_idle_sibling(s, p, in->prev, in->target, &out->why);
	out->cpu = cpumask_test(&p->allowed, out->chosen) ? out->chosen
							   : select_fallback_rq(s, p, p->cpu);
	env_path_end(PATH_SELECT);
	env_unlock(&p->wake_lock);
	out->next_cpu = cpu_rq(s, in->target)->next_cpu;
	out->has_idle_cores = s->llc[s->domains.llc_id[in->target]].has_idle_cores;
	out->recent = p->recent_used_cpu;
}
