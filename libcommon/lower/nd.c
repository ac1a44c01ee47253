/* SPDX-License-Identifier: Apache-2.0 */
/* Views with any number of dimensions. */
#include "lower/nd.h"

#include "graph/facts.h"

#include <assert.h>
#include <string.h>

static void
set_dense(struct nd *v)
{
	int64_t s = 1;
	for (int i = v->rank; i-- > 0;) {
		v->stride[i] = s;
		s *= v->dim[i];
	}
}

struct nd
nd_dense(int type, int rank, const int32_t *dim)
{
	struct nd v = { .type = type, .rank = rank };
	for (int i = 0; i < rank; i++)
		v.dim[i] = dim[i];
	set_dense(&v);
	return v;
}

struct nd
nd_linear(const struct nd *v)
{
	struct nd r = *v;
	r.t = NULL;
	r.offset = 0;
	set_dense(&r);
	return r;
}

/* Returns the shape of a tensor for elements in v's dimensions. */
static struct hwc
own_hwc(const struct nd *v)
{
	int64_t h = 1;
	for (int i = 0; i + 2 < v->rank; i++)
		h *= v->dim[i];
	return (struct hwc){ .h = (int32_t)h,
			     .w = v->rank > 1 ? (int32_t)v->dim[v->rank - 2] : 1,
			     .c = v->rank > 0 ? (int32_t)v->dim[v->rank - 1] : 1 };
}

struct nd
nd_new(struct lower *l, int type, int rank, const int64_t *dim)
{
	struct nd v = { .type = type, .rank = rank };
	memcpy(v.dim, dim, (size_t)rank * sizeof(*dim));
	set_dense(&v);
	v.t = low_tensor(l, type, own_hwc(&v), NULL);
	return v;
}

struct nd
nd_const(struct lower *l, int type, int rank, const int64_t *dim, const int32_t *v)
{
	struct nd r = { .type = type, .rank = rank };
	memcpy(r.dim, dim, (size_t)rank * sizeof(*dim));
	set_dense(&r);
	r.t = low_const(l, type, own_hwc(&r), v).t;
	return r;
}

struct nd
nd_const_one(struct lower *l, int type, int rank, int32_t v)
{
	struct nd r = { .type = type, .rank = rank, .offset = v };
	if (graph_type_bytes(type) > 2) /* scalar registers have 16 bits */
		return nd_const_channels(l, type, rank, 1, &v);
	for (int i = 0; i < rank; i++)
		r.dim[i] = 1;
	return r;
}

struct nd
nd_const_channels(struct lower *l, int type, int rank, int32_t n, const int32_t *v)
{
	int64_t dim[ND_MAX];
	for (int i = 0; i < rank; i++)
		dim[i] = i == rank - 1 ? n : 1;
	return nd_const(l, type, rank, dim, v);
}

struct nd
nd_operand_of(struct g_operand o, int rank, const int32_t *dim)
{
	struct nd v = nd_dense(o.type, rank, dim);
	v.t = o.t;
	v.type = o.type;
	if (o.view != VIEW_BOX && o.view != VIEW_STRIDED)
		return v;
	o = operand_by_strides(o);
	v.offset = o.offset;
	int r = v.rank;
	int64_t y = o.stride[0];
	for (int i = r - 3; i >= 0; i--) {
		v.stride[i] = y;
		y *= v.dim[i];
	}
	if (r > 1)
		v.stride[r - 2] = o.stride[1];
	if (r > 0)
		v.stride[r - 1] = o.stride[2];
	return v;
}

void
nd_slice(struct nd *v, int axis, int64_t start, int64_t n, int64_t step)
{
	v->offset += start * v->stride[axis];
	v->dim[axis] = n;
	v->stride[axis] *= step;
}

struct nd
nd_part(const struct nd *v, int axis, int64_t start, int64_t n)
{
	struct nd r = *v;
	nd_slice(&r, axis, start, n, 1);
	return r;
}

void
nd_permute(struct nd *v, const int *order)
{
	struct nd old = *v;
	for (int i = 0; i < v->rank; i++) {
		v->dim[i] = old.dim[order[i]];
		v->stride[i] = old.stride[order[i]];
	}
}

void
nd_transpose(struct nd *v)
{
	int order[ND_MAX], last = v->rank - 1;
	for (int i = 0; i < last - 1; i++)
		order[i] = i;
	order[last] = last - 1;
	order[last - 1] = last;
	nd_permute(v, order);
}

void
nd_split(struct nd *v, int axis, int64_t inner)
{
	assert(v->rank < ND_MAX && v->dim[axis] % inner == 0);
	for (int i = v->rank++; i > axis; i--) {
		v->dim[i] = v->dim[i - 1];
		v->stride[i] = v->stride[i - 1];
	}
	v->dim[axis] /= inner;
	v->dim[axis + 1] = inner;
	v->stride[axis] *= inner;
}

/*
 * Takes n elements of v, from the innermost axes, as one axis.  Returns false if they
 * have no common stride.
 */
