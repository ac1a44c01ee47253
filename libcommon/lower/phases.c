/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bilinear resizing by few different weights.  Outputs with the same weights form a
 * phase: a depthwise convolution of at most 2x2 taps, which writes rows and columns at
 * constant steps.  Weights are divided by their common divisor, for which the scale
 * compensates.
 */
#include "lower/blend.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/conv.h"
#include "lower/runs.h"

enum { MAX_PHASES = 300, MAX_WEIGHT = 255 /* 9 bits with a sign */,
       MAX_STEP = 3 /* maximum stride of a convolution */, FAR = 1 << 11 };

struct phase { /* outputs of an axis with one or two inputs each and these weights */
	struct low_run at;
	int32_t taps, weight[2], factor; /* divisor of the original weights */
};

struct axis {
	struct phase *v;
	int n;
	int32_t most; /* greatest weight */
};

struct low_phases {
	struct low_phasing how;
	struct axis y, x;
};

static struct axis
phases_of(struct arena *a, const struct low_blend *b)
{
	/* Keys encode both weights of each output; an output with one input has weights 1
	 * and 0. */
	int32_t *key = anew(a, int32_t, (size_t)b->n);
	for (int32_t o = 0; o < b->n; o++) {
		bool one = !b->far[o] || b->lower[o] == b->upper[o];
		int32_t d = one ? 1 : (int32_t)common_divisor(b->near[o], b->far[o]);
		key[o] = one ? 1 : b->near[o] / d + b->far[o] / d * FAR;
	}
	struct low_run *run;
	int n = low_runs(a, b->lower, key, b->n, &run);
	struct axis f = { .v = anew(a, struct phase, (size_t)b->n), .most = 1 };
	for (int i = 0; i < n; i++) {
		const struct low_run *r = &run[i];
		int32_t k = key[r->out], near = k % FAR, far = k / FAR;
		struct phase x = { .at = *r, .taps = far ? 2 : 1,
				   .weight = { near, far },
				   .factor = b->sum / (near + far) };
		/* runs along which no stride can step are split into single outputs */
		bool strided = r->n == 1 || (r->in_step >= 1 && r->in_step <= MAX_STEP);
		int32_t pieces = strided ? 1 : r->n;
		x.at.n = r->n / pieces;
		for (int32_t j = 0; j < pieces; j++) {
			f.v[f.n++] = x;
			x.at.out += r->out_step;
			x.at.in += r->in_step;
		}
		f.most = near > f.most ? near : f.most;
		f.most = far > f.most ? far : f.most;
	}
	return f;
}

/*
 * Returns the scale of sums with the divided weights; mult is 0 if the NPU cannot
 * express it.
 */
static struct npu_scale
scale_of(const struct low_phasing *how, const struct phase *y, const struct phase *x)
{
	int64_t factor = (int64_t)y->factor * x->factor, times = how->times;
	struct npu_scale s = how->scale;
	if (y->taps == 1 && x->taps == 1)
		times = 1; /* a copy has no weights */
	for (; times > 1; times /= 2)
		s.shift++;
	for (; factor % 2 == 0 && s.shift > 0; factor /= 2)
		s.shift--;
	if (s.mult * factor > INT32_MAX || s.shift > 63)
		return (struct npu_scale){ 0 };
	s.mult = (uint32_t)(s.mult * factor);
	return s;
}

/* scale records made so far, by their scale */
struct record {
	struct npu_scale scale;
	struct g_scales *scales;
};

struct records {
	struct record v[MAX_PHASES];
	int n;
};

static int32_t
extent(const struct phase *f)
{
	return (f->at.n - 1) * f->at.in_step + f->taps;
}

/*
 * Makes the operation for rows y and columns x of one image; NULL if the NPU cannot
 * address them.
 */
