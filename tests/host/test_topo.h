/* SPDX-License-Identifier: MIT */
/* What the topology tests share: snapshots, simulated boots, masks as text. */
#ifndef TEST_TOPO_H
#define TEST_TOPO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "kernel/topology.h"

#define TEST_ARENA_BYTES (96u << 20)

/* An arena of its own for each test, so that ASan sees what is left over. */
static inline struct arena arena_new(void)
{
	struct arena a;

	arena_init(&a, malloc(TEST_ARENA_BYTES), TEST_ARENA_BYTES);
	assert_non_null(a.base);
	return a;
}

static inline void arena_free(struct arena *a)
{
	free(a->base);
}

static inline void snap_add(struct cpuid_snap *s, u32 leaf, u32 sub, u32 eax, u32 ebx, u32 ecx,
			    u32 edx)
{
	assert_true(s->n < CPUID_SNAP_MAX);
	s->leaf[s->n++] = (struct cpuid_leaf){ leaf, sub, eax, ebx, ecx, edx };
}

/* tests/golden/cpuid/NAME.txt */
static inline void snap_load(const char *name, struct cpuid_snap *s)
{
	char path[200], line[200];
	FILE *f;

	snprintf(path, sizeof(path), "tests/golden/cpuid/%s.txt", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	s->n = 0;
	while (fgets(line, sizeof(line), f)) {
		u32 v[6];

		if (line[0] == '#')
			continue;
		assert_int_equal(sscanf(line, "%x %x %x %x %x %x", &v[0], &v[1], &v[2], &v[3],
					&v[4], &v[5]), 6);
		snap_add(s, v[0], v[1], v[2], v[3], v[4], v[5]);
	}
	fclose(f);
	assert_true(s->n > 3);
}

static inline struct cpuid_leaf *snap_leaf(struct cpuid_snap *s, u32 leaf, u32 sub)
{
	struct cpuid_leaf *l = (struct cpuid_leaf *)cpuid_find(s, leaf, sub);

	assert_non_null(l);
	return l;
}

/* The snapshot as the CPU with this ID would give it. */
static inline void snap_set_id(struct cpuid_snap *s, u32 id)
{
	for (u32 i = 0; i < s->n; i++) {
		struct cpuid_leaf *l = &s->leaf[i];

		if (l->leaf == 1)
			l->ebx = (l->ebx & 0xffffff) | id << 24;
		if (l->leaf == 0xb || l->leaf == 0x1f)
			l->edx = id;
		if (l->leaf == 0x8000001e)
			l->eax = id;
	}
}

/* QEMU's APIC IDs (spec/topology.md section 4), the first n of them. */
static inline void shape_ids(const struct topo_shape *s, u32 n, u32 *ids)
{
	struct topo_shifts sh;
	u32 c = 0;

	topo_simulate(s->dies, s->cores, s->threads, &sh);
	for (u32 p = 0; p < s->pkgs; p++)
		for (u32 d = 0; d < s->dies; d++)
			for (u32 k = 0; k < s->cores; k++)
				for (u32 t = 0; t < s->threads && c < n; t++)
					ids[c++] = p << sh.pkg | d << sh.die | k << sh.core | t;
	assert_int_equal(c, n);
}

/* What enumeration would collect on n CPUs of the shape with this snapshot. */
static inline struct topo_input input_new(const char *snapshot, const struct topo_shape *s, u32 n,
					  bool linux52, struct arena *a)
{
	struct topo_input in = { .nr = n, .madt_enabled = n, .nr_nodes = 1 };
	u32 *ids = arena_alloc(a, n * sizeof(*ids));
	struct cpuid_snap snap;

	snap_load(snapshot, &snap);
	shape_ids(s, n, ids);
	in.cpu = arena_alloc(a, n * sizeof(*in.cpu));
	for (u32 c = 0; c < n; c++) {
		snap_set_id(&snap, ids[c]);
		in.cpu[c].madt_id = ids[c];
		in.cpu[c].started = true;
		topo_decode(&snap, linux52, &in.cpu[c].shifts);
	}
	return in;
}

/* "0-3,8-9" */
static inline const char *mask_text(const struct cpumask *m, u32 nr)
{
	static char text[4][1024];
	static u32 turn;
	char *buf = text[turn++ % 4];
	size_t len = 0;
	u32 end;

	buf[0] = '\0';
	for (u32 c = cpumask_first(m, nr); c < nr; c = cpumask_next(m, end, nr)) {
		for (end = c + 1; end < nr && cpumask_test(m, end); end++)
			;
		len += (size_t)snprintf(buf + len, sizeof(text[0]) - len, "%s%u", len ? "," : "",
					c);
		if (end > c + 1)
			len += (size_t)snprintf(buf + len, sizeof(text[0]) - len, "-%u", end - 1);
		assert_true(len < sizeof(text[0]));
	}
	return buf;
}

/* "SMT:2 MC:44 DIE:88" */
static inline const char *chain_text(const struct sched_domains *d, u32 cpu)
{
	static char buf[512];
	size_t len = 0;

	buf[0] = '\0';
	for (const struct sched_domain *sd = d->bottom[cpu]; sd; sd = sd->parent)
		len += (size_t)snprintf(buf + len, sizeof(buf) - len, "%s%s:%u", len ? " " : "",
					sd->name, sd->span_weight);
	return buf;
}

/* "0-1|2-3": the groups' spans in ring order. */
static inline const char *groups_text(const struct sched_domain *sd, u32 nr)
{
	static char buf[2048];
	const struct sched_group *g = sd->groups;
	size_t len = 0;

	do {
		len += (size_t)snprintf(buf + len, sizeof(buf) - len, "%s%s", len ? "|" : "",
					mask_text(g->span, nr));
		assert_true(len < sizeof(buf));
		g = g->next;
	} while (g != sd->groups);
	return buf;
}

#endif
