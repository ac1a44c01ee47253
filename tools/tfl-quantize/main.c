/* SPDX-License-Identifier: Apache-2.0 */
/* tfl-quantize: turns a float model into an integer model. */
#include "quantize.h"

#include "base/cli_options.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const interface_names[] = { "int8", "float", NULL };
static const char *const fold_names[] = { "all", "none", NULL };
static const char *const range_names[] = { "minmax", "moving-average", "percentile",
					    "mse", "entropy", NULL };
static const char *const type_names[] = { "int8", "int16x8", NULL };

static void
add_source(struct sources *s, const char *option, const char *arg)
{
	if (s->n == MAX_SOURCES)
		cli_error("more than %d %s", MAX_SOURCES, option);
	else
		s->path[s->n++] = arg;
}

static void
add_data(void *options, const char *arg)
{
	add_source(&((struct options *)options)->data, "--data", arg);
}

static void
add_test(void *options, const char *arg)
{
	add_source(&((struct options *)options)->test, "--test", arg);
}

static void
allow(void *options, const char *arg)
{
	struct options *o = options;
	o->allow = true;
	o->allowed = arg;
}

static void
keep_int16(void *options, const char *arg)
{
	struct options *o = options;
	if (o->n_wide == MAX_SOURCES)
		cli_error("more than %d --keep-int16", MAX_SOURCES);
	else
		o->wide[o->n_wide++] = arg;
}

static void
limit_loss(void *options, const char *arg)
{
	struct options *o = options;
	char number[32];
	size_t n = strlen(arg);
	n -= n && arg[n - 1] == '%';
	(void)snprintf(number, sizeof(number), "%.*s", (int)n, arg);
	o->has_limit = true;
	o->most_loss = cli_real("--accuracy", n < sizeof(number) ? number : arg, 0, 100);
}

static void
check_options(void *options)
{
	const struct options *o = options;
	sample_check_options(&o->in);
	if (o->random && (o->data.n || o->test.n))
		cli_error("--random excludes --data and --test");
	if (o->random && o->labels)
		cli_error("--random excludes --labels");
	if (o->type == ACTIVATIONS_INT16 && (o->n_wide || o->has_limit))
		cli_error("--type=int16x8 excludes --keep-int16 and --accuracy");
	if (o->per_tensor && o->per_channel_fc)
		cli_error("--per-tensor excludes --per-channel-fc");
	if (o->json && (!o->output || !strcmp(o->output, "-")))
		cli_error("--json prints the report on standard output: name the file of the "
			  "model with -o FILE");
}

static const struct cli_option option_list[] = {
	{ CLI_TAKE("data", "[K=]PATH", add_data,
		   "measure ranges with these samples, of input K: a file, a directory, or a "
		   "text with a file and a label per line; 100 samples are usually enough") },
	{ CLI_TAKE("test", "[K=]PATH", add_test,
		   "compare the integer model with the float model on these samples, which gave no "
		   "range (default: on those of --data)") },
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
		     "operator before them, PAD into convolutions, chains that compute "
		     "HARD_SWISH or GELU into one operator, and the steps of an LSTM into one; "
		     "none: keep all operators") },
	{ CLI_CHOICE("ranges", "METHOD", ranges, range_names,
		     "how values become ranges: minmax (default), moving-average, or percentile, "
		     "mse and entropy, which clip rare values") },
	{ CLI_CHOICE("type", "NAME", type, type_names,
		     "type of the feature maps: int8 (default), or int16x8 (INT16 with INT8 "
		     "weights)") },
	{ CLI_CHOICE("interface", "NAME", interface, interface_names,
		     "type of inputs and outputs: int8 (default: that of the feature maps) or "
		     "float (QUANTIZE and DEQUANTIZE around the network)") },
	{ CLI_FLAG("equalize", equalize,
		   "first give each channel the same range in the weights of a layer and of the "
		   "next layer") },
	{ CLI_FLAG("bias-correction", correct_bias,
		   "change biases by the mean error of the rounded weights on the samples") },
	{ CLI_TAKE("allow", "NAME[,NAME...]", allow,
		   "operators without an integer version stay float, on the CPU: those with "
		   "these names, or all"), .flags = OPTION_ARG_OPTIONAL },
	{ CLI_FLAG("per-tensor", per_tensor,
		   "one scale for all weights of an operator, for runtimes that do not know "
		   "scales of channels") },
	{ CLI_FLAG("per-channel-fc", per_channel_fc,
		   "one scale per output channel of FULLY_CONNECTED, too; older runtimes "
		   "compute it wrongly") },
	{ CLI_TAKE("keep-int16", "PATTERN", keep_int16,
		   "compute these operators in 16 bits: those whose name, or whose output's "
		   "name, matches, for example SOFTMAX or 'block3*'") },
	{ CLI_TAKE("accuracy", "LOSS%", limit_loss,
		   "compute the fewest operators in 16 bits that keep the loss of accuracy on "
		   "the samples at LOSS or below, for example 0.5%") },
	{ CLI_FLAG("report", report,
		   "print on standard error what the integers cost: range, scale and clipped "
		   "share of each tensor, noise of each operator, accuracy, and what would "
		   "help") },
	{ CLI_FLAG("json", json, "print the report as JSON on standard output; needs -o FILE") },
	{ CLI_FLAG("quiet", quiet, "print errors only: no accuracy, no warning"), .key = 'q' },
	{ CLI_TEXT("labels", "FILE", labels,
		   "classes of the samples, for the accuracy in the report: a number per "
		   "line, or .npy (default: those of the directory or list of --test or --data)") },
	{ 0 }
};

