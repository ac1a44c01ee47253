/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sim: runs a model on the host, and compares it with another model. */
#include "base/cli.h"
#include "npu-sim.h"

#include <string.h>

enum { MAX_FRAMES = 1000000 };

enum {
	OPT_COMPARE = 256, OPT_DUMP, OPT_TRACE, OPT_JSON, OPT_SEED, OPT_FRAMES,
	OPT_RESET, OPT_INPUTS, OPT_REQUIRE, OPT_ANY_SIZE
};

static const struct argp_option option_list[] = {
	{ .name = "input", .key = 'i', .arg = "FILE",
	  .doc = "values of the next input, .npy or raw; repeat the option for each "
		 "input of the model" },
	{ .name = "expect", .key = 'e', .arg = "FILE",
	  .doc = "expected values of the next output; fail (status 1) if the output "
		 "differs" },
	{ .name = "seed", .key = OPT_SEED, .arg = "N",
	  .doc = "seed of the random inputs (default 0)" },
	{ .name = "inputs", .key = OPT_INPUTS, .arg = "KIND[,KIND...]",
	  .doc = "values of generated inputs, one KIND per frame in turn: random, min, "
		 "max or alternating; without --frames, run one frame per KIND" },
	{ .name = "require-outputs", .key = OPT_REQUIRE,
	  .doc = "fail (status 1) if an output depends on an operator that npu-sim "
		 "can't run" },
	{ .name = "any-size", .key = OPT_ANY_SIZE,
	  .doc = "run the model even if it needs far more memory or time than usual "
		 "for its file size" },
	{ .name = "compare", .key = OPT_COMPARE, .arg = "MODEL",
	  .doc = "run MODEL on the same inputs; fail (status 1) if the outputs differ" },
	{ .name = "frames", .key = OPT_FRAMES, .arg = "N",
	  .doc = "run N times: input and output files have a leading dimension N, and "
		 "variables keep their values from frame to frame" },
	{ .name = "reset", .key = OPT_RESET,
	  .doc = "reset variables to their first values before each frame" },
	{ .name = "dump", .key = OPT_DUMP, .arg = "DIR",
	  .doc = "write the results of every operator to DIR/tensor_INDEX.npy" },
	{ .name = "trace", .key = OPT_TRACE,
	  .doc = "print a line for every operator and NPU operation" },
	{ .name = "json", .key = OPT_JSON, .doc = "print the report as JSON" },
	{ 0 }
};

static void
add_file(const char **list, int *n, const char *arg)
{
	if (*n == MAX_FILES)
		cli_error("more than %d files", MAX_FILES);
	else
		list[(*n)++] = arg;
}

static void
add_kinds(struct options *o, const char *arg)
{
	for (const char *at = arg; at; at = strchr(at, ',')) {
		at += *at == ',' && at != arg;
		size_t n = strcspn(at, ",");
		int k = 0;
		while (k < SIM_N_VALUES &&
		       (strlen(sim_values_name((enum sim_values)k)) != n ||
			strncmp(at, sim_values_name((enum sim_values)k), n) != 0))
			k++;
		if (k == SIM_N_VALUES)
			cli_error("--inputs needs random, min, max or alternating, not "
				  "'%.*s'",
				  (int)n, at);
		else if (o->n_kinds == MAX_KINDS)
			cli_error("--inputs: at most %d kinds are supported", MAX_KINDS);
		else
			o->kind[o->n_kinds++] = (enum sim_values)k;
	}
}

