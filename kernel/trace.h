/* SPDX-License-Identifier: MIT */
/*
 * The last events of the run, always kept for panics and failed runs; trace=on
 * also prints each as it happens. Costs no virtual time.
 */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

#include "lib/types.h"

/* Events are recorded; false before the first run. */
extern bool trace_on;

/* Forgets all events. print: also to the console, one line each. */
void trace_reset(bool print);

/* e is an enum env_event. Any context. */
void trace_event(u32 e, u64 a, u64 b, u64 c, u64 d);

/* The last n events, oldest first. Takes no locks. */
void trace_dump(u32 n, void (*line)(const char *text));

/* Events of that kind since trace_reset(). */
u64 trace_count(u32 e);

#endif
