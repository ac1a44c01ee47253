/* SPDX-License-Identifier: Apache-2.0 */
/* Makes operations that compute parts of products, with the parts of weights and scales. */
#include "rewrite/split.h"

#include "graph/facts.h"
#include "lower/lower.h"

#include <assert.h>

/* Returns the range of bytes that an operand accesses, relative to its tensor. */
static struct g_range
bytes_of(const struct g_operand *o)
{
	const struct g_operand s = operand_by_strides(*o);
	const int32_t last[] = { s.shape.h - 1, s.shape.w - 1, s.shape.c - 1 };
	struct g_range r = { .lo = s.offset, .hi = s.offset };
	for (int k = 0; k < 3; k++)
		*(s.stride[k] < 0 ? &r.lo : &r.hi) += last[k] * s.stride[k];
	r.lo *= graph_type_bytes(o->type);
	r.hi = (r.hi + 1) * graph_type_bytes(o->type);
	return r;
}

bool
may_overlap(const struct g_operand *a, const struct g_operand *b)
{
	if (!a->t || a->t != b->t)
		return false;
	struct g_range r = bytes_of(a), q = bytes_of(b);
	return r.lo < q.hi && q.lo < r.hi;
}

/* ---- columns of a product ------------------------------------------------------- */

const struct g_operand *
sum_operand(const struct sum *s, int k)
{
	return k ? &s->add->ifm2 : &s->add->ifm;
}

/* Sets *box to the columns of a product that part p of operand o reads.  False: they are no box. */
static bool
find_box(const struct g_op *product, const struct g_operand *o, struct part p,
	 struct part *box)
{
	/* columns count row by row, from 0 */
	const struct g_operand s = operand_by_strides(*o);
	int64_t c = o->t->hwc.c, y = s.stride[0], x = s.stride[1];
	bool both = p.shape.h > 1 && p.shape.w > 1;
	if (s.stride[2] != 1 || s.offset % c || y % c || x % c ||
	    (both && y != p.shape.w * x))
		return false;
	int64_t first = (s.offset + p.at.h * y + p.at.w * x) / c;
	int64_t step = (p.shape.w > 1 ? x : y) / c;
	int32_t width = product->ofm.shape.w;
	int32_t n = (int32_t)((int64_t)p.shape.h * p.shape.w), w = (int32_t)(first % width);
	box->at = (struct hwc){ .h = (int32_t)(first / width), .w = w };
	if (n == 1 || (step == 1 && w + n <= width))
		box->shape = (struct hwc){ .h = 1, .w = n };
	else if (step == 1 && w == 0 && n % width == 0)
		box->shape = (struct hwc){ .h = n / width, .w = width };
	else if (step == width)
		box->shape = (struct hwc){ .h = n, .w = 1 };
	else
		return false;
	return true;
}

/* The same for operand k of a sum, if the columns are certainly a box. */
static struct part
box_of(const struct sum *s, int k, struct part p)
{
	struct part box;
	bool ok = find_box(s->product[k], sum_operand(s, k), p, &box);
	assert(ok);
	return box;
}

bool
has_product_part(const struct g_op *product, const struct g_operand *o)
{
	struct part box;
	return o->type == o->t->shape.type && o->shape.c == o->t->hwc.c &&
	       find_box(product, o, (struct part){ .shape = o->shape }, &box);
}

/* Adds an operation that computes a box of a product's columns into a new tensor. */
static struct g_op *
product_columns(struct graph *g, const struct g_op *product, struct part box,
		struct hwc shape)
{
	struct g_op *c = graph_copy_g_op(g, product);
	box.shape.c = product->ifm.shape.c;
	c->ifm = low_box(product->ifm, box.shape, box.at);
	box.shape.c = shape.c;
	c->ofm = operand_reshape(graph_add_feature_map(g, product->ofm.type, shape), box.shape);
	return c;
}

/* ---- products for several sums at once ------------------------------------------- */

