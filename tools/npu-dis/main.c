/* SPDX-License-Identifier: Apache-2.0 */
/* npu-dis: disassembles and verifies command streams of Ethos-U55, U65 and U85. */
#include "dis.h"

#include "base/cli_options.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "stream/op.h"
#include "target/accel.h"

#include <string.h>

static void
choose_accelerator(void *options, const char *name)
{
	struct err e = { 0 };
	struct options *o = options;
	o->accel = accel_named(name, &e);
	if (!o->accel)
		cli_refuse(&e);
}

static void
check_options(void *options)
{
	const struct options *o = options;
	if (o->source && (!o->verify || o->raw || o->by_linux))
		cli_error("--source works only with --verify of a model");
	if (o->operations + o->json + o->map > 1)
		cli_error("--high-level, --json and --map exclude each other");
	if (o->accel && !o->raw)
		cli_error("--accelerator-config works only with --raw; a model names its own");
}

static const char *const rule_names[] = { "npu", "linux", NULL };

static const struct cli_option option_list[] = {
	{ CLI_NUMBER("select", "K", only, 0, 1 << 20,
		     "use only operator K of the ethos-u operators, from 0"), .key = 'n' },
	{ CLI_FLAG("fields", fields, "list the bit fields of each register, too") },
	{ CLI_VALUE("high-level", view, VIEW_OPERATIONS,
		    "print one line for each operation, instead of a listing of all words"),
	  .seen = CLI_SEEN(operations) },
	{ CLI_VALUE("json", view, VIEW_JSON,
		    "print the operations as JSON; with --verify, the findings"),
	  .seen = CLI_SEEN(json) },
	{ CLI_VALUE("map", view, VIEW_MAP,
		    "print the model's source map, which names the operators and tensors of the "
		    "streams"),
	  .seen = CLI_SEEN(map) },
	{ CLI_CHOICE("verify", "RULES", by_linux, rule_names,
		     "check the streams instead of listing them; fail (status 1) if a stream "
		     "breaks a rule.  RULES: npu (default), or linux for the rules of "
		     "the Linux driver ethosu"),
	  .flags = OPTION_ARG_OPTIONAL, .seen = CLI_SEEN(verify) },
	{ CLI_TEXT("source", "GRAPH", source,
		   "with --verify: also compare the streams with GRAPH, the output of "
		   "npu-wenc that they were made from") },
	{ CLI_VALUE("quiet", warnings, false, "with --verify: print errors only, no warnings"),
	  .key = 'q' },
	{ CLI_FLAG("raw", raw,
		   "FILE is a driver payload (COP1) or the bare words of a stream, in binary or "
		   "hexadecimal") },
	{ CLI_TAKE("accelerator-config", "NAME", choose_accelerator,
		   "accelerator of the bare words, with --raw"), .key = 'a' },
	{ 0 },
};

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	sandbox_read(s, o->source);
}

static bool
print_operations(struct arena *a, struct text *t, const struct input *in, int k,
		 struct err *e)
{
	struct npu_walk w;
	struct npu_op op;
	walk_init(&w, &in->stream[k]);
	while (walk_next(&w, &op, e)) {
		bool named = op.kind == NPU_DMA || npu_is_kernel(&op);
		const char *name = named ? source_name(a, in, k, op.at) : NULL;
		stream_print_op(t, &op);
		if (name)
			text_printf(t, "  # %s", text_plain(a, name));
		text_putc(t, '\n');
	}
	return !e->status;
}

static bool
print_map(struct text *t, const struct input *in, struct err *e)
{
	if (in->map)
		map_print(t, in->map);
	return in->map || err_at(e, in->name, 0,
		"the file has no source map; npu-cmdgen writes one into its models");
}

static bool
print_all(struct arena *a, struct text *t, const struct input *in,
	  const struct options *o, struct err *e)
{
	bool json = o->view == VIEW_JSON, first = true;
	if (json)
		text_putc(t, '[');
	for (int i = 0; i < in->n; i++) {
		const struct npu_stream *s = &in->stream[i];
		struct err inner = { 0 };
		if (o->only >= 0 && o->only != i)
			continue;
		if (json && !first)
			text_puts(t, ",\n");
		else if (!json && in->n > 1 && o->only < 0)
			text_printf(t, "%ssubgraph %d operator %d (%s):\n",
				    first ? "" : "\n", s->subgraph, s->op,
				    s->name);
		first = false;
		bool ok = json ? print_json(a, t, in, i, &inner)
			  : o->view == VIEW_OPERATIONS
				  ? print_operations(a, t, in, i, &inner)
				  : stream_print(t, s, o->fields, &inner);
		if (!ok)
			return err_at(e, in->name, 0, "%s: %s", s->name,
				      inner.text);
	}
	if (json)
		text_puts(t, "]\n");
	return true;
}

int
main(int argc, char **argv)
{
	static const struct argp argp = {
		.args_doc = "[FILE]",
		.doc = "Disassembles and verifies the command streams of a "
		       "compiled TFLite model.",
	};
	struct options o = { .only = -1, .warnings = true };
	struct err e = { 0 };
	struct input in;
	struct text t = { 0 };
	struct cli_common common = {
		.options = option_list,
		.check = check_options,
		.file = &o.input, .what = "model or payload",
		.output = &o.output,
		.confined = true,
		.allow = allow,
		.names_files = true,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	if (read_input(a, &o, &in, &e)) {
		struct err printed = { 0 };
		if (o.by_linux)
			(void)verify_linux(a, &t, &in, &o, &printed);
		else if (o.verify)
			(void)verify(a, &t, &in, &o, &printed);
		else if (o.view == VIEW_MAP)
			(void)print_map(&t, &in, &printed);
		else
			(void)print_all(a, &t, &in, &o, &printed);
		/* standard output gets the text before an error; a file is complete or absent */
		bool whole = printed.status != EXIT_TROUBLE;
		if ((!whole && !file_is_standard(o.output)) ||
		    file_write(o.output, t.p, t.n, false, &e))
			e = printed;
	}
	text_free(&t);
	arena_close(a);
	return cli_finish(&e);
}
