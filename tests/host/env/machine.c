/* SPDX-License-Identifier: MIT */
/* A machine for unit tests: see machine.h. */
#include <stdlib.h>
#include "machine.h"

struct test_env test_env;

static void make_topo(struct machine *m, u32 pkgs, u32 cores, u32 threads)
{
	struct sched_topo *t = &m->topo;

	t->nr_cpus = pkgs * cores * threads;
	panic_unless(t->nr_cpus <= TEST_CPUS, "%u CPUs in a unit test", t->nr_cpus);
	t->cpu = arena_alloc(&m->arena, t->nr_cpus * sizeof(*t->cpu));
	for (u32 c = 0; c < t->nr_cpus; c++) {
		struct topo_cpu *k = &t->cpu[c];

		k->apic = c;
		k->core = c / threads;
		k->thr = c % threads;
		k->pkg = k->die = k->llc = c / (cores * threads);
		k->online = true;
	}
	topo_build_masks(t, &m->arena);
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

void machine_init_policy(struct machine *m, u32 pkgs, u32 cores, u32 threads,
			 enum sched_profile profile, const char *switches,
			 const struct sched_policy *policy)
{
	size_t size = 4 << 20;
	struct sched_config cfg;

	memset(m, 0, sizeof(*m));
	memset(&test_env, 0, sizeof(test_env));
	for (u32 c = 0; c < TEST_CPUS; c++)
		test_env.now[c] = 1000000000;
	m->memory = malloc(size);
	panic_unless(m->memory, "no memory");
	arena_init(&m->arena, m->memory, size);
	make_topo(m, pkgs, cores, threads);
	vector_default(&m->vector, profile);
	apply(&m->vector, switches);
	cfg = (struct sched_config){
		.topo = &m->topo, .vector = m->vector, .hz = 1000, .arena = &m->arena,
		.lockstep = true,
	};
	m->s = policy ? sched_create_policy(&cfg, policy) : sched_create(&cfg);
	for (u32 c = 0; c < m->topo.nr_cpus; c++)
		sched_set_idle_task(m->s, c, &m->idle[c]);
}

void machine_init(struct machine *m, u32 pkgs, u32 cores, u32 threads,
		  enum sched_profile profile, const char *switches)
{
	machine_init_policy(m, pkgs, cores, threads, profile, switches, NULL);
}

void machine_free(struct machine *m)
{
	for (u32 c = 0; c < TEST_CPUS; c++) {
		panic_unless(!test_env.irq_depth[c], "CPU %u: interrupts stayed off", c);
		panic_unless(!test_env.path_depth[c], "CPU %u: a path did not end", c);
	}
	machine_check(m);
	free(m->memory);
}

void machine_on(u32 cpu)
{
	test_env.cpu = cpu;
}

void machine_advance(struct machine *m, u64 ns)
{
	for (u32 c = 0; c < m->topo.nr_cpus; c++) {
		test_env.now[c] += ns;
		if (!sched_current(m->s, c)->is_idle_task)
			m->busy_ns += ns;
	}
}

struct sched_task *machine_fork(struct machine *m)
{
	struct sched_task *t = &m->task[m->nr_tasks++];

	panic_unless(m->nr_tasks <= TEST_TASKS, "too many tasks in a unit test");
	sched_fork(m->s, t, sched_current(m->s, test_env.cpu), m->nr_tasks, "test");
	return t;
}

void machine_wake_here(struct machine *m, struct sched_task *t)
{
	struct cpumask allowed = t->allowed;
	u32 nr_allowed = t->nr_allowed;

	t->allowed = (struct cpumask){ { 0 } };
	cpumask_set(&t->allowed, test_env.cpu);
	t->nr_allowed = 1;
	sched_wake_new(m->s, t);
	t->allowed = allowed;
	t->nr_allowed = nr_allowed;
}

struct sched_task *machine_start(struct machine *m, u32 cpu)
{
	u32 before = test_env.cpu;
	struct sched_task *t;

	machine_on(cpu);
	t = machine_fork(m);
	machine_wake_here(m, t);
	machine_interrupts(m, cpu);
	machine_on(before);
	return t;
}

struct sched_task *machine_switch(struct machine *m, bool preempt)
{
	struct sched_task *prev = sched_current(m->s, test_env.cpu);
	struct sched_task *next = sched_switch_begin(m->s, preempt);

	sched_switch_end(m->s, prev);
	return next;
}

void machine_sleep(struct machine *m)
{
	sched_set_state(m->s, TASK_SLEEPING);
	machine_switch(m, false);
}

static void take_calls(struct machine *m, u32 cpu)
{
	env_irq_off();
	for (u32 what = 0; what < ENV_NR_CALLS; what++) {
		if (!test_env.called[cpu][what])
			continue;
		test_env.called[cpu][what] = false;
		if (what == ENV_CALL_WAKE_LIST)
			sched_wake_list_drain(m->s);
		else
			sched_idle_pull(m->s);
	}
	env_irq_on();
}

void machine_interrupts(struct machine *m, u32 cpu)
{
	u32 before = test_env.cpu;

	machine_on(cpu);
	take_calls(m, cpu);
	test_env.kicked[cpu] = false;
	while (sched_need_resched(m->s, cpu))
		machine_switch(m, true);
	machine_on(before);
}

static bool pending(const struct machine *m, u32 cpu)
{
	bool any = test_env.kicked[cpu] || sched_need_resched(m->s, cpu);

	for (u32 what = 0; what < ENV_NR_CALLS; what++)
		any |= test_env.called[cpu][what];
	return any;
}

void machine_settle(struct machine *m)
{
	bool any;

	do {
		any = false;
		for (u32 c = 0; c < m->topo.nr_cpus; c++) {
			if (pending(m, c)) {
				machine_interrupts(m, c);
				any = true;
			}
		}
	} while (any);
}

void machine_tick(struct machine *m, u32 cpu)
{
	u32 before = test_env.cpu;

	machine_on(cpu);
	env_irq_off();
	sched_tick(m->s);
	env_irq_on();
	machine_interrupts(m, cpu);
	machine_on(before);
}

void machine_check(struct machine *m)
{
	for (u32 c = 0; c < m->topo.nr_cpus; c++)
		sched_check_cpu(m->s, c);
}
