/* SPDX-License-Identifier: Apache-2.0 */
/* --verify: findings as diagnostics, a line a stream as the answer. */
#include "dis.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 20 }; /* findings of one rule in one stream that are printed */

struct report {
	const struct input *in;
	const struct options *o;
	unsigned *errors, *warnings; /* of each stream */
	unsigned seen[64];	     /* of the current stream, by rule */
	long stream;
};

static void
print_finding(void *ctx, const struct npu_finding *f)
{
	struct report *r = ctx;
	long i = f->stream - r->in->stream;
	if (r->stream != i)
		memset(r->seen, 0, sizeof(r->seen));
	r->stream = i;
	if (r->o->only >= 0 && r->o->only != i)
		return;
	*(f->error ? &r->errors[i] : &r->warnings[i]) += 1;
	if (!f->error && !r->o->warnings)
		return;
	if (r->seen[f->rule & 63]++ >= SHOWN)
		return;
	(void)fprintf(stderr, "npu-dis: %s: ", r->in->name);
	if (f->stream->op >= 0)
		(void)fprintf(stderr, "operator %d, ", f->stream->op);
	if (f->command)
		(void)fprintf(stderr, "0x%06zx %s: ", f->at_bytes, f->command);
	(void)fprintf(stderr, "%s: rule %d: %s\n",
		      f->error ? "error" : "warning", f->rule, f->text);
}

bool
verify(struct arena *a, struct text *t, const struct input *in,
       const struct options *o, struct err *e)
{
	unsigned total = 0;
	struct report r = { .in = in, .o = o, .stream = -1,
			    .errors = anew(a, unsigned, (size_t)in->n),
			    .warnings = anew(a, unsigned, (size_t)in->n) };
	struct npu_verify v = { .report = print_finding, .ctx = &r };
	stream_verify(in->model, in->stream, in->n, &v);
	for (int i = 0; i < in->n; i++) {
		if (o->only >= 0 && o->only != i)
			continue;
		text_printf(t, "%s: %s: %zu bytes for %s, %u errors, "
			    "%u warnings\n", in->name, in->stream[i].name,
			    4 * in->stream[i].n_words,
			    in->stream[i].accel->name, r.errors[i],
			    r.warnings[i]);
		total += r.errors[i];
	}
	return !total || err_no(e, "%s: breaks rules: %u errors", in->name,
				total);
}
