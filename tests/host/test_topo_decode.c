/* SPDX-License-Identifier: MIT */
/* sources: arch-x86/topo.c arch-x86/cpuid.c kernel/lib/*.c tests/host/panic_host.c */
/* CPUID to shifts: snapshots taken from QEMU (tests/golden/cpuid), and CPUID
 * that lies. spec/topology.md sections 3 and 4. */
#include "test_topo.h"

struct decode_row {
	const char *snapshot;
	bool linux52;
	u8 core, die, pkg, llc;
	const char *source, *llc_source, *vendor;
	u32 leaf_count;
};

static const struct decode_row rows[] = {
	{ "intel-1", 0, 0, 0, 0, 0, "leaf0b", "leaf4", "GenuineIntel", 1 },
	{ "intel-1x4x1", 0, 0, 2, 2, 2, "leaf0b", "leaf4", "GenuineIntel", 4 },
	{ "intel-4x1x1", 0, 0, 0, 0, 0, "leaf0b", "leaf4", "GenuineIntel", 1 },
	{ "intel-1x4x2", 0, 1, 3, 3, 3, "leaf0b", "leaf4", "GenuineIntel", 8 },
	{ "intel-1x4x2-nol3", 0, 1, 3, 3, 1, "leaf0b", "leaf4", "GenuineIntel", 8 },
	{ "intel-1x4x2-no0b", 0, 1, 3, 3, 3, "intel", "leaf4", "GenuineIntel", 8 },
	{ "intel-1x3x2-5", 0, 1, 3, 3, 3, "leaf0b", "leaf4", "GenuineIntel", 6 },
	{ "intel-1x3x3", 0, 2, 4, 4, 4, "leaf0b", "leaf4", "GenuineIntel", 9 },
	{ "intel-1x5x3", 0, 2, 5, 5, 5, "leaf0b", "leaf4", "GenuineIntel", 15 },
	{ "core2duo-1x5x3", 0, 2, 5, 5, 5, "intel", "leaf4", "GenuineIntel", 15 },
	{ "intel-2x3x2", 0, 1, 3, 3, 3, "leaf0b", "leaf4", "GenuineIntel", 6 },
	{ "intel-1x2x4x2", 0, 1, 3, 4, 3, "leaf1f", "leaf4", "GenuineIntel", 16 },
	{ "max-1x2x4x2", 0, 1, 4, 4, 4, "leaf0b", "none", "AuthenticAMD", 8 },
	{ "intel-2x2x2x2", 0, 1, 2, 3, 2, "leaf1f", "leaf4", "GenuineIntel", 8 },
	{ "intel-2x22x2", 0, 1, 6, 6, 6, "leaf0b", "leaf4", "GenuineIntel", 44 },
	{ "intel-2x22x4", 0, 2, 7, 7, 7, "leaf0b", "leaf4", "GenuineIntel", 88 },
	{ "intel-2x8x8", 0, 3, 6, 6, 6, "leaf0b", "leaf4", "GenuineIntel", 64 },
	{ "intel-2x56x2", 0, 1, 7, 7, 7, "leaf0b", "leaf4", "GenuineIntel", 112 },
	{ "intel-2x11x2x4", 0, 2, 3, 7, 3, "leaf1f", "leaf4", "GenuineIntel", 88 },
	{ "core2duo-2x2x2", 0, 1, 2, 2, 2, "intel", "leaf4", "GenuineIntel", 4 },
	{ "core2duo-2x2x2x2", 0, 1, 2, 3, 2, "leaf1f", "leaf4", "GenuineIntel", 8 },
	{ "phenom-2x2x2", 0, 0, 2, 2, 2, "amd", "none", "AuthenticAMD", 4 },
	{ "qemu64-2x2x2", 0, 1, 2, 2, 2, "leaf0b", "none", "AuthenticAMD", 4 },
	{ "skylake-2x22x2", 0, 1, 6, 6, 6, "leaf0b", "leaf4", "GenuineIntel", 44 },
	{ "skylake-1x2x4x2", 0, 1, 3, 4, 3, "leaf1f", "leaf4", "GenuineIntel", 16 },
	{ "skylake-kvm-2x22x2", 0, 1, 6, 6, 6, "leaf0b", "none", "AuthenticAMD", 44 },
	{ "epyc-2x22x2", 0, 1, 6, 6, 6, "leaf0b", "leaf1d", "AuthenticAMD", 44 },
	{ "epyc-1x2x4x2", 0, 1, 4, 4, 3, "leaf0b", "leaf1d", "AuthenticAMD", 8 },
	{ "epyc-1x4x2-nol3", 0, 1, 3, 3, 1, "leaf0b", "leaf1d", "AuthenticAMD", 8 },
	{ "epyc-kvm-2x22x2", 0, 1, 6, 6, 6, "leaf0b", "leaf1d", "AuthenticAMD", 44 },
	{ "epyc-kvm-1x2x4x2", 0, 1, 4, 4, 3, "leaf0b", "leaf1d", "AuthenticAMD", 8 },
	/* v5.2: no 0x1F; 0xB on AMD only with TOPOEXT; Zen's LLC at ID>>3. */
	{ "intel-1x2x4x2", 1, 1, 4, 4, 3, "leaf0b", "leaf4", "GenuineIntel", 8 },
	{ "core2duo-1x5x3", 1, 2, 4, 4, 4, "intel", "leaf4", "GenuineIntel", 15 },
	{ "epyc-2x22x2", 1, 0, 6, 6, 6, "amd", "none", "AuthenticAMD", 44 },
	{ "max-1x2x4x2", 1, 0, 4, 4, 4, "amd", "none", "AuthenticAMD", 8 },
	{ "epyc-kvm-2x22x2", 1, 1, 6, 6, 3, "leaf0b", "leaf1d", "AuthenticAMD", 44 },
};

