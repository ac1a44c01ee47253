/* SPDX-License-Identifier: Apache-2.0 */
/* npu-eval: scores a network on labelled data, and shows where it loses precision. */
#include "base/cli_options.h"
#include "base/sandbox.h"
#include "kernels/kernels.h"
#include "npu-eval.h"

#include <string.h>

static const struct cli_option option_list[] = {
	{ CLI_NUMBER("top", "K", top, 1, MAX_CLASSES,
		     "K of the top-K accuracy: how often the label is among the K best "
		     "answers (default 5)") },
	{ CLI_NUMBER("parted", "N", parted, 0, INT32_MAX,
		     "list up to N items for which two outputs give different answers "
		     "(default 10)") },
	{ CLI_FLAG("regression", regression,
		   "labels are target numbers, not classes: report errors instead of "
		   "accuracy") },
	{ CLI_TEXT("targets", "FILE", targets,
		   "compare outputs with the target values in FILE (.npy), for example the "
		   "inputs of an autoencoder") },
	{ CLI_TEXT("model", "FILE", model,
		   "convert integer values to real values with the scales of model FILE") },
	{ CLI_FLAG("layers", layers,
		   "find where an integer network loses precision: compare every tensor with "
		   "the same network in real numbers") },
	{ CLI_VALUE("json", format, AS_JSON, "print the report as JSON"), .group = 1 },
	{ CLI_VALUE("csv", format, AS_CSV, "print the report as CSV"), .group = 1 },
	{ 0 }
};

static void
take_argument(void *options, const char *arg)
{
	struct options *o = options;
	if (!o->labels)
		o->labels = arg;
	else if (o->n_files == MAX_OUTPUTS)
		cli_error("more than %d files", MAX_OUTPUTS);
	else
		o->file[o->n_files++] = arg;
}

static void
check_options(void *options)
{
	const struct options *o = options;
	if (!o->labels || !o->n_files)
		cli_error(o->layers ? "--layers needs a MODEL and one FILE for each of "
				      "its inputs"
				    : "a file of labels and at least one file of "
				      "outputs are needed");
	if (o->layers && (o->model || o->targets || o->regression))
		cli_error("--layers excludes --model, --targets and --regression");
}

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	sandbox_read(s, o->targets);
	sandbox_read(s, o->model);
}

static const struct argp argp = {
	.args_doc = "LABELS OUTPUT.npy...\n--layers MODEL INPUT.npy...",
	.doc = "Measure the quality of outputs on labelled data: accuracy, precision, "
	       "recall, confusion, errors, area under the ROC curve.  Several outputs "
	       "are shown side by side.",
};

/*
 * Takes the scale of the first tensor with the same type and number of elements as the
 * integers.
 */
static void
take_scale(struct values *v, const struct tfl_subgraph *g, const int *tensor, int n)
{
	for (int i = 0; i < n; i++) {
		const struct tfl_tensor *t = &g->tensor[tensor[i]];
		char kind = t->type == TFL_UINT8 ? 'u' : t->type == TFL_FLOAT32 ? 'f' : 'i';
		if (t->quant.n_scale != 1 || kind != v->npy.kind ||
		    tfl_type_bytes(t->type) != v->npy.item_bytes ||
		    (size_t)tfl_elements(t) != v->each)
			continue;
		v->scale = (double)t->quant.scale[0];
		v->zero = (double)t->quant.zero[0];
		return;
	}
}

static bool
read_outputs(struct arena *a, const struct options *o, size_t n, struct values **out,
	     struct values **targets, struct err *e)
{
	struct tfl_model *m;
	const struct tfl_subgraph *g = NULL;
	if (o->model && !model_read_file(a, o->model, &m, e))
		return false;
	if (o->model)
		g = &m->subgraph[0];
	*out = anew(a, struct values, (size_t)o->n_files);
	for (int i = 0; i < o->n_files; i++) {
		if (!read_values(a, o->file[i], n, &(*out)[i], e))
			return false;
		if (g)
			take_scale(&(*out)[i], g, g->out, g->n_out);
	}
	*targets = o->targets ? anew(a, struct values, 1) : NULL;
	if (*targets && !read_values(a, o->targets, n, *targets, e))
		return false;
	if (*targets && g)
		take_scale(*targets, g, g->in, g->n_in);
	return true;
}

/* A single value decides between two classes. */
static size_t
count_classes_of(const struct values *v)
{
	return v->each == 1 ? 2 : v->each;
}

static bool
judge_classes(struct arena *a, const struct values *v, struct report *r, struct err *e)
{
	const struct options *o = r->o;
	size_t n = (size_t)o->n_files, n_classes = count_classes_of(&v[0]);
	const struct labels *l = r->l;
	/* all outputs must have the same classes, and the labels no others */
	for (size_t i = 1; i < n; i++)
		if (count_classes_of(&v[i]) != n_classes)
			return err_at(e, v[i].file, 0, "has %zu values per item, but %s has %zu",
				      v[i].each, v[0].file, v[0].each);
	for (size_t i = 0; i < l->n; i++)
		if ((size_t)l->v[i] >= n_classes)
			return err_at(e, l->file, 0, "label %.0f of item %zu, but %s has the %zu "
				      "classes from 0 to %zu", l->v[i], i, v[0].file, n_classes,
				      n_classes - 1);
	struct answers *s = anew(a, struct answers, n);
	struct agreement *g = anew(a, struct agreement, n * n);
	for (size_t i = 0; i < n; i++)
		if (!count_classes(a, o, l, &v[i], n_classes, &s[i], e))
			return false;
	r->answers = s;
	for (int i = 0; i < o->n_files; i++)
		for (int k = i + 1; k < o->n_files; k++)
			g[r->n_agreements++] = find_agreement(a, s, i, k);
	r->agreement = g;
	return true;
}

static bool
judge(struct arena *a, const struct options *o, struct text *t, struct err *e)
{
	struct labels l;
	struct values *v, *targets;
	struct report r = { .o = o, .l = &l, .n = o->n_files };
	if (!read_labels(a, o->labels, &l, e) ||
	    !read_outputs(a, o, l.n, &v, &targets, e))
		return false;
	if (o->regression || targets || !l.whole) {
		struct errors *s = anew(a, struct errors, (size_t)r.n);
		for (int i = 0; i < r.n; i++)
			if (!count_errors(a, &l, targets, &v[i], &s[i], e))
				return false;
		r.errors = s;
	} else if (!judge_classes(a, v, &r, e)) {
		return false;
	}
	if (o->format == AS_JSON)
		print_json(t, &r);
	else if (o->format == AS_CSV)
		print_csv(t, &r);
	else
		print_table(t, &r);
	return true;
}

int
main(int argc, char **argv)
{
	struct options o = { .top = 5, .parted = 10 };
	struct err e = { 0 };
	struct text t = { 0 };
	static const struct cli_elsewhere labels = {
		"labels", "LABELS is an operand: npu-eval LABELS OUTPUT.npy..."
	};
	struct cli_common common = {
		.elsewhere = &labels,
		.options = option_list,
		.operand = take_argument,
		.check = check_options,
		.output = &o.output,
		.output_doc = "write the report to FILE",
		.output_group = 1,
		.confined = true, .allow = allow,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	if (o.layers ? run_layers(a, &o, &t, &e) : judge(a, &o, &t, &e))
		(void)file_write(o.output, t.p, t.n, false, &e);
	text_free(&t);
	arena_close(a);
	return cli_finish(&e);
}
