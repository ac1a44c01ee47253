/* SPDX-License-Identifier: Apache-2.0 */
/* Makes tensors of a lowering, and views of existing tensors. */
#include "lower/nd.h"

#include "base/bytes.h"
#include "base/little_endian.h"
#include "graph/build.h"
#include "graph/facts.h"

#include <stdio.h>
#include <string.h>

void
low_refuse(struct lower *l, const char *why)
{
	l->refused = why;
}

void
low_refuse_many(struct lower *l)
{
	if (!l->refused)
		l->refused = "it would take more than 16384 operations";
}

struct g_tensor *
low_tensor(struct lower *l, int type, struct hwc hwc, const char *name)
{
	struct g_tensor *n = graph_add_feature_map(l->g, type, hwc);
	if (name)
		G_PUT(n, TENSOR, name, name);
	return n;
}

struct g_operand
low_new(struct lower *l, int type, struct hwc shape)
{
	return operand_whole(low_tensor(l, type, shape, NULL));
}

struct g_operand
low_view(struct lower *l, struct g_operand o, struct hwc shape)
{
	struct g_operand r;
	if (hwc_equal(o.shape, shape))
		return o;
	if (!operand_view(o, shape, &r)) {
		struct g_tensor *t = low_tensor(l, o.type, o.shape, NULL);
		struct g_op *op = low_copy(l, o, operand_whole(t));
		op_clamp(op, type_range(o.type));
		r = operand_reshape(t, shape);
	}
	r.type = o.type;
	return r;
}

struct g_operand
low_linear(struct lower *l, struct g_operand o)
{
	if (o.view != VIEW_BOX && o.view != VIEW_STRIDED)
		return o;
	struct g_tensor *t = low_tensor(l, o.type, o.shape, NULL);
	(void)low_copy(l, o, operand_whole(t));
	return operand_whole(t);
}

struct g_operand
low_destination(struct lower *l, struct g_operand ofm)
{
	if (ofm.view != VIEW_BOX && ofm.view != VIEW_STRIDED)
		return ofm;
	return low_new(l, ofm.type, ofm.shape);
}

void
low_deliver(struct lower *l, struct g_operand dest, struct g_operand ofm)
{
	if (dest.t != ofm.t)
		(void)low_copy(l, low_view(l, dest, ofm.shape), ofm);
}

struct nd
nd_writable_as(struct lower *l, const struct nd *v, const int64_t *dim, int rank)
{
	struct nd r = *v;
	struct g_operand o;
	if (nd_reshape(&r, dim, rank) && nd_operand(&r, &o))
		return r;
	return nd_as(nd_new_like(l, v, v->type), dim, rank);
}

struct nd
nd_addressed_as(struct lower *l, const struct nd *v, const int64_t *dim, int rank)
{
	struct nd r = nd_writable_as(l, v, dim, rank);
	if (r.t != v->t) {
		struct nd all = nd_as(r, v->dim, v->rank);
		nd_copy(l, v, &all);
	}
	return r;
}

void
nd_deliver(struct lower *l, const struct nd *dest, const struct nd *v)
{
	if (dest->t == v->t)
		return;
	struct nd from = nd_as(*dest, v->dim, v->rank);
	nd_copy(l, &from, v);
}

struct g_operand
low_const(struct lower *l, int type, struct hwc shape, const int32_t *v)
{
	const int64_t n = hwc_elements(shape);
	const size_t size = (size_t)tfl_type_bytes(type);
	uint8_t *p = arena_alloc(l->a, (size_t)n, size);
	for (int64_t i = 0; i < n; i++) {
		if (size == 1)
			p[i] = (uint8_t)v[i];
		else if (size == 2)
			store_le16(p + 2 * i, (uint16_t)v[i]);
		else
			store_le32(p + 4 * i, (uint32_t)v[i]);
	}
	const struct bytes b = { .p = p, .n = (size_t)n * size };
	for (size_t i = 0; i < l->g->n_tensors; i++) {
		struct g_tensor *t = l->g->tensors[i];
		if (!G_HAS(t, G_TENSOR_source) || !t->source.blob ||
		    t->shape.type != type || !hwc_equal(t->hwc, shape))
			continue;
		const struct g_blob *blob = graph_find_blob(l->g, t->source.blob);
		if (blob && !memcmp(blob->data, b.p, b.n))
			return operand_whole(t);
	}
	struct g_tensor *t = low_tensor(l, type, shape, NULL);
	char name[24];
	(void)snprintf(name, sizeof(name), "const%d", t->rec.id);
	t->source.blob = graph_add_blob(l->g, arena_strdup(l->a, name), b)->name;
	G_SET(t, G_TENSOR_source);
	return operand_whole(t);
}

struct g_operand
low_box(struct g_operand o, struct hwc shape, struct hwc start)
{
	if (hwc_equal(o.shape, shape))
		return o;
	if (o.view == VIEW_WHOLE) {
		o.view = VIEW_BOX;
		o.start = start;
	} else if (o.view == VIEW_BOX) {
		o.start.h += start.h;
		o.start.w += start.w;
		o.start.c += start.c;
	} else {
		o = operand_by_strides(o);
		o.offset += start.h * o.stride[0] + start.w * o.stride[1] +
			    start.c * o.stride[2];
	}
	o.shape = shape;
	return o;
}
