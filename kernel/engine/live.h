/* SPDX-License-Identifier: MIT */
/*
 * Live mode: all CPUs run at once on the real clock. The same struct ecpu and
 * event slots as in lockstep, but each is touched by its own CPU only, apart
 * from `pending`, which senders set.
 */
#ifndef ENGINE_LIVE_H
#define ENGINE_LIVE_H

#include "engine.h"

u64 live_now(void);       /* ns */
u32 live_this_cpu(void);
void live_lock(struct env_lock *l);
bool live_trylock(struct env_lock *l);
void live_unlock(struct env_lock *l);
void live_irq_off(void);
void live_irq_on(void);
void live_send(u32 cpu, enum ecpu_event e);
void live_relax(void);
void live_burn(u64 ns);
void live_idle(void);

/* Own CPU, interrupts off: the timer queue's next expiry, TIME_NEVER for none. */
void live_timer_set(u64 at_ns);

/* Starts the calling CPU's tick. Interrupts off. */
void live_tick_start(void);

/* With interrupts on: switches tasks if one asks for it. */
void live_preempt_check(void);

extern const struct executor executor_live;

#endif
