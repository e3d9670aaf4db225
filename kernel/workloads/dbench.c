/* SPDX-License-Identifier: MIT */
/*
 * dbench (spec/workloads.md section 9): clients without think time whose file
 * operations contend for a few locks, and wait for a journal task now and then.
 */
#include "../lib/math64.h"
#include "../lib/string.h"
#include "commit.h"
#include "pool.h"
#include "work.h"

enum { P_N, P_KERNEL, P_SIGMA, P_USER, P_LOCKS, P_LOCK_PCT, P_HOLD, P_EVERY, P_JOURNAL };
enum { M_RATE, M_OPS, M_LOCK_SLEEPS, M_WAITERS, M_WAKEUPS, M_USER };

static const struct param_info dbench_params[] = {
	[P_N] = { .name = "n", .min = 1, .max = 100000, .per_machine = true, .tag = 'P',
		  .def = "1,2,4,8,16,32,64,128", .help = "clients" },
	[P_KERNEL] = { .name = "kernel_us", .min = 0, .max = 1000000, .tag = 'G', .def = "30",
		       .help = "mean work of an operation in the kernel, lognormal" },
	[P_SIGMA] = { .name = "sigma", .digits = 3, .min = 0, .max = 2000, .tag = 'G',
		      .def = "1", .help = "of its logarithm" },
	[P_USER] = { .name = "user_us", .min = 0, .max = 1000000, .tag = 'G', .def = "5",
		     .help = "work of an operation as user" },
	[P_LOCKS] = { .name = "locks", .min = 1, .max = 10000, .tag = 'G', .def = "4",
		      .help = "sleeping locks that all clients share" },
	[P_LOCK_PCT] = { .name = "lock_pct", .min = 0, .max = 100, .tag = 'G', .def = "30",
			 .help = "operations that take one of them" },
	[P_HOLD] = { .name = "hold_us", .min = 0, .max = 1000000, .tag = 'G', .def = "10",
		     .help = "work in the kernel while it is held" },
	[P_EVERY] = { .name = "every", .min = 1, .max = 1000000, .tag = 'G', .def = "100",
		      .help = "operations between two waits for the journal" },
	[P_JOURNAL] = { .name = "journal_us", .min = 0, .max = 1000000, .tag = 'G',
			.def = "1000", .help = "time of its write, which then wakes all waiters" },
};

static const struct metric_info dbench_metrics[] = {
	[M_RATE] = { "mb_per_s", 3, METRIC_HIGHER, "10^6 bytes per second, 4 KiB per operation" },
	[M_OPS] = { "ops_per_s", 0, METRIC_HIGHER, "operations of all clients" },
	[M_LOCK_SLEEPS] = { "lock_sleeps_per_op", 3, METRIC_LOWER, "sleeps on locks" },
	[M_WAITERS] = { "journal_waiters", 3, METRIC_HIGHER, "clients per write of the journal" },
	[M_WAKEUPS] = { "wakeups_per_op", 3, METRIC_LOWER, "all wake-ups" },
	[M_USER] = WL_USER_PCT,
};

#define OP_BYTES 4096 /* spec section 9: 4 KB per operation */

struct client {
	struct wl_ctx *ctx;
	u64 ops; /* finished */
};

static struct {
	u32 n;
	struct client *client;
	struct pool locks;
	struct log_writer journal;
	struct { u64 ops, lock_sleeps, waiters, writes, wakeups; } window;
} db;

static void operate(struct client *c)
{
	struct wl_ctx *ctx = c->ctx;

	wl_kspin(ctx, wl_logn((u64)param_num(ctx->v, P_KERNEL) * 1000,
			      (u32)param_num(ctx->v, P_SIGMA)));
	wl_spin(ctx, wl_vary(ctx, (u64)param_num(ctx->v, P_USER) * 1000));
	if (wl_chance((u32)param_num(ctx->v, P_LOCK_PCT))) {
		struct pool_lock *l = pool_take(&db.locks);

		wl_kspin(ctx, wl_vary(ctx, (u64)param_num(ctx->v, P_HOLD) * 1000));
		pool_release(l);
	}
	counter_add(&c->ops, 1);
}

static void client_main(void *arg)
{
	struct client *c = arg;
	u64 every = (u64)param_num(c->ctx->v, P_EVERY);

	wl_start_delay();
	while (!wl_stopped(c->ctx)) {
		operate(c);
		if (c->ops % every == 0)
			log_post(&db.journal);
	}
	log_leave(&db.journal);
}

