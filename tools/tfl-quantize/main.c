/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-quantize: turns a float model into an integer model. */
#include "quantize.h"

#include "kernels/kernels.h"

static const char *const interface_names[] = { "int8", "float", NULL };
static const char *const fold_names[] = { "all", "none", NULL };
static const char *const range_names[] = { "minmax", "moving-average", "percentile",
					    "mse", NULL };
static const char *const type_names[] = { "int8", "int16x8", NULL };

static void
add_data(void *options, const char *arg)
{
	struct options *o = options;
	if (o->n_data == MAX_SOURCES)
		cli_error("more than %d --data", MAX_SOURCES);
	else
		o->data[o->n_data++] = arg;
}

static void
allow(void *options, const char *arg)
{
	struct options *o = options;
	o->allow = true;
	o->allowed = arg;
}

static void
check_options(void *options)
{
	const struct options *o = options;
	sample_check_options(&o->in);
	if (o->random && o->n_data)
		cli_error("--random excludes --data");
}

static const struct cli_option option_list[] = {
	{ CLI_TAKE("data", "[K=]PATH", add_data,
		   "measure ranges with these samples, of input K: a file, a directory, or a "
		   "text with a file and a label per line; 100 samples are usually enough") },
	{ CLI_FLAG("random", random,
		   "measure ranges with random numbers, only to try the flow: the model is "
		   "then of no other use") },
	{ CLI_NUMBER("frames", "N", frames, 1, 1 << 20,
		     "N samples in a row are one sequence, in which variables keep their "
		     "values (default 1)") },
	SAMPLE_FROM(in),
	SAMPLE_VALUES(in),
	{ CLI_CHOICE("fold", "WHICH", no_fold, fold_names,
		     "all (default): fold RELU, and MUL, ADD and SUB by constants, into the "
		     "operator before them; none: keep all operators") },
	{ CLI_CHOICE("ranges", "METHOD", ranges, range_names,
		     "how values become ranges: minmax (default), moving-average, or percentile "
		     "and mse, which clip rare values") },
	{ CLI_CHOICE("type", "NAME", type, type_names,
		     "type of the feature maps: int8 (default), or int16x8 (INT16 with INT8 "
		     "weights)") },
	{ CLI_CHOICE("interface", "NAME", interface, interface_names,
		     "type of inputs and outputs: int8 (default: that of the feature maps) or "
		     "float (QUANTIZE and DEQUANTIZE around the network)") },
	{ CLI_TAKE("allow", "NAME[,NAME...]", allow,
		   "operators without an integer version stay float, on the CPU: those with "
		   "these names, or all"), .flags = OPTION_ARG_OPTIONAL },
	{ CLI_FLAG("per-channel-fc", per_channel_fc,
		   "one scale per output channel of FULLY_CONNECTED, too; older runtimes "
		   "compute it wrongly") },
	{ 0 }
};

static const struct argp argp = {
	.doc = "Quantize a float TFLite model: measure the ranges of its feature maps on "
	       "samples of real inputs, and write a model of INT8 or INT16 that "
	       "tfl-partition takes."
	       "\vExit status: 0 done, 2 error.  See tfl-quantize(1).",
};

/* Every operator of the result that is not allowed to be float must have an integer kernel. */
static bool
check_result(const struct net *n, const struct tfl_model *m, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int i = 0, at = 0; i < n->n_ops; i++) {
		struct err bare = { 0 };
		if (n->op[i].removed)
			continue;
		if (n->op[i].width != WIDTH_FLOAT && !kernel_check(g, &g->op[at], &bare))
			return err_at(e, m->name, 0, "no integer version: %s", bare.text);
		at++;
	}
	return true;
}

static bool
check_model(const struct tfl_model *m, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (g->op[i].code == TFL_IF || g->op[i].code == TFL_WHILE)
			return err_at(e, m->name, 0, "operator %d (%s): control flow is not "
				      "supported", i, tfl_op_label(&g->op[i]));
	if (m->n_subgraphs > 1)
		return err_at(e, m->name, 0, "the model has %d subgraphs; one is supported",
			      m->n_subgraphs);
	for (int i = 0; i < g->n_tensors; i++)
		if (g->tensor[i].is_dynamic)
			return err_at(e, m->name, 0, "subgraph 0: tensor %d (%s): dynamic shapes are not "
				      "supported", i, g->tensor[i].name);
	for (int k = 0; k < g->n_in; k++)
		if (g->tensor[g->in[k]].type != TFL_FLOAT32)
			return err_at(e, m->name, 0, "subgraph 0: input %d (%s) is %s, not FLOAT32", k,
				      g->tensor[g->in[k]].name,
				      tfl_type_name(g->tensor[g->in[k]].type));
	return true;
}

static bool
check_data(const struct options *o, struct err *e)
{
	return o->random || o->n_data ||
	       err_at(e, file_name(o->model), 0, "no data to measure the ranges with: use "
		      "--data=PATH with samples of real inputs (--random only to try the flow)");
}

/* Writes an integer version of m. */
static bool
make_result(struct arena *a, const struct options *o, const struct tfl_model *m,
	    const struct op_plan *plan, const struct ranges *ranges, struct bytes *file,
	    struct err *e)
{
	struct tfl_model *result;
	struct net *n = net_open(a, m);
	for (int i = 0; i < n->n_ops; i++)
		n->op[i].width = plan[i].keeps_float	       ? WIDTH_FLOAT
				 : o->type == ACTIVATIONS_INT16 ? WIDTH_16
								: WIDTH_8;
	struct parameters *p = choose_parameters(n, ranges, o);
	return convert(n, p, o, e) && net_write(n, file, e) &&
	       model_read(a, *file, m->name, &result, e) && check_result(n, result, e);
}

static bool
quantize(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	struct tfl_model *m;
	struct op_plan *plan;
	struct ranges ranges;
	struct bytes file;
	if (!model_read_file(a, o->model, &m, e) || !tfl_check_plain(m, e) ||
	    !check_model(m, e) || !decode_model(a, m, !o->no_fold, &m, e) ||
	    !rules_check(a, m, o, &plan, e) || !check_data(o, e) ||
	    !calibrate(a, o, m, plan, &ranges, e) ||
	    !make_result(a, o, m, plan, &ranges, &file, e))
		return false;
	if (o->random)
		cli_note("warning", "the ranges are those of random inputs: the model is of no "
				    "use except to try the flow; give samples with --data");
	return file_write(o->output, file.p, file.n, true, e);
}

int
main(int argc, char **argv)
{
	struct options o = { .frames = 1 };
	struct cli_common common = {
		.options = option_list,
		.file = &o.model,
		.what = "model",
		.check = check_options,
		.output = &o.output,
		.output_doc = "write the integer model to FILE",
		.jobs = &o.jobs,
		.jobs_doc = "run the network on N samples at once (default: one per processor)",
	};
	return cli_run(&argp, argc, argv, &o, &common, quantize);
}
