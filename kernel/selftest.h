/* SPDX-License-Identifier: MIT */
/* In-kernel tests: runs whose workload is a test. Some must fail, to show that
 * failures are found and reported with the right exit status. */
#ifndef KERNEL_SELFTEST_H
#define KERNEL_SELFTEST_H

#include "workloads/workload.h"

struct selftest {
	struct workload workload; /* no parameters; its metric is the run's time */
	bool breaks;              /* fails, hangs or panics by design: only by name */
};

extern const struct selftest selftest_table[];
extern const u32 selftest_count;

/* Names of all, NULL at the end: for the command line. */
extern const char *const selftest_names[];

#endif
