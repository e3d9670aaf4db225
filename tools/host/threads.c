/* SPDX-License-Identifier: MIT */
/*
 * A thread per CPU: the native program that runs the executors smp and live too,
 * for ThreadSanitizer above all.
 *
 * Interrupts are polled. One that was sent is pending in its CPU's word until that
 * CPU enables interrupts, relaxes with them on, or waits; it is taken there, on
 * whatever stack that is, with interrupts off, and may switch stacks, as on the
 * hardware. Between such points nothing interrupts. Live code passes one at every
 * lock and every turn of a spin, so that what it loses is the interrupt between two
 * instructions outside all of these, which QEMU has. Signals would come anywhere,
 * but ThreadSanitizer holds them back to points of its own choice.
 *
 * Words of pending interrupts are relaxed: an interrupt carries no data, and must
 * not order the accesses that the kernel has to order itself.
 *
 * A stack moves between threads in mid-function. Whatever is kept across a call
 * that may switch is found anew by plat_this_cpu().
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "../../kernel/cmdline.h"
#include "../../kernel/panic.h"
#include "../../kernel/platform.h"

#define MAX_THREADS 256
#define SPINS_PER_YIELD 16 /* there are fewer processors than CPUs */
#define HALTED (1u << PLAT_NR_IPIS)

enum state { ABSENT, RUNNING, PARKED };

static struct cpu {
	u32 word;           /* bits of enum plat_ipi, and HALTED; what a halted thread sleeps on */
	bool irq_on;        /* this and the next two: own thread only */
	u64 alarm_ns;       /* plat_host_ns() at which the timer is due; 0: off */
	u32 spins;
	u32 state;          /* enum state */
	void (*fn)(void *); /* mailbox: full when not NULL */
	void *arg;
} __attribute__((aligned(CACHE_LINE))) cpus[MAX_THREADS];

static __thread u32 this_cpu; /* the program's first thread is CPU 0 */

static void ignore(void)
{
}

static void (*on_ipi[PLAT_NR_IPIS])(void) = { ignore, ignore, ignore, ignore };
static void (*on_timer)(void) = ignore;

u32 plat_executors(void)
{
	return 1u << EXEC_HOST | 1u << EXEC_SMP | 1u << EXEC_LIVE;
}

u32 plat_nr_cpus(void)
{
	return MAX_THREADS;
}

/* The assembly is there for the compiler, which must not take this function for
 * one that always gives the same. */
__attribute__((noinline)) u32 plat_this_cpu(void)
{
	u32 cpu = this_cpu;

	__asm__ volatile("" : "+r"(cpu));
	return cpu;
}

static struct cpu *self(void)
{
	return &cpus[plat_this_cpu()];
}

/* ---- interrupts ------------------------------------------------------------------ */

static void futex(u32 *word, int op, u32 value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void plat_on_ipi(enum plat_ipi ipi, void (*fn)(void))
{
	__atomic_store_n(&on_ipi[ipi], fn ? fn : ignore, __ATOMIC_RELEASE);
}

void plat_on_timer(void (*fn)(void))
{
	__atomic_store_n(&on_timer, fn, __ATOMIC_RELEASE);
}

void plat_send_ipi(u32 cpu, enum plat_ipi ipi)
{
	u32 *word = &cpus[cpu].word;

	if (__atomic_fetch_or(word, 1u << ipi, __ATOMIC_RELAXED) & HALTED)
		futex(word, FUTEX_WAKE_PRIVATE, 1, NULL);
}

void plat_timer_after(u64 ns)
{
	self()->alarm_ns = ns ? plat_host_ns() + ns : 0;
}

/* Takes one pending interrupt off and returns its handler; NULL: none. */
static void (*next_interrupt(struct cpu *c))(void)
{
	u32 word = __atomic_load_n(&c->word, __ATOMIC_RELAXED);

	if (word) {
		u32 ipi = (u32)__builtin_ctz(word);

		__atomic_fetch_and(&c->word, ~(1u << ipi), __ATOMIC_RELAXED);
		return __atomic_load_n(&on_ipi[ipi], __ATOMIC_ACQUIRE);
	}
	if (c->alarm_ns && plat_host_ns() >= c->alarm_ns) {
		c->alarm_ns = 0;
		return __atomic_load_n(&on_timer, __ATOMIC_ACQUIRE);
	}
	return NULL;
}

void plat_irq_disable(void)
{
	self()->irq_on = false;
}

/* Handlers may come back on another CPU. */
void plat_irq_enable(void)
{
	void (*handler)(void);

	while ((handler = next_interrupt(self()))) {
		self()->irq_on = false;
		handler();
	}
	self()->irq_on = true;
}

void plat_relax(void)
{
	struct cpu *c = self();

	__builtin_ia32_pause();
	if (++c->spins % SPINS_PER_YIELD == 0)
		syscall(SYS_sched_yield);
	if (c->irq_on)
		plat_irq_enable();
}

/* Sleeps until an interrupt is pending, or for no reason. */
static void halt(struct cpu *c)
{
	struct timespec timeout;
	u64 now_ns = plat_host_ns();
	u32 none = 0;

	if (c->alarm_ns && c->alarm_ns <= now_ns)
		return;
	if (!__atomic_compare_exchange_n(&c->word, &none, HALTED, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	timeout.tv_sec = (time_t)((c->alarm_ns - now_ns) / 1000000000);
	timeout.tv_nsec = (long)((c->alarm_ns - now_ns) % 1000000000);
	futex(&c->word, FUTEX_WAIT_PRIVATE, HALTED, c->alarm_ns ? &timeout : NULL);
	__atomic_fetch_and(&c->word, ~HALTED, __ATOMIC_RELAXED);
}

void plat_wait(void)
{
	void (*handler)(void);

	while (!(handler = next_interrupt(self())))
		halt(self());
	self()->irq_on = false;
	handler();
	self()->irq_on = false;
}

/* ---- the other threads --------------------------------------------------------------- */

static void *thread_main(void *arg)
{
	struct cpu *c = arg;
	void (*fn)(void *);

	this_cpu = (u32)(c - cpus);
	for (;;) {
		__atomic_store_n(&c->state, PARKED, __ATOMIC_RELEASE);
		while (!(fn = __atomic_load_n(&c->fn, __ATOMIC_ACQUIRE)))
			plat_wait();
		__atomic_store_n(&c->fn, NULL, __ATOMIC_RELAXED);
		fn(c->arg);
		plat_irq_disable();
	}
	return NULL;
}

void plat_run_on(u32 cpu, void (*fn)(void *), void *arg)
{
	struct cpu *c = &cpus[cpu];
	pthread_t thread;

	panic_unless(cpu < MAX_THREADS, "no more than %d CPUs run in threads", MAX_THREADS);
	if (__atomic_load_n(&c->state, __ATOMIC_RELAXED) == ABSENT) {
		__atomic_store_n(&c->state, RUNNING, __ATOMIC_RELAXED);
		panic_unless(!pthread_create(&thread, NULL, thread_main, c),
			     "no thread for CPU %u", cpu);
	}
	while (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != PARKED)
		plat_relax();
	c->arg = arg;
	__atomic_store_n(&c->state, RUNNING, __ATOMIC_RELAXED);
	__atomic_store_n(&c->fn, fn, __ATOMIC_RELEASE);
	plat_send_ipi(cpu, PLAT_IPI_CALL);
}
