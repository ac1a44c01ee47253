/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the graph of pieces: sums, their products and their users, in parts. */
#include "split.h"

#include "../network/insert.h"
#include "lower/lower.h"

#include <string.h>

struct splitting {
	struct graph *g;
	struct arena *a;
	const struct sums *l;
	struct split how;
	struct constants constants;
	/* of each sum, by columns, then channels: the piece written last */
	struct piece ***pieces;
	/* of each tensor of the original graph, if it is a product: the part that the last sum
	 * read, or NULL */
	struct g_tensor **group;
	struct order order;
};

/* ---- pieces -------------------------------------------------------------------- */

static int32_t
columns_of(const struct sum *s)
{
	return s->add->ofm.shape.h * s->add->ofm.shape.w;
}

int64_t
count_pieces(const struct sum *s, struct split how)
{
	return (int64_t)s->n_cuts * (how.columns ? columns_of(s) : 1);
}

/* Number of operations, by columns, into which one on a sum is split.  columns_in(): the
 * columns of each. */
static int32_t
count_turns(const struct splitting *x, const struct sum *s)
{
	return x->how.columns ? columns_of(s) : 1;
}

static struct part
columns_in(const struct splitting *x, const struct sum *s, int32_t turn)
{
	struct hwc all = s->add->ofm.shape;
	if (!x->how.columns)
		return (struct part){ .shape = all };
	return (struct part){ .at = { .h = turn / all.w, .w = turn % all.w },
			      .shape = { .h = 1, .w = 1 } };
}

/* The entry of the piece of a sum that begins with a channel. */
static struct piece **
piece_at(const struct splitting *x, const struct sum *s, int32_t turn, int32_t channel)
{
	int k = 0;
	while (s->cut[k] < channel)
		k++;
	return &x->pieces[s - x->l->v][turn * s->n_cuts + k];
}

static struct piece *
open_piece(struct splitting *x, const struct sum *s, struct hwc shape)
{
	return order_add(&x->order, insert_feature_map(x->g, s->add->ofm.type, shape).t);
}

/* Is operand k of a sum made together with those of other sums? */
static bool
is_ahead(const struct splitting *x, const struct sum *s, int k)
{
	return s->shared[k] > 1 && x->how.ahead > 1;
}

/* The operand k that a sum then reads.  t NULL: its product cannot be grouped. */
static struct g_operand
operand_ahead(struct splitting *x, const struct sum *s, int k)
{
	const struct g_operand *o = k ? &s->add->ifm2 : &s->add->ifm;
	struct g_tensor **t = &x->group[s->product[k]->ofm.t->rec.index];
	if (x->how.ahead >= s->shared[k])
		return *o;
	if (s->turn[k] % x->how.ahead == 0) {
		struct g_op *op = product_group(&x->constants, x->l, s, k, x->how.ahead);
		*t = op ? op->ofm.t : NULL;
		if (op)
			order_append(&x->order, op);
	}
	return *t ? group_operand(x->l, s, k, x->how.ahead, *t)
		  : (struct g_operand){ .t = NULL };
}

/* Adds a piece, whose products and sum wait for its use.  ahead: operands made before, or t
 * NULL. */
static void
add_piece(struct splitting *x, const struct sum *s, const struct g_operand ahead[2],
	  int32_t turn, int k)
{
	const struct g_operand *o[] = { &s->add->ifm, &s->add->ifm2 };
	struct part p = columns_in(x, s, turn);
	struct g_operand part[2];
	struct g_op *made[2];
	int n = 0;
	p.depth = (struct g_range){ .lo = s->cut[k], .hi = s->cut[k + 1] };
	p.at.c = s->cut[k];
	p.shape.c = s->cut[k + 1] - s->cut[k];
	for (int i = 0; i < 2; i++) {
		if (ahead[i].t) {
			part[i] = low_box(ahead[i], p.shape, p.at);
			continue;
		}
		struct g_op *op = product_part(&x->constants, s->product[i], o[i], &p);
		part[i] = operand_whole(op->ofm.t);
		made[n++] = op;
	}
	struct piece *q = open_piece(x, s, p.shape);
	for (int i = 0; i < n; i++)
		order_wait(&x->order, q, made[i]);
	*piece_at(x, s, turn, s->cut[k]) = q;
	struct g_op *add = copy_op(x->g, s->add);
	add->ifm = part[0];
	add->ifm2 = part[1];
	add->ofm = operand_whole(q->t);
	order_append(&x->order, add);
}

