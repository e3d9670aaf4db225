/* SPDX-License-Identifier: MIT */
/*
 * sysbench's OLTP mix (spec/workloads.md section 7): each client and its server take
 * turns over a socket, twenty statements to a transaction. Servers meet at row locks
 * and in group commit.
 */
#include "../lib/string.h"
#include "../rawlock.h"
#include "../stats/hist.h"
#include "commit.h"
#include "pair.h"
#include "pool.h"
#include "work.h"

enum {
	P_DB, P_N, P_CLIENT, P_MYSQL, P_PG, P_SIGMA, P_KERNEL_PCT, P_LOCKS, P_LOCK_PCT,
	P_SPIN, P_IO, P_WAL
};
enum {
	M_RATE, M_MEAN, M_P50, M_P99, M_BATCH, M_WAKEUPS, M_SOCKET, M_LOCK_SLEEPS,
	M_USER, M_MIGRATIONS
};
enum { DB_MYSQL, DB_POSTGRES };

static const struct param_info sysbench_params[] = {
	[P_DB] = { .name = "db", .kind = PARAM_WORD, .words = "mysql|postgres", .tag = 'P',
		   .def = "mysql",
		   .help = "servers are threads that watch a busy lock before they sleep, or "
			   "processes that do not, beside a log writer" },
	[P_N] = { .name = "n", .min = 1, .max = 100000, .per_machine = true, .tag = 'P',
		  .def = "C/4,C/2,C,1.5C", .help = "clients, and servers" },
	[P_CLIENT] = { .name = "client_us", .min = 0, .max = 1000000, .tag = 'G', .def = "15",
		       .help = "mean work of the client per statement, exponential" },
	[P_MYSQL] = { .name = "mysql_us", .min = 0, .max = 1000000, .tag = 'G', .def = "170",
		      .help = "db=mysql: mean work of the server per statement, lognormal" },
	[P_PG] = { .name = "postgres_us", .min = 0, .max = 1000000, .tag = 'G', .def = "110",
		   .help = "db=postgres: the same" },
	[P_SIGMA] = { .name = "sigma", .digits = 3, .min = 0, .max = 2000, .tag = 'G',
		      .def = "1", .help = "of its logarithm" },
	[P_KERNEL_PCT] = { .name = "kernel_pct", .min = 0, .max = 100, .tag = 'G', .def = "12",
			   .help = "of the server's work that is done in the kernel" },
	[P_LOCKS] = { .name = "locks", .min = 1, .max = 100000, .tag = 'G', .def = "64",
		      .help = "row locks that all servers share" },
	[P_LOCK_PCT] = { .name = "lock_pct", .min = 0, .max = 100, .tag = 'G', .def = "10",
			 .help = "updates that take one of them and hold it to their end" },
	[P_SPIN] = { .name = "spin_ns", .min = 0, .max = 1000000, .tag = 'G', .def = "5000",
		     .help = "db=mysql: how long a busy lock is watched before sleeping" },
	[P_IO] = { .name = "io_us", .min = 0, .max = 1000000, .tag = 'G', .def = "200",
		   .help = "time of a commit's write, led by the first of its batch" },
	[P_WAL] = { .name = "wal_ms", .min = 1, .max = 1000000, .tag = 'S', .def = "200",
		    .help = "db=postgres: time between two wake-ups of the log writer" },
};

static const struct metric_info sysbench_metrics[] = {
	[M_RATE] = { "tx_per_s", 0, METRIC_HIGHER, "transactions of all clients per second" },
	[M_MEAN] = { "mean_us", 3, METRIC_LOWER, "mean time of a transaction, as clients see it" },
	[M_P50] = { "p50_us", 3, METRIC_LOWER, "its median" },
	[M_P99] = { "p99_us", 3, METRIC_LOWER, "its 99th percentile" },
	[M_BATCH] = { "commit_batch", 3, METRIC_HIGHER, "transactions per write of the log" },
	[M_WAKEUPS] = { "wakeups_per_tx", 3, METRIC_LOWER, "all wake-ups" },
	[M_SOCKET] = { "socket_sleeps_per_tx", 3, METRIC_LOWER,
		       "of clients and servers that wait for each other; 40 at most" },
	[M_LOCK_SLEEPS] = { "lock_sleeps_per_tx", 3, METRIC_LOWER, "of servers on row locks" },
	[M_USER] = WL_USER_PCT,
	[M_MIGRATIONS] = { "migrations_per_wakeup", 4, METRIC_LOWER,
			   "wake-ups that moved the task off its CPU, of all" },
};

