/* SPDX-License-Identifier: MIT */
/*
 * Which bits of an APIC ID name the core, the die, the package and the last
 * level cache. Five sources, best first; one that contradicts itself is
 * skipped. Everything read here may come from a hypervisor that lies, so each
 * field is bounded by its width and no shift reaches 64.
 */
#include "topo.h"
#include "../kernel/lib/math64.h"
#include "../kernel/lib/string.h"

/* Level types of leaves 0xB and 0x1F, ECX[15:8] (SDM vol. 2A, CPUID). */
enum level_type { LEVEL_END = 0, LEVEL_SMT = 1, LEVEL_TILE = 4 };

/* Cache types of leaves 4 and 0x8000001D, EAX[4:0]. */
enum cache_type { CACHE_END = 0, CACHE_DATA = 1, CACHE_UNIFIED = 3 };

/* A leaf that enumerates levels or caches and never ends is cut here. */
#define SUBLEAF_MAX 32

enum leaf_state { LEAF_ABSENT, LEAF_BAD, LEAF_GOOD };

struct levels {
	u32 core, die, pkg; /* shifts */
	u32 count;          /* EBX[15:0] of the last level */
};

static u32 max_leaf(const struct cpuid_snap *s, u32 base)
{
	const struct cpuid_leaf *l = cpuid_find(s, base, 0);

	return l ? l->eax : 0;
}

static void vendor_copy(const struct cpuid_leaf *l, char out[13])
{
	memset(out, 0, 13);
	if (!l)
		return;
	memcpy(out, &l->ebx, 4);
	memcpy(out + 4, &l->edx, 4);
	memcpy(out + 8, &l->ecx, 4);
	/* The text goes to the console and into JSON: print what is printable. */
	for (u32 i = 0; i < 12 && out[i]; i++)
		if (out[i] < ' ' || out[i] > '~')
			out[i] = '?';
}

static bool vendor_is_amd(const char *vendor)
{
	return !strcmp(vendor, "AuthenticAMD") || !strcmp(vendor, "HygonGenuine");
}

static bool has_topoext(const struct cpuid_snap *s)
{
	const struct cpuid_leaf *l = cpuid_find(s, 0x80000001, 0);

	return l && (l->ecx >> 22 & 1);
}

static bool has_hypervisor(const struct cpuid_snap *s)
{
	const struct cpuid_leaf *l = cpuid_find(s, 1, 0);

	return l && (l->ecx >> 31 & 1);
}

/* Sources 1 and 2. EAX[4:0] is the shift to the level above. */
static enum leaf_state levels_read(const struct cpuid_snap *s, u32 leaf, struct levels *out)
{
	const struct cpuid_leaf *l = cpuid_find(s, leaf, 0);
	u32 prev = 0;

	if (!l || !(l->ebx & 0xffff))
		return LEAF_ABSENT;
	if ((l->ecx >> 8 & 0xff) != LEVEL_SMT)
		return LEAF_BAD;
	*out = (struct levels){ .core = l->eax & 0x1f };
	for (u32 sub = 0; sub < SUBLEAF_MAX; sub++) {
		u32 type, shift;

		l = cpuid_find(s, leaf, sub);
		if (!l || !(l->ebx & 0xffff))
			break;
		type = l->ecx >> 8 & 0xff;
		if (type == LEVEL_END)
			break;
		shift = l->eax & 0x1f;
		if (shift < prev)
			return LEAF_BAD;
		prev = shift;
		/* SDM: the last level's shift yields the package, whatever
		 * its type; levels up to the tile lie within a die. */
		if (type <= LEVEL_TILE)
			out->die = shift;
		out->pkg = shift;
		out->count = l->ebx & 0xffff;
	}
	return LEAF_GOOD;
}