static void
add_pieces(struct splitting *x, const struct sum *s)
{
	struct g_operand ahead[2] = { { .t = NULL }, { .t = NULL } };
	for (int k = 0; k < 2; k++)
		if (is_ahead(x, s, k))
			ahead[k] = operand_ahead(x, s, k);
	for (int32_t i = 0; i < count_turns(x, s); i++)
		for (int k = 0; k < s->n_cuts; k++)
			add_piece(x, s, ahead, i, k);
}

/* ---- users of pieces -------------------------------------------------------------- */

static const struct sum *
sum_of(const struct splitting *x, const struct g_operand *o)
{
	int t = o->t ? o->t->rec.index : -1;
	int s = t >= 0 && (size_t)t < x->order.n_tensors ? x->l->of[t] : -1;
	return s < 0 ? NULL : &x->l->v[s];
}

static struct g_operand
use_part(const struct splitting *x, const struct g_operand *o, int32_t turn,
	 const struct part *p)
{
	const struct sum *s = sum_of(x, o);
	int32_t lo = (int32_t)p->depth.lo;
	if (!o->t)
		return *o;
	if (s)
		return operand_whole((*piece_at(x, s, turn, o->start.c + lo))->t);
	struct hwc at = p->at, shape = p->shape;
	at.c = lo;
	shape.c = (int32_t)p->depth.hi - lo;
	return low_box(*o, shape, at);
}

/* Makes a new piece for channels that are written and not read: meanwhile, the bytes of the old
 * piece are free. */
static void
renew_piece(struct splitting *x, const struct g_op *op, struct g_op *c, int32_t turn,
	    const struct part *p)
{
	const struct sum *s = sum_of(x, &op->ofm);
	if (!s || c->ifm.t == c->ofm.t || c->ifm2.t == c->ofm.t)
		return;
	struct piece *q = open_piece(x, s, c->ofm.shape);
	*piece_at(x, s, turn, op->ofm.start.c + (int32_t)p->depth.lo) = q;
	c->ofm = operand_whole(q->t);
}

/* Adds op in parts, one for each piece of a sum that it uses. */
static void
append_parts(struct splitting *x, const struct g_op *op, const struct g_operand *by)
{
	const struct sum *s = sum_of(x, by);
	int32_t first = by->start.c, end = first + by->shape.c;
	for (int32_t i = 0; i < count_turns(x, s); i++)
		for (int k = 0; k < s->n_cuts; k++) {
			if (s->cut[k] < first || s->cut[k] >= end)
				continue;
			struct part p = columns_in(x, s, i);
			p.depth = (struct g_range){ .lo = s->cut[k] - first,
						    .hi = s->cut[k + 1] - first };
			struct g_op *c = copy_op(x->g, op);
			c->ifm = use_part(x, &op->ifm, i, &p);
			c->ifm2 = use_part(x, &op->ifm2, i, &p);
			c->ofm = use_part(x, &op->ofm, i, &p);
			renew_piece(x, op, c, i, &p);
			order_append(&x->order, c);
		}
}

static void
append_op(struct splitting *x, struct g_op *op)
{
	const struct g_operand *o[] = { &op->ofm, &op->ifm, &op->ifm2 };
	const struct sum *s = sum_of(x, &op->ofm);
	if (s && s->add == op) {
		add_pieces(x, s);
		return;
	}
	for (int k = 0; k < 3; k++)
		if (sum_of(x, o[k])) {
			append_parts(x, op, o[k]);
			return;
		}
	order_append(&x->order, op);
}

/* ---- the graph ------------------------------------------------------------------ */

