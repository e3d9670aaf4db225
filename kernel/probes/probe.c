/* SPDX-License-Identifier: MIT */
/* What the reports of all probes share. */
#include "probe.h"

#include "../console.h"
#include "../frame.h"
#include "../lib/fmt.h"
#include "../plan.h"

struct json *probe_begin(const struct wl_ctx *ctx, const char *arm)
{
	struct json *j = frame_begin("probe");

	json_str(j, "probe", ctx->w->name);
	json_str(j, "arm", arm);
	return j;
}

void probe_end(const struct wl_ctx *ctx, struct json *j)
{
	plan_params_json(j, ctx->w, ctx->v);
	frame_end(j);
}

void probe_heading(const struct wl_ctx *ctx, const char *f, ...)
{
	char text[400], value[64];
	size_t len = 0;
	va_list ap;

	for (u32 p = 0; p < workload_nr_params(ctx->w) && len < sizeof(text); p++)
		len += (size_t)fmt_sn(text + len, sizeof(text) - len, " %s=%s",
				      workload_param(ctx->w, p)->name,
				      param_text(workload_param(ctx->w, p), &ctx->v->p[p], value,
						 sizeof(value)));
	console_line("");
	console_printf("%s:%s", ctx->w->name, text);
	va_start(ap, f);
	fmt_vsn(text, sizeof(text), f, ap);
	va_end(ap);
	console_line(text);
}
