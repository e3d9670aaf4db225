/* SPDX-License-Identifier: MIT */
/* sources: arch-x86/topo.c arch-x86/cpuid.c kernel/topology*.c sched/topo.c sched/domains.c
 *          kernel/lib/*.c tests/host/panic_host.c */
/* Domains: flags and intervals, NUMA, nesting, groups, offline CPUs; random
 * machines against the definition; thousands of CPUs against the clock. */
#include "test_topo.h"
#include <time.h>

#define COMMON (SD_LOAD_BALANCE | SD_BALANCE_NEWIDLE | SD_BALANCE_EXEC | SD_BALANCE_FORK | \
		SD_WAKE_AFFINE)

static void shape_build(struct sched_topo *t, struct sched_domains *d, const char *text,
			u32 nodes, u32 llc_cores, bool pkg_level, struct arena *a)
{
	struct topo_shape s;
	const char *why;

	assert_true(topo_shape_parse(text, &s, &why));
	topology_from_shape(t, &s, nodes, llc_cores, a);
	domains_build(d, t, pkg_level, a);
}

static void flags_and_intervals(void **state)
{
	struct arena a = arena_new();
	const struct sched_domain *smt, *mc, *pkg, *die;
	struct sched_domains d;
	struct sched_topo t;

	(void)state;
	shape_build(&t, &d, "2x2x2x2", 1, 0, true, &a);
	smt = d.bottom[3];
	mc = smt->parent;
	pkg = mc->parent;
	die = pkg->parent;
	assert_null(smt->child);
	assert_ptr_equal(die->child, pkg);
	assert_null(die->parent);
	assert_string_equal(smt->name, "SMT");
	assert_int_equal(smt->flags, COMMON | SD_PREFER_SIBLING | SD_SHARE_CPUCAPACITY |
					     SD_SHARE_PKG_RESOURCES);
	assert_int_equal(smt->imbalance_pct, 110);
	assert_string_equal(mc->name, "MC");
	assert_int_equal(mc->flags, COMMON | SD_PREFER_SIBLING | SD_SHARE_PKG_RESOURCES);
	assert_int_equal(mc->imbalance_pct, 117);
	assert_string_equal(pkg->name, "PKG");
	assert_int_equal(pkg->flags, COMMON | SD_PREFER_SIBLING);
	assert_int_equal(pkg->imbalance_pct, 125);
	assert_string_equal(die->name, "DIE");
	assert_int_equal(die->flags, COMMON | SD_PREFER_SIBLING);
	assert_int_equal(die->imbalance_pct, 125);
	for (const struct sched_domain *sd = smt; sd; sd = sd->parent) {
		assert_int_equal(sd->busy_factor, 32);
		assert_int_equal(sd->min_interval_ms, sd->span_weight);
		assert_int_equal(sd->max_interval_ms, 2 * sd->span_weight);
	}
	assert_ptr_equal(d.llc[3], mc);
	assert_int_equal(d.llc_id[3], 0);
	assert_int_equal(d.llc_id[6], 4);
	assert_int_equal(d.llc_size[6], 4);
	arena_free(&a);
}

/* Four sockets in a square: 20 to the neighbours, 40 across. */
static void numa_distances(void **state)
{
	static u8 square[16] = { 10, 20, 40, 20, 20, 10, 20, 40, 40, 20, 10, 20, 20, 40, 20, 10 };
	struct arena a = arena_new();
	const struct sched_domain *near, *far;
	struct sched_domains d;
	struct sched_topo t;

	(void)state;
	shape_build(&t, &d, "4x2x1", 4, 0, false, &a);
	t.distance = square;
	domains_build(&d, &t, false, &a);
	assert_string_equal(chain_text(&d, 2), "MC:2 NUMA:6 NUMA:8");
	near = d.bottom[2]->parent;
	far = near->parent;
	assert_int_equal(near->flags, COMMON | SD_NUMA | SD_SERIALIZE);
	assert_int_equal(near->imbalance_pct, 125);
	assert_string_equal(groups_text(near, 8), "2-3|4-5|0-1");
	/* d > 30 keeps tasks at home. */
	assert_int_equal(far->flags, SD_LOAD_BALANCE | SD_BALANCE_NEWIDLE | SD_NUMA | SD_SERIALIZE);
	/* Spans of the level below overlap; node 3 sees 6-7,4-5 and 0-1. */
	assert_string_equal(groups_text(far, 8), "0-5|0-1,4-7");
	assert_string_equal(mask_text(d.bottom[6]->parent->span, 8), "0-1,4-7");
	arena_free(&a);
}

