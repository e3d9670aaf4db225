/* SPDX-License-Identifier: MIT */
/*
 * Physical memory and the one set of page tables that all CPUs share.
 *
 *   0 .. end of RAM            one to one; RAM is writable and not executable,
 *                              the kernel image is mapped section by section:
 *                              text read+execute, rodata read, data read+write;
 *                              page 0 and the boot stack's guard are unmapped
 *   0xffffc00000000000 ..      task stacks, STACK_SLOT_SIZE each
 *   0xffffd00000000000 ..      CPU stacks, CPU_STACKS_SIZE each
 *
 * Physical memory is not a general allocator: pages are taken from the top of
 * the largest free region and never come back, the arena grows from its bottom.
 * All functions that take pages or change tables: callers serialise. Mapping
 * needs no TLB shootdown, since a missing entry is never cached.
 */
#ifndef ARCH_PAGING_H
#define ARCH_PAGING_H

#include "../boot/handoff.h"
#include "../kernel/lib/arena.h"

#define PAGE_SIZE 4096

/* 16 KiB are usable: an interrupt on top of the deepest call chain, with a
 * panic's formatting buffers on top of that, stays under 8. The guard is as
 * large again, so that a function with a big frame cannot step over it. */
#define STACK_SLOT_SIZE 32768
#define STACK_USABLE 16384
#define STACK_SLOT_MAX 65536

struct cpu_stacks {
	u64 main, df, nmi, mc; /* tops */
};

/* Picks the memory regions, builds the tables and loads them on the calling
 * CPU. The others load them in the trampoline. Fatal without usable RAM. */
void paging_init(const struct boot_info *bi);

/* Top of task stack i < STACK_SLOT_MAX, 16-byte aligned. Mapped at the first
 * call and for good: runs reuse the slots of earlier ones. The contents are
 * whatever was there. Fatal when memory is used up. */
void *stack_slot(u32 i);

/* Maps the stacks of one CPU; once per CPU. */
void paging_cpu_stacks(u32 cpu, struct cpu_stacks *out);

/* A page with its old contents, one-to-one mapped. Fatal when memory is used up. */
void *phys_page_alloc(void);

/* The same, zeroed. */
void *phys_page_zeroed(void);

/* Gives the largest free region to a: once. Pages taken later, by new stack
 * slots, shrink a->size; when they would meet a->used the run ends with "out
 * of memory". a must stay where it is. */
void arch_memory_arena(struct arena *a);

/* Maps one page of device registers, uncached. */
void paging_map_device(u64 pa);

/* Makes a page below 1 MiB executable and read-only, or plain data again. */
void paging_low_exec(u64 pa, bool exec);

/* True when an 8-byte read at va cannot fault. */
bool paging_readable(u64 va);

/* Names the guard that va lies in ("task stack 7", ...) in buf; false if none. */
bool paging_guard_name(u64 va, char *buf, size_t n);

#endif
