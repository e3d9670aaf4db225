/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c
 * sched/topo.c tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_raw.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* The line model of spec/group-load.md section 9: by hand, then against a second
 * model that keeps a list of holders and measures every distance anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "../../kernel/lib/rng.h"
#include "engine_rig.h"

#define HIT_PS 1000 /* h of the specification; a is the machine's locked operation */

/* Two packages of two LLCs of two cores of two threads: CPU 0 has 1 beside it in
 * its core, 2 in its LLC, 4 in its package, 8 far away. */
static void sixteen(void)
{
	rig_init(2, 2, 2, 2);
	rig_reset();
}

static u64 spacing(u64 c_ps)
{
	return c_ps * 85 / 100;
}

static void test_hits(void **state)
{
	struct env_line l;

	(void)state;
	sixteen();
	env_line_init(&l, LINE_USER);
	line_access(&l, 3, T0, true);
	assert_int_equal(line_access(&l, 3, T0 + MS, false), HIT_PS);
	assert_int_equal(line_access(&l, 3, T0 + MS, true), rig.machine.lock_rmw_ps);
	line_access(&l, 0, T0 + 2 * MS, false);
	/* Both hold it now: reads hit, a write does not. */
	assert_int_equal(line_access(&l, 3, T0 + 3 * MS, false), HIT_PS);
	assert_int_equal(line_access(&l, 0, T0 + 3 * MS, false), HIT_PS);
	assert_int_equal(line_access(&l, 3, T0 + 3 * MS, true), rig.machine.c2c_ps[1]);
	/* A hit does not wait for misses in progress. */
	line_access(&l, 5, T0 + 4 * MS, true);
	assert_int_equal(line_access(&l, 5, T0 + 4 * MS, true), rig.machine.lock_rmw_ps);
}

static void test_read_miss_goes_to_the_nearest(void **state)
{
	static const u32 holder[] = { 8, 4, 2, 1 }; /* ever nearer to CPU 0 */

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		struct env_line l;

		sixteen();
		env_line_init(&l, LINE_USER);
		line_access(&l, holder[0], T0, true);
		for (u32 k = 1; k <= i; k++)
			line_access(&l, holder[k], T0 + k * MS, false);
		assert_int_equal(line_access(&l, 0, T0 + 9 * MS, false),
				 rig.machine.c2c_ps[3 - i]);
	}
}

static void test_write_miss_goes_to_the_farthest(void **state)
{
	static const u32 holder[] = { 1, 2, 4, 8 };

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		struct env_line l;

		sixteen();
		env_line_init(&l, LINE_USER);
		line_access(&l, holder[0], T0, true);
		for (u32 k = 1; k <= i; k++)
			line_access(&l, holder[k], T0 + k * MS, false);
		line_access(&l, 0, T0 + 8 * MS, false); /* its own copy does not help */
		assert_int_equal(line_access(&l, 0, T0 + 9 * MS, true), rig.machine.c2c_ps[i]);
		/* All copies died. */
		assert_int_equal(line_access(&l, 0, T0 + 10 * MS, true), rig.machine.lock_rmw_ps);
		assert_int_equal(line_access(&l, 1, T0 + 11 * MS, false), rig.machine.c2c_ps[0]);
	}
}

static void test_no_copy_anywhere(void **state)
{
	(void)state;
	for (u32 write = 0; write < 2; write++) {
		struct env_line l;

		sixteen();
		env_line_init(&l, LINE_USER);
		assert_int_equal(line_access(&l, 0, T0, write), rig.machine.c2c_ps[3]);
		assert_int_equal(engine.line_stats[LINE_USER].misses[DIST_SELF], 1);
	}
}

/* A profile of one package leaves the columns of what it has not at 0. */
static void test_memory_is_never_free(void **state)
{
	struct env_line l;

	(void)state;
	rig_init(1, 1, 4, 2);
	rig.machine.c2c_ps[2] = rig.machine.c2c_ps[3] = 0;
	rig_reset();
	env_line_init(&l, LINE_USER);
	assert_int_equal(line_access(&l, 0, T0, false), rig.machine.c2c_ps[1]);
}

