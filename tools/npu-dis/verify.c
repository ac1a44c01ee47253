/* SPDX-License-Identifier: Apache-2.0 */
/* --verify: prints findings as diagnostics or JSON, and one line for each stream. */
#include "dis.h"

#include "target/accel.h"

#include <stdio.h>
#include <string.h>

/* SHOWN: number of findings that are printed for one rule in one stream */
enum { SHOWN = 20, RULES = 64 };

struct report { /* findings of one stream */
	unsigned errors, warnings;
	unsigned seen[RULES]; /* number of findings of each rule */
	struct text json; /* the findings as JSON */
};

struct verdict {
	const struct input *in;
	const struct options *o;
	struct report *report; /* one for each stream */
	struct arena *a;
	bool differs; /* a stream breaks rule 53: it differs from its graph */
};

static bool
is_selected(const struct options *o, long stream)
{
	return o->only < 0 || o->only == stream;
}

static void
collect_finding(void *ctx, const struct npu_finding *f)
{
	struct verdict *v = ctx;
	long i = f->stream - v->in->stream;
	struct report *r = &v->report[i];
	v->differs |= f->rule == VERIFY_RULE_SOURCE;
	if (!is_selected(v->o, i))
		return;
	*(f->error ? &r->errors : &r->warnings) += 1;
	if ((!f->error && !v->o->warnings) || r->seen[f->rule % RULES]++ >= SHOWN)
		return;
	/* the source map's name of the operation that the finding is about, or NULL */
	const char *name = f->command ? source_name(v->a, v->in, (int)i, f->at_bytes / 4) : NULL;
	if (v->o->view == VIEW_JSON) {
		const struct json_out j = { .t = &r->json };
		json_line(&j, 2);
		json_open(&j, NULL, '{');
		json_put_string(&j, "severity", f->error ? "error" : "warning");
		json_put_i64(&j, "rule", f->rule);
		json_put_i64(&j, "offset", (int64_t)f->at_bytes);
		json_put_string(&j, "command", f->command);
		if (name)
			json_put_string(&j, "source", name);
		json_put_string(&j, "text", f->text);
		json_close(&j, '}');
		return;
	}
	(void)fprintf(stderr, "npu-dis: %s: ", text_plain(v->a, v->in->name));
	if (f->stream->op >= 0)
		(void)fprintf(stderr, "operator %d, ", f->stream->op);
	if (f->command)
		(void)fprintf(stderr, "0x%06zx %s%s%s: ", f->at_bytes, f->command,
			      name ? " of " : "", name ? text_plain(v->a, name) : "");
	(void)fprintf(stderr, "%s: rule %d: %s\n",
		      f->error ? "error" : "warning", f->rule, text_plain(v->a, f->text));
}

bool
verify(struct arena *a, struct text *t, const struct input *in,
       const struct options *o, struct err *e)
{
	bool json = o->view == VIEW_JSON, first = true;
	unsigned total = 0;
	struct verdict v = { .a = a, .in = in, .o = o,
			     .report = anew(a, struct report, (size_t)in->n) };
	struct npu_verify rules = { .report = collect_finding, .ctx = &v, .jobs = 1 };
	for (int i = 0; i < in->n; i++)
		if (!accel_does(in->stream[i].accel, DO_VERIFY, e))
			return false;
	stream_verify(in->model, in->stream, in->n, &rules);
	if (in->source && !stream_verify_source(in->model, in->stream, in->n,
						in->source, &rules, e))
		return false;
	if (in->carrier && !v.differs)
		source_verify_digest(in->model, in->stream, in->carrier->digest, &rules);
	if (json)
		text_putc(t, '[');
	for (int i = 0; i < in->n; i++) {
		const struct npu_stream *s = &in->stream[i];
		struct report *r = &v.report[i];
		if (!is_selected(o, i))
			continue;
		if (json && !first)
			text_puts(t, ",\n");
		first = false;
		if (json) {
			const struct json_out j = { .t = t };
			json_root(&j, '{');
			put_stream_head(&j, s);
			json_put_i64(&j, "errors", r->errors);
			json_put_i64(&j, "warnings", r->warnings);
			json_open(&j, "findings", '[');
			text_put(t, r->json.p, r->json.n);
			json_close(&j, ']');
			json_close(&j, '}');
		} else {
			text_printf(t, "%s: %s: %zu bytes for %s, %u error%s, "
				    "%u warning%s\n", text_plain(a, in->name),
				    text_plain(a, s->name),
				    4 * s->n_words, s->accel->name, r->errors,
				    r->errors == 1 ? "" : "s", r->warnings,
				    r->warnings == 1 ? "" : "s");
		}
		text_free(&r->json);
		total += r->errors;
	}
	if (json)
		text_puts(t, "]\n");
	return !total || err_no(e, in->name, 0, "breaks rules: %u error%s", total,
				total == 1 ? "" : "s");
}
