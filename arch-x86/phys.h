/* SPDX-License-Identifier: MIT */
/* Private to phys.c and paging.c; see paging.h for the public half. */
#ifndef ARCH_PHYS_H
#define ARCH_PHYS_H

#include "../boot/handoff.h"

/* The kernel image, from linker.ld. */
extern char image_start[], image_end[];

/* Chooses the regions for pages and for the arena. */
void phys_init(const struct boot_info *bi);

#endif