static const struct argp argp = {
	.doc = "Quantize a float TFLite model: measure the ranges of its feature maps on "
	       "samples of real inputs, and write a model of INT8 or INT16 that "
	       "tfl-partition takes."
	       "\vExit status: 0 done, 1 the loss of --accuracy cannot be kept, 2 error.  See "
	       "tfl-quantize(1).",
};

static void
allow_files(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	struct arena *a = arena_open();
	sandbox_read(s, o->labels);
	for (int i = 0; i < o->data.n + o->test.n; i++) {
		const char *path = i < o->data.n ? o->data.path[i] : o->test.path[i - o->data.n];
		(void)cli_index(&path);
		if (is_list(a, path))
			permit_list(s, path);
		else
			sandbox_read(s, path);
	}
	arena_close(a);
}

/* The options for the samples of --test, or for those of --data if these are to be compared. */
static struct options
for_comparison(const struct options *o)
{
	struct options of = *o;
	of.are_test = o->test.n > 0;
	if (of.are_test)
		of.data = o->test;
	return of;
}

static void
tell_line(const struct report *r)
{
	struct text t = { 0 };
	print_accuracy(&t, r);
	if (t.n)
		cli_note("note", "%s", text_str(&t));
	text_free(&t);
}

/*
 * Warns if names number another number of classes than the network has, or if the float network's
 * right answers are few: less than a fifth of the way from chance to all.
 */
static void
warn_of_answers(struct arena *a, const struct options *of, const struct report *r)
{
	enum { ENOUGH = 10, FIFTH = 5 };
	const struct figures *f = r->f;
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	const double classes = fmax(2, (double)tfl_elements(&g->tensor[g->out[0]]));
	struct sample_stream *s = NULL;
	const int names = samples_open(a, of, g, &s, &(struct err){ 0 }) ? samples_names(s) : 0;
	samples_close(s);
	if (names && names != (int)classes) {
		cli_note("warning", "%s: the samples have %d names of classes, and output 0 has %g "
			 "values: name i is taken for class i, in the order of the names; number the "
			 "classes with --labels=FILE", r->m->name, names, classes);
		return;
	}
	if (f->labelled < ENOUGH)
		return;
	const double right = (double)f->right_float / (double)f->labelled;
	if (right < 1 / classes + (1 - 1 / classes) / FIFTH)
		cli_note("warning", "%s: %.2f %% of the float model's answers are right, and %.3g %% "
			 "would be by chance: check --range and the other options for the "
			 "samples, and the labels", r->m->name, 100 * right, 100 / classes);
}

/* More samples of --data are compared only if the user has labels or asks for a report. */
enum { COMPARED_SAMPLES = 20 };

/* says what the integers cost, as much as the options ask for */
static bool
tell(struct arena *a, const struct options *o, struct report *r, struct err *e)
{
	if (o->random && !o->quiet)
		cli_note("warning", "the ranges are those of random inputs: the model is of no "
				    "use except to try the flow; give samples with --data");
	/* noise and accuracy on random inputs say nothing about real ones */
	bool wants_line = !o->random && !o->quiet;
	struct figures *f = anew(a, struct figures, 1);
	struct err why = { 0 };
	const struct options of = for_comparison(o);
	f->a = a;
	r->f = f;
	if (o->report || o->json) {
		struct text t = { 0 };
		if (!compare_networks(&of, r->m, r->plan, r->r, COMPARE_TENSORS, 0, 0, f, e))
			return false;
		if (o->report)
			print_report(&t, r);
		else if (wants_line)
			tell_line(r);
		text_show(&t, stderr);
		if (o->json)
			print_json_report(&t, r);
		text_show(&t, stdout);
	} else if (wants_line) {
		/* the model is written all the same if it can't be compared */
		if (compare_networks(&of, r->m, r->plan, r->r, COMPARE_OUTPUTS,
				     o->labels || of.are_test ? 0 : COMPARED_SAMPLES, r->ranges->n,
				     f, &why))
			tell_line(r);
		else
			cli_note("note", "not compared with the float model: %s", why.text);
	}
	if (!o->quiet && f->labelled)
		warn_of_answers(a, &of, r);
	return true;
}

static bool
quantize(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	struct options calibration = *o;
	struct tfl_model *m;
	struct report r;
	if (o->test.n)
		calibration.labels = NULL; /* they are those of --test */
	return model_read_file(a, o->model, &m, e) && quantize_model(a, &calibration, m, &r, e) &&
	       tell(a, o, &r, e) &&
	       file_write(o->output, r.r->file.p, r.r->file.n, true, e);
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
		.confined = true,
		.allow = allow_files,
	};
	return cli_run(&argp, argc, argv, &o, &common, quantize);
}