/* rejects combinations of options, and sets values that follow from other options */
static void
finish_options(struct options *o)
{
	if (o->has_seed && o->n_input)
		cli_error("--seed excludes --input");
	if (o->n_kinds && o->n_input)
		cli_error("--inputs excludes --input");
	if (!o->frames)
		o->frames = o->n_kinds ? o->n_kinds : 1;
	if (o->trace && o->json)
		cli_error("--trace excludes --json");
	if (o->dump_dir && o->frames > 1)
		cli_error("--dump excludes --frames");
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case 'i':
		add_file(o->input, &o->n_input, arg);
		break;
	case 'e':
		add_file(o->expect, &o->n_expect, arg);
		break;
	case OPT_SEED:
		o->seed = (uint64_t)cli_number("--seed", arg, 0, INT64_MAX);
		o->has_seed = true;
		break;
	case OPT_FRAMES:
		o->frames = (int)cli_number("--frames", arg, 1, MAX_FRAMES);
		break;
	case OPT_RESET:
		o->reset = true;
		break;
	case OPT_INPUTS:
		add_kinds(o, arg);
		break;
	case OPT_REQUIRE:
		o->require_outputs = true;
		break;
	case OPT_ANY_SIZE:
		o->any_size = true;
		break;
	case OPT_COMPARE:
		o->compare = arg;
		break;
	case OPT_DUMP:
		o->dump_dir = arg;
		break;
	case OPT_TRACE:
		o->trace = true;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case ARGP_KEY_END:
		finish_options(o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "[MODEL]",
	.doc = "Run a TFLite model, plain or compiled for Ethos-U, or a TOSA graph.  "
	       "Outputs are bit-exact with those of the device.",
};

static bool
open_models(struct run *r, struct err *e)
{
	const struct options *o = r->o;
	return read_model(r->a, o->model, o->any_size, &r->model, e) &&
	       (!o->compare || read_model(r->a, o->compare, o->any_size, &r->with, e));
}

static bool
save_outputs(const struct run *r, struct err *e)
{
	const char *dir = r->o->output_dir;
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	for (int k = 0; dir && k < g->n_out; k++) {
		const struct tfl_tensor *t = &g->tensor[g->out[k]];
		if (!(r->stacked ? save_stack(r->files, t, &r->stacked[k], r->o->frames,
					      dir, "output", k, e)
				 : save_npy(r->files, t, sim_tensor(r->s, g->out[k]),
					    dir, "output", k, e)))
			return false;
	}
	return true;
}

static void
note_stand_ins(const struct sim *s)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (sim_stand_in(s, i))
			cli_note("only inputs are compared", "%s", sim_stand_in(s, i));
}

/* warns if the TOSA specification leaves a result open */
static void
note_warnings(const struct sim *s)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (sim_warning(s, i))
			cli_note("warning", "%s", sim_warning(s, i));
}

/* prints to standard output, which is one of the run's files */
static bool
report(struct run *r, struct err *e)
{
	struct text t = { 0 };
	note_warnings(r->s);
	if (r->other)
		note_warnings(r->other);
	if (!r->o->require_outputs)
		note_stand_ins(r->s);
	else if (!r->verdict.status)
		(void)outputs_computed(r->s, &r->verdict);
	bool ok = r->o->json	? print_json(&t, r, e)
		  : r->o->trace || print_outputs(&t, r, e);
	ok = ok && file_set_add(r->files, NULL, t.p, t.n, false, e);
	text_free(&t);
	return ok;
}

/* runs all frames; writes all files and directories, or none */
static bool
run_and_save(struct run *r, struct err *e)
{
	if (r->o->output_dir)
		file_set_directory(r->files, r->o->output_dir);
	if (r->o->dump_dir)
		file_set_directory(r->files, r->o->dump_dir);
	bool ok = run_frames(r, e) && save_outputs(r, e) && report(r, e);
	return file_set_end(r->files, ok, e);
}

static bool
run(struct arena *a, const struct options *o, struct err *e)
{
	struct run r = { .a = a, .o = o, .files = file_set_open(a) };
	bool ok = open_models(&r, e) && open_frames(&r, e) &&
		  open_inputs(a, &r.in, r.m, r.with.tflite, &r.model.ends, o, e) &&
		  open_expectations(a, &r.expect, r.m, &r.model.ends, o, e) && run_and_save(&r, e);
	close_frames(&r);
	if (ok)
		*e = r.verdict;
	return ok && !e->status;
}

int
main(int argc, char **argv)
{
	struct options o = { .jobs = 1 };
	struct err e = { 0 };
	struct cli_common common = {
		.file = &o.model, .what = "model",
		.output = &o.output_dir,
		.output_value = "DIR",
		.output_doc = "write the outputs to DIR/output_K.npy",
		.jobs = &o.jobs,
		.jobs_doc = "with --reset: run frames on N threads (0: one per "
			    "processor)",
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	(void)run(a, &o, &e);
	arena_close(a);
	return cli_finish(&e);
}