static bool from_levels(const struct cpuid_snap *s, u32 leaf, struct topo_shifts *out, bool *bad)
{
	struct levels lv = { 0 };
	enum leaf_state state = levels_read(s, leaf, &lv);

	/* A zero 0x1F only says that there is nothing to add to 0xB. */
	*bad = state == LEAF_BAD || (state == LEAF_ABSENT && leaf == 0xb);
	if (state != LEAF_GOOD)
		return false;
	out->core = (u8)lv.core;
	out->die = (u8)(leaf == 0x1f ? lv.die : lv.pkg);
	out->pkg = (u8)lv.pkg;
	out->leaf_count = lv.count;
	out->source = leaf == 0x1f ? "leaf1f" : "leaf0b";
	out->apic_id = cpuid_find(s, leaf, 0)->edx;
	out->apic_id_8bit = false;
	return true;
}

/* Threads per core (family 15h: per compute unit) of leaf 0x8000001E. */
static u32 amd_threads(const struct cpuid_snap *s)
{
	const struct cpuid_leaf *l = cpuid_find(s, 0x8000001e, 0);

	return l ? (l->ebx >> 8 & 0xff) + 1 : 1;
}

/* Source 3. */
static bool from_amd(const struct cpuid_snap *s, struct topo_shifts *out)
{
	const struct cpuid_leaf *l = cpuid_find(s, 0x80000008, 0);
	u32 count, id_bits, core;

	if (!l)
		return false;
	count = (l->ecx & 0xff) + 1;
	id_bits = l->ecx >> 12 & 0xf;
	if (!id_bits)
		id_bits = log2_ceil(count);
	core = has_topoext(s) ? log2_ceil(amd_threads(s)) : 0;
	if (id_bits < core)
		id_bits = core;
	out->core = (u8)core;
	out->die = out->pkg = (u8)id_bits;
	out->leaf_count = count;
	out->source = "amd";
	l = cpuid_find(s, 0x8000001e, 0);
	if (l && has_topoext(s)) {
		out->apic_id = l->eax;
		out->apic_id_8bit = false;
	}
	return true;
}

/* Source 4. v5.2 rounds the package's threads as a whole, which cuts a package
 * of 5 cores with 3 threads in two. */
static bool from_intel(const struct cpuid_snap *s, bool linux52, struct topo_shifts *out)
{
	const struct cpuid_leaf *l1 = cpuid_find(s, 1, 0), *l4 = cpuid_find(s, 4, 0);
	u32 n = 1, m = 1, core, pkg;

	if (!l1)
		return false;
	if (l1->edx >> 28 & 1)
		n = l1->ebx >> 16 & 0xff;
	if (!n)
		n = 1;
	if (l4 && (l4->eax & 0x1f) != CACHE_END)
		m = (l4->eax >> 26 & 0x3f) + 1;
	core = n > m ? log2_ceil(n / m) : 0;
	pkg = linux52 ? log2_ceil(n) : core + log2_ceil(m);
	if (pkg < core)
		pkg = core;
	out->core = (u8)core;
	out->die = out->pkg = (u8)pkg;
	out->leaf_count = n;
	out->source = "intel";
	return true;
}

/* IDs sharing the deepest data or unified cache beyond L1; 0 if none is
 * described. L1 is ignored since QEMU gives each thread its own. */
static u32 cache_share(const struct cpuid_snap *s, u32 leaf, u32 skip_level)
{
	u32 deepest = 1, share = 0;

	for (u32 sub = 0; sub < SUBLEAF_MAX; sub++) {
		const struct cpuid_leaf *l = cpuid_find(s, leaf, sub);
		u32 type = l ? l->eax & 0x1f : CACHE_END;
		u32 level = l ? l->eax >> 5 & 7 : 0;

		if (type == CACHE_END)
			break;
		if ((type != CACHE_DATA && type != CACHE_UNIFIED) || level <= deepest ||
		    level == skip_level)
			continue;
		deepest = level;
		share = (l->eax >> 14 & 0xfff) + 1;
	}
	return share;
}

static bool amd_has_l3(const struct cpuid_snap *s)
{
	const struct cpuid_leaf *l = cpuid_find(s, 0x80000006, 0);

	return l && l->edx >> 18;
}

