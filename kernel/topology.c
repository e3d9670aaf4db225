/* SPDX-License-Identifier: MIT */
/*
 * From APIC IDs, or from a simulated shape, to the scheduler's view of the
 * machine: dense numbers, distances, masks; and what was wrong on the way
 * (spec/topology.md sections 5 and 6). Runs once per boot or run, on one CPU.
 */
#include "topology.h"
#include "lib/math64.h"
#include "lib/string.h"

/* Gives keys dense numbers by first appearance: open addressing, at most half
 * full. */
struct numbering {
	u64 *key;
	u32 *number; /* 0: free slot, else number + 1 */
	u32 mask, nr;
};

static void numbering_init(struct numbering *nm, u32 max_keys, struct arena *a)
{
	u32 slots = 1u << (log2_ceil(max_keys) + 1);

	nm->key = arena_alloc(a, slots * sizeof(*nm->key));
	nm->number = arena_alloc(a, slots * sizeof(*nm->number));
	nm->mask = slots - 1;
	nm->nr = 0;
}

static void numbering_reset(struct numbering *nm)
{
	memset(nm->number, 0, (nm->mask + 1) * sizeof(*nm->number));
	nm->nr = 0;
}

static u32 number_of(struct numbering *nm, u64 key)
{
	u64 mixed = key * 0x9e3779b97f4a7c15ull; /* Fibonacci hashing, Knuth 6.4 */
	u32 slot = (u32)(mixed >> 32) & nm->mask;

	while (nm->number[slot] && nm->key[slot] != key)
		slot = (slot + 1) & nm->mask;
	if (!nm->number[slot]) {
		nm->key[slot] = key;
		nm->number[slot] = ++nm->nr;
	}
	return nm->number[slot] - 1;
}

/* The bits of an ID from shift upward; shift is up to 32. */
static u64 id_above(u32 id, u32 shift)
{
	return (u64)id >> shift;
}

static u32 raw_node(const struct topo_input *in, u32 cpu)
{
	return in->node_of_apic ? in->node_of_apic(in->cpu[cpu].madt_id, in->ctx) : 0;
}

static void distances_default(struct sched_topo *t, u32 nodes, struct arena *a)
{
	t->distance = arena_alloc(a, (size_t)nodes * nodes);
	for (u32 i = 0; i < nodes; i++)
		for (u32 j = 0; j < nodes; j++)
			t->distance[i * nodes + j] = i == j ? 10 : 20;
}

/* The SLIT is indexed by the firmware's nodes, of which some may have no CPU.
 * One that puts another node no farther than the own (10, ACPI 6.4 section
 * 5.2.17) would leave nodes out of every domain: then the defaults hold. */
static void distances_read(struct sched_topo *t, const struct topo_input *in, u32 nodes,
			   struct arena *a)
{
	u32 *raw = arena_alloc(a, nodes * sizeof(*raw));
	u8 *slit = arena_alloc(a, (size_t)nodes * nodes);

	distances_default(t, nodes, a);
	if (!in->slit)
		return;
	for (u32 c = 0; c < t->nr_cpus; c++)
		raw[t->cpu[c].node] = raw_node(in, c);
	for (u32 i = 0; i < nodes; i++)
		for (u32 j = 0; j < nodes; j++) {
			u8 d;

			if (raw[i] >= in->nr_nodes || raw[j] >= in->nr_nodes)
				return;
			d = in->slit[raw[i] * in->nr_nodes + raw[j]];
			if (i == j ? d != 10 : d <= 10)
				return;
			slit[i * nodes + j] = d;
		}
	t->distance = slit;
}

static void threads_rank(struct sched_topo *t, u32 nr_cores, struct arena *a)
{
	u32 *used = arena_alloc(a, nr_cores * sizeof(*used));

	for (u32 c = 0; c < t->nr_cpus; c++)
		t->cpu[c].thr = used[t->cpu[c].core]++;
}

static void collect_bit(enum topo_warn code, const char *text, void *ctx)
{
	(void)text;
	*(u32 *)ctx |= 1u << code;
}

void topology_from_boot(struct sched_topo *t, const struct topo_input *in, struct arena *a,
			u32 *warnings)
{
	const struct topo_shifts *sh = &in->cpu[0].shifts;
	struct numbering core, die, pkg, node, llc;

	*t = (struct sched_topo){ .nr_cpus = in->nr };
	t->cpu = arena_alloc(a, in->nr * sizeof(*t->cpu));
	numbering_init(&core, in->nr, a);
	numbering_init(&die, in->nr, a);
	numbering_init(&pkg, in->nr, a);
	numbering_init(&node, in->nr, a);
	numbering_init(&llc, in->nr, a);
	for (u32 c = 0; c < in->nr; c++) {
		struct topo_cpu *tc = &t->cpu[c];

		tc->apic = in->cpu[c].madt_id;
		tc->online = in->cpu[c].started;
		tc->core = number_of(&core, id_above(tc->apic, sh->core));
		tc->die = number_of(&die, id_above(tc->apic, sh->die));
		tc->pkg = number_of(&pkg, id_above(tc->apic, sh->pkg));
		tc->node = number_of(&node, raw_node(in, c));
		tc->llc = number_of(&llc, id_above(tc->apic, sh->llc) << 32 | tc->node);
	}
	threads_rank(t, core.nr, a);
	distances_read(t, in, node.nr, a);
	topo_build_masks(t, a);
	*warnings = 0;
	topology_faults(t, in, collect_bit, warnings);
}

