/* SPDX-License-Identifier: Apache-2.0 */
/* Splits sums, their products and their users into pieces. */
#include "rewrite/split.h"

#include "graph/facts.h"
#include "lower/lower.h"

#include <string.h>

struct splitting {
	struct graph *g;
	struct arena *a;
	struct sums l;
	struct split how;
	size_t n_tensors; /* of the original graph */
	struct constants constants;
	/* for each sum: its pieces, by turn, then channels; a piece is replaced when its channels
	 * are overwritten */
	struct piece ***pieces;
	/* for each tensor of the original graph that is a product: the result of product_group()
	 * for the current group of sums, or NULL */
	struct g_tensor **group;
	struct order order;
};

/* ---- pieces -------------------------------------------------------------------- */

/* Returns the number of turns of a sum.  A turn computes all columns; with how.columns, a turn
 * computes one column. */
static int32_t
count_turns(const struct sum *s, struct split how)
{
	return how.columns ? s->add->ofm.shape.h * s->add->ofm.shape.w : 1;
}

int64_t
count_pieces(const struct sum *s, struct split how)
{
	return (int64_t)s->n_cuts * count_turns(s, how);
}

/* Returns the part of a sum in one turn between cuts k and k + 1.  Its channels are relative to
 * channel `first`. */
static struct part
part_of(const struct splitting *x, const struct sum *s, int32_t turn, int k, int32_t first)
{
	struct hwc all = s->add->ofm.shape;
	struct part p = { .shape = all };
	if (x->how.columns)
		p = (struct part){ .at = { .h = turn / all.w, .w = turn % all.w },
				   .shape = { .h = 1, .w = 1 } };
	p.at.c = s->cut[k] - first;
	p.shape.c = s->cut[k + 1] - s->cut[k];
	return p;
}

/* Returns the entry for the piece of a sum that begins at this channel. */
static struct piece **
piece_at(const struct splitting *x, const struct sum *s, int32_t turn, int32_t channel)
{
	int k = 0;
	while (s->cut[k] < channel)
		k++;
	return &x->pieces[s - x->l.v][turn * s->n_cuts + k];
}

static struct piece *
open_piece(struct splitting *x, const struct sum *s, struct hwc shape)
{
	return order_add(&x->order, graph_add_feature_map(x->g, s->add->ofm.type, shape));
}

/* True if operand k of a sum is computed together with the operands of other sums. */
static bool
is_ahead(const struct splitting *x, const struct sum *s, int k)
{
	return s->shared[k] > 1 && x->how.ahead > 1;
}

/* Returns operand k of a sum if it is computed ahead; t is NULL: it is computed in pieces. */
static struct g_operand
operand_ahead(struct splitting *x, const struct sum *s, int k)
{
	struct g_tensor **t = &x->group[s->product[k]->ofm.t->rec.index];
	if (!is_ahead(x, s, k))
		return (struct g_operand){ .t = NULL };
	if (x->how.ahead >= s->shared[k])
		return *sum_operand(s, k);
	if (s->turn[k] % x->how.ahead == 0) {
		struct g_op *op = product_group(x->g, &x->l, s, k, x->how.ahead);
		*t = op ? op->ofm.t : NULL;
		if (op)
			order_append(&x->order, op);
	}
	return *t ? group_operand(&x->l, s, k, x->how.ahead, *t)
		  : (struct g_operand){ .t = NULL };
}

/* Adds a piece.  Its products and its sum wait until the piece is used.  ahead: the results of
 * operand_ahead(). */
static void
add_piece(struct splitting *x, const struct sum *s, const struct g_operand ahead[2],
	  int32_t turn, int k)
{
	struct part p = part_of(x, s, turn, k, 0);
	struct g_operand in[2];
	struct g_op *made[2] = { NULL, NULL };
	for (int i = 0; i < 2; i++) {
		if (!ahead[i].t)
			made[i] = product_part(&x->constants, s, i, p);
		in[i] = made[i] ? operand_whole(made[i]->ofm.t)
				: low_box(ahead[i], p.shape, p.at);
	}
	struct piece *q = open_piece(x, s, p.shape);
	for (int i = 0; i < 2; i++)
		if (made[i])
			order_wait(&x->order, q, made[i]);
	*piece_at(x, s, turn, s->cut[k]) = q;
	struct g_op *add = graph_copy_g_op(x->g, s->add);
	add->ifm = in[0];
	add->ifm2 = in[1];
	add->ofm = operand_whole(q->t);
	order_append(&x->order, add);
}

/* ---- users of pieces -------------------------------------------------------------- */

/* Returns the sum that is an operand of the original graph; NULL: none. */
static const struct sum *
sum_of(const struct splitting *x, const struct g_operand *o)
{
	bool old = o->t && (size_t)o->t->rec.index < x->n_tensors;
	int s = old ? x->l.of[o->t->rec.index] : -1;
	return s < 0 ? NULL : &x->l.v[s];
}

