/* SPDX-License-Identifier: MIT */
/* What the reports of all probes share: frame, heading. */
#ifndef PROBES_PROBE_H
#define PROBES_PROBE_H

#include "../workloads/ctx.h"

/* A probe frame with the probe's name and the arm; the caller adds its own fields. */
struct json *probe_begin(const struct wl_ctx *ctx, const char *arm);

/* Adds the parameters and lets it go. */
void probe_end(const struct wl_ctx *ctx, struct json *j);

/* A blank line, the probe with all its parameters, and the headings of the columns. */
void probe_heading(const struct wl_ctx *ctx, const char *f, ...) printf_like(2, 3);

#endif