/* A line of nodes 0-1-2-3: a neighbour's span leaves the domain and is cut. */
static void numa_line(void **state)
{
	static u8 line[16] = { 10, 20, 30, 40, 20, 10, 20, 30, 30, 20, 10, 20, 40, 30, 20, 10 };
	struct arena a = arena_new();
	struct sched_domains d;
	struct sched_topo t;

	(void)state;
	shape_build(&t, &d, "4x1x1", 4, 0, false, &a);
	t.distance = line;
	domains_build(&d, &t, false, &a);
	assert_string_equal(chain_text(&d, 0), "NUMA:2 NUMA:3 NUMA:4");
	assert_string_equal(chain_text(&d, 1), "NUMA:3 NUMA:4");
	assert_string_equal(groups_text(d.bottom[0]->parent, 4), "0-1|1-2");
	assert_null(d.llc[0]);
	assert_int_equal(d.llc_size[0], 1);
	assert_int_equal(d.llc_id[2], 2);
	arena_free(&a);
}

static void interleaved_siblings(void **state)
{
	struct topo_cpu cpu[8];
	struct sched_topo t = { .nr_cpus = 8, .cpu = cpu };
	struct arena a = arena_new();
	struct sched_domains d;

	(void)state;
	for (u32 c = 0; c < 8; c++)
		cpu[c] = (struct topo_cpu){ .core = c % 4, .thr = c / 4, .online = true };
	topo_build_masks(&t, &a);
	domains_build(&d, &t, false, &a);
	assert_string_equal(groups_text(d.bottom[0]->parent, 8), "0,4|1,5|2,6|3,7");
	assert_string_equal(groups_text(d.bottom[6]->parent, 8), "2,6|3,7|0,4|1,5");
	assert_string_equal(groups_text(d.bottom[6], 8), "6|2");
	/* One ring serves all. */
	assert_ptr_equal(d.bottom[0]->parent->groups->next, d.bottom[1]->parent->groups);
	arena_free(&a);
}

/* LLCs narrower than cores: MC is widened to the core and then pruned. */
static void nest_widens(void **state)
{
	struct topo_cpu cpu[4];
	struct sched_topo t = { .nr_cpus = 4, .cpu = cpu };
	struct arena a = arena_new();
	struct sched_domains d;

	(void)state;
	for (u32 c = 0; c < 4; c++)
		cpu[c] = (struct topo_cpu){ .core = c / 2, .llc = c, .online = true };
	topo_build_masks(&t, &a);
	domains_build(&d, &t, false, &a);
	assert_int_equal(d.nest_warnings, 2);
	assert_string_equal(d.nest_level, "MC");
	assert_int_equal(d.nest_cpu, 0);
	assert_string_equal(chain_text(&d, 1), "SMT:2 DIE:4");
	assert_string_equal(mask_text(topo_mask(&t, TOPO_LLC, 1), 4), "1"); /* masks stay */

	/* What only offline CPUs would break needs no widening. */
	topo_set_online(&t, 1, false);
	topo_set_online(&t, 3, false);
	domains_build(&d, &t, false, &a);
	assert_int_equal(d.nest_warnings, 0);
	assert_null(d.nest_level);
	assert_string_equal(chain_text(&d, 2), "DIE:2");

	/* A core of three threads, one of which SRAT puts elsewhere. */
	t = (struct sched_topo){ .nr_cpus = 4, .cpu = cpu };
	for (u32 c = 0; c < 4; c++)
		cpu[c] = (struct topo_cpu){ .core = c / 3, .llc = c / 2, .node = c / 2,
					    .online = true };
	t.distance = (u8[]){ 10, 20, 20, 10 };
	topo_build_masks(&t, &a);
	domains_build(&d, &t, false, &a);
	assert_string_equal(chain_text(&d, 0), "SMT:3 MC:4");
	assert_string_equal(chain_text(&d, 3), "MC:4");
	assert_int_equal(d.nest_warnings, 2); /* MC and the node level */
	arena_free(&a);
}

/* Sub-NUMA clustering with the package level on: nodes inside a package. */
static void nodes_below_package(void **state)
{
	struct arena a = arena_new();
	struct sched_domains d;
	struct sched_topo t;

	(void)state;
	shape_build(&t, &d, "2x4x2", 4, 0, false, &a);
	assert_int_equal(t.nr_nodes, 4);
	assert_int_equal(t.nr_llcs, 4);
	assert_string_equal(chain_text(&d, 15), "SMT:2 MC:4 NUMA:16");
	assert_int_equal(d.nest_warnings, 0);
	domains_build(&d, &t, true, &a);
	assert_string_equal(chain_text(&d, 15), "SMT:2 MC:4 PKG:8 NUMA:16");
	assert_int_equal(d.nest_warnings, 2);
	arena_free(&a);
}

