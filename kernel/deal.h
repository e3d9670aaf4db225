/* SPDX-License-Identifier: MIT */
/* What a run's parameters deal out to its tasks at their fork: see struct tasks_config
 * and tasks_deal_groups(). */
#ifndef KERNEL_DEAL_H
#define KERNEL_DEAL_H

#include "task.h"

void deal_init(const struct tasks_config *config);

/* t, forked and not yet woken, gets its part; unit: struct task_attr. (sync) */
void deal_to(struct task *t, u32 unit);

#endif
