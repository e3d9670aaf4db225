/* SPDX-License-Identifier: MIT */
/* sources: arch-x86/topo.c arch-x86/cpuid.c kernel/topology*.c sched/topo.c sched/domains.c
 *          kernel/lib/*.c tests/host/panic_host.c */
/* Every machine of spec/topology.md section 7: captured CPUID and QEMU's APIC
 * IDs in, masks, domains and WARN codes out. */
#include "test_topo.h"

#define W(code) (1u << TOPO_WARN_##code)

struct machine_row {
	const char *name, *snapshot;
	struct topo_shape shape;   /* as QEMU lays out IDs */
	u32 cpus;                  /* enabled ones */
	bool linux52;
	const char *ids;           /* as a mask */
	const char *smt0, *llc0, *llc_last;
	const char *chain0, *chain_last;
	u32 llc_size;
	u32 warnings;
};

static const struct machine_row rows[] = {
	{ "1", "intel-1", { 1, 1, 1, 1 }, 1, 0, "0", "0", "0", "0", "", "", 1, 0 },
	{ "4", "intel-1x4x1", { 1, 1, 4, 1 }, 4, 0, "0-3", "0", "0-3", "0-3", "MC:4", "MC:4", 4,
	  0 },
	{ "4 sockets", "intel-4x1x1", { 4, 1, 1, 1 }, 4, 0, "0-3", "0", "0", "3", "DIE:4", "DIE:4",
	  1, 0 },
	{ "1x4x2", "intel-1x4x2", { 1, 1, 4, 2 }, 8, 0, "0-7", "0-1", "0-7", "0-7", "SMT:2 MC:8",
	  "SMT:2 MC:8", 8, 0 },
	{ "1x4x2 l3-cache=off", "intel-1x4x2-nol3", { 1, 1, 4, 2 }, 8, 0, "0-7", "0-1", "0-1",
	  "6-7", "SMT:2 DIE:8", "SMT:2 DIE:8", 2, 0 },
	{ "1x4x2 cpuid-0xb=off", "intel-1x4x2-no0b", { 1, 1, 4, 2 }, 8, 0, "0-7", "0-1", "0-7",
	  "0-7", "SMT:2 MC:8", "SMT:2 MC:8", 8, W(LEAF) },
	{ "5 of 1x3x2", "intel-1x3x2-5", { 1, 1, 3, 2 }, 5, 0, "0-4", "0-1", "0-4", "0-4",
	  "SMT:2 MC:5", "MC:5", 5, W(COUNT) | W(SMTW) },
	{ "1x3x3", "intel-1x3x3", { 1, 1, 3, 3 }, 9, 0, "0-2,4-6,8-10", "0-2", "0-8", "0-8",
	  "SMT:3 MC:9", "SMT:3 MC:9", 9, 0 },
	{ "1x5x3", "intel-1x5x3", { 1, 1, 5, 3 }, 15, 0, "0-2,4-6,8-10,12-14,16-18", "0-2",
	  "0-14", "0-14", "SMT:3 MC:15", "SMT:3 MC:15", 15, 0 },
	{ "1x5x3 core2duo", "core2duo-1x5x3", { 1, 1, 5, 3 }, 15, 0, "0-2,4-6,8-10,12-14,16-18",
	  "0-2", "0-14", "0-14", "SMT:3 MC:15", "SMT:3 MC:15", 15, 0 },
	{ "2x3x2", "intel-2x3x2", { 2, 1, 3, 2 }, 12, 0, "0-5,8-13", "0-1", "0-5", "6-11",
	  "SMT:2 MC:6 DIE:12", "SMT:2 MC:6 DIE:12", 6, 0 },
	{ "1x2x4x2", "intel-1x2x4x2", { 1, 2, 4, 2 }, 16, 0, "0-15", "0-1", "0-7", "8-15",
	  "SMT:2 MC:8 DIE:16", "SMT:2 MC:8 DIE:16", 8, 0 },
	{ "1x2x4x2 max", "max-1x2x4x2", { 1, 2, 4, 2 }, 16, 0, "0-15", "0-1", "0-15", "0-15",
	  "SMT:2 MC:16", "SMT:2 MC:16", 16, W(COUNT) },
	{ "1x2x4x2 Skylake", "skylake-1x2x4x2", { 1, 2, 4, 2 }, 16, 0, "0-15", "0-1", "0-7",
	  "8-15", "SMT:2 MC:8 DIE:16", "SMT:2 MC:8 DIE:16", 8, 0 },
	{ "1x2x4x2 EPYC", "epyc-1x2x4x2", { 1, 2, 4, 2 }, 16, 0, "0-15", "0-1", "0-7", "8-15",
	  "SMT:2 MC:8 DIE:16", "SMT:2 MC:8 DIE:16", 8, W(COUNT) },
	{ "1x2x4x2 EPYC KVM", "epyc-kvm-1x2x4x2", { 1, 2, 4, 2 }, 16, 0, "0-15", "0-1", "0-7",
	  "8-15", "SMT:2 MC:8 DIE:16", "SMT:2 MC:8 DIE:16", 8, W(COUNT) },
	{ "2x2x2x2", "intel-2x2x2x2", { 2, 2, 2, 2 }, 16, 0, "0-15", "0-1", "0-3", "12-15",
	  "SMT:2 MC:4 DIE:16", "SMT:2 MC:4 DIE:16", 4, 0 },
	{ "2x2x2x2 core2duo", "core2duo-2x2x2x2", { 2, 2, 2, 2 }, 16, 0, "0-15", "0-1", "0-3",
	  "12-15", "SMT:2 MC:4 DIE:16", "SMT:2 MC:4 DIE:16", 4, 0 },
	{ "2x22x2", "intel-2x22x2", { 2, 1, 22, 2 }, 88, 0, "0-43,64-107", "0-1", "0-43", "44-87",
	  "SMT:2 MC:44 DIE:88", "SMT:2 MC:44 DIE:88", 44, 0 },
	{ "2x22x2 Skylake", "skylake-2x22x2", { 2, 1, 22, 2 }, 88, 0, "0-43,64-107", "0-1",
	  "0-43", "44-87", "SMT:2 MC:44 DIE:88", "SMT:2 MC:44 DIE:88", 44, 0 },
	{ "2x22x2 Skylake KVM", "skylake-kvm-2x22x2", { 2, 1, 22, 2 }, 88, 0, "0-43,64-107",
	  "0-1", "0-43", "44-87", "SMT:2 MC:44 DIE:88", "SMT:2 MC:44 DIE:88", 44, 0 },
	{ "2x22x2 EPYC", "epyc-2x22x2", { 2, 1, 22, 2 }, 88, 0, "0-43,64-107", "0-1", "0-43",
	  "44-87", "SMT:2 MC:44 DIE:88", "SMT:2 MC:44 DIE:88", 44, 0 },
	{ "2x22x4", "intel-2x22x4", { 2, 1, 22, 4 }, 176, 0, "0-87,128-215", "0-3", "0-87",
	  "88-175", "SMT:4 MC:88 DIE:176", "SMT:4 MC:88 DIE:176", 88, 0 },
	{ "2x8x8", "intel-2x8x8", { 2, 1, 8, 8 }, 128, 0, "0-127", "0-7", "0-63", "64-127",
	  "SMT:8 MC:64 DIE:128", "SMT:8 MC:64 DIE:128", 64, 0 },
	{ "2x56x2", "intel-2x56x2", { 2, 1, 56, 2 }, 224, 0, "0-111,128-239", "0-1", "0-111",
	  "112-223", "SMT:2 MC:112 DIE:224", "SMT:2 MC:112 DIE:224", 112, 0 },
	{ "2x11x2x4", "intel-2x11x2x4", { 2, 11, 2, 4 }, 176, 0, "0-87,128-215", "0-3", "0-7",
	  "168-175", "SMT:4 MC:8 DIE:176", "SMT:4 MC:8 DIE:176", 8, 0 },
	{ "2x2x2 core2duo", "core2duo-2x2x2", { 2, 1, 2, 2 }, 8, 0, "0-7", "0-1", "0-3", "4-7",
	  "SMT:2 MC:4 DIE:8", "SMT:2 MC:4 DIE:8", 4, 0 },
	{ "2x2x2 phenom", "phenom-2x2x2", { 2, 1, 2, 2 }, 8, 0, "0-7", "0", "0-3", "4-7",
	  "MC:4 DIE:8", "MC:4 DIE:8", 4, 0 },
	{ "2x22x2 EPYC KVM linux52", "epyc-kvm-2x22x2", { 2, 1, 22, 2 }, 88, 1, "0-43,64-107",
	  "0-1", "0-7", "84-87", "SMT:2 MC:8 DIE:88", "SMT:2 MC:4 DIE:88", 8, 0 },
	{ "2x22x2 EPYC linux52", "epyc-2x22x2", { 2, 1, 22, 2 }, 88, 1, "0-43,64-107", "0",
	  "0-43", "44-87", "MC:44 DIE:88", "MC:44 DIE:88", 44, 0 },
};

