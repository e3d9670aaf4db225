/* SPDX-License-Identifier: MIT */
/*
 * schbench as of 2016 to 2022 (spec/workloads.md section 3): message threads, each
 * of which wakes its workers in batches, all in one process. What counts is how long
 * a worker waits from the clock that its batch was stamped with until it runs.
 */
#include "../rawlock.h"
#include "ctx.h"

enum { P_MESSENGERS, P_WORKERS, P_SPIN, P_SLEEP };
enum { M_P99, M_P50, M_P75, M_P90, M_P95, M_P995, M_P999, M_PERIOD_MIN, M_PERIOD_MAX };

#define SUB_BITS 8 /* the tool's histogram: exact below 512 us, 256 buckets an octave */

static const struct param_info schbench_params[] = {
	[P_MESSENGERS] = { .name = "messengers", .min = 1, .max = 10000, .per_machine = true,
			   .tag = 'S', .def = "2", .help = "message threads (-m)" },
	[P_WORKERS] = { .name = "workers", .min = 1, .max = 10000, .per_machine = true, .tag = 'P',
			.def = "K/2", .help = "workers of each of them (-t)" },
	[P_SPIN] = { .name = "spin_ms", .digits = 6, .min = 1000, .max = 10000000000, .tag = 'S',
		     .def = "30", .help = "how long a worker spins, by its clock" },
	[P_SLEEP] = { .name = "sleep_ms", .digits = 6, .min = 1000, .max = 10000000000, .tag = 'S',
		      .def = "30",
		      .help = "how long a messenger sleeps after a post; up to a quarter on top" },
};

#define PERCENTILE(name, nth) { name, 0, METRIC_LOWER, nth " percentile of wake-up latency" }

static const struct metric_info schbench_metrics[] = {
	[M_P99] = PERCENTILE("p99_us", "99th"),
	[M_P50] = PERCENTILE("p50_us", "50th"),
	[M_P75] = PERCENTILE("p75_us", "75th"),
	[M_P90] = PERCENTILE("p90_us", "90th"),
	[M_P95] = PERCENTILE("p95_us", "95th"),
	[M_P995] = PERCENTILE("p99_5_us", "99.5th"),
	[M_P999] = PERCENTILE("p99_9_us", "99.9th"),
	[M_PERIOD_MIN] = { "period_min_ms", 3, METRIC_LOWER,
			   "from one batch to the next: the worker with the shortest mean" },
	[M_PERIOD_MAX] = { "period_max_ms", 3, METRIC_LOWER, "and the one with the longest" },
};

static const u32 schbench_percentiles[ARRAY_SIZE(schbench_metrics)] = {
	[M_P50] = 50000, [M_P75] = 75000, [M_P90] = 90000, [M_P95] = 95000, [M_P99] = 99000,
	[M_P995] = 99500, [M_P999] = 99900,
};

struct messenger;

struct worker {
	struct messenger *boss;
	struct futex futex;
	struct worker *next;   /* on the boss's list */
	u64 stamp_ns;          /* of the batch that woke it */
	/* Within the window: */
	u64 first_ns, last_ns; /* stamps */
	u64 batches;
};

struct messenger {
	struct futex futex;
	struct worker *list;
	struct env_line list_line;
	struct worker *worker;
	u32 left;              /* workers that are done */
};

static struct {
	struct wl_ctx *ctx;
	u32 messengers, workers;
	u64 spin_ns, sleep_ns;
	u32 slowest;           /* speed of a thread whose siblings are all busy, 1/1000 */
	struct messenger *messenger;
	bool measuring;
	struct hist latency_us;
	struct raw_lock lock;  /* the histogram, and what workers keep of the window */
} sb;

/* The tool looks at the clock until the time has come: what a busy sibling or a
 * preemption costs is not made up for. No more work at once than fits in any case,
 * so each step takes at least that share of what is left. */
#define LAST_STEP_NS 1000 /* the clock's resolution */

static void spin_by_clock(u64 ns)
{
	u64 until_ns = env_now() + ns, now_ns;

	while ((now_ns = env_now()) < until_ns) {
		u64 work_ns = (until_ns - now_ns) * sb.slowest / 1000;

		task_burn(work_ns > LAST_STEP_NS ? work_ns : LAST_STEP_NS);
	}
}

/* ---- workers ---------------------------------------------------------------------- */

