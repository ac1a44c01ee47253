/* SPDX-License-Identifier: Apache-2.0 */
/* npu-cmdgen: reads an encoded graph and writes a compiled TFLite model. */
#include "cmdgen.h"

#include "base/cli_options.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "stream/stream.h"
#include "tflite/calls.h"
#include "tflite/tflite.h"

#include <stdio.h>
#include <stdlib.h>

#define NAME(code, name, what) name,
#define MEANING(code, name, what) name ": " what "; "
static const char *const emit_names[] = { EMITS(NAME) NULL };
static const char emit_doc[] = "kind of output: " EMITS(MEANING) "the default is tflite";

static void
add_body(void *options, const char *arg)
{
	struct options *o = options;
	o->body = realloc(o->body, (o->n_bodies + 1) * sizeof(*o->body));
	if (!o->body)
		out_of_memory();
	o->body[o->n_bodies++] = arg;
}

static const struct cli_option option_list[] = {
	{ CLI_TAKE("body", "N=FILE", add_body,
		   "put FILE, compiled from body N of IF or WHILE (tfl-partition --subgraph=N), "
		   "into the model") },
	{ CLI_CHOICE("emit", "KIND", emit, emit_names, emit_doc) },
	{ SHARED_FLAG(NO_MAP, no_map) },
	{ CLI_FLAG("verbose-allocation", allocation,
		   "list the addresses of streams and constants on standard error") },
	{ CLI_FLAG("verbose-high-level-command-stream", high_level,
		   "list stripes and transfers on standard error") },
	{ CLI_FLAG("verbose-register-command-stream", registers,
		   "list operations and command words on standard error") },
	{ 0 },
};

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	for (size_t i = 0; i < o->n_bodies; i++) {
		const char *path = o->body[i];
		if (cli_index(&path) >= 0)
			sandbox_read(s, path);
	}
}

static const struct argp argp = {
	.doc = "Generate the NPU's command streams from an encoded graph, and write a "
	       "TFLite model with ethos-u operators.\v"
	       "Exit status: 0 done, 2 error.  See npu-cmdgen(1).",
};

/*
 * Writes one input of the only NPU operator: input 0 is the driver's payload, input 1
 * has its constants.
 */
static bool
write_npu_input(struct cmdgen *c, const struct options *o, struct bytes file)
{
	struct tfl_model *m;
	const struct tfl_op *op = NULL;
	int n = 0;
	if (!tfl_read(c->a, file, c->g->file, &m, c->e))
		return false;
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (npu_is_operator(&g->op[i])) {
			op = &g->op[i];
			n++;
		}
	if (n != 1)
		return err_at(c->e, c->g->file, 0, "--emit=%s needs a model with one "
						   "NPU operator, the model has %d",
			      o->emit == EMIT_PAYLOAD ? "payload" : "constants", n);
	const struct tfl_tensor *t = &g->tensor[op->in[o->emit == EMIT_CONSTANTS]];
	return file_write(o->output, t->data.p, t->data.n, true, c->e);
}

static bool
write_output(struct cmdgen *c, const struct options *o)
{
	struct text t = { 0 };
	struct bytes file;
	bool ok;
	if (!build_model(c, &file) || !verify_model(c, file, o->jobs))
		return false;
	if (o->emit == EMIT_TFLITE) {
		ok = file_write(o->output, file.p, file.n, true, c->e);
	} else if (o->emit == EMIT_PAYLOAD || o->emit == EMIT_CONSTANTS) {
		ok = write_npu_input(c, o, file);
	} else if (o->emit == EMIT_DEBUG) {
		print_debug_xml(c, &t);
		ok = file_write(o->output, t.p, t.n, false, c->e);
	} else if (o->emit == EMIT_CMD) {
		for (size_t i = 0; i < c->g->n_nodes; i++)
			for (size_t k = 0; k < c->stream[i].n; k++)
				text_put_le32(&t, c->stream[i].word[k]);
		ok = file_write(o->output, t.p, t.n, true, c->e);
	} else if (o->emit == EMIT_NPZ || o->emit == EMIT_PACKED) {
		ok = print_raw(c, o->emit, &t) &&
		     file_write(o->output, t.p, t.n, true, c->e);
	} else {
		ok = print_listing(c, o->emit, &t) &&
		     file_write(o->output, t.p, t.n, false, c->e);
	}
	text_free(&t);
	return ok;
}

static bool
run(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	struct cmdgen c = { .a = a, .e = e, .no_map = o->no_map };
	uint8_t *text;
	size_t n;
	if (!file_take(a, o->input, SIZE_MAX / 4, &text, &n, e) ||
	    !emit_text(&c, text, n, file_name(o->input)))
		return false;
	for (size_t i = 0; i < o->n_bodies; i++) { /* the files of --body */
		char *name;
		long k = strtol(o->body[i], &name, 10);
		struct bytes file;
		if (*name != '=' || k < 1 || k > INT32_MAX)
			return err_set(e, "--body needs N=FILE, not '%s'", o->body[i]);
		if (!file_read(a, name + 1, TFL_MAX_BYTES, &file, e) ||
		    !take_body(&c, (int)k, file, name + 1))
			return false;
	}
	/* bodies of IF and WHILE that were not compiled: their operators run on the CPU */
	const bool *body = tfl_bodies(a, c.m);
	int n_bodies = 0, first = 0;
	for (int i = c.m->n_subgraphs; i-- > 1;)
		if (body[i] && !(c.body && c.body[i])) {
			first = i;
			n_bodies++;
		}
	if (n_bodies)
		cli_note("note", "%s: %d bod%s of IF or WHILE stay%s on the CPU; the first is "
				 "subgraph %d: compile it with tfl-partition --subgraph=%d, and put "
				 "it here with --body=%d=FILE (npucc does this)", c.g->file, n_bodies,
			 n_bodies == 1 ? "y" : "ies", n_bodies == 1 ? "s" : "", first, first,
			 first);
	/* the --verbose-... listings */
	struct text t = { 0 };
	bool ok = true;
	for (size_t i = 0; ok && i < c.g->n_nodes; i++) {
		if (!c.stream[i].n_marks)
			continue;
		if (o->high_level)
			print_high_level(&c, i, &t);
		if (o->registers) {
			print_operations(&c, i, &t);
			ok = print_words(&c, i, &t);
		}
	}
	if (o->allocation)
		print_allocation(&c, &t);
	text_show(&t, stderr);
	return ok && write_output(&c, o);
}

int
main(int argc, char **argv)
{
	struct options o = { .jobs = 1 };
	struct cli_common common = {
		.options = option_list,
		.file = &o.input, .what = "graph",
		.output = &o.output,
		.jobs = &o.jobs,
		.jobs_doc = "verify weights on N threads (0: all processors)",
		.confined = true,
		.allow = allow,
		.names_files = true,
	};
	int status = cli_run(&argp, argc, argv, &o, &common, run);
	free(o.body);
	return status;
}
