/* SPDX-License-Identifier: MIT */
/* A command line from start to end frame. Knows nothing of how it booted. */
#ifndef KERNEL_COMMAND_H
#define KERNEL_COMMAND_H

#include "cmdline.h"
#include "run.h"
#include "topology.h"

/* Parses; on bad input prints the one error line and exits with status 2. The
 * result lives as long as the program. */
const struct cmdline *command_parse(const char *text, bool truncated);

/* The machine that booted. */
struct booted {
	struct topo_input in;
	struct topo_shifts shifts; /* the boot CPU's */
	u32 cpus;                  /* that run, the boot CPU included */
};

/* Prints the help that cl->help asks for and exits with status 0. */
void noreturn_fn command_help(const struct cmdline *cl, struct arena *a);

/* Runs the command and exits with its status. Memory for everything comes from a. */
void noreturn_fn command_run(const struct cmdline *cl, const struct booted *b, struct arena *a);

#endif
