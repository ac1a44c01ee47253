/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bilinear by whole factors: outputs that lie alike between their neighbours are
 * a phase, a depthwise convolution of at most 2x2 taps, which writes every so
 * many rows and columns.  Weights of 1/1024 are divided by what they have in
 * common; a power of two is left to divide by, so that nothing is rounded twice.
 */
#include "resize.h"

enum { MAX_PHASES = 300, MAX_WEIGHT = 255 /* of 9 bits with a sign */,
       MAX_STEP = 3 /* of a convolution */, FAR = 1 << 11 };

struct phase { /* outputs of an axis: one or two neighbours, by these weights */
	struct low_run at;
	int32_t taps, weight[2], log2; /* their sum is 1 << log2 */
};

struct axis {
	struct phase *v;
	int n;
	int32_t most; /* weight */
};

struct phases {
	struct axis y, x;
};

static int32_t
common_divisor(int32_t a, int32_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

static int32_t
log2_of(int32_t n)
{
	int32_t k = 0;
	while (n >> (k + 1))
		k++;
	return k;
}

/* a key says both weights: those of one neighbour alone are 1 and 0 */
static int32_t *
weigh(struct arena *a, const struct blend *b)
{
	int32_t *key = anew(a, int32_t, (size_t)b->n);
	for (int32_t o = 0; o < b->n; o++) {
		bool one = !b->far[o] || b->lower[o] == b->upper[o];
		int32_t d = one ? 1 : common_divisor(b->near[o], b->far[o]);
		key[o] = one ? 1 : b->near[o] / d + b->far[o] / d * FAR;
	}
	return key;
}

/* runs that no stride can step along are taken one by one */
static bool
is_strided(const struct low_run *r)
{
	return r->n == 1 || (r->in_step >= 1 && r->in_step <= MAX_STEP);
}

static struct axis
phases_of(struct arena *a, const struct blend *b)
{
	int32_t *key = weigh(a, b);
	struct low_run *run;
	int n = low_runs(a, b->lower, key, b->n, &run);
	struct axis f = { .v = anew(a, struct phase, (size_t)b->n), .most = 1 };
	for (int i = 0; i < n; i++) {
		int32_t k = key[run[i].out], near = k % FAR, far = k / FAR;
		struct phase x = { .at = run[i], .taps = far ? 2 : 1,
				   .weight = { near, far }, .log2 = log2_of(near + far) };
		int32_t pieces = is_strided(&run[i]) ? 1 : run[i].n;
		x.at.n = run[i].n / pieces;
		for (int32_t j = 0; j < pieces; j++) {
			f.v[f.n++] = x;
			x.at.out += run[i].out_step;
			x.at.in += run[i].in_step;
		}
		f.most = near > f.most ? near : f.most;
		f.most = far > f.most ? far : f.most;
	}
	return f;
}

/*
 * Halves go away from 0.  Of values that are none below, that is up.  Of others
 * twice the sum is divided by twice as much: the double rounding's first step then
 * has no halves to round (ethosu-commands(7) 6.2).
 */
static bool
is_signed(int type)
{
	return type == TFL_INT8;
}

/* C x taps x taps */
static struct g_weights *
phase_weights(struct part *p, const struct phase *y, const struct phase *x, int32_t c,
	      int32_t times)
{
	struct g_weights *w = graph_add_g_weights(p->g);
	size_t n = (size_t)(c * y->taps * x->taps), k = 0;
	uint8_t *v = anew(p->a, uint8_t, n);
	for (int32_t i = 0; i < c; i++)
		for (int32_t a = 0; a < y->taps; a++)
			for (int32_t b = 0; b < x->taps; b++)
				v[k++] = (uint8_t)(y->weight[a] * x->weight[b] * times);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = TFL_UINT8, .rank = 4,
				.dim = { c, y->taps, x->taps, 1 } });
	const char *name = arena_printf(p->a, "phase%d", w->rec.id);
	struct bytes b = { .p = v, .n = n };
	G_PUT(w, WEIGHTS, source,
	      (struct g_source){ .blob = graph_add_blob(p->g, name, b)->name });
	int64_t *zero = anew(p->a, int64_t, 1);
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = zero, .n = 1 });
	return w;
}

