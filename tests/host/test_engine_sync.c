/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/*.c kernel/lib/*.c kernel/trace.c kernel/console.c kernel/task.c
 * kernel/window.c
 * kernel/deal.c kernel/sync.c kernel/channel.c kernel/timer.c kernel/stats/hist.c sched/*.c
 * tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S
 * tests/host/engine_rig.c tests/host/engine_tasks.c tests/host/panic_host.c */
/* flags: -I kernel/env */
/* again: -UANECHOIC_DEBUG */
/* Who is woken when: mutex, semaphore, gate; pipes and sockets by the rules of
 * spec/workloads.md section 1. One CPU without wake-up preemption makes the order
 * of tasks plain: whoever runs goes on until it sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "../../kernel/channel.h"
#include "../../kernel/task.h"
#include "engine_rig.h"

enum { GOT = 1, MARK, WOKEN, SYNC };

#define WAITERS 5
#define BYTES 100

static u64 counted(size_t offset)
{
	u64 sum = 0;

	for (u32 c = 0; c < engine.nr_cpus; c++)
		sum += *(const u64 *)((const char *)sched_counters(the_sched, c) + offset);
	return sum;
}

#define WAKEUPS counted(offsetof(struct sched_counters, wakeups))
#define SYNC_WAKEUPS counted(offsetof(struct sched_counters, wakeups_sync))

static void run_alone(void (*first)(void *arg))
{
	rig_init(1, 1, 1, 1);
	rig.cfg.hz = 100;
	tasks_run(first, NULL, 1, "NO_WAKEUP_PREEMPTION");
	assert_true(rig_ended_well());
}

static struct task *started[8];

static void start(const char *name, void (*fn)(void *), u32 n)
{
	struct task_attr attr = { .name = name };

	for (u32 i = 0; i < n; i++)
		started[i] = task_fork(&attr, fn, (void *)(uintptr_t)i);
}

/* Bit per started task that sleeps. */
static u64 asleep(u32 n)
{
	u64 mask = 0;

	for (u32 i = 0; i < n; i++)
		mask |= (u64)(started[i]->st.state == TASK_SLEEPING) << i;
	return mask;
}

/* Tasks come in order of their number, not of a new task's place in the queue. */
static void take_turn(void *arg)
{
	task_sleep_ns(10000 * ((uintptr_t)arg + 1));
}

/* Notes how many were woken since; returns the new count. */
static u64 note_woken(u64 before)
{
	note(WOKEN, WAKEUPS - before);
	return WAKEUPS;
}

static void check_woken(const u32 *expected, u32 n)
{
	for (u32 i = 0; i < n; i++)
		if (noted(WOKEN, i)->value != expected[i])
			print_error("step %u: %llu woken, not %u\n", i,
				    (unsigned long long)noted(WOKEN, i)->value, expected[i]);
	for (u32 i = 0; i < n; i++)
		assert_int_equal(noted(WOKEN, i)->value, expected[i]);
	assert_int_equal(count_notes(WOKEN), n);
}

/* ---- mutex --------------------------------------------------------------- */

static struct mutex mutex;

static void mutex_user(void *arg)
{
	take_turn(arg);
	mutex_lock(&mutex);
	note(GOT, (uintptr_t)arg);
	task_burn(1000);
	mutex_unlock(&mutex);
}

static void mutex_main(void *arg)
{
	u64 woken, sync;

	(void)arg;
	mutex_init(&mutex, "test", 0);
	mutex_lock(&mutex);
	start("user", mutex_user, WAITERS);
	task_sleep_ns(1000000); /* all wait by now, in order of their number */
	note(MARK, count_notes(GOT));
	woken = WAKEUPS;
	sync = SYNC_WAKEUPS;
	mutex_unlock(&mutex);
	woken = note_woken(woken);
	mutex_lock(&mutex); /* behind all of them */
	note(GOT, WAITERS);
	note_woken(woken);
	mutex_unlock(&mutex);
	note(MARK, SYNC_WAKEUPS - sync);
	task_wait_children();
}

