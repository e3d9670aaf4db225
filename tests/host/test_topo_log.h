/* SPDX-License-Identifier: MIT */
/* Simulated boots and what they log, for the topology tests. */
#ifndef TEST_TOPO_LOG_H
#define TEST_TOPO_LOG_H

#include "test_topo.h"

#define W(code) (1u << TOPO_WARN_##code)

/* Lines come through a callback without context. */
static char log_text[1 << 20];
static size_t log_len;

static inline void log_line(const char *text)
{
	size_t n = strlen(text);

	assert_true(log_len + n + 2 < sizeof(log_text));
	memcpy(log_text + log_len, text, n);
	log_len += n;
	log_text[log_len++] = '\n';
	log_text[log_len] = '\0';
}

static inline void log_clear(void)
{
	log_len = 0;
	log_text[0] = '\0';
}

/* A machine after boot. */
struct booted {
	struct arena a;
	struct topo_input in;
	struct sched_topo t;
	struct sched_domains d;
	u32 warnings;
};

static inline void boot_begin(struct booted *b, const char *snapshot, struct topo_shape shape,
			      u32 cpus)
{
	b->a = arena_new();
	b->in = input_new(snapshot, &shape, cpus, false, &b->a);
}

static inline void boot_end(struct booted *b)
{
	topology_from_boot(&b->t, &b->in, &b->a, &b->warnings);
	domains_build(&b->d, &b->t, false, &b->a);
	log_clear();
	topology_log(&b->t, &b->d, &b->in, &b->in.cpu[0].shifts, log_line);
}

static inline void assert_logged(const char *line)
{
	char whole[300];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	if (!strstr(log_text, whole))
		fail_msg("no line \"%s\" in:\n%s", line, log_text);
}

static inline u32 warn_lines(void)
{
	u32 n = 0;

	for (const char *p = log_text; (p = strstr(p, "topo: WARN ")); p++)
		n++;
	return n;
}

#endif
