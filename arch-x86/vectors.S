/* SPDX-License-Identifier: MIT */
/* 256 entry stubs of 16 bytes, and the common path that saves all registers as
 * struct trap_frame (irq.h). There is no user mode: GS is always the kernel's. */

	.text
	.balign 16
	.globl trap_stubs
	.type trap_stubs, @function
trap_stubs:
	.set vector, 0
	.rept 256
	.balign 16
	/* SDM vol. 3A, "Error Code": these push one, the others get a zero. */
	.if !(vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || \
	      vector == 21 || vector == 29 || vector == 30)
	pushq $0
	.endif
	pushq $vector
	jmp trap_common
	.set vector, vector + 1
	.endr
	.size trap_stubs, . - trap_stubs

	.type trap_common, @function
trap_common:
	pushq %rax
	pushq %rbx
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %rbp
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	cld
	movq %rsp, %rdi
	/* A frame for backtraces that returns into the interrupted code. */
	pushq 136(%rdi)			/* trap_frame.rip */
	pushq %rbp
	movq %rsp, %rbp
	andq $-16, %rsp
	call trap_dispatch
	leaq 16(%rbp), %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rbp
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rbx
	popq %rax
	addq $16, %rsp			/* vector, error */
	iretq
	.size trap_common, . - trap_common

	.section .note.GNU-stack, "", @progbits
