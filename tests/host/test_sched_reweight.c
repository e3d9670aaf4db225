/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c */
/* Weights of queued entities, in both forms of REWEIGHT: spec/group-load.md section 3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../sched/pelt.h"
#include "../../sched/reweight_loop.h"
#include "env/machine.h"

static struct machine m;

static const struct form {
	enum sched_profile profile;
	const char *switches;
} forms[] = {
	{ PROFILE_V6_4, "REWEIGHT=full" }, { PROFILE_V6_4, "REWEIGHT=delta" },
	{ PROFILE_V5_2, "REWEIGHT=full" }, { PROFILE_V5_2, "REWEIGHT=delta" },
};

/* After any number of calls the queue is what the last weight makes it. */
static void test_loop(void **state)
{
	static const u64 rounds[] = { 1, 1, 5, 1000, 5000 };

	(void)state;
	for (u32 f = 0; f < ARRAY_SIZE(forms); f++) {
		struct reweight_loop *r;
		u64 calls = 0;

		machine_init(&m, 1, 1, 1, forms[f].profile, forms[f].switches);
		r = reweight_loop_create(m.s);
		for (u32 i = 0; i < ARRAY_SIZE(rounds); i++) {
			struct reweight_state is, be;

			reweight_loop_run(r, rounds[i]);
			calls += rounds[i];
			is = reweight_loop_state(r);
			be = reweight_loop_expected(r, calls);
			assert_int_equal(is.weight, be.weight);
			assert_int_equal(is.load, be.load);
			assert_int_equal(is.load_avg, be.load_avg);
			assert_int_equal(is.queue_load_avg, be.queue_load_avg);
			assert_int_equal(is.nr_running, be.nr_running);
			/* One call less would show. */
			be = reweight_loop_expected(r, calls - 1);
			assert_int_not_equal(is.weight, be.weight);
			assert_int_not_equal(is.queue_load_avg, be.queue_load_avg);
		}
		machine_free(&m);
	}
}

/* The worked example of section 10: a queue's load of 1310720, of which one entity's
 * 262144 become 131072. It is no task, for those change weight off their queue. */
static void test_worked_example(void **state)
{
	(void)state;
	for (u32 f = 0; f < ARRAY_SIZE(forms); f++) {
		struct sched_entity se = { .load = { .weight = 262144 } };
		struct cfs_rq below = { .nr_running = 0 };
		struct cfs_rq *q;

		machine_init(&m, 1, 1, 1, forms[f].profile, forms[f].switches);
		machine_start(&m, 0); /* weighs 1048576 */
		q = &cpu_rq(m.s, 0)->cfs;
		below.tg = q->tg;
		se.my_q = &below;
		account_entity_enqueue(q, &se);
		se.on_rq = true;
		assert_int_equal(q->load.weight, 1310720);
		q->load.inv_weight = 1;
		env_irq_off();
		reweight_entity(q, &se, 131072, 0, 0);
		env_irq_on();
		assert_int_equal(q->load.weight, 1179648);
		assert_int_equal(q->load.inv_weight, 0);
		assert_int_equal(q->nr_running, 2);
		assert_int_equal(se.load.weight, 131072);
		account_entity_dequeue(q, &se);
		machine_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_worked_example),
	};

	return cmocka_run_group_tests_name("sched_reweight", tests, NULL, NULL);
}
