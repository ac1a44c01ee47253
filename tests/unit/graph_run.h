/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes a graph's operations in integers from nputools-graph(5) alone: elementwise
 * operations, copies, functions and tables of bytes, convolutions and products.  There are
 * no streams and no blocks: this tests the lowering, not the later stages.
 */
#ifndef UNIT_GRAPH_RUN_H
#define UNIT_GRAPH_RUN_H

#include "base/little_endian.h"
#include "graph/facts.h"
#include "graph/graph.h"
#include "sim/npu.h"

#include <stdio.h>

struct graph_run {
	struct arena *a;
	struct graph *g;
	int64_t **v; /* elements of each tensor, row by row */
};

static inline struct hwc
run_hwc(const struct g_tensor *t)
{
	return t->hwc.h ? t->hwc : graph_hwc(&t->shape);
}

/* element y, x, c of an operand; an axis of extent 1 is repeated */
static inline int64_t *
run_at(const struct graph_run *r, const struct g_operand *o, int64_t y, int64_t x, int64_t c)
{
	struct hwc t = run_hwc(o->t), s = o->shape;
	y = s.h == 1 ? 0 : y;
	x = s.w == 1 ? 0 : x;
	c = s.c == 1 ? 0 : c;
	int64_t *v = r->v[o->t->rec.index];
	if (o->view == VIEW_STRIDED)
		return v + o->offset + y * o->stride[0] + x * o->stride[1] + c * o->stride[2];
	if (o->view == VIEW_BOX)
		return v + ((y + o->start.h) * t.w + x + o->start.w) * t.c + c + o->start.c;
	return v + (y * s.w + x) * s.c + c;
}

static inline int64_t
run_scaled(const struct g_op *op, struct npu_scale s, int64_t v)
{
	bool none = s.mult == 1 && !s.shift;
	return none ? v
		    : npu_scale(v, s.mult, s.shift,
				op->round == ROUND_NATURAL ? NPU_ROUND_NATURAL
							   : NPU_ROUND_DBL);
}

/* adds the zero point, clamps and looks up; words without a table are not clamped */
static inline int64_t
run_finish(const struct g_op *op, int64_t v)
{
	if (op->act == G_ACT_TANH || op->act == G_ACT_SIGMOID)
		v = op->act == G_ACT_TANH ? npu_tanh(v) : npu_sigmoid(v);
	v += op->ofm_zero;
	if (op->ofm.type == TFL_INT32 && !op->lut)
		return v;
	v = v < op->clamp.lo ? op->clamp.lo : v > op->clamp.hi ? op->clamp.hi : v;
	if (!op->lut)
		return v;
	/* the first entry is for the smallest value of the OFM's type; words: of a
	 * signed byte */
	bool bytes = op->lut->bits == 8, is_unsigned = bytes && op->ofm.type == TFL_UINT8;
	int64_t entry = op->lut->values.v[v + (is_unsigned ? 0 : 128)];
	if (!bytes)
		return (int32_t)entry;
	return is_unsigned ? entry : (int8_t)entry;
}

static inline bool
run_two(const struct graph_run *r, const struct g_op *op, int64_t y, int64_t x, int64_t c,
	int64_t *out)
{
	int64_t a = *run_at(r, &op->ifm, y, x, c) - op->ifm_zero, b = 0, swap;
	if (op->ifm2.t)
		b = *run_at(r, &op->ifm2, y, x, c) - op->ifm2_zero;
	else
		b = op->scalar - op->ifm2_zero;
	if (op->reversed) {
		swap = a;
		a = b;
		b = swap;
	}
	switch (op->kind) {
	case OP_ADD: case OP_SUB:
		if (op->opa.mult != 1 || op->opa.shift || op->opb != 1)
			return false;
		*out = op->kind == OP_ADD ? a + b : a - b;
		break;
	case OP_MUL:
		*out = a * b;
		break;
	case OP_MIN:
		*out = a < b ? a : b;
		return true;
	case OP_MAX:
		*out = a > b ? a : b;
		return true;
	case OP_SHR:
		if (op->round != ROUND_NATURAL || b < 0 || b > 31)
			return false;
		*out = (a + (b ? INT64_C(1) << (b - 1) : 0)) >> b;
		return true;
	default:
		return false;
	}
	*out = run_scaled(op, op->scale, *out);
	return true;
}

/* one weight, in OHWI order; its zero point is subtracted */
static inline int64_t
run_weight(const struct g_weights *w, const uint8_t *data, const int64_t at[4])
{
	int64_t n = w->offset, step = 1;
	for (int d = 3; d >= 0; d--) {
		n += at[d] * (w->strides.n ? w->strides.v[d] : step);
		step *= w->shape.dim[d];
	}
	int64_t v = w->shape.type == TFL_UINT8 ? data[n] : (int8_t)data[n];
	return v - w->zero.v[w->zero.n > 1 ? at[0] : 0];
}

