/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --layers: compares an integer network with the same network in real numbers, item by
 * item.  There are two real networks.  The first runs on its own values.  The second
 * takes the integer network's values as inputs of each operator: its difference is the
 * error of this operator alone.
 */
#include "layers.h"

#include "base/functions.h"
#include "base/progress.h"
#include "kernels/kernels.h"
#include "real/real.h"
#include "sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 64, MAX_BYTES = 1 << 30 };

struct run {
	struct arena *a;
	const struct tfl_subgraph *g;
	struct sim *s;
	struct real *real, *alone;
	struct bytes input[MAX_INPUTS]; /* of all items, in the tensor's type */
	struct layers out;
};

/* ---- inputs -------------------------------------------------------------------- */

static bool
read_inputs(struct run *r, const struct options *o, struct err *e)
{
	if (o->n_files != r->g->n_in)
		return err_at(e, file_name(o->labels), 0,
			      "the model has %d input%s, but there %s %d file%s: give "
			      "one for each",
			      r->g->n_in, r->g->n_in == 1 ? "" : "s",
			      o->n_files == 1 ? "is" : "are", o->n_files,
			      o->n_files == 1 ? "" : "s");
	for (int k = 0; k < r->g->n_in; k++) {
		const struct tfl_tensor *t = &r->g->tensor[r->g->in[k]];
		const char *name = file_name(o->file[k]);
		size_t bytes = (size_t)tfl_bytes(t);
		struct bytes file;
		struct npy n;
		if (!file_read(r->a, o->file[k], MAX_BYTES, &file, e) ||
		    !npy_parse(file, name, &n, e))
			return false;
		char kind = t->type == TFL_FLOAT32 ? 'f' : t->type == TFL_UINT8 ? 'u' : 'i';
		if (!(n.kind == kind && n.item_bytes == tfl_type_bytes(t->type)))
			return err_at(e, name, 0, "elements are not of type %s, as "
						  "those of input %s%s",
				      tfl_type_name(t->type), t->name, n.kind == 'f' ?
				      ": mkinput --format=npy converts samples to the input's type" : "");
		if (!bytes || !n.data.n || n.data.n % bytes)
			return err_at(e, name, 0, "has %zu bytes, which is not a "
						  "multiple of an item of input %s, "
						  "%zu bytes", n.data.n, t->name, bytes);
		size_t items = n.data.n / bytes;
		if (r->out.n_items && r->out.n_items != items)
			return err_at(e, name, 0, "has %zu items, the file of the "
						  "first input has %zu",
				      items, r->out.n_items);
		r->out.n_items = items;
		r->input[k] = n.data;
	}
	return true;
}

/* ---- statistics ------------------------------------------------------------------- */

double
noise_db(struct noise n)
{
	if (n.noise == 0)
		return INFINITY;
	/* a function may be undefined, such as the root of a negative number */
	const double per_ln = 4.342944819032518; /* 10 / ln 10 */
	return isfinite(n.noise) && n.signal > 0 ? per_ln * real_log(n.signal / n.noise)
						 : -INFINITY;
}

void
layer_limits(const struct tfl_tensor *t, int32_t *lo, int32_t *hi)
{
	*lo = t->type == TFL_INT8 ? INT8_MIN : t->type == TFL_INT16 ? INT16_MIN : 0;
	*hi = t->type == TFL_INT8 ? INT8_MAX : t->type == TFL_INT16 ? INT16_MAX : UINT8_MAX;
}

static void
open_layers(struct run *r)
{
	const struct tfl_subgraph *g = r->g;
	r->out.layer = anew(r->a, struct layer, (size_t)g->n_tensors + 1);
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_out; k++) {
			const struct tfl_tensor *t = &g->tensor[g->op[i].out[k]];
			bool integer = t->type == TFL_INT8 || t->type == TFL_UINT8 ||
				       t->type == TFL_INT16;
			if (!integer || !is_real(t) || tfl_elements(t) <= 0 ||
			    t->quant.n_scale != 1)
				continue;
			struct layer *l = &r->out.layer[r->out.n++];
			*l = (struct layer){ .op = i, .tensor = g->op[i].out[k],
					     .lo = INFINITY, .hi = -INFINITY,
					     .q_lo = INT32_MAX, .q_hi = INT32_MIN,
					     .n_channels = t->rank ? t->dim[t->rank - 1] : 1,
					     .has_function = real_has_function(r->real, i) };
			l->channel = anew(r->a, struct channel, (size_t)l->n_channels);
			for (int32_t c = 0; c < l->n_channels; c++) {
				l->channel[c].lo = INT32_MAX;
				l->channel[c].hi = INT32_MIN;
			}
		}
}

static void
add_noise(struct noise *n, double real, double got)
{
	n->signal += real * real;
	n->noise += (real - got) * (real - got);
}

