/* SPDX-License-Identifier: MIT */
/* Walking frame pointers and naming what they lead to. Reads only memory that
 * the page tables map, so a corrupt chain ends the walk and nothing else. No
 * locks, any context. */
#ifndef KERNEL_BACKTRACE_H
#define KERNEL_BACKTRACE_H

#include "lib/types.h"

#define BACKTRACE_MAX 32

/* Fills out with return addresses, innermost first; returns how many. rip is
 * put in front when it is not 0. */
u32 backtrace_walk(u64 rip, u64 rbp, u64 out[BACKTRACE_MAX]);

/* Writes "name+0x12/0x40", or the bare address when it is not in the kernel. */
void symbol_format(u64 addr, char *buf, size_t n);

#endif