static struct g_scales *
phase_scales(struct part *p, int32_t log2, int32_t c)
{
	size_t n = (size_t)c;
	struct g_scales *s = graph_add_g_scales(p->g);
	int64_t *bias = anew(p->a, int64_t, n), *mult = anew(p->a, int64_t, n),
		*shift = anew(p->a, int64_t, n);
	for (size_t i = 0; i < n; i++) {
		mult[i] = (int64_t)1 << 30;
		shift[i] = 30 + log2;
	}
	G_PUT(s, SCALES, bias, (struct g_list){ .v = bias, .n = n });
	G_PUT(s, SCALES, mult, (struct g_list){ .v = mult, .n = n });
	G_PUT(s, SCALES, shift, (struct g_list){ .v = shift, .n = n });
	return s;
}

/* where an image lies that is read, and is written */
struct image {
	struct g_operand ifm; /* all of them */
	int32_t row;	      /* of ifm: the image's first */
	struct nd ofm;
	struct g_scales *scales[2 * FRACTION_BITS + 2]; /* of each divisor */
};

static int32_t
extent(const struct phase *f)
{
	return (f->at.n - 1) * f->at.in_step + f->taps;
}

static bool
run_phase(struct part *p, struct image *m, const struct phase *y,
	  const struct phase *x)
{
	struct hwc size = { .h = extent(y), .w = extent(x), .c = m->ifm.shape.c };
	struct hwc start = { .h = m->row + y->at.in, .w = x->at.in };
	struct nd to = m->ofm;
	struct g_operand ofm, ifm = low_box(m->ifm, size, start);
	nd_slice(&to, 1, y->at.out, y->at.n, y->at.out_step);
	nd_slice(&to, 2, x->at.out, x->at.n, x->at.out_step);
	if (!nd_operand(&to, &ofm))
		return false;
	struct yx one = { .y = 1, .x = 1 };
	struct yx step = { .y = y->at.n > 1 ? y->at.in_step : 1,
			   .x = x->at.n > 1 ? x->at.in_step : 1 };
	struct yx kernel = { .y = y->taps, .x = x->taps };
	bool copies = y->taps == 1 && x->taps == 1, twice = is_signed(ifm.type);
	int32_t log2 = y->log2 + x->log2 + twice;
	struct g_op *o = copies ? low_copy(p->l, ifm, ofm)
				: low_op(p->l, OP_DEPTHWISE, ifm, ofm);
	op_kernel(o, kernel, step, one, (struct g_pad){ 0 });
	if (!copies) {
		G_PUT(o, OP, weights, phase_weights(p, y, x, size.c, twice ? 2 : 1));
		if (!m->scales[log2])
			m->scales[log2] = phase_scales(p, log2, size.c);
		G_PUT(o, OP, scales, m->scales[log2]);
		o->round = twice ? ROUND_TFL : ROUND_NATURAL;
	}
	return true;
}

struct phases *
find_phases(const struct part *p, const struct tfl_op *op, const struct blend *y,
	    const struct blend *x)
{
	const struct tfl_tensor *in = part_in(p, op, 0);
	struct phases *f = anew(p->a, struct phases, 1);
	f->y = phases_of(p->a, y);
	f->x = phases_of(p->a, x);
	int32_t most = f->y.most * f->x.most * (is_signed(in->type) ? 2 : 1);
	bool possible = tfl_type_bytes(in->type) == 1 && most <= MAX_WEIGHT &&
			(int64_t)in->dim[0] * phases_count(f) <= MAX_PHASES;
	return possible ? f : NULL;
}

int
phases_count(const struct phases *f)
{
	return f->y.n * f->x.n;
}

bool
lower_phases(struct part *p, const struct tfl_op *op, const struct phases *f)
{
	const struct tfl_tensor *in = part_in(p, op, 0);
	struct image m = { .ifm = part_ifm(p, op->in[0]) };
	struct nd out = nd_ofm(p, op->out[0]);
	for (int32_t b = 0; b < in->dim[0]; b++) {
		m.row = b * in->dim[1];
		m.ofm = out;
		nd_slice(&m.ofm, 0, b, 1, 1);
		for (int i = 0; i < f->y.n; i++)
			for (int k = 0; k < f->x.n; k++)
				if (!run_phase(p, &m, &f->y.v[i], &f->x.v[k]))
					return err_set(p->e, "operator %d: rows and "
						       "columns that no operation writes",
						       p->l->op_i);
	}
	return true;
}
