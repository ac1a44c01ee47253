/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces: an elementwise operation whose second operand was put together from channels, by
 * copies of whole maps and by fills with one value, works on the pieces instead
 * (nputools-rewrites(7) 9).  The copies and fills go.  BlazeFace's PAD of channels in front of
 * an ADD is the common case.
 */
#include "rewrite/rules.h"

#include "graph/build.h"

enum { MOST_PIECES = 8 };

struct piece {
	struct g_op *op;      /* writes the channels: a copy or a fill */
	int32_t first, depth; /* channels of the map */
	bool filled;	      /* with op->clamp.lo */
};

struct whole {
	struct g_op *old; /* the elementwise operation */
	struct g_op op;	  /* the same, with the map of pieces as IFM2 */
	size_t at;	 /* its position */
	struct piece piece[MOST_PIECES];
	int n;
	struct g_op part[MOST_PIECES]; /* the operation on each piece */
};

/* ---- the pattern --------------------------------------------------------------- */

/*
 * True if the operation writes channels of its OFM's tensor, for all pixels: one element of each
 * channel from p->first on.
 */
static bool
is_piece(struct g_op *op, struct piece *p)
{
	const struct g_tensor *from = op->ifm.t, *to = op->ofm.t;
	const struct hwc t = to->hwc;
	struct g_op open = *op;
	open.clamp = type_range(op->ofm.type);
	if (!op_only_moves(&open) || op->ofm.type != to->shape.type)
		return false;
	const struct g_operand s = operand_by_strides(op->ofm);
	*p = (struct piece){ .op = op, .filled = op->clamp.lo == op->clamp.hi,
			     .first = (int32_t)(s.offset % t.c), .depth = s.shape.c };
	bool rows = s.shape.h == 1 || s.stride[0] == (int64_t)s.shape.w * t.c;
	if (s.offset >= t.c || s.offset + s.shape.c > t.c || !rows ||
	    (int64_t)s.shape.h * s.shape.w != (int64_t)t.h * t.w ||
	    (s.shape.w != 1 && s.stride[1] != t.c) || (s.shape.c != 1 && s.stride[2] != 1))
		return false;
	return p->filled ||
	       (op_only_moves(op) && op->ifm.type == from->shape.type && !tensor_is_const(from) &&
		operand_is_contiguous(&op->ifm) && from->hwc.h == to->hwc.h &&
		from->hwc.w == to->hwc.w && from->hwc.c == p->depth);
}

/* ---- the condition ------------------------------------------------------------- */

/* True if no operation changes the tensor from position `from` to position `to`. */
static bool
is_kept(const struct graph *g, const struct g_tensor *t, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (g->ops[i]->ofm.t == t)
			return false;
	return !t->variable && !t->over.n;
}

/*
 * Exchanges the operands.  False: the result would not be the same.  A sum scales either operand
 * alike (ethosu-commands(7) 6.10).
 */
static bool
swap(struct whole *w)
{
	struct g_op *op = &w->op;
	const struct g_op old = *op;
	bool one = G_HAS(op, G_OP_opa) && op->scaled != SCALED_BOTH;
	if (op->kind != OP_ADD || op->reversed || !(one || exact_is_unscaled(op)))
		return false;
	op->ifm = old.ifm2;
	op->ifm2 = old.ifm;
	op->ifm_zero = old.ifm2_zero;
	op->ifm2_zero = old.ifm_zero;
	if (one)
		op->scaled = old.scaled == SCALED_A ? SCALED_B : SCALED_A;
	w->n = 0;
	return true;
}

/* True if the new piece shares a channel with an earlier one. */
static bool
overlaps(const struct whole *w, const struct piece *p)
{
	for (int k = 0; k < w->n; k++)
		if (p->first < w->piece[k].first + w->piece[k].depth &&
		    w->piece[k].first < p->first + p->depth)
			return true;
	return false;
}