static void decode_row(void **state)
{
	const struct decode_row *r = *state;
	struct topo_shifts got;
	struct cpuid_snap snap;

	snap_load(r->snapshot, &snap);
	topo_decode(&snap, r->linux52, &got);
	assert_string_equal(got.source, r->source);
	assert_string_equal(got.llc_source, r->llc_source);
	assert_string_equal(got.vendor, r->vendor);
	assert_int_equal(got.core, r->core);
	assert_int_equal(got.die, r->die);
	assert_int_equal(got.pkg, r->pkg);
	assert_int_equal(got.llc, r->llc);
	assert_int_equal(got.leaf_count, r->leaf_count);
	assert_int_equal(got.warn_leaf, !strcmp(r->snapshot, "intel-1x4x2-no0b"));
	/* v5.2 cuts 15 threads at 4 bits while leaf 4.3 says 5. */
	assert_int_equal(got.warn_llc, r->linux52 && !strcmp(r->snapshot, "core2duo-1x5x3"));
}

/* ---- snapshots by hand ---- */

static void snap_intel(struct cpuid_snap *s, u32 max)
{
	s->n = 0;
	snap_add(s, 0, 0, max, 0x756e6547, 0x6c65746e, 0x49656e69);
	snap_add(s, 1, 0, 0, 8 << 16 | 7u << 24, 0, 1 << 28);
}

static void snap_amd(struct cpuid_snap *s, u32 topoext, u32 hypervisor)
{
	s->n = 0;
	snap_add(s, 0, 0, 5, 0x68747541, 0x444d4163, 0x69746e65);
	snap_add(s, 1, 0, 0, 0, hypervisor << 31, 0);
	snap_add(s, 0x80000001, 0, 0, 0, topoext << 22, 0);
}

static struct topo_shifts decode(const struct cpuid_snap *s)
{
	struct topo_shifts got;

	topo_decode(s, false, &got);
	return got;
}

static void id_width(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_intel(&s, 5);
	got = decode(&s);
	assert_int_equal(got.apic_id, 7);
	assert_true(got.apic_id_8bit);

	snap_intel(&s, 0xb);
	snap_add(&s, 0xb, 0, 1, 2, 0x100, 300);
	got = decode(&s);
	assert_int_equal(got.apic_id, 300);
	assert_false(got.apic_id_8bit);

	snap_amd(&s, 1, 0);
	snap_add(&s, 0x80000008, 0, 0, 0, 7, 0);
	snap_add(&s, 0x8000001e, 0, 290, 0x100, 0, 0);
	got = decode(&s);
	assert_int_equal(got.apic_id, 290);
	assert_false(got.apic_id_8bit);
}

