/* SPDX-License-Identifier: MIT */
/*
 * Stress: tasks that move, exec, renice, wake and make one another at random, to bring
 * out races and broken laws. It models nobody's program and compares no variants.
 * What it counts must agree at the end: no wake-up, message or child may be lost.
 *
 * Workers ask servers, and wait for the answer; each has one question out, for
 * which every queue has room. So nobody blocks for good.
 */
#include "../channel.h"
#include "../lib/math64.h"
#include "../lib/string.h"
#include "ctx.h"

enum { P_N, P_BURST };
enum { M_OPS, M_MOVES };

static const struct param_info stress_params[] = {
	[P_N] = { .name = "n", .min = 1, .max = 10000, .per_machine = true, .def = "2C",
		  .help = "workers; a server for every four" },
	[P_BURST] = { .name = "burst_us", .min = 1, .max = 1000000, .def = "50",
		      .help = "longest burst of work; sleeps are up to four times as long" },
};

static const struct metric_info stress_metrics[] = {
	[M_OPS] = { "ops_per_s", 0, METRIC_HIGHER, "operations of all workers per second" },
	[M_MOVES] = { "moves_per_s", 0, METRIC_HIGHER, "migrations of workers per second" },
};

struct worker {
	struct wl_ctx *ctx;
	struct task *task;
	struct semaphore answered;
	u64 answer;           /* by the server, before it ups the semaphore */
	u64 asked, wrong, entries, ops;
	u64 forked, ended;    /* descendants; atomic */
};

struct server {
	struct task *task;
	struct channel questions;
	u64 served;
};

#define NR_GROUPS 2

static struct {
	u32 nr_workers, nr_servers;
	u64 burst_ns;
	struct worker *worker;
	struct server *server;
	struct semaphore ready, done;
	struct gate start, end;
	struct mutex mutex;
	struct task_group *group[NR_GROUPS]; /* into which tasks are moved, one below the other */
	u64 inside;           /* under the mutex */
	u64 ops, moves;     /* at the window's begin */
} st;

#define QUESTION_BYTES 1 /* a pipe holds 65,536 */
#define LAST_QUESTION (~0ull)
#define MAX_CHILDREN 4   /* not yet waited for */

static u64 pick(u64 n)
{
	return rng_below(&task_self()->rng, n);
}

static void burn_some(void)
{
	task_burn(pick(st.burst_ns) + 1);
}

/* ---- what is done to others ------------------------------------------------------ */

/* Any of the workers and servers, which live until the end. */
static struct task *somebody(void)
{
	u64 i = pick(st.nr_workers + st.nr_servers);

	return i < st.nr_workers ? st.worker[i].task : st.server[i - st.nr_workers].task;
}

/* Everywhere, one CPU, or half of them. */
static void change_affinity(const struct wl_ctx *ctx, struct task *t)
{
	u32 nr = ctx->topo->nr_cpus;
	struct cpumask m = { 0 };
	u64 kind = pick(3);

	if (kind == 0)
		cpumask_fill(&m, nr);
	cpumask_set(&m, (u32)pick(nr));
	for (u32 c = 0; kind == 2 && c < nr; c++)
		if (pick(2))
			cpumask_set(&m, c);
	task_syscall();
	sched_set_affinity(the_sched, &t->st, &m);
}

static void change_nice(struct task *t)
{
	task_syscall();
	sched_set_nice(the_sched, &t->st, (s32)pick(40) - 20);
}

static void ask(struct worker *w)
{
	u64 question = (u64)(w - st.worker) << 32 | (u32)w->asked;

	channel_write(&st.server[pick(st.nr_servers)].questions, question, QUESTION_BYTES);
	w->asked++;
	sem_down(&w->answered);
	if (w->answer != question)
		w->wrong++;
}

static void server_main(void *arg)
{
	struct server *s = arg;

	for (;;) {
		u64 question = channel_read(&s->questions, QUESTION_BYTES);
		struct worker *w = &st.worker[question >> 32];

		if (question == LAST_QUESTION)
			break;
		burn_some();
		s->served++;
		w->answer = question;
		sem_up(&w->answered);
	}
}

static void enter_mutex(struct worker *w)
{
	mutex_lock(&st.mutex);
	st.inside++;
	if (pick(2))
		burn_some();
	w->entries++;
	mutex_unlock(&st.mutex);
}