static void list_push(struct messenger *m, struct worker *w)
{
	struct worker *head;

	env_line_write(&m->list_line);
	head = __atomic_load_n(&m->list, __ATOMIC_RELAXED);
	do {
		w->next = head;
	} while (!__atomic_compare_exchange_n(&m->list, &head, w, false, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

/* Both clocks in whole us, as gettimeofday() has them; a zero is dropped. */
static void record(struct worker *w, u64 now_ns)
{
	u64 now_us = now_ns / 1000, stamp_us = w->stamp_ns / 1000;

	raw_lock(&sb.lock);
	if (sb.measuring) {
		if (now_us > stamp_us)
			hist_record(&sb.latency_us, now_us - stamp_us);
		if (!w->batches++)
			w->first_ns = w->stamp_ns;
		w->last_ns = w->stamp_ns;
	}
	raw_unlock(&sb.lock);
}

static void worker_main(void *arg)
{
	struct worker *w = arg;
	struct messenger *m = w->boss;

	wl_start_delay();
	while (!wl_stopped(sb.ctx)) {
		spin_by_clock(wl_vary(sb.ctx, sb.spin_ns));
		futex_arm(&w->futex);
		list_push(m, w);
		futex_post(&m->futex);
		futex_wait(&w->futex);
		env_charge(ENV_RDTSC);
		record(w, env_now());
	}
	__atomic_fetch_add(&m->left, 1, __ATOMIC_RELEASE);
	futex_post(&m->futex);
}

/* ---- messengers -------------------------------------------------------------------- */

/* Newest first, all with one stamp. */
static void wake_batch(struct messenger *m)
{
	struct worker *w, *next;
	u64 now_ns;

	env_line_write(&m->list_line);
	w = __atomic_exchange_n(&m->list, NULL, __ATOMIC_ACQUIRE);
	env_charge(ENV_RDTSC);
	now_ns = env_now();
	for (; w; w = next) {
		next = w->next; /* it is off once it has been told */
		w->stamp_ns = now_ns;
		futex_post(&w->futex);
	}
}

static void messenger_main(void *arg)
{
	struct messenger *m = arg;
	struct task_attr attr = { .name = "worker" };

	for (u32 i = 0; i < sb.workers; i++)
		task_fork(&attr, worker_main, &m->worker[i]);
	for (;;) {
		futex_arm(&m->futex);
		wake_batch(m);
		/* Nobody sleeps any more when all have left; none leaves before the end. */
		if (__atomic_load_n(&m->left, __ATOMIC_ACQUIRE) == sb.workers)
			break;
		futex_wait(&m->futex);
		if (!wl_stopped(sb.ctx))
			task_sleep_ns(sb.sleep_ns + rng_below(&task_self()->rng, sb.sleep_ns / 4));
	}
}

/* ---- the run ------------------------------------------------------------------------- */

static void window_begins(struct wl_ctx *ctx)
{
	(void)ctx;
	raw_lock(&sb.lock);
	sb.measuring = true;
	raw_unlock(&sb.lock);
}

static void window_ends(struct wl_ctx *ctx)
{
	(void)ctx;
	raw_lock(&sb.lock);
	sb.measuring = false;
	raw_unlock(&sb.lock);
}

static u32 slowest_speed(const struct sched_topo *t)
{
	u32 slowest = 1000;

	for (u32 n = 2; n <= t->smt_max; n++) {
		u32 speed = machine_smt_speed(engine.cfg.machine, n);

		slowest = speed < slowest ? speed : slowest;
	}
	return slowest;
}

static void messenger_init(struct messenger *m, u32 id, struct arena *a)
{
	futex_init(&m->futex, "messenger", id);
	env_line_init(&m->list_line, LINE_USER);
	m->worker = arena_alloc(a, sb.workers * sizeof(*m->worker));
	for (u32 i = 0; i < sb.workers; i++) {
		m->worker[i].boss = m;
		futex_init(&m->worker[i].futex, "worker", id * sb.workers + i);
	}
}

/* Mean periods, in us, of workers that had any. */
static void periods(u64 *min, u64 *max)
{
	*min = ~0ull;
	*max = 0;
	for (u32 i = 0; i < sb.messengers * sb.workers; i++) {
		const struct worker *w = &sb.messenger[i / sb.workers].worker[i % sb.workers];
		u64 mean_us;

		if (w->batches < 2)
			continue;
		mean_us = (w->last_ns - w->first_ns) / (w->batches - 1) / 1000;
		*min = mean_us < *min ? mean_us : *min;
		*max = mean_us > *max ? mean_us : *max;
	}
}

static u64 deepest_exit_us(void)
{
	const u32 *exit_ns = engine.cfg.machine->idle_exit_ns;
	u32 ns = 0;

	for (u32 s = 0; s < IDLE_STATES; s++)
		ns = exit_ns[s] > ns ? exit_ns[s] : ns;
	return ns / 1000;
}

/* Section 14, check 3: where every worker finds a CPU of its own at once. Its limit
 * of 100 us holds beside the exit from idleness: workers sleep for longer than any
 * residency, and the engine charges the worst case of the deepest state. */
static void check_unloaded(struct wl_ctx *ctx, u64 min_us, u64 max_us)
{
	u64 jitter_ns = sb.spin_ns / 100 * (u64)param_common(ctx->w, ctx->v, COMMON_JITTER_PCT);
	u64 low_ns = sb.spin_ns + sb.sleep_ns - jitter_ns;
	/* 30 + 37.5 ms and half a millisecond for the ways. */
	u64 high_ns = sb.spin_ns + sb.sleep_ns / 4 * 5 + 500000 + jitter_ns;

	wl_check(ctx, (u64)ctx->metric[M_P50] < 100 + deepest_exit_us(),
		 "unloaded, and a median latency of %lld us", (long long)ctx->metric[M_P50]);
	wl_check(ctx, min_us >= low_ns / 1000 && max_us <= high_ns / 1000,
		 "periods of %llu to %llu us, which should be from %llu to %llu",
		 (unsigned long long)min_us, (unsigned long long)max_us,
		 (unsigned long long)low_ns / 1000, (unsigned long long)high_ns / 1000);
}

static int schbench_run(struct wl_ctx *ctx)
{
	struct task_attr attr = { .name = "messenger", .mm = task_new_mm() };
	u64 min_us, max_us;

	sb.ctx = ctx;
	sb.messengers = (u32)param_num(ctx->v, P_MESSENGERS);
	sb.workers = (u32)param_num(ctx->v, P_WORKERS);
	sb.spin_ns = (u64)param_num(ctx->v, P_SPIN);
	sb.sleep_ns = (u64)param_num(ctx->v, P_SLEEP);
	sb.slowest = slowest_speed(ctx->topo);
	sb.measuring = false;
	hist_init(&sb.latency_us, arena_alloc(ctx->arena, HIST_BUCKETS(SUB_BITS) * sizeof(u64)),
		  SUB_BITS);
	sb.messenger = arena_alloc(ctx->arena, sb.messengers * sizeof(*sb.messenger));
	for (u32 i = 0; i < sb.messengers; i++)
		messenger_init(&sb.messenger[i], i, ctx->arena);
	for (u32 i = 0; i < sb.messengers; i++)
		task_fork(&attr, messenger_main, &sb.messenger[i]);
	wl_timed_window(ctx, window_begins, window_ends);
	task_wait_children();

	wl_percentiles(ctx, &sb.latency_us);
	wl_hist_add(ctx, "latency_us", &sb.latency_us);
	periods(&min_us, &max_us);
	ctx->metric[M_PERIOD_MIN] = max_us ? (s64)min_us : 0;
	ctx->metric[M_PERIOD_MAX] = (s64)max_us;
	wl_check(ctx, sb.latency_us.count > 0, "no worker was woken");
	if (max_us && !engine.live && 2 * sb.messengers * sb.workers <= ctx->topo->nr_cpus)
		check_unloaded(ctx, min_us, max_us);
	return (int)ctx->checks_failed;
}

static const struct workload schbench = {
	.name = "schbench", .help = "message threads that wake their workers in batches: latency",
	.spec = "workloads.md section 3",
	.params = schbench_params, .nr_params = ARRAY_SIZE(schbench_params),
	.metrics = schbench_metrics, .nr_metrics = ARRAY_SIZE(schbench_metrics),
	.rows = M_PERIOD_MIN, .percentiles = schbench_percentiles, .min_samples = 10000,
	.jitter_pct = "0", .timed = true, .runtime_s = "30", .run = schbench_run,
};
WORKLOAD(schbench);
