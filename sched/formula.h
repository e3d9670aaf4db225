/* SPDX-License-Identifier: MIT */
/*
 * What-ifs on formulas: probe=pelt, probe=slice. State in, result out; nothing that
 * runs is touched. All use the scheduler's own functions.
 */
#ifndef SCHED_FORMULA_H
#define SCHED_FORMULA_H

#include "sched.h"

/* Load averages of an entity or a queue over a stretch of time: spec/cfs-core.md
 * section 10. */
struct pelt_probe {
	bool queue;            /* averages of a queue: load_sum is weighted */
	u64 weight;            /* as of nice: 1024 is nice 0; of a queue the sum, below 2^32 */
	u64 runnable;          /* of a queue: tasks in it, below 2^16 */
	bool on_rq, running;
};

/* Ages avg by ns of PELT time in `updates` (1 or more) equal steps, the last of which
 * takes the remainder, as what in says it is doing. */
void sched_probe_pelt(const struct sched_config *cfg, const struct pelt_probe *in, u64 ns,
		      u64 updates, struct sched_avg *avg);

#endif
