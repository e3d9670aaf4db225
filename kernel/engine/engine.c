/* SPDX-License-Identifier: MIT */
/* Clocks, sync points, events and the passing of control. */
#include "../../sched/env.h"
#include "../lib/fmt.h"
#include "../lib/math64.h"
#include "../lib/string.h"
#include "../panic.h"
#include "../platform.h"
#include "engine.h"
#include "ready.h"

struct engine engine;

static void cpu_init(struct ecpu *c, u32 id)
{
	c->id = id;
	c->now_ps = c->accounted_ps = ENGINE_START_PS;
	c->state = ECPU_RUN;
	c->irq_depth = 1; /* until the idle task starts */
	c->next_event_ps = TIME_NEVER;
	c->next_waiter = NO_CPU;
	for (u32 e = 0; e < EVT_NR; e++)
		c->event_ps[e] = TIME_NEVER;
}

static void cores_init(struct engine *e)
{
	const struct sched_topo *t = e->cfg.topo;

	e->core = arena_alloc(e->cfg.arena, t->nr_cores * sizeof(*e->core));
	for (u32 c = 0; c < e->nr_cpus; c++) {
		struct ecore *core = &e->core[t->cpu[c].core];

		e->cpu[c].core = t->cpu[c].core;
		core->mask = topo_mask(t, TOPO_SMT, c);
		core->nr_busy++;
	}
	for (u32 i = 0; i < t->nr_cores; i++)
		e->core[i].speed = machine_smt_speed(e->cfg.machine, e->core[i].nr_busy);
}

static void costs_init(struct engine *e)
{
	static const u32 insns[PATH_NR] = {
#define PATH(name, n, help) [PATH_##name] = n,
#include "../../sched/costs.def"
#undef PATH
	};
	const struct machine *m = e->cfg.machine;

	e->ps_per_insn = machine_ps_per_insn(m);
	for (u32 p = 0; p < PATH_NR; p++)
		e->path_ps[p] = e->cfg.cost_insn ? 0 : (u64)insns[p] * e->ps_per_insn;
	e->surcharge_ps[ENV_SYSCALL] = (m->syscall_ns + m->kpti_ns) * 1000ull;
	e->surcharge_ps[ENV_IRQ] = m->irq_ns * 1000ull;
	e->surcharge_ps[ENV_TICK_HW] = m->tick_hw_ns * 1000ull;
	e->surcharge_ps[ENV_SWITCH_THREAD] = m->switch_thread_ns * 1000ull;
	e->surcharge_ps[ENV_SWITCH_PROC] = m->switch_proc_ns * 1000ull;
	e->surcharge_ps[ENV_IPI_SEND] = m->ipi_send_ns * 1000ull;
	e->surcharge_ps[ENV_RDTSC] = m->rdtsc_ps;
	e->surcharge_ps[ENV_DIV] = m->div_ps;
	e->surcharge_ps[ENV_IRQSAVE] = m->irqsave_ps;
}

/* What the counter shows between an exit and an enter with nothing in between:
 * the engine's own way out and in, which must not be charged. */
static void measure_bracket(struct engine *e)
{
	static struct path_stack none;

	e->cur = &e->cpu[0];
	e->cur->paths = &none;
	e->bracket_insns = 0;
	engine_exit();
	engine_enter();
	e->bracket_insns = e->path_insns[PATH_NR];
	e->path_insns[PATH_NR] = 0;
	e->cur->now_ps = ENGINE_START_PS;
}

/* The instruction counter is everybody's, and CPUs that were parked a moment
 * ago may still be on their way to HLT. Under icount a PAUSE gives the turn to
 * the next CPU that does not halt. */
static void let_others_halt(void)
{
	for (u32 i = 0; i < 4 * plat_nr_cpus(); i++)
		plat_relax();
}

void engine_init(const struct engine_config *cfg)
{
	struct engine *e = &engine;

	*e = (struct engine){ .cfg = *cfg, .live = cfg->exec->live, .nr_cpus = cfg->topo->nr_cpus };
	e->set_words = (e->nr_cpus + 63) / 64;
	e->cpu = arena_alloc(cfg->arena, e->nr_cpus * sizeof(*e->cpu));
	e->leaves = 1u << log2_ceil(e->nr_cpus);
	e->key = arena_alloc(cfg->arena, 2 * e->leaves * sizeof(*e->key));
	for (u32 i = 0; i < 2 * e->leaves; i++)
		e->key[i] = TIME_NEVER;
	for (u32 c = 0; c < e->nr_cpus; c++) {
		cpu_init(&e->cpu[c], c);
		ready_set(e->key, e->leaves, c, ENGINE_START_PS);
	}
	cores_init(e);
	costs_init(e);
	e->tick_ps = 1000000000000ull / cfg->hz;
	e->jiffies = ENGINE_START_PS / e->tick_ps;
	e->last_action_ps = ENGINE_START_PS;
	engine_line_init(&e->jiffies_line, LINE_JIFFIES);
	if (cfg->cost_insn) {
		let_others_halt();
		measure_bracket(e);
	}
}

/* ---- costs --------------------------------------------------------------- */

