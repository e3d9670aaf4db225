/* SPDX-License-Identifier: MIT */
#include "cpuid.h"

#define SUBLEAF_MAX 8 /* no CPU has more cache or topology levels */

static struct cpuid_leaf cpuid(u32 leaf, u32 sub)
{
	struct cpuid_leaf l = { .leaf = leaf, .sub = sub };

	__asm__ volatile("cpuid"
			 : "=a"(l.eax), "=b"(l.ebx), "=c"(l.ecx), "=d"(l.edx)
			 : "a"(leaf), "c"(sub));
	return l;
}

static struct cpuid_leaf add(struct cpuid_snap *s, u32 leaf, u32 sub)
{
	struct cpuid_leaf l = cpuid(leaf, sub);

	if (s->n < CPUID_SNAP_MAX)
		s->leaf[s->n++] = l;
	return l;
}

/* Cache leaves (4, 0x8000001D) end with type 0 in EAX[4:0]. */
static void add_caches(struct cpuid_snap *s, u32 leaf)
{
	for (u32 sub = 0; sub < SUBLEAF_MAX; sub++)
		if (!(add(s, leaf, sub).eax & 0x1f))
			return;
}

/* Topology leaves (0xB, 0x1F) end with type 0 in ECX[15:8]. */
static void add_levels(struct cpuid_snap *s, u32 leaf)
{
	for (u32 sub = 0; sub < SUBLEAF_MAX; sub++)
		if (!(add(s, leaf, sub).ecx >> 8 & 0xff))
			return;
}

static void add_plain(struct cpuid_snap *s, u32 leaf, u32 max)
{
	if (leaf <= max)
		add(s, leaf, 0);
}

void cpuid_capture(struct cpuid_snap *s)
{
	u32 max;

	s->n = 0;
	max = add(s, 0, 0).eax;
	bool hypervisor = add(s, 1, 0).ecx >> 31;

	if (max >= 4)
		add_caches(s, 4);
	if (max >= 0xb)
		add_levels(s, 0xb);
	add_plain(s, 0x15, max);
	add_plain(s, 0x16, max);
	if (max >= 0x1f)
		add_levels(s, 0x1f);

	if (hypervisor) {
		max = add(s, 0x40000000, 0).eax;
		/* KVM says 0 where it means 0x40000001. */
		add_plain(s, 0x40000010, max);
	}

	max = add(s, 0x80000000, 0).eax;
	if (max < 0x80000000 || max > 0x8000ffff)
		return; /* no extended leaves: some old CPUs echo a basic one */
	static const u32 extended[] = { 0x80000001, 0x80000002, 0x80000003, 0x80000004,
					0x80000006, 0x80000008, 0x8000001e };

	for (u32 i = 0; i < ARRAY_SIZE(extended); i++)
		add_plain(s, extended[i], max);
	if (max >= 0x8000001d)
		add_caches(s, 0x8000001d);
}

const struct cpuid_leaf *cpuid_find(const struct cpuid_snap *s, u32 leaf, u32 sub)
{
	for (u32 i = 0; i < s->n; i++)
		if (s->leaf[i].leaf == leaf && s->leaf[i].sub == sub)
			return &s->leaf[i];
	return NULL;
}
