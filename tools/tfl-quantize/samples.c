/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calibration data: files, directories and lists for each input, read one file after
 * the other.  A file of several items, such as an array of pictures, gives several
 * samples.
 */
#include "quantize.h"

#include "sim/sim.h"

#include <math.h>
#include <string.h>

enum { RANDOM_SAMPLES = 16 };

struct input {
	const struct tfl_tensor *t;
	const char **path;
	size_t n_paths, next; /* next: the file to open */
	struct arena *a;      /* of the open file's numbers */
	struct data d;
	size_t at; /* first number of the next sample in d */
};

struct sample_stream {
	const struct options *o;
	struct input *input;
	int n_in;
	uint64_t random;
	size_t n; /* samples read */
};

static void
add_path(struct arena *a, struct input *in, const char *path)
{
	if (!(in->n_paths & (in->n_paths - 1))) {
		const char **more = anew(a, const char *, in->n_paths ? 2 * in->n_paths : 1);
		if (in->n_paths)
			memcpy(more, in->path, in->n_paths * sizeof(*more));
		in->path = more;
	}
	in->path[in->n_paths++] = path;
}

static bool
add_source(struct arena *a, struct sample_stream *s, const char *source, struct err *e)
{
	const char *path = source;
	int k = cli_index(&path);
	if (k >= s->n_in)
		return err_set(e, "--data=%s: error: the model has %d input%s", source, s->n_in,
			       s->n_in == 1 ? "" : "s");
	struct arena *scratch = arena_open();
	bool list = is_list(scratch, path);
	arena_close(scratch);
	struct input *in = &s->input[k < 0 ? 0 : k];
	struct list l;
	if (!list) {
		add_path(a, in, path);
		return true;
	}
	if (!read_files(a, path, &l, e))
		return false;
	for (size_t i = 0; i < l.n; i++)
		add_path(a, in, l.item[i].path);
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
	for (int i = 0; i < o->n_data; i++)
		if (!add_source(a, s, o->data[i], e))
			return false;
	for (int k = 0; k < g->n_in && !o->random; k++)
		if (!s->input[k].n_paths)
			return err_set(e, "%s: error: no data for input %d (%s): name them with "
				       "--data=%d=PATH", file_name(o->model), k,
				       s->input[k].t->name, k);
	return true;
}

void
samples_close(struct sample_stream *s)
{
	for (int k = 0; k < s->n_in; k++)
		if (s->input[k].a)
			arena_close(s->input[k].a);
}

/* Pixels have no defined range in a float network. */
static bool
check_pixels(const struct options *o, const struct data *d, struct err *e)
{
	const struct sample_options *in = &o->in;
	return !(d->max > 0) || in->range.n || in->scale.n || in->mean.n ||
	       err_set(e, "%s: error: a float network does not say which numbers black and "
			  "white are: use --range=LO,HI as in training, for example "
			  "--range=0,1, --range=-1,1 or --range=0,255", d->name);
}

static bool
open_file(const struct options *o, struct input *in, struct err *e)
{
	if (in->a)
		arena_close(in->a);
	in->a = arena_open();
	in->at = 0;
	const char *path = in->path[in->next++];
	if (!load_data(in->a, path, &o->in, in->t, &in->d, e) || !check_pixels(o, &in->d, e))
		return false;
	return in->d.n || err_set(e, "%s: error: the file has no numbers", in->d.name);
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
			ok = err_set(e, "%s: error: value %zu is not a finite number", one.name,
				     i);
	}
	arena_close(a);
	return ok;
}

static bool
draw_samples(struct sample_stream *s, float *const *input)
{
	for (int k = 0; k < s->n_in; k++)
		sim_random(&s->random, s->input[k].t, input[k]);
	return s->n++ < RANDOM_SAMPLES;
}

bool
samples_next(struct sample_stream *s, float *const *input, bool *more, struct err *e)
{
	int n_ended = 0;
	*more = s->o->random && draw_samples(s, input);
	if (s->o->random)
		return true;
	for (int k = 0; k < s->n_in; k++) {
		struct input *in = &s->input[k];
		if (in->at == in->d.n && in->next == in->n_paths) {
			n_ended++;
			continue;
		}
		if ((in->at == in->d.n && !open_file(s->o, in, e)) ||
		    !take_sample(s->o, in, input[k], e))
			return false;
	}
	*more = !n_ended;
	if (n_ended && n_ended < s->n_in)
		return err_set(e, "%s: error: the inputs have different numbers of samples: "
				  "one of them ends after %zu", file_name(s->o->model), s->n);
	s->n++;
	return true;
}
