/* SPDX-License-Identifier: MIT */
/*
 * Machine-readable output: lines "@{...}" (DESIGN section 5). One frame is open
 * at a time. The digest covers result and counters frames, without their `host`
 * member, which is therefore the last.
 */
#ifndef KERNEL_FRAME_H
#define KERNEL_FRAME_H

#include "lib/arena.h"
#include "lib/json.h"

/* Buffer for frames of a machine with that many CPUs. Once. */
void frames_init(struct arena *a, u32 nr_cpus);

/* Opens a frame; the object is open and has its type. */
struct json *frame_begin(const char *type);

/* Marks where the `host` member starts: what follows is not in the digest. */
void frame_host(struct json *j);

/* Closes and prints it. Panics when it did not fit: nothing is lost silently. */
void frame_end(struct json *j);

/* The digest frame, and the end frame: the last thing a run prints. */
void frame_digest(void);
void frame_finish(bool ok, u32 checks_failed);

#endif
