/* SPDX-License-Identifier: MIT */
/*
 * A model of a database with users who think, latches, and one log writer
 * (spec/workloads.md section 8). All of it is guessed: it is no Oracle result.
 */
#include "../lib/string.h"
#include "commit.h"
#include "pool.h"
#include "work.h"

enum {
	P_USERS, P_THINK, P_BURSTS, P_BURST, P_SIGMA, P_LATCH_PCT, P_LATCHES, P_READ_PCT,
	P_READ, P_LOG
};
enum { M_RATE, M_BATCH, M_LATCH_SLEEPS, M_WAKEUPS, M_USER };

static const struct param_info oracle_params[] = {
	[P_USERS] = { .name = "users", .min = 1, .max = 100000, .per_machine = true, .tag = 'P',
		      .def = "C/4,0.475C,0.7C,0.925C,1.15C,1.375C,1.6C,1.825C,2.05C,2.275C,2.5C",
		      .help = "server processes, one per user" },
	[P_THINK] = { .name = "think_us", .min = 0, .max = 10000000, .tag = 'G', .def = "1000",
		      .help = "mean time until the client's next transaction, exponential" },
	[P_BURSTS] = { .name = "bursts", .min = 1, .max = 1000, .tag = 'G', .def = "5",
		       .help = "of a transaction" },
	[P_BURST] = { .name = "burst_us", .min = 0, .max = 1000000, .tag = 'G', .def = "200",
		      .help = "mean work of one, lognormal" },
	[P_SIGMA] = { .name = "sigma", .digits = 3, .min = 0, .max = 2000, .tag = 'G',
		      .def = "1", .help = "of its logarithm" },
	[P_LATCH_PCT] = { .name = "latch_pct", .min = 0, .max = 100, .tag = 'G', .def = "5",
			  .help = "bursts after the first that take a latch, and hold it" },
	[P_LATCHES] = { .name = "latches", .min = 1, .max = 10000, .tag = 'G', .def = "16",
			.help = "that all processes share" },
	[P_READ_PCT] = { .name = "read_pct", .min = 0, .max = 100, .tag = 'G', .def = "10",
			 .help = "of the other bursts after the first, those that read before" },
	[P_READ] = { .name = "read_us", .min = 0, .max = 1000000, .tag = 'G', .def = "100",
		     .help = "time of a read" },
	[P_LOG] = { .name = "log_us", .min = 0, .max = 1000000, .tag = 'G', .def = "300",
		    .help = "time of the log writer's write, for all who had posted" },
};

static const struct metric_info oracle_metrics[] = {
	[M_RATE] = { "tx_per_s", 0, METRIC_HIGHER,
		     "transactions of all users per second; the published figure is normalised, "
		     "as the table's change against the reference arm" },
	[M_BATCH] = { "commit_batch", 3, METRIC_HIGHER, "transactions per write of the log" },
	[M_LATCH_SLEEPS] = { "latch_sleeps_per_tx", 3, METRIC_LOWER, "sleeps on latches" },
	[M_WAKEUPS] = { "wakeups_per_tx", 3, METRIC_LOWER, "all wake-ups" },
	[M_USER] = WL_USER_PCT,
};

struct process {
	struct wl_ctx *ctx;
	u64 transactions;
	u64 timers; /* slept for */
};

static struct {
	u32 n;
	struct process *process;
	struct pool latches;
	struct log_writer log;
	struct { u64 transactions, latch_sleeps, posts, writes, wakeups; } window;
} om;

static void sleep(struct process *p, u64 ns)
{
	p->timers++;
	task_sleep_ns(ns);
}

static void burst(struct process *p)
{
	const struct param_values *v = p->ctx->v;

	wl_spin(p->ctx, wl_logn((u64)param_num(v, P_BURST) * 1000, (u32)param_num(v, P_SIGMA)));
}

static void latched_burst(struct process *p)
{
	struct pool_lock *l = pool_take(&om.latches);

	burst(p);
	pool_release(l);
}

static void transaction(struct process *p)
{
	const struct param_values *v = p->ctx->v;

	burst(p);
	for (u32 i = 1; i < (u32)param_num(v, P_BURSTS); i++) {
		/* One or the other, or neither. */
		s64 draw = (s64)rng_below(&task_self()->rng, 100);
		s64 latch_pct = param_num(v, P_LATCH_PCT);

		if (draw < latch_pct) {
			latched_burst(p);
			continue;
		}
		if (draw < latch_pct + param_num(v, P_READ_PCT))
			sleep(p, (u64)param_num(v, P_READ) * 1000);
		burst(p);
	}
	log_post(&om.log);
	counter_add(&p->transactions, 1);
}