static void test_mutex_is_handed_on_in_order(void **state)
{
	/* One by the first unlock, then each by the one before. */
	static const u32 woken[] = { 1, WAITERS };

	(void)state;
	run_alone(mutex_main);
	assert_int_equal(noted(MARK, 0)->value, 0);
	for (u32 i = 0; i <= WAITERS; i++)
		assert_int_equal(noted(GOT, i)->value, i);
	/* The last of them wakes main; they exit without waking it again. */
	assert_int_equal(noted(WOKEN, 0)->value, woken[0]);
	assert_int_equal(noted(WOKEN, 1)->value, woken[1]);
	assert_int_equal(noted(MARK, 1)->value, 0);
	assert_null(mutex.owner);
}

extern jmp_buf *panic_jump;
extern char panic_text[256];

static void mutex_mistakes(void *arg)
{
	jmp_buf jump;

	mutex_init(&mutex, "test", 7);
	if (!setjmp(jump)) {
		panic_jump = &jump;
		if (arg)
			mutex_lock(&mutex);
		if (arg)
			mutex_lock(&mutex);
		else
			mutex_unlock(&mutex);
		note(GOT, 0);
	}
	engine_finish();
}

static void test_mutex_mistakes_panic(void **state)
{
	(void)state;
	rig_init(1, 1, 1, 1);
	tasks_run(mutex_mistakes, (void *)1, 1, "");
	assert_string_equal(panic_text, "mutex test 7: task 1 takes it twice");
	tasks_run(mutex_mistakes, NULL, 1, "");
	assert_string_equal(panic_text, "mutex test 7: unlocked by task 1");
	assert_int_equal(count_notes(GOT), 0);
}

/* ---- semaphore, gate ----------------------------------------------------- */

static struct semaphore sem;

static void sem_user(void *arg)
{
	take_turn(arg);
	sem_down(&sem);
	note(GOT, (uintptr_t)arg);
}

static void sem_main(void *arg)
{
	u64 woken, sync = SYNC_WAKEUPS;

	(void)arg;
	sem_init(&sem, "test", 0, 2);
	start("user", sem_user, WAITERS);
	task_sleep_ns(1000000);
	note(MARK, count_notes(GOT)); /* its first count let two in */
	woken = WAKEUPS;
	for (u32 i = 0; i < 3; i++) {
		sem_up(&sem);
		woken = note_woken(woken);
		note(MARK, asleep(WAITERS));
	}
	sem_up(&sem); /* nobody waits any more */
	note_woken(woken);
	task_wait_children();
	note(MARK, sem.count);
	note(MARK, SYNC_WAKEUPS - sync);
}

static void test_semaphore_wakes_one_each(void **state)
{
	static const u32 woken[] = { 1, 1, 1, 0 };

	(void)state;
	run_alone(sem_main);
	check_woken(woken, 4);
	assert_int_equal(noted(MARK, 0)->value, 2);
	assert_int_equal(noted(GOT, 0)->value, 0);
	assert_int_equal(noted(GOT, 1)->value, 1);
	assert_int_equal(count_notes(GOT), WAITERS);
	/* 2, 3 and 4 wait: the first comes first. */
	assert_int_equal(noted(MARK, 1)->value, 1 << 3 | 1 << 4);
	assert_int_equal(noted(MARK, 2)->value, 1 << 4);
	assert_int_equal(noted(MARK, 3)->value, 0);
	assert_int_equal(noted(MARK, 4)->value, 1);
	assert_int_equal(noted(MARK, 5)->value, 0);
}

static struct gate gate;

static void gate_user(void *arg)
{
	take_turn(arg);
	gate_wait(&gate);
	note(GOT, (uintptr_t)arg);
}

