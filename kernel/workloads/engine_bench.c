/* SPDX-License-Identifier: MIT */
/*
 * What the engine's primitives cost in virtual time, and how fast control passes
 * in real time. Each figure is measured by a pair of tasks, one on CPU 0 and one
 * at the distance in question, so that it can be held against the machine profile.
 * In live mode the same figures are real nanoseconds.
 */
#include "../console.h"
#include "../lib/math64.h"
#include "ctx.h"

enum { P_ROUNDS, P_SWITCHES };
enum {
	M_LOCK, M_LOCK_CONTENDED, M_LINE_SMT, M_LINE_LLC, M_LINE_PKG, M_LINE_REMOTE,
	M_IPI_SMT, M_IPI_LLC, M_IPI_PKG, M_IPI_REMOTE, M_SWITCH, M_MUTEX, M_PASSES
};

static const struct param_info engine_params[] = {
	[P_ROUNDS] = { .name = "rounds", .min = 10, .max = 1000000, .tag = 'G', .def = "200",
		       .help = "repetitions of each measurement" },
	[P_SWITCHES] = { .name = "switches", .min = 1, .max = 100000000, .tag = 'G',
			 .def = "1000000", .help = "control switches to make, over all CPUs" },
};

#define NS3(name, help) { name, 3, METRIC_LOWER, help }

static const struct metric_info engine_metrics[] = {
	[M_LOCK] = NS3("lock_ns", "uncontended lock and unlock"),
	[M_LOCK_CONTENDED] = NS3("lock_contended_ns", "per critical section, all CPUs at one lock"),
	[M_LINE_SMT] = NS3("line_smt_ns", "write of a line that a sibling wrote; 0: no such CPU"),
	[M_LINE_LLC] = NS3("line_llc_ns", "the same, another core of the LLC"),
	[M_LINE_PKG] = NS3("line_package_ns", "the same, another LLC of the package"),
	[M_LINE_REMOTE] = NS3("line_remote_ns", "the same, another package"),
	[M_IPI_SMT] = NS3("ipi_smt_ns", "from sending an IPI to its handler's end; 0: no such CPU"),
	[M_IPI_LLC] = NS3("ipi_llc_ns", "the same, another core of the LLC"),
	[M_IPI_PKG] = NS3("ipi_package_ns", "the same, another LLC of the package"),
	[M_IPI_REMOTE] = NS3("ipi_remote_ns", "the same, another package"),
	[M_SWITCH] = NS3("switch_ns", "sched_yield between two processes, system call included"),
	[M_MUTEX] = NS3("mutex_handoff_ns", "sleeping mutex from owner to waiter on one CPU"),
	[M_PASSES] = { "bursts", 0, METRIC_HIGHER, "bursts of work made to pass control" },
};

static struct {
	struct wl_ctx *ctx;
	u64 rounds;
	struct env_lock lock;
	struct env_line line;
	struct mutex mutex;
	struct semaphore ready;
	struct gate start;
	u32 turn;           /* whose round it is: 0 or 1 */
	u64 cost_ns;        /* sum over the rounds of a measurement */
	u64 sent_ns, ipi_ns;
	u32 ipi_seen;
} eb;

static void run_pinned(u32 cpu, void (*fn)(void *), void *arg)
{
	struct cpumask *m = arena_alloc(eb.ctx->arena, sizeof(*m));
	struct task_attr attr = { .name = "engine", .allowed = m, .mm = task_new_mm() };

	cpumask_set(m, cpu);
	task_fork(&attr, fn, arg);
}

/* First CPU at that distance from CPU 0; nr_cpus when there is none. */
static u32 cpu_at(enum topo_dist d)
{
	u32 c = 0;

	while (c < engine.nr_cpus &&
	       (!eb.ctx->topo->cpu[c].online || topo_distance(eb.ctx->topo, 0, c) != d))
		c++;
	return c;
}

/* ---- locks ------------------------------------------------------------------- */

static void lock_alone(void *arg)
{
	(void)arg;
	env_lock(&eb.lock); /* the line comes here */
	env_unlock(&eb.lock);

	u64 from_ns = env_now();

	for (u64 i = 0; i < eb.rounds; i++) {
		env_lock(&eb.lock);
		env_unlock(&eb.lock);
	}
	eb.cost_ns = env_now() - from_ns;
}

