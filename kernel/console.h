/* SPDX-License-Identifier: MIT */
/* Text for people, one line per call; safe from every context. */
#ifndef KERNEL_CONSOLE_H
#define KERNEL_CONSOLE_H

#include "lib/types.h"

void console_line(const char *text);
void console_printf(const char *f, ...) printf_like(1, 2);

#endif