/* What a dropped line was made of serves the next, which knows nothing of it. */
static void test_memory_of_dropped_lines(void **state)
{
	struct env_line a, b, c;
	size_t used;

	(void)state;
	sixteen();
	env_line_init(&a, LINE_USER);
	env_line_init(&b, LINE_USER);
	line_access(&a, 3, T0, true);
	line_access(&b, 5, T0, true);
	used = engine.cfg.arena->used;
	engine_line_drop(&a);
	engine_line_drop(&b);
	engine_line_drop(&b); /* a line without memory: as in live mode */
	for (u32 i = 0; i < 2; i++) {
		env_line_init(&c, LINE_TASK);
		/* Nobody holds it. */
		assert_int_equal(line_access(&c, 5, T0 + MS, false), rig.machine.c2c_ps[3]);
	}
	assert_int_equal(engine.cfg.arena->used, used);
	env_line_init(&c, LINE_TASK);
	assert_true(engine.cfg.arena->used > used);
}

static void test_misses_queue(void **state)
{
	u64 memory, llc, busy;
	struct env_line l;

	(void)state;
	sixteen();
	memory = rig.machine.c2c_ps[3];
	llc = rig.machine.c2c_ps[1];
	env_line_init(&l, LINE_USER);
	assert_int_equal(line_access(&l, 0, T0, true), memory);
	busy = T0 + spacing(memory);
	/* Two at once: the second waits for the first's spacing, not its arrival. */
	assert_int_equal(line_access(&l, 2, T0 + 5, true), busy - (T0 + 5) + llc);
	busy += spacing(llc);
	assert_int_equal(line_access(&l, 0, T0 + 6, false), busy - (T0 + 6) + llc);
	busy += spacing(llc);
	assert_int_equal(engine.line_stats[LINE_USER].wait_ps,
			 2 * spacing(memory) + spacing(llc) - 5 - 6);
	/* One that comes later waits for nothing. */
	assert_int_equal(line_access(&l, 1, busy, false), rig.machine.c2c_ps[0]);
}

static void test_shared_reads_do_not_queue(void **state)
{
	u64 busy;
	struct env_line l;

	(void)state;
	rig_init(1, 1, 16, 1);
	rig.cfg.reads_shared = true;
	rig_reset();
	env_line_init(&l, LINE_USER);
	line_access(&l, 0, T0, true);
	/* The first read after a write keeps the line busy, later ones wait for it
	 * but do not lengthen it. */
	line_access(&l, 1, T0 + MS, false);
	busy = T0 + MS + spacing(rig.machine.c2c_ps[1]);
	for (u32 c = 2; c < 16; c++)
		assert_int_equal(line_access(&l, c, T0 + MS + c, false),
				 busy - (T0 + MS + c) + rig.machine.c2c_ps[1]);
	/* A write does. */
	assert_int_equal(line_access(&l, 0, T0 + MS + 50, true),
			 busy - (T0 + MS + 50) + rig.machine.c2c_ps[1]);
	busy += spacing(rig.machine.c2c_ps[1]);
	assert_int_equal(line_access(&l, 1, T0 + MS + 60, false),
			 busy - (T0 + MS + 60) + rig.machine.c2c_ps[1]);
}

/* ---- the second model ---------------------------------------------------- */

#define MODEL_CPUS 192
#define MODEL_LINES 5

struct model {
	u32 holder[MODEL_CPUS], nr;
	u64 busy;
	bool read;
};

static u32 model_distance(u32 a, u32 b)
{
	const struct topo_cpu *x = &rig.topo.cpu[a], *y = &rig.topo.cpu[b];

	if (x->pkg != y->pkg)
		return DIST_REMOTE;
	if (x->llc != y->llc)
		return DIST_PKG;
	return x->core != y->core ? DIST_LLC : DIST_SMT;
}

static bool model_has(const struct model *m, u32 cpu)
{
	for (u32 i = 0; i < m->nr; i++)
		if (m->holder[i] == cpu)
			return true;
	return false;
}

static u64 model_access(struct model *m, struct line_stats *st, u32 cpu, u64 at, bool write)
{
	bool has = model_has(m, cpu), hit = has && (!write || m->nr == 1);
	u64 cost = write ? rig.machine.lock_rmw_ps : HIT_PS;

	if (!hit) {
		u32 best = DIST_SELF;
		u64 c, wait = m->busy > at ? m->busy - at : 0;

		for (u32 i = 0; i < m->nr; i++) {
			u32 d = m->holder[i] == cpu ? 0 : model_distance(cpu, m->holder[i]);

			if (d && (!best || (write ? d > best : d < best)))
				best = d;
		}
		c = rig.machine.c2c_ps[best ? best - 1 : 3];
		if (write || !rig.cfg.reads_shared || !m->read)
			m->busy = at + wait + spacing(c);
		st->misses[best]++;
		st->wait_ps += wait;
		cost = wait + c;
	}
	st->hits += hit;
	st->cost_ps += cost;
	*(write ? &st->writes : &st->reads) += 1;
	m->read = !write;
	if (write)
		m->nr = 0;
	if (write || !has)
		m->holder[m->nr++] = cpu;
	return cost;
}

