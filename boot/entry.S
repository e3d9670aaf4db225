/* SPDX-License-Identifier: MIT */
/*
 * Both ways in. PVH (QEMU -kernel; Xen "x86/HVM direct boot ABI") and
 * multiboot2 (GRUB) enter in flat 32-bit protected mode, paging off,
 * interrupts off, with the address of their information in EBX. Both end in
 * boot_main(protocol, info) in long mode, on the boot stack, on temporary
 * tables that map the first 4 GiB one to one.
 */
#include "../arch-x86/regs/cr.h"
#include "../arch-x86/regs/isa.h"

#define MB2_MAGIC 0xe85250d6
#define MB2_ARCH_I386 0
#define PVH_NOTE_PHYS32_ENTRY 18

	.section .multiboot2, "a"
	.balign 8
mb2_header:
	.long MB2_MAGIC
	.long MB2_ARCH_I386
	.long mb2_header_end - mb2_header
	.long -(MB2_MAGIC + MB2_ARCH_I386 + (mb2_header_end - mb2_header))
	.balign 8
	.short 0, 0			/* end tag */
	.long 8
mb2_header_end:

	.section .note.pvh, "a", @note
	.balign 4
	.long 4				/* name size */
	.long 8				/* descriptor size: QEMU reads a 64-bit one */
	.long PVH_NOTE_PHYS32_ENTRY
	.asciz "Xen"
	.quad pvh_entry

	.text
	.code32
	.globl pvh_entry, multiboot2_entry
	.type pvh_entry, @function
	.type multiboot2_entry, @function
pvh_entry:
	xorl %ebp, %ebp			/* protocol 0; the magic is checked in C */
	jmp enter_long_mode
	.size pvh_entry, . - pvh_entry

multiboot2_entry:
	movl %eax, %ebp			/* the loader's magic, never 0 */
	.size multiboot2_entry, . - multiboot2_entry

	.type enter_long_mode, @function
enter_long_mode:
	cld
	movl $boot_stack_top, %esp
	lgdt boot_gdt_ptr
	movl $SEL_DATA, %eax
	movl %eax, %ds
	movl %eax, %es
	movl %eax, %ss
	movl %ebx, %esi			/* CPUID destroys EBX */

	/* EFER bits exist only if CPUID 80000001 EDX names long mode and NX. */
	movl $0x80000000, %eax
	cpuid
	cmpl $0x80000001, %eax
	jb no_long_mode
	movl $0x80000001, %eax
	cpuid
	andl $((1 << 29) | (1 << 20)), %edx
	cmpl $((1 << 29) | (1 << 20)), %edx
	jne no_long_mode

	/* Four page directories of 2 MiB pages, writable and executable: they
	 * live only until paging_init(). */
	movl $(boot_pdpt + PTE_P + PTE_W), boot_pml4
	movl $0, %ecx
1:	movl %ecx, %eax
	shll $12, %eax
	addl $(boot_pd + PTE_P + PTE_W), %eax
	movl %eax, boot_pdpt(, %ecx, 8)
	incl %ecx
	cmpl $4, %ecx
	jb 1b
	movl $0, %ecx
2:	movl %ecx, %eax
	shll $21, %eax
	orl $(PTE_P + PTE_W + PTE_PS), %eax
	movl %eax, boot_pd(, %ecx, 8)
	incl %ecx
	cmpl $2048, %ecx
	jb 2b

	movl $CR4_PAE, %eax
	movl %eax, %cr4
	movl $boot_pml4, %eax
	movl %eax, %cr3
	movl $MSR_EFER, %ecx
	rdmsr
	orl $(EFER_LME | EFER_NXE), %eax
	wrmsr
	movl $CR0_KERNEL, %eax
	movl %eax, %cr0
	ljmp $SEL_CODE64, $1f

	.code64
1:	xorl %eax, %eax
	movl %eax, %fs
	movl %eax, %gs
	movl %ebp, %edi			/* clears the upper halves as well */
	movl %esi, %esi
	xorl %ebp, %ebp			/* backtraces end here */
	call boot_main
	ud2
	.size enter_long_mode, . - enter_long_mode

	.code32
	.type no_long_mode, @function
no_long_mode:
	movl $no_long_mode_text, %esi
1:	movl $(COM1 + UART_LSR), %edx
	movl $100000, %ecx		/* an absent UART must not hold us */
2:	inb %dx, %al
	testb $UART_LSR_THRE, %al
	jnz 3f
	pause
	loop 2b
3:	lodsb
	testb %al, %al
	jz 4f
	movl $(COM1 + UART_THR), %edx
	outb %al, %dx
	jmp 1b
4:	movl $3, %eax			/* the exit status of a panic */
	movl $DEBUG_EXIT, %edx
	outl %eax, %dx
5:	cli
	hlt
	jmp 5b
	.size no_long_mode, . - no_long_mode

	.section .rodata
no_long_mode_text:
	.asciz "PANIC: this CPU lacks 64-bit mode or no-execute pages\r\n"

	.balign 8
boot_gdt:
	.quad 0
	.quad GDT_CODE64		/* SEL_CODE64 */
	.quad GDT_DATA			/* SEL_DATA */
	.quad GDT_CODE32		/* SEL_CODE32 */
boot_gdt_end:
boot_gdt_ptr:
	.short boot_gdt_end - boot_gdt - 1
	.long boot_gdt

	.bss
	.balign 4096
boot_pml4:
	.skip 4096
boot_pdpt:
	.skip 4096
boot_pd:
	.skip 4 * 4096

	/* paging_init() unmaps the guard. */
	.globl boot_stack_guard, boot_stack_top
boot_stack_guard:
	.skip 4096
	.skip 16384
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
