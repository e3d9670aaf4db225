/* SPDX-License-Identifier: MIT */
/* Tests inside the kernel, on its own tasks. */
#include "selftest.h"

#include "channel.h"
#include "workloads/ctx.h"

static const struct metric_info time_metric[] = {
	{ "time_s", 9, METRIC_LOWER, "virtual time of the test" },
};

/* ---- what must pass ----------------------------------------------------------- */

#define CONTENDERS 6
#define ROUNDS 50

static struct {
	struct wl_ctx *ctx;
	struct mutex mutex;
	struct semaphore sem;
	struct gate gate;
	struct channel channel;
	u32 inside, entries, order_errors;
	u64 early_ns;
} st;

static void contender(void *arg)
{
	(void)arg;
	gate_wait(&st.gate);
	for (u32 i = 0; i < ROUNDS; i++) {
		mutex_lock(&st.mutex);
		if (st.inside++)
			st.order_errors++;
		task_burn(2000);
		st.inside--;
		st.entries++;
		mutex_unlock(&st.mutex);
		task_burn(1000);
	}
}

static int mutex_run(struct wl_ctx *ctx)
{
	struct task_attr attr = { .name = "contender" };

	mutex_init(&st.mutex, "test mutex", 0);
	gate_init(&st.gate, "test gate", 0);
	st.inside = st.entries = st.order_errors = 0;
	for (u32 i = 0; i < CONTENDERS; i++)
		task_fork(&attr, contender, NULL);
	task_sleep_ns(1000000);
	gate_open(&st.gate);
	task_wait_children();
	wl_check(ctx, st.entries == CONTENDERS * ROUNDS, "%u entries of %u", st.entries,
		 CONTENDERS * ROUNDS);
	wl_check(ctx, !st.order_errors, "%u times two tasks inside", st.order_errors);
	return (int)ctx->checks_failed;
}

static void sleeper(void *arg)
{
	u64 ns = (u64)(uintptr_t)arg, from_ns = env_now();

	task_sleep_ns(ns);
	if (env_now() - from_ns < ns)
		st.early_ns += ns - (env_now() - from_ns);
	sem_up(&st.sem);
}

static int timer_run(struct wl_ctx *ctx)
{
	struct task_attr attr = { .name = "sleeper" };
	u64 from_ns = env_now();

	sem_init(&st.sem, "test semaphore", 0, 0);
	st.early_ns = 0;
	for (u32 i = 0; i < CONTENDERS; i++)
		task_fork(&attr, sleeper, (void *)(uintptr_t)((i + 1) * 700000));
	for (u32 i = 0; i < CONTENDERS; i++)
		sem_down(&st.sem);
	wl_check(ctx, env_now() - from_ns >= CONTENDERS * 700000ull, "woke before the last timer");
	task_wait_children();
	wl_check(ctx, !st.early_ns, "timers fired %llu ns early", (unsigned long long)st.early_ns);
	return (int)ctx->checks_failed;
}

/* More messages than fit, so that both sides block and wake each other. */
#define MESSAGES 3000

static void writer(void *arg)
{
	(void)arg;
	for (u32 i = 0; i < MESSAGES; i++)
		channel_write(&st.channel, i, 100);
}

static void channel_test(struct wl_ctx *ctx, enum channel_kind kind)
{
	struct task_attr attr = { .name = "writer" };
	u32 wrong = 0;
	bool full;

	channel_init(&st.channel, kind, 100, "test channel", kind, ctx->arena);
	task_fork(&attr, writer, NULL);
	task_sleep_ns(20000000);
	env_lock(&st.channel.lock);
	full = st.channel.used == st.channel.capacity;
	env_unlock(&st.channel.lock);
	wl_check(ctx, full, "the writer left room");
	for (u32 i = 0; i < MESSAGES; i++)
		if (channel_read(&st.channel, 100) != i)
			wrong++;
	task_wait_children();
	wl_check(ctx, !wrong, "%u of %u messages wrong", wrong, MESSAGES);
}