static void gate_main(void *arg)
{
	u64 woken, sync = SYNC_WAKEUPS;

	(void)arg;
	gate_init(&gate, "test", 0);
	start("user", gate_user, WAITERS);
	task_sleep_ns(1000000);
	note(MARK, count_notes(GOT));
	/* A wake-up that means something else does not let a waiter through. */
	note(MARK, sched_wake(the_sched, &started[2]->st, 0));
	task_sleep_ns(100000);
	note(MARK, count_notes(GOT));
	note(MARK, asleep(WAITERS));
	woken = WAKEUPS;
	gate_open(&gate);
	woken = note_woken(woken);
	gate_wait(&gate); /* open for ever: nobody sleeps here */
	note(MARK, count_notes(GOT));
	task_wait_children();
	note(MARK, SYNC_WAKEUPS - sync);
}

static void test_gate_wakes_all(void **state)
{
	static const u32 woken[] = { WAITERS };

	(void)state;
	run_alone(gate_main);
	check_woken(woken, 1);
	assert_int_equal(noted(MARK, 0)->value, 0);
	assert_int_equal(noted(MARK, 1)->value, true);
	assert_int_equal(noted(MARK, 2)->value, 0);
	assert_int_equal(noted(MARK, 3)->value, (1 << WAITERS) - 1);
	assert_int_equal(noted(MARK, 4)->value, 0);
	assert_int_equal(noted(MARK, 5)->value, 0);
	assert_int_equal(count_notes(GOT), WAITERS);
}

/* ---- channels ------------------------------------------------------------ */

static struct channel channel;

static void reader(void *arg)
{
	take_turn(arg);
	note(GOT, channel_read(&channel, BYTES));
}

static void writer(void *arg)
{
	take_turn(arg);
	channel_write(&channel, 1000 + (uintptr_t)arg, BYTES);
	note(GOT, (uintptr_t)arg);
}

static void open_channel(enum channel_kind kind)
{
	channel_init(&channel, kind, BYTES, "test", kind, &rig.arena);
}

/* Readers asleep: data wakes one of a pipe if it was empty, who passes on what is
 * left; of a socket one per message. */
static void readers_main(enum channel_kind kind)
{
	u64 woken, sync;

	open_channel(kind);
	start("reader", reader, 3);
	task_sleep_ns(1000000);
	woken = WAKEUPS;
	sync = SYNC_WAKEUPS;
	for (u32 i = 0; i < 3; i++) {
		channel_write(&channel, i, BYTES);
		woken = note_woken(woken);
	}
	note(MARK, SYNC_WAKEUPS - sync); /* all carry the hint */
	task_sleep_ns(1000000);
	note(MARK, SYNC_WAKEUPS - sync);
	note(MARK, channel.used);
	channel_write(&channel, 3, BYTES); /* no reader left */
	task_wait_children();
}

static void pipe_readers_main(void *arg)
{
	(void)arg;
	readers_main(CHANNEL_PIPE);
}

static void socket_readers_main(void *arg)
{
	(void)arg;
	readers_main(CHANNEL_SOCKET);
}

static void test_pipe_wakes_one_reader_if_it_was_empty(void **state)
{
	static const u32 woken[] = { 1, 0, 0 };

	(void)state;
	run_alone(pipe_readers_main);
	check_woken(woken, 3);
	assert_int_equal(noted(MARK, 0)->value, 1);
	assert_int_equal(noted(MARK, 1)->value, 3); /* two were passed on */
	assert_int_equal(noted(MARK, 2)->value, 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(GOT, i)->value, i);
}

static void test_socket_wakes_a_reader_per_message(void **state)
{
	static const u32 woken[] = { 1, 1, 1 };

	(void)state;
	run_alone(socket_readers_main);
	check_woken(woken, 3);
	assert_int_equal(noted(MARK, 0)->value, 3);
	assert_int_equal(noted(MARK, 1)->value, 3);
	assert_int_equal(noted(MARK, 2)->value, 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(GOT, i)->value, i);
}

/* Fills it, puts three writers to sleep, then reads until all is out. Notes how
 * full it was whenever a read woke somebody. */