static void
open_pieces(struct splitting *x)
{
	x->pieces = anew(x->a, struct piece **, x->l->n + 1);
	x->group = anew(x->a, struct g_tensor *, x->order.n_tensors + 1);
	for (size_t i = 0; i < x->l->n; i++) {
		size_t n = (size_t)count_pieces(&x->l->v[i], x->how);
		x->pieces[i] = anew(x->a, struct piece *, n);
	}
}

/* Marks products that are made in parts and not used as a whole. */
static bool *
find_replaced(const struct splitting *x)
{
	const struct graph *g = x->g;
	bool *replaced = anew(x->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < x->l->n; i++)
		for (int k = 0; k < 2; k++)
			replaced[x->l->v[i].product[k]->ofm.t->rec.index] =
			    !is_ahead(x, &x->l->v[i], k) ||
			    x->how.ahead < x->l->v[i].shared[k];
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		const struct sum *s = sum_of(x, &op->ofm);
		if (s && s->add == op)
			continue;
		if (op->ifm.t)
			replaced[op->ifm.t->rec.index] = false;
		if (op->ifm2.t)
			replaced[op->ifm2.t->rec.index] = false;
	}
	return replaced;
}

/* Removes records from the graph that no operation uses any longer. */
#define DROP_UNUSED(x, array, used)                                             \
	do {                                                                    \
		size_t kept_ = 0;                                               \
		for (size_t i_ = 0; i_ < (x)->g->n_##array; i_++) {             \
			if (!(used)[i_])                                        \
				continue;                                       \
			(x)->g->array[kept_] = (x)->g->array[i_];               \
			(x)->g->array[kept_]->rec.index = (int)kept_;           \
			kept_++;                                                \
		}                                                               \
		(x)->g->n_##array = kept_;                                      \
	} while (0)

static void
drop_unused(struct splitting *x)
{
	struct graph *g = x->g;
	bool *tensor = anew(x->a, bool, g->n_tensors + 1);
	bool *weights = anew(x->a, bool, g->n_weights + 1);
	bool *scales = anew(x->a, bool, g->n_scales + 1);
	memset(tensor, true, g->n_tensors);
	memset(weights, true, g->n_weights);
	memset(scales, true, g->n_scales);
	for (size_t i = 0; i < x->l->n; i++) {
		const struct sum *s = &x->l->v[i];
		tensor[s->add->ofm.t->rec.index] = false;
		for (int k = 0; k < 2; k++) {
			tensor[s->product[k]->ofm.t->rec.index] = false;
			weights[s->product[k]->weights->rec.index] = false;
			scales[s->product[k]->scales->rec.index] = false;
		}
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		tensor[op->ofm.t->rec.index] = true;
		if (op->weights)
			weights[op->weights->rec.index] = true;
		if (op->scales)
			scales[op->scales->rec.index] = true;
	}
	DROP_UNUSED(x, tensors, tensor);
	DROP_UNUSED(x, weights, weights);
	DROP_UNUSED(x, scales, scales);
}

void
split_sums(struct graph *g, struct arena *a, const struct sums *l, struct split how)
{
	struct splitting x = { .g = g, .a = a, .l = l, .how = how,
			       .constants = { .g = g, .a = a },
			       .order = { .a = a, .n_tensors = g->n_tensors } };
	size_t n = g->n_ops;
	struct g_op **op = anew(a, struct g_op *, n + 1);
	memcpy(op, g->ops, n * sizeof(struct g_op *));
	open_pieces(&x);
	const bool *replaced = find_replaced(&x);
	for (size_t i = 0; i < n; i++) {
		if (i && op[i]->node != op[i - 1]->node)
			order_end(&x.order);
		if (!replaced[op[i]->ofm.t->rec.index])
			append_op(&x, op[i]);
	}
	order_end(&x.order);
	memcpy(g->ops, x.order.out.v, x.order.out.n * sizeof(struct g_op *));
	g->n_ops = x.order.out.n;
	for (size_t i = 0; i < g->n_ops; i++)
		g->ops[i]->rec.index = (int)i;
	drop_unused(&x);
}