/* got: the values of the integer network, dequantized */
static void
add_layer(const struct run *r, struct layer *l, const double *got)
{
	const struct tfl_tensor *t = &r->g->tensor[l->tensor];
	const double *real = r->real->value[l->tensor], *own = r->alone->value[l->tensor];
	double scale = (double)t->quant.scale[0];
	double zero = t->quant.n_zero ? (double)t->quant.zero[0] : 0;
	int32_t lo, hi;
	layer_limits(t, &lo, &hi);
	for (int64_t i = 0; i < tfl_elements(t); i++) {
		struct channel *c = &l->channel[i % l->n_channels];
		double q = real[i] / scale + zero, alone = own[i] / scale + zero;
		add_noise(&l->all, real[i], got[i]);
		add_noise(&c->all, real[i], got[i]);
		add_noise(&l->own, own[i], got[i]);
		add_noise(&c->own, own[i], got[i]);
		/* fixed scales have no integer for 1.0, which is one step beyond the greatest one */
		l->clipped += q < lo - 1 || q > hi + 1;
		if (alone >= lo && alone <= hi)
			l->steps = fmax(l->steps, fabs(own[i] - got[i]) / scale);
		l->lo = fmin(l->lo, real[i]);
		l->hi = fmax(l->hi, real[i]);
		int32_t integer = (int32_t)lround(got[i] / scale + zero);
		l->q_lo = integer < l->q_lo ? integer : l->q_lo;
		l->q_hi = integer > l->q_hi ? integer : l->q_hi;
		c->lo = integer < c->lo ? integer : c->lo;
		c->hi = integer > c->hi ? integer : c->hi;
		l->n++;
	}
}

/* ---- a run -------------------------------------------------------------------------- */

static void
take_integers(const struct run *r, const struct real *to, int tensor)
{
	if (to->value[tensor] && !r->g->tensor[tensor].data.p)
		real_from_elements(&r->g->tensor[tensor], sim_tensor(r->s, tensor),
				   to->value[tensor]);
}

/* Runs operator i in both real networks. *next points to the layer of its first output. */
static void
run_operator(struct run *r, int i, struct layer **next)
{
	const struct tfl_op *op = &r->g->op[i];
	bool has_function = real_has_function(r->real, i);
	if (has_function) {
		real_run(r->real, i);
		real_run(r->alone, i);
	}
	for (int k = 0; k < op->n_out; k++) {
		int t = op->out[k];
		if (!has_function) {
			take_integers(r, r->real, t);
			take_integers(r, r->alone, t);
		}
		struct layer *l = *next;
		bool watched = l < r->out.layer + r->out.n && l->op == i && l->tensor == t;
		if (!watched) {
			take_integers(r, r->alone, t);
			continue;
		}
		struct arena *a = arena_open();
		int64_t n = tfl_elements(&r->g->tensor[t]);
		double *got = anew(a, double, (size_t)n);
		real_from_elements(&r->g->tensor[t], sim_tensor(r->s, t), got);
		add_layer(r, l, got);
		memcpy(r->alone->value[t], got, (size_t)n * sizeof(*got));
		arena_close(a);
		(*next)++;
	}
	/* the integer network defines the values of variables */
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0 && r->g->tensor[op->in[k]].is_variable)
			take_integers(r, r->alone, op->in[k]);
}

/* sorts by the operator's own loss, worst first; ties in running order */
static int
compare_layers(const void *x, const void *y)
{
	const struct layer *a = x, *b = y;
	double u = noise_db(a->own), v = noise_db(b->own);
	if (u != v)
		return u < v ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

bool
run_layers(struct arena *a, const struct options *o, struct text *t, struct err *e)
{
	struct tfl_model *m;
	struct run r = { .a = a };
	if (!model_read_file(a, o->labels, &m, e) || !tfl_check_plain(m, e) ||
	    !sim_open(a, m, &r.s, e))
		return false;
	r.g = &m->subgraph[0];
	r.out.m = m;
	if (!read_inputs(&r, o, e))
		return false;
	const struct real *constants = real_open(a, r.g);
	r.real = real_share(a, constants, REAL_NEEDED);
	r.alone = real_share(a, constants, REAL_NEEDED);
	open_layers(&r);
	struct progress p;
	bool ok = true;
	progress_begin(&p, "items");
	for (size_t i = 0; ok && i < r.out.n_items; i++) {
		struct layer *next = r.out.layer;
		progress_show(&p, (double)i, (double)r.out.n_items);
		for (int k = 0; k < r.g->n_in; k++) {
			int in = r.g->in[k];
			size_t bytes = (size_t)tfl_bytes(&r.g->tensor[in]);
			memcpy(sim_tensor(r.s, in), r.input[k].p + i * bytes, bytes);
			take_integers(&r, r.real, in);
			take_integers(&r, r.alone, in);
		}
		ok = sim_invoke(r.s, NULL, e);
		for (int k = 0; ok && k < r.g->n_ops; k++)
			run_operator(&r, k, &next);
	}
	progress_end(&p);
	if (!ok)
		return false;
	if (r.out.n)
		qsort(r.out.layer, r.out.n, sizeof(*r.out.layer), compare_layers);
	print_layers(t, &r.out, o->format);
	return true;
}
