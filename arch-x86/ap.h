/* SPDX-License-Identifier: MIT */
/* Waking application processors, one at a time. */
#ifndef ARCH_AP_H
#define ARCH_AP_H

#include "percpu.h"
#include "../boot/handoff.h"

/* Places the trampoline in a page below 1 MiB that the memory map calls RAM.
 * Returns false when there is none: then no AP can start. */
bool ap_prepare(const struct boot_info *bi);

/* Sends INIT-SIPI-SIPI. The AP enters ap_main(p) on p's stack. Does not wait for
 * it, except for a moment before the second SIPI. Callers serialise, and call
 * this again only after the AP has reported or ap_cancel() was called. */
void ap_start(struct percpu *p);

/* Withdraws the call: an AP that has not woken by now is put back into
 * wait-for-SIPI, so that it cannot wake later on another CPU's ticket. */
void ap_cancel(struct percpu *p);

/* After the last AP: the trampoline page becomes plain memory again. */
void ap_finish(void);

/* Up-call, defined by kernel/smp.c: first C code of an AP, interrupts off, on
 * the kernel's page tables, without GDT, IDT and %gs of its own. */
void noreturn_fn ap_main(struct percpu *p);

#endif
