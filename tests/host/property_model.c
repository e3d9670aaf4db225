/* SPDX-License-Identifier: MIT */
/*
 * The reference: on each queue, a fluid machine (generalised processor sharing:
 * Parekh, Gallager 1993) that gives every runnable task i of weight w_i the share
 * w_i/W of all time. It knows weights, who is runnable where since when, and who
 * ran. lag_i is what the fluid machine gave more than the scheduler, in ns; the
 * lags of a queue sum to 0.
 *
 * Who joins or leaves with a lag takes it from the others or leaves it to them in
 * proportion to weight (Stoica, Abdel-Wahab 1995, section 3). How far from the
 * queue's floor it joins is read from the scheduler, and must lie between a
 * sleeper's credit to the left and, to the right, what it left with.
 *
 * What CFS promises, in virtual ns (ns of a nice-0 task) above the floor, which is
 * the largest of all least positions so far:
 *
 *  - pick: who is picked is no farther from the leftmost than the wake-up
 *    granularity, scaled by the leftmost's weight (spec/cfs-core.md section 7,
 *    pick_next_entity);
 *  - slice: at a tick, who has had its slice goes on only if it would be picked
 *    (section 7, Tick). So nobody gets farther above the floor than granularity, slice and
 *    one tick: that is h_i;
 *  - join: a sleeper is placed no farther below the floor than its credit, half of
 *    sched_latency (section 5).
 *
 * Hence, in ns, as the mean position is where the fluid machine stands:
 *
 *	lag_i  <= w_i * (credit + sum over j of w_j * h_j / W)
 *	-lag_i <= w_i * (h_i + credit * (W - w_i) / W)
 *
 *  - starve: while i waits, j runs until it is the granularity to the right of i,
 *    and then for at most a slice and a tick. So i waits no longer than the sum of
 *    that over j, which is slices times tasks when all start alike. Every join and
 *    every change of weight meanwhile adds such a sum;
 *  - idle: as long as a task waits while a CPU idles where it may run, some
 *    task is pulled at least every two ticks (sched/pull.c: each tick of the busy
 *    CPU asks one idle CPU).
 */
#include "property.h"

/* Truncated divisions in the scheduler: below 1 ns each. */
#define EPS_NS 20000.0

struct share {
	bool member;
	u32 cpu;             /* the queue, or the last one */
	u64 migrations;
	double weight;       /* nice 0: 1 */
	s32 nice;
	enum sched_class class;
	double lag;          /* ns */
	double h;            /* virtual ns above the floor */
	double waited_ns, may_wait_ns;
	bool beside_idle;    /* it waits, and a CPU where it may run idles; for how long: */
	double beside_ns;
};

struct fluid {
	u32 nr;
	double weight;       /* of all members */
	double v;            /* virtual ns */
	double floor;
	double gran;         /* virtual ns: the widest margin of a pick */
	/* of the one that runs */
	struct sched_task *curr;
	u64 turn_began;      /* its run time then */
	double ran_ns, slice_ns, base;
	bool joined;         /* in this step */
};

static struct {
	struct machine *m;
	struct share share[TEST_TASKS];
	struct fluid q[TEST_CPUS];
	u32 nr_tasks;
	double credit, latency, min_gran, idle_min_gran, wake_gran; /* ns */
	u64 pulled;
} model;

/* spec/cfs-core.md section 2, of nice -20 to 19. */
static const u32 weights[40] = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
};

static double weight_of(const struct sched_task *p)
{
	return (p->class == SCHED_CLASS_IDLE ? 3 : weights[p->nice + 20]) / 1024.0;
}

static struct share *share_of(const struct sched_task *p)
{
	return &model.share[p - model.m->task];
}

#define for_each_member(x, cpu_)                                                         \
	for (struct share *x = model.share; x < model.share + model.nr_tasks; x++) \
		if (x->member && x->cpu == (cpu_))

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double position(const struct share *x)
{
	return model.q[x->cpu].v - x->lag / x->weight;
}

static u32 number(const struct share *x)
{
	return (u32)(x - model.share) + 1;
}

/* ---- CFS's figures, from the specification -------------------------------------- */

static double period(u32 n)
{
	return n > model.m->s->nr_latency ? n * model.min_gran : model.latency;
}

