/* SPDX-License-Identifier: MIT */
/* Scripts on bare CPUs: the engine's up-calls without kernel/task.c. */
#include "../../kernel/console.h"
#include "../../kernel/platform.h"
#include "engine_rig.h"

void (*raw_handler)(enum ecpu_event e);
bool raw_resched[MAX_CPUS];

static struct path_stack paths[MAX_CPUS];
static void (*raw_script)(u32 cpu);
static u32 ended;

void kernel_event(enum ecpu_event e, bool irq)
{
	(void)irq;
	if (raw_handler)
		raw_handler(e);
	else
		note(NOTE_EVENT + e, 0);
}

bool kernel_need_resched(u32 cpu)
{
	return raw_resched[cpu];
}

void kernel_preempt(void)
{
	raw_resched[env_this_cpu()] = false;
	note(NOTE_PREEMPT, 0);
}

u64 kernel_ran_ns(void)
{
	return 0;
}

void kernel_dump_tasks(void (*line)(const char *text))
{
	line("  no tasks here");
}

void kernel_log(const char *text)
{
	console_line(text);
}

static void entry(void *arg)
{
	u32 cpu = (u32)(uintptr_t)arg;

	env_irq_on();
	raw_script(cpu);
	if (++ended == engine.nr_cpus)
		engine_finish();
	for (;;)
		engine_idle();
}

void raw_run(void (*setup)(void), void (*script)(u32 cpu))
{
	raw_script = script;
	ended = 0;
	rig_reset();
	if (setup)
		setup();
	for (u32 c = 0; c < engine.nr_cpus; c++) {
		raw_resched[c] = false;
		paths[c].depth = 0;
		engine.cpu[c].paths = &paths[c];
		engine.cpu[c].sp = plat_ctx_init(plat_stack(c), entry, (void *)(uintptr_t)c);
	}
	rig_go();
	raw_handler = NULL;
}
