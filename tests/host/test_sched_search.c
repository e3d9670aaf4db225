/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/*
 * The idle search and its variants, asked through the prober: budgets and
 * placements of spec/idle-search.md section 10, and its sections 7 and 9.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "../../sched/idle_search.h"
#include "env/machine.h"

static struct machine m;
static struct place_prober *prober;
static struct cpumask busy, allowed;
static struct place_probe ask;

/* Cores and threads of one package; CPU 0 asks for a task of CPU 0, all allowed. */
static void begin(u32 cores, u32 threads, const char *switches, u64 busy_mask)
{
	struct sched_config cfg;

	machine_init(&m, 1, cores, threads, PROFILE_V5_2, switches);
	cfg = (struct sched_config){ .topo = &m.topo, .vector = m.vector, .hz = 1000,
				     .arena = &m.arena, .lockstep = true };
	prober = sched_prober_create(&cfg);
	busy = allowed = (struct cpumask){ { busy_mask } };
	memset(&allowed, 0, sizeof(allowed));
	cpumask_fill(&allowed, m.topo.nr_cpus);
	ask = (struct place_probe){ .busy = &busy, .allowed = &allowed, .next_cpu = -1,
				    .avg_idle_ns = 1000000, .avg_scan_cost_ns = 976 };
}

static struct place_probe_result again(bool fresh)
{
	struct place_probe_result r;

	machine_on(ask.this_cpu);
	sched_prober_ask(prober, &ask, fresh, &r);
	return r;
}

/* ---- E1 to E14 --------------------------------------------------------------------- */

enum { B15, B4, R, RN, CF, SF, VARIANTS };

static const char *const variant[VARIANTS] = {
	"", "", "SIS_LIMIT+SIS_ROTATE", "SIS_LIMIT+SIS_ROTATE+NO_SIS_CORE",
	"SIS_LIMIT+SIS_ROTATE+CORE_FIRST=2", "SIS_LIMIT+SIS_ROTATE+SMT_FIRST",
};

/* want: per wake the CPU, the stage's initial as in the specification (t target,
 * p prev, r recent), and next_cpu of the target if the search wrote it. */
struct example {
	const char *id;
	u64 busy, allowed;
	bool flag;
	const char *flags_after; /* per variant, after the last wake */
	u32 prev, target, recent;
	s32 next;
	const char *want[VARIANTS];
};

#define SAME(x) { x, x, x, x, x, x }
#define ALL 0xff

static const struct example examples[] = {
	{ "E1", 0x01, ALL, 1, "111111", 0, 0, 0, -1,
	  { "2c", "2c", "2c", "1u n1", "2c", "2c" } },
	{ "E2", 0x55, ALL, 1, "000100", 0, 0, 0, -1,
	  { "1u", "1u", "1u n1", "1u n1", "1f", "1s" } },
	{ "E3", 0x0f, ALL, 1, "111111", 0, 0, 0, -1,
	  { "4c", "4c", "4c", "0- n3", "4c", "4c" } },
	{ "E4 E5", 0x0f, ALL, 0, "000000", 0, 0, 0, -1,
	  { "4u 4u", "0- 0-", "0- n3 4u n4", "0- n3 4u n4", "4u n4 4u n4", "0- n3 4u n4" } },
	{ "E6", 0x7f, ALL, 0, "000000", 0, 0, 0, -1,
	  { "7u 7u 7u", "0- 0- 0-", "0- n3 0- n6 7u n7", "0- n3 0- n6 7u n7",
	    "0- n5 7u n7 7u n7", "0- n3 0- n6 7u n7" } },
	{ "E7", 0x15, ALL, 0, "000000", 0, 0, 0, 4,
	  { "1u", "1u", "5u n5", "5u n5", "1f", "1s" } },
	{ "E9", 0x01, 0xc1, 0, "000000", 0, 0, 0, -1,
	  { "6u", "0-", "0- n3", "0- n3", "6u n6", "0- n3" } },
	{ "E10", 0xff, ALL, 1, "000100", 0, 0, 0, -1,
	  { "0-", "0-", "0- n3", "0- n3", "0- n5", "0- n3" } },
	{ "E13", 0x04, ALL, 0, "000000", 0, 2, 0, -1, SAME("0p") },
	{ "E14", 0x01, ALL, 0, "000000", 0, 0, 5, -1, SAME("5r") },
	/* Section 7.2: a free target is taken, wherever the search would go on. */
	{ "hotness, literal", 0x00, ALL, 0, "000000", 0, 0, 0, 4, SAME("0t") },
};

