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