/* element y, x, c of the IFM without its zero point; 0 in the padding */
static inline int64_t
run_ifm(const struct graph_run *r, const struct g_op *op, int64_t y, int64_t x, int64_t c)
{
	struct hwc s = op->ifm.shape;
	return y < 0 || x < 0 || y >= s.h || x >= s.w
		   ? 0 : *run_at(r, &op->ifm, y, x, c) - op->ifm_zero;
}

/* the window's sum for channel c; a copy is a window of one element */
static inline bool
run_window(struct graph_run *r, const struct g_op *op, int64_t y, int64_t x, int64_t c,
	   int64_t *out)
{
	const struct g_weights *w = op->weights;
	const bool depthwise = op->kind == OP_DEPTHWISE;
	struct bytes b = { 0 };
	struct err e = { 0 };
	y = y * op->stride.y - op->pad.top;
	x = x * op->stride.x - op->pad.left;
	if (op->kind == OP_AVGPOOL) {
		*out = run_scaled(op, op->scale, run_ifm(r, op, y, x, c));
		return op->kernel.y == 1 && op->kernel.x == 1;
	}
	if (op->upscale || op->edge.top || op->edge.left || !w ||
	    !graph_source(r->g, &w->rec, &w->source, &b, &e))
		return false;
	*out = op->scales->bias.v[op->scales->bias.n > 1 ? c : 0];
	for (int64_t i = 0; i < op->kernel.y; i++)
		for (int64_t k = 0; k < op->kernel.x; k++)
			for (int64_t m = 0; m < (depthwise ? 1 : op->ifm.shape.c); m++)
				*out += run_ifm(r, op, y + i * op->dilation.y,
						x + k * op->dilation.x, depthwise ? c : m) *
					run_weight(w, b.p, (int64_t[4]){ c, i, k, m });
	struct npu_scale s = {
		.mult = (uint32_t)op->scales->mult.v[op->scales->mult.n > 1 ? c : 0],
		.shift = (int)op->scales->shift.v[op->scales->shift.n > 1 ? c : 0]
	};
	*out = run_scaled(op, s, *out);
	return true;
}

static inline bool
run_op(struct graph_run *r, const struct g_op *op)
{
	struct hwc s = op->ofm.shape;
	bool window = op->kind == OP_AVGPOOL || op_has_weights(op->kind);
	int64_t v;
	for (int64_t y = 0; y < s.h; y++)
		for (int64_t x = 0; x < s.w; x++)
			for (int64_t c = 0; c < s.c; c++) {
				if (!(window ? run_window(r, op, y, x, c, &v)
					     : run_two(r, op, y, x, c, &v))) {
					printf("o%d: %s is not known here\n", op->rec.id,
					       op_names[op->kind]);
					return false;
				}
				v = run_finish(op, v);
				if (v != (int32_t)v) {
					printf("o%d leaves 32 bits\n", op->rec.id);
					return false;
				}
				*run_at(r, &op->ofm, y, x, c) = v;
			}
	return true;
}

/* allocates all tensors and fills in constants */
static inline bool
run_open(struct graph_run *r, struct arena *a, struct graph *g)
{
	*r = (struct graph_run){ .a = a, .g = g, .v = anew(a, int64_t *, g->n_tensors) };
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *t = g->tensors[i];
		struct hwc s = run_hwc(t);
		size_t n = (size_t)s.h * (size_t)s.w * (size_t)s.c;
		struct bytes b;
		struct err e = { 0 };
		r->v[i] = anew(a, int64_t, n);
		if (!tensor_is_const(t))
			continue;
		if (t->shape.type != TFL_INT32 || !graph_source(g, &t->rec, &t->source, &b, &e))
			return false;
		for (size_t k = 0; k < n; k++)
			r->v[i][k] = (int32_t)load_le32(b.p + 4 * k);
	}
	return true;
}

static inline bool
run_graph(struct graph_run *r)
{
	for (size_t i = 0; i < r->g->n_ops; i++)
		if (!run_op(r, r->g->ops[i]))
			return false;
	return true;
}

/* the elements of the graph's tensor for tensor `index` of the model; NULL if there
 * is none */
static inline int64_t *
run_tensor(const struct graph_run *r, int index)
{
	for (size_t i = 0; i < r->g->n_tensors; i++) {
		const struct g_tfls *l = &r->g->tensors[i]->tfl;
		for (int k = 0; k < l->n; k++)
			if (l->v[k].index == index)
				return r->v[i];
	}
	return NULL;
}

#endif