/* Of one that is on the queue; capped as at a tick. */
static double slice_ns(const struct share *x)
{
	const struct fluid *q = &model.q[x->cpu];
	bool v64 = model.m->s->vector.profile == PROFILE_V6_4, mixed = false;
	double slice = period(q->nr) * x->weight / q->weight, floor = model.min_gran;

	for_each_member(y, x->cpu)
		mixed |= y->class != SCHED_CLASS_IDLE;
	if (x->class == SCHED_CLASS_IDLE && mixed)
		floor = model.idle_min_gran;
	if (!v64)
		return slice;
	slice = larger(slice, floor);
	return slice < model.latency ? slice : model.latency;
}

/* How far right a new task beside the queue's starts. */
static double fork_debit(u32 cpu, double weight)
{
	const struct fluid *q = &model.q[cpu];
	double slice = period(q->nr + 1) * weight / (q->weight + weight);

	return larger(slice, larger(model.min_gran, model.idle_min_gran)) / weight;
}

static double leftmost(u32 cpu, const struct share *but)
{
	double least = 0;
	bool any = false;

	for_each_member(x, cpu) {
		if (x != but && (!any || position(x) < least))
			least = position(x);
		any |= x != but;
	}
	return any ? least : model.q[cpu].floor;
}

/* ---- membership ------------------------------------------------------------------- */

/* The lags sum to 0 again; positions stay. */
static void rebalance(u32 cpu)
{
	struct fluid *q = &model.q[cpu];
	double sum = 0, shift;

	q->weight = 0;
	q->nr = 0;
	for_each_member(x, cpu) {
		q->nr++;
		q->weight += x->weight;
		sum += x->lag;
	}
	if (!q->nr)
		return;
	shift = -sum / q->weight;
	q->v += shift;
	for_each_member(x, cpu)
		x->lag += x->weight * shift;
}

static void widen_pick(u32 cpu)
{
	for_each_member(x, cpu)
		model.q[cpu].gran = larger(model.q[cpu].gran, model.wake_gran / x->weight);
}

/* What i may have to wait for, as the queue is now. */
static void add_wait(struct share *i)
{
	const struct fluid *q = &model.q[i->cpu];

	for_each_member(j, i->cpu)
		if (j != i)
			i->may_wait_ns += larger(0, j->weight * (position(i) + q->gran -
								 position(j))) +
					  period(q->nr) + PROP_TICK_NS;
}

static void queue_changed(u32 cpu)
{
	for_each_member(i, cpu)
		add_wait(i);
}

static void raise_floor(u32 cpu)
{
	struct fluid *q = &model.q[cpu];

	if (q->nr)
		q->floor = larger(q->floor, leftmost(cpu, NULL));
}

/* Before anybody of its queue leaves: in which order several did is not seen. */
static void note_offset(struct share *x)
{
	double above = position(x) - model.q[x->cpu].floor;

	if (above < x->h)
		x->h = larger(above, 0);
}

static void leave(struct share *x)
{
	u32 cpu = x->cpu;

	x->member = false;
	rebalance(cpu);
	raise_floor(cpu);
}

static void join(struct share *x, const struct sched_task *p)
{
	const struct cfs_rq *real = &cpu_rq(model.m->s, p->cpu)->cfs;
	double offset = (double)(s64)(p->se.vruntime - real->min_vruntime);
	struct fluid *q = &model.q[p->cpu];

	if (offset < -model.credit - EPS_NS)
		prop_fail("join", "task %u joins CPU %u %.0f ns left of the floor, credit %.0f",
			  p->id, p->cpu, -offset, model.credit);
	if (offset > x->h + EPS_NS)
		prop_fail("join", "task %u joins CPU %u %.0f ns right of the floor, left with "
			  "%.0f", p->id, p->cpu, offset, x->h);
	x->cpu = p->cpu;
	x->migrations = p->migrations;
	x->member = true;
	x->weight = weight_of(p);
	x->lag = x->weight * (q->v - (q->floor + offset));
	x->waited_ns = x->may_wait_ns = x->beside_ns = 0;
	rebalance(p->cpu);
	q->joined = true;
}

/* True: its weight or class changed while it is on a queue. */
static bool changed(struct share *x, const struct sched_task *p)
{
	double at = position(x);

	if (x->nice == p->nice && x->class == p->class)
		return false;
	x->nice = p->nice;
	x->class = p->class;
	x->weight = weight_of(p);
	x->lag = x->weight * (model.q[x->cpu].v - at);
	rebalance(x->cpu);
	return true;
}

/* ---- who runs ------------------------------------------------------------------------ */

static void new_turn(u32 cpu, struct share *x)
{
	struct fluid *q = &model.q[cpu];

	q->ran_ns = 0;
	q->slice_ns = slice_ns(x);
	x->waited_ns = x->may_wait_ns = 0;
}