/* One per CPU, all at once: when it began and ended. */
struct contender {
	u64 from_ns, to_ns;
};

static void lock_all(void *arg)
{
	struct contender *c = arg;

	sem_up(&eb.ready);
	gate_wait(&eb.start);
	c->from_ns = env_now();
	for (u64 i = 0; i < eb.rounds; i++) {
		env_lock(&eb.lock);
		env_unlock(&eb.lock);
	}
	c->to_ns = env_now();
}

static s64 per_round(u64 ns, u64 rounds)
{
	return (s64)(ns * 1000 / rounds);
}

static void measure_locks(struct wl_ctx *ctx)
{
	struct contender *c = arena_alloc(ctx->arena, engine.nr_cpus * sizeof(*c));
	u64 from_ns = TIME_NEVER, to_ns = 0, nr = 0;

	run_pinned(0, lock_alone, NULL);
	task_wait_children();
	ctx->metric[M_LOCK] = per_round(eb.cost_ns, eb.rounds);
	sem_init(&eb.ready, "ready", 0, 0);
	gate_init(&eb.start, "start", 0);
	for (u32 i = 0; i < engine.nr_cpus; i++)
		if (ctx->topo->cpu[i].online) {
			run_pinned(i, lock_all, &c[i]);
			nr++;
		}
	for (u64 i = 0; i < nr; i++)
		sem_down(&eb.ready);
	gate_open(&eb.start);
	task_wait_children();
	for (u32 i = 0; i < engine.nr_cpus; i++)
		if (ctx->topo->cpu[i].online) {
			from_ns = c[i].from_ns < from_ns ? c[i].from_ns : from_ns;
			to_ns = c[i].to_ns > to_ns ? c[i].to_ns : to_ns;
		}
	ctx->metric[M_LOCK_CONTENDED] = per_round(to_ns - from_ns, eb.rounds * nr);
}

/* ---- lines -------------------------------------------------------------------- */

/* Two tasks write one line in turn; how long the write took is what it cost. */
static void line_side(void *arg)
{
	u32 side = (u32)(uintptr_t)arg;

	for (u64 i = 0; i < eb.rounds; i++) {
		u64 from_ns;

		while (__atomic_load_n(&eb.turn, __ATOMIC_ACQUIRE) != side)
			env_relax();
		task_burn(1000); /* the line is no longer busy with the last transfer */
		env_irq_off();
		env_sync();
		from_ns = env_now();
		env_line_write(&eb.line);
		eb.cost_ns += env_now() - from_ns;
		env_irq_on();
		__atomic_store_n(&eb.turn, !side, __ATOMIC_RELEASE);
	}
}

static void measure_line(struct wl_ctx *ctx, enum topo_dist d, u32 metric)
{
	u32 other = cpu_at(d);

	if (other == engine.nr_cpus)
		return;
	env_line_init(&eb.line, LINE_USER);
	eb.turn = 0;
	eb.cost_ns = 0;
	run_pinned(0, line_side, NULL);
	run_pinned(other, line_side, (void *)1);
	task_wait_children();
	ctx->metric[metric] = per_round(eb.cost_ns, 2 * eb.rounds);
}

/* ---- IPIs ---------------------------------------------------------------------- */

/* Spins, so that the handler runs at once; a timer's expiry is not in the way. */
static void ipi_target(void *arg)
{
	(void)arg;
	while (eb.ipi_seen < eb.rounds) {
		u32 irqs = (u32)__atomic_load_n(&engine.cpu[env_this_cpu()].irqs, __ATOMIC_RELAXED);

		while ((u32)__atomic_load_n(&engine.cpu[env_this_cpu()].irqs, __ATOMIC_RELAXED) ==
		       irqs)
			env_relax();
		if (!__atomic_load_n(&eb.sent_ns, __ATOMIC_ACQUIRE))
			continue; /* a tick */
		eb.ipi_ns += env_now() - eb.sent_ns;
		eb.ipi_seen++;
		__atomic_store_n(&eb.sent_ns, 0, __ATOMIC_RELEASE);
	}
}

