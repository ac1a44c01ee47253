/* SPDX-License-Identifier: Apache-2.0 */
/* --verify=linux: checks whether the Linux driver ethosu accepts the streams. */
#include "dis.h"

#include "linux/linux.h"
#include "target/accel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct answer { /* the result for one stream */
	const struct npu_stream *s;
	bool accepted;
	struct linux_use use;
	struct linux_finding f;
	const char
	    *source; /* the source map's name of the operation at fault, or NULL */
};

static void
put_json(struct text *t, const struct answer *r)
{
	const struct json_out j = { .t = t };
	json_root(&j, '{');
	put_stream_head(&j, r->s);
	json_put_i64(&j, "errors", !r->accepted);
	json_put_i64(&j, "warnings", 0);
	json_open(&j, "findings", '[');
	if (!r->accepted) {
		json_line(&j, 2);
		json_open(&j, NULL, '{');
		json_put_string(&j, "severity", "error");
		json_put_string(&j, "rule", linux_rule_name(r->f.rule));
		json_put_i64(&j, "offset", (int64_t)r->f.at_bytes);
		json_put_string(&j, "command", r->f.command);
		if (r->source)
			json_put_string(&j, "source", r->source);
		json_put_string(&j, "text", r->f.text);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "regions", '[');
	for (int i = 0; r->accepted && i < LINUX_REGIONS; i++) {
		if (!r->use.bytes[i])
			continue;
		json_open(&j, NULL, '{');
		json_put_i64(&j, "region", i);
		json_put_i64(&j, "bytes", (int64_t)r->use.bytes[i]);
		json_put_bool(&j, "written", r->use.written[i]);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
}

bool
verify_linux(struct arena *a, struct text *t, const struct input *in,
	     const struct options *o, struct err *e)
{
	bool json = o->view == VIEW_JSON;
	const char *before = "[", *remedy = "";
	unsigned errors = 0;
	for (int i = 0; i < in->n; i++) {
		struct answer r = {.s = &in->stream[i]};
		if (o->only >= 0 && o->only != i)
			continue;
		uint64_t memory[LINUX_REGIONS];
		if (in->model)
			linux_memory(in->model, r.s, memory);
		r.accepted = linux_check(r.s, in->model ? memory : NULL, &r.use, &r.f);
		errors += !r.accepted;
		if (!r.accepted && in->model) /* bare words have no compiler to run again */
			remedy = linux_remedy(r.f.rule);
		if (!r.accepted && r.f.command)
			r.source = source_name(a, in, i, r.f.at_bytes / 4);
		if (json) {
			text_puts(t, before);
			put_json(t, &r);
			before = ",\n";
			continue;
		}
		if (!r.accepted) {
			(void)fprintf(stderr, "npu-dis: %s: ", text_plain(a, in->name));
			if (r.s->op >= 0)
				(void)fprintf(stderr, "operator %d, ", r.s->op);
			if (r.f.command)
				(void)fprintf(stderr, "0x%06zx %s%s%s: ", r.f.at_bytes,
					      r.f.command, r.source ? " of " : "",
					      r.source ? text_plain(a, r.source) : "");
			(void)fprintf(stderr, "error: rule %s of the Linux driver: %s\n",
				      linux_rule_name(r.f.rule), r.f.text);
		}
		text_printf(t, "%s: %s: %zu bytes for %s, %s by Linux", text_plain(a, in->name),
			    text_plain(a, r.s->name), 4 * r.s->n_words, r.s->accel->name,
			    r.accepted ? "accepted" : "refused");
		const char *separator = "; bytes of regions:";
		for (int k = 0; r.accepted && k < LINUX_REGIONS; k++) {
			if (!r.use.bytes[k])
				continue;
			text_printf(t, "%s %d %s%" PRIu64, separator, k,
				    r.use.written[k] ? "written " : "", r.use.bytes[k]);
			separator = ",";
		}
		text_putc(t, '\n');
	}
	if (json)
		text_puts(t, "]\n");
	return !errors || err_no(e, in->name, 0, "the Linux driver ethosu refuses %u command "
						 "stream%s%s",
				 errors, errors == 1 ? "" : "s", remedy);
}
