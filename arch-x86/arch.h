/* SPDX-License-Identifier: MIT */
#ifndef ARCH_ARCH_H
#define ARCH_ARCH_H

#include "../boot/handoff.h"

/* Everything the boot CPU needs before other CPUs can start: console, tables,
 * memory, APIC, clocks. Interrupts stay off. */
void arch_init(const struct boot_info *bi);

#endif