static size_t describe(char *buf, size_t n, const struct place_probe_result *r)
{
	static const char stage[STAGE_NR] = "tprcfus-";
	bool wrote = sched_feat(m.s, SIS_ROTATE) && (r->why.visits || r->why.budget_out);
	size_t len = (size_t)snprintf(buf, n, "%u%c", r->cpu, stage[r->why.stage]);

	if (wrote)
		len += (size_t)snprintf(buf + len, n - len, " n%d", r->next_cpu);
	return len;
}

static void run_example(const struct example *e, u32 v)
{
	char got[80] = "";
	size_t len = 0;

	begin(4, 2, variant[v], e->busy);
	allowed.w[0] = e->allowed;
	ask.prev = e->prev;
	ask.target = ask.this_cpu = e->target;
	ask.recent = e->recent;
	ask.has_idle_cores = e->flag;
	ask.next_cpu = e->next;
	ask.avg_idle_ns = v == B4 ? 100000 : 1000000;
	for (u32 wake = 0; len < strlen(e->want[v]); wake++) {
		struct place_probe_result r = again(!wake);

		if (wake)
			got[len++] = ' ';
		len += describe(got + len, sizeof(got) - len, &r);
		if (r.why.stage == STAGE_RECENT)
			assert_int_equal(r.recent, e->prev);
		assert_true(e->flags_after[v] == '0' + r.has_idle_cores);
		if (v == B15 && !strcmp(e->id, "E10")) {
			assert_int_equal(r.why.nr, 15);
			assert_int_equal(r.why.visits, 8);
			assert_true(r.why.avg_updated);
		}
		if (v == B4 && !strcmp(e->id, "E10")) {
			assert_int_equal(r.why.nr, 4);
			assert_int_equal(r.why.visits, 3);
			assert_false(r.why.avg_updated);
			assert_true(r.why.budget_out);
		}
	}
	if (strcmp(got, e->want[v]))
		print_error("%s, variant %u\n", e->id, v);
	assert_string_equal(got, e->want[v]);
	machine_free(&m);
}

static void test_examples(void **state)
{
	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(examples); i++)
		for (u32 v = 0; v < VARIANTS; v++)
			run_example(&examples[i], v);
}

/* E9 as posted: the first loop does not ask whether it may. */
static void test_core_first_as_posted(void **state)
{
	struct place_probe_result r;

	(void)state;
	begin(4, 2, "SIS_LIMIT+SIS_ROTATE+CORE_FIRST=1", 0x01);
	allowed.w[0] = 0xc1;
	r = again(true);
	assert_int_equal(r.chosen, 1);
	assert_int_equal(r.why.stage, STAGE_CORE_FIRST);
	assert_int_equal(r.cpu, 0);
	machine_free(&m);
}

