/* SPDX-License-Identifier: MIT */
/* Tasks and the switch between them. Policy is sched/'s, time is the engine's. */
#include "task.h"

#include "console.h"
#include "deal.h"
#include "lib/fmt.h"
#include "lib/string.h"
#include "platform.h"
#include "rawlock.h"
#include "sync.h"
#include "window.h"

#define MAX_COPY 65536 /* bytes that live mode really copies at once */

struct sched *the_sched;

/* What a CPU runs. Touched by its own CPU only. */
struct kcpu {
	struct task *current, *idle;
	struct task *last;        /* last task but the idle one: whose cache this is */
	u32 mm;                   /* the address space loaded; idle borrows it */
	struct task *switched_from;
	struct hist *wake_latency_ns; /* live: its own until the end, or all share them */
	char *copies;             /* live: what task_copy() writes */
};

static struct {
	struct tasks_config cfg;
	struct kcpu *cpu;
	u32 next_id, next_slot, next_mm, alive;
	struct list all;
	struct list free;         /* exited and reaped: struct and stack are used again */
	struct refill_stats refills; /* atomic */
	struct raw_lock lock;     /* the rest of this struct, but cpu[] */
} tasks;

static struct kcpu *this_kcpu(void)
{
	return &tasks.cpu[env_this_cpu()];
}

struct task *task_self(void)
{
	struct task *t;

	env_irq_off(); /* no move between reading the CPU and its task */
	t = this_kcpu()->current;
	env_irq_on();
	return t;
}

static struct task *to_task(struct sched_task *st)
{
	return container_of(st, struct task, st);
}

/* ---- the switch ------------------------------------------------------------- */

/* What next finds of its cache on this CPU (DESIGN section 2, "Cache warmth"). */
static void charge_refill(struct task *t, const struct kcpu *k, u32 cpu)
{
	const struct machine *m = engine.cfg.machine;

	if (!t->footprint_kb || t->last_cpu == NO_CPU || (t->last_cpu == cpu && k->last == t))
		return;
	enum topo_dist d = topo_distance(engine.cfg.topo, t->last_cpu, cpu);
	/* Own core: the private caches were lost to others, L2 still helps. */
	u32 column = d <= DIST_SMT ? 0 : d - DIST_SMT;
	u32 cap_kb = column ? m->llc_kb : m->l2_kb;
	u32 kb = t->footprint_kb < cap_kb ? t->footprint_kb : cap_kb;

	u64 refill_ps = (u64)kb * machine_by_distance(m->refill_ns_per_kb, column) * 1000;

	/* Moved again before it touched anything: fetched once, from the farthest. */
	if (refill_ps > t->refill_ps) {
		t->refill_ps = refill_ps;
		t->refill_from = d;
	}
}

static enum ln_class ln_class(const struct task *t)
{
	s32 ln = task_latency_nice(the_sched, &t->st);

	return ln < 0 ? LN_BELOW : ln ? LN_ABOVE : LN_ZERO;
}

static void record_latency(struct task *t, const struct kcpu *k, u64 now_ns)
{
	/* Live: a waker that found the task still queued may be storing it. */
	u64 woken_ns = __atomic_load_n(&t->st.woken_ns, __ATOMIC_RELAXED);

	if (!woken_ns)
		return;
	if (window_open())
		hist_record(&k->wake_latency_ns[ln_class(t)],
			    now_ns > woken_ns ? now_ns - woken_ns : 0);
	__atomic_store_n(&t->st.woken_ns, 0, __ATOMIC_RELAXED);
}

static void set_turn(struct task *t, u64 ran_ns, u64 in_ns)
{
	__atomic_store_n(&t->turns, t->turns + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&t->ran_ns, ran_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&t->in_ns, in_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&t->turns, t->turns + 1, __ATOMIC_RELEASE);
}

