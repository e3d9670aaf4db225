/* SPDX-License-Identifier: MIT */
/* The machine table and the two quantities derived from it. */
#include "machine.h"

#include "../lib/string.h"

#define MACHINE(name_, sockets_, cores_, threads_, nodes_, mhz_, ipc_, s1, s2, s4, s8, l2, \
		llc, llcc, c0, c1, c2, c3, send, i0, i1, i2, i3, x0, x1, x2, x3, r0, r1,   \
		r2, r3, mw, swt, swp, kpti, sysc, irq, tick, rdtsc, irqsave, div, rmw, f0, f1, \
		f2, f3)                                                                    \
	{ .name = name_, .sockets = sockets_, .cores = cores_, .threads = threads_,                \
	  .nodes_per_socket = nodes_, .mhz = mhz_, .ipc_hot_x100 = ipc_,                           \
	  .smt_pct = { s1, s2, s4, s8 }, .l2_kb = l2, .llc_kb = llc, .llc_cores = llcc,            \
	  .c2c_ps = { c0, c1, c2, c3 }, .ipi_send_ns = send, .ipi_ns = { i0, i1, i2, i3 },         \
	  .idle_exit_ns = { x0, x1, x2, x3 }, .idle_residency_ns = { r0, r1, r2, r3 },             \
	  .mwait = mw,                                                                             \
	  .switch_thread_ns = swt, .switch_proc_ns = swp, .kpti_ns = kpti, .syscall_ns = sysc,     \
	  .irq_ns = irq, .tick_hw_ns = tick, .rdtsc_ps = rdtsc, .irqsave_ps = irqsave,             \
	  .div_ps = div, .lock_rmw_ps = rmw, .refill_ns_per_kb = { f0, f1, f2, f3 } },

const struct machine machine_table[] = {
#include "machines.def"
};

const u32 machine_count = ARRAY_SIZE(machine_table);

const struct machine *machine_find(const char *name)
{
	for (u32 i = 0; i < machine_count; i++)
		if (!strcmp(machine_table[i].name, name))
			return &machine_table[i];
	return NULL;
}

u32 machine_by_distance(const u32 column[4], u32 i)
{
	u32 at = i;

	while (at < 4 && !column[at])
		at++;
	if (at == 4)
		for (at = i; at && !column[at]; at--)
			;
	return column[at];
}

u32 machine_smt_speed(const struct machine *m, u32 n)
{
	/* Column k holds 2^k busy threads; a 0 means the part has no such width. */
	u32 k = 0, last = 0;

	for (u32 i = 0; i < 4; i++)
		if (m->smt_pct[i])
			last = i;
	while (k < last && (2u << k) <= n)
		k++;
	/* Throughput of the core in 1/1000 of one thread alone. */
	u32 lo = 1u << k, lo_total = m->smt_pct[k] * 10 * lo;

	if (n <= lo || k == last)
		return n <= lo ? lo_total / lo : lo_total / n;
	u32 hi = lo * 2, hi_total = m->smt_pct[k + 1] * 10 * hi;
	u32 total = lo_total * (hi - n) + hi_total * (n - lo);

	return total / (hi - lo) / n;
}

u32 machine_ps_per_insn(const struct machine *m)
{
	return 100000000u / (m->mhz * m->ipc_hot_x100);
}
