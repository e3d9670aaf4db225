/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* CFS's decisions: placement, preemption, picks, buddies, yield.
 * spec/cfs-core.md sections 4, 5, 7, 13; spec/idle-search.md section 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "env/machine.h"

#define MS 1000000ull

static struct machine m;
static struct cfs_rq *root;

static void begin(u32 cpus, enum sched_profile profile, const char *switches)
{
	machine_init(&m, 1, cpus, 1, profile, switches);
	root = &cpu_rq(m.s, 0)->cfs;
}

/* The queue's floor, which check.c must not compare with an earlier one. */
static void set_floor(struct cfs_rq *q, u64 v)
{
	q->min_vruntime = q->checked_min_vruntime = v;
}

/* A task that runs on CPU 0, alone, with the queue's floor and its key at v. */
static struct sched_task *runs_at(u64 v)
{
	struct sched_task *t = machine_start(&m, 0);

	assert_ptr_equal(sched_current(m.s, 0), t);
	set_floor(root, v);
	t->se.vruntime = v;
	return t;
}

/* A task that ran on CPU 0 and sleeps there with the given key. */
static struct sched_task *sleeps_at(u64 v)
{
	struct sched_task *t = machine_start(&m, 0);
	struct cpumask only = { { 1 } };

	sched_set_affinity(m.s, t, &only);
	while (sched_current(m.s, 0) != t)
		machine_sleep(&m);
	machine_advance(&m, 1000);
	machine_sleep(&m);
	t->se.vruntime = v;
	return t;
}

/* ---- placement ------------------------------------------------------------- */

static u64 wake_places(u32 cpus, const char *switches, enum sched_class class, u64 slept_at)
{
	struct sched_task *sleeper, *curr;
	u64 v;

	begin(cpus, PROFILE_V6_4, switches);
	sleeper = sleeps_at(0);
	if (class != SCHED_CLASS_NORMAL)
		sched_set_class(m.s, sleeper, class);
	curr = runs_at(100 * MS);
	sleeper->se.vruntime = slept_at;
	assert_true(sched_wake(m.s, sleeper, 0));
	assert_true(curr->se.on_rq);
	v = sleeper->se.vruntime;
	machine_free(&m);
	return v;
}

static void test_wakeup_placement(void **state)
{
	(void)state;
	assert_int_equal(wake_places(1, "", SCHED_CLASS_NORMAL, 20 * MS), 97 * MS);
	assert_int_equal(wake_places(1, "", SCHED_CLASS_NORMAL, 99 * MS), 99 * MS);
	assert_int_equal(wake_places(8, "NO_TTWU_QUEUE", SCHED_CLASS_NORMAL, 20 * MS), 88 * MS);
	assert_int_equal(wake_places(8, "NO_TTWU_QUEUE+NO_GENTLE_FAIR_SLEEPERS", SCHED_CLASS_NORMAL,
				     50 * MS), 76 * MS);
	/* An idle task's credit is the (scaled) least slice, halved. */
	assert_int_equal(wake_places(8, "NO_TTWU_QUEUE", SCHED_CLASS_IDLE, 20 * MS),
			 100 * MS - 1500000);
	/* Above the floor nothing is taken away. */
	assert_int_equal(wake_places(1, "", SCHED_CLASS_NORMAL, 120 * MS), 120 * MS);
}

/* A key from so long ago that it seems to be ahead. v5.2 believes it. */
static void test_long_sleeper(void **state)
{
	static const u64 ages = (1ull << 63) / 1024;

	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		for (u32 more = 0; more < 2; more++) {
			struct sched_task *sleeper;
			u64 floor = 100 * MS, stale = floor + (1ull << 62), want = stale;

			begin(1, profile, "");
			sleeper = sleeps_at(0);
			runs_at(floor);
			sleeper->se.vruntime = stale;
			test_env.now[0] = sleeper->se.exec_start + ages + more;
			cpu_rq(m.s, 0)->check.nobody_ns +=
				test_env.now[0] - cpu_rq(m.s, 0)->curr->se.exec_start;
			cpu_rq(m.s, 0)->curr->se.exec_start = test_env.now[0];
			sched_wake(m.s, sleeper, 0);
			if (profile == PROFILE_V6_4 && more)
				want = floor - 3 * MS;
			assert_int_equal(sleeper->se.vruntime, want);
			machine_free(&m);
		}
	}
}

