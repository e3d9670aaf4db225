/* SPDX-License-Identifier: MIT */
/* sources: arch-x86/topo.c arch-x86/cpuid.c kernel/topology*.c sched/topo.c sched/domains.c
 *          kernel/lib/*.c tests/host/panic_host.c */
/* Every WARN code of spec/topology.md section 6: the fault, the line, the bit,
 * and what is done about it. */
#include "test_topo_log.h"

static void assert_one_fault(struct booted *b, u32 warnings, const char *line)
{
	boot_end(b);
	assert_int_equal(b->warnings, warnings);
	assert_logged(line);
	assert_int_equal(warn_lines(), 1);
	arena_free(&b->a);
}

static void warn_leaf(void **state)
{
	const struct topo_shape shape = { 1, 1, 4, 2 };
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x4x2-no0b", shape, 8);
	assert_one_fault(&b, W(LEAF), "topo: WARN LEAF leaf=0xb unusable, src=intel");
	boot_begin(&b, "intel-1x4x2", shape, 8);
	b.in.cpu[0].shifts.warn_leaf = b.in.cpu[0].shifts.bad_leaf1f = true;
	assert_one_fault(&b, W(LEAF), "topo: WARN LEAF leaf=0x1f unusable, src=leaf0b");
}

static void warn_id(void **state)
{
	const struct topo_shape shape = { 1, 1, 4, 1 };
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x4x1", shape, 4);
	b.in.cpu[2].shifts.apic_id = 0x102;
	assert_one_fault(&b, W(ID), "topo: WARN ID cpu2 cpuid=258 madt=2, madt kept");

	/* Only leaf 1 speaks: the low 8 bits agree. */
	boot_begin(&b, "intel-1x4x1", shape, 4);
	b.in.cpu[2].shifts.apic_id = 0x102;
	b.in.cpu[2].shifts.apic_id_8bit = true;
	boot_end(&b);
	assert_int_equal(b.warnings, 0);
	arena_free(&b.a);
}

static void warn_dup(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x4x1", (struct topo_shape){ 1, 1, 4, 1 }, 4);
	b.in.duplicates = 2;
	assert_one_fault(&b, W(DUP), "topo: WARN DUP entries=2 dropped");
}

static void warn_shift(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x4x2", (struct topo_shape){ 1, 1, 4, 2 }, 8);
	b.in.cpu[5].shifts.core = 0;
	b.in.cpu[5].shifts.llc = 2;
	assert_one_fault(&b, W(SHIFT), "topo: WARN SHIFT cpu5 C=0 D=3 P=3 llc=2, "
				       "cpu0's C=1 D=3 P=3 llc=3 kept");
}

static void warn_count_smtw(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x3x2-5", (struct topo_shape){ 1, 1, 3, 2 }, 5);
	b.in.madt_disabled = 1;
	boot_end(&b);
	assert_int_equal(b.warnings, W(COUNT) | W(SMTW));
	assert_logged("topo: WARN COUNT pkg=0 leaf=6 cpus=5");
	assert_logged("topo: WARN SMTW smt_max=2 smt_min=1");
	assert_int_equal(warn_lines(), 2);
	arena_free(&b.a);
}

static void warn_llc_clamped(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-2x3x2", (struct topo_shape){ 2, 1, 3, 2 }, 12);
	for (u32 c = 0; c < 12; c++) {
		b.in.cpu[c].shifts.llc_raw = 5;
		b.in.cpu[c].shifts.warn_llc = true;
	}
	assert_one_fault(&b, W(LLC), "topo: WARN LLC shift=5 exceeds P=3, clamped");
}

static u32 node_of(u32 apic, void *ctx)
{
	const u32 *shift = ctx;

	return apic >> *shift;
}

/* Sub-NUMA clustering under one L3: split, and DIE is the node. */
static void warn_llc_split(void **state)
{
	u32 shift = 2;
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x4x2", (struct topo_shape){ 1, 1, 4, 2 }, 8);
	b.in.node_of_apic = node_of;
	b.in.ctx = &shift;
	b.in.nr_nodes = 2;
	boot_end(&b);
	assert_int_equal(b.warnings, W(LLC));
	assert_logged("topo: WARN LLC cpu0 node=0 and cpu4 node=1 share one, split");
	assert_int_equal(warn_lines(), 1);
	assert_int_equal(b.t.nr_llcs, 2);
	assert_string_equal(chain_text(&b.d, 7), "SMT:2 MC:4 NUMA:8");
	arena_free(&b.a);
}

