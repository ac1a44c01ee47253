/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-partition: a TFLite model in, an NPU graph (stage=part) out. */
#include "part.h"

#include "base/cli.h"
#include "base/file.h"
#include "graph/graph.h"
#include "kernels/kernels.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	OPT_CPU = 256, OPT_REPORT, OPT_FAIL, OPT_BY_NAME, OPT_OPERATORS,
	OPT_INTEGER_IO, OPT_IN, OPT_OUT, OPT_SEPARATE, OPT_TARGET
};

static const struct argp_option option_list[] = {
	{ "accelerator-config", 'a', "NAME", 0,
	  "lower for this accelerator (default: all)", 0 },
	{ "target", OPT_TARGET, "any|linux", 0,
	  "driver that executes the streams: any (default), or linux, the kernel's ethosu "
	  "driver, which refuses some streams", 0 },
	{ "report", OPT_REPORT, 0, 0,
	  "print for each operator whether the NPU or the CPU runs it, and why, "
	  "instead of the graph", 0 },
	{ "cpu", OPT_CPU, "OP", 0,
	  "run operator OP on the CPU: a name (CONV_2D) or an index", 0 },
	{ "fail-on-cpu", OPT_FAIL, 0, 0,
	  "fail (status 1) and write nothing if an operator must run on the CPU", 0 },
	{ "integer-io", OPT_INTEGER_IO, 0, 0,
	  "give the compiled model integer inputs and outputs: leave out QUANTIZE of a "
	  "float input and DEQUANTIZE to a float output", 0 },
	{ "input-layout", OPT_IN, "[K=]LAYOUT[,row-stride=N][,pixel-stride=N]", 0,
	  "memory layout of input K, or of all inputs, in the application: nhwc "
	  "(strides in bytes), nhcwb16 or nchw", 0 },
	{ "output-layout", OPT_OUT, "[K=]LAYOUT[,...]", 0,
	  "memory layout of output K, or of all outputs", 0 },
	{ "separate-io-regions", OPT_SEPARATE, 0, 0,
	  "keep inputs and outputs outside of the arena, each with its own base "
	  "address", 0 },
	{ "verbose-operators", OPT_OPERATORS, 0, 0,
	  "list operators and options on standard error", 0 },
	{ "by-name", OPT_BY_NAME, "FILE", OPTION_ARG_OPTIONAL,
	  "put the name of the model's file into the graph instead of its bytes; FILE "
	  "is that name if the model is read from a pipe", 0 },
	{ 0 },
};

/* parses ",row-stride=1280" and the like behind a layout */
static void
parse_strides(struct io_layout *x, const char *p)
{
	static const struct {
		const char *name;
		size_t at;
	} keys[] = { { "row-stride=", offsetof(struct io_layout, row_stride) },
		     { "pixel-stride=", offsetof(struct io_layout, pixel_stride) } };
	while (*p) {
		size_t n = strcspn(p + 1, ","), k = 0;
		char number[16] = "";
		while (k < ARRAY_LEN(keys) &&
		       strncmp(p + 1, keys[k].name, strlen(keys[k].name)) != 0)
			k++;
		size_t skip = k < ARRAY_LEN(keys) ? 1 + strlen(keys[k].name) : 0;
		if (*p != ',' || !skip || n + 1 - skip >= sizeof(number)) {
			cli_error("only ,row-stride=BYTES and ,pixel-stride=BYTES can "
				  "follow a layout, not '%s'",
				  p);
			return;
		}
		memcpy(number, p + skip, n + 1 - skip);
		int64_t *to = (int64_t *)(void *)((char *)x + keys[k].at);
		*to = cli_number(keys[k].name, number, 1, 1 << 30);
		p += 1 + n;
	}
	if ((x->row_stride || x->pixel_stride) && x->layout != LAYOUT_NHWC)
		cli_error("row-stride and pixel-stride work only with nhwc");
}

