/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-partition: a TFLite model in, an NPU graph (stage=part) out. */
#include "part.h"

#include "base/cli.h"
#include "base/file.h"
#include "graph/graph.h"

#include <stddef.h>
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

static bool
write_report(const struct part *p, const struct options *o)
{
	struct text t = { 0 };
	print_report(p, &t);
	return file_write_text(o->output, &t, p->e);
}

static bool
run(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	const struct accel *accel = o->accel ? accel_named(o->accel, e) : NULL;
	struct bytes file;
	struct part p;
	if ((o->accel && !accel) || !file_read(a, o->input, TFL_MAX_BYTES, &file, e) ||
	    !partition_file(a, o, accel, file, &p, e))
		return false;
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
