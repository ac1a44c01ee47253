/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-partition: a TFLite model in, an NPU graph (stage=part) out. */
#include "part.h"

#include "base/cli_options.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "graph/graph.h"
#include "lower/linux.h"
#include "target/accel.h"
#include "target/part.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* parses a layout, and ",row-stride=1280" and the like behind it */
static void
take_layout(void *layouts, const char *arg)
{
	static const struct {
		const char *name;
		size_t at;
	} keys[] = { { "row-stride=", offsetof(struct io_layout, row_stride) },
		     { "pixel-stride=", offsetof(struct io_layout, pixel_stride) } };
	const char *p;
	struct io_layout *x = io_layout_add(layouts, arg, io_layout_names, &p);
	while (x && *p) {
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
	if (x && (x->row_stride || x->pixel_stride) && x->layout != LAYOUT_NHWC)
		cli_error("row-stride and pixel-stride work only with nhwc");
}

static void
take_operator(void *options, const char *arg)
{
	struct options *o = options;
	o->cpu = realloc(o->cpu, (o->n_cpu + 1) * sizeof(*o->cpu));
	if (!o->cpu)
		out_of_memory();
	o->cpu[o->n_cpu++] = arg;
}

static void
take_rule(void *options, const char *rule)
{
	struct options *o = options;
	if (strcmp(rule, "unequal-quantization") != 0)
		cli_error("--allow=%s: the only rule here is unequal-quantization; tfl-quantcheck "
			  "has the others", rule);
	o->allow_unequal = true;
}

static void
complete_options(void *options)
{
	struct options *o = options;
	if (o->by_name && !o->name)
		o->name = o->input;
	if ((o->cut_inputs || o->cut_outputs) && o->by_name)
		cli_error("--by-name excludes --cut-inputs and --cut-outputs: the cut network "
			  "is in no file");
	if (o->subgraph && o->by_name)
		cli_error("--by-name excludes --subgraph: the body is in no file");
	if (o->cut_only && !o->cut_inputs && !o->cut_outputs && !o->subgraph && !o->integer_io)
		cli_error("--cut-only needs --cut-inputs, --cut-outputs, --subgraph or "
			  "--integer-io");
	if (o->json && !o->report)
		cli_error("--json needs --report");
	if (o->by_name && !o->name)
		cli_error("--by-name needs the name of a file, because the model comes from "
			  "standard input");
}

static const struct cli_option option_list[] = {
	LOW_OPTIONS,
	{ CLI_FLAG("report", report,
		   "print for each operator whether the NPU or the CPU runs it, and why, "
		   "instead of the graph") },
	{ CLI_FLAG("json", json, "print the result of --report as JSON") },
	{ SHARED_TEXT(CUT_INPUTS, cut_inputs) },
	{ SHARED_TEXT(CUT_OUTPUTS, cut_outputs) },
	{ CLI_FLAG("cut-only", cut_only,
		   "write the network between the tensors as a TFLite model, instead of the "
		   "graph") },
	{ CLI_NUMBER("subgraph", "N", subgraph, 1, INT32_MAX,
		     "compile subgraph N, a body of IF or WHILE, as a network of its own; "
		     "npu-cmdgen --body puts the result into the model") },
	{ SHARED_TAKE(CPU, take_operator) },
	{ SHARED_TEXT(PART, part),
	  .doc = "the chip to compile for: sets the accelerator, and the CPU whose cycles the "
		 "report estimates" },
	{ SHARED_FLAG(FAIL_ON_CPU, fail_on_cpu) },
	{ SHARED_TAKE(ALLOW, take_rule), .arg = "RULE",
	  .doc = "accept operators that copy or compare values of unequal scales "
		 "(unequal-quantization): the integers are copied without a change" },
	{ SHARED_FLAG(INTEGER_IO, integer_io) },
	{ SHARED_TAKE_INTO(INPUT_LAYOUT, in, take_layout) },
	{ SHARED_TAKE_INTO(OUTPUT_LAYOUT, out, take_layout) },
	{ SHARED_FLAG(SEPARATE_IO, separate_io) },
	REWRITE_OPTIONS,
	{ CLI_FLAG("verbose-operators", list_operators,
		   "list operators and options on standard error") },
	{ CLI_TEXT("by-name", "FILE", name,
		   "put the name of the model's file into the graph instead of its bytes; FILE "
		   "is that name if the model is read from a pipe"),
	  .flags = OPTION_ARG_OPTIONAL, .seen = CLI_SEEN(by_name) },
	{ 0 },
};

static const struct argp argp = {
	.doc = "Decide which operators of a quantized TFLite model run on the NPU, "
	       "lower them to NPU primitives, and write the NPU graph.\v"
	       "Exit status: 0 done, 1 an operator must run on the CPU and "
	       "--fail-on-cpu was given, 2 error.  See tfl-partition(1).",
};

static bool
run(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	const struct target_part *chip = target_part_take(a, o->part, e);
	const char *name = o->accel || !chip ? o->accel : chip->accel;
	const struct accel *accel = name ? accel_named(name, e) : NULL;
	struct bytes file;
	struct part p;
	if (e->status || (chip && !target_part_has(chip, o->accel, NULL, e)) || (name && !accel) ||
	    !file_read(a, o->input, TFL_MAX_BYTES, &file, e))
		return false;
	if (o->cut_only)
		return write_cut(a, o, file, e);
	if (!partition_file(a, o, accel, file, &p, e))
		return false;
	bool fails = fails_on_cpu(&p, o);
	if (!o->report)
		return !fails && graph_write(p.g, o->output, e);
	struct text t = { 0 };
	return report_all(&p, o, accel, &t) && file_write_text(o->output, &t, e) && !fails;
}

/* The file of --part is read with the sandbox around. */
static void
allow(const struct sandbox *s, void *options)
{
	sandbox_read(s, ((const struct options *)options)->part);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct cli_common common = {
		.options = option_list,
		.check = complete_options,
		.file = &o.input, .what = "model",
		.output = &o.output,
		.confined = true,
		.allow = allow,
		.output_doc = "write the graph to FILE",
	};
	int status = cli_run(&argp, argc, argv, &o, &common, run);
	free(o.cpu);
	return status;
}