static void machine_row(void **state)
{
	const struct machine_row *r = *state;
	struct arena a = arena_new();
	struct topo_input in = input_new(r->snapshot, &r->shape, r->cpus, r->linux52, &a);
	struct cpumask ids = { { 0 } };
	struct sched_domains d;
	struct sched_topo t;
	u32 warnings, last = r->cpus - 1;

	topology_from_boot(&t, &in, &a, &warnings);
	domains_build(&d, &t, false, &a);
	for (u32 c = 0; c < r->cpus; c++)
		cpumask_set(&ids, t.cpu[c].apic);
	assert_string_equal(mask_text(&ids, MAX_CPUS), r->ids);
	assert_string_equal(mask_text(topo_mask(&t, TOPO_SMT, 0), t.nr_cpus), r->smt0);
	assert_string_equal(mask_text(topo_mask(&t, TOPO_LLC, 0), t.nr_cpus), r->llc0);
	assert_string_equal(mask_text(topo_mask(&t, TOPO_LLC, last), t.nr_cpus), r->llc_last);
	assert_string_equal(chain_text(&d, 0), r->chain0);
	assert_string_equal(chain_text(&d, last), r->chain_last);
	assert_int_equal(d.llc_size[0], r->llc_size);
	assert_int_equal(warnings, r->warnings);
	assert_int_equal(d.nest_warnings, 0);
	for (u32 c = 0; c < r->cpus; c++) {
		u32 weight = cpumask_weight(topo_mask(&t, TOPO_SMT, c), t.nr_cpus);

		assert_int_equal(t.sibling_weight[c], weight);
		assert_true(t.cpu[c].thr < weight);
	}
	arena_free(&a);
}

