/* SPDX-License-Identifier: MIT */
/* CPUID is read once per CPU into a snapshot; everything else decodes that. */
#ifndef ARCH_CPUID_H
#define ARCH_CPUID_H

#include "../kernel/lib/types.h"

struct cpuid_leaf {
	u32 leaf, sub;
	u32 eax, ebx, ecx, edx;
};

#define CPUID_SNAP_MAX 64

struct cpuid_snap {
	u32 n;
	struct cpuid_leaf leaf[CPUID_SNAP_MAX];
};

/* Captures the leaves of spec/topology.md section 2 on the calling CPU, all
 * subleaves that are enumerable, and leaves 0x40000000.. under a hypervisor. */
void cpuid_capture(struct cpuid_snap *s);

/* The captured leaf, or NULL when the CPU does not have it. */
const struct cpuid_leaf *cpuid_find(const struct cpuid_snap *s, u32 leaf, u32 sub);

#endif
