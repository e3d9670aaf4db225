/* SPDX-License-Identifier: MIT */
/*
 * The native program: the command line of the image, on a machine that is only
 * simulated. `anechoic-host [--smp SHAPE] key=value ...`; the shape stands for the
 * CPUs that would have booted. tools/run --exec host calls this.
 */
#include <stdio.h>
#include <string.h>
#include "../../kernel/command.h"
#include "../../kernel/platform.h"
#include "panic.h"

#define EXIT_USAGE 2
#define DEFAULT_SHAPE "2x4x2"

static struct arena memory;
static struct booted machine;

static int usage(const char *what, const char *why)
{
	printf("error: %s: %s\n", what, why);
	return EXIT_USAGE;
}

/* As if a machine of that shape had been enumerated: IDs by the formula of
 * spec/topology.md section 4. */
static const char *pretend_boot(const char *shape_text)
{
	struct topo_shape shape;
	struct sched_topo topo;
	const char *why = NULL;

	if (!topo_shape_parse(shape_text, &shape, &why))
		return why;
	topology_from_shape(&topo, &shape, 1, 0, &memory);
	topo_simulate(shape.dies, shape.cores, shape.threads, &machine.shifts);
	machine.in.nr = machine.in.madt_enabled = machine.cpus = topo.nr_cpus;
	machine.in.cpu = arena_alloc(&memory, topo.nr_cpus * sizeof(*machine.in.cpu));
	for (u32 c = 0; c < topo.nr_cpus; c++) {
		machine.in.cpu[c] = (struct cpu_report){ .madt_id = topo.cpu[c].apic,
							 .started = true,
							 .shifts = machine.shifts };
		machine.in.cpu[c].shifts.apic_id = topo.cpu[c].apic;
	}
	return NULL;
}

/* Appends a word and a blank; what does not fit makes len too large. */
static void append(char *line, size_t size, size_t *len, const char *word)
{
	size_t room = *len < size ? size - *len : 0;

	*len += (size_t)snprintf(line + size - room, room, "%s ", word);
}

int main(int argc, char **argv)
{
	static char line[CMDLINE_MAX + 2];
	const char *shape = DEFAULT_SHAPE, *why;
	size_t len = 0;
	int first = 1;

	panic_on_faults();
	if (argc > 2 && !strcmp(argv[1], "--smp")) {
		shape = argv[2];
		first = 3;
	}
	for (int i = first; i < argc; i++)
		append(line, sizeof(line), &len, argv[i]);
	if (!strstr(line, "exec="))
		append(line, sizeof(line), &len, "exec=host");

	const struct cmdline *cl = command_parse(line, len >= sizeof(line));

	plat_arena(&memory);
	if (cl->help)
		command_help(cl, &memory);
	why = pretend_boot(shape);
	if (why)
		return usage(shape, why);
	command_run(cl, &machine, &memory);
}
