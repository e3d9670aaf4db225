/* SPDX-License-Identifier: MIT */
/*
 * Stack switch. Nothing here is privileged: the native Linux program links the
 * same code. A context is its stack pointer; the callee-saved integer registers
 * (System V AMD64 ABI) lie on the stack. No floating-point state: the kernel
 * has none, and a host context never changes its control words.
 */
#ifndef ARCH_SWITCH_H
#define ARCH_SWITCH_H

#include "../kernel/lib/types.h"

/* Saves the caller's context in *save_sp and continues the one in load_sp,
 * which returns from its own ctx_switch(), or starts as ctx_init() arranged.
 * Neither saves nor changes the interrupt flag. */
void ctx_switch(void **save_sp, void *load_sp);

/* A context that will call fn(arg) on the stack below stack_top; fn must not
 * return. Backtraces end at its caller. */
void *ctx_init(void *stack_top, void (*fn)(void *), void *arg);

#endif