/* WARN LEAF: zero within the max leaf, not SMT first, shrinking shifts. */
static void bad_leaves(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_intel(&s, 0xb);
	snap_add(&s, 0xb, 0, 0, 0, 0, 0);
	got = decode(&s);
	assert_true(got.warn_leaf && got.bad_leaf0b);
	assert_string_equal(got.source, "intel");

	snap_intel(&s, 0xb); /* announced, not captured */
	assert_true(decode(&s).warn_leaf);

	snap_intel(&s, 0xb);
	snap_add(&s, 0xb, 0, 1, 2, 0x200, 0);
	got = decode(&s);
	assert_true(got.bad_leaf0b);
	assert_string_equal(got.source, "intel");

	snap_intel(&s, 0x1f);
	snap_add(&s, 0x1f, 0, 4, 2, 0x100, 0);
	snap_add(&s, 0x1f, 1, 2, 8, 0x201, 0);
	snap_add(&s, 0xb, 0, 1, 2, 0x100, 0);
	snap_add(&s, 0xb, 1, 3, 8, 0x201, 0);
	got = decode(&s);
	assert_true(got.warn_leaf && got.bad_leaf1f && !got.bad_leaf0b);
	assert_string_equal(got.source, "leaf0b");
	assert_int_equal(got.pkg, 3);
}

/* A zero 0x1F is plain absence. */
static void zero_leaf1f(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_intel(&s, 0x1f);
	snap_add(&s, 0x1f, 0, 0, 0, 0, 0);
	snap_add(&s, 0xb, 0, 1, 2, 0x100, 0);
	snap_add(&s, 0xb, 1, 3, 8, 0x201, 0);
	got = decode(&s);
	assert_false(got.warn_leaf);
	assert_string_equal(got.source, "leaf0b");
}

/* Modules and tiles lie below the die; unknown types above it. */
static void level_types(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_intel(&s, 0x1f);
	snap_add(&s, 0x1f, 0, 1, 2, 0x100, 0);
	snap_add(&s, 0x1f, 1, 3, 8, 0x201, 0);
	snap_add(&s, 0x1f, 2, 4, 16, 0x302, 0);
	snap_add(&s, 0x1f, 3, 5, 32, 0x403, 0);
	snap_add(&s, 0x1f, 4, 7, 128, 0x504, 0);
	snap_add(&s, 0x1f, 5, 9, 512, 0x605, 0);
	got = decode(&s);
	assert_int_equal(got.core, 1);
	assert_int_equal(got.die, 5);
	assert_int_equal(got.pkg, 9);
	assert_int_equal(got.leaf_count, 512);

	snap_intel(&s, 0xb); /* 0xB knows no dies: D is P */
	snap_add(&s, 0xb, 0, 1, 2, 0x100, 0);
	snap_add(&s, 0xb, 1, 4, 16, 0x201, 0);
	snap_add(&s, 0xb, 2, 6, 64, 0x502, 0);
	got = decode(&s);
	assert_int_equal(got.die, 6);
	assert_int_equal(got.pkg, 6);
}

/* Only bits 4:0 of EAX are a shift. */
static void reserved_bits(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_intel(&s, 0xb);
	snap_add(&s, 0xb, 0, 0xffffffe1, 0xffff0002, 0xffff0100, 0);
	snap_add(&s, 0xb, 1, 0xffffffff, 0xffff0008, 0xffff0201, 0);
	got = decode(&s);
	assert_int_equal(got.core, 1);
	assert_int_equal(got.pkg, 31);
	assert_int_equal(got.leaf_count, 8);
}

