/* SPDX-License-Identifier: MIT */
/* Model-specific registers: SDM vol. 4. */
#ifndef REGS_MSR_H
#define REGS_MSR_H

#define MSR_APIC_BASE 0x1b
#define APIC_BASE_X2APIC (1u << 10)
#define APIC_BASE_ENABLE (1u << 11)
#define APIC_BASE_ADDR 0x000ffffffffff000ull

#define MSR_X2APIC 0x800 /* + xAPIC register offset / 16 */

#define MSR_GS_BASE 0xc0000101

#endif