static void process_main(void *arg)
{
	struct process *p = arg;

	wl_start_delay();
	do {
		sleep(p, wl_exp((u64)param_num(p->ctx->v, P_THINK) * 1000));
		transaction(p);
	} while (!wl_stopped(p->ctx));
	log_leave(&om.log);
}

/* ---- the run --------------------------------------------------------------------- */

static u64 transactions_now(void)
{
	u64 n = 0;

	for (u32 i = 0; i < om.n; i++)
		n += __atomic_load_n(&om.process[i].transactions, __ATOMIC_RELAXED);
	return n;
}

/* The first time notes, the second takes the difference. */
static void window_edge(struct wl_ctx *ctx)
{
	const struct log_writer *l = &om.log;

	om.window.transactions = transactions_now() - om.window.transactions;
	om.window.latch_sleeps = pool_sleeps(&om.latches) - om.window.latch_sleeps;
	om.window.posts = __atomic_load_n(&l->posts, __ATOMIC_RELAXED) - om.window.posts;
	om.window.writes = __atomic_load_n(&l->writes, __ATOMIC_RELAXED) - om.window.writes;
	om.window.wakeups = wl_counter(wakeups) - om.window.wakeups;
	wl_work_edge(ctx);
}

static void check_counts(struct wl_ctx *ctx)
{
	u64 transactions = transactions_now(), timers = 0;

	for (u32 i = 0; i < om.n; i++)
		timers += om.process[i].timers;
	pool_check(&om.latches, ctx);
	wl_check(ctx, om.log.posts == transactions, "%llu commits of %llu transactions",
		 (unsigned long long)om.log.posts, (unsigned long long)transactions);
	wl_check(ctx, om.log.writes <= transactions && transactions <= om.log.writes * om.n,
		 "%llu writes for %llu transactions of %u users",
		 (unsigned long long)om.log.writes, (unsigned long long)transactions, om.n);
	/* A delayed start each, timers, latches, the log. */
	wl_check_wakeups(ctx, om.n + timers + pool_sleeps(&om.latches) + log_sleeps(&om.log),
			 om.n + 1);
}

static int oracle_model_run(struct wl_ctx *ctx)
{
	struct task_attr writer = { .name = "log writer", .mm = task_new_mm() };

	memset(&om, 0, sizeof(om));
	om.n = (u32)param_num(ctx->v, P_USERS);
	om.process = arena_alloc(ctx->arena, om.n * sizeof(*om.process));
	pool_init(&om.latches, (u32)param_num(ctx->v, P_LATCHES), "latch", ctx->arena);
	log_init(&om.log, "log", LOG_GATHERED, (u64)param_num(ctx->v, P_LOG) * 1000, om.n);
	task_fork(&writer, log_writer_main, &om.log);
	for (u32 i = 0; i < om.n; i++) {
		struct task_attr attr = { .name = "process", .mm = task_new_mm() };

		om.process[i].ctx = ctx;
		task_fork(&attr, process_main, &om.process[i]);
	}
	wl_timed_window(ctx, window_edge, window_edge);
	task_wait_children();
	ctx->metric[M_RATE] = wl_per_s(ctx, om.window.transactions);
	ctx->metric[M_BATCH] = wl_per(om.window.posts, om.window.writes);
	ctx->metric[M_LATCH_SLEEPS] = wl_per(om.window.latch_sleeps, om.window.transactions);
	ctx->metric[M_WAKEUPS] = wl_per(om.window.wakeups, om.window.transactions);
	ctx->metric[M_USER] = wl_user_pct(ctx);
	check_counts(ctx);
	return (int)ctx->checks_failed;
}

static const struct workload oracle_model = {
	.name = "oracle_model",
	.help = "users who think, latches, one log writer: all guessed. "
		"Never report it as an Oracle result",
	.spec = "workloads.md section 8",
	.params = oracle_params, .nr_params = ARRAY_SIZE(oracle_params),
	.metrics = oracle_metrics, .nr_metrics = ARRAY_SIZE(oracle_metrics),
	.timed = true, .run = oracle_model_run,
};
WORKLOAD(oracle_model);
