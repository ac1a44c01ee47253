/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"
#include "npu-sim.h"

#include <string.h>

enum { MAX_FRAMES = 1000000 };

enum {
	OPT_COMPARE = 256, OPT_DUMP, OPT_TRACE, OPT_JSON, OPT_SEED, OPT_FRAMES,
	OPT_RESET, OPT_INPUTS, OPT_REQUIRE
};

static const struct argp_option option_list[] = {
	{ .name = "input", .key = 'i', .arg = "FILE",
	  .doc = "next input's values, .npy or raw (repeat in model order)" },
	{ .name = "expect", .key = 'e', .arg = "FILE",
	  .doc = "expected values of the next output; exit 1 if they differ" },
	{ .name = "output", .key = 'o', .arg = "DIR",
	  .doc = "write outputs as DIR/output_K.npy" },
	{ .name = "seed", .key = OPT_SEED, .arg = "N",
	  .doc = "random inputs from this seed (default 0)" },
	{ .name = "inputs", .key = OPT_INPUTS, .arg = "KIND[,KIND...]",
	  .doc = "inputs of the frames in turn: random, min, max, alternating; "
		 "without --frames, one frame for each" },
	{ .name = "require-outputs", .key = OPT_REQUIRE,
	  .doc = "exit 1 if an output depends on an operator that can't be run" },
	{ .name = "compare", .key = OPT_COMPARE, .arg = "MODEL",
	  .doc = "run this one on the same inputs; exit 1 if outputs differ" },
	{ .name = "frames", .key = OPT_FRAMES, .arg = "N",
	  .doc = "run N times: inputs and outputs have a leading dimension N, "
		 "variables keep their values from frame to frame" },
	{ .name = "reset", .key = OPT_RESET,
	  .doc = "variables begin anew in each frame" },
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

static void
add_kinds(struct argp_state *state, struct options *o, const char *arg)
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
			argp_error(state, "--inputs takes random, min, max and "
				   "alternating, not '%.*s'", (int)n, at);
		if (o->n_kinds == MAX_KINDS)
			argp_error(state, "--inputs takes at most %d", MAX_KINDS);
		o->kind[o->n_kinds++] = (enum sim_values)k;
	}
}

/* what does not go together, and what follows from other options */
static void
finish_options(struct argp_state *state, struct options *o)
{
	if (o->has_seed && o->n_input)
		argp_error(state, "--seed excludes --input");
	if (o->n_kinds && o->n_input)
		argp_error(state, "--inputs excludes --input");
	if (!o->frames)
		o->frames = o->n_kinds ? o->n_kinds : 1;
	if (o->trace && o->json)
		argp_error(state, "--trace excludes --json");
	if (o->dump_dir && o->frames > 1)
		argp_error(state, "--dump excludes --frames");
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
	case OPT_FRAMES:
		o->frames = (int)cli_number(state, "--frames", arg, 1, MAX_FRAMES);
		break;
	case OPT_RESET:
		o->reset = true;
		break;
	case OPT_INPUTS:
		add_kinds(state, o, arg);
		break;
	case OPT_REQUIRE:
		o->require_outputs = true;
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
		finish_options(state, o);
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
	       "bit as the device would, or a TOSA graph.",
};

/* a run of one model, or of two that are compared, over all frames */
struct run {
	struct arena *a;
	const struct options *o;
	struct sim *s, *other;
	struct inputs in;
	struct values *expect;
	struct file_set *files; /* that it leaves: all of them or none */
	uint8_t **stacked;  /* outputs of all frames; NULL: there is one frame */
	struct err verdict; /* what is not as expected */
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
			      sim_tensor(s, op->out[k]), 1, o->dump_dir, "tensor",
			      op->out[k], e))
			return false;
	return true;
}

static bool
save_outputs(const struct run *r, struct err *e)
{
	const struct options *o = r->o;
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	for (int k = 0; o->output_dir && k < g->n_out; k++)
		if (!save_npy(r->files, &g->tensor[g->out[k]],
			      r->stacked ? r->stacked[k]
					 : sim_tensor(r->s, g->out[k]),
			      o->frames, o->output_dir, "output", k, e))
			return false;
	return true;
}

static void
stack_outputs(const struct run *r, int frame)
{
	const struct tfl_subgraph *g = &sim_model(r->s)->subgraph[0];
	for (int k = 0; r->stacked && k < g->n_out; k++) {
		size_t bytes = (size_t)tfl_bytes(&g->tensor[g->out[k]]);
		memcpy(r->stacked[k] + (size_t)frame * bytes,
		       sim_tensor(r->s, g->out[k]), bytes);
	}
}

