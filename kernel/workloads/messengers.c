/* SPDX-License-Identifier: MIT */
/* Message threads and their workers: see messengers.h. */
#include "messengers.h"

#include "../rawlock.h"

#define SUB_BITS 8 /* the tool's histogram: exact below 512 us, 256 buckets an octave */

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
	struct messengers_config cfg;
	u32 slowest;           /* speed of a thread whose siblings are all busy, 1/1000 */
	struct messenger *messenger;
	bool measuring;
	struct hist latency_us;
	struct raw_lock lock;  /* the histogram, and what workers keep of the window */
} ms;

/* The tool looks at the clock until the time has come: what a busy sibling or a
 * preemption costs is not made up for. No more work at once than fits in any case,
 * so each step takes at least that share of what is left. */
#define LAST_STEP_NS 1000 /* the clock's resolution */

static void spin_by_clock(u64 ns)
{
	u64 until_ns = env_now() + ns, now_ns;

	while ((now_ns = env_now()) < until_ns) {
		u64 work_ns = (until_ns - now_ns) * ms.slowest / 1000;

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

	raw_lock(&ms.lock);
	if (ms.measuring) {
		if (now_us > stamp_us)
			hist_record(&ms.latency_us, now_us - stamp_us);
		if (!w->batches++)
			w->first_ns = w->stamp_ns;
		w->last_ns = w->stamp_ns;
	}
	raw_unlock(&ms.lock);
}

static void worker_main(void *arg)
{
	struct worker *w = arg;
	struct messenger *m = w->boss;

	wl_start_delay();
	while (!wl_stopped(ms.ctx)) {
		spin_by_clock(wl_vary(ms.ctx, ms.cfg.spin_ns));
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

	for (u32 i = 0; i < ms.cfg.workers; i++)
		task_fork(&attr, worker_main, &m->worker[i]);
	for (;;) {
		futex_arm(&m->futex);
		wake_batch(m);
		/* Nobody sleeps any more when all have left; none leaves before the end. */
		if (__atomic_load_n(&m->left, __ATOMIC_ACQUIRE) == ms.cfg.workers)
			break;
		futex_wait(&m->futex);
		if (!wl_stopped(ms.ctx))
			task_sleep_ns(ms.cfg.sleep_ns + rng_below(&task_self()->rng,
								  ms.cfg.sleep_ns / 4));
	}
}

/* ---- for the workloads --------------------------------------------------------------- */

void messengers_window_begins(void)
{
	raw_lock(&ms.lock);
	ms.measuring = true;
	raw_unlock(&ms.lock);
}

void messengers_window_ends(void)
{
	raw_lock(&ms.lock);
	ms.measuring = false;
	raw_unlock(&ms.lock);
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
	m->worker = arena_alloc(a, ms.cfg.workers * sizeof(*m->worker));
	for (u32 i = 0; i < ms.cfg.workers; i++) {
		m->worker[i].boss = m;
		futex_init(&m->worker[i].futex, "worker", id * ms.cfg.workers + i);
	}
}

struct messengers_config messengers_config(const struct wl_ctx *ctx, u32 base)
{
	return (struct messengers_config){
		.messengers = (u32)param_num(ctx->v, base + MESSENGERS_NR),
		.workers = (u32)param_num(ctx->v, base + MESSENGERS_WORKERS),
		.spin_ns = (u64)param_num(ctx->v, base + MESSENGERS_SPIN),
		.sleep_ns = (u64)param_num(ctx->v, base + MESSENGERS_SLEEP),
	};
}

void messengers_start(struct wl_ctx *ctx, const struct messengers_config *cfg)
{
	struct task_attr attr = { .name = "messenger", .mm = task_new_mm(), .unit = cfg->unit };

	ms.ctx = ctx;
	ms.cfg = *cfg;
	ms.slowest = slowest_speed(ctx->topo);
	ms.measuring = false;
	hist_init(&ms.latency_us, arena_alloc(ctx->arena, HIST_BUCKETS(SUB_BITS) * sizeof(u64)),
		  SUB_BITS);
	ms.messenger = arena_alloc(ctx->arena, cfg->messengers * sizeof(*ms.messenger));
	for (u32 i = 0; i < cfg->messengers; i++)
		messenger_init(&ms.messenger[i], i, ctx->arena);
	for (u32 i = 0; i < cfg->messengers; i++)
		task_fork(&attr, messenger_main, &ms.messenger[i]);
}

const struct hist *messengers_latency(void)
{
	return &ms.latency_us;
}

void messengers_periods(u64 *min_us, u64 *max_us)
{
	*min_us = ~0ull;
	*max_us = 0;
	for (u32 i = 0; i < ms.cfg.messengers * ms.cfg.workers; i++) {
		const struct messenger *m = &ms.messenger[i / ms.cfg.workers];
		const struct worker *w = &m->worker[i % ms.cfg.workers];
		u64 mean_us;

		if (w->batches < 2)
			continue;
		mean_us = (w->last_ns - w->first_ns) / (w->batches - 1) / 1000;
		*min_us = mean_us < *min_us ? mean_us : *min_us;
		*max_us = mean_us > *max_us ? mean_us : *max_us;
	}
}
