/* SPDX-License-Identifier: MIT */
/* Drawing, playing and shrinking cases: see property.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "property.h"
#include "../../kernel/lib/rng.h"

#define MAX_ALIVE 14
#define QUIET_TICKS 40 /* after the last operation */

static struct machine m;
static const struct prop_world *world;
static u32 alive;
static u64 now_ns; /* since the start */
static jmp_buf failed;
static struct prop_failure failure;

extern jmp_buf *panic_jump;
extern char panic_text[256];

/* ---- drawing --------------------------------------------------------------------- */

static const struct {
	const char *name, *arg; /* of an argument that is used */
	u32 share;
} kinds[PROP_KINDS] = {
	[PROP_FORK] = { "fork on CPU", NULL, 6 },
	[PROP_WAKE] = { "wake task", "from CPU", 24 },
	[PROP_BLOCK] = { "block on CPU", NULL, 16 },
	[PROP_EXIT] = { "exit on CPU", NULL, 2 },
	[PROP_RUN] = { "run", "ns", 40 },
	[PROP_NICE] = { "nice of task", "to", 4 },
	[PROP_CLASS] = { "class of task", "to", 2 },
	[PROP_AFFINITY] = { "affinity of task", "to mask", 3 },
	[PROP_MIGRATE] = { "migrate task", "to CPU", 4 },
	[PROP_YIELD] = { "yield on CPU", NULL, 4 },
};

static enum prop_kind draw_kind(struct rng *r)
{
	u32 total = 0, draw, k = 0;

	for (u32 i = 0; i < PROP_KINDS; i++)
		total += kinds[i].share;
	for (draw = (u32)rng_below(r, total); draw >= kinds[k].share; k++)
		draw -= kinds[k].share;
	return (enum prop_kind)k;
}

/* Half of the cases keep to weights within a factor of ten, where bounds are
 * narrow; the others have all of them. */
static u32 draw_arg(struct rng *r, const struct prop_case *c, enum prop_kind kind)
{
	bool narrow = c->seed % 2;

	switch (kind) {
	case PROP_RUN:
		return (u32)rng_below(r, 1ull << (10 + rng_below(r, 15)));
	case PROP_NICE:
		return narrow ? 15 + (u32)rng_below(r, 11) : (u32)rng_below(r, 40);
	case PROP_CLASS:
		return (u32)rng_below(r, narrow ? 2 : 3);
	default:
		return (u32)rng_below(r, 1u << 16);
	}
}

void prop_generate(struct prop_case *c, u64 seed)
{
	static const char *const switches[] = {
		"", "", "NEXT_BUDDY", "NO_LAST_BUDDY", "NO_GENTLE_FAIR_SLEEPERS", "NR_LATENCY=3",
		"NO_TTWU_QUEUE", "LATENCY=2000000+MIN_GRANULARITY=300000", "NO_WAKEUP_PREEMPTION",
		"TUNABLE_SCALING=none", "NO_START_DEBIT",
	};
	struct rng r;

	rng_init(&r, seed, 7);
	memset(c, 0, sizeof(*c));
	c->seed = seed;
	c->pkgs = 1 + (u32)rng_below(&r, 2);
	c->cores = 1 + (u32)rng_below(&r, 4);
	c->threads = 1 + (u32)rng_below(&r, 2);
	if (!rng_below(&r, 4))
		c->pkgs = c->cores = c->threads = 1;
	c->profile = rng_below(&r, 3) ? PROFILE_V6_4 : PROFILE_V5_2;
	c->switches = switches[rng_below(&r, ARRAY_SIZE(switches))];
	c->nr_ops = 40 + (u32)rng_below(&r, PROP_OPS_MAX - 40);
	for (u32 i = 0; i < c->nr_ops; i++) {
		enum prop_kind kind = draw_kind(&r);

		c->op[i] = (struct prop_op){ kind, (u32)rng_below(&r, 1u << 16),
					     draw_arg(&r, c, kind) };
	}
}

/* ---- playing ------------------------------------------------------------------------ */