/* ---- children ---------------------------------------------------------------------- */

static void child_main(void *arg);

static void fork_child(struct worker *w)
{
	struct task_attr attr = { .name = "child" };

	__atomic_fetch_add(&w->forked, 1, __ATOMIC_RELAXED);
	task_fork(&attr, child_main, w);
}

static void child_main(void *arg)
{
	struct worker *w = arg;

	if (pick(4) == 0)
		fork_child(w); /* exits after it */
	if (pick(2))
		burn_some();
	if (pick(2))
		change_affinity(w->ctx, task_self());
	if (pick(2))
		task_sleep_ns(pick(st.burst_ns));
	change_nice(task_self());
	__atomic_fetch_add(&w->ended, 1, __ATOMIC_RELAXED);
}

/* ---- groups ------------------------------------------------------------------------- */

static void join(struct task *t, struct task_group *tg)
{
	task_syscall();
	sched_move_task(the_sched, &t->st, tg);
}

static void change_group(struct task *t)
{
	u64 i = pick(NR_GROUPS + 1);

	join(t, i < NR_GROUPS ? st.group[i] : sched_root_group(the_sched));
}

static void change_shares(void)
{
	struct task_group *tg = st.group[pick(NR_GROUPS)];

	task_syscall();
	if (tg == st.group[0] && pick(2))
		tg_set_idle(the_sched, tg, pick(2));
	else if (tg != st.group[0])
		tg_set_shares(the_sched, tg, 2 + pick(1 << 12));
}

/* A group of its own, for itself and a child, until that has ended. */
static void live_in_group(struct worker *w)
{
	struct task_group *tg = tg_create(the_sched, pick(2) ? NULL : st.group[1], 2 + pick(2048));

	join(task_self(), tg);
	fork_child(w);
	burn_some();
	if (pick(2))
		tg_set_shares(the_sched, tg, 2 + pick(2048));
	task_wait_children();
	join(task_self(), sched_root_group(the_sched));
	tg_destroy(the_sched, tg);
}

/* ---- workers ------------------------------------------------------------------------- */

static void operate(struct worker *w)
{
	u64 dice = pick(100);

	if (dice < 20)
		burn_some();
	else if (dice < 30)
		task_sleep_ns(pick(4 * st.burst_ns));
	else if (dice < 34)
		task_yield();
	else if (dice < 36)
		task_exec();
	else if (dice < 50)
		change_affinity(w->ctx, pick(2) ? somebody() : task_self());
	else if (dice < 60)
		change_nice(pick(2) ? somebody() : task_self());
	else if (dice < 80)
		ask(w);
	else if (dice < 88)
		enter_mutex(w);
	else if (dice < 90)
		live_in_group(w);
	else if (dice < 92)
		change_group(pick(2) ? somebody() : task_self());
	else if (dice < 93)
		change_shares();
	else if (dice < 97 && task_self()->children < MAX_CHILDREN)
		fork_child(w);
	else
		task_wait_children();
	counter_add(&w->ops, 1);
}

static void worker_main(void *arg)
{
	struct worker *w = arg;

	sem_up(&st.ready);
	gate_wait(&st.start);
	wl_start_delay();
	while (!wl_stopped(w->ctx))
		operate(w);
	task_wait_children();
	sem_up(&st.done);
	gate_wait(&st.end); /* others may still be at work on this task */
}

/* ---- the run --------------------------------------------------------------------------- */

static u64 ops_now(void)
{
	u64 ops = 0;

	for (u32 i = 0; i < st.nr_workers; i++)
		ops += __atomic_load_n(&st.worker[i].ops, __ATOMIC_RELAXED);
	return ops;
}

static u64 moves_now(void)
{
	u64 moves = 0;

	for (u32 i = 0; i < st.nr_workers; i++)
		moves += __atomic_load_n(&st.worker[i].task->st.migrations, __ATOMIC_RELAXED);
	return moves;
}

static void window_begins(struct wl_ctx *ctx)
{
	(void)ctx;
	st.ops = ops_now();
	st.moves = moves_now();
}

static void window_ends(struct wl_ctx *ctx)
{
	(void)ctx;
	st.ops = ops_now() - st.ops;
	st.moves = moves_now() - st.moves;
}

