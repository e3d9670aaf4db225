/* SPDX-License-Identifier: MIT */
/* The kernel from its first C statement on: a contents page. */
#include "../arch-x86/arch.h"
#include "../boot/handoff.h"
#include "command.h"
#include "platform.h"
#include "smp.h"

static struct arena memory;
static struct booted machine;

void noreturn_fn kernel_main(const struct boot_info *bi)
{
	arch_init(bi);                          /* console, tables, memory, APIC, clocks */

	const struct cmdline *cl = command_parse(bi->cmdline, bi->cmdline_truncated);

	plat_arena(&memory);                    /* after arch_init(): what that left */
	if (cl->help)
		command_help(cl, &memory);
	machine.cpus = smp_start_all(bi, cl->number[OPT_topo_rules], &machine.in, &memory);
	machine.shifts = machine.in.cpu[0].shifts;
	command_run(cl, &machine, &memory);     /* topology, runs, reports, exit */
}
