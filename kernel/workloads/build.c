/* SPDX-License-Identifier: MIT */
/*
 * A parallel build: see build.h. The driver runs the compiler, which writes into a
 * pipe what the assembler reads. A job's size is drawn by the maker, so that it is
 * the same however many run beside it.
 */
#include "build.h"

#include "../channel.h"
#include "../lib/math64.h"
#include "../lib/string.h"
#include "../rawlock.h"

/* Shares of a job's work. A guess: the compiler does most of it. */
#define DRIVER_PCT 5
#define ASSEMBLER_PCT 15
#define COMPILER_PCT (100 - DRIVER_PCT - ASSEMBLER_PCT)

#define PIPE_BYTES 4096  /* what a burst of the compiler writes */
#define END_OF_FILE 0

struct job {
	u64 work_ns, assembler_ns; /* of the job; what its assembler has yet to do */
	struct channel pipe;
	struct job *next;          /* free ones */
};

static struct {
	struct wl_ctx *ctx;
	struct build_config cfg;
	struct build_figures fig;
	struct job *job, *free;    /* [jobs=] */
	u64 alive;
	struct raw_lock lock;      /* free and alive */
} bd;

static u64 num(enum build_param p)
{
	return (u64)param_num(bd.ctx->v, p);
}

static void add(u64 *to, u64 n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

/* Without a stop there is no line to look at. */
static bool stopped(void)
{
	return !bd.cfg.total && wl_stopped(bd.ctx);
}

/* ---- what processes do ------------------------------------------------------------- */

/* As user, with the CPU time that it took. */
static void spin(u64 ns)
{
	const struct task *self = task_self();
	u64 from_ns = task_cpu_ns(self);

	wl_spin(bd.ctx, ns);
	add(&bd.fig.user_ns, task_cpu_ns(self) - from_ns);
}

static void burst(u64 ns)
{
	u64 kernel_ns = ns * num(BUILD_KERNEL_PCT) / 100;

	spin(ns - kernel_ns);
	wl_kspin(bd.ctx, kernel_ns);
}

static void maybe_read(void)
{
	if (!wl_chance((u32)num(BUILD_IO_PCT)))
		return;
	add(&bd.fig.io_sleeps, 1);
	task_sleep_ns(num(BUILD_IO) * 1000);
}

static u64 next_burst(u64 left_ns)
{
	u64 ns = wl_logn(num(BUILD_BURST), (u32)num(BUILD_SIGMA));

	ns = ns ? ns : 1;
	return ns < left_ns ? ns : left_ns;
}

static void process_ends(bool of_job)
{
	u64 ns = task_cpu_ns(task_self());

	add(&bd.fig.cpu_ns, ns);
	if (of_job)
		add(&bd.fig.jobs_cpu_ns, ns);
}

static void wait_child(void)
{
	add(&bd.fig.child_waits, 1);
	task_wait_child();
}

static void start_child(const char *name, void (*fn)(void *), struct job *job)
{
	struct task_attr attr = { .name = name, .mm = task_new_mm() };

	task_fork(&attr, fn, job);
}

/* ---- a job ------------------------------------------------------------------------- */

static void assembler_main(void *arg)
{
	struct job *job = arg;
	u64 ns;

	task_exec();
	while ((ns = channel_read(&job->pipe, PIPE_BYTES)) != END_OF_FILE) {
		ns = muldiv_u64(ns, ASSEMBLER_PCT, COMPILER_PCT);
		ns = ns < job->assembler_ns ? ns : job->assembler_ns;
		job->assembler_ns -= ns;
		burst(ns);
		maybe_read();
	}
	if (!stopped())
		burst(job->assembler_ns); /* what rounding left */
	process_ends(true);
}

static void compiler_main(void *arg)
{
	struct job *job = arg;
	u64 left_ns = job->work_ns * COMPILER_PCT / 100;

	task_exec();
	start_child("assembler", assembler_main, job);
	while (left_ns && !stopped()) {
		u64 ns = next_burst(left_ns);

		left_ns -= ns;
		burst(ns);
		channel_write(&job->pipe, ns, PIPE_BYTES);
		maybe_read();
	}
	channel_write(&job->pipe, END_OF_FILE, 0);
	wait_child();
	process_ends(true);
}

static void job_ends(struct job *job)
{
	raw_lock(&bd.lock);
	counter_add(&bd.fig.jobs, 1);
	bd.alive--;
	job->next = bd.free;
	bd.free = job;
	raw_unlock(&bd.lock);
}

static void driver_main(void *arg)
{
	struct job *job = arg;

	task_exec();
	burst(job->work_ns - job->work_ns * COMPILER_PCT / 100 - job->assembler_ns);
	start_child("compiler", compiler_main, job);
	wait_child();
	process_ends(true);
	job_ends(job);
}

/* ---- the maker --------------------------------------------------------------------- */

static void start_job(void)
{
	struct job *job;

	raw_lock(&bd.lock);
	job = bd.free;
	bd.free = job->next;
	bd.alive++;
	bd.fig.most_alive = bd.alive > bd.fig.most_alive ? bd.alive : bd.fig.most_alive;
	raw_unlock(&bd.lock);
	job->work_ns = wl_logn(num(BUILD_JOB), (u32)num(BUILD_SIGMA));
	job->assembler_ns = job->work_ns * ASSEMBLER_PCT / 100;
	bd.fig.drawn_ns += job->work_ns;
	start_child("driver", driver_main, job);
}

static void link_main(void *arg)
{
	u64 left_ns = *(const u64 *)arg, ns;

	task_exec();
	for (; left_ns; left_ns -= ns) {
		ns = next_burst(left_ns);
		burst(ns);
		maybe_read();
	}
	process_ends(false);
}

static void maker_main(void *arg)
{
	u64 jobs = 0, alive = 0, link_ns;

	(void)arg;
	wl_start_delay();
	for (; bd.cfg.total ? jobs < bd.cfg.total : !stopped(); jobs++) {
		u64 maker_ns = wl_vary(bd.ctx, num(BUILD_MAKER));

		if (alive == num(BUILD_JOBS)) {
			wait_child();
			alive--;
		}
		spin(maker_ns);
		bd.fig.drawn_ns += maker_ns;
		start_job();
		alive++;
	}
	for (; alive; alive--)
		wait_child();
	link_ns = muldiv_u64(bd.fig.drawn_ns, bd.cfg.link_pct, 100);
	if (link_ns) {
		struct task_attr attr = { .name = "linker", .mm = task_new_mm() };

		bd.fig.drawn_ns += link_ns;
		task_fork(&attr, link_main, &link_ns);
		wait_child();
	}
	process_ends(false);
}

/* ---- for the workloads ------------------------------------------------------------- */

void build_start(struct wl_ctx *ctx, const struct build_config *cfg)
{
	struct task_attr attr = { .name = "maker", .mm = task_new_mm(), .unit = cfg->unit };
	u32 slots = (u32)param_num(ctx->v, BUILD_JOBS);

	memset(&bd, 0, sizeof(bd));
	bd.ctx = ctx;
	bd.cfg = *cfg;
	bd.job = arena_alloc(ctx->arena, slots * sizeof(*bd.job));
	for (u32 i = 0; i < slots; i++) {
		struct job *job = &bd.job[i];

		channel_init(&job->pipe, CHANNEL_PIPE, PIPE_BYTES, "pipe of job", i, ctx->arena);
		job->next = bd.free;
		bd.free = job;
	}
	task_fork(&attr, maker_main, NULL);
}

u64 build_jobs(void)
{
	return __atomic_load_n(&bd.fig.jobs, __ATOMIC_RELAXED);
}

const struct build_figures *build_figures(void)
{
	bd.fig.pipe_sleeps = 0;
	for (u32 i = 0; i < num(BUILD_JOBS); i++)
		bd.fig.pipe_sleeps += bd.job[i].pipe.sleeps;
	return &bd.fig;
}

void build_check(struct wl_ctx *ctx)
{
	const struct build_figures *f = &bd.fig;
	u64 done_ns = ctx->work.user_ns + ctx->work.kernel_ns;

	wl_check(ctx, f->most_alive <= num(BUILD_JOBS), "%llu jobs alive at once, of %llu",
		 (unsigned long long)f->most_alive, (unsigned long long)num(BUILD_JOBS));
	wl_check(ctx, !bd.alive, "%llu jobs never ended", (unsigned long long)bd.alive);
	if (!bd.cfg.total)
		return;
	wl_check(ctx, f->jobs == bd.cfg.total && done_ns == f->drawn_ns,
		 "%llu jobs of %llu, %llu ns of work of %llu", (unsigned long long)f->jobs,
		 (unsigned long long)bd.cfg.total, (unsigned long long)done_ns,
		 (unsigned long long)f->drawn_ns);
}