static void writers_main(enum channel_kind kind)
{
	u64 woken, all, sync;

	open_channel(kind);
	for (u32 i = 0; i < channel.capacity; i++)
		channel_write(&channel, i, BYTES);
	note(MARK, channel.capacity);
	start("writer", writer, 3);
	task_sleep_ns(1000000);
	note(MARK, count_notes(GOT));
	woken = all = WAKEUPS;
	sync = SYNC_WAKEUPS;
	for (u32 i = 0; i < channel.capacity; i++) {
		u64 message = channel_read(&channel, BYTES);

		if (message != i)
			note(GOT, 99);
		if (WAKEUPS != woken)
			note(WOKEN, (u64)channel.used << 8 | (WAKEUPS - woken));
		woken = WAKEUPS;
	}
	note(SYNC, WAKEUPS - all);
	note(SYNC, SYNC_WAKEUPS - sync);
	task_wait_children();
	for (u32 i = 0; i < 3; i++)
		note(MARK, channel_read(&channel, BYTES));
}

static void pipe_writers_main(void *arg)
{
	(void)arg;
	writers_main(CHANNEL_PIPE);
}

static void socket_writers_main(void *arg)
{
	(void)arg;
	writers_main(CHANNEL_SOCKET);
}

static void check_writers(u32 capacity)
{
	assert_int_equal(noted(MARK, 0)->value, capacity);
	assert_int_equal(noted(MARK, 1)->value, 0);
	assert_int_equal(count_notes(GOT), 3);
	assert_int_equal(noted(SYNC, 1)->value, noted(SYNC, 0)->value); /* all with the hint */
	/* What they wrote is read in the order in which they got through. */
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(MARK, 2 + i)->value, 1000 + noted(GOT, i)->value);
}

static void test_pipe_wakes_one_writer_if_it_was_full(void **state)
{
	(void)state;
	run_alone(pipe_writers_main);
	check_writers(640);
	/* The first read only; the others are woken by one another. */
	assert_int_equal(count_notes(WOKEN), 1);
	assert_int_equal(noted(WOKEN, 0)->value, 639 << 8 | 1);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(GOT, i)->value, i);
}

static void test_socket_wakes_all_writers_at_a_quarter(void **state)
{
	(void)state;
	run_alone(socket_writers_main);
	check_writers(277); /* 212,992 / 768 */
	/* 277 / 4 = 69.25: at 69 used, all at once, and only then. */
	assert_int_equal(count_notes(WOKEN), 1);
	assert_int_equal(noted(WOKEN, 0)->value, 69 << 8 | 3);
}

/* A write that wakes, a read that sleeps: what a message costs beside the work. */
static void copy_main(void *arg)
{
	u64 since;

	(void)arg;
	for (u32 bytes = 1; bytes <= 65536; bytes *= 256) {
		env_sync();
		since = clock_ps();
		task_copy(bytes);
		note(MARK, clock_ps() - since);
	}
}

static void test_copies_cost_by_size(void **state)
{
	(void)state;
	run_alone(copy_main);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(noted(MARK, i)->value,
				 ((u64)1 << 8 * i) * rig.machine.refill_ns_per_kb[0] * 1000 / 1024);
}

/* ---- everybody at once --------------------------------------------------- */

#define PAIRS 6
#define MESSAGES 2000

static struct channel crowd[2];
static u64 last_from[2][PAIRS], received, disordered;
static struct mutex order;

static void crowd_writer(void *arg)
{
	u32 me = (u32)(uintptr_t)arg;

	for (u64 i = 1; i <= MESSAGES; i++)
		for (u32 k = 0; k < 2; k++)
			channel_write(&crowd[k], (u64)me << 32 | i, BYTES);
}

