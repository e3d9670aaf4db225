/* SPDX-License-Identifier: MIT */
/* Masks and sibling weights from group numbers: spec/topology.md section 5. */
#include "topo.h"
#include "../kernel/lib/string.h"

/* Offline CPUs keep their group numbers, so counts cover all CPUs. */
static u32 groups_at(const struct sched_topo *t, enum topo_level level)
{
	u32 nr = 0;

	for (u32 c = 0; c < t->nr_cpus; c++) {
		u32 g = topo_group(&t->cpu[c], level) + 1;

		if (g > nr)
			nr = g;
	}
	return nr;
}

static u32 siblings_of(const struct sched_topo *t, u32 cpu)
{
	return t->cpu[cpu].online ? cpumask_weight(topo_mask(t, TOPO_SMT, cpu), t->nr_cpus) : 0;
}

static void weigh_core(struct sched_topo *t, u32 cpu)
{
	const struct cpumask *smt = topo_mask(t, TOPO_SMT, cpu);
	u32 weight = cpumask_weight(smt, t->nr_cpus);

	for_each_cpu(c, smt, t->nr_cpus)
		t->sibling_weight[c] = weight;
	if (!t->cpu[cpu].online)
		t->sibling_weight[cpu] = 0;
}

u32 topo_weight_v3(const struct sched_topo *t, u32 cpu)
{
	u32 n = 0;

	if (!t->cpu[cpu].online)
		return 0;
	for_each_cpu(c, topo_mask(t, TOPO_SMT, cpu), cpu + 1)
		n++;
	return n;
}

static void weigh_extremes(struct sched_topo *t)
{
	t->smt_max = 0;
	t->smt_min = 0;
	for (u32 c = 0; c < t->nr_cpus; c++) {
		u32 w = t->sibling_weight[c];

		if (w > t->smt_max)
			t->smt_max = w;
		if (w && (w < t->smt_min || !t->smt_min))
			t->smt_min = w;
	}
}

void topo_build_masks(struct sched_topo *t, struct arena *a)
{
	u32 nr[TOPO_NR_LEVELS];

	for (u32 l = 0; l < TOPO_NR_LEVELS; l++) {
		nr[l] = groups_at(t, l);
		if (!t->group[l])
			t->group[l] = arena_alloc(a, nr[l] * sizeof(struct cpumask));
		else
			memset(t->group[l], 0, nr[l] * sizeof(struct cpumask));
		for (u32 c = 0; c < t->nr_cpus; c++)
			if (t->cpu[c].online)
				cpumask_set(&t->group[l][topo_group(&t->cpu[c], l)], c);
	}
	t->nr_cores = nr[TOPO_SMT];
	t->nr_llcs = nr[TOPO_LLC];
	t->nr_dies = nr[TOPO_DIE];
	t->nr_pkgs = nr[TOPO_PKG];
	t->nr_nodes = nr[TOPO_NODE];

	if (!t->sibling_weight)
		t->sibling_weight = arena_alloc(a, t->nr_cpus * sizeof(u32));
	for (u32 c = 0; c < t->nr_cpus; c++)
		t->sibling_weight[c] = siblings_of(t, c);
	if (planted(t, sibling_weight))
		for (u32 c = 0; c < t->nr_cpus; c++)
			t->sibling_weight[c] = topo_weight_v3(t, c);
	weigh_extremes(t);
}

u32 topo_wrong_weight(const struct sched_topo *t)
{
	u32 c = 0;

	while (c < t->nr_cpus && t->sibling_weight[c] == siblings_of(t, c))
		c++;
	return c;
}

void topo_set_online(struct sched_topo *t, u32 cpu, bool online)
{
	if (t->cpu[cpu].online == online)
		return;
	t->cpu[cpu].online = online;
	for (u32 l = 0; l < TOPO_NR_LEVELS; l++) {
		struct cpumask *m = &t->group[l][topo_group(&t->cpu[cpu], l)];

		if (online)
			cpumask_set(m, cpu);
		else
			cpumask_clear(m, cpu);
	}
	weigh_core(t, cpu);
	weigh_extremes(t);
}