static void warn_nest(void **state)
{
	struct booted b;
	char json[4096];
	struct json j;

	(void)state;
	boot_begin(&b, "intel-1x4x2", (struct topo_shape){ 1, 1, 4, 2 }, 8);
	for (u32 c = 0; c < 8; c++)
		b.in.cpu[c].shifts.llc = 0;
	assert_int_equal(b.in.cpu[0].shifts.core, 1);
	boot_end(&b);
	assert_int_equal(b.warnings, 0);
	assert_logged("topo: WARN NEST spans=4 widened, first MC of cpu0");
	assert_int_equal(warn_lines(), 1);
	json_init(&j, json, sizeof(json));
	json_obj(&j, NULL);
	topology_frame(&j, &b.t, &b.d, "leaf0b", b.warnings);
	json_end_obj(&j);
	assert_non_null(strstr(json, "\"warnings\":[\"NEST\"]"));
	arena_free(&b.a);
}

static void warn_max(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x4x1", (struct topo_shape){ 1, 1, 4, 1 }, 4);
	b.in.dropped = 12;
	assert_one_fault(&b, W(MAX), "topo: WARN MAX dropped=12 max=4096");
}

/* A silent CPU keeps its numbers and is in no mask. */
static void warn_dead(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1x4x2", (struct topo_shape){ 1, 1, 4, 2 }, 8);
	b.in.cpu[3].started = false;
	b.in.cpu[3].shifts = (struct topo_shifts){ .source = "none" };
	boot_end(&b);
	assert_int_equal(b.warnings, W(DEAD) | W(SMTW));
	assert_logged("topo: WARN DEAD cpu3 apic=3 silent, left offline");
	assert_non_null(strstr(log_text, "started=7 "));
	assert_int_equal(b.t.sibling_weight[2], 1);
	assert_int_equal(b.t.sibling_weight[3], 0);
	assert_string_equal(mask_text(topo_mask(&b.t, TOPO_LLC, 0), 8), "0-2,4-7");
	assert_null(b.d.bottom[3]);
	assert_string_equal(chain_text(&b.d, 2), "MC:7");
	arena_free(&b.a);
}

static void warn_nomadt(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-1", (struct topo_shape){ 1, 1, 1, 1 }, 1);
	b.in.no_madt = true;
	b.in.madt_enabled = 0;
	assert_one_fault(&b, W(NOMADT), "topo: WARN NOMADT no CPU list, one CPU used");
}

/* Node numbers with gaps, a SLIT over all of them. */
static void slit_by_raw_node(void **state)
{
	static const u8 slit[16] = { 10, 0, 0, 21, 0, 10, 0, 0, 0, 0, 10, 0, 32, 0, 0, 10 };
	u8 bad[16];
	u32 shift = 2;
	struct booted b;

	(void)state;
	boot_begin(&b, "core2duo-2x2x2", (struct topo_shape){ 2, 1, 2, 2 }, 8);
	for (u32 c = 0; c < 8; c++) /* packages 0 and 3 */
		b.in.cpu[c].shifts.apic_id = b.in.cpu[c].madt_id = c < 4 ? c : c + 8;
	b.in.node_of_apic = node_of;
	b.in.ctx = &shift;
	b.in.nr_nodes = 4;
	b.in.slit = slit;
	boot_end(&b);
	assert_int_equal(b.t.nr_nodes, 2);
	assert_int_equal(b.t.distance[0], 10);
	assert_int_equal(b.t.distance[1], 21);
	assert_int_equal(b.t.distance[2], 32);
	assert_string_equal(chain_text(&b.d, 0), "SMT:2 MC:4 NUMA:8");

	/* A neighbour as near as oneself is no SLIT. */
	memcpy(bad, slit, sizeof(bad));
	bad[3] = 10;
	b.in.slit = bad;
	boot_end(&b);
	assert_int_equal(b.t.distance[1], 20);
	assert_int_equal(b.t.distance[2], 20);
	arena_free(&b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warn_leaf),
		cmocka_unit_test(warn_id),
		cmocka_unit_test(warn_dup),
		cmocka_unit_test(warn_shift),
		cmocka_unit_test(warn_count_smtw),
		cmocka_unit_test(warn_llc_clamped),
		cmocka_unit_test(warn_llc_split),
		cmocka_unit_test(warn_nest),
		cmocka_unit_test(warn_max),
		cmocka_unit_test(warn_dead),
		cmocka_unit_test(warn_nomadt),
		cmocka_unit_test(slit_by_raw_node),
	};

	return cmocka_run_group_tests_name("topology faults", tests, NULL, NULL);
}