static void switched(u32 cpu, struct sched_task *curr)
{
	struct fluid *q = &model.q[cpu];
	struct share *x = share_of(curr);
	double ahead = position(x) - leftmost(cpu, x);

	if (!q->joined && q->nr > 1 && ahead > q->gran + EPS_NS)
		prop_fail("pick", "CPU %u picks task %u, %.0f ns right of the leftmost, margin "
			  "%.0f", cpu, curr->id, ahead, q->gran);
	new_turn(cpu, x);
	/* The floor trails all positions until time passes. */
	q->base = larger(q->gran, position(x) - q->floor);
}

/* It runs on; its turn began anew if its weight or class was set. */
static void goes_on(u32 cpu, struct sched_task *curr)
{
	struct fluid *q = &model.q[cpu];
	struct share *x = share_of(curr);

	if (curr->se.prev_sum_exec_runtime == q->turn_began) {
		q->slice_ns = larger(q->slice_ns, slice_ns(x));
		return;
	}
	new_turn(cpu, x);
	q->base = larger(q->gran, position(x) - q->floor);
}

static void starts_waiting(struct share *x)
{
	x->waited_ns = x->may_wait_ns = 0;
	add_wait(x);
}

static void look_at_curr(u32 cpu)
{
	struct sched_task *curr = sched_current(model.m->s, cpu);
	struct fluid *q = &model.q[cpu];
	struct sched_task *before = q->curr;

	q->curr = curr->is_idle_task ? NULL : curr;
	if (!q->curr && q->nr)
		prop_fail("idle", "CPU %u idles, and has %u tasks", cpu, q->nr);
	if (q->curr && (!share_of(curr)->member || share_of(curr)->cpu != cpu))
		prop_fail("idle", "CPU %u runs task %u, which is not on its queue", cpu, curr->id);
	if (q->curr && q->curr == before)
		goes_on(cpu, curr);
	else if (q->curr)
		switched(cpu, curr);
	if (before && before != curr && share_of(before)->member && share_of(before)->cpu == cpu)
		starts_waiting(share_of(before));
	q->turn_began = curr->se.prev_sum_exec_runtime;
}

/* ---- checks --------------------------------------------------------------------------- */

static void check_slice(u32 cpu)
{
	const struct fluid *q = &model.q[cpu];
	struct share *x = q->curr ? share_of(q->curr) : NULL;
	double ahead;

	if (q->nr < 2 || q->ran_ns <= slice_ns(x) + EPS_NS)
		return;
	ahead = position(x) - leftmost(cpu, x);
	if (ahead > q->gran + EPS_NS)
		prop_fail("slice", "task %u ran %.0f ns on CPU %u, slice %.0f, and goes on %.0f "
			  "virtual ns ahead", number(x), q->ran_ns, cpu, slice_ns(x), ahead);
}

static void check_shares(u32 cpu)
{
	const struct fluid *q = &model.q[cpu];
	double mean_h = 0;

	for_each_member(x, cpu)
		mean_h += x->weight * x->h / q->weight;
	for_each_member(x, cpu) {
		double owed = x->weight * (model.credit + mean_h + EPS_NS);
		double over = x->weight * (x->h + EPS_NS +
					   model.credit * (q->weight - x->weight) / q->weight);

		if (x->lag > owed)
			prop_fail("lag", "task %u on CPU %u lacks %.0f ns, bound %.0f", number(x),
				  cpu, x->lag, owed);
		if (-x->lag > over)
			prop_fail("lag", "task %u on CPU %u had %.0f ns too much, bound %.0f",
				  number(x), cpu, -x->lag, over);
		if (x->beside_ns > 2 * PROP_TICK_NS + EPS_NS)
			prop_fail("idle", "task %u waits on CPU %u for %.0f ns beside an idle CPU "
				  "where it may run, and nobody pulled", number(x), cpu,
				  x->beside_ns);
		if (x->waited_ns > x->may_wait_ns + EPS_NS)
			prop_fail("starve", "task %u on CPU %u waits for %.0f ns, bound %.0f",
				  number(x), cpu, x->waited_ns, x->may_wait_ns);
	}
}

static bool beside_idle(const struct share *x)
{
	const struct sched_task *p = &model.m->task[x - model.share];

	if (!x->member || model.q[x->cpu].curr == p)
		return false;
	for_each_cpu(c, &p->allowed, model.m->topo.nr_cpus)
		if (!model.q[c].curr)
			return true;
	return false;
}

