/* SPDX-License-Identifier: MIT */
/* The machine of engine_rig.h and what raw scripts and tasks share. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../kernel/platform.h"
#include "engine_rig.h"

struct rig rig;
struct note notes[NOTES_MAX];
u32 nr_notes;

/* No two parameters are equal or multiples of each other, so that a sum that is
 * right was made of the right ones. */
static const struct machine primes = {
	.name = "primes", .nodes_per_socket = 1, .mhz = 1000, .ipc_hot_x100 = 100,
	.smt_pct = { 100, 61, 41, 23 }, .l2_kb = 103, .llc_kb = 1009,
	.c2c_ps = { 7001, 23003, 41011, 97003 },
	.ipi_send_ns = 131, .ipi_ns = { 311, 503, 709, 1013 },
	.idle_exit_ns = { 101, 1103, 4001, 133003 },
	.idle_residency_ns = { 0, 2003, 5003, 600011 },
	.switch_thread_ns = 181, .switch_proc_ns = 251, .kpti_ns = 89, .syscall_ns = 53,
	.irq_ns = 457, .tick_hw_ns = 541, .rdtsc_ps = 8311, .irqsave_ps = 11003,
	.div_ps = 7019, .lock_rmw_ps = 6301, .refill_ns_per_kb = { 29, 107, 509, 691 },
};

void rig_init(u32 pkgs, u32 llcs, u32 cores, u32 threads)
{
	struct sched_topo *t = &rig.topo;

	if (!rig.arena.base)
		plat_arena(&rig.arena);
	rig.arena.used = 0;
	rig.machine = primes;
	memset(t, 0, sizeof(*t));
	t->nr_cpus = pkgs * llcs * cores * threads;
	t->cpu = arena_alloc(&rig.arena, t->nr_cpus * sizeof(*t->cpu));
	for (u32 c = 0; c < t->nr_cpus; c++) {
		struct topo_cpu *k = &t->cpu[c];

		k->apic = c;
		k->thr = c % threads;
		k->core = c / threads;
		k->llc = k->die = k->core / cores;
		k->pkg = k->llc / llcs;
		k->online = true;
	}
	topo_build_masks(t, &rig.arena);
	rig.mark = rig.arena.used;
	rig.cfg = (struct engine_config){
		.topo = t, .machine = &rig.machine, .arena = &rig.arena, .hz = 1000,
		.vlimit_ps = 10000 * MS, .exec = &executor_mux,
	};
}

void rig_reset(void)
{
	rig.arena.used = rig.mark;
	nr_notes = 0;
	engine_init(&rig.cfg);
}

void rig_go(void)
{
	int before = dup(STDOUT_FILENO), file = memfd_create("console", 0);
	ssize_t n;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	rig.cfg.exec->run();
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	n = pread(file, rig.text, sizeof(rig.text) - 1, 0);
	rig.text[n > 0 ? n : 0] = 0;
	close(file);
	close(before);
}

bool rig_failed_with(const char *what)
{
	if (engine.failed && strstr(rig.text, what))
		return true;
	print_error("%s; no \"%s\" in:\n%s", engine.failed ? "failed" : "did not fail", what,
		    rig.text);
	return false;
}

bool rig_ended_well(void)
{
	if (engine.failed)
		print_error("%s", rig.text);
	return engine.over && !engine.failed;
}

void note(u32 what, u64 value)
{
	if (nr_notes == NOTES_MAX)
		panic("too many notes");
	notes[nr_notes++] = (struct note){ clock_ps(), env_this_cpu(), what, value };
}

const struct note *noted(u32 what, u32 i)
{
	for (u32 n = 0; n < nr_notes; n++)
		if (notes[n].what == what && !i--)
			return &notes[n];
	fail_msg("note of kind %u is missing", what);
	return NULL;
}

u32 count_notes(u32 what)
{
	u32 count = 0;

	for (u32 n = 0; n < nr_notes; n++)
		count += notes[n].what == what;
	return count;
}

u64 clock_ps(void)
{
	return engine.cur->now_ps - T0;
}

void run_until(u64 ps)
{
	if (clock_ps() > ps)
		panic("cpu %u is late for %llu ps: %llu", env_this_cpu(), (unsigned long long)ps,
		      (unsigned long long)clock_ps());
	engine_charge_ps(ps - clock_ps());
}