static void crowd_reader(void *arg)
{
	(void)arg;
	for (u32 i = 0; i < MESSAGES; i++)
		for (u32 k = 0; k < 2; k++) {
			u64 message, from, nr;

			/* Reads and looks in one piece, so that order can be told. */
			mutex_lock(&order);
			message = channel_read(&crowd[k], BYTES);
			from = message >> 32;
			nr = message & 0xffffffff;
			disordered += nr != last_from[k][from] + 1;
			last_from[k][from] = nr;
			received++;
			mutex_unlock(&order);
		}
}

static void crowd_main(void *arg)
{
	(void)arg;
	mutex_init(&order, "order", 0);
	channel_init(&crowd[0], CHANNEL_PIPE, BYTES, "pipe", 0, &rig.arena);
	channel_init(&crowd[1], CHANNEL_SOCKET, BYTES, "socket", 1, &rig.arena);
	start("writer", crowd_writer, PAIRS);
	start("reader", crowd_reader, PAIRS);
	task_wait_children();
}

static void test_nothing_is_lost_in_a_crowd(void **state)
{
	static const u32 cores[] = { 1, 2, 8 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cores); i++) {
		rig_init(1, 1, cores[i], 2);
		memset(last_from, 0, sizeof(last_from));
		received = disordered = 0;
		tasks_run(crowd_main, NULL, i, "");
		assert_true(rig_ended_well());
		assert_int_equal(received, 2 * PAIRS * MESSAGES);
		assert_int_equal(disordered, 0);
		assert_int_equal(crowd[0].used + crowd[1].used, 0);
	}
}

/* Writers and readers of one pipe without the mutex: they overtake each other,
 * and still all get through. */
static void many_writer(void *arg)
{
	(void)arg;
	for (u32 i = 0; i < MESSAGES; i++) {
		channel_write(&crowd[0], 1, BYTES);
		task_burn(rng_below(&task_self()->rng, 3000));
	}
}

static void many_reader(void *arg)
{
	(void)arg;
	for (u32 i = 0; i < MESSAGES; i++) {
		received += channel_read(&crowd[0], BYTES);
		task_burn(rng_below(&task_self()->rng, 3000));
	}
}

static enum channel_kind many_kind;

static void many_main(void *arg)
{
	(void)arg;
	/* Holds few, so that it is full and empty all the time. */
	channel_init(&crowd[0], many_kind, many_kind == CHANNEL_PIPE ? 4096 : 60000, "small", 0,
		     &rig.arena);
	note(MARK, crowd[0].capacity);
	start("writer", many_writer, PAIRS);
	start("reader", many_reader, PAIRS);
	task_wait_children();
}

static void test_no_wakeup_is_lost(void **state)
{
	(void)state;
	for (u32 seed = 0; seed < 6; seed++) {
		many_kind = seed % 2 ? CHANNEL_SOCKET : CHANNEL_PIPE;
		rig_init(1, 1, 1 + seed, 2);
		received = 0;
		tasks_run(many_main, NULL, seed, seed % 3 ? "" : "NO_WAKEUP_PREEMPTION");
		assert_true(rig_ended_well());
		assert_int_equal(received, PAIRS * MESSAGES);
		assert_int_equal(noted(MARK, 0)->value, seed % 2 ? 3 : 16);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_is_handed_on_in_order),
		cmocka_unit_test(test_mutex_mistakes_panic),
		cmocka_unit_test(test_semaphore_wakes_one_each),
		cmocka_unit_test(test_gate_wakes_all),
		cmocka_unit_test(test_pipe_wakes_one_reader_if_it_was_empty),
		cmocka_unit_test(test_socket_wakes_a_reader_per_message),
		cmocka_unit_test(test_pipe_wakes_one_writer_if_it_was_full),
		cmocka_unit_test(test_socket_wakes_all_writers_at_a_quarter),
		cmocka_unit_test(test_copies_cost_by_size),
		cmocka_unit_test(test_nothing_is_lost_in_a_crowd),
		cmocka_unit_test(test_no_wakeup_is_lost),
	};

	return cmocka_run_group_tests_name("engine_sync", tests, NULL, NULL);
}
