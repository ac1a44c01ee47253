/* SPDX-License-Identifier: Apache-2.0 */
/* Prints manifest.json for --keep. */
#include "npucc.h"

#include "base/json.h"

#include <string.h>

/* all options except the number of threads, which has no effect on the output */
static void
put_options(struct text *t, const char *name, const struct words *w)
{
	static const char jobs[] = "--jobs=";
	const char *separator = "";
	text_printf(t, "    \"%s\": [", name);
	for (size_t i = 0; i < w->n; i++) {
		if (!strncmp(w->v[i], jobs, strlen(jobs)))
			continue;
		text_puts(t, separator);
		text_quoted(t, w->v[i], strlen(w->v[i]));
		separator = ", ";
	}
	text_putc(t, ']');
}

static bool
put_file(struct npucc *c, struct text *t, const char *name)
{
	char sum[65];
	struct bytes b;
	struct arena *a = arena_open();
	bool ok = file_read(a, arena_printf(a, "%s/%s", c->in_keep, name),
			    SIZE_MAX / 4, &b, c->e);
	if (ok) {
		sha256_hex(b, sum);
		text_puts(t, "    {\"name\": ");
		text_quoted(t, name, strlen(name));
		text_printf(t, ", \"bytes\": %zu, \"sha256\": \"%s\"}", b.n, sum);
	}
	arena_close(a);
	return ok;
}

/* The time of an inference, from the report; a model without NPU operators has none. */
static bool
put_inference(struct npucc *c, struct text *t)
{
	static const char *const keys[] = {
		"inference_npu_cycles", "inference_cpu_cycles", "inference_seconds",
		"inference_seconds_low", "inference_seconds_high",
	};
	struct bytes b;
	struct json report;
	struct arena *a = arena_open();
	const char *name = arena_printf(a, "%s/report.json", c->in_keep);
	bool ok = file_read(a, name, SIZE_MAX / 4, &b, c->e) &&
		  json_parse(a, b, "report.json", &report, c->e);
	for (size_t i = 0; ok && i < ARRAY_LEN(keys); i++) {
		text_printf(t, "  \"%s\": ", keys[i]);
		text_double(t, json_number(&report, keys[i], 0));
		text_puts(t, ",\n");
	}
	arena_close(a);
	return ok;
}

/* Without times and paths, so that equal compilations give equal manifests. */
bool
manifest_print(struct npucc *c, const char *const *name, size_t n, bool on_npu,
	       struct text *t)
{
	static const char *const keys[N_STAGES] = { "quantcheck", "partition", "sched",
						    "wenc", "cmdgen", "tfl2c" };
	text_printf(t, "{\n  \"program\": \"npucc %s\",\n  \"options\": {\n",
		    NPUTOOLS_VERSION);
	for (int p = 0; p < N_STAGES; p++) {
		put_options(t, keys[p], &c->o->to[p]);
		text_puts(t, p + 1 < N_STAGES ? ",\n" : "\n");
	}
	text_puts(t, "  },\n");
	if (!manifest_borders(c, arena_printf(c->a, "%s/%s", c->in_keep,
					stage_file(c, CMDGEN)), t))
		return false;
	if (on_npu && !put_inference(c, t))
		return false;
	text_puts(t, "  \"files\": [\n");
	for (size_t i = 0; i < n; i++) {
		if (!put_file(c, t, name[i]))
			return false;
		text_puts(t, i + 1 < n ? ",\n" : "\n");
	}
	text_puts(t, "  ]\n}\n");
	return true;
}
