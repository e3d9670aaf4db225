/* SPDX-License-Identifier: MIT */
/*
 * A machine for tests of the real engine, run by executor mux in this program.
 * engine_raw.c runs a script of engine calls on each CPU, with no scheduler;
 * engine_tasks.c runs tasks on sched/. Scripts and tasks only take notes: what
 * they saw is judged after the run, on the program's own stack.
 */
#ifndef ENGINE_RIG_H
#define ENGINE_RIG_H

#include "../../kernel/engine/exec.h"
#include "../../sched/sched.h"

#define T0 ENGINE_START_PS
#define US 1000000ull /* in ps */
#define MS 1000000000ull

struct rig {
	struct arena arena;
	struct sched_topo topo;
	struct machine machine;    /* its parameters are primes: see engine_rig.c */
	struct engine_config cfg;  /* of the next run */
	size_t mark;               /* runs use the arena behind it */
	char text[65536];          /* what the last run printed */
};

extern struct rig rig;

/* A new machine: packages, LLCs per package, cores per LLC, threads per core;
 * hz 1000, vlimit 10 s. */
void rig_init(u32 pkgs, u32 llcs, u32 cores, u32 threads);

/* engine_init() with rig.cfg and an empty arena. */
void rig_reset(void);

/* Runs the executor; its output goes to rig.text. */
void rig_go(void);

/* The run failed, and its text contains what. Prints the text if not. */
bool rig_failed_with(const char *what);

/* True when the run ended well; prints why if not. */
bool rig_ended_well(void);

/* ---- notes ------------------------------------------------------------------- */

struct note {
	u64 at_ps; /* since T0, by the noting CPU's clock */
	u32 cpu, what;
	u64 value;
};

#define NOTES_MAX 200000

extern struct note notes[NOTES_MAX];
extern u32 nr_notes;

void note(u32 what, u64 value);

/* The i-th note of that kind; the test fails when there is none. */
const struct note *noted(u32 what, u32 i);
u32 count_notes(u32 what);

/* Moves the calling CPU's clock to ps after T0, without a sync point, as kernel
 * code of that length would. */
void run_until(u64 ps);

/* Its clock, in ps after T0. */
u64 clock_ps(void);

/* ---- engine_raw.c: no scheduler ------------------------------------------------ */

/* Runs script on every CPU, from T0 on with interrupts on; before that, setup if
 * not NULL, to make locks and lines. A CPU whose script has returned idles; the
 * run ends with the last script. */
void raw_run(void (*setup)(void), void (*script)(u32 cpu));

/* The interrupt handler; NULL: notes NOTE_EVENT + event, after the surcharge. */
extern void (*raw_handler)(enum ecpu_event e);
#define NOTE_EVENT 1000

/* kernel_need_resched() of each CPU; kernel_preempt() clears it and notes. */
extern bool raw_resched[MAX_CPUS];
#define NOTE_PREEMPT 2000

/* ---- engine_tasks.c: tasks on sched/ --------------------------------------------- */

/* Runs first as the first task; the run ends when it returns. switches as in
 * sched/vector.h, joined by '+'. */
void tasks_run(void (*first)(void *arg), void *arg, u64 seed, const char *switches);

/* Mask of one CPU, from the run's arena. */
const struct cpumask *only(u32 cpu);

#endif