/* Sets *box to the columns that all sums of the group of s read.  False: they are no box. */
static bool
group_box(const struct sums *l, const struct sum *s, int k, int ahead, struct part *box)
{
	struct hwc lo = { .h = INT32_MAX, .w = INT32_MAX }, hi = { .h = 0 };
	int64_t n = 0;
	for (size_t i = 0; i < 2 * l->n; i++) {
		const struct sum *r = &l->v[i / 2];
		int m = i % 2;
		if (r->product[m] != s->product[k] || r->turn[m] / ahead != s->turn[k] / ahead)
			continue;
		struct part b = box_of(r, m, (struct part){ .shape = sum_operand(r, m)->shape });
		lo.h = b.at.h < lo.h ? b.at.h : lo.h;
		lo.w = b.at.w < lo.w ? b.at.w : lo.w;
		hi.h = b.at.h + b.shape.h > hi.h ? b.at.h + b.shape.h : hi.h;
		hi.w = b.at.w + b.shape.w > hi.w ? b.at.w + b.shape.w : hi.w;
		n += hwc_elements((struct hwc){ .h = b.shape.h, .w = b.shape.w, .c = 1 });
	}
	*box = (struct part){ .at = lo, .shape = { .h = hi.h - lo.h, .w = hi.w - lo.w } };
	return n == (int64_t)box->shape.h * box->shape.w;
}

struct g_op *
product_group(struct graph *g, const struct sums *l, const struct sum *s, int k, int ahead)
{
	const struct g_op *product = s->product[k];
	struct part box;
	if (!group_box(l, s, k, ahead, &box))
		return NULL;
	return product_columns(g, product, box,
			       (struct hwc){ .h = box.shape.h, .w = box.shape.w,
					     .c = product->ofm.shape.c });
}

struct g_operand
group_operand(const struct sums *l, const struct sum *s, int k, int ahead,
	      struct g_tensor *t)
{
	struct hwc all = s->add->ofm.shape;
	struct part group, box = box_of(s, k, (struct part){ .shape = sum_operand(s, k)->shape });
	bool ok = group_box(l, s, k, ahead, &group);
	assert(ok);
	struct hwc at = { .h = box.at.h - group.at.h, .w = box.at.w - group.at.w };
	if (box.shape.h == all.h && box.shape.w == all.w)
		return operand_box(t, all, at);
	/* successive columns of the sum are below each other in the product, or side by side */
	int64_t step = box.shape.w == 1 ? group.shape.w : 1;
	return (struct g_operand){
		.t = t, .view = VIEW_STRIDED, .type = t->shape.type, .shape = all,
		.offset = ((int64_t)at.h * group.shape.w + at.w) * all.c,
		.stride = { all.w * step * all.c, step * all.c, 1 },
	};
}

/* ---- constants ----------------------------------------------------------------- */

/* Returns the place of the record for a part's channels; the place holds NULL until the record
 * is made. */
static void **
constant_at(struct constants *c, const void *of, struct part p)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].of == of && c->v[i].channels.at.c == p.at.c &&
		    c->v[i].channels.shape.c == p.shape.c)
			return &c->v[i].piece;
	agrow(c->a, c->v, c->n, &c->cap);
	c->v[c->n] = (struct constant){ .of = of, .channels = p };
	return &c->v[c->n++].piece;
}

/* Returns the entries for a part's channels; a single entry is for all channels. */
static struct g_list
list_part(const struct g_list *l, struct part p)
{
	return l->n > 1 ? (struct g_list){ .v = l->v + p.at.c, .n = (size_t)p.shape.c } : *l;
}

struct g_op *
product_part(struct constants *c, const struct sum *s, int k, struct part p)
{
	const struct g_op *product = s->product[k];
	struct g_op *op = product_columns(c->g, product, box_of(s, k, p), p.shape);
	const struct g_weights *w = product->weights;
	void **at = constant_at(c, w, p);
	op->weights = *at ? *at : graph_copy_g_weights(c->g, w);
	*at = op->weights;
	const int32_t *d = w->shape.dim;
	int64_t step = w->strides.n ? w->strides.v[0] : (int64_t)d[1] * d[2] * d[3];
	op->weights->shape.dim[0] = p.shape.c;
	G_PUT(op->weights, WEIGHTS, offset, w->offset + p.at.c * step);
	op->weights->zero = list_part(&w->zero, p);
	at = constant_at(c, product->scales, p);
	op->scales = *at ? *at : graph_add_g_scales(c->g);
	*at = op->scales;
	G_PUT(op->scales, SCALES, bias, list_part(&product->scales->bias, p));
	G_PUT(op->scales, SCALES, mult, list_part(&product->scales->mult, p));
	G_PUT(op->scales, SCALES, shift, list_part(&product->scales->shift, p));
	return op;
}
