/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* fuzz: -max_len=200 */
/* runs: 3000 */
/*
 * Bytes as operations on a machine, of which any CPU may act and whose interrupts
 * come when the input says so, or never. After each, the invariants of check.c and
 * what must hold of every task. Two bytes choose the machine, then three each an
 * operation.
 */
#include "input.h"
#include "tests/host/env/machine.h"

#define MAX_ALIVE 20
#define NR_GROUPS 4 /* that stay; one more comes and goes */

static struct machine m;
static struct task_group *group[NR_GROUPS + 1];
static u32 alive;

enum op {
	OP_FORK, OP_SLEEP, OP_EXIT, OP_WAKE, OP_NICE, OP_CLASS, OP_AFFINITY, OP_GROUP, OP_YIELD,
	OP_STATE_THEN_PREEMPT, OP_RESCHED, OP_TICK, OP_TIME, OP_INTERRUPTS, OP_SHARES,
	OP_GROUP_LIFE, OP_NR
};

static void setup(u32 shape, u32 variant)
{
	static const u8 shapes[][3] = {
		{ 1, 1, 1 }, { 1, 2, 1 }, { 1, 1, 2 }, { 2, 1, 1 }, { 2, 2, 2 }, { 1, 3, 2 },
		{ 3, 1, 2 }, { 2, 1, 4 },
	};
	static const char *const switches[] = {
		"", "NEXT_BUDDY+NR_LATENCY=1", "NO_TTWU_QUEUE+CHILD_RUNS_FIRST", "NO_IDLE_PULL",
		"NO_SIS_PROP+SIS_AVG_CPU", "LATENCY=100000+MIN_GRANULARITY=100000",
		"TG_PUBLISH=delay+TG_WEIGHT=skip+REWEIGHT=delta", "TG_PUBLISH=rate",
		"TG_WEIGHT=tick+TG_THRESHOLD=16",
	};
	const u8 *s = shapes[shape % ARRAY_SIZE(shapes)];

	machine_init(&m, s[0], s[1], s[2], variant % 2 ? PROFILE_V5_2 : PROFILE_V6_4,
		     switches[variant / 2 % ARRAY_SIZE(switches)]);
	alive = 0;
	group[0] = &m.s->root_tg;
	group[1] = tg_create(m.s, group[0], 1024);
	group[2] = tg_create(m.s, group[1], 2);
	group[3] = tg_create_idle(m.s, group[0]);
	group[NR_GROUPS] = NULL;
}

/* Group 3 turns idle and back, the others change shares. */
static void change_shares(u32 who, u32 arg)
{
	if (who % NR_GROUPS == 3)
		tg_set_idle(m.s, group[3], arg % 2);
	else if (who % NR_GROUPS)
		tg_set_shares(m.s, group[who % NR_GROUPS], 2 + arg * 20);
}

static void begin_or_end(u32 who)
{
	struct task_group **tg = &group[NR_GROUPS];

	if (!*tg) {
		*tg = tg_create(m.s, group[who % NR_GROUPS], 2 + who);
	} else if (!(*tg)->nr_tasks) {
		tg_destroy(m.s, *tg);
		*tg = NULL;
	}
}

static void cpu_op(enum op op, u32 arg)
{
	bool idle = sched_current(m.s, test_env.cpu)->is_idle_task;

	switch (op) {
	case OP_FORK:
		if (alive == MAX_ALIVE || m.nr_tasks == TEST_TASKS)
			return;
		alive++;
		sched_wake_new(m.s, machine_fork(&m));
		break;
	case OP_SLEEP:
		if (!idle)
			machine_sleep(&m);
		break;
	case OP_EXIT:
		if (idle)
			return;
		alive--;
		sched_set_state(m.s, TASK_DEAD);
		machine_switch(&m, false);
		break;
	case OP_YIELD:
		sched_yield(m.s);
		machine_switch(&m, false);
		break;
	case OP_STATE_THEN_PREEMPT:
		if (idle)
			return;
		sched_set_state(m.s, TASK_SLEEPING);
		machine_switch(&m, true);
		break;
	case OP_RESCHED:
		machine_switch(&m, false);
		break;
	case OP_TICK:
		test_env.jiffies++;
		machine_tick(&m, test_env.cpu);
		break;
	case OP_TIME:
		machine_advance(&m, 1ull << (arg % 25));
		break;
	default:
		machine_interrupts(&m, test_env.cpu);
		break;
	}
}

static void task_op(enum op op, struct sched_task *p, u32 arg)
{
	struct cpumask mask = { { arg } };
	bool sleeps;

	switch (op) {
	case OP_WAKE:
		sleeps = p->state == TASK_SLEEPING;
		must(sched_wake(m.s, p, arg % 2 ? WAKE_SYNC : 0) == sleeps);
		break;
	case OP_NICE:
		sched_set_nice(m.s, p, (s32)(arg % 40) - 20);
		break;
	case OP_CLASS:
		sched_set_class(m.s, p, (enum sched_class)(arg % 3));
		break;
	case OP_AFFINITY:
		cpumask_set(&mask, arg % m.topo.nr_cpus);
		sched_set_affinity(m.s, p, &mask);
		break;
	default:
		arg %= NR_GROUPS + 1;
		sched_move_task(m.s, p, group[group[arg] ? arg : 0]);
		break;
	}
}

static void check_tasks(void)
{
	for (u32 i = 0; i < m.nr_tasks; i++) {
		const struct sched_task *p = &m.task[i];
		bool runs = sched_current(m.s, p->cpu) == p;

		must(p->on_cpu == runs);
		must(p->on_rq != TASK_MIGRATING);
		must(p->state != TASK_RUNNING || p->on_rq == TASK_QUEUED);
		must(p->state != TASK_DEAD || p->on_rq == TASK_OFF_RQ);
		must(p->on_rq != TASK_QUEUED || runs || cpumask_test(&p->allowed, p->cpu));
		must(p->state != TASK_WAKING || test_env.called[p->cpu][ENV_CALL_WAKE_LIST]);
	}
	for (u32 c = 0; c < m.topo.nr_cpus; c++) {
		const struct rq *rq = cpu_rq(m.s, c);

		must(rq->curr != rq->idle || !rq->nr_running || rq->need_resched);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u32 shape = take8(&in);

	setup(shape, take8(&in));
	while (in.left >= 3) {
		enum op op = (enum op)(take8(&in) % OP_NR);
		u32 who = take8(&in), arg = take8(&in);
		struct sched_task *p = m.nr_tasks ? &m.task[who % m.nr_tasks] : NULL;

		machine_on((op >= OP_WAKE && op <= OP_GROUP ? arg / 16 : who) % m.topo.nr_cpus);
		if (op == OP_SHARES)
			change_shares(who, arg);
		else if (op == OP_GROUP_LIFE)
			begin_or_end(who);
		else if (op < OP_WAKE || op > OP_GROUP)
			cpu_op(op, arg);
		else if (p && p->state != TASK_DEAD)
			task_op(op, p, arg);
		machine_check(&m);
		check_tg_load(m.s);
		check_tasks();
	}
	machine_settle(&m);
	check_tasks();
	machine_free(&m);
	return 0;
}
