/* SPDX-License-Identifier: MIT */
/* What-ifs on formulas: see formula.h. */
#include "formula.h"
#include "pelt.h"

static void age(const struct sched *s, const struct pelt_probe *in, u64 now_ns,
		struct sched_avg *avg)
{
	bool old = !profile_v64(s);
	u64 weight = scale_load_down(s, scale_load(in->weight));
	u64 load = in->on_rq ? (in->queue ? weight : 1) : 0;
	const struct pelt_rate rate = {
		.load = load,
		.runnable = in->queue ? in->runnable : in->on_rq,
		.runnable_load = old ? load : 0,
		.running = in->running,
	};

	if (!pelt_step(avg, now_ns, &rate))
		return;
	weight = in->queue ? 1 : weight;
	pelt_average(avg, weight, old ? weight : 0);
}

void sched_probe_pelt(const struct sched_config *cfg, const struct pelt_probe *in, u64 ns,
		      u64 updates, struct sched_avg *avg)
{
	const struct sched s = { .vector = cfg->vector }; /* all that these ask for */
	u64 from_ns = avg->last_update_time;

	for (u64 i = 1; i <= updates; i++)
		age(&s, in, from_ns + (i < updates ? ns / updates * i : ns), avg);
}

/* ---- a machine of its own ------------------------------------------------------------ */

/* Every CPU runs its idle task. */
static struct sched *idle_machine(const struct sched_config *cfg)
{
	struct sched *s = sched_create(cfg);
	struct sched_task *idle = arena_alloc(cfg->arena, s->nr_cpus * sizeof(*idle));

	for (u32 c = 0; c < s->nr_cpus; c++)
		sched_set_idle_task(s, c, &idle[c]);
	return s;
}

/* ---- shares ----------------------------------------------------------------------- */

struct shares_prober {
	struct sched *s;
	struct task_group *tg;
	struct shares_probe in;
};

struct shares_prober *sched_shares_create(const struct sched_config *cfg,
					  const struct shares_probe *in)
{
	struct shares_prober *prober = arena_alloc(cfg->arena, sizeof(*prober));
	struct sched *s = idle_machine(cfg);
	bool by_node = s->vector.value[FEAT_TG_COUNTER] == TG_COUNTER_NODE;
	s64 rest = in->tg_load;

	*prober = (struct shares_prober){ .s = s, .in = *in };
	prober->tg = tg_create(s, NULL, in->shares);
	for (u32 c = 0; c < in->nr; c++) {
		struct cfs_rq *q = prober->tg->cfs_rq[c];
		struct sched_entity *se = prober->tg->se[c];
		u32 n = by_node ? s->topo->cpu[c].node : 0;

		update_load_add(&q->load, scale_load(in->weight[c]));
		q->nr_running = in->weight[c] > 0;
		q->avg.load_avg = in->load_avg[c];
		q->tg_load_avg_contrib = in->contrib[c];
		prober->tg->load[n].value += (s64)in->contrib[c];
		rest -= (s64)in->contrib[c];
		se->load.weight = in->old_weight[c];
		se->load.inv_weight = 0;
		se->cfs_rq->nr_running = (u32)in->others;
	}
	prober->tg->load[0].value += rest;
	return prober;
}

void sched_shares_publish(struct shares_prober *prober, u32 cpu)
{
	struct cfs_rq *q = prober->tg->cfs_rq[cpu];
	u64 ago_ns = prober->in.published_ago_ns;

	q->published_ns = ago_ns ? env_now() - ago_ns : 0;
	update_tg_load_avg(q, PUBLISH_AGE);
}

struct shares_answer sched_shares_weigh(struct shares_prober *prober, u32 cpu, u32 site)
{
	struct sched_entity *se = prober->tg->se[cpu];
	struct shares_answer a = { .contrib = prober->tg->cfs_rq[cpu]->tg_load_avg_contrib };
	u64 sum = 0;

	update_cfs_group(se, (enum weight_site)site);
	for (u32 c = 0; c < prober->in.nr; c++)
		sum += prober->in.weight[c];
	a.weight = se->load.weight;
	a.ideal = sum ? scale_load(prober->in.shares) * prober->in.weight[cpu] / sum : 0;
	if (a.ideal)
		a.error_permille = ((s64)a.weight - (s64)a.ideal) * 1000 / (s64)a.ideal;
	a.charge_ns = calc_delta_fair(prober->s, 1000000, se);
	return a;
}

s64 sched_shares_counter(const struct shares_prober *prober, u32 n)
{
	return prober->tg->load[n].value;
}

/* ---- slices ------------------------------------------------------------------------- */

static void set_nice(struct sched_entity *se, s32 nice)
{
	se->load.weight = scale_load(sched_prio_to_weight[nice - MIN_NICE]);
	se->load.inv_weight = sched_prio_to_wmult[nice - MIN_NICE];
}

static void queue_entity(struct cfs_rq *q, struct sched_entity *se)
{
	se->cfs_rq = q;
	se->parent = owner_entity(q);
	se->on_rq = true;
	update_load_add(&q->load, se->load.weight);
	q->nr_running++;
}

static struct slice_answer ask_slice(struct sched_entity *se)
{
	return (struct slice_answer){ sched_slice(se->cfs_rq, se), sched_vslice(se->cfs_rq, se) };
}

void sched_probe_slice(const struct sched_config *cfg, const struct slice_probe *in,
		       s32 newcomer_nice, struct slice_answer *out)
{
	struct sched *s = idle_machine(cfg);
	struct cfs_rq *root = &cpu_rq(s, 0)->cfs;
	u32 nr = in->nr + in->nr_group;
	struct sched_task *task = arena_alloc(cfg->arena, (nr + 1) * sizeof(*task));
	struct cfs_rq *below = NULL;

	if (in->nr_group) {
		struct task_group *tg = tg_create(s, NULL, in->group_shares);

		below = tg->cfs_rq[0];
		tg->se[0]->load.weight = scale_load(in->group_shares); /* alone on its CPU */
		queue_entity(root, tg->se[0]);
	}
	for (u32 i = 0; i < nr; i++) {
		set_nice(&task[i].se, i < in->nr ? in->nice[i] : in->group_nice[i - in->nr]);
		queue_entity(i < in->nr ? root : below, &task[i].se);
	}
	root->h_nr_running = nr;
	set_nice(&task[nr].se, newcomer_nice);
	task[nr].se.cfs_rq = root;
	for (u32 i = 0; i <= nr; i++)
		out[i] = ask_slice(&task[i].se);
}