static void test_fork_placement(void **state)
{
	struct sched_task *parent, *child;

	(void)state;
	begin(1, PROFILE_V6_4, "");
	parent = runs_at(101 * MS);
	child = machine_fork(&m);
	assert_int_equal(child->se.vruntime, 2999998); /* relative */
	sched_wake_new(m.s, child);
	assert_int_equal(child->se.vruntime, 103999998);
	assert_int_equal(parent->se.vruntime, 101 * MS);
	machine_free(&m);

	begin(1, PROFILE_V6_4, "NO_START_DEBIT");
	runs_at(101 * MS);
	assert_int_equal(machine_fork(&m)->se.vruntime, 0);
	machine_free(&m);

	/* The child gets the earlier place, the parent the later, and steps back. */
	begin(1, PROFILE_V6_4, "CHILD_RUNS_FIRST");
	parent = runs_at(101 * MS);
	child = machine_fork(&m);
	assert_int_equal(child->se.vruntime, 0);
	assert_int_equal(parent->se.vruntime, 103999998);
	assert_true(sched_need_resched(m.s, 0));
	sched_wake_new(m.s, child);
	machine_interrupts(&m, 0);
	assert_ptr_equal(sched_current(m.s, 0), child);
	machine_free(&m);
}

/* Awake: the offset to the floor moves along. Asleep: the sleeper's credit, too. */
static void test_migration(void **state)
{
	struct cpumask only_1 = { { 2 } };
	struct sched_task *p, *curr;

	(void)state;
	begin(2, PROFILE_V6_4, "NO_TTWU_QUEUE");
	curr = machine_start(&m, 0);
	p = machine_start(&m, 0);
	curr->se.vruntime = p->se.vruntime = 503 * MS;
	set_floor(root, 500 * MS);
	set_floor(&cpu_rq(m.s, 1)->cfs, 90 * MS);
	sched_set_affinity(m.s, p, &only_1);
	assert_int_equal(p->cpu, 1);
	assert_int_equal(p->se.vruntime, 93 * MS);
	machine_settle(&m);
	machine_free(&m);

	begin(2, PROFILE_V6_4, "NO_TTWU_QUEUE");
	p = sleeps_at(503 * MS);
	set_floor(root, 500 * MS);
	set_floor(&cpu_rq(m.s, 1)->cfs, 90 * MS);
	sched_set_affinity(m.s, p, &only_1);
	sched_wake(m.s, p, 0);
	assert_int_equal(p->cpu, 1);
	assert_int_equal(p->se.vruntime, 93 * MS);
	assert_int_equal(p->se.exec_start, 0); /* a stale clock must not be compared */
	machine_settle(&m);
	machine_free(&m);
}

/* ---- min_vruntime ------------------------------------------------------------- */

static void test_min_vruntime(void **state)
{
	struct sched_task *a, *b;
	u64 start;

	(void)state;
	begin(1, PROFILE_V6_4, "NO_START_DEBIT");
	start = root->min_vruntime;
	assert_int_equal(start, 0ull - (1ull << 20));
	a = machine_fork(&m);
	b = machine_fork(&m);
	a->se.vruntime = b->se.vruntime = 0; /* relative */
	sched_wake_new(m.s, a);
	sched_wake_new(m.s, b);
	machine_interrupts(&m, 0);
	assert_ptr_equal(sched_current(m.s, 0), a);
	machine_advance(&m, 500);
	machine_tick(&m, 0);
	assert_int_equal(a->se.vruntime, start + 500);
	assert_int_equal(root->min_vruntime, start); /* b is there */
	/* a leaves: b alone decides; b moves past: the floor follows across 2^64. */
	machine_sleep(&m);
	assert_ptr_equal(sched_current(m.s, 0), b);
	machine_advance(&m, 3 * MS);
	machine_tick(&m, 0);
	assert_int_equal(root->min_vruntime, start + 3 * MS);
	assert_true(root->min_vruntime < start);
	machine_free(&m);
}

/* ---- preemption ------------------------------------------------------------------ */

