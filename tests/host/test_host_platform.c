/* SPDX-License-Identifier: MIT */
/* sources: tools/host/platform.c tools/host/one_cpu.c arch-x86/switch.S kernel/lib/arena.c
 * tests/host/panic_host.c */
/* The native platform: stacks, switches between them, and what it refuses. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../kernel/platform.h"

/* Runs fn in a child; returns its wait status and what it wrote. */
static int in_child(void (*fn)(void), char *text, size_t size)
{
	int fd[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	fflush(NULL);
	if (pipe(fd))
		fail();
	pid = fork();
	if (!pid) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		fn();
		_exit(0);
	}
	close(fd[1]);
	while (n < size - 1 && (got = read(fd[0], text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	close(fd[0]);
	waitpid(pid, &status, 0);
	return status;
}

static void nothing(void *arg)
{
	(void)arg;
}

static void plain_nothing(void)
{
}

static void use_run_on(void)
{
	plat_run_on(1, nothing, NULL);
}

static void use_ipi(void)
{
	plat_send_ipi(0, PLAT_IPI_STOP);
}

static void use_on_ipi(void)
{
	plat_on_ipi(PLAT_IPI_TOKEN, plain_nothing);
}

static void use_on_timer(void)
{
	plat_on_timer(plain_nothing);
}

static void use_timer(void)
{
	plat_timer_after(1);
}

static void test_refuses_what_needs_cpus(void **state)
{
	static void (*const use[])(void) = { use_run_on, use_ipi, use_on_ipi, use_on_timer,
					     use_timer, plat_irq_enable, plat_irq_disable,
					     plat_wait };
	char text[4096];

	(void)state;
	assert_int_equal(plat_nr_cpus(), 1);
	for (u32 i = 0; i < ARRAY_SIZE(use); i++) {
		int status = in_child(use[i], text, sizeof(text));

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 2);
		assert_string_equal(text, "host: exec=smp and exec=live need CPUs of their own; "
					  "here there is only mux\n");
	}
}

static void exit_with_3(void)
{
	plat_write("last words", 10);
	plat_exit(3);
}

static void test_exit_and_console(void **state)
{
	char text[4096];
	int status = in_child(exit_with_3, text, sizeof(text));

	(void)state;
	assert_int_equal(WEXITSTATUS(status), 3);
	assert_string_equal(text, "last words");
}

/* ---- stacks ------------------------------------------------------------------ */

static void write_to_guard(void)
{
	char *top = plat_stack(3);

	/* The page below slot 4's stack is just above slot 3's. */
	*(volatile char *)top = 1;
}

static void test_stacks_have_guards(void **state)
{
	char text[16384];

	(void)state;
	for (u32 slot = 0; slot < 6; slot++) {
		char *top = plat_stack(slot);

		memset(top - PLAT_STACK_BYTES, (int)slot + 1, PLAT_STACK_BYTES);
		assert_ptr_equal(plat_stack(slot), top);
	}
	for (u32 slot = 0; slot < 6; slot++)
		for (char *p = plat_stack(slot), *q = p - PLAT_STACK_BYTES; q < p; q++)
			assert_int_equal(*q, slot + 1);
	assert_int_not_equal(in_child(write_to_guard, text, sizeof(text)), 0);
}

static void *main_sp, *sp[3];
static u32 turns[3];
static u64 sum;

/* Frames with red zones around arrays, left in mid-call. */
static u64 __attribute__((noinline)) dig(u32 me, u32 depth)
{
	volatile char hole[100];

	memset((char *)hole, (int)depth, sizeof(hole));
	if (depth) {
		u64 below = dig(me, depth - 1);

		return below + (u64)hole[depth % sizeof(hole)];
	}
	for (;;) {
		turns[me]++;
		plat_ctx_switch(&sp[me], me == 2 ? main_sp : sp[me + 1]);
		if (turns[me] == 5)
			return 0;
	}
}

static void climber(void *arg)
{
	u32 me = (u32)(uintptr_t)arg;
	void *gone;

	sum += dig(me, 20 + 10 * me);
	plat_ctx_switch(&gone, main_sp);
}

static void test_switches_and_abandoned_stacks(void **state)
{
	(void)state;
	for (u32 run = 0; run < 20; run++) {
		memset(turns, 0, sizeof(turns));
		for (u32 i = 0; i < 3; i++)
			sp[i] = plat_ctx_init(plat_stack(i), climber, (void *)(uintptr_t)i);
		/* The first returns from its depths at the end, the others never do. */
		for (u32 k = 1; k <= 5 + run % 2; k++)
			plat_ctx_switch(&main_sp, sp[0]);
		assert_int_equal(turns[0], 5);
		assert_int_equal(turns[1], 5);
		assert_int_equal(turns[2], 5);
	}
	assert_int_equal(sum, 10 * (20 * 21 / 2));
}

static void test_arena(void **state)
{
	struct arena a;
	char *p;

	(void)state;
	plat_arena(&a);
	assert_true(a.size >= 512u << 20);
	p = arena_alloc(&a, 100 << 20);
	p[(100 << 20) - 1] = 1;
}

static void test_clocks_advance(void **state)
{
	u64 cycles = plat_cycles(), ns = plat_host_ns();

	(void)state;
	while (plat_host_ns() - ns < 1000000)
		;
	assert_true(plat_cycles() > cycles);
	assert_true(plat_host_ns() < 3600ull * 1000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refuses_what_needs_cpus),
		cmocka_unit_test(test_exit_and_console),
		cmocka_unit_test(test_stacks_have_guards),
		cmocka_unit_test(test_switches_and_abandoned_stacks),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_clocks_advance),
	};

	return cmocka_run_group_tests_name("host_platform", tests, NULL, NULL);
}