static bool llc_intel(const struct cpuid_snap *s, struct topo_shifts *out)
{
	u32 share = cache_share(s, 4, 0);

	if (!share)
		return false;
	out->llc_raw = (u8)log2_ceil(share);
	out->llc_source = "leaf4";
	return true;
}

/* The share of 0x8000001D is an exact count while IDs have holes: round the
 * threads and the cores up separately. */
static bool llc_amd(const struct cpuid_snap *s, struct topo_shifts *out)
{
	bool topoext = has_topoext(s);
	u32 share, threads = amd_threads(s);

	if (!topoext && !has_hypervisor(s))
		return false;
	share = cache_share(s, 0x8000001d, amd_has_l3(s) ? 0 : 3);
	if (!share)
		return false;
	out->llc_raw = (u8)(log2_ceil(threads) + log2_ceil((share + threads - 1) / threads));
	out->llc_source = "leaf1d";
	out->llc_unannounced = !topoext;
	return true;
}

/* v5.2: the AMD cache leaves count only with TOPOEXT, and the first Zen models
 * have their core complexes at a fixed place. */
static bool llc_amd_linux52(const struct cpuid_snap *s, struct topo_shifts *out)
{
	const struct cpuid_leaf *l1 = cpuid_find(s, 1, 0);
	u32 family, model;

	if (!l1 || !has_topoext(s))
		return false;
	family = (l1->eax >> 8 & 0xf) + (l1->eax >> 20 & 0xff);
	model = (l1->eax >> 4 & 0xf) | (l1->eax >> 12 & 0xf0);
	if (family != 0x17 || model > 0x1f)
		return llc_amd(s, out);
	if (!amd_has_l3(s))
		return false;
	out->llc_raw = 3;
	out->llc_source = "leaf1d";
	return true;
}

static void llc_decode(const struct cpuid_snap *s, bool linux52, struct topo_shifts *out)
{
	bool found;

	if (!vendor_is_amd(out->vendor))
		found = llc_intel(s, out);
	else
		found = linux52 ? llc_amd_linux52(s, out) : llc_amd(s, out);
	if (!found) {
		out->llc_raw = out->pkg;
		out->llc_source = "none";
	}
	out->warn_llc = out->llc_raw > out->pkg;
	out->llc = out->warn_llc ? out->pkg : out->llc_raw;
}

void topo_decode(const struct cpuid_snap *s, bool linux52, struct topo_shifts *out)
{
	const struct cpuid_leaf *l1 = cpuid_find(s, 1, 0);
	u32 max = max_leaf(s, 0);
	bool amd, found = false;

	*out = (struct topo_shifts){ .apic_id_8bit = true };
	vendor_copy(cpuid_find(s, 0, 0), out->vendor);
	amd = vendor_is_amd(out->vendor);
	if (l1)
		out->apic_id = l1->ebx >> 24;

	if (max >= 0x1f && !linux52)
		found = from_levels(s, 0x1f, out, &out->bad_leaf1f);
	if (!found && max >= 0xb && !(linux52 && amd && !has_topoext(s)))
		found = from_levels(s, 0xb, out, &out->bad_leaf0b);
	if (!found && amd)
		found = from_amd(s, out);
	if (!found && !strcmp(out->vendor, "GenuineIntel"))
		found = from_intel(s, linux52, out);
	if (!found) {
		out->source = "none";
		out->die = out->pkg = 32;
	}
	out->warn_leaf = out->bad_leaf1f || out->bad_leaf0b;
	llc_decode(s, linux52, out);
}

void topo_simulate(u32 dies, u32 cores, u32 threads, struct topo_shifts *out)
{
	u32 c = log2_ceil(threads), d = c + log2_ceil(cores), p = d + log2_ceil(dies);

	*out = (struct topo_shifts){
		.core = (u8)c, .die = (u8)d, .pkg = (u8)p, .llc = (u8)d, .llc_raw = (u8)d,
		.source = "topo", .llc_source = "topo", .vendor = "simulated",
		.leaf_count = dies * cores * threads,
	};
}