/* Finds the pieces of IFM2: all writers before the operation, the nearest first. */
static bool
find_pieces(const struct graph *g, struct whole *w)
{
	const struct g_tensor *t = w->op.ifm2.t;
	int32_t depth = 0;
	for (size_t i = w->at; i-- > 0 && depth < t->hwc.c;) {
		struct g_op *op = g->ops[i];
		struct piece p;
		if (op->ofm.t != t)
			continue;
		if (w->n == MOST_PIECES || op->node != w->op.node || !is_piece(op, &p) ||
		    overlaps(w, &p) || (!p.filled && !is_kept(g, op->ifm.t, i, w->at)))
			return false;
		depth += p.depth;
		w->piece[w->n++] = p;
	}
	return w->n > 1 && depth == t->hwc.c;
}

/* ---- the replacement ----------------------------------------------------------- */

static struct g_operand
box_of(const struct g_operand *o, const struct piece *p)
{
	struct hwc shape = o->shape;
	shape.c = p->depth;
	return operand_box(o->t, shape, (struct hwc){ .c = p->first });
}

bool
rewrite_pieces(struct exact *x)
{
	struct graph *g = x->g;
	for (size_t i = 0; x->estimate && !graph_has_loops(g) && i < g->n_ops;) {
		double saved;
		struct whole w = { .old = g->ops[i], .op = *g->ops[i], .at = i };
		struct change c = { .old = { w.old } };
		const struct g_operand *ifm = &w.old->ifm, *ifm2 = &w.old->ifm2, *ofm = &w.old->ofm;
		bool found = op_is_binary(w.old->kind) && ifm->t && ifm2->t && ifm->t != ifm2->t &&
			     operand_is_whole(ifm) && operand_is_whole(ifm2) &&
			     operand_is_whole(ofm) && hwc_equal(ifm->shape, ofm->shape) &&
			     hwc_equal(ifm2->shape, ofm->shape) &&
			     (find_pieces(g, &w) || (swap(&w) && find_pieces(g, &w)));
		/* nothing but the pieces and the operation has to do with IFM2 */
		const struct g_tensor *t = w.op.ifm2.t;
		int writers = 0;
		for (size_t k = 0; found && k < g->n_ops; k++) {
			const struct g_op *op = g->ops[k];
			found = op == w.old || (op->ifm.t != t && op->ifm2.t != t);
			writers += op->ofm.t == t;
		}
		found = found && writers == w.n && exact_is_inner(g, t);
		for (int k = 0; found && k < w.n; k++) {
			const struct piece *p = &w.piece[k];
			struct g_op *part = &w.part[k];
			*part = w.op;
			part->ifm = box_of(&w.op.ifm, p);
			part->ofm = box_of(&w.op.ofm, p);
			if (p->filled) {
				part->ifm2 = (struct g_operand){ .t = NULL };
				G_CLEAR(part, G_OP_ifm2);
				G_PUT(part, OP, scalar, (int32_t)p->op->clamp.lo);
			} else {
				part->ifm2 = operand_whole(p->op->ifm.t);
			}
			c.old[k + 1] = p->op;
			c.now[k] = part;
		}
		if (!found || !change_pays(x, &c, 1, &saved)) {
			i++;
			continue;
		}
		(void)exact_note(x, w.old, 0, saved,
				 "an operation on a map of %d channels works on its %d pieces",
				 w.op.ofm.shape.c, w.n);
		/* the parts take the place of the operation; the pieces and their tensor go */
		size_t first = g->n_ops;
		for (int k = 0; k < w.n; k++) {
			struct g_op *op = graph_copy_g_op(g, w.old);
			struct g_rec rec = op->rec;
			rec.has = w.part[k].rec.has;
			*op = w.part[k];
			op->rec = rec;
		}
		exact_move(x, first, (size_t)w.n, w.at);
		for (int k = 0; k < w.n; k++)
			exact_drop_op(x, w.piece[k].op);
		exact_drop_op(x, w.old);
		exact_drop_tensor(x, t);
		i -= (size_t)w.n; /* the pieces were before it */
	}
	return true;
}