static void compare(u32 writes_pct, u64 seed)
{
	static const u8 kind[MODEL_LINES] = { LINE_USER, LINE_WAITQ, LINE_USER, LINE_TASK,
					      LINE_WAITQ };
	struct line_stats st[LINE_NR_KINDS];
	struct model m[MODEL_LINES];
	struct env_line l[MODEL_LINES];
	u64 at = T0;
	struct rng r;

	memset(m, 0, sizeof(m));
	memset(st, 0, sizeof(st));
	rig_reset();
	for (u32 i = 0; i < MODEL_LINES; i++)
		env_line_init(&l[i], kind[i]);
	rng_init(&r, seed, 0);
	for (u32 n = 0; n < 20000; n++) {
		u32 i = (u32)rng_below(&r, MODEL_LINES), cpu = (u32)rng_below(&r, rig.topo.nr_cpus);
		bool write = rng_below(&r, 100) < writes_pct;

		at += rng_below(&r, n % 3 ? 20000 : 200000);
		assert_int_equal(line_access(&l[i], cpu, at, write),
				 model_access(&m[i], &st[kind[i]], cpu, at, write));
	}
	assert_memory_equal(st, engine.line_stats, sizeof(st));
	assert_true(st[LINE_USER].hits && st[LINE_USER].wait_ps);
}

static void test_against_the_second_model(void **state)
{
	(void)state;
	for (u32 shared = 0; shared < 2; shared++)
		for (u32 writes = 3; writes < 100; writes += 24) {
			rig_init(2, 2, 2, 2);
			rig.cfg.reads_shared = shared;
			compare(writes, writes);
			rig_init(2, 3, 16, 2); /* masks of three words */
			rig.cfg.reads_shared = shared;
			compare(writes, 100 + writes);
			rig_init(1, 1, 5, 1);
			rig.cfg.reads_shared = shared;
			compare(writes, 200 + writes);
		}
}

/* ---- on the clock -------------------------------------------------------- */

static struct env_line line;

static void make_line(void)
{
	env_line_init(&line, LINE_USER);
}

/* CPU 2 asks second by program order of the executor, first in time. */
static void two_readers(u32 cpu)
{
	if (cpu == 0) {
		env_line_write(&line);
		note(0, 0);
	} else if (cpu == 1) {
		run_until(500 * US);
		env_line_read(&line);
		note(1, 0);
	} else {
		run_until(500 * US - 1);
		env_line_read(&line);
		note(2, 0);
	}
}

static void test_access_is_a_sync_point(void **state)
{
	u64 c, memory;

	(void)state;
	rig_init(1, 1, 3, 1);
	raw_run(make_line, two_readers);
	assert_true(rig_ended_well());
	c = rig.machine.c2c_ps[1];
	memory = rig.machine.c2c_ps[3];
	assert_int_equal(noted(0, 0)->at_ps, memory);
	assert_int_equal(noted(2, 0)->at_ps, 500 * US - 1 + c);
	assert_int_equal(noted(1, 0)->at_ps, 500 * US - 1 + spacing(c) + c);
}

static void uncharged_access(u32 cpu)
{
	(void)cpu;
	env_uncharged_begin();
	env_line_read(&line);
	env_line_write(&line);
	env_uncharged_end();
	note(0, 0);
}

static void test_uncharged_access_leaves_no_mark(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	raw_run(make_line, uncharged_access);
	assert_true(rig_ended_well());
	assert_int_equal(noted(0, 0)->at_ps, 0);
	assert_int_equal(engine.line_stats[LINE_USER].reads, 0);
	assert_int_equal(engine.line_stats[LINE_USER].writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits),
		cmocka_unit_test(test_read_miss_goes_to_the_nearest),
		cmocka_unit_test(test_write_miss_goes_to_the_farthest),
		cmocka_unit_test(test_no_copy_anywhere),
		cmocka_unit_test(test_memory_is_never_free),
		cmocka_unit_test(test_memory_of_dropped_lines),
		cmocka_unit_test(test_misses_queue),
		cmocka_unit_test(test_shared_reads_do_not_queue),
		cmocka_unit_test(test_against_the_second_model),
		cmocka_unit_test(test_access_is_a_sync_point),
		cmocka_unit_test(test_uncharged_access_leaves_no_mark),
	};

	return cmocka_run_group_tests_name("engine_line", tests, NULL, NULL);
}
