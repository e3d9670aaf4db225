/* SPDX-License-Identifier: MIT */
/* Local APIC: SDM vol. 3A chapter "Advanced Programmable Interrupt Controller".
 * Offsets into the xAPIC page; x2APIC MSR = 0x800 + offset / 16. */
#ifndef REGS_APIC_H
#define REGS_APIC_H

#define APIC_ID 0x020 /* xAPIC: id in bits 31:24 */
#define APIC_TPR 0x080
#define APIC_EOI 0x0b0
#define APIC_SVR 0x0f0
#define APIC_ICR 0x300
#define APIC_ICR_HIGH 0x310 /* xAPIC only: destination in bits 31:24 */
#define APIC_LVT_TIMER 0x320
#define APIC_LVT_LINT0 0x350
#define APIC_LVT_LINT1 0x360
#define APIC_LVT_ERROR 0x370
#define APIC_TIMER_INIT 0x380
#define APIC_TIMER_CURRENT 0x390
#define APIC_TIMER_DIVIDE 0x3e0

#define APIC_SVR_ENABLE (1u << 8)

#define APIC_ICR_FIXED (0u << 8)
#define APIC_ICR_NMI (4u << 8)
#define APIC_ICR_INIT (5u << 8)
#define APIC_ICR_STARTUP (6u << 8)
#define APIC_ICR_PENDING (1u << 12) /* delivery status, xAPIC only */
#define APIC_ICR_ASSERT (1u << 14)

#define APIC_LVT_MASKED (1u << 16)
#define APIC_LVT_PERIODIC (1u << 17)

#define APIC_DIVIDE_16 0x3

#define XAPIC_MAX_ID 254 /* 255 broadcasts */

#endif
