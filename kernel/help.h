/* SPDX-License-Identifier: MIT */
/* Text for `help`, `help=NAME`, `bench=list` and the like, made from the tables alone. */
#ifndef KERNEL_HELP_H
#define KERNEL_HELP_H

#include "cmdline.h"
#include "lib/nearest.h"

/* Calls line() for each line of the text, without newline. name restricts it to
 * what bears that name; NULL: everything. */
void help_print(const struct cmdline_names *names, const char *name,
		void (*line)(const char *text));

/* The workloads of one kind. */
void help_list(const struct cmdline_names *names, enum workload_kind kind,
	       void (*line)(const char *text));

/* Whether help has something of that name; if not, offers all names to near. */
bool help_knows(const struct cmdline_names *names, struct span name, struct nearest *near);

#endif