static void start_tasks(struct wl_ctx *ctx)
{
	struct task_attr worker = { .name = "worker" }, server = { .name = "server" };

	for (u32 i = 0; i < st.nr_servers; i++) {
		struct server *s = &st.server[i];

		channel_init(&s->questions, CHANNEL_PIPE, QUESTION_BYTES, "questions", i,
			     ctx->arena);
		s->task = task_fork(&server, server_main, s);
	}
	for (u32 i = 0; i < st.nr_workers; i++) {
		struct worker *w = &st.worker[i];

		w->ctx = ctx;
		sem_init(&w->answered, "answered", i, 0);
		w->task = task_fork(&worker, worker_main, w);
	}
	for (u32 i = 0; i < st.nr_workers; i++)
		sem_down(&st.ready);
}

static void check_counts(struct wl_ctx *ctx)
{
	u64 asked = 0, served = 0, wrong = 0, entries = 0, forked = 0, ended = 0, left = 0;

	for (u32 i = 0; i < st.nr_workers; i++) {
		struct worker *w = &st.worker[i];

		asked += w->asked;
		wrong += w->wrong;
		entries += w->entries;
		forked += w->forked;
		ended += w->ended;
		left += w->answered.count;
	}
	for (u32 i = 0; i < st.nr_servers; i++)
		served += st.server[i].served;
	wl_check(ctx, served == asked && !left, "%llu questions, %llu served, %llu answers left",
		 (unsigned long long)asked, (unsigned long long)served, (unsigned long long)left);
	wl_check(ctx, !wrong, "%llu answers to another question", (unsigned long long)wrong);
	wl_check(ctx, st.inside == entries, "%llu entries under the mutex, %llu counted there",
		 (unsigned long long)entries, (unsigned long long)st.inside);
	wl_check(ctx, forked == ended, "%llu children forked, %llu ended",
		 (unsigned long long)forked, (unsigned long long)ended);
	wl_check(ctx, ops_now() >= st.nr_workers, "%llu operations of %u workers",
		 (unsigned long long)ops_now(), st.nr_workers);
}

static int stress_run(struct wl_ctx *ctx)
{
	u64 window_ns;

	memset(&st, 0, sizeof(st));
	st.nr_workers = (u32)param_num(ctx->v, P_N);
	st.nr_servers = (st.nr_workers + 3) / 4;
	st.burst_ns = (u64)param_num(ctx->v, P_BURST) * 1000;
	st.worker = arena_alloc(ctx->arena, st.nr_workers * sizeof(*st.worker));
	st.server = arena_alloc(ctx->arena, st.nr_servers * sizeof(*st.server));
	sem_init(&st.ready, "ready", 0, 0);
	sem_init(&st.done, "done", 0, 0);
	gate_init(&st.start, "start", 0);
	gate_init(&st.end, "end", 0);
	mutex_init(&st.mutex, "stress mutex", 0);
	for (u32 i = 0; i < NR_GROUPS; i++)
		st.group[i] = tg_create(the_sched, i ? st.group[i - 1] : NULL, 1024);
	start_tasks(ctx);
	gate_open(&st.start);
	wl_timed_window(ctx, window_begins, window_ends);
	window_ns = ctx->end_ns - ctx->begin_ns;
	ctx->metric[M_OPS] = (s64)muldiv_u64(st.ops, 1000000000, window_ns);
	ctx->metric[M_MOVES] = (s64)muldiv_u64(st.moves, 1000000000, window_ns);

	for (u32 i = 0; i < st.nr_workers; i++)
		sem_down(&st.done);
	for (u32 i = 0; i < st.nr_servers; i++)
		channel_write(&st.server[i].questions, LAST_QUESTION, QUESTION_BYTES);
	gate_open(&st.end);
	task_wait_children();
	for (u32 i = NR_GROUPS; i--;)
		tg_destroy(the_sched, st.group[i]);
	check_counts(ctx);
	return (int)ctx->checks_failed;
}

static const struct workload stress = {
	.name = "stress", .help = "tasks that move, renice, wake, group and fork at random",
	.params = stress_params, .nr_params = ARRAY_SIZE(stress_params),
	.metrics = stress_metrics, .nr_metrics = ARRAY_SIZE(stress_metrics),
	.timed = true, .runtime_s = "0.3", .warmup_s = "0", .run = stress_run,
};
WORKLOAD(stress);
