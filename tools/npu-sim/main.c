/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sim: runs a model on the host, and compares it with another model. */
#include "base/cli.h"
#include "inference/inference.h"

enum { OPT_DUMP = OPT_OWN, OPT_TRACE };

static const struct argp_option option_list[] = {
	INFERENCE_OPTIONS,
	{ .name = "compare", .key = OPT_COMPARE, .arg = "MODEL",
	  .doc = "run MODEL on the same inputs, too; fail (status 1) if outputs differ" },
	{ .name = "dump", .key = OPT_DUMP, .arg = "DIR",
	  .doc = "write the results of every operator to DIR/tensor_INDEX.npy" },
	{ .name = "trace", .key = OPT_TRACE,
	  .doc = "print a line for every operator and NPU operation" },
	{ 0 }
};

/* checks the program's own options, after those that npu-run has, too */
static void
finish_options(const struct options *o)
{
	if (o->trace && o->json)
		cli_error("--trace excludes --json");
	if (o->dump_dir && o->frames > 1)
		cli_error("--dump excludes --frames");
}

static const struct cli_store stores[] = {
	CLI_TEXT(OPT_COMPARE, struct options, compare),
	CLI_TEXT(OPT_DUMP, struct options, dump_dir),
	CLI_FLAG(OPT_TRACE, struct options, trace),
	{ 0 },
};

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	error_t shared = inference_option(key, arg, o);
	if (key != ARGP_KEY_END)
		return shared;
	finish_options(o);
	return 0;
}

static const struct argp argp = {
	.options = option_list, .parser = parse_option,
	.args_doc = "[MODEL]",
	.doc = "Run a TFLite model, plain or compiled for Ethos-U, or a TOSA graph.  "
	       "Outputs are bit-exact with those of the device.",
};

static bool
run(void *options, struct arena *a, struct err *e)
{
	return run_model(a, options, e);
}

int
main(int argc, char **argv)
{
	struct options o = { .jobs = 1 };
	struct cli_common common = {
		.stores = stores,
		.file = &o.model, .what = "model",
		.output = &o.output_dir,
		.output_value = "DIR",
		.output_doc = "write the outputs to DIR/output_K.npy",
		.jobs = &o.jobs,
		.jobs_doc = "with --reset: run frames on N threads (0: one per "
			    "processor)",
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