void prop_fail(const char *property, const char *text, ...)
{
	va_list ap;

	if (world->only && strcmp(world->only, property))
		return;
	failure.property = property;
	va_start(ap, text);
	vsnprintf(failure.text, sizeof(failure.text), text, ap);
	va_end(ap);
	longjmp(failed, 1);
}

static void settle(u32 tick_cpu)
{
	for (u32 c = 0; world->lost_pull_calls && c < m.topo.nr_cpus; c++)
		test_env.called[c][ENV_CALL_PULL] = false;
	machine_settle(&m);
	model_settled(tick_cpu);
}

static void pass(u64 ns)
{
	machine_advance(&m, ns);
	now_ns += ns;
	model_time(ns);
}

static void tick_all(void)
{
	test_env.jiffies++;
	for (u32 c = 0; c < m.topo.nr_cpus; c++) {
		if (sched_current(m.s, c)->is_idle_task)
			continue;
		machine_tick(&m, c);
		settle(c);
	}
}

static void run(u64 ns)
{
	while (ns) {
		u64 left = PROP_TICK_NS - now_ns % PROP_TICK_NS;

		if (ns < left) {
			pass(ns);
			return;
		}
		pass(left);
		ns -= left;
		if (!world->no_ticks)
			tick_all();
	}
}

/* NULL: not alive, or none at all. */
static struct sched_task *task_named(u32 who)
{
	struct sched_task *p = m.nr_tasks ? &m.task[(who + m.nr_tasks - 1) % m.nr_tasks] : NULL;

	return p && p->state != TASK_DEAD ? p : NULL;
}

static void fork_one(void)
{
	if (alive == MAX_ALIVE || m.nr_tasks == TEST_TASKS)
		return;
	alive++;
	model_fork(m.nr_tasks);
	sched_wake_new(m.s, machine_fork(&m));
}

static void set_affinity(struct sched_task *p, u64 bits)
{
	struct cpumask mask = { { bits & m.s->online.w[0] } };

	if (!mask.w[0])
		mask = m.s->online;
	sched_set_affinity(m.s, p, &mask);
}

static void migrate(struct sched_task *p, u32 cpu)
{
	struct cpumask before = p->allowed;

	set_affinity(p, 1ull << cpu);
	settle(m.topo.nr_cpus);
	sched_set_affinity(m.s, p, &before);
}

static void cpu_op(const struct prop_op *op)
{
	bool idle;

	machine_on(op->who % m.topo.nr_cpus);
	idle = sched_current(m.s, test_env.cpu)->is_idle_task;
	if (op->kind == PROP_FORK) {
		fork_one();
	} else if (op->kind == PROP_BLOCK && !idle) {
		machine_sleep(&m);
	} else if (op->kind == PROP_EXIT && !idle) {
		alive--;
		sched_set_state(m.s, TASK_DEAD);
		machine_switch(&m, false);
	} else if (op->kind == PROP_YIELD && !idle) {
		sched_yield(m.s);
		machine_switch(&m, false);
	}
}

static void task_op(const struct prop_op *op)
{
	struct sched_task *p = task_named(op->who);
	u32 cpu = op->arg % m.topo.nr_cpus;

	if (!p)
		return;
	machine_on(cpu);
	switch (op->kind) {
	case PROP_WAKE:
		sched_wake(m.s, p, op->arg / 64 % 2 ? WAKE_SYNC : 0);
		break;
	case PROP_NICE:
		sched_set_nice(m.s, p, (s32)(op->arg % 40) - 20);
		break;
	case PROP_CLASS:
		sched_set_class(m.s, p, (enum sched_class)(op->arg % 3));
		model_requeued(p);
		break;
	case PROP_AFFINITY:
		set_affinity(p, op->arg);
		break;
	default:
		migrate(p, cpu);
		break;
	}
}

static void play(const struct prop_op *op)
{
	switch (op->kind) {
	case PROP_RUN:
		run(op->arg);
		return;
	case PROP_FORK:
	case PROP_BLOCK:
	case PROP_EXIT:
	case PROP_YIELD:
		cpu_op(op);
		break;
	default:
		task_op(op);
		break;
	}
	settle(m.topo.nr_cpus);
}

