/* SPDX-License-Identifier: MIT */
/*
 * What the kernel needs of ACPI: the CPU list (MADT), NUMA nodes (SRAT, SLIT)
 * and how to power off (FADT, \_S5). Tables are firmware's, hence untrusted:
 * every length is checked before use, every checksum verified; a bad table
 * counts as absent.
 */
#ifndef ARCH_ACPI_H
#define ARCH_ACPI_H

#include "../kernel/lib/types.h"

#define ACPI_MAX_CPUS 4096
#define ACPI_MAX_NODES 64

struct madt_entry {
	u32 apic_id;
	bool enabled; /* flags bit 0; else only present on paper, or online-capable */
	bool type9;   /* 32-bit id */
};

struct acpi_cpus {
	bool have_madt;
	u32 nr;                        /* entries, in MADT order, duplicates included */
	u32 dropped;                   /* beyond ACPI_MAX_CPUS */
	struct madt_entry entry[ACPI_MAX_CPUS];
};

/* Reads everything and copies it out of firmware memory; on the boot tables
 * (first 4 GiB mapped), before paging_init(), because some firmware leaves its
 * tables in memory that it reports as free. rsdp 0: no ACPI. */
void acpi_init(u64 rsdp);

const struct acpi_cpus *acpi_cpus(void);

/* Nodes are the SRAT's proximity domains of enabled CPUs, ranked by number.
 * 1 without an SRAT. */
u32 acpi_nr_nodes(void);
bool acpi_have_srat(void);

/* Node of a CPU; 0 for one that the SRAT does not list. ctx is unused: the
 * prototype is that of struct topo_input. */
u32 acpi_node_of_apic(u32 apic_id, void *ctx);

/* nr_nodes^2 distances, row by row; NULL without a valid SLIT. */
const u8 *acpi_slit(void);

/* Enters S5. Returns where ACPI offers no way to. */
void acpi_power_off(void);

#endif
