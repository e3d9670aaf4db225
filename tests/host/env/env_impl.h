/* SPDX-License-Identifier: MIT */
/*
 * The door of sched/env.h in unit tests: one thread plays all CPUs. Clocks stand
 * still unless the test moves them, locks only check that they are used rightly,
 * kicks and calls are kept until the test delivers them.
 */
#ifndef ENV_IMPL_H
#define ENV_IMPL_H

#include <string.h>
#include "../../../kernel/lib/types.h"
#include "../../../kernel/panic.h"

#define TEST_CPUS 128
#define TEST_NOBODY UINT32_MAX

struct env_lock {
	enum env_line_kind kind;
	const char *name;
	u32 id;
	u32 owner;             /* a CPU, or TEST_NOBODY */
};

struct env_line {
	enum env_line_kind kind;
	u64 reads, writes;
};

struct test_env {
	u32 cpu;                       /* which one acts */
	u64 now[TEST_CPUS];            /* ns */
	u64 jiffies;
	u64 step_ns;                   /* every path of kind SCAN_STEP takes this long */
	u32 irq_depth[TEST_CPUS];
	u32 rq_locks[TEST_CPUS];       /* held */
	u32 last_rq[TEST_CPUS];        /* the highest of them */
	u32 task_locks[TEST_CPUS];
	u32 removed_locks[TEST_CPUS];
	bool kicked[TEST_CPUS];
	bool called[TEST_CPUS][ENV_NR_CALLS];
	u64 kicks, calls;
	bool polls[TEST_CPUS];         /* needs no IPI: a kick or call is seen all the same */
	bool preempted[TEST_CPUS];
	u64 exit_latency_ns[TEST_CPUS];
	enum env_path path[TEST_CPUS][32];
	u32 path_depth[TEST_CPUS];
	u64 paths[PATH_NR], charges[ENV_NR_SURCHARGES];
	u64 events[EV_NR], last[EV_NR][4];
	u32 uncharged;
	/* Called at sync points and in env_relax(); may play another CPU. */
	void (*on_sync)(enum env_line_kind kind);
	void (*on_relax)(void);
};

extern struct test_env test_env;

static inline u64 env_now(void)
{
	return test_env.now[test_env.cpu];
}

static inline u32 env_this_cpu(void)
{
	return test_env.cpu;
}

static inline void test_sync(enum env_line_kind kind)
{
	void (*hook)(enum env_line_kind) = test_env.on_sync;

	panic_unless(!test_env.uncharged, "sync point in uncharged code");
	if (!hook)
		return;
	test_env.on_sync = NULL;
	hook(kind);
	if (!test_env.on_sync)
		test_env.on_sync = hook;
}

static inline u64 env_jiffies(void)
{
	test_sync(LINE_JIFFIES);
	return test_env.jiffies;
}

static inline void env_lock_init(struct env_lock *l, enum env_line_kind kind, const char *name,
				 u32 id)
{
	*l = (struct env_lock){ .kind = kind, .name = name, .id = id, .owner = TEST_NOBODY };
}

/* Lock order: a task's, then runqueues by number; a queue's removed load, and
 * nothing inside that. */
static inline void test_acquire(struct env_lock *l)
{
	u32 cpu = test_env.cpu;

	panic_unless(l->owner == TEST_NOBODY, "%s %u: taken by %u, held by %u", l->name, l->id,
		     cpu, l->owner);
	panic_unless(!test_env.removed_locks[cpu], "%s %u: taken inside a lock of removed load",
		     l->name, l->id);
	if (l->kind == LINE_REMOVED) {
		panic_unless(test_env.rq_locks[cpu] || test_env.task_locks[cpu],
			     "removed load of CPU %u: nobody owns what it takes", l->id);
		test_env.removed_locks[cpu]++;
	} else if (l->kind == LINE_RQ_LOCK) {
		panic_unless(!test_env.rq_locks[cpu] || test_env.last_rq[cpu] < l->id,
			     "rq %u taken after rq %u", l->id, test_env.last_rq[cpu]);
		test_env.rq_locks[cpu]++;
		test_env.last_rq[cpu] = l->id;
	} else {
		panic_unless(!test_env.rq_locks[cpu] && !test_env.task_locks[cpu],
			     "lock of task %u taken inside another", l->id);
		test_env.task_locks[cpu]++;
	}
	l->owner = cpu;
	test_env.irq_depth[cpu]++;
}