/* Section 7: "PKG 8" of the 2x2x2x2 line. */
static void pkg_level(void **state)
{
	const struct topo_shape shape = { 2, 2, 2, 2 };
	struct arena a = arena_new();
	struct topo_input in = input_new("intel-2x2x2x2", &shape, 16, false, &a);
	struct sched_domains d;
	struct sched_topo t;
	u32 warnings;

	(void)state;
	topology_from_boot(&t, &in, &a, &warnings);
	domains_build(&d, &t, true, &a);
	assert_string_equal(chain_text(&d, 0), "SMT:2 MC:4 PKG:8 DIE:16");
	assert_string_equal(groups_text(d.bottom[5]->parent->parent, 16), "4-7|0-3");
	assert_int_equal(t.nr_pkgs, 2);
	assert_int_equal(t.nr_dies, 4);
	arena_free(&a);
}

static u32 node_by_socket(u32 apic, void *ctx)
{
	return apic >> *(u32 *)ctx;
}

/* Two -numa nodes on the 88-CPU line: DIE pruned, NUMA:88 appears. */
static void two_nodes(void **state)
{
	const struct topo_shape shape = { 2, 1, 22, 2 };
	struct arena a = arena_new();
	struct topo_input in = input_new("intel-2x22x2", &shape, 88, false, &a);
	struct sched_domains d;
	struct sched_topo t;
	u32 warnings, shift = 6;

	(void)state;
	in.node_of_apic = node_by_socket;
	in.ctx = &shift;
	in.nr_nodes = 2;
	topology_from_boot(&t, &in, &a, &warnings);
	domains_build(&d, &t, false, &a);
	assert_int_equal(warnings, 0);
	assert_int_equal(t.nr_nodes, 2);
	assert_string_equal(chain_text(&d, 0), "SMT:2 MC:44 NUMA:88");
	assert_string_equal(chain_text(&d, 87), "SMT:2 MC:44 NUMA:88");
	assert_string_equal(groups_text(d.bottom[50]->parent->parent, 88), "44-87|0-43");
	arena_free(&a);
}