static void
add_layout(struct io_layouts *l, const char *arg)
{
	const char *strides;
	struct io_layout *x = io_layout_add(l, arg, io_layout_names, &strides);
	if (x)
		parse_strides(x, strides);
}

static const struct cli_store stores[] = {
	CLI_FLAG(OPT_REPORT, struct options, report),
	CLI_FLAG(OPT_FAIL, struct options, fail_on_cpu),
	CLI_FLAG(OPT_INTEGER_IO, struct options, integer_io),
	CLI_FLAG(OPT_SEPARATE, struct options, separate_io),
	CLI_FLAG(OPT_OPERATORS, struct options, list_operators),
	CLI_TEXT('a', struct options, accel),
	{ 0 },
};

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case OPT_TARGET:
		o->target = cli_choice("--target", arg, low_targets);
		break;
	case OPT_CPU:
		o->cpu = realloc(o->cpu, (o->n_cpu + 1) * sizeof(*o->cpu));
		if (!o->cpu)
			out_of_memory();
		o->cpu[o->n_cpu++] = arg;
		break;
	case OPT_BY_NAME:
		o->by_name = true;
		o->name = arg;
		break;
	case OPT_IN:
		add_layout(&o->in, arg);
		break;
	case OPT_OUT:
		add_layout(&o->out, arg);
		break;
	case ARGP_KEY_END:
		if (o->by_name && !o->name)
			o->name = o->input;
		if (o->by_name && !o->name)
			cli_error("--by-name needs the name of a file, because the "
				  "model comes from standard input");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_list, .parser = parse_option,
	.doc = "Decide which operators of a quantized TFLite model run on the NPU, "
	       "lower them to NPU primitives, and write the NPU graph.\v"
	       "Exit status: 0 done, 1 an operator must run on the CPU and "
	       "--fail-on-cpu was given, 2 error.  See tfl-partition(1).",
};

static void
add_model(struct part *p, const struct options *o)
{
	struct g_model *m = graph_add_g_model(p->g);
	G_PUT(m, MODEL, name, file_base(o->input));
	if (*p->m->description)
		G_PUT(m, MODEL, description, p->m->description);
	struct g_blob *b = graph_add_blob(p->g, "model", p->m->file);
	b->path = o->name;
	low_put_target(p->l, m);
}

static bool
fails_on_cpu(const struct part *p, const struct options *o)
{
	if (!o->fail_on_cpu)
		return false;
	int n = 0, first = 0;
	for (int i = p->sg->n_ops; i-- > 0;)
		if (!p->op[i].npu) {
			first = i;
			n++;
		}
	if (!n)
		return false;
	(void)err_no(p->e, "%s: %d operator%s on the CPU; the first is %d (%s): %s",
		     p->m->name, n, n == 1 ? " stays" : "s stay", first,
		     tfl_op_label(&p->sg->op[first]), p->op[first].why);
	return true;
}

static void
list(const struct part *p)
{
	struct text t = { 0 };
	print_operators(p, &t);
	text_show(&t, stderr);
}

static bool
write_report(const struct part *p, const struct options *o)
{
	struct text t = { 0 };
	print_report(p, &t);
	return file_write_text(o->output, &t, p->e);
}

/*
 * Checks that each dimension of a tensor seen as height, width, depth is an int32, and that
 * a memory of 2 GB, the largest that npu-sched plans, can contain the tensor
 */
static bool
check_sizes(const struct part *p)
{
	for (int i = 0; i < p->sg->n_tensors; i++) {
		const struct tfl_tensor *t = &p->sg->tensor[i];
		int64_t depth = t->rank ? t->dim[t->rank - 1] : 1;
		int64_t rows = depth > 0 ? tfl_elements(t) / depth : 0;
		if (rows > INT32_MAX)
			return err_at(p->e, p->m->name, 0, "subgraph 0: tensor %d (%s): "
				      "%" PRId64 " lines of %" PRId64 " elements, more "
				      "than %d", i, t->name, rows, depth, INT32_MAX);
		if (tfl_bytes(t) > INT32_MAX)
			return err_at(p->e, p->m->name, 0, "subgraph 0: tensor %d (%s) takes "
				      "%" PRId64 " bytes, more than the %d of the largest "
				      "memory", i, t->name, tfl_bytes(t), INT32_MAX);
	}
	return true;
}

