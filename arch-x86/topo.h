/* SPDX-License-Identifier: MIT */
/* Pure decode of a CPUID snapshot into APIC-ID shifts: spec/topology.md section 3. */
#ifndef ARCH_TOPO_H
#define ARCH_TOPO_H

#include "cpuid.h"

struct topo_shifts {
	u8 core, die, pkg, llc;  /* C, D, P (0-32, C <= D <= P) and the LLC shift (<= P) */
	u8 llc_raw;              /* the LLC shift before it was clamped to P */
	const char *source;      /* leaf1f, leaf0b, amd, intel, none, topo */
	const char *llc_source;  /* leaf4, leaf1d, none, topo */
	char vendor[13];
	u32 apic_id;             /* the CPU's own id, from the best leaf */
	bool apic_id_8bit;       /* only leaf 1 gave it: compare low 8 bits */
	bool bad_leaf1f, bad_leaf0b; /* which leaf warn_leaf is about */
	bool warn_leaf;          /* WARN LEAF: a leaf within the max leaf was unusable */
	bool warn_llc;           /* WARN LLC: the LLC shift exceeded P and was clamped */
	bool llc_unannounced;    /* 0x8000001D used without TOPOEXT, under a hypervisor */
	u32 leaf_count;          /* CPUs per package by the used leaf's last count; 0 unknown */
};

/* linux52 selects the rules of v5.2 (spec/topology.md section 4). Never fails:
 * without any usable leaf the source is "none". */
void topo_decode(const struct cpuid_snap *s, bool linux52, struct topo_shifts *out);

/* A simulated shape: IDs and shifts by the formula of spec section 4. Each
 * argument is 1-4096; apic_id is left 0. */
void topo_simulate(u32 dies, u32 cores, u32 threads, struct topo_shifts *out);

#endif
