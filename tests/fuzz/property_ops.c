/* SPDX-License-Identifier: MIT */
/* sources: sched/*.c kernel/lib/*.c tests/host/panic_host.c tests/host/env/machine.c
 * tests/host/property_case.c tests/host/property_model.c */
/* fuzz: -max_len=200 */
/* runs: 2000 */
/*
 * Bytes as a case of the property tests (tests/host/property.h), against the fluid
 * reference: a byte is the seed of a machine, then six are an operation.
 */
#include "input.h"
#include "tests/host/property.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const struct prop_world real;
	static struct prop_case c;
	static char text[16384];
	struct input in = { data, size };
	struct prop_failure f;

	prop_generate(&c, take8(&in));
	for (c.nr_ops = 0; in.left >= 6 && c.nr_ops < PROP_OPS_MAX; c.nr_ops++) {
		struct prop_op *op = &c.op[c.nr_ops];

		op->kind = (enum prop_kind)(take8(&in) % PROP_KINDS);
		op->who = take8(&in);
		op->arg = take32(&in) & (op->kind == PROP_RUN ? 0xffffff : 0xffffffff);
	}
	if (!prop_run(&c, &real, &f)) {
		fprintf(stderr, "%s", prop_format(&c, &f, text, sizeof(text)));
		abort();
	}
	return 0;
}
