/* SPDX-License-Identifier: MIT */
/* The time-stamp counter as a clock. Assumed to run at one rate on all CPUs. */
#ifndef ARCH_TSC_H
#define ARCH_TSC_H

#include "../kernel/lib/types.h"

/* Finds the rate: CPUID 0x40000010 (hypervisors), CPUID 0x15, else against PIT
 * channel 2 for 10 ms, else CPUID 0x16, else a guess of 1 GHz. */
void tsc_init(void);

u64 tsc_hz(void);

/* A difference of counter values in ns, and back; rounded down. */
u64 tsc_to_ns(u64 cycles);
u64 tsc_from_ns(u64 ns);

/* Spins, with PAUSE. */
void tsc_delay_us(u32 us);

#endif