bool prop_run(const struct prop_case *c, const struct prop_world *w, struct prop_failure *f)
{
	jmp_buf panicked;

	world = w;
	alive = 0;
	now_ns = 0;
	memset(&failure, 0, sizeof(failure));
	machine_init_policy(&m, c->pkgs, c->cores, c->threads, c->profile, c->switches,
			    w->policy ? w->policy : &cfs_policy);
	model_init(&m);
	panic_jump = &panicked;
	if (setjmp(panicked)) {
		failure.property = "panic";
		snprintf(failure.text, sizeof(failure.text), "%s", panic_text);
	} else if (!setjmp(failed)) {
		for (failure.op = 0; failure.op < c->nr_ops; failure.op++)
			play(&c->op[failure.op]);
		run(QUIET_TICKS * PROP_TICK_NS);
	}
	panic_jump = NULL;
	*f = failure;
	if (failure.property)
		free(m.memory);
	else
		machine_free(&m);
	return !failure.property;
}

/* ---- shrinking -------------------------------------------------------------------------- */

/* Tries c without n operations from `from` on; keeps that if it fails alike. */
static bool leave_out(struct prop_case *c, const struct prop_world *w, struct prop_failure *f,
		      u32 from, u32 n)
{
	static struct prop_case less;
	struct prop_failure g;

	less = *c;
	memmove(&less.op[from], &less.op[from + n], (c->nr_ops - from - n) * sizeof(c->op[0]));
	less.nr_ops = c->nr_ops - n;
	if (prop_run(&less, w, &g) || strcmp(g.property, f->property))
		return false;
	*c = less;
	*f = g;
	return true;
}

void prop_shrink(struct prop_case *c, const struct prop_world *w, struct prop_failure *f)
{
	u32 chunk;
	bool any;

	/* What comes after the failure has no part in it. */
	if (f->op + 1 < c->nr_ops)
		leave_out(c, w, f, f->op + 1, c->nr_ops - f->op - 1);
	for (chunk = c->nr_ops / 2; chunk; chunk = any && chunk == 1 ? 1 : chunk / 2) {
		any = false;
		for (u32 from = 0; from + chunk <= c->nr_ops;) {
			if (leave_out(c, w, f, from, chunk))
				any = true;
			else
				from += chunk;
		}
	}
	prop_run(c, w, f);
}

/* ---- telling ------------------------------------------------------------------------------ */

static size_t format_op(const struct prop_case *c, const struct prop_op *op, char *buf, size_t n)
{
	u32 cpus = c->pkgs * c->cores * c->threads;
	int len;

	if (op->kind == PROP_RUN)
		len = snprintf(buf, n, "  run %u ns\n", op->arg);
	else if (!kinds[op->kind].arg)
		len = snprintf(buf, n, "  %s %u\n", kinds[op->kind].name, op->who % cpus);
	else if (op->kind == PROP_WAKE || op->kind == PROP_MIGRATE)
		len = snprintf(buf, n, "  %s %u %s %u\n", kinds[op->kind].name, op->who,
			       kinds[op->kind].arg, op->arg % cpus);
	else if (op->kind == PROP_NICE)
		len = snprintf(buf, n, "  nice of task %u to %d\n", op->who,
			       (int)(op->arg % 40) - 20);
	else
		len = snprintf(buf, n, "  %s %u %s %#x\n", kinds[op->kind].name, op->who,
			       kinds[op->kind].arg, op->arg);
	return len < 0 ? 0 : (size_t)len < n ? (size_t)len : n - 1;
}

char *prop_format(const struct prop_case *c, const struct prop_failure *f, char *buf, size_t n)
{
	size_t len;

	len = (size_t)snprintf(buf, n, "%s: %s\n  seed %llu (PROPERTY_SEED=%llu replays it), "
			       "%ux%ux%u %s \"%s\", operation %u of %u (tasks are numbered modulo "
			       "those there are, from 1):\n", f->property, f->text,
			       (unsigned long long)c->seed, (unsigned long long)c->seed, c->pkgs,
			       c->cores, c->threads, profile_names[c->profile], c->switches,
			       f->op + 1, c->nr_ops);
	for (u32 i = 0; i < c->nr_ops && len < n - 1; i++)
		len += format_op(c, &c->op[i], buf + len, n - len);
	return buf;
}
