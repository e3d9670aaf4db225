/* SPDX-License-Identifier: MIT */
/* Control registers, EFER, flags and page-table bits: SDM vol. 3A sections 2.5, 2.2.1 and 4.5.
 * Plain numbers, because assembler files include this too. */
#ifndef REGS_CR_H
#define REGS_CR_H

#define CR0_PE 0x00000001
#define CR0_MP 0x00000002
#define CR0_ET 0x00000010
#define CR0_NE 0x00000020
#define CR0_WP 0x00010000
#define CR0_PG 0x80000000

/* Written as a whole: after INIT an AP has CD and NW set, which must go. */
#define CR0_KERNEL (CR0_PG | CR0_WP | CR0_NE | CR0_ET | CR0_MP | CR0_PE)

#define CR4_PAE 0x20

#define MSR_EFER 0xc0000080
#define EFER_LME 0x100
#define EFER_NXE 0x800

#define RFLAGS_FIXED 0x2
#define RFLAGS_IF 0x200

#define PTE_P 0x1
#define PTE_W 0x2
#define PTE_PWT 0x8
#define PTE_PCD 0x10
#define PTE_PS 0x80 /* in a page directory: a 2 MiB page */
#define PTE_NX_BIT 63

/* Selectors of every GDT here: the boot one and the per-CPU ones agree. */
#define SEL_CODE64 0x08
#define SEL_DATA 0x10
#define SEL_CODE32 0x18
#define SEL_TSS 0x20

#define GDT_CODE64 0x00af9b000000ffff
#define GDT_DATA 0x00cf93000000ffff
#define GDT_CODE32 0x00cf9b000000ffff

#endif