static const u32 sysbench_percentiles[ARRAY_SIZE(sysbench_metrics)] = {
	[M_P50] = 50000, [M_P99] = 99000,
};

/* begin, 10 point reads, 4 range reads, 2 updates, delete, insert, commit */
#define STATEMENTS 20
#define FIRST_UPDATE 15
#define LAST_UPDATE 16
#define COMMIT 19

/* InnoDB looks again after a random 0 to 6 (innodb_spin_wait_delay) times 50 PAUSE
 * instructions; 10 cycles each before Skylake, on average 0.5 us at 3 GHz. */
#define LOOK_NS 500

struct figures {
	u64 transactions, batches, joined, socket_sleeps, lock_sleeps;
};

static struct {
	struct pairs pairs;
	struct pool rows;
	struct group_commit commit;
	u64 *begin_ns;            /* [n], of the client's transaction */
	u64 transactions;         /* finished; atomic */
	u64 wal_sleeps;           /* by the log writer only */
	u64 statement_ns;
	struct figures window;    /* before its end: at its begin */
	struct hist latency_ns;   /* under the lock */
	struct raw_lock lock;
	bool measuring;           /* inside the window */
} sb;

/* ---- client --------------------------------------------------------------------- */

static u32 request(struct pair *p, u64 trip)
{
	if (trip % STATEMENTS == 0)
		sb.begin_ns[p->index] = env_now();
	wl_spin(p->ctx, wl_exp((u64)param_num(p->ctx->v, P_CLIENT) * 1000));
	return 0; /* what is sent is part of the work */
}

static void done(struct pair *p, u64 trip)
{
	if (trip % STATEMENTS != COMMIT)
		return;
	u64 ns = env_now() - sb.begin_ns[p->index];

	__atomic_fetch_add(&sb.transactions, 1, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&sb.measuring, __ATOMIC_RELAXED))
		return;
	raw_lock(&sb.lock);
	hist_record(&sb.latency_ns, ns);
	raw_unlock(&sb.lock);
}

/* ---- server --------------------------------------------------------------------- */

static u32 reply(struct pair *p, u64 trip)
{
	const struct param_values *v = p->ctx->v;
	u32 statement = trip % STATEMENTS;
	u64 ns = wl_logn(sb.statement_ns, (u32)param_num(v, P_SIGMA));
	u64 kernel_ns = ns * (u64)param_num(v, P_KERNEL_PCT) / 100;
	struct pool_lock *row = NULL;

	if (statement >= FIRST_UPDATE && statement <= LAST_UPDATE &&
	    wl_chance((u32)param_num(v, P_LOCK_PCT)))
		row = pool_take(&sb.rows);
	wl_spin(p->ctx, ns - kernel_ns);
	wl_kspin(p->ctx, kernel_ns);
	if (row)
		pool_release(row);
	if (statement == COMMIT)
		commit_join(&sb.commit, (u64)param_num(v, P_IO) * 1000);
	return 0;
}

/* PostgreSQL's: it has nothing to write, but it wakes up. */
static void wal_writer_main(void *arg)
{
	struct wl_ctx *ctx = arg;

	while (!wl_stopped(ctx)) {
		task_sleep_ns((u64)param_num(ctx->v, P_WAL) * 1000000);
		sb.wal_sleeps++;
	}
}

/* ---- the run --------------------------------------------------------------------- */

static void window_edge(struct wl_ctx *ctx)
{
	struct figures *w = &sb.window;

	w->transactions = __atomic_load_n(&sb.transactions, __ATOMIC_RELAXED) - w->transactions;
	w->batches = __atomic_load_n(&sb.commit.batches, __ATOMIC_RELAXED) - w->batches;
	w->joined = __atomic_load_n(&sb.commit.joined, __ATOMIC_RELAXED) - w->joined;
	w->socket_sleeps = pairs_socket_sleeps(&sb.pairs) - w->socket_sleeps;
	w->lock_sleeps = pool_sleeps(&sb.rows) - w->lock_sleeps;
	pairs_edge(&sb.pairs);
	wl_work_edge(ctx);
	__atomic_store_n(&sb.measuring, !sb.measuring, __ATOMIC_RELAXED);
}

