/* SPDX-License-Identifier: MIT */
/* sources: arch-x86/topo.c arch-x86/cpuid.c kernel/topology*.c sched/topo.c sched/domains.c
 *          kernel/lib/*.c tests/host/panic_host.c */
/* What a boot says about its topology: the log and the tree against
 * tests/golden/topo (UPDATE_GOLDEN=1 writes them anew), the frame, shapes and
 * overrides. spec/topology.md section 6, DESIGN section 5. */
#include "test_topo_log.h"

static void golden_compare(const char *name)
{
	static char want[sizeof(log_text)];
	char path[200];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/topo/%s.txt", name);
	if (getenv("UPDATE_GOLDEN")) {
		f = fopen(path, "w");
		assert_non_null(f);
		assert_int_equal(fwrite(log_text, 1, log_len, f), log_len);
		fclose(f);
	}
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	n = fread(want, 1, sizeof(want) - 1, f);
	fclose(f);
	want[n] = '\0';
	assert_string_equal(log_text, want);
}

static void log_golden(void **state)
{
	static const struct {
		const char *name, *snapshot;
		struct topo_shape shape;
		u32 cpus;
	} rows[] = {
		{ "log-2x22x2", "intel-2x22x2", { 2, 1, 22, 2 }, 88 },
		{ "log-5-of-1x3x2", "intel-1x3x2-5", { 1, 1, 3, 2 }, 5 },
		{ "log-epyc-1x2x4x2", "epyc-1x2x4x2", { 1, 2, 4, 2 }, 16 },
		{ "log-1", "intel-1", { 1, 1, 1, 1 }, 1 },
		{ "log-4x1x1", "intel-4x1x1", { 4, 1, 1, 1 }, 4 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct booted b;

		boot_begin(&b, rows[i].snapshot, rows[i].shape, rows[i].cpus);
		boot_end(&b);
		golden_compare(rows[i].name);
		arena_free(&b.a);
	}
}

/* The example of spec section 6, line by line. */
static void log_spec_example(void **state)
{
	struct booted b;

	(void)state;
	boot_begin(&b, "intel-2x22x2", (struct topo_shape){ 2, 1, 22, 2 }, 88);
	boot_end(&b);
	assert_true(!strncmp(log_text, "topo: madt enabled=88 disabled=0 started=88 dropped=0 "
				       "apic=xapic\n", 65));
	assert_logged("topo: src=leaf0b vendor=GenuineIntel C=1 D=6 P=6 llc=leaf4 shift=6");
	assert_logged("topo: cpu0 apic=0 pkg=0 die=0 core=0 thr=0 llc=0 node=0 sibw=2");
	assert_logged("topo: cpu0-43 sd SMT:2 MC:44 DIE:88 llc_id=0 llc_size=44");
	assert_logged("topo: packages=2 dies=2 llcs=2 cores=44 smt_max=2 smt_min=2");
	assert_int_equal(warn_lines(), 0);
	b.in.x2apic = true;
	boot_end(&b);
	assert_non_null(strstr(log_text, "apic=x2apic\n"));
	arena_free(&b.a);
}

static void shape_build(struct booted *b, const char *text, u32 nodes, u32 llc_cores)
{
	struct topo_shape s;
	const char *why;

	b->a = arena_new();
	assert_true(topo_shape_parse(text, &s, &why));
	topology_from_shape(&b->t, &s, nodes, llc_cores, &b->a);
	domains_build(&b->d, &b->t, false, &b->a);
}

static void tree_golden(void **state)
{
	static const struct {
		const char *name, *shape;
		u32 nodes, llc_cores;
	} rows[] = {
		{ "tree-2x4x2", "2x4x2", 1, 0 },     { "tree-2x22x2-numa", "2x22x2", 2, 0 },
		{ "tree-2x22x4", "2x22x4", 2, 2 },   { "tree-4x128x2", "4x128x2", 1, 0 },
		{ "tree-1x1x1", "1x1x1", 1, 0 },     { "tree-1x1x4096", "1x1x4096", 1, 0 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct booted b;

		shape_build(&b, rows[i].shape, rows[i].nodes, rows[i].llc_cores);
		log_clear();
		topology_tree(&b.t, log_line);
		golden_compare(rows[i].name);
		arena_free(&b.a);
	}
}

/* A simulated shape logs like a booted one, without the MADT. */
static void log_simulated(void **state)
{
	struct topo_shifts sh;
	struct booted b;

	(void)state;
	shape_build(&b, "2x2x2x2", 2, 0);
	topo_simulate(2, 2, 2, &sh);
	log_clear();
	topology_log(&b.t, &b.d, NULL, &sh, log_line);
	golden_compare("log-topo-2x2x2x2-numa");
	arena_free(&b.a);
}

static void frame_fields(void **state)
{
	static const char want[] =
		"{\"source\":\"leaf0b\",\"packages\":1,\"dies\":1,\"llcs\":1,\"cores\":2,"
		"\"cpus\":3,\"smt_max\":2,\"smt_min\":1,\"warnings\":[\"COUNT\",\"SMTW\"],\"cpu\":["
		"{\"cpu\":0,\"apic\":0,\"pkg\":0,\"die\":0,\"core\":0,\"thread\":0,\"llc\":0,"
		"\"node\":0,\"sibling_weight\":2,\"domains\":[{\"name\":\"SMT\",\"weight\":2},"
		"{\"name\":\"MC\",\"weight\":3}]},"
		"{\"cpu\":1,\"apic\":1,\"pkg\":0,\"die\":0,\"core\":0,\"thread\":1,\"llc\":0,"
		"\"node\":0,\"sibling_weight\":2,\"domains\":[{\"name\":\"SMT\",\"weight\":2},"
		"{\"name\":\"MC\",\"weight\":3}]},"
		"{\"cpu\":2,\"apic\":2,\"pkg\":0,\"die\":0,\"core\":1,\"thread\":0,\"llc\":0,"
		"\"node\":0,\"sibling_weight\":1,\"domains\":[{\"name\":\"MC\",\"weight\":3}]}]}";
	struct booted b;
	char json[4096];
	struct json j;

	(void)state;
	boot_begin(&b, "intel-1x3x2-5", (struct topo_shape){ 1, 1, 3, 2 }, 3);
	boot_end(&b);
	json_init(&j, json, sizeof(json));
	json_obj(&j, NULL);
	topology_frame(&j, &b.t, &b.d, b.in.cpu[0].shifts.source, b.warnings);
	json_end_obj(&j);
	assert_false(j.overflow);
	assert_string_equal(json, want);
	arena_free(&b.a);
}

static void frame_thousands(void **state)
{
	const size_t size = 1 << 20;
	char *json = malloc(size);
	struct booted b;
	struct json j;

	(void)state;
	shape_build(&b, "4x512x2", 4, 2);
	json_init(&j, json, size);
	json_obj(&j, NULL);
	json_str(&j, "type", "topology");
	topology_frame(&j, &b.t, &b.d, "topo", 0);
	json_end_obj(&j);
	assert_false(j.overflow);
	arena_free(&b.a);
	free(json);
}

static void shape_parse(void **state)
{
	static const char *const bad[] = { "", "2", "2x2", "x2x2", "2x2x", "2x2x2x2x2", "2x2x2 ",
					   " 2x2x2",
					   "2x-2x2", "0x2x2", "2x2x0", "2,2,2", "4097x1x1",
					   "64x64x2", "4294967297x1x1", "99999999999999999999x1x1",
					   "2X2X2", "65536x65536x1",
					   "1x4096x4096x4096" };
	struct topo_shape s;
	const char *why;

	(void)state;
	assert_true(topo_shape_parse("2x22x3", &s, &why));
	assert_int_equal(s.pkgs, 2);
	assert_int_equal(s.dies, 1);
	assert_int_equal(s.cores, 22);
	assert_int_equal(s.threads, 3);
	assert_true(topo_shape_parse("2x11x4x1", &s, &why));
	assert_int_equal(s.dies, 11);
	assert_int_equal(s.cores, 4);
	assert_true(topo_shape_parse("4x512x2", &s, &why));
	assert_true(topo_shape_parse("1x4096x1", &s, &why));
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		why = NULL;
		if (topo_shape_parse(bad[i], &s, &why))
			fail_msg("\"%s\" was taken", bad[i]);
		assert_non_null(why);
	}
}

/* Simulated and booted machines of one shape are the same to the scheduler. */
static void shape_equals_boot(void **state)
{
	static const struct {
		const char *snapshot, *text;
		struct topo_shape shape;
		u32 cpus;
	} rows[] = { { "intel-2x22x2", "2x22x2", { 2, 1, 22, 2 }, 88 },
		     { "intel-1x5x3", "1x5x3", { 1, 1, 5, 3 }, 15 },
		     { "intel-2x11x2x4", "2x11x2x4", { 2, 11, 2, 4 }, 176 } };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct booted real, sim;

		boot_begin(&real, rows[i].snapshot, rows[i].shape, rows[i].cpus);
		boot_end(&real);
		shape_build(&sim, rows[i].text, 1, 0);
		assert_int_equal(sim.t.nr_cpus, rows[i].cpus);
		assert_memory_equal(sim.t.cpu, real.t.cpu, rows[i].cpus * sizeof(*sim.t.cpu));
		arena_free(&real.a);
		arena_free(&sim.a);
	}
}