/* Runs on the stack of the task that was switched to. */
static void switch_finish(void)
{
	struct task *prev = this_kcpu()->switched_from;
	/* A dying task that is preempted stays queued, and has its last switch yet to come. */
	bool dead = prev->st.state == TASK_DEAD && prev->st.on_rq == TASK_OFF_RQ;

	sched_switch_end(the_sched, &prev->st);
	if (!dead)
		return;
	/* Live: whoever woke it last may still be on the way out of sched_wake(). In
	 * lockstep no time passes between that wake-up and the unlocking. */
	if (engine.live) {
		env_lock(&prev->st.wake_lock);
		env_unlock(&prev->st.wake_lock);
	}
	raw_lock(&tasks.lock); /* its stack is no longer used */
	list_del(&prev->all);
	list_add_tail(&tasks.free, &prev->all);
	counter_add(&tasks.alive, -1);
	raw_unlock(&tasks.lock);
}

void task_schedule(bool preempt)
{
	struct sched_task *st = sched_switch_begin(the_sched, preempt);
	u32 cpu = env_this_cpu();
	struct kcpu *k = &tasks.cpu[cpu];
	struct task *prev = k->current, *next = to_task(st);

	k->switched_from = prev;
	if (next != prev) {
		u64 now_ns = env_now();

		if (next != k->idle) {
			env_charge(next->mm == k->mm ? ENV_SWITCH_THREAD : ENV_SWITCH_PROC);
			k->mm = next->mm;
			charge_refill(next, k, cpu);
			record_latency(next, k, now_ns);
			k->last = next;
			next->last_cpu = cpu;
		} else {
			env_charge(ENV_SWITCH_THREAD);
		}
		k->current = next;
		engine_path_switch(cpu, &next->paths);
		set_turn(prev, prev->ran_ns + now_ns - prev->in_ns, TIME_NEVER);
		set_turn(next, next->ran_ns, now_ns);
		/* Live: a task preempted by an interrupt goes on with interrupts off. */
		u32 irq_depth = engine.cpu[cpu].irq_depth;

		plat_ctx_switch(&prev->sp, next->sp);
		engine.cpu[env_this_cpu()].irq_depth = irq_depth;
	}
	switch_finish();
}

void kernel_preempt(void)
{
	task_schedule(true);
}

bool kernel_need_resched(u32 cpu)
{
	return sched_need_resched(the_sched, cpu);
}

u64 kernel_ran_ns(void)
{
	u64 ran_ns;

	env_irq_off();
	const struct task *t = this_kcpu()->current;

	ran_ns = t->ran_ns + env_now() - t->in_ns;
	env_irq_on();
	return ran_ns;
}