static inline void env_lock(struct env_lock *l)
{
	test_sync(l->kind);
	test_acquire(l);
}

static inline bool env_trylock(struct env_lock *l)
{
	test_sync(l->kind);
	if (l->owner != TEST_NOBODY)
		return false;
	test_acquire(l);
	return true;
}

static inline void env_unlock(struct env_lock *l)
{
	u32 cpu = test_env.cpu;

	panic_unless(l->owner == cpu, "%s %u: released by %u, held by %u", l->name, l->id, cpu,
		     l->owner);
	l->owner = TEST_NOBODY;
	test_env.irq_depth[cpu]--;
	if (l->kind == LINE_REMOVED)
		test_env.removed_locks[cpu]--;
	else if (l->kind == LINE_RQ_LOCK)
		test_env.rq_locks[cpu]--;
	else
		test_env.task_locks[cpu]--;
	if (test_env.rq_locks[cpu] == 1 && test_env.last_rq[cpu] == l->id)
		test_env.last_rq[cpu] = 0; /* only the lower of a pair is left */
}

static inline bool env_held(const struct env_lock *l)
{
	return l->owner == test_env.cpu;
}

static inline void env_irq_off(void)
{
	test_env.irq_depth[test_env.cpu]++;
}

static inline void env_irq_on(void)
{
	panic_unless(test_env.irq_depth[test_env.cpu], "interrupts turned on twice");
	test_env.irq_depth[test_env.cpu]--;
}

static inline bool env_kick(u32 cpu)
{
	panic_unless(cpu != test_env.cpu, "CPU %u kicks itself", cpu);
	test_sync(LINE_RQ_STATE);
	test_env.kicks++;
	test_env.kicked[cpu] = true;
	return !test_env.polls[cpu];
}

static inline bool env_kick_pending(u32 cpu)
{
	(void)cpu; /* kicks wait until the test delivers them */
	return true;
}

static inline bool env_call(u32 cpu, enum env_call what)
{
	test_sync(LINE_WAKE_LIST);
	test_env.calls++;
	test_env.called[cpu][what] = true;
	return !test_env.polls[cpu];
}

static inline void env_relax(void)
{
	panic_unless(test_env.on_relax, "CPU %u spins for ever", test_env.cpu);
	test_env.on_relax();
}

static inline void env_line_init(struct env_line *line, enum env_line_kind kind)
{
	*line = (struct env_line){ .kind = kind };
}

static inline void env_line_read(struct env_line *line)
{
	test_sync(line->kind);
	line->reads++;
}

static inline void env_line_give(struct env_line *line, u32 cpu)
{
	(void)line;
	(void)cpu; /* lines cost nothing here */
}

static inline void env_line_write(struct env_line *line)
{
	test_sync(line->kind);
	line->writes++;
}

static inline void env_path_begin(enum env_path p)
{
	u32 cpu = test_env.cpu, depth = test_env.path_depth[cpu]++;

	panic_unless(depth < ARRAY_SIZE(test_env.path[cpu]), "paths nest too deep");
	panic_unless(test_env.irq_depth[cpu], "path %d with interrupts on", p);
	test_env.path[cpu][depth] = p;
	test_env.paths[p]++;
	if (p == PATH_SCAN_STEP)
		test_env.now[cpu] += test_env.step_ns;
}

static inline void env_path_end(enum env_path p)
{
	u32 cpu = test_env.cpu;

	panic_unless(test_env.path_depth[cpu], "path %d ends that did not begin", p);
	panic_unless(test_env.path[cpu][--test_env.path_depth[cpu]] == p,
		     "path %d ends that did not begin last", p);
}

static inline void env_charge(enum env_surcharge what)
{
	test_env.charges[what]++;
}

static inline void env_uncharged_begin(void)
{
	test_env.uncharged++;
}

static inline void env_uncharged_end(void)
{
	test_env.uncharged--;
}

static inline bool env_cpu_preempted(u32 cpu)
{
	return test_env.preempted[cpu];
}

static inline u64 env_idle_exit_latency_ns(u32 cpu)
{
	return test_env.exit_latency_ns[cpu];
}

static inline void env_trace(enum env_event e, u64 a, u64 b, u64 c, u64 d)
{
	u64 args[4] = { a, b, c, d };

	test_env.events[e]++;
	memcpy(test_env.last[e], args, sizeof(args));
}

#endif