static void overrides(void **state)
{
	struct booted b;

	(void)state;
	/* POWER9: pairs of cores share the LLC. */
	shape_build(&b, "2x22x4", 2, 2);
	assert_int_equal(b.t.nr_llcs, 22);
	assert_string_equal(chain_text(&b.d, 0), "SMT:4 MC:8 DIE:88 NUMA:176");
	arena_free(&b.a);

	/* Three cores per LLC, the last one smaller. */
	shape_build(&b, "1x8x1", 1, 3);
	assert_int_equal(b.t.nr_llcs, 3);
	assert_string_equal(chain_text(&b.d, 7), "MC:2 DIE:8");
	/* An override again, on what is there: nodes alone keep LLCs but split them. */
	topology_override(&b.t, 2, 0, &b.a);
	domains_build(&b.d, &b.t, false, &b.a);
	assert_string_equal(mask_text(topo_mask(&b.t, TOPO_NODE, 0), 8), "0-3");
	assert_string_equal(mask_text(topo_mask(&b.t, TOPO_LLC, 3), 8), "3");
	assert_string_equal(mask_text(topo_mask(&b.t, TOPO_LLC, 4), 8), "4-5");
	assert_int_equal(b.t.distance[1], 20);
	topology_override(&b.t, 0, 8, &b.a);
	assert_string_equal(mask_text(topo_mask(&b.t, TOPO_LLC, 3), 8), "0-3");
	topology_override(&b.t, 1, 8, &b.a);
	assert_string_equal(mask_text(topo_mask(&b.t, TOPO_LLC, 3), 8), "0-7");
	assert_int_equal(b.t.nr_nodes, 1);
	arena_free(&b.a);

	/* Fewer nodes than packages: packages share them. */
	shape_build(&b, "4x1x2", 2, 0);
	assert_string_equal(mask_text(topo_mask(&b.t, TOPO_NODE, 2), 8), "0-3");
	assert_string_equal(chain_text(&b.d, 2), "SMT:2 DIE:4 NUMA:8");
	arena_free(&b.a);

	/* More nodes than cores: one each. */
	shape_build(&b, "2x2x2", 64, 0);
	assert_int_equal(b.t.nr_nodes, 4);
	arena_free(&b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log_spec_example),
		cmocka_unit_test(log_golden),
		cmocka_unit_test(log_simulated),
		cmocka_unit_test(tree_golden),
		cmocka_unit_test(frame_fields),
		cmocka_unit_test(frame_thousands),
		cmocka_unit_test(shape_parse),
		cmocka_unit_test(shape_equals_boot),
		cmocka_unit_test(overrides),
	};

	return cmocka_run_group_tests_name("topology at boot", tests, NULL, NULL);
}