static int *
count_operands(const struct part *p)
{
	int *n = anew(p->a, int, (size_t)p->sg->n_tensors);
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		for (int k = 0; k < op->n_in; k++)
			if (op->in[k] >= 0)
				n[op->in[k]]++;
		for (int k = 0; k < op->n_out; k++)
			n[op->out[k]]++;
	}
	return n;
}

/* makes a graph of the model; *again: some operators turned out to need the CPU */
static bool
partition(struct part *p, const struct options *o, bool *again)
{
	p->sg = &p->m->subgraph[0];
	p->g = graph_new(p->a, p->m->name);
	p->g->stage = STAGE_PART;
	p->l->g = p->g;
	p->op = anew(p->a, struct placement, (size_t)p->sg->n_ops);
	add_model(p, o);
	p->n_original = p->sg->n_tensors;
	find_border(p);
	if (o->integer_io)
		leave_out_float_borders(p, o);
	take_state(p, o);
	p->value = anew(p->a, struct g_operand, (size_t)p->sg->n_tensors);
	p->uses = anew(p->a, int, (size_t)p->sg->n_tensors);
	p->operands = count_operands(p);
	p->crosses = anew(p->a, bool, (size_t)p->sg->n_tensors);
	p->channels = anew(p->a, struct channels, (size_t)p->sg->n_tensors);
	p->is_model_input = anew(p->a, bool, (size_t)p->sg->n_tensors);
	for (int i = 0; i < p->sg->n_in; i++)
		p->is_model_input[p->sg->in[i]] = true;
	decide_all(p, o);
	if (!check_rewritten(p) || (!o->report && !check_copyable(p)))
		return false;
	make_nodes(p);
	order_channels(p);
	if (!lower_all(p))
		return false;
	*again = find_limits(p);
	return *again || (take_layouts(p, o) && separate_borders(p, o) &&
			  graph_check(p->g, p->e));
}

static bool
run(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	const struct accel *accel = o->accel ? accel_named(o->accel, e) : NULL;
	struct part p = { .a = a, .e = e };
	if (o->accel && !accel)
		return false;
	if (!model_read_file(a, o->input, &p.m, e) || !tfl_check_plain(p.m, e))
		return false;
	p.sg = &p.m->subgraph[0];
	if (!check_sizes(&p) || !check_asked(&p, o, e))
		return false;
	if (o->list_operators)
		list(&p);
	const char **limit = anew(a, const char *, (size_t)p.sg->n_ops);
	struct tfl_model *m = p.m;
	struct lower l;
	for (bool again = true; again;) {
		l = (struct lower){ .a = a, .accel = accel };
		if (!low_set_target(&l, o->target, e))
			return false;
		p = (struct part){ .a = a, .m = m, .l = &l, .e = e, .limit = limit };
		if (!partition(&p, o, &again) ||
		    /* lowering changed the model in memory: read it afresh */
		    (again && !tfl_read(a, m->file, m->name, &m, e)))
			return false;
	}

	if (!o->report) {
		warn_of_cpu(&p, o->input);
		note_open_batch(&p);
		note_subgraphs(&p);
	}
	bool fails = fails_on_cpu(&p, o);
	bool ok = o->report ? write_report(&p, o)
			    : fails || graph_write(p.g, o->output, e);
	return ok && !fails;
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct cli_common common = {
		.stores = stores,
		.file = &o.input, .what = "model",
		.output = &o.output,
		.output_doc = "write the graph to FILE",
	};
	int status = cli_run(&argp, argc, argv, &o, &common, run);
	free(o.cpu);
	return status;
}
