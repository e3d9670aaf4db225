/* SPDX-License-Identifier: MIT */
/*
 * What the firmware and CPUID got wrong: the WARN codes of spec/topology.md
 * section 6. One function per code, all derived from the input, so that the
 * boot log and the frame cannot disagree.
 */
#include "topology.h"
#include "lib/fmt.h"

struct fault_sink {
	topo_fault_fn *report;
	void *ctx;
};

static void fault(const struct fault_sink *k, enum topo_warn code, const char *f, ...)
	printf_like(3, 4);

static void fault(const struct fault_sink *k, enum topo_warn code, const char *f, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, f);
	fmt_vsn(text, sizeof(text), f, ap);
	va_end(ap);
	k->report(code, text, k->ctx);
}

const char *topology_warn_name(enum topo_warn code)
{
	static const char *const name[TOPO_WARN_NR] = {
		[TOPO_WARN_LEAF] = "LEAF",   [TOPO_WARN_ID] = "ID",
		[TOPO_WARN_DUP] = "DUP",     [TOPO_WARN_SHIFT] = "SHIFT",
		[TOPO_WARN_COUNT] = "COUNT", [TOPO_WARN_LLC] = "LLC",
		[TOPO_WARN_NEST] = "NEST",   [TOPO_WARN_SMTW] = "SMTW",
		[TOPO_WARN_MAX] = "MAX",     [TOPO_WARN_DEAD] = "DEAD",
		[TOPO_WARN_NOMADT] = "NOMADT",
	};

	return name[code];
}

static void faults_leaf(const struct topo_shifts *boot, const struct fault_sink *k)
{
	if (boot->bad_leaf1f)
		fault(k, TOPO_WARN_LEAF, "leaf=0x1f unusable, src=%s", boot->source);
	if (boot->bad_leaf0b)
		fault(k, TOPO_WARN_LEAF, "leaf=0xb unusable, src=%s", boot->source);
}

static void faults_id(const struct topo_input *in, const struct fault_sink *k)
{
	for (u32 c = 0; c < in->nr; c++) {
		const struct cpu_report *r = &in->cpu[c];
		u32 bits = r->shifts.apic_id_8bit ? 0xff : ~0u;

		if (r->started && (r->shifts.apic_id ^ r->madt_id) & bits)
			fault(k, TOPO_WARN_ID, "cpu%u cpuid=%u madt=%u, madt kept", c,
			      r->shifts.apic_id, r->madt_id);
	}
}

static void faults_shift(const struct topo_input *in, const struct fault_sink *k)
{
	const struct topo_shifts *b = &in->cpu[0].shifts;

	for (u32 c = 1; c < in->nr; c++) {
		const struct topo_shifts *s = &in->cpu[c].shifts;

		if (!in->cpu[c].started)
			continue;
		if (s->core != b->core || s->die != b->die || s->pkg != b->pkg ||
		    s->llc != b->llc)
			fault(k, TOPO_WARN_SHIFT,
			      "cpu%u C=%u D=%u P=%u llc=%u, cpu0's C=%u D=%u P=%u llc=%u kept",
			      c, s->core, s->die, s->pkg, s->llc, b->core, b->die, b->pkg,
			      b->llc);
	}
}

/* Silent CPUs are in the package all the same. */
static void faults_count(const struct sched_topo *t, u32 leaf_count, const struct fault_sink *k)
{
	if (!leaf_count)
		return;
	for (u32 p = 0; p < t->nr_pkgs; p++) {
		u32 cpus = 0;

		for (u32 c = 0; c < t->nr_cpus; c++)
			cpus += t->cpu[c].pkg == p;
		if (cpus != leaf_count)
			fault(k, TOPO_WARN_COUNT, "pkg=%u leaf=%u cpus=%u", p, leaf_count, cpus);
	}
}

/* One LLC by its ID bits whose CPUs SRAT puts into several nodes, reported at
 * its first CPU. */
static void fault_llc_node(const struct topo_input *in, u32 first, const struct fault_sink *k)
{
	u32 shift = in->cpu[0].shifts.llc, id = in->cpu[first].madt_id;
	u32 node = in->node_of_apic(id, in->ctx);

	for (u32 c = 0; c < first; c++)
		if ((u64)in->cpu[c].madt_id >> shift == (u64)id >> shift)
			return;
	for (u32 c = first + 1; c < in->nr; c++) {
		u32 other = in->cpu[c].madt_id;

		if ((u64)other >> shift != (u64)id >> shift ||
		    in->node_of_apic(other, in->ctx) == node)
			continue;
		fault(k, TOPO_WARN_LLC, "cpu%u node=%u and cpu%u node=%u share one, split", first,
		      node, c, in->node_of_apic(other, in->ctx));
		return;
	}
}

static void faults_llc(const struct topo_input *in, const struct fault_sink *k)
{
	const struct topo_shifts *b = &in->cpu[0].shifts;

	if (b->warn_llc)
		fault(k, TOPO_WARN_LLC, "shift=%u exceeds P=%u, clamped", b->llc_raw, b->pkg);
	if (!in->node_of_apic)
		return;
	for (u32 c = 0; c < in->nr; c++)
		fault_llc_node(in, c, k);
}

static void faults_dead(const struct topo_input *in, const struct fault_sink *k)
{
	for (u32 c = 0; c < in->nr; c++)
		if (!in->cpu[c].started)
			fault(k, TOPO_WARN_DEAD, "cpu%u apic=%u silent, left offline", c,
			      in->cpu[c].madt_id);
}

void topology_faults(const struct sched_topo *t, const struct topo_input *in,
		     topo_fault_fn *report, void *ctx)
{
	const struct topo_shifts *boot = &in->cpu[0].shifts;
	const struct fault_sink k = { report, ctx };

	faults_leaf(boot, &k);
	faults_id(in, &k);
	if (in->duplicates)
		fault(&k, TOPO_WARN_DUP, "entries=%u dropped", in->duplicates);
	faults_shift(in, &k);
	faults_count(t, boot->leaf_count, &k);
	faults_llc(in, &k);
	if (t->smt_min != t->smt_max)
		fault(&k, TOPO_WARN_SMTW, "smt_max=%u smt_min=%u", t->smt_max, t->smt_min);
	if (in->dropped)
		fault(&k, TOPO_WARN_MAX, "dropped=%u max=%u", in->dropped, MAX_CPUS);
	faults_dead(in, &k);
	if (in->no_madt)
		fault(&k, TOPO_WARN_NOMADT, "no CPU list, one CPU used");
}
