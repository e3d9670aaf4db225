/* SPDX-License-Identifier: MIT */
/* Machine profiles: what the hardware costs. Source of every column:
 * spec/machines.md; units in the field names. */
#ifndef ENGINE_MACHINE_H
#define ENGINE_MACHINE_H

#include "../lib/types.h"

#define IDLE_STATES 4

struct machine {
	const char *name;
	u32 sockets, cores, threads; /* 0: takes any topology */
	u32 nodes_per_socket;
	u32 mhz, ipc_hot_x100;
	u32 smt_pct[4];              /* with 1, 2, 4, 8 busy siblings */
	u32 l2_kb, llc_kb;
	u32 llc_cores;               /* cores that share an LLC */
	u32 c2c_ps[4];               /* SMT, same LLC, other LLC, remote */
	u32 ipi_send_ns, ipi_ns[4];
	u32 idle_exit_ns[IDLE_STATES], idle_residency_ns[IDLE_STATES];
	bool mwait;                  /* idle CPUs watch memory: no IPI wakes them */
	u32 switch_thread_ns, switch_proc_ns, kpti_ns, syscall_ns, irq_ns, tick_hw_ns;
	u32 rdtsc_ps, irqsave_ps, div_ps, lock_rmw_ps;
	u32 refill_ns_per_kb[4];     /* L2, LLC, dirty in package, remote */
};

extern const struct machine machine_table[];
extern const u32 machine_count;

/* NULL when there is none of that name. */
const struct machine *machine_find(const char *name);

/* Entry i of a column by distance, DIST_SMT being 0. One that the part lacks is
 * taken from the next farther it has, else from the next nearer: a topology other
 * than the part's own may ask for it. */
u32 machine_by_distance(const u32 column[4], u32 i);

/* Speed of one thread in 1/1000 of an idle core's, with n threads of the core
 * busy (itself included). Between the table's columns the total throughput of
 * the core is interpolated; beyond the last column it stays constant. */
u32 machine_smt_speed(const struct machine *m, u32 n);

/* Picoseconds per instruction of kernel code whose misses are charged apart:
 * 10^6 / (MHz * IPC). */
u32 machine_ps_per_insn(const struct machine *m);

#endif
