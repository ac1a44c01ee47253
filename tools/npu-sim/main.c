/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "npu-sim.h"

#include <unistd.h>

enum { OPT_COMPARE = 256, OPT_DUMP, OPT_TRACE, OPT_JSON, OPT_SEED };

static const struct argp_option option_list[] = {
	{ .name = "input", .key = 'i', .arg = "FILE",
	  .doc = "next input's values, .npy or raw (repeat in model order)" },
	{ .name = "expect", .key = 'e', .arg = "FILE",
	  .doc = "expected values of the next output; exit 1 if they differ" },
	{ .name = "output", .key = 'o', .arg = "DIR",
	  .doc = "write outputs as DIR/output_K.npy" },
	{ .name = "seed", .key = OPT_SEED, .arg = "N",
	  .doc = "random inputs from this seed (default 0)" },
	{ .name = "compare", .key = OPT_COMPARE, .arg = "MODEL",
	  .doc = "run this one on the same inputs; exit 1 if outputs differ" },
	{ .name = "dump", .key = OPT_DUMP, .arg = "DIR",
	  .doc = "write what every operator wrote as DIR/tensor_INDEX.npy" },
	{ .name = "trace", .key = OPT_TRACE,
	  .doc = "print a line for every operator and NPU operation" },
	{ .name = "json", .key = OPT_JSON, .doc = "print the report as JSON" },
	{ 0 }
};

static void
add_file(struct argp_state *state, const char **list, int *n, const char *arg)
{
	if (*n == MAX_FILES)
		argp_error(state, "more than %d files", MAX_FILES);
	list[(*n)++] = arg;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case 'i':
		add_file(state, o->input, &o->n_input, arg);
		break;
	case 'e':
		add_file(state, o->expect, &o->n_expect, arg);
		break;
	case 'o':
		o->output_dir = arg;
		break;
	case OPT_SEED:
		o->seed = (uint64_t)cli_number(state, "--seed", arg, 0,
					       INT64_MAX);
		o->has_seed = true;
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
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_error(state, "one model at a time");
		o->model = arg;
		break;
	case ARGP_KEY_END:
		if (o->has_seed && o->n_input)
			argp_error(state, "--seed excludes --input");
		if (o->trace && o->json)
			argp_error(state, "--trace excludes --json");
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
	.doc = "Run a TFLite model, plain or compiled for Ethos-U, bit for "
	       "bit as the device would.",
};

static bool
op_done(void *ctx, struct sim *s, int op_index, struct err *e)
{
	struct watch *w = ctx;
	const struct options *o = w->options;
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	const struct tfl_op *op = &g->op[op_index];
	if (o->trace)
		print_operator(w, s, op_index);
	for (int k = 0; o->dump_dir && k < op->n_out; k++)
		if (!save_npy(w->files, &g->tensor[op->out[k]],
			      sim_tensor(s, op->out[k]), o->dump_dir, "tensor",
			      op->out[k], e))
			return false;
	return true;
}

static bool
save_outputs(struct file_set *to, struct sim *s, const struct options *o, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int k = 0; o->output_dir && k < g->n_out; k++)
		if (!save_npy(to, &g->tensor[g->out[k]], sim_tensor(s, g->out[k]),
			      o->output_dir, "output", k, e))
			return false;
	return true;
}

/* the other model on inputs of the first, before those may be overwritten */
static bool
run_other(struct arena *a, const struct options *o, struct sim *s,
	  struct sim **other, struct err *e)
{
	struct tfl_model *m;
	return tfl_read_file(a, o->compare, &m, e) &&
	       sim_open_to_compare(a, m, other, e) &&
	       copy_inputs(s, *other, e) && sim_invoke(*other, NULL, e);
}

static bool
open_model(struct arena *a, const struct options *o, struct sim **s, struct err *e)
{
	struct tfl_model *m;
	if (!tfl_read_file(a, o->model, &m, e))
		return false;
	return o->compare && !o->n_expect ? sim_open_to_compare(a, m, s, e)
					  : sim_open(a, m, s, e);
}

static void
note_stand_ins(const struct sim *s)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (sim_stand_in(s, i))
			cli_note("inputs alone are compared", "%s", sim_stand_in(s, i));
}

/* the run itself, with the files that it leaves: all of them or none */
static bool
invoke(struct sim *s, const struct options *o, struct watch *w, struct err *e)
{
	struct sim_hooks hooks = { .op_done = op_done, .ctx = w };
	if (o->trace)
		hooks.npu_event = print_npu_event;
	bool made_output = false, made_dump = false;
	bool ok = make_directory(o->output_dir, &made_output, e) &&
		  make_directory(o->dump_dir, &made_dump, e) &&
		  sim_invoke(s, &hooks, e) && save_outputs(w->files, s, o, e);
	ok = file_set_end(w->files, ok, e);
	if (!ok && made_dump)
		(void)rmdir(o->dump_dir);
	if (!ok && made_output)
		(void)rmdir(o->output_dir);
	return ok;
}

static bool
run(struct arena *a, struct options *o, struct err *e)
{
	struct sim *s, *other = NULL;
	if (!open_model(a, o, &s, e) || !load_inputs(s, o, e) ||
	    (o->compare && !run_other(a, o, s, &other, e)))
		return false;
	struct watch *w = watch_open(a, o, other);
	if (!invoke(s, o, w, e))
		return false;
	note_stand_ins(s);
	if (o->trace && other)
		print_unseen(w);
	bool ok = check_expectations(s, o, e) &&
		  (!other || compare_models(other, s, e));
	if (e->status == EXIT_TROUBLE)
		return false;
	if (o->json)
		print_json(s, o, e);
	else if (!o->trace)
		print_outputs(s);
	return ok;
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct err e = { 0 };
	cli_parse(&argp, argc, argv, &o);
	struct arena *a = arena_open();
	(void)run(a, &o, &e);
	arena_close(a);
	return cli_finish(&e);
}