static void ipi_sender(void *arg)
{
	u32 to = (u32)(uintptr_t)arg;

	for (u64 i = 0; i < eb.rounds; i++) {
		task_burn(20000);
		env_sync();
		__atomic_store_n(&eb.sent_ns, env_now(), __ATOMIC_RELEASE);
		env_kick(to);
		while (__atomic_load_n(&eb.sent_ns, __ATOMIC_ACQUIRE))
			env_relax();
	}
}

static void measure_ipi(struct wl_ctx *ctx, enum topo_dist d, u32 metric)
{
	u32 other = cpu_at(d);

	if (other == engine.nr_cpus)
		return;
	eb.sent_ns = eb.ipi_ns = 0;
	eb.ipi_seen = 0;
	run_pinned(other, ipi_target, NULL);
	run_pinned(0, ipi_sender, (void *)(uintptr_t)other);
	task_wait_children();
	ctx->metric[metric] = per_round(eb.ipi_ns, eb.rounds);
}

/* ---- switches -------------------------------------------------------------------- */

/* The forks may take longer than all that one of them has to do. */
static void meet(void)
{
	sem_up(&eb.ready);
	gate_wait(&eb.start);
}

static void yielder(void *arg)
{
	(void)arg;
	meet();
	for (u64 i = 0; i < eb.rounds; i++)
		task_yield();
}

static void handoff(void *arg)
{
	(void)arg;
	meet();
	for (u64 i = 0; i < eb.rounds; i++) {
		mutex_lock(&eb.mutex);
		task_yield(); /* the other comes to wait */
		mutex_unlock(&eb.mutex);
	}
}

static u64 two_on_cpu0(void (*fn)(void *))
{
	u64 from_ns;

	sem_init(&eb.ready, "ready", 0, 0);
	gate_init(&eb.start, "start", 0);
	for (u32 i = 0; i < 2; i++)
		run_pinned(0, fn, NULL);
	for (u32 i = 0; i < 2; i++)
		sem_down(&eb.ready);
	from_ns = env_now();
	gate_open(&eb.start);
	task_wait_children();
	return env_now() - from_ns;
}

/* A burst on every CPU, over and over: each end of one passes control on. */
static void burster(void *arg)
{
	u64 bursts = (u64)(uintptr_t)arg;

	for (u64 i = 0; i < bursts; i++)
		task_burn(wl_vary(eb.ctx, 100));
}

static void measure_passes(struct wl_ctx *ctx)
{
	u64 each = (u64)param_num(ctx->v, P_SWITCHES) / engine.nr_cpus + 1, bursts = 0;

	for (u32 c = 0; c < engine.nr_cpus; c++)
		if (ctx->topo->cpu[c].online) {
			run_pinned(c, burster, (void *)(uintptr_t)each);
			bursts += each;
		}
	task_wait_children();
	ctx->metric[M_PASSES] = (s64)bursts;
}

static int engine_run(struct wl_ctx *ctx)
{
	eb.ctx = ctx;
	eb.rounds = (u64)param_num(ctx->v, P_ROUNDS);
	env_lock_init(&eb.lock, LINE_USER, "engine", 0);
	mutex_init(&eb.mutex, "engine", 0);
	ctx->begin_ns = env_now();
	measure_locks(ctx);
	for (u32 d = DIST_SMT; d <= DIST_REMOTE; d++) {
		measure_line(ctx, (enum topo_dist)d, M_LINE_SMT + d - DIST_SMT);
		measure_ipi(ctx, (enum topo_dist)d, M_IPI_SMT + d - DIST_SMT);
	}
	ctx->metric[M_SWITCH] = per_round(two_on_cpu0(yielder), 2 * eb.rounds);
	ctx->metric[M_MUTEX] = per_round(two_on_cpu0(handoff), 2 * eb.rounds);
	measure_passes(ctx);
	ctx->end_ns = env_now();
	return (int)ctx->checks_failed;
}

static const struct workload engine_bench = {
	.name = "engine", .help = "what locks, lines, IPIs and switches cost; speed of the engine",
	.spec = "DESIGN section 2",
	.params = engine_params, .nr_params = ARRAY_SIZE(engine_params),
	.metrics = engine_metrics, .nr_metrics = ARRAY_SIZE(engine_metrics),
	.run = engine_run,
};
WORKLOAD(engine_bench);