/* Zero is the boot CPU whatever its ID; numbers follow its appearance. */
static void boot_cpu_not_first(void **state)
{
	const struct topo_shape shape = { 2, 1, 2, 2 };
	struct arena a = arena_new();
	struct topo_input in = input_new("core2duo-2x2x2", &shape, 8, false, &a);
	static const u32 order[8] = { 5, 0, 1, 2, 3, 4, 6, 7 };
	struct sched_domains d;
	struct sched_topo t;
	u32 warnings;

	(void)state;
	for (u32 c = 0; c < 8; c++)
		in.cpu[c].madt_id = in.cpu[c].shifts.apic_id = order[c];
	topology_from_boot(&t, &in, &a, &warnings);
	domains_build(&d, &t, false, &a);
	assert_int_equal(warnings, 0);
	assert_int_equal(t.cpu[0].pkg, 0);
	assert_int_equal(t.cpu[1].pkg, 1);
	assert_int_equal(t.cpu[5].pkg, 0);
	assert_string_equal(mask_text(topo_mask(&t, TOPO_SMT, 0), 8), "0,5");
	assert_string_equal(mask_text(topo_mask(&t, TOPO_LLC, 6), 8), "0,5-7");
	assert_int_equal(t.cpu[0].thr, 0);
	assert_int_equal(t.cpu[5].thr, 1);
	assert_int_equal(d.llc_id[7], 0);
	assert_int_equal(d.llc_id[2], 1);
	/* Wrap order depends on where one starts: no ring can serve all. */
	assert_string_equal(groups_text(d.bottom[0]->parent, 8), "0,5|6-7");
	assert_string_equal(groups_text(d.bottom[0]->parent->parent, 8), "0,5-7|1-4");
	assert_string_equal(groups_text(d.bottom[3]->parent, 8), "3-4|1-2");
	arena_free(&a);
}

int main(void)
{
	static char names[ARRAY_SIZE(rows)][64];
	struct CMUnitTest machines[ARRAY_SIZE(rows)] = { { 0 } };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pkg_level),
		cmocka_unit_test(two_nodes),
		cmocka_unit_test(boot_cpu_not_first),
	};
	int failed;

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(names[i], sizeof(names[i]), "machine %s", rows[i].name);
		machines[i].name = names[i];
		machines[i].test_func = machine_row;
		machines[i].initial_state = (void *)&rows[i];
	}
	failed = cmocka_run_group_tests_name("machines of the table", machines, NULL, NULL);
	return failed + cmocka_run_group_tests_name("machines beside it", tests, NULL, NULL);
}
