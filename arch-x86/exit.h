/* SPDX-License-Identifier: MIT */
#ifndef ARCH_EXIT_H
#define ARCH_EXIT_H

#include "../kernel/lib/types.h"

/* Ends the machine, from any context. Under isa-debug-exit QEMU exits with
 * status << 1 | 1; without it ACPI powers off; without that the CPU halts. */
void noreturn_fn arch_exit(u32 status);

#endif