/* ---- the run --------------------------------------------------------------------- */

static u64 ops_now(void)
{
	u64 ops = 0;

	for (u32 i = 0; i < db.n; i++)
		ops += __atomic_load_n(&db.client[i].ops, __ATOMIC_RELAXED);
	return ops;
}

/* The first time notes, the second takes the difference. */
static void window_edge(struct wl_ctx *ctx)
{
	const struct log_writer *j = &db.journal;

	db.window.ops = ops_now() - db.window.ops;
	db.window.lock_sleeps = pool_sleeps(&db.locks) - db.window.lock_sleeps;
	db.window.waiters = __atomic_load_n(&j->posts, __ATOMIC_RELAXED) - db.window.waiters;
	db.window.writes = __atomic_load_n(&j->writes, __ATOMIC_RELAXED) - db.window.writes;
	db.window.wakeups = wl_counter(wakeups) - db.window.wakeups;
	wl_work_edge(ctx);
}

static void check_counts(struct wl_ctx *ctx)
{
	u64 ops = ops_now(), locked = db.locks.taken, posts = 0, variance;
	u64 pct = (u64)param_num(ctx->v, P_LOCK_PCT), off;

	for (u32 i = 0; i < db.n; i++)
		posts += db.client[i].ops / (u64)param_num(ctx->v, P_EVERY);
	wl_check(ctx, ops > 0, "no operation finished");
	pool_check(&db.locks, ctx);
	wl_check(ctx, db.journal.posts == posts, "%llu waits for the journal, %llu due",
		 (unsigned long long)db.journal.posts, (unsigned long long)posts);
	wl_check(ctx, db.journal.writes <= posts, "%llu writes for %llu waiters",
		 (unsigned long long)db.journal.writes, (unsigned long long)posts);
	/* A binomial count, in hundredths: six standard deviations. */
	off = locked * 100 > ops * pct ? locked * 100 - ops * pct : ops * pct - locked * 100;
	variance = ops * pct * (100 - pct);
	wl_check(ctx, (u128)off * off <= (u128)variance * 36,
		 "%llu of %llu operations took a lock", (unsigned long long)locked,
		 (unsigned long long)ops);
	/* A delayed start each, locks, the journal. */
	wl_check_wakeups(ctx, db.n + pool_sleeps(&db.locks) + log_sleeps(&db.journal), db.n + 1);
}

static int dbench_run(struct wl_ctx *ctx)
{
	struct task_attr journal = { .name = "journal" };

	memset(&db, 0, sizeof(db));
	db.n = (u32)param_num(ctx->v, P_N);
	db.client = arena_alloc(ctx->arena, db.n * sizeof(*db.client));
	pool_init(&db.locks, (u32)param_num(ctx->v, P_LOCKS), "file", ctx->arena);
	log_init(&db.journal, "journal", LOG_UP_TO_END,
		 (u64)param_num(ctx->v, P_JOURNAL) * 1000, db.n);
	task_fork(&journal, log_writer_main, &db.journal);
	for (u32 i = 0; i < db.n; i++) {
		struct task_attr attr = { .name = "client", .mm = task_new_mm() };

		db.client[i].ctx = ctx;
		task_fork(&attr, client_main, &db.client[i]);
	}
	wl_timed_window(ctx, window_edge, window_edge);
	task_wait_children();
	ctx->metric[M_RATE] = (s64)muldiv_u64(db.window.ops * OP_BYTES, 1000000,
					      ctx->end_ns - ctx->begin_ns);
	ctx->metric[M_OPS] = wl_per_s(ctx, db.window.ops);
	ctx->metric[M_LOCK_SLEEPS] = wl_per(db.window.lock_sleeps, db.window.ops);
	ctx->metric[M_WAITERS] = wl_per(db.window.waiters, db.window.writes);
	ctx->metric[M_WAKEUPS] = wl_per(db.window.wakeups, db.window.ops);
	ctx->metric[M_USER] = wl_user_pct(ctx);
	check_counts(ctx);
	return (int)ctx->checks_failed;
}

static const struct workload dbench = {
	.name = "dbench", .help = "clients whose file operations contend for locks and a journal",
	.spec = "workloads.md section 9",
	.params = dbench_params, .nr_params = ARRAY_SIZE(dbench_params),
	.metrics = dbench_metrics, .nr_metrics = ARRAY_SIZE(dbench_metrics),
	.timed = true, .run = dbench_run,
};
WORKLOAD(dbench);