static int channel_run(struct wl_ctx *ctx)
{
	channel_test(ctx, CHANNEL_PIPE);
	channel_test(ctx, CHANNEL_SOCKET);
	return (int)ctx->checks_failed;
}

/* Marked as dead it may still be preempted: its struct is free only after its
 * last switch. */
static void dier(void *arg)
{
	(void)arg;
	sched_set_state(the_sched, TASK_DEAD);
	task_burn(30000000);
	sched_set_state(the_sched, TASK_RUNNING);
	sem_up(&st.sem);
}

/* Live: the last one tells its parent before it lets go of its CPU. */
static void check_all_gone(struct wl_ctx *ctx, u32 before)
{
	for (u32 i = 0; i < 1000 && task_count() != before; i++)
		task_sleep_ns(1000000);
	wl_check(ctx, task_count() == before, "%u tasks are left of %u", task_count(), before);
}

static int dying_run(struct wl_ctx *ctx)
{
	struct cpumask *on = arena_alloc(ctx->arena, sizeof(*on));
	struct task_attr attr = { .name = "dier", .allowed = on };
	u32 before = task_count();

	cpumask_set(on, 0);
	sem_init(&st.sem, "test semaphore", 0, 0);
	for (u32 i = 0; i < CONTENDERS; i++)
		task_fork(&attr, dier, NULL);
	for (u32 i = 0; i < CONTENDERS; i++)
		sem_down(&st.sem);
	task_wait_children();
	check_all_gone(ctx, before);
	return (int)ctx->checks_failed;
}

/* Forks on all CPUs at once. */
#define BROOD 40

static void offspring(void *arg)
{
	u32 *count = arg;

	task_burn(1000);
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
	task_sleep_ns(2000000);
}

static void forker(void *arg)
{
	struct task_attr attr = { .name = "offspring" };

	gate_wait(&st.gate);
	for (u32 i = 0; i < BROOD; i++)
		task_fork(&attr, offspring, arg);
}

static int forks_run(struct wl_ctx *ctx)
{
	struct task_attr attr = { .name = "forker" };
	u32 *count = arena_alloc(ctx->arena, CONTENDERS * sizeof(*count));
	u32 before = task_count();

	gate_init(&st.gate, "test gate", 0);
	for (u32 i = 0; i < CONTENDERS; i++)
		task_fork(&attr, forker, &count[i]);
	task_sleep_ns(1000000);
	gate_open(&st.gate);
	task_wait_children();
	for (u32 i = 0; i < CONTENDERS; i++)
		wl_check(ctx, count[i] == BROOD, "%u of %u children of forker %u ran", count[i],
			 BROOD, i);
	check_all_gone(ctx, before);
	return (int)ctx->checks_failed;
}

/* Tasks that are woken only to exit, while their structs are wanted again: a
 * waker may not have let go of one yet. */
#define LIVES 1500

static void mayfly(void *arg)
{
	(void)arg;
	task_sleep_ns(1);
}

static int churn_run(struct wl_ctx *ctx)
{
	struct task_attr attr = { .name = "mayfly" };
	u32 before = task_count();

	for (u32 i = 0; i < LIVES; i++) {
		task_fork(&attr, mayfly, NULL);
		if (i % (2 * CONTENDERS) == 0)
			task_wait_children();
	}
	task_wait_children();
	check_all_gone(ctx, before);
	return (int)ctx->checks_failed;
}

/* ---- what must fail ------------------------------------------------------------ */

static int panic_run(struct wl_ctx *ctx)
{
	struct env_lock held;

	env_lock_init(&held, LINE_USER, "test lock", 7);
	env_lock(&held);
	panic("asked for by selftest=panic, %u CPUs", ctx->topo->nr_cpus);
	return 0;
}

/* Two CPUs, neither of them 0 if there are three, take two locks crosswise. */
static struct env_lock cycle_lock[2];