static void figures(struct wl_ctx *ctx)
{
	const struct figures *w = &sb.window;

	ctx->metric[M_RATE] = wl_per_s(ctx, w->transactions);
	ctx->metric[M_MEAN] = (s64)hist_mean(&sb.latency_ns);
	wl_percentiles(ctx, &sb.latency_ns);
	wl_hist_add(ctx, "transaction_ns", &sb.latency_ns);
	ctx->metric[M_BATCH] = wl_per(w->joined, w->batches);
	ctx->metric[M_WAKEUPS] = wl_per(sb.pairs.wakeups, w->transactions);
	ctx->metric[M_SOCKET] = wl_per(w->socket_sleeps, w->transactions);
	ctx->metric[M_LOCK_SLEEPS] = wl_per(w->lock_sleeps, w->transactions);
	ctx->metric[M_USER] = wl_user_pct(ctx);
	ctx->metric[M_MIGRATIONS] = wl_per(10 * sb.pairs.migrations, sb.pairs.wakeups);
}

/* Self-check 6: 40 sleeps per transaction, less those that a reader was saved by
 * coming late, plus row locks, commits and the log writer. */
static void check_counts(struct wl_ctx *ctx, u32 children)
{
	u64 transactions = 0;

	for (u32 i = 0; i < sb.pairs.n; i++)
		transactions += sb.pairs.pair[i].trips / STATEMENTS;
	wl_check(ctx, sb.transactions == transactions && sb.commit.joined == transactions,
		 "%llu transactions, %llu commits of clients, %llu of servers",
		 (unsigned long long)transactions, (unsigned long long)sb.transactions,
		 (unsigned long long)sb.commit.joined);
	wl_check(ctx, sb.commit.batches <= transactions &&
			      transactions <= sb.commit.batches * sb.pairs.n,
		 "%llu batches of %llu commits", (unsigned long long)sb.commit.batches,
		 (unsigned long long)transactions);
	pool_check(&sb.rows, ctx);
	pairs_check(&sb.pairs);
	wl_check_wakeups(ctx, pairs_sleeps(&sb.pairs) + pool_sleeps(&sb.rows) +
				      commit_sleeps(&sb.commit) + sb.wal_sleeps, children);
}

static int sysbench_run(struct wl_ctx *ctx)
{
	static const struct pair_kind kind = { .request = request, .reply = reply,
					       .done = done };
	struct task_attr wal_writer = { .name = "log writer", .mm = task_new_mm() };
	bool postgres = param_num(ctx->v, P_DB) == DB_POSTGRES;
	u32 n = (u32)param_num(ctx->v, P_N), clients_mm = task_new_mm();

	memset(&sb, 0, sizeof(sb));
	sb.begin_ns = arena_alloc(ctx->arena, n * sizeof(*sb.begin_ns));
	sb.statement_ns = (u64)param_num(ctx->v, postgres ? P_PG : P_MYSQL) * 1000;
	hist_init(&sb.latency_ns, arena_alloc(ctx->arena, HIST_BUCKETS(HIST_SUB_BITS) *
							  sizeof(u64)), HIST_SUB_BITS);
	pool_init(&sb.rows, (u32)param_num(ctx->v, P_LOCKS), "row", ctx->arena);
	for (u32 i = 0; !postgres && i < sb.rows.nr; i++)
		mutex_watch(&sb.rows.lock[i].mutex, (u32)param_num(ctx->v, P_SPIN), LOOK_NS);
	commit_init(&sb.commit, "commit");
	if (postgres)
		task_fork(&wal_writer, wal_writer_main, ctx);
	pairs_start(&sb.pairs, ctx, &kind, n, clients_mm, postgres ? 0 : task_new_mm());
	wl_timed_window(ctx, window_edge, window_edge);
	task_wait_children();
	figures(ctx);
	check_counts(ctx, 2 * n + postgres);
	return (int)ctx->checks_failed;
}

/* PostgreSQL was published with its tasks in a group, MySQL without. */
static u32 group_depth(const struct param_values *v)
{
	return param_num(v, P_DB) == DB_POSTGRES;
}

static const struct workload sysbench = {
	.name = "sysbench", .help = "OLTP: clients and servers in turn, row locks, group commit",
	.spec = "workloads.md section 7",
	.params = sysbench_params, .nr_params = ARRAY_SIZE(sysbench_params),
	.metrics = sysbench_metrics, .nr_metrics = ARRAY_SIZE(sysbench_metrics),
	.percentiles = sysbench_percentiles, .min_samples = 10000,
	.group_depth = group_depth, .timed = true,
	.run = sysbench_run,
};
WORKLOAD(sysbench);