static struct g_operand
use_part(const struct splitting *x, const struct g_operand *o, int32_t turn, struct part p)
{
	const struct sum *s = sum_of(x, o);
	if (!o->t)
		return *o;
	if (s)
		return operand_whole((*piece_at(x, s, turn, o->start.c + p.at.c))->t);
	return low_box(*o, p.shape, p.at);
}

/* Adds op in parts, one for each piece of the sum in operand `by`. */
static void
append_parts(struct splitting *x, const struct g_op *op, const struct g_operand *by)
{
	const struct sum *s = sum_of(x, by), *made = sum_of(x, &op->ofm);
	int32_t first = by->start.c, end = first + by->shape.c;
	for (int32_t i = 0; i < count_turns(s, x->how); i++)
		for (int k = 0; k < s->n_cuts; k++) {
			if (s->cut[k] < first || s->cut[k] >= end)
				continue;
			struct part p = part_of(x, s, i, k, first);
			struct g_op *c = graph_copy_g_op(x->g, op);
			c->ifm = use_part(x, &op->ifm, i, p);
			c->ifm2 = use_part(x, &op->ifm2, i, p);
			c->ofm = use_part(x, &op->ofm, i, p);
			/* Channels that are written and not read get a new piece: meanwhile,
			 * the bytes of the old piece are free. */
			if (made && c->ifm.t != c->ofm.t && c->ifm2.t != c->ofm.t) {
				struct piece *q = open_piece(x, made, c->ofm.shape);
				*piece_at(x, made, i, op->ofm.start.c + p.at.c) = q;
				c->ofm = operand_whole(q->t);
			}
			order_append(&x->order, c);
		}
}

/* ---- the graph ------------------------------------------------------------------ */

static bool *
all_true(struct arena *a, size_t n)
{
	bool *v = anew(a, bool, n + 1);
	memset(v, true, n);
	return v;
}

struct graph *
rewrite_sums(struct arena *a, const struct graph *from, struct split how)
{
	struct graph *g = graph_copy(a, from);
	struct splitting x = { .g = g, .a = a, .l = sums_find(a, g), .how = how,
			       .n_tensors = g->n_tensors,
			       .constants = { .g = g, .a = a }, .order = { .a = a } };
	x.pieces = anew(a, struct piece **, x.l.n + 1);
	x.group = anew(a, struct g_tensor *, x.n_tensors + 1);
	for (size_t i = 0; i < x.l.n; i++)
		x.pieces[i] = anew(a, struct piece *, (size_t)count_pieces(&x.l.v[i], how));
	/* mark products that only exist in parts, because no operation reads the whole product */
	bool *replaced = anew(a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < x.l.n; i++)
		for (int k = 0; k < 2; k++)
			replaced[x.l.v[i].product[k]->ofm.t->rec.index] =
			    !is_ahead(&x, &x.l.v[i], k) || how.ahead < x.l.v[i].shared[k];
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		const struct sum *s = sum_of(&x, &op->ofm);
		const struct g_tensor *t[] = { op->ifm.t, op->ifm2.t };
		for (int k = 0; k < 2 && !(s && s->add == op); k++)
			if (t[k])
				replaced[t[k]->rec.index] = false;
	}
	for (size_t i = 0; i < from->n_ops; i++) {
		struct g_op *op = g->ops[i]; /* new operations follow the old ones */
		if (i && op->node != g->ops[i - 1]->node)
			order_end(&x.order);
		if (replaced[op->ofm.t->rec.index])
			continue;
		const struct g_operand *o[] = { &op->ofm, &op->ifm, &op->ifm2 };
		const struct sum *s = sum_of(&x, &op->ofm);
		int first = 0; /* the first operand that is a sum */
		while (first < 3 && !sum_of(&x, o[first]))
			first++;
		if (s && s->add == op) {
			struct g_operand ahead[2];
			for (int k = 0; k < 2; k++)
				ahead[k] = operand_ahead(&x, s, k);
			for (int32_t turn = 0; turn < count_turns(s, how); turn++)
				for (int k = 0; k < s->n_cuts; k++)
					add_piece(&x, s, ahead, turn, k);
		} else if (first < 3) {
			append_parts(&x, op, o[first]);
		} else {
			order_append(&x.order, op);
		}
	}
	order_end(&x.order);
	/* replace the operations, and drop tensors, weights and scales that only old ones use */
	const struct ops *out = &x.order.out;
	bool *tensors = all_true(a, g->n_tensors), *weights = all_true(a, g->n_weights);
	bool *scales = all_true(a, g->n_scales);
	for (int now = 0; now < 2; now++) {
		struct g_op *const *v = now ? out->v : g->ops;
		for (size_t i = 0; i < (now ? out->n : g->n_ops); i++) {
			tensors[v[i]->ofm.t->rec.index] = now;
			if (v[i]->weights)
				weights[v[i]->weights->rec.index] = now;
			if (v[i]->scales)
				scales[v[i]->scales->rec.index] = now;
		}
	}
	graph_set_ops(g, out->v, out->n);
	graph_keep_g_tensor(g, tensors);
	graph_keep_g_weights(g, weights);
	graph_keep_g_scales(g, scales);
	return g;
}