void topology_from_shape(struct sched_topo *t, const struct topo_shape *s, u32 nodes,
			 u32 llc_cores, struct arena *a)
{
	u32 n = s->pkgs * s->dies * s->cores * s->threads;
	struct topo_shifts sh;

	topo_simulate(s->dies, s->cores, s->threads, &sh);
	*t = (struct sched_topo){ .nr_cpus = n };
	t->cpu = arena_alloc(a, n * sizeof(*t->cpu));
	for (u32 c = 0; c < n; c++) {
		struct topo_cpu *tc = &t->cpu[c];

		tc->thr = c % s->threads;
		tc->core = c / s->threads;
		tc->die = tc->llc = tc->core / s->cores;
		tc->pkg = tc->die / s->dies;
		tc->apic = tc->pkg << sh.pkg | (tc->die % s->dies) << sh.die |
			   (tc->core % s->cores) << sh.core | tc->thr;
		tc->online = true;
	}
	topology_override(t, nodes ? nodes : 1, llc_cores, a);
}

/* Cores per group of a level, and each core's rank among them. */
static void cores_rank(const struct sched_topo *t, enum topo_level level, u32 *rank, u32 *count)
{
	u32 next = 0; /* cores are numbered by first appearance */

	for (u32 c = 0; c < t->nr_cpus; c++) {
		const struct topo_cpu *tc = &t->cpu[c];

		if (tc->core != next)
			continue;
		rank[next++] = count[level == TOPO_PKG ? tc->pkg : tc->die]++;
	}
}

static void nodes_override(struct sched_topo *t, u32 nodes, struct arena *a)
{
	u32 *rank = arena_alloc(a, t->nr_cpus * sizeof(*rank));
	u32 *count = arena_alloc(a, t->nr_cpus * sizeof(*count));
	u32 pkgs = 0, split;
	struct numbering nm;

	for (u32 c = 0; c < t->nr_cpus; c++)
		if (t->cpu[c].pkg >= pkgs)
			pkgs = t->cpu[c].pkg + 1;
	split = nodes > pkgs ? nodes / pkgs : 1;
	cores_rank(t, TOPO_PKG, rank, count);
	numbering_init(&nm, t->nr_cpus, a);
	for (u32 c = 0; c < t->nr_cpus; c++) {
		struct topo_cpu *tc = &t->cpu[c];
		u64 key = split > 1 ? (u64)tc->pkg << 32 | rank[tc->core] * split / count[tc->pkg]
				    : tc->pkg * nodes / pkgs;

		tc->node = number_of(&nm, nodes > 1 ? key : 0);
	}
	distances_default(t, nm.nr, a);
}

void topology_override(struct sched_topo *t, u32 nodes, u32 llc_cores, struct arena *a)
{
	u32 *rank = arena_alloc(a, t->nr_cpus * sizeof(*rank));
	u32 *count = arena_alloc(a, t->nr_cpus * sizeof(*count));
	struct numbering nm;

	if (nodes)
		nodes_override(t, nodes, a);
	numbering_init(&nm, t->nr_cpus, a);
	if (llc_cores) {
		cores_rank(t, TOPO_DIE, rank, count);
		for (u32 c = 0; c < t->nr_cpus; c++) {
			struct topo_cpu *tc = &t->cpu[c];

			tc->llc = number_of(&nm, (u64)tc->die << 32 | rank[tc->core] / llc_cores);
		}
		numbering_reset(&nm);
	}
	/* An LLC does not reach beyond a node: spec section 3, last sentence. */
	for (u32 c = 0; c < t->nr_cpus; c++)
		t->cpu[c].llc = number_of(&nm, (u64)t->cpu[c].llc << 32 | t->cpu[c].node);
	t->group[TOPO_LLC] = t->group[TOPO_NODE] = NULL; /* their number may have grown */
	topo_build_masks(t, a);
}

bool topo_shape_parse(const char *text, struct topo_shape *out, const char **why)
{
	u32 num[4] = { 0 }, fields = 0, cpus = 1;

	*why = "expected SOCKETSxCORESxTHREADS or SOCKETSxDIESxCORESxTHREADS, such as 2x22x2";
	for (const char *p = text;; p++) {
		u32 v = 0;

		if (fields == 4 || *p < '0' || *p > '9')
			return false;
		for (; *p >= '0' && *p <= '9'; p++)
			if (v <= MAX_CPUS)
				v = v * 10 + (u32)(*p - '0');
		num[fields++] = v;
		if (!*p)
			break;
		if (*p != 'x')
			return false;
	}
	if (fields < 3)
		return false;
	for (u32 i = 0; i < fields; i++) {
		if (!num[i]) {
			*why = "every number must be at least 1";
			return false;
		}
		if (num[i] > MAX_CPUS / cpus) {
			*why = "more than 4096 CPUs";
			return false;
		}
		cpus *= num[i];
	}
	*out = (struct topo_shape){ .pkgs = num[0], .dies = fields == 4 ? num[1] : 1,
				    .cores = num[fields - 2], .threads = num[fields - 1] };
	return true;
}