static void look_for_idle(void)
{
	u64 pulled = machine_count(model.m, pulled);

	for (struct share *x = model.share; x < model.share + model.nr_tasks; x++) {
		x->beside_idle = beside_idle(x);
		if (!x->beside_idle || pulled != model.pulled)
			x->beside_ns = 0;
	}
	model.pulled = pulled;
}

/* ---- what the player calls --------------------------------------------------------------- */

void model_init(struct machine *m)
{
	const struct sched *s = m->s;

	memset(&model, 0, sizeof(model));
	model.m = m;
	model.latency = (double)s->latency;
	model.min_gran = (double)s->min_granularity;
	model.idle_min_gran = (double)s->idle_min_granularity;
	model.wake_gran = (double)s->wakeup_granularity;
	model.credit = sched_feat(s, GENTLE_FAIR_SLEEPERS) ? model.latency / 2 : model.latency;
}

void model_fork(u32 task)
{
	const struct sched_task *parent = sched_current(model.m->s, test_env.cpu);
	const struct fluid *q = &model.q[test_env.cpu];
	struct share *x = &model.share[task];

	memset(x, 0, sizeof(*x));
	if (parent->is_idle_task)
		parent = NULL;
	x->class = parent ? parent->class : SCHED_CLASS_NORMAL;
	x->nice = parent ? parent->nice : 0;
	x->h = fork_debit(test_env.cpu, parent ? weight_of(parent) : 1);
	if (parent)
		x->h = larger(x->h, position(share_of(parent)) - q->floor);
	model.nr_tasks = task + 1;
}

void model_requeued(const struct sched_task *p)
{
	if (!share_of(p)->member)
		return;
	note_offset(share_of(p));
	leave(share_of(p));
}

void model_time(u64 ns)
{
	double dt = (double)ns;

	if (!ns)
		return;
	for (u32 c = 0; c < model.m->topo.nr_cpus; c++) {
		struct fluid *q = &model.q[c];
		struct share *curr = q->curr ? share_of(q->curr) : NULL;

		if (!q->nr)
			continue;
		for_each_member(x, c) {
			x->lag += dt * x->weight / q->weight - (x == curr ? dt : 0);
			x->waited_ns += x == curr ? 0 : dt;
			x->beside_ns += x->beside_idle ? dt : 0;
		}
		q->v += dt / q->weight;
		q->ran_ns += dt;
		raise_floor(c);
		curr->h = q->base + (q->slice_ns + PROP_TICK_NS) / curr->weight;
		for_each_member(x, c) {
			double above = larger(0, position(x) - q->floor);

			if (x != curr && above < x->h)
				x->h = above;
			if (above > x->h + EPS_NS)
				prop_fail("slice", "task %u on CPU %u is %.0f virtual ns above the "
					  "floor, bound %.0f", number(x), c, above, x->h);
		}
		check_shares(c);
	}
}

static bool has_left(u32 i)
{
	const struct sched_task *p = &model.m->task[i];
	const struct share *x = &model.share[i];

	return x->member && (p->on_rq != TASK_QUEUED || p->migrations != x->migrations);
}

void model_settled(u32 tick_cpu)
{
	struct machine *m = model.m;
	bool queue[TEST_CPUS] = { false };

	for (u32 c = 0; c < m->topo.nr_cpus; c++) {
		model.q[c].joined = false;
		model.q[c].gran = 0;
		widen_pick(c);
	}
	for (u32 i = 0; i < model.nr_tasks; i++)
		if (has_left(i))
			note_offset(&model.share[i]);
	for (u32 i = 0; i < model.nr_tasks; i++)
		if (has_left(i))
			leave(&model.share[i]);
	for (u32 i = 0; i < model.nr_tasks; i++) {
		struct share *x = &model.share[i];
		struct sched_task *p = &m->task[i];

		if (x->member && changed(x, p)) {
			queue[x->cpu] = true;
		} else if (!x->member && p->on_rq == TASK_QUEUED) {
			join(x, p);
			queue[x->cpu] = true;
		}
		x->nice = p->nice;
		x->class = p->class;
	}
	for (u32 c = 0; c < m->topo.nr_cpus; c++) {
		widen_pick(c);
		if (queue[c])
			queue_changed(c);
		look_at_curr(c);
	}
	if (tick_cpu < m->topo.nr_cpus)
		check_slice(tick_cpu);
	look_for_idle();
}