/* Does p, woken at v with this nice value, preempt a curr that is at 105 ms? */
static bool preempts(u32 cpus, u64 curr_v, u64 v, s32 nice, enum sched_class curr_class,
		     enum sched_class class, const char *switches)
{
	struct sched_task *p, *curr;
	bool asked;

	begin(cpus, PROFILE_V6_4, switches);
	p = sleeps_at(0);
	sched_set_nice(m.s, p, nice);
	sched_set_class(m.s, p, class);
	curr = runs_at(100 * MS);
	sched_set_class(m.s, curr, curr_class);
	set_floor(root, v);
	curr->se.vruntime = curr_v;
	p->se.vruntime = v;
	sched_wake(m.s, p, 0);
	assert_int_equal(p->se.vruntime, v);
	asked = sched_need_resched(m.s, 0);
	assert_int_equal(machine_count(&m, wakeup_preemptions), asked);
	machine_free(&m);
	return asked;
}

static bool normal_preempts(u32 cpus, u64 lead, s32 nice)
{
	return preempts(cpus, 100 * MS + lead, 100 * MS, nice, SCHED_CLASS_NORMAL,
			SCHED_CLASS_NORMAL, "NO_TTWU_QUEUE");
}

static void test_wakeup_preemption(void **state)
{
	(void)state;
	assert_true(normal_preempts(1, 8000000, 0)); /* 105 ms against 97 */
	assert_false(normal_preempts(1, 8000000, 19));
	assert_false(normal_preempts(8, 4000000, 0));
	assert_true(normal_preempts(8, 4000001, 0));
	assert_false(normal_preempts(8, 1312399, -5)); /* weight 3121 */
	assert_true(normal_preempts(8, 1312400, -5));
	assert_false(normal_preempts(1, 0, 0));
}

