/* SPDX-License-Identifier: MIT */
/*
 * Task groups: a queue and an entity per CPU, made and taken down while others run.
 * spec/cfs-core.md sections 1 and 9. Lock order: sched.group_lock for the list and the
 * tree of groups, before a task's, before runqueues'; what a group has on a CPU is
 * under that CPU's.
 *
 * A dead group's memory stays in the list of groups, which is walked without a lock,
 * and becomes the next one.
 */
#include "pelt.h"

/* Who exits lets go of its group at its last switch, which may take as long as its CPU
 * is busy with others: a SCHED_IDLE task that ran for 1 ms waits half a minute for one
 * of nice -20. */
#define EXIT_NS 120000000000ull

/* What a group has on one CPU; in lines of their own. */
struct group_cpu {
	struct sched_entity se;
	struct cfs_rq q __attribute__((aligned(CACHE_LINE)));
};

void init_root_group(struct sched *s)
{
	struct task_group *tg = &s->root_tg;

	env_lock_init(&s->group_lock, LINE_GROUPS, "groups", 0);
	tg->shares = NICE_0_LOAD;
	tg->state = TG_ALIVE;
	tg->cfs_rq = arena_alloc(s->arena, s->nr_cpus * sizeof(*tg->cfs_rq));
	for (u32 c = 0; c < s->nr_cpus; c++)
		tg->cfs_rq[c] = &cpu_rq(s, c)->cfs;
}

static inline enum tg_state state_of(const struct task_group *tg)
{
	return __atomic_load_n(&tg->state, __ATOMIC_ACQUIRE);
}

static inline void set_state(struct task_group *tg, enum tg_state state)
{
	__atomic_store_n(&tg->state, state, __ATOMIC_RELEASE);
}

struct task_group *sched_root_group(struct sched *s)
{
	return &s->root_tg;
}

struct task_group *tg_next(struct sched *s, struct task_group *tg)
{
	if (!tg)
		return &s->root_tg;
	do {
		tg = __atomic_load_n(&tg->next, __ATOMIC_ACQUIRE);
	} while (tg && state_of(tg) != TG_ALIVE);
	return tg;
}

u32 tg_depth(const struct task_group *tg)
{
	return tg->depth;
}

/* ---- memory -------------------------------------------------------------------------- */

/* Of a group that has been; NULL: there is none. */
static struct task_group *use_again(struct sched *s)
{
	struct task_group *tg;

	env_lock(&s->group_lock);
	for (tg = s->root_tg.next; tg && state_of(tg) != TG_DEAD; tg = tg->next)
		;
	if (tg)
		set_state(tg, TG_CHANGING);
	env_unlock(&s->group_lock);
	return tg;
}

/* Aligned so that no two CPUs, and no two counters, share a line. */
static struct task_group *make_group(struct sched *s)
{
	struct task_group *tg = arena_alloc(s->arena, sizeof(*tg)), *last = &s->root_tg;
	u32 nr_cpus = s->nr_cpus, nr_nodes = s->topo->nr_nodes;
	struct group_cpu *cpu = arena_alloc(s->arena, nr_cpus * sizeof(*cpu));

	tg->state = TG_CHANGING;
	tg->se = arena_alloc(s->arena, nr_cpus * sizeof(*tg->se));
	tg->cfs_rq = arena_alloc(s->arena, nr_cpus * sizeof(*tg->cfs_rq));
	tg->load = arena_alloc(s->arena, nr_nodes * sizeof(*tg->load));
	for (u32 n = 0; n < nr_nodes; n++)
		env_line_init(&tg->load[n].line, LINE_TG_LOAD);
	for (u32 c = 0; c < nr_cpus; c++) {
		tg->se[c] = &cpu[c].se;
		tg->cfs_rq[c] = &cpu[c].q;
		env_lock_init(&cpu[c].q.removed.lock, LINE_REMOVED, "removed load", c);
	}
	env_lock(&s->group_lock);
	while (last->next)
		last = last->next;
	__atomic_store_n(&last->next, tg, __ATOMIC_RELEASE);
	env_unlock(&s->group_lock);
	return tg;
}

/* ---- beginning ------------------------------------------------------------------------- */

static void reset_queue(struct cfs_rq *q, struct rq *rq, struct task_group *tg)
{
	struct env_lock removed = q->removed.lock;

	memset(q, 0, sizeof(*q));
	q->removed.lock = removed;
	init_cfs_rq(q, rq, tg);
	q->idle = tg->idle;
}

static void reset_entity(struct sched_entity *se, struct cfs_rq *mine, struct cfs_rq *above)
{
	struct sched_entity *up = owner_entity(above);

	memset(se, 0, sizeof(*se));
	se->load.weight = se->runnable_load_weight = NICE_0_LOAD;
	se->my_q = mine;
	se->cfs_rq = above;
	se->parent = up;
	se->depth = up ? up->depth + 1 : 0;
}

