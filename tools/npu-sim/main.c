/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sim: runs a model on the host, and compares it with another model. */
#include "base/cli_options.h"
#include "base/sandbox.h"
#include "inference/inference.h"

/* checks the program's own options, after those that npu-run has, too */
static void
check_options(void *options)
{
	struct options *o = options;
	inference_check(o);
	if (o->trace && o->json)
		cli_error("--trace excludes --json");
	if (o->dump_dir && o->frames > 1)
		cli_error("--dump excludes --frames");
}

static void
allow_files(const struct sandbox *s, const struct files *f)
{
	for (int i = 0; i < f->n; i++)
		sandbox_read(s, f->path[i]);
}

static void
allow(const struct sandbox *s, void *options)
{
	static struct spool spool;
	struct options *o = options;
	struct err e = { 0 };
	sandbox_read(s, o->compare);
	allow_files(s, &o->input);
	allow_files(s, &o->expect);
	sandbox_write_in(s, o->output_dir);
	sandbox_write_in(s, o->dump_dir);
	/* the only temporary file that is read again; if it fails, the run tries once more */
	if (o->frames > 1 && spool_open(&spool, &e))
		o->spool = &spool;
}

static const struct cli_option option_list[] = {
	INFERENCE_OPTIONS(),
	{ CLI_TEXT("compare", "MODEL", compare,
		   "run MODEL on the same inputs, too; fail (status 1) if outputs differ") },
	{ CLI_FLAG("quiet", quiet, "with --compare: print no note that all outputs are equal") },
	{ CLI_TEXT("dump", "DIR", dump_dir,
		   "write the results of every operator to DIR/tensor_INDEX.npy") },
	{ CLI_FLAG("trace", trace, "print a line for every operator and NPU operation") },
	{ 0 }
};

static const struct argp argp = {
	.args_doc = "[MODEL]",
	.doc = "Run a TFLite model, plain or compiled for Ethos-U, or a TOSA graph.  "
	       "Outputs are meant to be those of the device, bit for bit.",
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
		.options = option_list,
		.check = check_options,
		.file = &o.model, .what = "model",
		.output = &o.output_dir,
		.output_value = "DIR",
		.output_doc = "write the outputs to DIR/output_K.npy",
		.confined = true,
		.allow = allow,
		.jobs = &o.jobs,
		.jobs_doc = "with --reset: run frames on N threads (0: one per "
			    "processor)",
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
