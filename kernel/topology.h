/* SPDX-License-Identifier: MIT */
/* Turns the MADT list and per-CPU APIC-ID shifts, or a simulated shape, into
 * struct sched_topo; prints the boot log and the topology frame. */
#ifndef KERNEL_TOPOLOGY_H
#define KERNEL_TOPOLOGY_H

#include "../arch-x86/topo.h"
#include "../sched/topo.h"
#include "lib/json.h"

enum topo_warn {
	TOPO_WARN_LEAF, TOPO_WARN_ID, TOPO_WARN_DUP, TOPO_WARN_SHIFT, TOPO_WARN_COUNT,
	TOPO_WARN_LLC, TOPO_WARN_NEST, TOPO_WARN_SMTW, TOPO_WARN_MAX, TOPO_WARN_DEAD,
	TOPO_WARN_NOMADT, TOPO_WARN_NR
};

/* What a CPU reported about itself once started. */
struct cpu_report {
	u32 madt_id;
	bool started;     /* false: WARN DEAD */
	struct topo_shifts shifts;
};

/* Everything that enumeration collected, in CPU order (0 = boot CPU). */
struct topo_input {
	u32 nr;                       /* CPUs, boot CPU first, then MADT order */
	struct cpu_report *cpu;
	u32 madt_enabled, madt_disabled, dropped, duplicates;
	bool no_madt, x2apic;
	u32 (*node_of_apic)(u32 apic_id, void *ctx); /* SRAT; NULL: one node */
	const u8 *slit;               /* nr_nodes^2, NULL: 10 within, 20 across */
	u32 nr_nodes;
	void *ctx;
};

struct topo_shape {
	u32 pkgs, dies, cores, threads; /* dies per package, ... */
};

/* Parses SxCxT or SxDxCxT. Returns false, and a reason, on anything else or
 * above MAX_CPUS. */
bool topo_shape_parse(const char *text, struct topo_shape *out, const char **why);

/* From the booted machine; WARN codes are collected as bits 1 << enum topo_warn
 * (NEST is only known once domains are built: the log and the frame add it).
 * The boot CPU's shifts hold for all. A CPU that did not start is offline. t
 * need not be initialised; memory from a. */
void topology_from_boot(struct sched_topo *t, const struct topo_input *in, struct arena *a,
			u32 *warnings);

/* From a shape: spec section 4's IDs, one node, one LLC per die unless
 * overridden (see below; 0 or 1 nodes: one node, 0 llc_cores: the die). */
void topology_from_shape(struct sched_topo *t, const struct topo_shape *s, u32 nodes,
			 u32 llc_cores, struct arena *a);

/* What machine= knows better than SRAT and CPUID: nodes > 0 divides the
 * packages evenly in order, or each package's cores when there are more nodes
 * than packages (distances become 10 and 20); llc_cores > 0 gives each run of
 * that many cores of a die an LLC. 0 keeps what there is. Builds masks again. */
void topology_override(struct sched_topo *t, u32 nodes, u32 llc_cores, struct arena *a);

/* Called with a code and the text behind "topo: WARN <code> ". */
typedef void topo_fault_fn(enum topo_warn code, const char *text, void *ctx);

/* Every fault that the input shows, in code order; one call per fault. NEST is
 * not among them. */
void topology_faults(const struct sched_topo *t, const struct topo_input *in,
		     topo_fault_fn *report, void *ctx);

/* "LEAF", "ID", ... */
const char *topology_warn_name(enum topo_warn code);

/* The boot log of spec/topology.md section 6, one line at a time, without
 * newline. in is NULL for a simulated shape: no madt line, no faults but NEST.
 * shifts are the boot CPU's, or topo_simulate()'s. */
void topology_log(const struct sched_topo *t, const struct sched_domains *d,
		  const struct topo_input *in, const struct topo_shifts *shifts,
		  void (*line)(const char *text));

/* The fields of the topology frame (DESIGN section 5) into an object that the
 * caller has opened; "type" is the caller's. About 200 bytes per CPU. source is
 * topo_shifts.source, warnings the bits of topology_from_boot(). */
void topology_frame(struct json *j, const struct sched_topo *t, const struct sched_domains *d,
		    const char *source, u32 warnings);

/* The topology tree for people: packages, cores, threads; folded when large. */
void topology_tree(const struct sched_topo *t, void (*line)(const char *text));

#endif
