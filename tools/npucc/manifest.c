/* SPDX-License-Identifier: Apache-2.0 */
/* Prints manifest.json for --keep. */
#include "npucc.h"

#include "base/json.h"
#include "base/json_out.h"

#include <string.h>

/* Lists the options of one program, without those that do not change its output: the number of
 * threads, and whether it prints notes. */
static void
put_options(const struct json_out *j, const char *name, const struct words *w)
{
	static const char jobs[] = "--jobs=", quiet[] = "--quiet";
	json_line(j, 4);
	json_open(j, name, '[');
	for (size_t i = 0; i < w->n; i++)
		if (strncmp(w->v[i], jobs, strlen(jobs)) != 0 && strcmp(w->v[i], quiet) != 0)
			json_put_string(j, NULL, w->v[i]);
	json_close(j, ']');
}

/* Without times and paths, so that equal compilations give equal manifests. */
bool
manifest_print(struct npucc *c, const char *const *name, size_t n, bool on_npu,
	       struct text *t)
{
	static const char *const keys[N_STAGES] = { "quantcheck", "partition", "sched",
						    "wenc", "cmdgen", "tfl2c" };
	static const char *const times[] = {
		"inference_npu_cycles", "inference_cpu_cycles", "inference_seconds",
		"inference_seconds_low", "inference_seconds_high",
	};
	const struct json_out out = { .t = t, .style = JSON_SPACED }, *j = &out;
	json_root(j, '{');
	json_line(j, 2);
	json_put_string(j, "program", "npucc " NPUTOOLS_VERSION);
	json_line(j, 2);
	json_open(j, "options", '{');
	put_options(j, "quantize", &c->o->to[QUANTIZE]);
	put_options(j, "cut", &c->o->to[CUT]);
	for (int p = 0; p < N_STAGES; p++)
		put_options(j, keys[p], &c->o->to[program_of(c, (enum program)p)]);
	json_close_line(j, 2, '}');
	if (!manifest_borders(c, arena_printf(c->a, "%s/%s", c->in_keep,
					stage_file(c, CMDGEN)), j))
		return false;
	/* the time of an inference, from the report; a model without NPU operators has none */
	struct arena *a = arena_open();
	struct bytes b;
	struct json report;
	bool ok = !on_npu || (file_read(a, arena_printf(a, "%s/report.json", c->in_keep), SIZE_MAX / 4,
					&b, c->e) && json_parse(a, b, "report.json", &report, c->e));
	for (size_t i = 0; on_npu && ok && i < ARRAY_LEN(times); i++) {
		json_line(j, 2);
		json_put_f64(j, times[i], json_number(&report, times[i], 0));
	}
	arena_close(a);

	json_line(j, 2);
	json_open(j, "files", '[');
	for (size_t i = 0; ok && i < n; i++) {
		char sum[65];
		a = arena_open();
		ok = file_read(a, arena_printf(a, "%s/%s", c->in_keep, name[i]), SIZE_MAX / 4, &b, c->e);
		if (ok) {
			sha256_hex(b, sum);
			json_line(j, 4);
			json_open(j, NULL, '{');
			json_put_string(j, "name", name[i]);
			json_put_i64(j, "bytes", (int64_t)b.n);
			json_put_string(j, "sha256", sum);
			json_close(j, '}');
		}
		arena_close(a);
	}
	json_close_line(j, 2, ']');
	json_close_line(j, 0, '}');
	text_putc(t, '\n');
	return ok;
}