static void offline_and_back(void **state)
{
	struct arena a = arena_new();
	struct sched_domains d;
	struct sched_topo t;

	(void)state;
	shape_build(&t, &d, "2x2x2", 1, 0, false, &a);
	topo_set_online(&t, 3, false);
	assert_int_equal(t.sibling_weight[2], 1);
	assert_int_equal(t.sibling_weight[3], 0);
	assert_int_equal(t.sibling_weight[0], 2);
	assert_int_equal(t.smt_min, 1);
	assert_int_equal(t.smt_max, 2);
	for (u32 l = 0; l < TOPO_NR_LEVELS; l++)
		assert_false(cpumask_test(topo_mask(&t, l, 2), 3));
	domains_build(&d, &t, false, &a);
	assert_string_equal(chain_text(&d, 0), "SMT:2 MC:3 DIE:7");
	assert_string_equal(chain_text(&d, 2), "MC:3 DIE:7");
	assert_null(d.bottom[3]);
	assert_null(d.llc[3]);
	assert_string_equal(groups_text(d.bottom[2], 8), "2|0-1");

	topo_set_online(&t, 3, false); /* again: nothing changes */
	assert_int_equal(t.sibling_weight[2], 1);
	topo_set_online(&t, 3, true);
	assert_int_equal(t.sibling_weight[2], 2);
	assert_int_equal(t.sibling_weight[3], 2);
	assert_int_equal(t.smt_min, 2);
	domains_build(&d, &t, false, &a);
	assert_string_equal(chain_text(&d, 3), "SMT:2 MC:4 DIE:8");

	/* Built again in place, after the keys changed by hand. */
	t.cpu[0].online = false;
	topo_build_masks(&t, &a);
	assert_int_equal(t.sibling_weight[1], 1);
	assert_false(cpumask_test(topo_mask(&t, TOPO_PKG, 1), 0));
	arena_free(&a);
}

static void smt_off(void **state)
{
	struct arena a = arena_new();
	struct sched_domains d;
	struct sched_topo t;

	(void)state;
	shape_build(&t, &d, "1x2x2", 1, 0, false, &a);
	assert_true(topo_has_smt(&t));
	topo_set_online(&t, 1, false);
	assert_true(topo_has_smt(&t));
	topo_set_online(&t, 2, false);
	assert_false(topo_has_smt(&t));
	domains_build(&d, &t, false, &a);
	assert_string_equal(chain_text(&d, 3), "MC:2");
	topo_set_online(&t, 3, false); /* one CPU left */
	domains_build(&d, &t, false, &a);
	assert_null(d.bottom[0]);
	assert_int_equal(d.llc_size[0], 1);
	arena_free(&a);
}

/* ---- random machines ---- */

static u32 roll(u64 *seed, u32 n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*seed >> 33) % n;
}

/* The span below sd as another CPU of it sees it: its highest domain of a lower
 * level, or itself. Levels are told apart by name; not for NUMA over NUMA. */
static u32 rank_of(const struct sched_domain *sd)
{
	static const char *const names[] = { "SMT", "MC", "PKG", "DIE", "NUMA" };
	u32 r = 0;

	while (strcmp(names[r], sd->name))
		r++;
	return r;
}

static void expect_ring(const struct sched_domains *d, const struct sched_domain *sd, u32 cpu,
			u32 nr)
{
	struct cpumask covered = { { 0 } };
	const struct sched_group *g = sd->groups;

	for_each_cpu_wrap(c, sd->span, cpu, nr) {
		const struct cpumask *child = NULL;
		struct cpumask self = { { 0 } };

		if (cpumask_test(&covered, c))
			continue;
		cpumask_set(&self, c);
		for (const struct sched_domain *x = d->bottom[c]; x; x = x->parent)
			if (rank_of(x) < rank_of(sd) && cpumask_subset(x->span, sd->span, nr))
				child = x->span;
		if (!child)
			child = &self;
		assert_string_equal(mask_text(g->span, nr), mask_text(child, nr));
		cpumask_or(&covered, child, nr);
		g = g->next;
	}
	assert_ptr_equal(g, sd->groups);
}

static void check_domain(const struct sched_topo *t, const struct sched_domains *d,
			 const struct sched_domain *sd, u32 cpu)
{
	struct cpumask all = { { 0 } };
	const struct sched_group *g = sd->groups;
	u32 nr = t->nr_cpus;

	assert_true(cpumask_test(sd->span, cpu));
	assert_int_equal(sd->span_weight, cpumask_weight(sd->span, nr));
	for_each_cpu(c, sd->span, nr)
		assert_true(t->cpu[c].online);
	if (sd->child) {
		assert_ptr_equal(sd->child->parent, sd);
		assert_true(cpumask_subset(sd->child->span, sd->span, nr));
		assert_true(sd->child->span_weight < sd->span_weight);
	} else {
		assert_true(sd->span_weight > 1);
	}
	assert_true(cpumask_test(g->span, cpu));
	do {
		assert_true(cpumask_subset(g->span, sd->span, nr));
		assert_int_equal(g->weight, cpumask_weight(g->span, nr));
		cpumask_or(&all, g->span, nr);
		g = g->next;
	} while (g != sd->groups);
	assert_true(cpumask_equal(&all, sd->span, nr));
	if (!(sd->flags & SD_NUMA))
		expect_ring(d, sd, cpu, nr);
}