void engine_charge_code_ps(u64 ps)
{
	struct ecpu *c = engine.cur;
	u32 speed = engine.core[c->core].speed;

	c->now_ps += speed == 1000 ? ps : (ps * 1000 + speed - 1) / speed;
}

void engine_enter_insn(void)
{
	u64 n = plat_cycles() - engine.cycles_base;

	panic_unless(!engine.inside, "engine entered from within");
	engine.inside = true;
	if (engine.uncharged)
		return;
	n = n > engine.bracket_insns ? n - engine.bracket_insns : 0;
	engine.path_insns[path_top(engine.cur)] += n;
	engine_charge_code_ps(n * engine.ps_per_insn);
}

void engine_exit_insn(void)
{
	engine.inside = false;
	engine.cycles_base = plat_cycles();
}

u64 engine_now(void)
{
	return engine.cur->now_ps / 1000;
}

u64 engine_report_ns(void)
{
	return engine.live ? live_now() : engine_now();
}

/* ---- control --------------------------------------------------------------- */

static bool is_earliest(const struct ecpu *c)
{
	u64 min = ready_min(engine.key);

	if (min == TIME_NEVER || c->now_ps < min)
		return true;
	if (engine.cfg.slack_ps)
		return c->now_ps <= min + engine.cfg.slack_ps;
	return c->now_ps == min && c->id < ready_first(engine.key, engine.leaves);
}

/* When a CPU that stands still can next act; TIME_NEVER: only another can help. */
static u64 standing_key(const struct ecpu *c)
{
	u64 at = TIME_NEVER;

	switch (c->state) {
	case ECPU_RUN:
		at = c->now_ps;
		break;
	case ECPU_BURN:
		at = c->burn_end_ps;
		if (!c->irq_depth && c->next_event_ps < at)
			at = c->next_event_ps;
		break;
	case ECPU_IDLE:
		at = c->next_event_ps;
		break;
	case ECPU_LOCK_WAIT:
		break;
	}
	/* An event may lie before the point at which this CPU stands. */
	return at < c->now_ps ? c->now_ps : at;
}

/* The order check of its own kind: does not trust the tree. */
static void check_order(const struct ecpu *c)
{
	u64 slack = engine.cfg.slack_ps;

	panic_unless(c->now_ps + slack >= engine.last_action_ps,
		     "engine: cpu %u acts at %llu ps after an action at %llu ps", c->id,
		     (unsigned long long)c->now_ps, (unsigned long long)engine.last_action_ps);
	if (c->now_ps > engine.last_action_ps)
		engine.last_action_ps = c->now_ps;
#ifdef ANECHOIC_DEBUG
	for (u32 i = 0; i < engine.nr_cpus; i++) {
		const struct ecpu *o = &engine.cpu[i];
		u64 at;

		if (o == c)
			continue;
		at = standing_key(o);
		panic_unless(at > c->now_ps || (slack && at + slack >= c->now_ps) ||
				     (at == c->now_ps && o->id > c->id),
			     "engine: cpu %u acts at %llu ps before cpu %u at %llu ps", c->id,
			     (unsigned long long)c->now_ps, o->id, (unsigned long long)at);
	}
#endif
}

static void check_limit(const struct ecpu *c)
{
	if (unlikely(c->now_ps - ENGINE_START_PS > engine.cfg.vlimit_ps))
		engine_fail("virtual time passed vlimit_s");
}

void engine_pass(struct ecpu *c)
{
	u64 min = ready_min(engine.key);

	panic_unless(!engine.uncharged, "cpu %u: a sync point in an uncharged section", c->id);
	if (min == TIME_NEVER)
		engine_fail("no task can run and nothing is pending");
	u32 next = ready_first(engine.key, engine.leaves);
	struct ecpu *n = &engine.cpu[next];

	ready_set(engine.key, engine.leaves, next, TIME_NEVER);
	if (n->now_ps < min)
		n->now_ps = min;
	check_limit(n);
	if (n == c)
		return;
	c->passes++;
	engine.passes++;
	engine.cur = n;
	engine.cfg.exec->pass(c, n);
}

void engine_requeue(struct ecpu *c)
{
	ready_set(engine.key, engine.leaves, c->id, standing_key(c));
}

/* ---- events ------------------------------------------------------------------ */

static void next_event_update(struct ecpu *c)
{
	u64 min = TIME_NEVER;

	for (u32 e = 0; e < EVT_NR; e++)
		if (c->event_ps[e] < min)
			min = c->event_ps[e];
	c->next_event_ps = min;
}

void engine_event_set(struct ecpu *c, enum ecpu_event e, u64 at_ps)
{
	c->event_ps[e] = at_ps;
	next_event_update(c);
	if (c != engine.cur)
		engine_requeue(c);
}

void engine_event_clear(struct ecpu *c, enum ecpu_event e)
{
	engine_event_set(c, e, TIME_NEVER);
}

/* Whether c's idle loop looks at memory at that time, so that a store is enough to
 * wake it: always if its part waits with MWAIT, otherwise while it is in the first
 * state, a polling loop (spec/machines.md, Pitfalls). */