static bool
open_stacks(struct run *r, struct err *e)
{
	const struct tfl_model *m = sim_model(r->s);
	const struct tfl_subgraph *g = &m->subgraph[0];
	size_t frames = (size_t)r->o->frames, room = SIM_MAX_BYTES;
	if (frames == 1)
		return true;
	r->stacked = anew(r->a, uint8_t *, (size_t)g->n_out + 1);
	for (int k = 0; k < g->n_out; k++) {
		size_t bytes = (size_t)tfl_bytes(&g->tensor[g->out[k]]);
		if (bytes > room / frames)
			return err_at(e, m->name, 0, "%zu frames of its outputs are "
				      "more than %zu MiB", frames,
				      SIM_MAX_BYTES >> 20);
		room -= bytes * frames;
		r->stacked[k] = arena_alloc(r->a, bytes * frames, 1);
	}
	return true;
}

/* the other model runs first: its inputs may be overwritten, ours as well */
static bool
invoke(struct run *r, struct watch *w, struct err *e)
{
	struct sim_hooks hooks = { .ctx = w, .op_done = op_done };
	if (r->o->trace)
		hooks.npu_event = print_npu_event;
	if (r->other && (!copy_inputs(r->s, r->other, e) ||
			 !sim_invoke(r->other, NULL, e)))
		return false;
	if (!sim_invoke(r->s, &hooks, e))
		return false;
	if (r->o->trace && r->other)
		print_unseen(w);
	return true;
}

/* notes the first difference; false: trouble */
static bool
judge(struct run *r, int frame, struct err *e)
{
	struct judged j = { .frame = frame, .frames = r->o->frames,
			    .wanted = "expected" };
	bool ok = check_expectations(r->s, r->expect, &j, &r->verdict);
	j.wanted = "but in the other model";
	if (ok && r->other)
		(void)compare_models(r->other, r->s, &j, &r->verdict);
	return r->verdict.status != EXIT_TROUBLE || err_set(e, "%s", r->verdict.text);
}

static bool
run_frame(struct run *r, int frame, struct err *e)
{
	if (r->o->reset) {
		sim_reset(r->s);
		if (r->other)
			sim_reset(r->other);
	}
	struct arena *scratch = arena_open();
	struct watch *w = watch_open(scratch, r->o, r->other);
	w->files = r->files;
	bool ok = next_inputs(r->s, &r->in, e) && invoke(r, w, e);
	arena_close(scratch);
	if (!ok)
		return false;
	stack_outputs(r, frame);
	return judge(r, frame, e);
}

static bool
open_models(struct run *r, struct err *e)
{
	const struct options *o = r->o;
	return open_model(r->a, o->model, o->compare && !o->n_expect, &r->s, e) &&
	       (!o->compare || open_model(r->a, o->compare, true, &r->other, e));
}

static void
note_stand_ins(const struct sim *s)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (sim_stand_in(s, i))
			cli_note("inputs alone are compared", "%s", sim_stand_in(s, i));
}

/* where the specification of a TOSA graph leaves the result open */
static void
note_warnings(const struct sim *s)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (sim_warning(s, i))
			cli_note("warning", "%s", sim_warning(s, i));
}

/* on standard output, which is one of the run's outputs */
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
	if (r->o->json)
		print_json(&t, r->s, r->o, r->stacked, &r->verdict);
	else if (!r->o->trace)
		print_outputs(&t, r->s, r->o, r->stacked);
	bool ok = file_set_add(r->files, NULL, t.p, t.n, false, e);
	text_free(&t);
	return ok;
}

static bool
run_frames(struct run *r, struct err *e)
{
	for (int i = 0; i < r->o->frames; i++)
		if (!run_frame(r, i, e))
			return false;
	return save_outputs(r, e) && report(r, e);
}

/* the run itself, with its files and directories, or none of them */
static bool
run_and_save(struct run *r, struct err *e)
{
	if (r->o->output_dir)
		file_set_directory(r->files, r->o->output_dir);
	if (r->o->dump_dir)
		file_set_directory(r->files, r->o->dump_dir);
	return file_set_end(r->files, run_frames(r, e), e);
}

static bool
run(struct arena *a, const struct options *o, struct err *e)
{
	struct run r = { .a = a, .o = o, .files = file_set_open(a) };
	if (!open_models(&r, e) || !open_inputs(a, &r.in, sim_model(r.s), o, e) ||
	    !open_expectations(a, &r.expect, sim_model(r.s), o, e) ||
	    !open_stacks(&r, e) || !run_and_save(&r, e))
		return false;
	*e = r.verdict;
	return !e->status;
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
