/* SPDX-License-Identifier: MIT */
/* Local APIC, xAPIC (MMIO) or x2APIC (MSR): two tables of register accessors. */
#ifndef ARCH_LAPIC_H
#define ARCH_LAPIC_H

#include "../kernel/lib/types.h"

/* Boot CPU, after paging_init(): finds the mode the firmware left, switches to
 * x2APIC only if want_x2apic and the CPU has it (spec/topology.md section 1),
 * and enables the boot CPU's APIC. Fatal without an APIC. */
void lapic_init(bool want_x2apic);

/* Each other CPU: the same mode, enabled, all LVT entries masked. */
void lapic_enable(void);

bool lapic_is_x2apic(void);
u32 lapic_id(void);
void lapic_eoi(void);

/* All sends are to one CPU, physical mode, and return when the APIC has
 * accepted the message (bounded). Any context. In xAPIC mode ids above 254
 * cannot be reached: callers do not try. */
void lapic_ipi(u32 apic_id, u8 vector);
void lapic_nmi(u32 apic_id);
void lapic_init_ipi(u32 apic_id);
void lapic_sipi(u32 apic_id, u8 page);

/* Measures the timer against the TSC; boot CPU, after tsc_init(). */
void lapic_timer_calibrate(void);

/* Arms the calling CPU's timer: VEC_TIMER once; 0 stops it.
 * Clamped to what the 32-bit counter holds. An expiry that is already
 * pending is still delivered: handlers must bear an interrupt too many. */
void lapic_timer_oneshot(u64 ns);

#endif