static bool polls(const struct ecpu *c, u64 at_ps)
{
	const struct machine *m = engine.cfg.machine;

	return c->in_idle &&
	       (m->mwait || at_ps < c->idle_since_ps + m->idle_residency_ns[1] * 1000ull);
}

bool engine_send(u32 cpu, enum ecpu_event e)
{
	engine_sync();

	const struct machine *m = engine.cfg.machine;
	struct ecpu *c = engine.cur, *to = &engine.cpu[cpu];
	u32 dist = topo_distance(engine.cfg.topo, c->id, cpu);
	bool seen = polls(to, c->now_ps);
	u64 at_ps;

	if (!seen)
		engine_charge_ps(engine.surcharge_ps[ENV_IPI_SEND]);
	at_ps = c->now_ps;
	if (dist != DIST_SELF)
		at_ps += seen ? machine_by_distance(m->c2c_ps, dist - DIST_SMT)
			      : machine_by_distance(m->ipi_ns, dist - DIST_SMT) * 1000ull;
	/* One that comes as an IPI stays one, for whatever reason it comes earlier. */
	if (to->event_ps[e] == TIME_NEVER)
		to->seen = (to->seen & ~(1u << e)) | (u32)seen << e;
	if (at_ps < to->event_ps[e])
		engine_event_set(to, e, at_ps);
	return !seen;
}

void engine_tick_start(struct ecpu *c)
{
	c->tick_on = true;
	engine_event_set(c, EVT_TICK, (c->now_ps / engine.tick_ps + 1) * engine.tick_ps);
}

/* Takes the first due event, as an interrupt would come in. */
static void take_event(struct ecpu *c)
{
	for (u32 e = 0; e < EVT_NR; e++) {
		bool irq = !(c->seen >> e & 1);

		if (c->event_ps[e] > c->now_ps)
			continue;
		c->seen &= ~(1u << e);
		/* Missed ticks are taken as one. */
		if (e == EVT_TICK)
			engine_tick_start(c);
		else
			engine_event_clear(c, (enum ecpu_event)e);
		c->irq_depth++;
		c->irqs += irq;
		if (irq)
			engine_charge_ps(
				engine.surcharge_ps[e == EVT_TICK ? ENV_TICK_HW : ENV_IRQ]);
		engine_exit();
		kernel_event((enum ecpu_event)e, irq);
		engine_enter();
		c->irq_depth--;
		return;
	}
}

void engine_sync(void)
{
	for (;;) {
		struct ecpu *c = engine.cur; /* the task may have moved meanwhile */

		if (!is_earliest(c)) {
			ready_set(engine.key, engine.leaves, c->id, c->now_ps);
			engine_pass(c);
		} else if (c->irq_depth) {
			break;
		} else if (c->next_event_ps <= c->now_ps) {
			take_event(c);
		} else if (kernel_need_resched(c->id)) {
			engine_exit();
			kernel_preempt();
			engine_enter();
		} else {
			break;
		}
	}
	check_order(engine.cur);
	check_limit(engine.cur);
}

/* ---- the end -------------------------------------------------------------------- */

void engine_dump(void (*line)(const char *text))
{
	char buf[160];

	for (u32 i = 0; i < engine.nr_cpus; i++) {
		const struct ecpu *c = &engine.cpu[i];

		const struct env_lock *l;

		for (u32 h = 0; h < __atomic_load_n(&c->nr_held, __ATOMIC_RELAXED); h++) {
			l = __atomic_load_n(&c->held[h], __ATOMIC_RELAXED);
			fmt_sn(buf, sizeof(buf), "  cpu %u holds lock %s %u", i, l->name, l->id);
			line(buf);
		}
		l = __atomic_load_n(&c->waiting_for, __ATOMIC_RELAXED);
		if (l) {
			fmt_sn(buf, sizeof(buf), "  cpu %u waits for lock %s %u, owner cpu %u", i,
			       l->name, l->id, __atomic_load_n(&l->owner, __ATOMIC_RELAXED));
			line(buf);
		}
	}
}

void engine_fail(const char *f, ...)
{
	va_list ap;
	char buf[320];

	env_irq_off();
	/* Live: several may fail at once, and one reports. */
	if (__atomic_exchange_n(&engine.failed, true, __ATOMIC_RELAXED))
		engine_finish();
	if (engine.cfg.exec->stop)
		engine.cfg.exec->stop();
	va_start(ap, f);
	fmt_vsn(engine.why, sizeof(engine.why), f, ap);
	va_end(ap);

	fmt_sn(buf, sizeof(buf), "run failed at %llu ns on cpu %u: %s",
	       (unsigned long long)engine_report_ns(), env_this_cpu(), engine.why);
	kernel_log(buf);
	engine_dump(kernel_log);
	kernel_dump_tasks(kernel_log);
	engine_finish();
}

void engine_finish(void)
{
	/* Live: an interrupt that finds the run over leaves, and would tell nobody. */
	env_irq_off();
	__atomic_store_n(&engine.over, true, __ATOMIC_RELEASE);
	engine.cfg.exec->finish();
}
