/* SPDX-License-Identifier: MIT */
/*
 * A 32-bit PVH guest that prints the boot CPU's CPUID leaves on COM1 as lines
 * "leaf sub eax ebx ecx edx" in hex and powers off through isa-debug-exit.
 * capture.sh runs it on the models whose snapshots lie beside it.
 */
#include <stdint.h>

__asm__(".section .note.Xen,\"a\",@note\n"
	".long 4, 4, 18\n"           /* XEN_ELFNOTE_PHYS32_ENTRY */
	".asciz \"Xen\"\n"
	".long entry\n"
	".text\n.globl entry\nentry:\n"
	"	mov $stack_top, %esp\n"
	"	call dump\n"
	"1:	hlt\n"
	"	jmp 1b\n"
	".bss\n.align 16\n.skip 4096\nstack_top:\n"
	".text\n");

static void out8(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" ::"a"(v), "Nd"(port));
}

static void put_hex(uint32_t v, char end)
{
	for (int i = 28; i >= 0; i -= 4)
		out8(0x3f8, "0123456789abcdef"[v >> i & 0xf]);
	out8(0x3f8, end);
}

static uint32_t leaf(uint32_t leaf, uint32_t sub, uint32_t *ecx_out)
{
	uint32_t a = leaf, b, c = sub, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	put_hex(leaf, ' ');
	put_hex(sub, ' ');
	put_hex(a, ' ');
	put_hex(b, ' ');
	put_hex(c, ' ');
	put_hex(d, '\n');
	*ecx_out = c;
	return a;
}

void dump(void)
{
	static const uint32_t caches[] = { 4, 0x8000001d }, levels[] = { 0xb, 0x1f };
	static const uint32_t plain[] = { 1, 0x80000001, 0x80000006, 0x80000008, 0x8000001e };
	uint32_t c, max = leaf(0, 0, &c), ext = leaf(0x80000000, 0, &c);

	for (unsigned i = 0; i < 5; i++)
		if (plain[i] <= (plain[i] >> 31 ? ext : max))
			leaf(plain[i], 0, &c);
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t s = 0; caches[i] <= (caches[i] >> 31 ? ext : max); s++)
			if (!(leaf(caches[i], s, &c) & 0x1f))
				break;
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t s = 0; levels[i] <= max && s < 8; s++) {
			leaf(levels[i], s, &c);
			if (!(c >> 8 & 0xff))
				break;
		}
	out8(0xf4, 0);
}
