/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tfl-quantize(1) for libnputools: a float model and samples in memory in, an integer model
 * out.  The functions samples_...() take the place of the program's samples.c, which reads files.
 */
#include "lib.h"

#include "base/little_endian.h"
#include "base/npy.h"
#include "base/progress.h"
#include "kernels/kernels.h"
#include "tfl-quantize/quantize.h"

#include <math.h>
#include <string.h>

/* the part of the work that is left for a pass over the samples, if the number of passes is not
 * known, and for the conversion after all passes */
static const double unknown = 1.0 / 8, conversion = 0.02;

struct caller {
	struct call *c;
	const struct samples *samples;
	int passes; /* over the samples: how many will follow, at least */
	double done; /* after the passes so far, from 0 to 1 */
};

struct sample_stream {
	const struct tfl_subgraph *g;
	struct caller *caller;
	size_t next; /* buffer */
	double begin, part; /* of the work: before this pass, and of this pass */
};

bool
samples_open(struct arena *a, const struct options *o, const struct tfl_subgraph *g,
	     struct sample_stream **out, struct err *e)
{
	struct caller *caller = o->caller;
	const size_t n = caller->samples->n, each = (size_t)g->n_in;
	struct sample_stream *s = anew(a, struct sample_stream, 1);
	const double left = 1 - conversion - caller->done;
	*s = (struct sample_stream){ .g = g, .caller = caller, .begin = caller->done };
	s->part = caller->passes > 0 ? left / caller->passes-- : left * unknown;
	caller->done += s->part;
	caller->c->trouble = NPUTOOLS_ERROR_INPUT; /* the network has an integer version */
	*out = s;
	return (each && !(n % each)) ||
	       err_at(e, o->model, 0, "samples: %zu buffers were passed, not a multiple of the %zu "
		      "input%s of the model", n, each, each == 1 ? "" : "s");
}

/* Takes the values of one input from an array or from a .npy file. */
static bool
take_values(struct sample_stream *s, const struct tfl_tensor *t, float *to, struct err *e)
{
	const struct nputools_buffer *b = &s->caller->samples->buffer[s->next];
	const struct bytes file = { .p = b->data, .n = b->size };
	const size_t n = (size_t)tfl_elements(t);
	const char *model = s->caller->c->o.name;
	struct npy npy;
	const bool is_array = b->size == n * sizeof(float);
	if (!is_array && !npy_is(file))
		return err_at(e, model, 0, "buffer %zu of the samples: input %s takes %zu FLOAT32 "
			      "values, which are %zu bytes, or a .npy file; the buffer has %zu bytes",
			      s->next, t->name, n, n * sizeof(float), b->size);
	if (!is_array && !npy_parse(file, "a .npy file of the samples", &npy, e))
		return false;
	if (!is_array && npy.kind == 'f' && npy.item_bytes < 4)
		return err_at(e, model, 0, "buffer %zu of the samples: floats of %d bytes are not "
			      "supported", s->next, npy.item_bytes);
	if (!is_array && npy.data.n / (size_t)npy.item_bytes != n)
		return err_at(e, model, 0, "buffer %zu of the samples: input %s takes %zu values, the "
			      ".npy file has %zu", s->next, t->name, n,
			      npy.data.n / (size_t)npy.item_bytes);
	for (size_t i = 0; i < n; i++) {
		to[i] = is_array ? load_f32(file.p + 4 * i) : (float)npy_number(&npy, i);
		if (!isfinite(to[i]))
			return err_at(e, model, 0, "buffer %zu of the samples: value %zu is not a "
				      "finite number", s->next, i);
	}
	s->next++;
	return true;
}

bool
samples_next(struct sample_stream *s, float *const *input, bool *more, struct err *e)
{
	const size_t all = s->caller->samples->n;
	struct progress p;
	progress_begin(&p, "quantize");
	progress_show(&p, s->begin + s->part * (double)s->next / (double)all, 1);
	*more = s->next < all;
	for (int k = 0; *more && k < s->g->n_in; k++)
		if (!take_values(s, &s->g->tensor[s->g->in[k]], input[k], e))
			return false;
	return true;
}

double
samples_label(const struct sample_stream *s)
{
	(void)s;
	return (double)NAN;
}

void
samples_close(struct sample_stream *s)
{
	(void)s;
}

/* Splits "PATTERN,PATTERN". */
static bool
take_patterns(struct call *c, const char *list, struct options *o)
{
	for (const char *p = list; p && *p; p = *p ? p + 1 : p) {
		const size_t n = strcspn(p, ",");
		if (o->n_wide == MAX_SOURCES)
			return err_set(&c->e, "quantization: keep_wide has more than %d patterns",
				       MAX_SOURCES);
		if (n)
			o->wide[o->n_wide++] = arena_printf(c->a, "%.*s", (int)n, p);
		p += n;
	}
	return true;
}

bool
lib_tfl_quantize(struct call *c, struct bytes model, const struct samples *samples,
		 const struct nputools_quantization *how, struct text *out)
{
	const bool twice = how->ranges >= NPUTOOLS_RANGES_PERCENTILE && !how->wide;
	struct caller caller = { .c = c, .samples = samples, .passes = twice ? 2 : 1 };
	struct options o = {
		.model = c->o.name, .caller = &caller, .jobs = c->o.jobs,
		.frames = how->frames ? how->frames : 1,
		.interface = how->float_interface ? INTERFACE_FLOAT : INTERFACE_INT8,
		.type = how->wide ? ACTIVATIONS_INT16 : ACTIVATIONS_INT8,
		.ranges = (enum method)how->ranges, .no_fold = how->no_fold,
		.equalize = how->equalize, .correct_bias = how->bias_correction,
		.allow = how->allow, .per_channel_fc = how->per_channel_fc,
		.allowed = how->allow && !strcmp(how->allow, "all") ? NULL : how->allow,
		.has_limit = how->accuracy != 0, .most_loss = how->accuracy > 0 ? how->accuracy : 0,
	};
	struct tfl_model *m;
	struct report r;
	if (o.has_limit)
		caller.passes += 2; /* the search needs one or many more */
	if (!take_patterns(c, how->keep_wide, &o) || !model_read(c->a, model, o.model, &m, &c->e))
		return false;
	c->trouble = NPUTOOLS_ERROR_UNSUPPORTED; /* until the samples are opened */
	if (!quantize_model(c->a, &o, m, &r, &c->e))
		return false;
	text_put(out, r.r->file.p, r.r->file.n);
	return true;
}