static void cycle_task(void *arg)
{
	u32 first = (u32)(uintptr_t)arg;

	for (;;) {
		env_lock(&cycle_lock[first]);
		for (u32 i = 0; i < 20; i++)
			env_line_write(&st.ctx->stop_line); /* time passes, locked */
		env_lock(&cycle_lock[!first]);
		env_unlock(&cycle_lock[!first]);
		env_unlock(&cycle_lock[first]);
	}
}

static int lockcycle_run(struct wl_ctx *ctx)
{
	u32 nr = ctx->topo->nr_cpus;

	wl_check(ctx, nr >= 2, "lockcycle needs two CPUs");
	if (nr < 2)
		return 1;
	st.ctx = ctx;
	for (u32 i = 0; i < 2; i++)
		env_lock_init(&cycle_lock[i], LINE_USER, "cycle", i);
	for (u32 i = 0; i < 2; i++) {
		struct cpumask *on = arena_alloc(ctx->arena, sizeof(*on));
		struct task_attr attr = { .name = "locker", .allowed = on };

		cpumask_set(on, nr >= 3 ? i + 1 : i);
		task_fork(&attr, cycle_task, (void *)(uintptr_t)i);
	}
	task_wait_children();
	return 0;
}

static int lostwakeup_run(struct wl_ctx *ctx)
{
	(void)ctx;
	sem_init(&st.sem, "never upped", 0, 0);
	sem_down(&st.sem);
	return 0;
}

static int timeout_run(struct wl_ctx *ctx)
{
	while (!ctx->stop)
		task_burn(1000000);
	return 0;
}

static int nullread_run(struct wl_ctx *ctx)
{
	volatile u32 *nowhere = (volatile u32 *)(ctx->checks_failed * sizeof(u32) + 8);

	return (int)*nowhere;
}

/* Uses up a task's stack, to meet the guard page below it. */
static u32 __attribute__((noinline)) deeper(u32 n)
{
	volatile char frame[1024];

	frame[n % sizeof(frame)] = 1;
	if (n == ~0u)
		return 0;
	return deeper(n + 1) + (u32)frame[0];
}

static int overflow_run(struct wl_ctx *ctx)
{
	return (int)deeper(ctx->checks_failed);
}

static int writetext_run(struct wl_ctx *ctx)
{
	*(volatile u8 *)(uintptr_t)writetext_run = 0;
	return (int)ctx->checks_failed;
}

static int execdata_run(struct wl_ctx *ctx)
{
	u8 *code = arena_alloc(ctx->arena, 64);

	code[0] = 0xc3; /* RET */
	((void (*)(void))(uintptr_t)code)();
	return 0;
}

#define TEST(name_, breaks_, help_)                                                            \
	{ .workload = { .name = #name_, .help = help_, .metrics = time_metric, .nr_metrics = 1, \
			.run = name_##_run },                                                  \
	  .breaks = breaks_ },

#define TESTS                                                                     \
	TEST(mutex, false, "a contended mutex excludes, and loses nobody")        \
	TEST(timer, false, "timers fire, never early")                            \
	TEST(channel, false, "full and empty channels block and wake")            \
	TEST(dying, false, "a dying task outlives its preemption")                \
	TEST(forks, false, "forks on all CPUs at once")                           \
	TEST(churn, false, "tasks that die when woken, their memory used again")  \
	TEST(panic, true, "panics with a lock held: exit status 3")               \
	TEST(lockcycle, true, "two CPUs lock crosswise: the run fails, status 1") \
	TEST(lostwakeup, true, "sleeps for ever: the run fails, status 1")        \
	TEST(timeout, true, "works for ever: vlimit_s ends it, status 1")         \
	TEST(nullread, true, "reads through a null pointer: exit status 3")       \
	TEST(overflow, true, "uses up its stack: exit status 3")                  \
	TEST(writetext, true, "writes to code: exit status 3")                    \
	TEST(execdata, true, "executes data: exit status 3")

const struct selftest selftest_table[] = { TESTS };
const u32 selftest_count = ARRAY_SIZE(selftest_table);

#undef TEST
#define TEST(name_, breaks_, help_) #name_,
const char *const selftest_names[] = { TESTS NULL };
