/* SPDX-License-Identifier: MIT */
/* Dealing out traits and groups: see deal.h. */
#include "deal.h"

static struct {
	struct task_deal latency_nice, freq_heavy;
	struct task_group *const *group;
	u32 nr_groups;
} deals; /* of the run */

void deal_init(const struct tasks_config *config)
{
	deals.latency_nice = config->latency_nice;
	deals.freq_heavy = config->freq_heavy;
	tasks_deal_groups(NULL, 0);
}

void tasks_deal_groups(struct task_group *const *group, u32 nr)
{
	deals.group = group;
	deals.nr_groups = nr;
}

/* The first task has id 1. */
static const s64 *dealt(const struct task_deal *d, const struct task *t)
{
	return d->nr && t->st.id > 1 ? &d->v[(t->st.id - 2) % d->nr] : NULL;
}

static void deal_group(struct task *t, u32 unit)
{
	if (!unit && t->parent->st.id == 1)
		unit = t->st.id - 1;
	if (deals.nr_groups && unit)
		sched_move_task(the_sched, &t->st, deals.group[(unit - 1) % deals.nr_groups]);
}

void deal_to(struct task *t, u32 unit)
{
	const s64 *ln = dealt(&deals.latency_nice, t), *heavy = dealt(&deals.freq_heavy, t);

	if (ln)
		sched_set_latency_nice(the_sched, &t->st, (s32)*ln);
	if (heavy && t->st.freq_heavy != (*heavy != 0))
		sched_set_freq_heavy(the_sched, &t->st, *heavy);
	deal_group(t, unit);
}
