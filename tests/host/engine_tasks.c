/* SPDX-License-Identifier: MIT */
/* Runs of tasks, set up as kernel/run.c does, without workloads. */
#include <string.h>
#include "../../kernel/task.h"
#include "../../kernel/trace.h"
#include "engine_rig.h"

static struct {
	void (*first)(void *arg);
	void *arg;
	struct hist latency[LN_CLASSES];
} run;

static void first_task(void *arg)
{
	(void)arg;
	run.first(run.arg);
	engine_finish();
}

static void apply(struct sched_vector *v, const char *switches)
{
	char why[256];

	while (*switches) {
		size_t len = strcspn(switches, "+");

		panic_unless(vector_apply(v, switches, len, why, sizeof(why)), "%s", why);
		switches += len + (switches[len] == '+');
	}
}

void tasks_run(void (*first)(void *arg), void *arg, u64 seed, const char *switches)
{
	struct sched_config sc = { .topo = &rig.topo, .hz = rig.cfg.hz, .arena = &rig.arena };
	struct tasks_config tc = { .arena = &rig.arena, .seed = seed, .first = first_task,
				   .wake_latency_ns = run.latency };

	run.first = first;
	run.arg = arg;
	rig_reset();
	trace_reset(false);
	for (u32 i = 0; i < LN_CLASSES; i++)
		hist_init(&run.latency[i],
			  arena_alloc(&rig.arena, HIST_BUCKETS(HIST_SUB_BITS) * sizeof(u64)),
			  HIST_SUB_BITS);
	vector_default(&sc.vector, PROFILE_V6_4);
	apply(&sc.vector, switches);
	tc.sched = sched_create(&sc);
	tasks_init(&tc);
	rig_go();
}

const struct cpumask *only(u32 cpu)
{
	struct cpumask *m = arena_alloc(&rig.arena, sizeof(*m));

	cpumask_set(m, cpu);
	return m;
}
