/* SPDX-License-Identifier: MIT */
/* Frames and the digest over them. */
#include "frame.h"

#include "lib/fmt.h"
#include "lib/string.h"
#include "panic.h"
#include "platform.h"
#include "stats/digest.h"

#define FRAME_BYTES 262144       /* histograms, lists of lines */
#define FRAME_BYTES_PER_CPU 512  /* topology: about 200 */

static char *buffer;
static size_t buffer_size;
static struct json open_frame;
static bool hashed;
static size_t host_at;
static struct digest digest;

void frames_init(struct arena *a, u32 nr_cpus)
{
	buffer_size = FRAME_BYTES + (size_t)nr_cpus * FRAME_BYTES_PER_CPU;
	buffer = arena_alloc(a, buffer_size);
	digest_init(&digest);
}

struct json *frame_begin(const char *type)
{
	buffer[0] = '@';
	json_init(&open_frame, buffer + 1, buffer_size - 2);
	json_obj(&open_frame, NULL);
	json_str(&open_frame, "type", type);
	hashed = !strcmp(type, "result") || !strcmp(type, "counters");
	host_at = 0;
	return &open_frame;
}

void frame_host(struct json *j)
{
	host_at = j->len;
}

void frame_end(struct json *j)
{
	json_end_obj(j);
	panic_unless(!j->overflow && !j->depth, "frame of %zu bytes is incomplete", j->len);
	if (hashed) {
		digest_update(&digest, j->buf, host_at ? host_at : j->len);
		if (host_at)
			digest_update(&digest, "}", 1);
		digest_update(&digest, "\n", 1);
	}
	j->buf[j->len] = '\n';
	plat_write(buffer, j->len + 2);
}

void frame_digest(void)
{
	char hex[17];
	struct json *j = frame_begin("digest");

	fmt_sn(hex, sizeof(hex), "%016llx", (unsigned long long)digest_value(&digest));
	json_str(j, "value", hex);
	frame_end(j);
}

void frame_finish(bool ok, u32 checks_failed)
{
	struct json *j = frame_begin("end");

	json_str(j, "status", ok ? "ok" : "failed");
	json_u64(j, "checks_failed", checks_failed);
	frame_end(j);
}
