/* SPDX-License-Identifier: MIT */
/* The lockstep executors. */
#ifndef ENGINE_EXEC_H
#define ENGINE_EXEC_H

#include "../../sched/env.h"

extern const struct executor executor_mux, executor_smp;

#endif