/* Attached with nothing, as a task would be that changes its group. */
static void begin_on(struct sched *s, struct task_group *tg, u32 cpu)
{
	struct rq *rq = cpu_rq(s, cpu);

	rq_lock(rq);
	update_rq_clock(rq);
	env_line_write(&rq->state_line);
	reset_queue(tg->cfs_rq[cpu], rq, tg);
	reset_entity(tg->se[cpu], tg->cfs_rq[cpu], tg->parent->cfs_rq[cpu]);
	attach_entity_cfs_rq(tg->se[cpu]);
	rq_unlock(rq);
}

static struct task_group *create(struct sched *s, struct task_group *parent, u64 weight, bool idle)
{
	struct task_group *tg = use_again(s);

	if (!tg)
		tg = make_group(s);
	if (!parent)
		parent = &s->root_tg;
	tg->parent = parent;
	tg->depth = parent->depth + 1;
	tg->nr_groups = tg->nr_tasks = 0;
	tg->shares = weight;
	tg->idle = idle;
	tg->has_latency_nice = false;
	env_lock(&s->group_lock);
	env_assert(state_of(parent) == TG_ALIVE, "a group below one that has ended");
	parent->nr_groups++;
	env_unlock(&s->group_lock);
	__atomic_store_n(&s->groups, true, __ATOMIC_RELAXED);
	for (u32 c = 0; c < s->nr_cpus; c++)
		begin_on(s, tg, c);
	set_state(tg, TG_ALIVE);
	return tg;
}

struct task_group *tg_create(struct sched *s, struct task_group *parent, u64 shares)
{
	env_assert(shares >= 2 && shares <= 1u << 18, "shares %llu not in 2..262144",
		   (unsigned long long)shares);
	return create(s, parent, scale_load(shares), false);
}

struct task_group *tg_create_idle(struct sched *s, struct task_group *parent)
{
	return create(s, parent, scale_load(WEIGHT_IDLEPRIO), true);
}

/* ---- end ---------------------------------------------------------------------------------- */

/* What the entity still was of the parent's load is taken off at its next update. */
static void end_on(struct sched *s, struct task_group *tg, u32 cpu)
{
	struct cfs_rq *q = tg->cfs_rq[cpu];
	struct rq *rq = cpu_rq(s, cpu);

	rq_lock(rq);
	update_rq_clock(rq);
	env_line_write(&rq->state_line);
	env_assert(!q->nr_running && !tg->se[cpu]->on_rq, "CPU %u: a group with %u entities ends",
		   cpu, q->nr_running);
	publish_load(q, true);
	remove_entity_load_avg(tg->se[cpu]);
	unlist_leaf_queue(q);
	rq_unlock(rq);
}

void tg_destroy(struct sched *s, struct task_group *tg)
{
	u64 since_ns = env_now();

	env_assert(tg->parent, "the root group cannot end");
	while (__atomic_load_n(&tg->nr_tasks, __ATOMIC_ACQUIRE)) {
		env_relax();
		env_assert(env_now() - since_ns < EXIT_NS, "a group with %u tasks ends",
			   __atomic_load_n(&tg->nr_tasks, __ATOMIC_RELAXED));
	}
	env_lock(&s->group_lock);
	env_assert(state_of(tg) == TG_ALIVE, "a group ends twice");
	env_assert(!tg->nr_groups, "a group ends with %u groups below it", tg->nr_groups);
	set_state(tg, TG_CHANGING);
	env_unlock(&s->group_lock);
	for (u32 c = 0; c < s->nr_cpus; c++)
		end_on(s, tg, c);
	env_lock(&s->group_lock);
	tg->parent->nr_groups--;
	set_state(tg, TG_DEAD);
	env_unlock(&s->group_lock);
}

/* ---- latency_nice ---------------------------------------------------------------------------- */

void sched_set_group_latency_nice(struct sched *s, struct task_group *tg, s32 latency_nice)
{
	(void)s;
	env_assert(latency_nice >= MIN_LATENCY_NICE && latency_nice <= MAX_LATENCY_NICE,
		   "latency_nice %d not in -20..19", latency_nice);
	__atomic_store_n(&tg->latency_nice, latency_nice, __ATOMIC_RELAXED);
	__atomic_store_n(&tg->has_latency_nice, true, __ATOMIC_RELEASE);
}

s32 group_latency_nice(const struct task_group *tg)
{
	for (; tg; tg = tg->parent)
		if (__atomic_load_n(&tg->has_latency_nice, __ATOMIC_ACQUIRE))
			return __atomic_load_n(&tg->latency_nice, __ATOMIC_RELAXED);
	return 0;
}