static bool
take_inner(struct nd *v, int64_t n, int64_t *stride)
{
	int64_t got = 1;
	*stride = 1;
	while (got < n) {
		int k = v->rank - 1;
		if (k < 0)
			return false;
		int64_t piece = v->dim[k];
		if (got * piece > n)
			piece = n / got;
		if (piece && v->dim[k] % piece)
			return false;
		if (piece > 1 && got > 1 && v->stride[k] != *stride * got)
			return false;
		if (got == 1)
			*stride = v->stride[k];
		if (piece == 1 && v->dim[k] > 1)
			return false;
		got *= piece;
		v->dim[k] /= piece;
		v->stride[k] *= piece;
		v->rank -= v->dim[k] == 1;
	}
	return got == n;
}

bool
nd_reshape(struct nd *v, const int64_t *dim, int rank)
{
	struct nd r = *v;
	r.rank = rank;
	memcpy(r.dim, dim, (size_t)rank * sizeof(*dim));
	set_dense(&r);
	if (nd_is_dense(v)) {
		*v = r;
		return true;
	}
	struct nd rest = *v;
	for (int i = rank; i-- > 0;)
		if (!take_inner(&rest, dim[i], &r.stride[i]))
			return false;
	*v = r;
	return true;
}

struct nd
nd_as(struct nd v, const int64_t *dim, int rank)
{
	bool ok = nd_reshape(&v, dim, rank);
	assert(ok);
	return v;
}

struct nd
nd_readable_as(struct lower *l, struct nd v, const int64_t *dim, int rank)
{
	return nd_reshape(&v, dim, rank) ? v : nd_as(nd_readable(l, &v), dim, rank);
}

int64_t
nd_elements(const struct nd *v)
{
	int64_t n = 1;
	for (int i = 0; i < v->rank; i++)
		n *= v->dim[i];
	return n;
}

void
nd_distances(const struct nd *v, int axis, int32_t *out, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		int64_t left = i, at = 0;
		for (int k = v->rank; k-- > axis; left /= v->dim[k])
			at += left % v->dim[k] * v->stride[k];
		out[i] = (int32_t)at;
	}
}

bool
nd_is_dense(const struct nd *v)
{
	int64_t s = 1;
	for (int i = v->rank; i-- > 0;) {
		if (v->dim[i] != 1 && v->stride[i] != s)
			return false;
		s *= v->dim[i];
	}
	return true;
}

bool
nd_operand(const struct nd *v, struct g_operand *out)
{
	int64_t dim[3] = { 1, 1, 1 }, s[3] = { 0, 0, 0 };
	for (int i = v->rank; i-- > 0;) {
		int k = v->rank - 1 - i;
		k = k < 2 ? 2 - k : 0;
		if (v->dim[i] == 1)
			continue;
		if (dim[k] == 1)
			s[k] = v->stride[i];
		else if (v->stride[i] != s[k] * dim[k])
			return false;
		dim[k] *= v->dim[i];
	}
	if (dim[2] > 1 && s[2] != 1)
		return false;
	/* axes of extent 1 get the strides of dense memory */
	s[2] = 1;
	s[1] = dim[1] == 1 ? dim[2] : s[1];
	s[0] = dim[0] == 1 ? s[1] * dim[1] : s[0];
	struct hwc shape = { .h = (int32_t)dim[0], .w = (int32_t)dim[1],
			     .c = (int32_t)dim[2] };
	/* the simplest kind of operand for the view: whole tensor, box, or strided */
	struct g_tensor *t = v->t;
	struct hwc in = t->hwc;
	*out = (struct g_operand){ .t = t, .type = v->type, .shape = shape,
				   .view = VIEW_STRIDED, .offset = v->offset,
				   .stride = { s[0], s[1], s[2] } };
	if (graph_type_bytes(v->type) == graph_type_bytes(t->shape.type) &&
	    v->offset == 0 && nd_is_dense(v) && nd_elements(v) == hwc_elements(in)) {
		*out = operand_reshape(t, shape);
		out->type = v->type;
		return true;
	}
	bool same = v->type == t->shape.type &&
		    (shape.h <= 1 || s[0] == (int64_t)in.w * in.c) &&
		    (shape.w <= 1 || s[1] == in.c) && (shape.c <= 1 || s[2] == 1);
	if (!same)
		return true;
	struct hwc at = { .h = (int32_t)(v->offset / ((int64_t)in.w * in.c)),
			  .w = (int32_t)(v->offset / in.c % in.w),
			  .c = (int32_t)(v->offset % in.c) };
	if (at.h + shape.h <= in.h && at.w + shape.w <= in.w && at.c + shape.c <= in.c)
		*out = operand_box(t, shape, at);
	return true;
}

struct g_operand
nd_to_operand(const struct nd *v)
{
	struct g_operand o;
	bool ok = nd_operand(v, &o);
	assert(ok);
	return o;
}

bool
operand_view(struct g_operand o, struct hwc shape, struct g_operand *out)
{
	const struct g_operand s = operand_by_strides(o);
	struct nd v = { .t = o.t, .type = o.type, .rank = 3,
			.dim = { o.shape.h, o.shape.w, o.shape.c },
			.stride = { s.stride[0], s.stride[1], s.stride[2] },
			.offset = s.offset };
	if (!nd_is_dense(&v))
		return false;
	v.dim[0] = shape.h;
	v.dim[1] = shape.w;
	v.dim[2] = shape.c;
	set_dense(&v);
	return nd_operand(&v, out);
}
