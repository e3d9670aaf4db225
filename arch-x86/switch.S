/* SPDX-License-Identifier: MIT */
	.text
	.globl ctx_switch
	.type ctx_switch, @function
ctx_switch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
	.size ctx_switch, . - ctx_switch

	/* The frame that ctx_switch pops: fn in R12, arg in R13, RBP zero. */
	.globl ctx_init
	.type ctx_init, @function
ctx_init:
	andq $-16, %rdi
	leaq ctx_start(%rip), %rax
	movq %rax, -8(%rdi)
	movq $0, -16(%rdi)		/* rbp */
	movq $0, -24(%rdi)		/* rbx */
	movq %rsi, -32(%rdi)		/* r12 */
	movq %rdx, -40(%rdi)		/* r13 */
	movq $0, -48(%rdi)		/* r14 */
	movq $0, -56(%rdi)		/* r15 */
	leaq -56(%rdi), %rax
	ret
	.size ctx_init, . - ctx_init

	.type ctx_start, @function
ctx_start:
	movq %r13, %rdi
	call *%r12			/* RSP is a multiple of 16 here, as the ABI asks */
	ud2
	.size ctx_start, . - ctx_start

	.section .note.GNU-stack, "", @progbits
