/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calibration data: files, directories and lists for each input, read one file after
 * the other.  A file of several items, such as an array of pictures, gives several
 * samples.
 */
#include "quantize.h"

#include "base/cli.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

enum { RANDOM_SAMPLES = 16 };

struct input {
	const struct tfl_tensor *t;
	struct item *file; /* class -1: the file has no label */
	size_t n_files, next; /* next: the file to open */
	struct arena *a;      /* of the open file's numbers */
	struct data d;
	size_t at; /* first number of the next sample in d */
};

struct sample_stream {
	const struct options *o;
	struct input *input;
	int n_in;
	struct labels labels; /* of --labels; n 0: none */
	uint64_t random;
	size_t n; /* samples read */
	int n_names; /* of classes, which number the samples of input 0; 0: none do */
};

static const char *
option(const struct options *o)
{
	return o->are_test ? "--test" : "--data";
}

static bool
add_source(struct arena *a, struct sample_stream *s, const char *source, struct err *e)
{
	const char *path = source;
	int k = cli_index(&path);
	if (k >= s->n_in || !s->n_in)
		return err_set(e, "%s=%s: the model has %d input%s", option(s->o), source, s->n_in,
			       s->n_in == 1 ? "" : "s");
	if (is_stream(path))
		return err_at(e, file_name(path), 0, "samples are read more than once: write them "
			      "to a file");
	struct arena *scratch = arena_open();
	bool is_listed = is_list(scratch, path);
	arena_close(scratch);
	struct input *in = &s->input[k < 0 ? 0 : k];
	struct list l;
	if (is_listed && !read_files(a, path, &l, e))
		return false;
	if (!is_listed) {
		struct item *one = anew(a, struct item, 1);
		*one = (struct item){ .path = path, .label = "" };
		l = (struct list){ .item = one, .n = 1 };
	}
	/* labels count if all files come from one list, and each has the label of a class */
	const bool is_labelled = !in->n_files && number_classes(a, &l);
	for (size_t i = 0; i < in->n_files; i++)
		in->file[i].class = -1;
	if (in == s->input)
		s->n_names = 0;
	for (size_t i = 0; i < l.n; i++) {
		if (!is_labelled)
			l.item[i].class = -1;
		else if (in == s->input && l.named && l.item[i].class >= s->n_names)
			s->n_names = l.item[i].class + 1;
		if (!(in->n_files & (in->n_files - 1))) {
			struct item *more = anew(a, struct item, in->n_files ? 2 * in->n_files : 1);
			if (in->n_files)
				memcpy(more, in->file, in->n_files * sizeof(*more));
			in->file = more;
		}
		in->file[in->n_files++] = l.item[i];
	}
	return true;
}

bool
samples_open(struct arena *a, const struct options *o, const struct tfl_subgraph *g,
	     struct sample_stream **out, struct err *e)
{
	struct sample_stream *s = anew(a, struct sample_stream, 1);
	*s = (struct sample_stream){ .o = o, .n_in = g->n_in, .random = 1,
				     .input = anew(a, struct input, (size_t)g->n_in + 1) };
	*out = s;
	for (int k = 0; k < g->n_in; k++)
		s->input[k].t = &g->tensor[g->in[k]];
	if (!o->random && !o->data.n)
		return err_at(e, file_name(o->model), 0, "no data to measure the ranges with: use "
			      "--data=PATH with samples of real inputs (--random only to try the "
			      "flow)");
	if (o->labels && !read_labels(a, o->labels, &s->labels, e))
		return false;
	if (o->labels && !s->labels.whole)
		return err_at(e, s->labels.file, 0, "the labels are not the numbers of classes");
	for (int i = 0; i < o->data.n; i++)
		if (!add_source(a, s, o->data.path[i], e))
			return false;
	for (int k = 0; k < g->n_in && !o->random; k++)
		if (!s->input[k].n_files)
			return err_at(e, file_name(o->model), 0, "no data for input %d (%s): "
				      "name them with %s=%d=PATH", k, s->input[k].t->name, option(o), k);
	return true;
}

void
samples_close(struct sample_stream *s)
{
	for (int k = 0; k < s->n_in; k++)
		if (s->input[k].a)
			arena_close(s->input[k].a);
}

/* Takes one sample of the open file. */
static bool
take_sample(const struct options *o, struct input *in, float *to, struct err *e)
{
	size_t each = (size_t)tfl_elements(in->t);
	struct data one = in->d;
	struct arena *a = arena_open();
	struct filled f;
	if (!(one.max > 0) && !one.sound && one.n > each && one.n % each == 0) {
		one.v += in->at; /* a stack of samples; its first dimension counts them */
		one.n = each;
		one.list = true;
		in->at += each;
	} else {
		in->at = in->d.n;
	}
	bool ok = fit_data(a, &o->in, in->t, &one, e) &&
		  fill_tensor(a, &o->in, in->t, &one, &f, e);
	for (size_t i = 0; ok && i < each; i++) {
		to[i] = load_f32(f.bytes + 4 * i);
		if (!isfinite(to[i]))
			ok = err_at(e, one.name, 0, "value %zu is not a finite number", i);
	}
	arena_close(a);
	return ok;
}

bool
samples_next(struct sample_stream *s, float *const *input, bool *more, struct err *e)
{
	const struct sample_options *o = &s->o->in;
	int n_ended = 0;
	*more = false;
	for (int k = 0; k < s->n_in && s->o->random; k++)
		sim_random(&s->random, s->input[k].t, input[k]);
	if (s->o->random) {
		*more = s->n++ < RANDOM_SAMPLES;
		return true;
	}
	for (int k = 0; k < s->n_in; k++) {
		struct input *in = &s->input[k];
		if (in->at == in->d.n && in->next == in->n_files) {
			n_ended++;
			continue;
		}
		if (in->at == in->d.n) {
			if (in->a)
				arena_close(in->a);
			in->a = arena_open();
			in->at = 0;
			const char *path = in->file[in->next++].path;
			if (!load_data(in->a, path, o, in->t, &in->d, e))
				return false;
			/* pixels have no defined range in a float network */
			if (in->d.max > 0 && !o->range.n && !o->scale.n && !o->mean.n)
				return err_at(e, in->d.name, 0, "a float network does not say which "
					      "numbers black and white are: use --range=LO,HI as in "
					      "training, for example --range=0,1, --range=-1,1 or "
					      "--range=0,255");
			if (!in->d.n)
				return err_at(e, in->d.name, 0, "the file has no numbers");
		}
		if (!take_sample(s->o, in, input[k], e))
			return false;
	}
	*more = !n_ended;
	if (n_ended && n_ended < s->n_in)
		return err_at(e, file_name(s->o->model), 0, "the inputs have different numbers "
			      "of samples: one of them ends after %zu", s->n);
	if (n_ended && s->n && s->labels.n && s->labels.n != s->n)
		return err_at(e, s->labels.file, 0, "has %zu labels, but there are %zu samples",
			      s->labels.n, s->n);
	s->n += !n_ended;
	return true;
}

int
samples_names(const struct sample_stream *s)
{
	return s->labels.n ? 0 : s->n_names;
}

double
samples_label(const struct sample_stream *s)
{
	const struct input *in = &s->input[0];
	if (s->labels.n)
		return s->n <= s->labels.n ? s->labels.v[s->n - 1] : (double)NAN;
	return s->n_in && in->next && in->file[in->next - 1].class >= 0
		   ? (double)in->file[in->next - 1].class : (double)NAN;
}
