/* SPDX-License-Identifier: MIT */
/*
 * The booted CPUs: started once, then parked in a HLT loop until the boot CPU
 * (or any other) sends them a function. CPU numbers: 0 is the boot CPU, the
 * others follow the MADT's order.
 */
#ifndef KERNEL_SMP_H
#define KERNEL_SMP_H

#include "topology.h"
#include "../boot/handoff.h"

enum smp_state {
	SMP_OFFLINE, /* never woke */
	SMP_PARKED,  /* in the park loop, nothing to do */
	SMP_RUNNING, /* in a function; CPU 0 always */
};

/* Wakes every enabled CPU of the MADT, one after the other, collects what they
 * report about themselves and fills *in; memory comes from a and must last.
 * linux52 is passed to topo_decode(). Boot CPU, once. Returns the number of
 * CPUs that run, the boot CPU included. */
u32 smp_start_all(const struct boot_info *bi, bool linux52, struct topo_input *in,
		  struct arena *a);

/* Entries of in->cpu, dead ones included; 1 before smp_start_all(). */
u32 smp_nr(void);
enum smp_state smp_state(u32 cpu);
struct percpu *smp_percpu(u32 cpu);

/* Makes a parked CPU (not 0, not the caller) call fn(arg) on its own stack with
 * interrupts off; when fn returns, the CPU parks again. Does not wait. Callers
 * serialise per target; panics when the target is not parked. */
void smp_run_on(u32 cpu, void (*fn)(void *), void *arg);

/* Waits until the CPU is parked again. Everything that its function wrote is
 * visible then. */
void smp_wait_parked(u32 cpu);

/* Sends a vector to a started CPU. Any context. */
void smp_ipi(u32 cpu, u8 vector);

/* For panic: stops all other running and parked CPUs by NMI, waiting up to a
 * second for them. They do not come back; each leaves stop_rip, stop_rbp and
 * `stopped` in its struct percpu. */
void smp_stop_others(void);

#endif
