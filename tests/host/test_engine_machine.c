/* SPDX-License-Identifier: MIT */
/* sources: kernel/engine/machine.c kernel/lib/string.c */
/* flags: -I kernel/env */
/* The table of machine profiles: what every row must satisfy, and what is made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "../../kernel/engine/machine.h"

/* A column by distance or state: rises where the part has the entry. */
static void check_rises(const u32 *v, u32 n)
{
	u32 last = 0;

	for (u32 i = 0; i < n; i++) {
		assert_true(!v[i] || v[i] >= last);
		last = v[i] ? v[i] : last;
	}
	assert_true(v[0] && last);
}

static void check_row(const struct machine *m)
{
	u32 cpus_known = m->sockets * m->cores * m->threads, last = 101;
	char shape[40];

	if (cpus_known) {
		snprintf(shape, sizeof(shape), "-%ux%ux%u", m->sockets, m->cores, m->threads);
		assert_string_equal(m->name + strlen(m->name) - strlen(shape), shape);
		assert_int_equal(m->cores % m->llc_cores, 0);
		/* Another LLC in the package, and only then a distance to it. */
		assert_int_equal(!m->c2c_ps[2], m->llc_cores == m->cores);
		assert_int_equal(!m->ipi_ns[2], m->llc_cores == m->cores);
		assert_true(m->smt_pct[0] && (m->threads < 2 || m->smt_pct[1]));
		assert_int_equal(!m->smt_pct[2], m->threads < 4);
		assert_int_equal(!m->smt_pct[3], m->threads < 8);
	}
	assert_true(m->nodes_per_socket && m->mhz && m->ipc_hot_x100 && m->ipi_send_ns);
	assert_true(m->l2_kb && m->llc_kb > m->l2_kb);
	assert_true(m->switch_thread_ns && m->switch_proc_ns > m->switch_thread_ns);
	assert_true(m->syscall_ns && m->irq_ns && m->tick_hw_ns > m->irq_ns);
	assert_true(m->rdtsc_ps && m->irqsave_ps && m->div_ps && m->lock_rmw_ps);
	for (u32 i = 0; i < 4 && m->smt_pct[i]; i++) {
		assert_true(m->smt_pct[i] < last);
		last = m->smt_pct[i];
		/* Together siblings do not do less than one alone. */
		assert_true(m->smt_pct[i] << i >= 100);
	}
	check_rises(m->c2c_ps, 4);
	check_rises(m->ipi_ns, 4);
	check_rises(m->idle_exit_ns, IDLE_STATES);
	check_rises(m->refill_ns_per_kb, 4);
	assert_int_equal(m->idle_residency_ns[0], 0);
	for (u32 i = 1; i < IDLE_STATES; i++)
		assert_true(m->idle_exit_ns[i] || !m->idle_residency_ns[i]);
}

static void test_rows(void **state)
{
	(void)state;
	assert_string_equal(machine_table[0].name, "generic");
	for (u32 i = 0; i < machine_count; i++) {
		check_row(&machine_table[i]);
		assert_ptr_equal(machine_find(machine_table[i].name), &machine_table[i]);
	}
	assert_null(machine_find("bdw"));
	assert_null(machine_find("bdw-2x22x2x"));
}

/* What the rows say of the three published machines, in a few places each. */
static void test_published_machines(void **state)
{
	const struct machine *bdw = machine_find("bdw-2x22x2");
	const struct machine *power9 = machine_find("power9-2x22x4");
	const struct machine *sparc = machine_find("sparc-2x8x8");

	(void)state;
	/* 2.8 GHz * 1.4, 3.3 * 1.2, 2.85 * 0.6 instructions per ns. */
	assert_int_equal(machine_ps_per_insn(bdw), 255);
	assert_int_equal(machine_ps_per_insn(power9), 252);
	assert_int_equal(machine_ps_per_insn(sparc), 584);
	assert_int_equal(machine_smt_speed(bdw, 2), 620);
	assert_int_equal(machine_smt_speed(power9, 4), 450);
	assert_int_equal(machine_smt_speed(sparc, 8), 350);
	assert_int_equal(machine_smt_speed(sparc, 4), 600);
	/* Between 4 and 8 the core's throughput is interpolated: 240 to 280. */
	assert_int_equal(machine_smt_speed(sparc, 6), 433);
	/* Beyond what the part has, its throughput stays. */
	assert_int_equal(machine_smt_speed(bdw, 4), 310);
	assert_true(bdw->mwait && !power9->mwait && !sparc->mwait);
	assert_int_equal(power9->llc_cores * power9->threads, 8);
	assert_int_equal(sparc->idle_exit_ns[2], 0);
	assert_int_equal(bdw->kpti_ns, 100);
}

/* And of those of the task-group series. */
static void test_group_machines(void **state)
{
	static const struct {
		const char *name;
		u32 ps_per_insn, speed, llc_ns, remote_ns, ipi_remote_ns, kpti_ns;
	} row[] = {
		/* 10^3 / (GHz * IPC): 3.0 * 1.9, 3.3 * 1.7, 3.3 * 1.5, 3.5 * 1.5, 3.0 * 1.2 */
		{ "spr-2x56x2", 175, 620, 65, 140, 950, 0 },
		{ "icl-2x32x2", 178, 620, 51, 108, 950, 0 },
		{ "clx-2x28x2", 202, 620, 47, 134, 1000, 0 },
		{ "cfl-1x6x2", 190, 600, 21, 0, 0, 90 },
		{ "snb-1x2x2", 277, 600, 33, 0, 0, 140 },
	};

	(void)state;
	for (u32 r = 0; r < ARRAY_SIZE(row); r++) {
		const struct machine *m = machine_find(row[r].name);

		assert_non_null(m);
		assert_int_equal(machine_ps_per_insn(m), row[r].ps_per_insn);
		assert_int_equal(machine_smt_speed(m, 2), row[r].speed);
		assert_int_equal(m->c2c_ps[1], row[r].llc_ns * 1000);
		assert_int_equal(m->c2c_ps[3], row[r].remote_ns * 1000);
		assert_int_equal(m->ipi_ns[3], row[r].ipi_remote_ns);
		assert_int_equal(m->kpti_ns, row[r].kpti_ns);
		assert_int_equal(m->llc_cores, m->cores);
		assert_true(m->mwait);
		/* Two sockets, and only then a distance between them. */
		assert_int_equal(!m->c2c_ps[3], m->sockets == 1);
	}
}

static void test_columns_by_distance(void **state)
{
	static const struct { u32 column[4], want[4]; } row[] = {
		{ { 8, 45, 95, 130 }, { 8, 45, 95, 130 } },
		{ { 8, 45, 0, 122 }, { 8, 45, 122, 122 } },
		{ { 7, 21, 0, 0 }, { 7, 21, 21, 21 } },
		{ { 0, 0, 0, 9 }, { 9, 9, 9, 9 } },
		{ { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
	};

	(void)state;
	for (u32 r = 0; r < ARRAY_SIZE(row); r++)
		for (u32 i = 0; i < 4; i++)
			assert_int_equal(machine_by_distance(row[r].column, i), row[r].want[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_published_machines),
		cmocka_unit_test(test_group_machines),
		cmocka_unit_test(test_columns_by_distance),
	};

	return cmocka_run_group_tests_name("engine_machine", tests, NULL, NULL);
}