static void random_machine(struct sched_topo *t, u64 *seed, bool nested, struct arena *a)
{
	u32 n = 1 + roll(seed, 40), thr = 1 + roll(seed, 4), nodes = 1 + roll(seed, 4);
	u32 llc = thr * (1 + roll(seed, 5)), pkg = llc * (1 + roll(seed, 3));

	*t = (struct sched_topo){ .nr_cpus = n };
	t->cpu = arena_alloc(a, n * sizeof(*t->cpu));
	t->distance = arena_alloc(a, 16);
	for (u32 c = 0; c < n; c++) {
		u32 at = c;

		if (nested && n % 2)
			at = c * 7 % n; /* scattered numbering, if 7 and n are coprime */
		t->cpu[c] = (struct topo_cpu){
			.apic = c, .core = at / thr, .llc = at / llc, .die = at / llc,
			.pkg = at / pkg, .node = at / pkg % nodes,
			.online = !c || roll(seed, 8) };
		if (!nested) {
			t->cpu[c].llc = roll(seed, 6);
			t->cpu[c].pkg = roll(seed, 4);
			t->cpu[c].node = roll(seed, 4);
		}
	}
	for (u32 i = 0; i < 16; i++)
		t->distance[i] = (u8)(15 + 5 * roll(seed, 8));
	topo_build_masks(t, a);
	/* The matrix is nr_nodes wide; its diagonal is 10. */
	for (u32 i = 0; i < t->nr_nodes; i++)
		t->distance[i * t->nr_nodes + i] = 10;
}

static void random_machines(void **state)
{
	struct arena a = arena_new();
	u64 seed = 99;

	(void)state;
	for (u32 round = 0; round < 4000; round++) {
		struct sched_domains d;
		struct sched_topo t;
		u32 online = 0;

		arena_reset(&a);
		random_machine(&t, &seed, round & 1, &a);
		domains_build(&d, &t, round & 2, &a);
		for (u32 c = 0; c < t.nr_cpus; c++)
			online += t.cpu[c].online;
		for (u32 c = 0; c < t.nr_cpus; c++) {
			const struct sched_domain *top = d.bottom[c], *llc = NULL;

			if (!t.cpu[c].online || online == 1) {
				assert_null(top);
				assert_null(d.llc[c]);
				continue;
			}
			for (const struct sched_domain *sd = top; sd; sd = sd->parent) {
				check_domain(&t, &d, sd, c);
				if (sd->flags & SD_SHARE_PKG_RESOURCES)
					llc = sd;
				top = sd;
			}
			assert_int_equal(top->span_weight, online);
			assert_ptr_equal(d.llc[c], llc);
			assert_int_equal(d.llc_size[c], llc ? llc->span_weight : 1);
			assert_int_equal(d.llc_id[c], llc ? cpumask_first(llc->span, t.nr_cpus)
							  : c);
		}
	}
	arena_free(&a);
}

/* The target is 0.5 s without sanitizers; this build is several times slower,
 * and quadratic work on 4,096 CPUs would take minutes. */
static void thousands(void **state)
{
	static const struct {
		const char *shape;
		u32 nodes, llc_cores;
	} big[] = { { "4x512x2", 1, 0 }, { "4x512x2", 8, 2 }, { "4096x1x1", 1, 0 },
		    { "1x1x4096", 1, 0 }, { "1x4096x1", 1, 0 }, { "64x64x1", 64, 0 } };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(big); i++) {
		struct arena a = arena_new();
		clock_t start = clock();
		struct sched_domains d;
		struct sched_topo t;

		shape_build(&t, &d, big[i].shape, big[i].nodes, big[i].llc_cores, false, &a);
		assert_true(clock() - start < 3 * CLOCKS_PER_SEC);
		assert_int_equal(t.nr_cpus, 4096);
		check_domain(&t, &d, d.bottom[4095], 4095);
		assert_true(a.peak < 16u << 20);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags_and_intervals),
		cmocka_unit_test(numa_distances),
		cmocka_unit_test(numa_line),
		cmocka_unit_test(interleaved_siblings),
		cmocka_unit_test(nest_widens),
		cmocka_unit_test(nodes_below_package),
		cmocka_unit_test(offline_and_back),
		cmocka_unit_test(smt_off),
		cmocka_unit_test(random_machines),
		cmocka_unit_test(thousands),
	};

	return cmocka_run_group_tests_name("scheduling domains", tests, NULL, NULL);
}
