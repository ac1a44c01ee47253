/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the parts of pieces: parts of products, of weights and of scales. */
#include "split.h"

#include "../network/insert.h"
#include "lower/lower.h"

#include <assert.h>
#include <string.h>

struct g_op *
copy_op(struct graph *g, const struct g_op *op)
{
	struct g_op *c = graph_add_g_op(g);
	int id = c->rec.id, index = c->rec.index;
	*c = *op;
	c->rec.id = id;
	c->rec.index = index;
	c->rec.before = c->rec.after = NULL;
	return c;
}

/* ---- strides ------------------------------------------------------------------- */

/* The offset of the first element, and the steps to the next row, column and channel. */
struct spacing {
	int64_t first, row, column, channel;
};

/* In elements of the operand's type, in linear memory. */
static struct spacing
spacing_of(const struct g_operand *o)
{
	if (o->view == VIEW_STRIDED)
		return (struct spacing){ .first = o->offset, .row = o->stride[0],
					 .column = o->stride[1], .channel = o->stride[2] };
	struct hwc all = o->view == VIEW_RESHAPE ? o->shape : o->t->hwc;
	struct spacing s = { .row = (int64_t)all.w * all.c, .column = all.c, .channel = 1 };
	if (o->view == VIEW_BOX)
		s.first = o->start.h * s.row + o->start.w * s.column + o->start.c;
	return s;
}

bool
may_overlap(const struct g_operand *a, const struct g_operand *b)
{
	const struct g_operand *o[] = { a, b };
	struct g_range r[2];
	if (!a->t || a->t != b->t)
		return false;
	for (int i = 0; i < 2; i++) {
		struct spacing s = spacing_of(o[i]);
		int64_t step[] = { (o[i]->shape.h - 1) * s.row, (o[i]->shape.w - 1) * s.column,
				   (o[i]->shape.c - 1) * s.channel };
		r[i] = (struct g_range){ .lo = s.first, .hi = s.first };
		for (int k = 0; k < 3; k++)
			*(step[k] < 0 ? &r[i].lo : &r[i].hi) += step[k];
		r[i].lo *= graph_type_bytes(o[i]->type);
		r[i].hi = (r[i].hi + 1) * graph_type_bytes(o[i]->type);
	}
	return r[0].lo < r[1].hi && r[1].lo < r[0].hi;
}

/* ---- columns of a product ------------------------------------------------------- */

/* Columns of a product that columns of a sum read: numbers, counted row by row. */
struct rows {
	int64_t first, step, n;
};

static bool
rows_of(const struct g_operand *o, const struct part *p, struct rows *r)
{
	struct spacing s = spacing_of(o);
	int64_t c = o->t->hwc.c;
	bool both = p->shape.h > 1 && p->shape.w > 1;
	if (s.channel != 1 || s.first % c || s.row % c || s.column % c ||
	    (both && s.row != p->shape.w * s.column))
		return false;
	*r = (struct rows){ .first = (s.first + p->at.h * s.row + p->at.w * s.column) / c,
			    .step = (p->shape.w > 1 ? s.column : s.row) / c,
			    .n = (int64_t)p->shape.h * p->shape.w };
	return true;
}

/* The same as a box of the product's columns.  False: these are no box. */
static bool
box_of(const struct rows *r, int32_t width, struct hwc *start, struct hwc *shape)
{
	int32_t n = (int32_t)r->n, w = (int32_t)(r->first % width);
	*start = (struct hwc){ .h = (int32_t)(r->first / width), .w = w };
	if (n == 1 || (r->step == 1 && w + n <= width))
		*shape = (struct hwc){ .h = 1, .w = n };
	else if (r->step == 1 && w == 0 && n % width == 0)
		*shape = (struct hwc){ .h = n / width, .w = width };
	else if (r->step == width)
		*shape = (struct hwc){ .h = n, .w = 1 };
	else
		return false;
	return true;
}

bool
has_product_part(const struct g_op *product, const struct g_operand *o)
{
	struct part all = { .shape = o->shape };
	struct hwc start, shape;
	struct rows r;
	return o->type == o->t->shape.type && o->shape.c == o->t->hwc.c &&
	       rows_of(o, &all, &r) && box_of(&r, product->ofm.shape.w, &start, &shape);
}

/* ---- products for several sums at once ------------------------------------------- */

static const struct g_operand *
operand_of(const struct sum *s, int k)
{
	return k ? &s->add->ifm2 : &s->add->ifm;
}

/* The box of a product's columns that operand k of a sum reads. */
static void
sum_box(const struct sum *s, int k, struct hwc *start, struct hwc *shape)
{
	const struct part all = { .shape = operand_of(s, k)->shape };
	struct rows r;
	bool ok = rows_of(operand_of(s, k), &all, &r) &&
		  box_of(&r, s->product[k]->ofm.shape.w, start, shape);
	assert(ok);
}