static struct g_op *
phase_op(struct lower *l, const struct low_phases *f, struct records *r,
	  const struct phase *y, const struct phase *x, struct nd from, struct nd to)
{
	const struct low_phasing *how = &f->how;
	struct g_operand ofm, ifm;
	nd_slice(&from, 1, y->at.in, extent(y), 1);
	nd_slice(&from, 2, x->at.in, extent(x), 1);
	nd_slice(&to, 1, y->at.out, y->at.n, y->at.out_step);
	nd_slice(&to, 2, x->at.out, x->at.n, x->at.out_step);
	if (!nd_operand(&from, &ifm) || !nd_operand(&to, &ofm))
		return NULL;
	struct yx one = { .y = 1, .x = 1 };
	struct yx step = { .y = y->at.n > 1 ? y->at.in_step : 1,
			   .x = x->at.n > 1 ? x->at.in_step : 1 };
	struct yx kernel = { .y = y->taps, .x = x->taps };
	bool copies = y->taps == 1 && x->taps == 1;
	struct npu_scale scale = scale_of(how, y, x);
	struct g_op *o = low_op(l, copies ? OP_AVGPOOL : OP_DEPTHWISE, ifm, ofm);
	op_kernel(o, kernel, step, one, (struct g_pad){ 0 });
	if (copies) {
		op_scale(o, scale, how->round);
		return o;
	}
	const int32_t c = ifm.shape.c;
	size_t n = (size_t)(c * y->taps * x->taps), at = 0;
	uint8_t *v = anew(l->a, uint8_t, n);
	for (int32_t k = 0; k < c; k++)
		for (int32_t a = 0; a < y->taps; a++)
			for (int32_t b = 0; b < x->taps; b++)
				v[at++] = (uint8_t)(y->weight[a] * x->weight[b] * how->times);
	struct g_shape shape = { .type = TFL_UINT8, .rank = 4, .dim = { c, y->taps, x->taps, 1 } };
	struct g_weights *w =
	    low_weights_new(l, "phase", shape, (struct bytes){ .p = v, .n = n });
	G_PUT(o, OP, weights, w);
	int i = 0;
	while (i < r->n && (r->v[i].scale.mult != scale.mult ||
			    r->v[i].scale.shift != scale.shift))
		i++;
	if (i == r->n)
		r->v[r->n++] = (struct record){
			.scale = scale,
			.scales = low_scales_new(l, (size_t)c, NULL, &scale, true) };
	G_PUT(o, OP, scales, r->v[i].scales);
	o->round = (int)how->round;
	return o;
}

struct low_phases *
low_phases_find(struct lower *l, const struct low_phasing *how, const struct low_blend *y,
		const struct low_blend *x)
{
	struct low_phases *f = anew(l->a, struct low_phases, 1);
	if (graph_type_bytes(how->type) != 1 || y->sum >= FAR || x->sum >= FAR)
		return NULL;
	f->how = *how;
	f->y = phases_of(l->a, y);
	f->x = phases_of(l->a, x);
	if (f->y.most * f->x.most * how->times > MAX_WEIGHT ||
	    how->images * low_phases_count(f) > MAX_PHASES)
		return NULL;
	for (int i = 0; i < f->y.n; i++)
		for (int k = 0; k < f->x.n; k++)
			if (!scale_of(how, &f->y.v[i], &f->x.v[k]).mult)
				return NULL;
	return f;
}

int
low_phases_count(const struct low_phases *f)
{
	return f->y.n * f->x.n;
}

void
low_phases(struct lower *l, const struct low_phases *f, const struct nd *in,
	   const struct nd *out, const struct low_end *end)
{
	struct records *r = anew(l->a, struct records, 1);
	for (int64_t b = 0; b < in->dim[0]; b++) {
		struct nd from = nd_part(in, 0, b, 1), to = nd_part(out, 0, b, 1);
		for (int i = 0; i < f->y.n * f->x.n; i++) {
			const struct phase *y = &f->y.v[i / f->x.n];
			const struct phase *x = &f->x.v[i % f->x.n];
			struct g_op *op = phase_op(l, f, r, y, x, from, to);
			if (!op) {
				low_refuse(l, "no NPU operation can write all of its rows");
				return;
			}
			low_finish(end, op);
		}
	}
}