u64 task_cpu_ns(const struct task *t)
{
	u64 ran_ns, in_ns, now_ns;
	u32 turns;

	do {
		turns = __atomic_load_n(&t->turns, __ATOMIC_ACQUIRE);
		ran_ns = __atomic_load_n(&t->ran_ns, __ATOMIC_RELAXED);
		in_ns = __atomic_load_n(&t->in_ns, __ATOMIC_RELAXED);
		now_ns = env_now();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (turns % 2 || turns != __atomic_load_n(&t->turns, __ATOMIC_RELAXED));
	/* Its CPU's clock may be ahead of ours: then it began later. */
	return in_ns < now_ns ? ran_ns + now_ns - in_ns : ran_ns;
}

void kernel_event(enum ecpu_event e, bool irq)
{
	if (irq)
		env_path_begin(PATH_IRQ);
	switch ((u32)e) {
	case EVT_CALL + ENV_CALL_WAKE_LIST:
		sched_wake_list_drain(the_sched);
		break;
	case EVT_CALL + ENV_CALL_PULL:
		sched_idle_pull(the_sched);
		break;
	case EVT_TIMER:
		timers_run();
		break;
	case EVT_TICK:
		if (env_this_cpu() == engine.cfg.housekeeper) {
			env_line_write(&engine.jiffies_line);
			__atomic_store_n(&engine.jiffies, env_now() * 1000 / engine.tick_ps,
					 __ATOMIC_RELAXED);
		}
		sched_tick(the_sched);
		break;
	case EVT_RESCHED: /* the interrupt's return does the work, or the idle loop */
		break;
	}
	if (irq)
		env_path_end(PATH_IRQ);
}

/* ---- creation ------------------------------------------------------------------ */

static struct task *task_alloc(void)
{
	struct task *t;

	raw_lock(&tasks.lock);
	if (!list_empty(&tasks.free)) {
		t = list_first(&tasks.free, struct task, all);
		u32 slot = t->stack_slot;

		panic_unless(!t->st.on_cpu && t->st.wake_lock.owner == NO_CPU,
			     "task %u is used again before it was let go", t->st.id);
		list_del(&t->all);
		engine_line_drop(&t->exits.lock.line);
		engine_line_drop(&t->st.wake_lock.line);
		engine_line_drop(&t->st.state_line);
		memset(t, 0, sizeof(*t));
		t->stack_slot = slot;
	} else {
		t = arena_alloc(tasks.cfg.arena, sizeof(*t));
		t->stack_slot = tasks.next_slot++;
	}
	t->sp = plat_stack(t->stack_slot); /* under the lock: maps it on first use */
	t->st.id = tasks.next_id++;
	t->last_cpu = NO_CPU;
	t->in_ns = TIME_NEVER;
	counter_add(&tasks.alive, 1);
	raw_unlock(&tasks.lock);
	return t;
}

static void task_entry(void *arg)
{
	struct task *t = arg;

	engine.cpu[env_this_cpu()].irq_depth = 1; /* the rq lock's */
	switch_finish();
	t->fn(t->arg);
	task_exit();
}

struct task *task_fork(const struct task_attr *attr, void (*fn)(void *), void *arg)
{
	struct task *parent = task_self(), *t = task_alloc();

	env_path_begin(PATH_FORK);
	t->fn = fn;
	t->arg = arg;
	t->parent = parent;
	t->mm = attr->mm ? attr->mm : parent->mm;
	t->footprint_kb = attr->footprint_kb;
	sem_init(&t->exits, "exits of task", t->st.id, 0);
	rng_init(&t->rng, tasks.cfg.seed, t->st.id);
	t->sp = plat_ctx_init(t->sp, task_entry, t);
	sched_fork(the_sched, &t->st, parent->st.is_idle_task ? NULL : &parent->st, t->st.id,
		   attr->name);
	raw_lock(&tasks.lock); /* from here on reports may read it */
	list_add_tail(&tasks.all, &t->all);
	raw_unlock(&tasks.lock);
	if (attr->nice)
		sched_set_nice(the_sched, &t->st, attr->nice);
	if (attr->allowed)
		sched_set_affinity(the_sched, &t->st, attr->allowed);
	deal_to(t, attr->unit);
	parent->children++;
	env_path_end(PATH_FORK);
	sched_wake_new(the_sched, &t->st);
	return t;
}

u32 task_new_mm(void)
{
	u32 mm;

	raw_lock(&tasks.lock);
	mm = ++tasks.next_mm;
	raw_unlock(&tasks.lock);
	return mm;
}

/* ---- exit ----------------------------------------------------------------------- */

void task_wait_children(void)
{
	struct task *t = task_self();

	for (; t->children; t->children--)
		sem_down(&t->exits);
}

void task_wait_child(void)
{
	struct task *t = task_self();

	panic_unless(t->children, "task %u has no child to wait for", t->st.id);
	sem_down(&t->exits);
	t->children--;
}

void task_exit(void)
{
	struct task *t = task_self();

	task_wait_children(); /* they point to their parent */
	env_path_begin(PATH_EXIT);
	env_trace(EV_EXIT, t->st.id, 0, 0, 0);
	env_path_end(PATH_EXIT);
	if (t->parent)
		sem_up(&t->parent->exits);
	sched_set_state(the_sched, TASK_DEAD);
	task_schedule(false);
	panic("task %u runs after its exit", t->st.id);
}

u32 task_count(void)
{
	return __atomic_load_n(&tasks.alive, __ATOMIC_RELAXED);
}

/* ---- what tasks do ----------------------------------------------------------------- */

static void sleep_over(struct timer *timer)
{
	sched_wake(the_sched, &container_of(timer, struct task, timer)->st, 0);
}

void task_sleep_ns(u64 ns)
{
	struct task *t = task_self();
	u64 until_ns = env_now() + ns;

	/* Asleep before the timer can fire; it fires on this CPU, so not before
	 * interrupts are on again. */
	env_irq_off();
	sched_set_state(the_sched, TASK_SLEEPING);
	timer_start(&t->timer, until_ns, sleep_over);
	env_irq_on();
	task_schedule(false);
}

void task_burn(u64 ns)
{
	struct task *t = task_self();
	u64 refill_ps = t->refill_ps;

	if (refill_ps) {
		t->refill_ps = 0;
		__atomic_fetch_add(&tasks.refills.paid[t->refill_from], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&tasks.refills.ps, refill_ps, __ATOMIC_RELAXED);
	}
	env_burn(ns, refill_ps);
}

void task_copy(u32 bytes)
{
	/* Both copies of a message that changes hands stream through L2
	 * (spec/machines.md, "Refill after migration", column L2). */
	if (engine.live) {
		static const char from[MAX_COPY]; /* contents do not matter */

		env_irq_off(); /* the CPU's own target, or they would compete for its lines */
		memcpy(this_kcpu()->copies, from, bytes < MAX_COPY ? bytes : MAX_COPY);
		env_irq_on();
		return;
	}
	engine_charge_ps((u64)bytes * engine.cfg.machine->refill_ns_per_kb[0] * 1000 / 1024);
}

void task_yield(void)
{
	task_syscall();
	sched_yield(the_sched);
	task_schedule(false);
}

void task_exec(void)
{
	task_syscall();
	sched_exec(the_sched);
	if (sched_need_resched(the_sched, env_this_cpu()))
		task_schedule(true);
}

void task_syscall(void)
{
	env_sync();
	env_charge(ENV_SYSCALL);
	env_path_begin(PATH_SYSCALL);
	env_path_end(PATH_SYSCALL);
}

/* ---- the run's start --------------------------------------------------------------- */

static void idle_loop(void *arg)
{
	u32 cpu = (u32)(uintptr_t)arg;

	engine_exit(); /* control came from within the engine, or from before the run */
	env_tick_start();
	env_irq_on();
	if (cpu == 0) {
		struct task_attr attr = { .name = "main" };

		task_fork(&attr, tasks.cfg.first, tasks.cfg.arg);
	}
	for (;;) {
		if (kernel_need_resched(cpu)) {
			task_schedule(false);
		} else {
			env_path_begin(PATH_IDLE);
			env_path_end(PATH_IDLE);
			env_trace(EV_IDLE_ENTER, 0, 0, 0, 0);
			env_idle();
			env_trace(EV_IDLE_EXIT, 0, 0, 0, 0);
		}
	}
}

static void kcpu_init(struct kcpu *k, struct task *idle)
{
	struct arena *a = tasks.cfg.arena;

	k->current = k->idle = idle;
	k->wake_latency_ns = tasks.cfg.wake_latency_ns;
	if (!engine.live)
		return;
	k->copies = arena_alloc(a, MAX_COPY);
	k->wake_latency_ns = arena_alloc(a, LN_CLASSES * sizeof(struct hist));
	for (u32 i = 0; i < LN_CLASSES; i++)
		hist_init(&k->wake_latency_ns[i],
			  arena_alloc(a, HIST_BUCKETS(HIST_SUB_BITS) * sizeof(u64)),
			  HIST_SUB_BITS);
}

void tasks_init(const struct tasks_config *config)
{
	struct arena *a = config->arena;

	the_sched = config->sched;
	memset(&tasks, 0, sizeof(tasks));
	tasks.cfg = *config;
	deal_init(config);
	list_init(&tasks.all);
	list_init(&tasks.free);
	timers_init(engine.nr_cpus, a);
	tasks.cpu = arena_alloc(a, engine.nr_cpus * sizeof(*tasks.cpu));
	for (u32 c = 0; c < engine.nr_cpus; c++) {
		struct task *t = arena_alloc(a, sizeof(*t));

		t->stack_slot = tasks.next_slot++;
		t->last_cpu = c;
		sem_init(&t->exits, "exits", 0, 0);
		engine.cpu[c].sp = plat_ctx_init(plat_stack(t->stack_slot), idle_loop,
						 (void *)(uintptr_t)c);
		engine.cpu[c].paths = &t->paths;
		kcpu_init(&tasks.cpu[c], t);
		sched_set_idle_task(the_sched, c, &t->st);
	}
	tasks.next_id = 1; /* 0 is every idle task's */
}

void tasks_collect(void)
{
	for (u32 c = 0; engine.live && c < engine.nr_cpus; c++)
		for (u32 i = 0; i < LN_CLASSES; i++)
			hist_merge(&tasks.cfg.wake_latency_ns[i], &tasks.cpu[c].wake_latency_ns[i]);
}

const struct refill_stats *task_refills(void)
{
	return &tasks.refills;
}

/* ---- reports ------------------------------------------------------------------------ */

#define DUMP_MAX 64

void kernel_dump_tasks(void (*line)(const char *text))
{
	u32 n = 0;
	char buf[160];

	raw_lock(&tasks.lock); /* live: the others go on; a walk must not end up on the free list */
	list_for_each(e, &tasks.all) {
		const struct task *t = container_of(e, struct task, all);
		const struct env_lock *on = __atomic_load_n(&t->waits_for, __ATOMIC_RELAXED);
		const char *now = sched_state_name(__atomic_load_n(&t->st.state,
								   __ATOMIC_RELAXED));
		u32 cpu = __atomic_load_n(&t->st.cpu, __ATOMIC_RELAXED);
		bool timer = __atomic_load_n(&t->timer.pending, __ATOMIC_RELAXED);

		if (n++ >= DUMP_MAX)
			continue;
		if (on)
			fmt_sn(buf, sizeof(buf), "  task %u %s: %s on %s %u, cpu %u", t->st.id,
			       t->st.name, now, on->name, on->id, cpu);
		else
			fmt_sn(buf, sizeof(buf), "  task %u %s: %s%s, cpu %u", t->st.id, t->st.name,
			       now, timer ? " until a timer" : "", cpu);
		line(buf);
	}
	raw_unlock(&tasks.lock);
	if (n > DUMP_MAX) {
		fmt_sn(buf, sizeof(buf), "  and %u more tasks", n - DUMP_MAX);
		line(buf);
	}
	sched_dump(the_sched, line);
}

void kernel_log(const char *text)
{
	console_line(text);
}

static void say_line(const char *text)
{
	panic_say("%s\n", text);
}

void tasks_panic_dump(void)
{
	const struct task *t;
	u32 cpu;

	if (!trace_on || (!engine.live && !engine.cur)) /* no run in progress */
		return;
	cpu = env_this_cpu();
	panic_say("cpu %u of the run, at %llu ns", cpu,
		  (unsigned long long)engine_report_ns());
	t = tasks.cpu ? tasks.cpu[cpu].current : NULL;
	if (t)
		panic_say(", task %u %s", t->st.id, t->st.name ? t->st.name : "idle");
	panic_say("\nlocks:\n");
	engine_dump(say_line);
	panic_say("runqueues:\n");
	sched_dump(the_sched, say_line);
	panic_say("last events:\n");
	trace_dump(32, say_line);
}
