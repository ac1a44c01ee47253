/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs npu-perf.  A model without an ethos-u operator has no estimate, and other estimates
 * may fail; the compiled network is valid nevertheless.
 */
#include "vela.h"

#include "base/cli.h"

#include <string.h>

/* runs npu-perf with up to three more options; NULL: none */
static bool
measure(struct vela *v, const char *const option[3], struct run *r)
{
	*r = (struct run){ .in = v->compiled };
	words_add(v->a, &r->words, "npu-perf");
	words_add(v->a, &r->words, arena_printf(v->a, "--called=%s", v->name));
	for (size_t i = 0; i < v->memory.n; i++)
		words_add(v->a, &r->words, v->memory.v[i]);
	for (int i = 0; i < 3 && option[i]; i++)
		words_add(v->a, &r->words, option[i]);
	return run_program(v, r);
}

/* the last line that the program printed, without its newline */
static const char *
last_line(struct arena *a, struct bytes said)
{
	size_t end = said.n;
	while (end && said.p[end - 1] == '\n')
		end--;
	size_t begin = end;
	while (begin && said.p[begin - 1] != '\n')
		begin--;
	return arena_strndup(a, (const char *)said.p + begin, end - begin);
}

/* the message names the network instead of standard input */
static const char *
renamed(struct vela *v, const char *message)
{
	static const char from[] = "standard input";
	const char *at = strstr(message, from);
	if (!at)
		return message;
	return arena_printf(v->a, "%.*s%s.%s%s", (int)(at - message), message, v->name,
			    v->o->raw ? "npz" : "tflite", at + strlen(from));
}

/* like measure(), for a report of an estimate that has succeeded before */
static bool
report(struct vela *v, const char *const option[3], const char **out)
{
	struct run r;
	if (!measure(v, option, &r))
		return false;
	if (r.status)
		return err_quote(v->e, EXIT_TROUBLE, renamed(v, last_line(v->a, r.said)));
	*out = (const char *)r.out.p;
	return true;
}

bool
estimate(struct vela *v)
{
	static const char *const one_line[3] = { "--summary-csv" }, *const layers[3] = { "--csv" };
	const char *option[3] = { "--units=4" }, *text;
	int n = 1;
	struct run r;
	if (!measure(v, one_line, &r))
		return false;
	if (r.status) {
		const char *why = renamed(v, last_line(v->a, r.said));
		cli_note("warning", "no summary: %s", strstr(why, "no ethos-u operator")
			 ? "nothing of the network runs on the NPU, which needs integers; "
			   "tfl-quantize makes an integer network of a float one" : why);
		return true;
	}
	v->summary = (const char *)r.out.p;
	if (v->layers) {
		if (!report(v, layers, &text))
			return false;
		/* the table without the last two columns, which Vela's does not have */
		struct text t = { 0 };
		for (const char *csv = text, *next; *csv; csv = next) {
			size_t n_line = strcspn(csv, "\n"), keep = n_line;
			next = csv + n_line + (csv[n_line] == '\n');
			for (int commas = 0; keep && commas < 2;)
				commas += csv[--keep] == ',';
			text_put(&t, csv, keep ? keep : n_line);
			text_putc(&t, '\n');
		}
		v->table = arena_strndup(v->a, t.n ? t.p : "", t.n);
		text_free(&t);
		option[n++] = "--verbose-performance";
	}
	if (v->cpu_names)
		option[n++] = "--show-cpu-operations";
	if (!report(v, option, &text))
		return false;
	text_puts(&v->log, text);
	return true;
}