/* The box of a product's columns that all sums of one group read.  False: these are no box. */
static bool
group_box(const struct sums *l, const struct sum *s, int k, int ahead, struct hwc *start,
	  struct hwc *shape)
{
	struct hwc lo = { .h = INT32_MAX, .w = INT32_MAX }, hi = { .h = 0 };
	int64_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct sum *r = &l->v[i];
		for (int m = 0; m < 2; m++) {
			struct hwc at, size;
			if (r->product[m] != s->product[k] ||
			    r->turn[m] / ahead != s->turn[k] / ahead)
				continue;
			sum_box(r, m, &at, &size);
			lo = (struct hwc){ .h = at.h < lo.h ? at.h : lo.h,
					   .w = at.w < lo.w ? at.w : lo.w };
			hi.h = at.h + size.h > hi.h ? at.h + size.h : hi.h;
			hi.w = at.w + size.w > hi.w ? at.w + size.w : hi.w;
			n += (int64_t)size.h * size.w;
		}
	}
	*start = lo;
	*shape = (struct hwc){ .h = hi.h - lo.h, .w = hi.w - lo.w };
	return n == (int64_t)shape->h * shape->w;
}

struct g_op *
product_group(struct constants *k, const struct sums *l, const struct sum *s, int operand,
	      int ahead)
{
	const struct g_op *product = s->product[operand];
	struct hwc start, shape;
	if (!group_box(l, s, operand, ahead, &start, &shape))
		return NULL;
	struct g_op *c = copy_op(k->g, product);
	shape.c = product->ifm.shape.c;
	c->ifm = low_box(product->ifm, shape, start);
	shape.c = product->ofm.shape.c;
	c->ofm = insert_feature_map(k->g, product->ofm.type, shape);
	return c;
}

struct g_operand
group_operand(const struct sums *l, const struct sum *s, int operand, int ahead,
	      struct g_tensor *t)
{
	struct hwc start, shape, at, box, all = s->add->ofm.shape;
	bool ok = group_box(l, s, operand, ahead, &start, &shape);
	assert(ok);
	sum_box(s, operand, &at, &box);
	at = (struct hwc){ .h = at.h - start.h, .w = at.w - start.w };
	if (box.h == all.h && box.w == all.w)
		return operand_box(t, all, at);
	/* the columns of a sum go down a column of the product, or along its rows */
	int64_t step = box.w == 1 ? shape.w : 1;
	struct g_operand o = { .t = t, .view = VIEW_STRIDED, .type = t->shape.type,
			       .shape = all };
	o.offset = ((int64_t)at.h * shape.w + at.w) * all.c;
	o.stride[0] = all.w * step * all.c;
	o.stride[1] = step * all.c;
	o.stride[2] = 1;
	return o;
}

/* ---- constants ----------------------------------------------------------------- */

static void **
constant_at(struct constants *k, const void *of, int64_t lo)
{
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].of == of && k->v[i].lo == lo)
			return &k->v[i].piece;
	agrow(k->a, k->v, k->n, &k->cap);
	k->v[k->n] = (struct constant){ .of = of, .lo = lo };
	return &k->v[k->n++].piece;
}

/* Entries r of a list by channels; a single entry for all channels stays. */
static struct g_list
list_part(const struct g_list *l, struct g_range r)
{
	return l->n > 1 ? (struct g_list){ .v = l->v + r.lo, .n = (size_t)(r.hi - r.lo) } : *l;
}

static struct g_weights *
weights_part(struct constants *k, const struct g_weights *w, struct g_range depth)
{
	void **at = constant_at(k, w, depth.lo);
	struct g_weights *p = *at;
	if (p)
		return p;
	p = graph_add_g_weights(k->g);
	struct g_rec rec = p->rec;
	const int32_t *d = w->shape.dim;
	int64_t step = w->strides.n ? w->strides.v[0] : (int64_t)d[1] * d[2] * d[3];
	*p = *w;
	p->rec.id = rec.id;
	p->rec.index = rec.index;
	p->rec.before = p->rec.after = NULL;
	p->shape.dim[0] = (int32_t)(depth.hi - depth.lo);
	G_PUT(p, WEIGHTS, offset, w->offset + depth.lo * step);
	p->zero = list_part(&w->zero, depth);
	*at = p;
	return p;
}

static struct g_scales *
scales_part(struct constants *k, const struct g_scales *s, struct g_range depth)
{
	void **at = constant_at(k, s, depth.lo);
	struct g_scales *p = *at;
	if (p)
		return p;
	p = graph_add_g_scales(k->g);
	G_PUT(p, SCALES, bias, list_part(&s->bias, depth));
	G_PUT(p, SCALES, mult, list_part(&s->mult, depth));
	G_PUT(p, SCALES, shift, list_part(&s->shift, depth));
	*at = p;
	return p;
}

struct g_op *
product_part(struct constants *k, const struct g_op *product, const struct g_operand *o,
	     const struct part *p)
{
	struct hwc start, shape, whole = p->shape;
	struct rows r;
	bool ok = rows_of(o, p, &r) && box_of(&r, product->ofm.shape.w, &start, &shape);
	assert(ok);
	struct g_op *c = copy_op(k->g, product);
	shape.c = product->ifm.shape.c;
	c->ifm = low_box(product->ifm, shape, start);
	whole.c = shape.c = (int32_t)(p->depth.hi - p->depth.lo);
	c->ofm = operand_reshape(insert_feature_map(k->g, product->ofm.type, whole).t, shape);
	c->weights = weights_part(k, product->weights, p->depth);
	c->scales = scales_part(k, product->scales, p->depth);
	return c;
}
