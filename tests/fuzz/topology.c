/* SPDX-License-Identifier: MIT */
/* sources: arch-x86/topo.c arch-x86/cpuid.c kernel/topology*.c kernel/lib/*.c sched/topo.c
 * sched/domains.c tests/host/panic_host.c */
/* fuzz: -max_len=2048 */
/* runs: 10000 */
/*
 * Bytes as what CPUs report: a CPUID snapshot, APIC IDs, NUMA nodes and a SLIT. Out
 * come shifts, numbers, masks and domains that hold together whatever was reported.
 *
 * Layout: flags, number of CPUs, of nodes, of leaves; for each leaf a kind, a
 * subleaf and four registers; for each CPU a 16-bit ID and its node; the SLIT.
 */
#include "input.h"
#include "kernel/topology.h"

#define NODES_MAX 8
#define CPUS_MAX 72
#define ARENA_BYTES (32u << 20)

enum flag { FLAG_LINUX52 = 1, FLAG_SRAT = 2, FLAG_SLIT = 4, FLAG_OWN_ID = 8, FLAG_PKG = 16 };

static struct cpuid_snap snap;
static struct cpu_report report[CPUS_MAX];
static u8 node_of[CPUS_MAX], slit[NODES_MAX * NODES_MAX];
static struct topo_input boot;
static struct arena arena;

static void read_snapshot(struct input *in, u32 n)
{
	static const u32 leaves[] = { 0, 1, 4, 0xb, 0x1f, 0x80000000, 0x80000001, 0x80000006,
				      0x80000008, 0x8000001d, 0x8000001e };

	for (snap.n = 0; snap.n < n && in->left; snap.n++) {
		u32 leaf = leaves[take8(in) % ARRAY_SIZE(leaves)], sub = take8(in) % 5;

		snap.leaf[snap.n] = (struct cpuid_leaf){ leaf, sub, take32(in), take32(in),
							 take32(in), take32(in) };
	}
}

static bool listed(u32 id)
{
	for (u32 i = 0; i < boot.nr; i++)
		if (report[i].madt_id == id)
			return true;
	return false;
}

static u32 node_of_apic(u32 id, void *ctx)
{
	(void)ctx;
	for (u32 i = 0; i < boot.nr; i++)
		if (report[i].madt_id == id)
			return node_of[i];
	return 0;
}

/* As smp_start_all() collects them: an ID once, the first CPU always runs. */
static void read_cpus(struct input *in, u32 n, u8 flags)
{
	for (boot.nr = 0; n--;) {
		u32 id = take16(in);
		u8 node = take8(in);
		struct cpu_report *r = &report[boot.nr];

		if (listed(id)) {
			boot.duplicates++;
			continue;
		}
		node_of[boot.nr] = (u8)(node % boot.nr_nodes);
		*r = (struct cpu_report){ .madt_id = id, .started = !boot.nr || node < 0xf0 };
		topo_decode(&snap, flags & FLAG_LINUX52, &r->shifts);
		if (flags & FLAG_OWN_ID)
			r->shifts.apic_id = id;
		boot.nr++;
	}
	boot.madt_enabled = boot.nr;
}

static void check_shifts(const struct topo_shifts *s)
{
	must(s->core <= s->die && s->die <= s->pkg && s->pkg <= 32 && s->llc <= s->pkg);
	must(s->source && s->llc_source && strlen(s->vendor) < sizeof(s->vendor));
}

/* Every online CPU is in exactly one group of each level. */
static void check_masks(const struct sched_topo *t)
{
	const u32 nr[TOPO_NR_LEVELS] = { t->nr_cores, t->nr_llcs, t->nr_dies, t->nr_pkgs,
					 t->nr_nodes };

	for (u32 level = 0; level < TOPO_NR_LEVELS; level++)
		for (u32 c = 0; c < t->nr_cpus; c++) {
			u32 own = topo_group(&t->cpu[c], (enum topo_level)level), in = 0;

			must(own < nr[level]);
			for (u32 g = 0; g < nr[level]; g++)
				in += cpumask_test(&t->group[level][g], c);
			must(in == t->cpu[c].online);
			must(cpumask_test(&t->group[level][own], c) == t->cpu[c].online);
		}
	must(t->smt_min <= t->smt_max);
}

static void check_groups(const struct sched_domain *sd, u32 cpu, u32 n)
{
	struct cpumask all = { { 0 } };
	const struct sched_group *g = sd->groups;
	u32 walked = 0;

	must(cpumask_test(g->span, cpu));
	do {
		must(cpumask_subset(g->span, sd->span, n));
		must(g->weight == cpumask_weight(g->span, n) && g->weight);
		cpumask_or(&all, g->span, n);
		must(++walked <= n);
		g = g->next;
	} while (g != sd->groups);
	must(cpumask_equal(&all, sd->span, n));
}

static void check_domains(const struct sched_domains *d, const struct sched_topo *t)
{
	u32 online = 0;

	for (u32 c = 0; c < t->nr_cpus; c++)
		online += t->cpu[c].online;
	for (u32 c = 0; c < t->nr_cpus; c++) {
		u32 covered = 1;

		must(t->cpu[c].online || !d->bottom[c]);
		must(d->llc_id[c] < t->nr_cpus && d->llc_size[c] >= 1);
		for (const struct sched_domain *sd = d->bottom[c]; sd; sd = sd->parent) {
			must(cpumask_test(sd->span, c));
			must(sd->span_weight == cpumask_weight(sd->span, t->nr_cpus));
			must(sd->span_weight > covered);
			must(!sd->child || cpumask_subset(sd->child->span, sd->span, t->nr_cpus));
			covered = sd->span_weight;
			check_groups(sd, c, t->nr_cpus);
		}
		must(covered == (t->cpu[c].online ? online : 1));
	}
}

static void ignore_line(const char *text)
{
	must(strlen(text) < 4096);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static char frame[64 << 10];
	struct input in = { data, size };
	u8 flags = take8(&in);
	u32 nr = 1 + take8(&in) % CPUS_MAX, warnings;
	struct sched_domains domains;
	struct sched_topo topo;
	struct json j;

	if (!arena.base)
		arena_init(&arena, malloc(ARENA_BYTES), ARENA_BYTES);
	arena_reset(&arena);
	memset(&boot, 0, sizeof(boot));
	boot.cpu = report;
	boot.nr_nodes = 1 + take8(&in) % NODES_MAX;
	read_snapshot(&in, take8(&in) % (CPUID_SNAP_MAX + 1));
	read_cpus(&in, nr, flags);
	for (u32 i = 0; i < boot.nr_nodes * boot.nr_nodes; i++)
		slit[i] = take8(&in);
	boot.node_of_apic = flags & FLAG_SRAT ? node_of_apic : NULL;
	boot.slit = flags & FLAG_SLIT ? slit : NULL;

	check_shifts(&report[0].shifts);
	topology_from_boot(&topo, &boot, &arena, &warnings);
	check_masks(&topo);
	domains_build(&domains, &topo, flags & FLAG_PKG, &arena);
	check_domains(&domains, &topo);
	topology_log(&topo, &domains, &boot, &report[0].shifts, ignore_line);
	topology_tree(&topo, ignore_line);
	json_init(&j, frame, sizeof(frame));
	json_obj(&j, NULL);
	topology_frame(&j, &topo, &domains, report[0].shifts.source, warnings);
	json_end_obj(&j);
	must(!j.overflow);
	return 0;
}