/* LN_PREEMPT: 4 ms * (40 + latency_nice of the wakee - that of curr) / 40. */
static void test_latency_nice_preemption(void **state)
{
	static const struct { s32 p, curr; u64 gran; } table[] = {
		{ 0, 0, 4000000 },  { -20, 0, 2000000 },  { 19, 0, 5900000 },
		{ -20, 19, 100000 }, { 19, -20, 7900000 }, { 10, 10, 4000000 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++)
		for (u32 more = 0; more < 2; more++) {
			begin(8, PROFILE_V6_4, "LN_PREEMPT+NO_TTWU_QUEUE");
			struct sched_task *p = sleeps_at(0), *curr = runs_at(100 * MS);

			sched_set_latency_nice(m.s, p, table[i].p);
			sched_set_latency_nice(m.s, curr, table[i].curr);
			set_floor(root, 100 * MS);
			curr->se.vruntime = 100 * MS + table[i].gran + more;
			p->se.vruntime = 100 * MS;
			sched_wake(m.s, p, 0);
			assert_int_equal(sched_need_resched(m.s, 0), more);
			machine_free(&m);
		}
}

static void test_class_preemption(void **state)
{
	static const struct {
		enum sched_class curr, p;
		u64 lead;
		const char *switches;
		bool want;
	} table[] = {
		{ SCHED_CLASS_IDLE, SCHED_CLASS_NORMAL, 0, "", true },
		{ SCHED_CLASS_IDLE, SCHED_CLASS_BATCH, 0, "", true },
		{ SCHED_CLASS_IDLE, SCHED_CLASS_NORMAL, 0, "NO_WAKEUP_PREEMPTION", true },
		{ SCHED_CLASS_IDLE, SCHED_CLASS_IDLE, 900 * MS, "", false },
		{ SCHED_CLASS_NORMAL, SCHED_CLASS_IDLE, 900 * MS, "", false },
		{ SCHED_CLASS_NORMAL, SCHED_CLASS_BATCH, 900 * MS, "", false },
		{ SCHED_CLASS_BATCH, SCHED_CLASS_NORMAL, 900 * MS, "", true },
		{ SCHED_CLASS_NORMAL, SCHED_CLASS_NORMAL, 900 * MS, "NO_WAKEUP_PREEMPTION", false },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(preempts(1, 100 * MS + table[i].lead, 100 * MS, 0, table[i].curr,
					  table[i].p, table[i].switches), table[i].want);
}

/* An idle group's task yields to one outside of it at once (v6.4), and never
 * preempts; v5.2 knows no idle groups. */
static void test_idle_group_preemption(void **state)
{
	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		struct sched_task *outside, *inside;
		struct task_group *tg;

		begin(1, profile, "");
		outside = sleeps_at(0);
		tg = tg_create_idle(m.s, &m.s->root_tg);
		inside = runs_at(100 * MS);
		sched_move_task(m.s, inside, tg);
		machine_check(&m);
		set_floor(root, 100 * MS);
		tg->se[0]->vruntime = outside->se.vruntime = 100 * MS;
		sched_wake(m.s, outside, 0);
		assert_int_equal(sched_need_resched(m.s, 0), profile == PROFILE_V6_4);
		assert_int_equal(root->idle_h_nr_running, 1);
		machine_free(&m);
	}
}

/* ---- the tick --------------------------------------------------------------------- */

/* Does the tick end the turn of a nice-0 curr that ran ran_ns, lead_ns of virtual
 * time ahead of the only other? The slice of two is 2,999,998 on one CPU. */
static bool tick_ends(enum sched_profile profile, u64 ran_ns, s64 lead_ns, s32 nice)
{
	struct sched_task *curr, *other;
	bool asked;

	begin(1, profile, "");
	curr = runs_at(100 * MS);
	other = machine_fork(&m);
	sched_wake_new(m.s, other);
	sched_set_nice(m.s, curr, nice);
	__atomic_store_n(&cpu_rq(m.s, 0)->need_resched, false, __ATOMIC_RELAXED);
	set_floor(root, 50 * MS);
	rb_erase(&root->tree, &other->se.node);
	other->se.vruntime = 100 * MS;
	rb_insert(&root->tree, &other->se.node, cfs_policy.less);
	curr->se.prev_sum_exec_runtime = curr->se.sum_exec_runtime - ran_ns;
	curr->se.vruntime = 100 * MS + (u64)lead_ns;
	root->last = &curr->se;
	env_irq_off();
	sched_tick(m.s);
	env_irq_on();
	asked = sched_need_resched(m.s, 0);
	/* Whose slice is over must not come back as a buddy. */
	assert_true(root->last == (asked && ran_ns > 2999998 ? NULL : &curr->se));
	assert_int_equal(machine_count(&m, tick_preemptions), asked);
	machine_free(&m);
	return asked;
}

static void test_tick(void **state)
{
	(void)state;
	assert_false(tick_ends(PROFILE_V6_4, 2999998, 0, 0));
	assert_true(tick_ends(PROFILE_V6_4, 2999999, 0, 0));
	assert_true(tick_ends(PROFILE_V6_4, 2999999, -1000000, 0));
	assert_false(tick_ends(PROFILE_V6_4, 749999, 9000000, 0));
	assert_true(tick_ends(PROFILE_V6_4, 750000, 2999999, 0));
	assert_false(tick_ends(PROFILE_V6_4, 750000, 2999998, 0));
	assert_false(tick_ends(PROFILE_V6_4, 750000, -1, 0));
}

/* v6.4 caps the slice at sched_latency: 20 tasks make a period of 15 ms, of which
 * nice -20 gets nearly all. */
static void test_slice_cap(void **state)
{
	(void)state;
	for (u32 profile = 0; profile < PROFILE_NR; profile++) {
		struct sched_task *curr;

		begin(1, profile, "");
		curr = runs_at(100 * MS);
		for (u32 i = 0; i < 19; i++)
			sched_wake_new(m.s, machine_fork(&m));
		sched_set_nice(m.s, curr, -20);
		__atomic_store_n(&cpu_rq(m.s, 0)->need_resched, false, __ATOMIC_RELAXED);
		machine_advance(&m, 6 * MS + 1);
		env_irq_off();
		sched_tick(m.s);
		env_irq_on();
		assert_int_equal(sched_need_resched(m.s, 0), profile == PROFILE_V6_4);
		machine_free(&m);
	}
}

/* ---- pick, buddies, yield --------------------------------------------------------- */

#define NOBODY (-1)

/* Queue {0: v0, 1: v1, 2: v2} (ms, ascending), buddies by index: who is picked? */
static int picks(const char *switches, const u64 v[3], int next, int last, int skip, int curr)
{
	struct sched_task t[3];
	struct sched_entity *se[4] = { &t[0].se, &t[1].se, &t[2].se, NULL }, *got;
	struct cfs_rq q;

	memset(t, 0, sizeof(t));
	begin(1, PROFILE_V6_4, switches);
	memset(&q, 0, sizeof(q));
	init_cfs_rq(&q, cpu_rq(m.s, 0), &m.s->root_tg);
	for (int i = 0; i < 3; i++) {
		se[i]->load.weight = NICE_0_LOAD;
		se[i]->vruntime = v[i] * MS;
		se[i]->cfs_rq = &q;
		se[i]->on_rq = true;
		if (i != curr)
			rb_insert(&q.tree, &se[i]->node, cfs_policy.less);
	}
	q.next = next == NOBODY ? NULL : se[next];
	q.last = last == NOBODY ? NULL : se[last];
	q.skip = skip == NOBODY ? NULL : se[skip];
	got = cfs_policy.pick(&q, curr == NOBODY ? NULL : se[curr]);
	machine_free(&m);
	for (int i = 0; i < 3; i++)
		if (got == se[i])
			return i;
	return NOBODY;
}

static void test_pick(void **state)
{
	static const u64 near[3] = { 100, 101, 102 }, far[3] = { 100, 102, 104 };
	static const u64 even[3] = { 100, 100, 100 };

	(void)state;
	assert_int_equal(picks("", near, NOBODY, NOBODY, NOBODY, NOBODY), 0);
	/* curr is left only when strictly before the leftmost. */
	assert_int_equal(picks("", near, NOBODY, NOBODY, NOBODY, 0), 0);
	assert_int_equal(picks("", even, NOBODY, NOBODY, NOBODY, 2), 0);
	assert_int_equal(picks("", even, NOBODY, NOBODY, NOBODY, 0), 1);
	/* skip: the second, unless it is more than 1 ms of granularity behind. */
	assert_int_equal(picks("", near, NOBODY, NOBODY, 0, NOBODY), 1);
	assert_int_equal(picks("", far, NOBODY, NOBODY, 0, NOBODY), 0);
	assert_int_equal(picks("", near, NOBODY, NOBODY, 0, 0), 1);
	assert_int_equal(picks("", near, NOBODY, NOBODY, 0, 1), 1);
	assert_int_equal(picks("", near, NOBODY, NOBODY, 0, 2), 1);
	assert_int_equal(picks("", near, NOBODY, NOBODY, 1, NOBODY), 0);
	/* next before last, both only when near enough to the leftmost. */
	assert_int_equal(picks("", near, 1, NOBODY, NOBODY, NOBODY), 1);
	assert_int_equal(picks("", near, NOBODY, 1, NOBODY, NOBODY), 1);
	assert_int_equal(picks("", near, 2, 1, NOBODY, NOBODY), 1);
	assert_int_equal(picks("", even, 2, 1, NOBODY, NOBODY), 2);
	assert_int_equal(picks("", far, 1, 2, NOBODY, NOBODY), 0);
	assert_int_equal(picks("", even, 0, NOBODY, 0, NOBODY), 0);
}

/* With eight tasks on the queue, who was preempted by a wake-up comes next. */
static void test_last_buddy(void **state)
{
	(void)state;
	for (u32 many = 0; many < 2; many++) {
		struct sched_task *p, *curr;

		begin(1, PROFILE_V6_4, "");
		p = sleeps_at(0);
		curr = runs_at(100 * MS);
		for (u32 i = 0; i < (many ? 6 : 5); i++)
			sched_wake_new(m.s, machine_fork(&m));
		sched_wake(m.s, p, 0);
		assert_ptr_equal(root->next, sched_need_resched(m.s, 0) ? &p->se : NULL);
		assert_ptr_equal(root->last, many ? &curr->se : NULL);
		assert_true(sched_need_resched(m.s, 0));
		machine_interrupts(&m, 0);
		assert_ptr_equal(sched_current(m.s, 0), p);
		assert_null(root->next);
		machine_free(&m);
	}
}

static void test_next_buddy(void **state)
{
	struct sched_task *p;

	(void)state;
	begin(1, PROFILE_V6_4, "NEXT_BUDDY");
	p = sleeps_at(0);
	runs_at(100 * MS);
	for (u32 i = 0; i < 6; i++)
		sched_wake_new(m.s, machine_fork(&m));
	assert_null(root->next); /* forks do not count */
	p->se.vruntime = 100 * MS;
	sched_wake(m.s, p, 0);
	assert_false(sched_need_resched(m.s, 0));
	assert_ptr_equal(root->next, &p->se);
	/* A buddy that leaves is forgotten. */
	machine_switch(&m, true);
	assert_ptr_equal(sched_current(m.s, 0), p);
	assert_null(root->next);
	assert_int_equal(machine_count(&m, buddy_picks), 1);
	/* SCHED_IDLE tasks never become one. */
	machine_sleep(&m);
	sched_set_class(m.s, p, SCHED_CLASS_IDLE);
	sched_wake(m.s, p, 0);
	assert_null(root->next);
	machine_free(&m);
}

/* A sleeper prefers the rest of its group. */
static void test_group_next_buddy(void **state)
{
	struct sched_task *a, *b;
	struct task_group *tg;

	(void)state;
	begin(1, PROFILE_V6_4, "");
	tg = tg_create(m.s, &m.s->root_tg, 1024);
	a = machine_start(&m, 0);
	b = machine_fork(&m);
	sched_move_task(m.s, a, tg);
	sched_move_task(m.s, b, tg);
	sched_wake_new(m.s, b);
	sched_wake_new(m.s, machine_fork(&m));
	sched_set_state(m.s, TASK_SLEEPING);
	assert_ptr_equal(sched_current(m.s, 0), a);
	machine_switch(&m, false);
	assert_int_equal(machine_count(&m, buddy_picks), 1);
	assert_ptr_equal(sched_current(m.s, 0), b);
	machine_free(&m);
}

static void test_yield(void **state)
{
	struct sched_task *a, *b;

	(void)state;
	begin(1, PROFILE_V6_4, "");
	a = runs_at(100 * MS);
	sched_yield(m.s);
	assert_null(root->skip); /* alone */
	b = machine_fork(&m);
	sched_wake_new(m.s, b);
	rb_erase(&root->tree, &b->se.node);
	b->se.vruntime = 101 * MS;
	rb_insert(&root->tree, &b->se.node, cfs_policy.less);
	sched_yield(m.s);
	assert_ptr_equal(root->skip, &a->se);
	assert_ptr_equal(machine_switch(&m, false), b);
	/* a, skipped, is left of b but stays out until it is picked. */
	assert_int_equal(a->nvcsw, 1);
	assert_ptr_equal(machine_switch(&m, true), b);
	/* BATCH does not update its runtime first. */
	sched_set_class(m.s, b, SCHED_CLASS_BATCH);
	machine_advance(&m, 100);
	sched_yield(m.s);
	assert_int_equal(b->se.vruntime, 101 * MS);
	machine_free(&m);
}

/* The pick of the task that runs changes nothing: its turn keeps its start. */
static void test_same_task_keeps_turn(void **state)
{
	struct sched_task *a;

	(void)state;
	begin(1, PROFILE_V6_4, "");
	a = runs_at(100 * MS);
	machine_advance(&m, MS);
	assert_ptr_equal(machine_switch(&m, true), a);
	assert_int_equal(a->se.sum_exec_runtime - a->se.prev_sum_exec_runtime, MS);
	assert_int_equal(machine_count(&m, switches), 1); /* the first one, from idle */
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wakeup_placement),
		cmocka_unit_test(test_long_sleeper),
		cmocka_unit_test(test_fork_placement),
		cmocka_unit_test(test_migration),
		cmocka_unit_test(test_min_vruntime),
		cmocka_unit_test(test_wakeup_preemption),
		cmocka_unit_test(test_latency_nice_preemption),
		cmocka_unit_test(test_class_preemption),
		cmocka_unit_test(test_idle_group_preemption),
		cmocka_unit_test(test_tick),
		cmocka_unit_test(test_slice_cap),
		cmocka_unit_test(test_pick),
		cmocka_unit_test(test_last_buddy),
		cmocka_unit_test(test_next_buddy),
		cmocka_unit_test(test_group_next_buddy),
		cmocka_unit_test(test_yield),
		cmocka_unit_test(test_same_task_keeps_turn),
	};

	return cmocka_run_group_tests_name("sched_cfs", tests, NULL, NULL);
}
