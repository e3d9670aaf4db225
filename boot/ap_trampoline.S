/* SPDX-License-Identifier: MIT */
/*
 * Where an AP wakes: in real mode at CS:IP = (page >> 4):0, after the SIPI.
 * arch-x86/ap.c copies this to a page below 1 MiB, so every address is formed
 * from the page's own base: CS in real mode, patched words later. The AP goes
 * on in ap_entry64, in the kernel's text and on the kernel's tables.
 */
#include "../arch-x86/regs/cr.h"

	.section .rodata
	.balign 16
	.globl ap_trampoline, ap_trampoline_end
	.globl ap_trampoline_cr3, ap_trampoline_gdt_base, ap_trampoline_jump32
	.code16
ap_trampoline:
	cli
	cld
	movw %cs, %ax
	movw %ax, %ds
	lgdtl tramp_gdt_ptr - ap_trampoline
	movl $(CR0_ET | CR0_PE), %eax
	movl %eax, %cr0
	.byte 0x66, 0xea		/* ljmpl SEL_CODE32:page + tramp32 */
ap_trampoline_jump32:
	.long tramp32 - ap_trampoline
	.short SEL_CODE32

	.code32
tramp32:
	movl $SEL_DATA, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl $CR4_PAE, %eax
	movl %eax, %cr4
	.byte 0xb8			/* movl $cr3, %eax */
ap_trampoline_cr3:
	.long 0
	movl %eax, %cr3
	movl $MSR_EFER, %ecx
	rdmsr
	orl $(EFER_LME | EFER_NXE), %eax
	wrmsr
	movl $CR0_KERNEL, %eax
	movl %eax, %cr0
	ljmp $SEL_CODE64, $ap_entry64

	.balign 8
tramp_gdt:
	.quad 0
	.quad GDT_CODE64
	.quad GDT_DATA
	.quad GDT_CODE32
tramp_gdt_ptr:
	.short tramp_gdt_ptr - tramp_gdt - 1
ap_trampoline_gdt_base:
	.long tramp_gdt - ap_trampoline
ap_trampoline_end:

	/* The AP takes its ticket (struct percpu, whose second word is the top
	 * of its stack); whoever finds none was not called and stays halted. */
	.text
	.code64
	.globl ap_entry64
	.type ap_entry64, @function
ap_entry64:
	xorl %eax, %eax
	movl %eax, %fs
	movl %eax, %gs
	xchgq %rax, ap_ticket
	testq %rax, %rax
	jz 1f
	movq 8(%rax), %rsp
	movq %rax, %rdi
	xorl %ebp, %ebp
	call ap_main
1:	cli
	hlt
	jmp 1b
	.size ap_entry64, . - ap_entry64

	.section .note.GNU-stack, "", @progbits