/* E12: what v3's weights do to the search on SMT4. */
static void test_weights_of_v3(void **state)
{
	static const struct { const char *switches; u32 target; u64 nr; u32 cpu; } table[] = {
		{ "SIS_LIMIT", 0, 8, 5 },
		{ "SIS_LIMIT+SIB_WEIGHT=percpu", 0, 8, 5 },
		{ "SIS_LIMIT+SIB_WEIGHT=percpu_v3", 0, 4, 0 },
		{ "SIS_LIMIT+SIB_WEIGHT=percpu_v3", 3, 8, 5 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct place_probe_result r;

		begin(2, 4, table[i].switches, 0x1f);
		ask.this_cpu = ask.target = ask.prev = ask.recent = table[i].target;
		r = again(true);
		assert_int_equal(r.why.nr, table[i].nr);
		assert_int_equal(r.cpu, table[i].cpu);
		machine_free(&m);
	}
}

/* ---- budgets --------------------------------------------------------------------------- */

static u64 nr_of(u32 cores, u32 threads, const char *switches, u64 avg_idle, u64 cost, s32 ln)
{
	struct place_probe_result r;

	begin(cores, threads, switches, ~0ull);
	busy.w[1] = ~0ull;
	ask.avg_idle_ns = avg_idle;
	ask.avg_scan_cost_ns = cost;
	ask.latency_nice = ln;
	r = again(true);
	assert_true(r.why.scanned);
	machine_free(&m);
	return r.why.nr;
}

static void test_budgets(void **state)
{
	static const struct { u32 cores, threads; u64 avg_idle, cost, base, limit; } table[] = {
		{ 4, 2, 1000000, 976, 15, 4 },	 { 4, 2, 250000, 976, 4, 3 },
		{ 4, 2, 100000, 976, 4, 2 },	 { 22, 2, 1000000, 2000, 42, 4 },
		{ 22, 2, 100000, 2000, 4, 4 },	 { 22, 2, 50000, 2000, 4, 2 },
		{ 22, 4, 1000000, 5000, 34, 8 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		u32 c = table[i].cores, t = table[i].threads;

		assert_int_equal(nr_of(c, t, "", table[i].avg_idle, table[i].cost, 0),
				 table[i].base);
		assert_int_equal(nr_of(c, t, "SIS_LIMIT", table[i].avg_idle, table[i].cost, 0),
				 table[i].limit);
	}
	assert_int_equal(nr_of(4, 2, "SIS_LIMIT+NO_SIS_PROP", 100000, 976, 0), INT32_MAX);
	assert_int_equal(nr_of(22, 2, "SIS_LIMIT+LIM_MULT=4", 1000000, 2000, 0), 8);
	assert_int_equal(nr_of(22, 2, "SIS_LIMIT+LIM_MULT=8", 1000000, 2000, 0), 16);
	assert_int_equal(nr_of(22, 2, "SIS_LIMIT+F_CONST=4", 1000000, 2000, 0), 8);
	assert_int_equal(nr_of(22, 2, "SIS_LIMIT+F_CONST=4", 50000, 2000, 0), 4);
	assert_int_equal(nr_of(4, 2, "SIS_LIMIT+LIM_MIN_LLC=7", 1000000, 976, 0), 4);
	assert_int_equal(nr_of(4, 2, "SIS_LIMIT+LIM_MIN_LLC=8", 1000000, 976, 0), 15);
	/* One thread per core counts as two. */
	assert_int_equal(nr_of(8, 1, "SIS_LIMIT", 1000000, 976, 0), 4);
}

static void test_latency_nice_scan(void **state)
{
	static const struct { s32 ln; u64 deep, shallow, pct; } table[] = {
		{ -20, 45, 45, 45 }, { -10, 43, 24, 34 }, { 0, 42, 4, 23 }, { 10, 23, 4, 12 },
		{ 19, 5, 4, 3 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		s32 ln = table[i].ln;

		assert_int_equal(nr_of(22, 2, "LN_SCAN=depth", 1000000, 2000, ln), table[i].deep);
		assert_int_equal(nr_of(22, 2, "LN_SCAN=depth", 50000, 2000, ln), table[i].shallow);
		assert_int_equal(nr_of(22, 2, "LN_SCAN=pct", 1000000, 2000, ln), table[i].pct);
		if (ln == 19)
			continue;
		assert_int_equal(nr_of(22, 2, "LN_SCAN=pct+LN_SIGN=-1", 1000000, 2000, -ln),
				 table[i].pct);
		assert_int_equal(nr_of(22, 2, "LN_SCAN=depth+LN_SIGN=-1", 1000000, 2000, -ln),
				 table[i].deep);
	}
	/* Without a budget: from the whole span. */
	assert_int_equal(nr_of(22, 2, "LN_SCAN=depth+NO_SIS_PROP", 1000000, 2000, 0), 45);
	assert_int_equal(nr_of(22, 2, "LN_SCAN=depth+NO_SIS_PROP", 1000000, 2000, 10), 24);
}

/* LN_SCAN=time: 2000 * (20 + ln) / 20 ns; before the k-th visit 100 * k ns are gone. */
static void test_latency_nice_time(void **state)
{
	static const struct { s32 ln; const char *sign; u64 visits; } table[] = {
		{ -20, "", 1 }, { -19, "", 1 }, { -10, "", 9 }, { 0, "", 19 }, { 10, "", 29 },
		{ 19, "", 38 }, { 10, "+LN_SIGN=-1", 9 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		char switches[64];
		struct place_probe_result r;

		snprintf(switches, sizeof(switches), "LN_SCAN=time%s", table[i].sign);
		begin(22, 2, switches, ~0ull);
		test_env.step_ns = 100;
		ask.latency_nice = table[i].ln;
		r = again(true);
		assert_int_equal(r.why.visits, table[i].visits);
		assert_true(r.why.budget_out);
		assert_false(r.why.avg_updated);
		machine_free(&m);
	}
}

/* ---- rotation ------------------------------------------------------------------------- */

/* I6: at constant nr, ceil(W / (nr - 1)) searches that find nothing visit all. */
static void test_rotation_covers(void **state)
{
	static const struct { u32 cores, threads; u64 nr; } table[] = {
		{ 4, 2, 4 }, { 22, 2, 4 }, { 7, 1, 4 }, { 3, 3, 6 }, { 8, 8, 16 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct cpumask seen = { { 0 } };
		u32 n, w;

		begin(table[i].cores, table[i].threads, "SIS_LIMIT+SIS_ROTATE+NO_SIS_CORE", ~0ull);
		w = m.topo.nr_cpus;
		n = (u32)((w + table[i].nr - 2) / (table[i].nr - 1));
		for (u32 k = 0; k < n; k++) {
			struct place_probe_result r;
			u32 from = k ? (u32)ask.next_cpu : 0;

			r = again(!k);
			assert_int_equal(r.why.nr, table[i].nr);
			assert_int_equal(r.why.visits, table[i].nr - 1);
			for (u32 v = 0; v < r.why.visits; v++)
				cpumask_set(&seen, (from + v) % w);
			assert_int_equal(r.next_cpu, (from + r.why.visits) % w);
			ask.next_cpu = r.next_cpu;
		}
		assert_int_equal(cpumask_weight(&seen, w), w);
		machine_free(&m);
	}
}

/* Only exhaustion tells the two places of the store apart. */
static void test_next_assign(void **state)
{
	static const struct { const char *switches; s32 hit, spent, exhausted; } table[] = {
		{ "SIS_ROTATE", 5, 3, 3 },
		{ "SIS_ROTATE+NEXT_ASSIGN=exit", 5, 3, 4 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		begin(4, 2, table[i].switches, 0x1f);
		assert_int_equal(again(true).next_cpu, table[i].hit);
		busy.w[0] = 0xff;
		ask.avg_idle_ns = 100000; /* nr 4 */
		assert_int_equal(again(true).next_cpu, table[i].spent);
		ask.avg_idle_ns = 1000000;
		ask.next_cpu = 4;         /* and ends at 3 */
		assert_int_equal(again(true).next_cpu, table[i].exhausted);
		machine_free(&m);
	}
}

static void test_nr_exact(void **state)
{
	(void)state;
	begin(4, 2, "SIS_LIMIT+NR_EXACT", 0xff);
	assert_int_equal(again(true).why.visits, 4);
	machine_free(&m);
	begin(4, 2, "SIS_LIMIT", 0xff);
	assert_int_equal(again(true).why.visits, 3);
	machine_free(&m);
}

/* Small caches keep both patches off. */
static void test_small_llc(void **state)
{
	(void)state;
	begin(4, 2, "SIS_LIMIT+SIS_ROTATE+LIM_MIN_LLC=8", 0x7f);
	assert_int_equal(again(true).cpu, 7);
	assert_int_equal(again(false).next_cpu, -1);
	machine_free(&m);
}

/* ---- latency_nice and neighbours --------------------------------------------------------- */

/* I12: all values 0 decide as if off, whatever the state. */
static void test_nobody_is_nice(void **state)
{
	static const char *const with[] = {
		"LN_SCAN=depth", "LN_PREEMPT", "LN_PACK", "LN_CORE", "LN_SCAN=depth+NO_SIS_PROP",
	};
	static const char *const without[] = { "", "", "", "", "NO_SIS_PROP" };
	u64 masks[] = { 0x00, 0x01, 0x55, 0x0f, 0x7f, 0xff, 0x2b, 0x81 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(with); i++)
		for (u32 k = 0; k < ARRAY_SIZE(masks) * 2; k++) {
			struct place_probe_result r[2];

			for (u32 on = 0; on < 2; on++) {
				begin(4, 2, on ? with[i] : without[i], masks[k / 2]);
				ask.has_idle_cores = k % 2;
				ask.avg_idle_ns = k % 3 ? 1000000 : 100000;
				r[on] = again(true);
				machine_free(&m);
			}
			assert_int_equal(r[0].cpu, r[1].cpu);
			assert_int_equal(r[0].why.stage, r[1].why.stage);
			assert_int_equal(r[0].why.visits, r[1].why.visits);
		}
}

static void test_who_skips_the_core(void **state)
{
	static const struct { const char *switches; s32 ln; enum place_stage stage; } table[] = {
		{ "LN_CORE", 1, STAGE_CPU },  { "LN_CORE", 0, STAGE_CORE },
		{ "LN_CORE", -5, STAGE_CORE }, { "LN_PACK", 10, STAGE_CPU },
		{ "LN_PACK", 9, STAGE_CORE }, { "", 19, STAGE_CORE },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct place_probe_result r;

		begin(4, 2, table[i].switches, 0x01);
		ask.has_idle_cores = true;
		ask.latency_nice = table[i].ln;
		r = again(true);
		assert_int_equal(r.why.stage, table[i].stage);
		assert_true(r.has_idle_cores);
		machine_free(&m);
	}
}

/* On a real machine: a search from CPU 0 with CPUs 0, 2, 4 running tasks of the given
 * kind, all of its choosing idle: 1, 3, 5, 6, 7. */
static u32 beside(const char *switches, s32 ln, u32 like_on, bool heavy)
{
	struct sched_task *p;
	struct placement why;
	u32 cpu;

	machine_init(&m, 1, 4, 2, PROFILE_V5_2, switches);
	for (u32 c = 0; c < 6; c += 2) {
		struct sched_task *t = machine_start(&m, c);

		if (c != like_on)
			continue;
		t->has_latency_nice = !heavy;
		t->latency_nice = 12;
		t->freq_heavy = heavy;
	}
	machine_on(0);
	p = machine_fork(&m);
	p->has_latency_nice = true;
	p->latency_nice = ln;
	cpu_rq(m.s, 0)->avg_idle = 1000000;
	m.s->domains.llc[0]->avg_scan_cost_ns = 976;
	env_lock(&p->wake_lock);
	cpu = select_idle_sibling(m.s, p, 0, 0, &why);
	env_unlock(&p->wake_lock);
	assert_int_equal(why.stage, STAGE_CPU);
	machine_free(&m);
	return cpu;
}

static void test_neighbours(void **state)
{
	(void)state;
	/* LN_PACK: beside another tolerant task; none there: the first idle one. */
	assert_int_equal(beside("LN_PACK", 10, 4, false), 5);
	assert_int_equal(beside("LN_PACK", 10, 2, false), 3);
	assert_int_equal(beside("LN_PACK", 10, 99, false), 1);
	assert_int_equal(beside("LN_PACK", 9, 4, false), 1);
	assert_int_equal(beside("", 10, 4, false), 1);
	/* LN_AVX: tolerant tasks go beside heavy ones, others elsewhere. */
	assert_int_equal(beside("LN_AVX", 1, 2, true), 3);
	assert_int_equal(beside("LN_AVX", 0, 0, true), 3);
	assert_int_equal(beside("LN_AVX", -5, 0, true), 3);
	assert_int_equal(beside("LN_AVX", 1, 99, true), 1);
	assert_int_equal(beside("", 1, 2, true), 1);
	/* Budget 4: three visits, and the first idle CPU met. */
	assert_int_equal(beside("LN_PACK+SIS_LIMIT", 10, 4, false), 1);
}

/* ---- counters --------------------------------------------------------------------------- */

/* The oracle: what the cache had and the search did not take. */
static void test_oracle(void **state)
{
	static const struct {
		const char *what, *switches;
		u64 busy, allowed, avg_idle;
		bool flag, core_missed, cpu_missed;
	} table[] = {
		{ "idle core taken", "", 0x01, 0xff, 1000000, 1, 0, 0 },
		{ "sibling taken beside an idle core", "", 0x01, 0xff, 1000000, 0, 1, 0 },
		{ "busy target beside an idle CPU", "", 0x7f, 0xff, 100000, 0, 0, 1 },
		{ "busy target beside an idle core", "", 0x0f, 0xff, 100000, 0, 1, 1 },
		{ "the idle core is not allowed", "", 0x0f, 0x0f, 100000, 0, 0, 0 },
		{ "nothing idle", "", 0xff, 0xff, 1000000, 0, 0, 0 },
		{ "one of two is asked", "ORACLE_EVERY=2", 0x7f, 0xff, 100000, 0, 0, 0 },
		{ "nobody is asked", "ORACLE_EVERY=0", 0x7f, 0xff, 100000, 0, 0, 0 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++) {
		struct sched_task *p;
		struct placement why;

		machine_init(&m, 1, 4, 2, PROFILE_V5_2, table[i].switches);
		for (u32 c = 0; c < 8; c++)
			if (table[i].busy >> c & 1)
				machine_start(&m, c);
		machine_on(0);
		p = machine_fork(&m);
		p->allowed.w[0] = table[i].allowed;
		m.s->llc[0].has_idle_cores = table[i].flag;
		cpu_rq(m.s, 0)->avg_idle = table[i].avg_idle;
		m.s->domains.llc[0]->avg_scan_cost_ns = 976;
		env_lock(&p->wake_lock);
		select_idle_sibling(m.s, p, 0, 0, &why);
		env_unlock(&p->wake_lock);
		if (machine_count(&m, idle_core_missed) != table[i].core_missed ||
		    machine_count(&m, idle_cpu_missed) != table[i].cpu_missed)
			print_error("%s\n", table[i].what);
		assert_int_equal(machine_count(&m, idle_core_missed), table[i].core_missed);
		assert_int_equal(machine_count(&m, idle_cpu_missed), table[i].cpu_missed);
		machine_free(&m);
	}
}

/* Two wakers that look at the same idle CPU: the second finds it taken. */
static void test_collision(void **state)
{
	struct sched_task *a, *b;

	(void)state;
	machine_init(&m, 1, 2, 1, PROFILE_V5_2, "");
	a = machine_start(&m, 1);
	machine_on(1);
	machine_sleep(&m);
	b = machine_start(&m, 1);
	machine_sleep(&m);
	machine_on(0);
	sched_wake(m.s, a, 0);
	assert_int_equal(machine_count(&m, collisions), 0);
	b->found_idle = true; /* as a search that ran at the same time would say */
	b->allowed.w[0] = 2;
	b->nr_allowed = 1;
	sched_wake(m.s, b, 0);
	assert_int_equal(machine_count(&m, collisions), 1);
	assert_false(b->found_idle);
	machine_free(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_core_first_as_posted),
		cmocka_unit_test(test_weights_of_v3),
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_latency_nice_scan),
		cmocka_unit_test(test_latency_nice_time),
		cmocka_unit_test(test_rotation_covers),
		cmocka_unit_test(test_next_assign),
		cmocka_unit_test(test_nr_exact),
		cmocka_unit_test(test_small_llc),
		cmocka_unit_test(test_nobody_is_nice),
		cmocka_unit_test(test_who_skips_the_core),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_collision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