static void amd_fields(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_amd(&s, 0, 0); /* no ApicIdSize: round up the count */
	snap_add(&s, 0x80000008, 0, 0, 0, 5, 0);
	got = decode(&s);
	assert_string_equal(got.source, "amd");
	assert_int_equal(got.pkg, 3);
	assert_int_equal(got.core, 0);

	snap_amd(&s, 1, 0); /* ApicIdSize wins; threads need TOPOEXT */
	snap_add(&s, 0x80000008, 0, 0, 0, 4 << 12 | 5, 0);
	snap_add(&s, 0x8000001e, 0, 0, 0x100, 0, 0);
	got = decode(&s);
	assert_int_equal(got.pkg, 4);
	assert_int_equal(got.core, 1);

	snap_amd(&s, 0, 0); /* the leaf is missing: nothing is known */
	got = decode(&s);
	assert_string_equal(got.source, "none");
	assert_int_equal(got.core, 0);
	assert_int_equal(got.pkg, 32);
	assert_int_equal(got.llc, 32);

	s.leaf[0].ebx = 0x6f677948; /* HygonGenuine */
	s.leaf[0].edx = 0x6e65476e;
	s.leaf[0].ecx = 0x656e6975;
	snap_add(&s, 0x80000008, 0, 0, 0, 7, 0);
	got = decode(&s);
	assert_string_equal(got.vendor, "HygonGenuine");
	assert_string_equal(got.source, "amd");
}

/* 0x8000001D without TOPOEXT counts only under a hypervisor. */
static void amd_llc_trust(void **state)
{
	(void)state;
	for (u32 topoext = 0; topoext < 2; topoext++)
		for (u32 hypervisor = 0; hypervisor < 2; hypervisor++) {
			struct cpuid_snap s;
			struct topo_shifts got;

			snap_amd(&s, topoext, hypervisor);
			snap_add(&s, 0x80000006, 0, 0, 0, 0, 1 << 18);
			snap_add(&s, 0x80000008, 0, 0, 0, 5 << 12, 0);
			snap_add(&s, 0x8000001e, 0, 0, 0x100, 0, 0);
			snap_add(&s, 0x8000001d, 0, 11 << 14 | 0x63, 0, 0, 0);
			got = decode(&s);
			if (topoext || hypervisor) {
				assert_string_equal(got.llc_source, "leaf1d");
				/* 12 threads = 6 cores of 2: 1 + 3 bits */
				assert_int_equal(got.llc, 4);
			} else {
				assert_string_equal(got.llc_source, "none");
				assert_int_equal(got.llc, 5);
			}
			assert_int_equal(got.llc_unannounced, !topoext && hypervisor);
		}
}

static void llc_clamped(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_intel(&s, 0xb);
	snap_add(&s, 0xb, 0, 1, 2, 0x100, 0);
	snap_add(&s, 0xb, 1, 3, 8, 0x201, 0);
	snap_add(&s, 4, 0, 63 << 14 | 3 << 5 | 3, 0, 0, 0);
	got = decode(&s);
	assert_true(got.warn_llc);
	assert_int_equal(got.llc_raw, 6);
	assert_int_equal(got.llc, 3);
}

/* L1, instruction caches and shallower levels do not decide. */
static void llc_choice(void **state)
{
	struct cpuid_snap s;
	struct topo_shifts got;

	(void)state;
	snap_intel(&s, 0xb);
	snap_add(&s, 0xb, 0, 1, 2, 0x100, 0);
	snap_add(&s, 0xb, 1, 4, 16, 0x201, 0);
	snap_add(&s, 4, 0, 0 << 14 | 1 << 5 | 1, 0, 0, 0);
	got = decode(&s);
	assert_string_equal(got.llc_source, "none");
	assert_int_equal(got.llc, 4);
	snap_add(&s, 4, 1, 7 << 14 | 3 << 5 | 3, 0, 0, 0);
	snap_add(&s, 4, 2, 1 << 14 | 2 << 5 | 3, 0, 0, 0);
	snap_add(&s, 4, 3, 15 << 14 | 4 << 5 | 2, 0, 0, 0);
	assert_int_equal(decode(&s).llc, 3);
}

