/* SPDX-License-Identifier: MIT */
/* COM1, polled, 115200 8N1. No locks: callers serialise, or accept mixed text
 * (panic). Bytes go out as they are; '\n' gets no '\r', so that what a host
 * program reads is what was printed. */
#ifndef ARCH_SERIAL_H
#define ARCH_SERIAL_H

#include "../kernel/lib/types.h"

/* Finds out whether there is a UART; without one, writing does nothing. */
void serial_init(void);

/* Returns when the last byte is in the FIFO. A UART that stops draining costs
 * at most a few seconds once; after that, bytes it does not take are dropped. */
void serial_write(const char *s, size_t n);

/* Waits, bounded, until the last bit has left: before powering off. */
void serial_drain(void);

#endif