static void empty_snapshot(void **state)
{
	struct cpuid_snap s = { .n = 0 };
	struct topo_shifts got = decode(&s);

	(void)state;
	assert_string_equal(got.source, "none");
	assert_int_equal(got.die, 32);
	assert_string_equal(got.vendor, "");
}

/* Unprintable vendors do not reach the console. */
static void vendor_bytes(void **state)
{
	struct cpuid_snap s = { .n = 0 };

	(void)state;
	snap_add(&s, 0, 0, 0, 0x22010a41, 0x43434343, 0xff424242);
	assert_string_equal(decode(&s).vendor, "A??\"BBB?CCCC");
}

/* Whatever CPUID says, shifts are ordered and bounded, and UBSan is silent. */
static void hostile_snapshots(void **state)
{
	static const u32 leaves[] = { 1, 4, 0xb, 0x1f, 0x80000001, 0x80000006, 0x80000008,
				      0x8000001d, 0x8000001e };
	u64 seed = 0x1234567;

	(void)state;
	for (u32 round = 0; round < 20000; round++) {
		struct cpuid_snap s = { .n = 0 };
		struct topo_shifts got;
		bool amd = round & 1;

		snap_add(&s, 0, 0, round & 2 ? 0x1f : 0xb, amd ? 0x68747541 : 0x756e6547,
			 amd ? 0x444d4163 : 0x6c65746e, amd ? 0x69746e65 : 0x49656e69);
		for (u32 i = 0; i < ARRAY_SIZE(leaves); i++)
			for (u32 sub = 0; sub < 5; sub++) {
				u32 v[4];

				for (u32 k = 0; k < 4; k++) {
					/* Knuth's MMIX generator. */
					seed = seed * 6364136223846793005ull +
					       1442695040888963407ull;
					v[k] = (u32)(seed >> 32);
				}
				if ((leaves[i] == 0xb || leaves[i] == 0x1f) && v[0] & 0x100)
					v[2] = (sub + 1) << 8;
				if (v[3] & 3)
					snap_add(&s, leaves[i], sub, v[0], v[1], v[2], v[3]);
			}
		topo_decode(&s, round & 4, &got);
		assert_true(got.core <= got.die && got.die <= got.pkg && got.pkg <= 32);
		assert_true(got.llc <= got.pkg);
		assert_int_equal(got.warn_llc, got.llc_raw > got.pkg);
	}
}

static void simulated(void **state)
{
	struct topo_shifts got;

	(void)state;
	topo_simulate(11, 2, 4, &got);
	assert_int_equal(got.core, 2);
	assert_int_equal(got.die, 3);
	assert_int_equal(got.pkg, 7);
	assert_int_equal(got.llc, 3);
	assert_string_equal(got.source, "topo");
	topo_simulate(1, 22, 3, &got);
	assert_int_equal(got.core, 2);
	assert_int_equal(got.die, 7);
	assert_int_equal(got.pkg, 7);
}

int main(void)
{
	static char names[ARRAY_SIZE(rows)][64];
	struct CMUnitTest golden[ARRAY_SIZE(rows)] = { { 0 } };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_width),
		cmocka_unit_test(bad_leaves),
		cmocka_unit_test(zero_leaf1f),
		cmocka_unit_test(level_types),
		cmocka_unit_test(reserved_bits),
		cmocka_unit_test(amd_fields),
		cmocka_unit_test(amd_llc_trust),
		cmocka_unit_test(llc_clamped),
		cmocka_unit_test(llc_choice),
		cmocka_unit_test(empty_snapshot),
		cmocka_unit_test(vendor_bytes),
		cmocka_unit_test(hostile_snapshots),
		cmocka_unit_test(simulated),
	};
	int failed;

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(names[i], sizeof(names[i]), "decode %s%s", rows[i].snapshot,
			 rows[i].linux52 ? " linux52" : "");
		golden[i].name = names[i];
		golden[i].test_func = decode_row;
		golden[i].initial_state = (void *)&rows[i];
	}
	failed = cmocka_run_group_tests_name("topology decode, captured", golden, NULL, NULL);
	return failed + cmocka_run_group_tests_name("topology decode, by hand", tests, NULL, NULL);
}
