/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes channels that no operation needs (nputools-rewrites(7) 3).
 *
 * A convolution does not need a channel of its IFM if the channel has one value, whose products
 * the bias can include, or if all weights for the channel are zero.  A channelwise operation ties
 * the channels of its operands to those of its OFM: all tied channels stay, or none.  A set of tied
 * channels is removed if no operation needs one of them.
 */
#include "rewrite/prune.h"

#include "base/fixed.h"
#include "emit/emit.h"

/* ---- sets of tied channels -------------------------------------------------------- */

static int32_t
root_of(struct pruner *p, int32_t c)
{
	while (p->tied[c] != c) {
		p->tied[c] = p->tied[p->tied[c]];
		c = p->tied[c];
	}
	return c;
}

int
prune_group(const struct pruner *p, const struct g_tensor *t)
{
	int i = t->rec.index;
	while (p->group[i] != i)
		i = p->group[i];
	return i;
}

void
prune_need(struct pruner *p, int32_t c)
{
	p->needed[root_of(p, c)] = true;
}

bool
prune_keeps(struct pruner *p, int32_t c)
{
	return p->needed[root_of(p, c)];
}

int32_t
prune_channel(const struct pruner *p, const struct g_operand *o, struct lanes l, int32_t k)
{
	return p->base[o->t->rec.index] + l.first + k % l.n;
}

static void
need_tensor(struct pruner *p, const struct g_tensor *t)
{
	for (int32_t c = 0; c < t->hwc.c; c++)
		prune_need(p, p->base[t->rec.index] + c);
}

int32_t
prune_count(struct pruner *p, int32_t first, int32_t n)
{
	int32_t kept = 0;
	for (int32_t c = first; c < first + n; c++)
		kept += prune_keeps(p, c);
	return kept;
}

int32_t
prune_count_tensor(struct pruner *p, const struct g_tensor *t)
{
	return prune_count(p, p->base[t->rec.index], t->hwc.c);
}

bool *
prune_kept(struct pruner *p, const struct g_operand *o, int32_t *n)
{
	struct lanes l;
	bool *kept = anew(p->a, bool, (size_t)o->shape.c);
	bool has_lanes = lanes_of(o, &l);
	*n = 0;
	for (int32_t k = 0; k < o->shape.c; k++) {
		kept[k] = !has_lanes || prune_keeps(p, prune_channel(p, o, l, k));
		*n += kept[k];
	}
	return kept;
}

void
prune_view(struct pruner *p, struct g_operand *o)
{
	struct lanes l;
	if (!lanes_of(o, &l))
		return;
	int32_t base = p->base[o->t->rec.index], old = o->t->hwc.c;
	int32_t first = prune_count(p, base, l.first);
	int32_t n = prune_count(p, base + l.first, l.n);
	int32_t all = prune_count(p, base, old);
	if (all == old)
		return;
	o->start.c = o->view == VIEW_BOX ? first : 0;
	o->shape.c = o->shape.c / l.n * n;
	if (o->view == VIEW_STRIDED) {
		o->offset = o->offset / old * all + first;
		o->stride[0] = o->stride[0] / old * all;
		o->stride[1] = o->stride[1] / old * all;
	}
}

/* ---- what operations need ---------------------------------------------------------- */

static bool
can_edit(const struct pruner *p, const struct g_op *op)
{
	return op_has_weights(op->kind) && p->users[op->weights->rec.index] == 1;
}

/* True if all weights of an IFM channel are zero, for the OFM channels that stay. */
static bool
is_ignored(struct pruner *p, const struct g_op *op, const struct weights_view *w, int32_t i)
{
	struct lanes ofm;
	bool has_lanes = lanes_of(&op->ofm, &ofm);
	for (int32_t o = 0; o < op->ofm.shape.c; o++)
		for (int32_t y = 0; y < op->kernel.y; y++)
			for (int32_t x = 0; x < op->kernel.x; x++)
				if (weights_value(w, o, y, x, i) &&
				    (!has_lanes || prune_keeps(p, prune_channel(p, &op->ofm, ofm, o))))
					return false;
	return true;
}

/* Ties the channels of an operand to those of the OFM. */
static void
tie_operand(struct pruner *p, const struct g_op *op, const struct g_operand *o)
{
	struct lanes l, ofm;
	if (!o->t || tensor_is_const(o->t))
		return;
	if (!lanes_of(o, &l) || !lanes_of(&op->ofm, &ofm) || l.n != o->shape.c ||
	    ofm.n != op->ofm.shape.c || l.n != ofm.n) {
		need_tensor(p, o->t);
		need_tensor(p, op->ofm.t);
		return;
	}
	for (int32_t k = 0; k < ofm.n; k++) {
		int32_t a = root_of(p, prune_channel(p, o, l, k));
		int32_t b = root_of(p, prune_channel(p, &op->ofm, ofm, k));
		p->tied[max_i32(a, b)] = min_i32(a, b);
		p->needed[min_i32(a, b)] |= p->needed[max_i32(a, b)];
	}
	int x = prune_group(p, o->t), y = prune_group(p, op->ofm.t);
	p->group[x > y ? x : y] = x > y ? y : x;
}

/* Ties channels, and marks those that stay in any case. */
static void
visit(struct pruner *p, const struct g_op *op)
{
	struct lanes ifm, ofm;
	bool product = op->kind == OP_CONV || op->kind == OP_FC;
	bool fixed = !lanes_of(&op->ofm, &ofm) || ofm.n != op->ofm.shape.c || op->chain ||
		     (op_has_weights(op->kind) && (!can_edit(p, op) || op->ifm2.t)) ||
		     (product && !lanes_of(&op->ifm, &ifm)) ||
		     !(product || op_is_channelwise(op));
	for (int k = 1; !fixed && k < 3; k++) { /* constants that have no channels to choose from */
		const struct g_operand *o = operand_ofm_first(op, k);
		fixed = o->t && tensor_is_const(o->t) && o->shape.c != 1 && !operand_is_whole(o);
	}
	if (fixed) {
		need_tensor(p, op->ofm.t);
		need_tensor(p, op->ifm.t);
		if (op->ifm2.t)
			need_tensor(p, op->ifm2.t);
		return;
	}
	if (product)
		return;
	tie_operand(p, op, &op->ifm);
	/* the channel of an operand that is broadcast stays */
	if (op->ifm2.t && op->ifm2.shape.c == 1 && op->ofm.shape.c > 1)
		need_tensor(p, op->ifm2.t);
	else
		tie_operand(p, op, &op->ifm2);
}

/* ---- the channels that stay --------------------------------------------------------- */

/*
 * Adds channels that convolutions need of their IFM, and those that fill segments, until there are
 * none.
 */
static bool
complete(struct pruner *p)
{
	struct graph *g = p->g;
	for (bool again = true; again;) {
		again = false;
		for (size_t i = g->n_ops; i-- > 0;) {
			const struct g_op *op = g->ops[i];
			struct lanes l;
			struct weights_view w;
			if ((op->kind != OP_CONV && op->kind != OP_FC) || !can_edit(p, op) ||
			    !lanes_of(&op->ifm, &l))
				continue;
			if (!emit_weights_view(p->a, g, op->weights, &w, p->x->e))
				return false;
			for (int32_t k = 0; k < op->ifm.shape.c; k++) {
				int32_t c = prune_channel(p, &op->ifm, l, k);
				struct interval v =
				    p->values.of[op->ifm.t->rec.index][l.first + k % l.n];
				/* can the bias include the products of the channel's only value? */
				bool folds = v.lo == v.hi && p->values.fits[op->rec.index] &&
					     (v.lo == op->ifm_zero || op_has_full_windows(op));
				if (prune_keeps(p, c) || folds || is_ignored(p, op, &w, k))
					continue;
				prune_need(p, c);
				again = true;
			}
		}
		for (size_t i = 0; i < g->n_tensors && !again; i++)
			again |= prune_fill(p, g->tensors[i]);
	}
	return true;
}

bool
rewrite_channels(struct exact *x)
{
	struct pruner p = { .x = x, .a = x->a, .g = x->g };
	struct graph *g = x->g;
	if (graph_has_loops(g) || g->n_steps)
		return true;
	if (!intervals_find(p.a, g, &p.values, x->e))
		return false;
	p.base = anew(p.a, int32_t, g->n_tensors + 1);
	p.users = anew(p.a, int, g->n_weights + 1);
	p.group = anew(p.a, int, g->n_tensors + 1);
	p.grain = anew(p.a, int32_t, g->n_tensors + 1);
	p.bricks = anew(p.a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++) {
		p.base[i] = p.n;
		p.group[i] = (int)i;
		p.bricks[i] = !G_HAS(g->tensors[i], G_TENSOR_io) && !tensor_is_const(g->tensors[i]);
		p.grain[i] = x->estimate ? 1 : GRAIN_OF_ALL;
		p.n += g->tensors[i]->hwc.c;
	}
	size_t n = (size_t)p.n + 1;
	p.tied = anew(p.a, int32_t, n);
	p.needed = anew(p.a, bool, n);
	p.cut = anew(p.a, bool, n);
	for (int32_t c = 0; c < p.n; c++)
		p.tied[c] = c;
	for (size_t i = 0; i < g->n_ops; i++)
		if (g->ops[i]->weights)
			p.users[g->ops[i]->weights->rec.index]++;
	/* Tensors that others see, and those whose shape is not that of their memory, stay. */
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		int rank = t->shape.rank;
		bool plain = rank > 0 && t->shape.dim[rank - 1] == t->hwc.c;
		if (G_HAS(t, G_TENSOR_io) || t->variable || t->over.n || tensor_is_const(t) ||
		    tensor_has_strides(t) || !plain)
			need_tensor(&p, t);
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_tensors *l[] = { &g->nodes[i]->in, &g->nodes[i]->out };
		for (int k = 0; k < 2; k++)
			for (size_t j = 0; j < l[k]->n; j++)
				need_tensor(&p, l[k]->v[j]);
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		visit(&p, g->ops[i]);
		/* where the channels of operands begin and end, and whether the views are linear */
		for (int k = 0; k < 3; k++) {
			const struct g_operand *o = operand_ofm_first(g->ops[i], k);
			struct lanes l;
			if (!o->t)
				continue;
			if (o->view == VIEW_STRIDED || o->view == VIEW_RESHAPE ||
			    o->type != o->t->shape.type)
				p.bricks[o->t->rec.index] = false;
			if (!lanes_of(o, &l))
				continue;
			bool *cut = p.cut + p.base[o->t->rec.index];
			cut[l.first] = true;
			if (l.first + l.n < o->t->hwc.c)
				cut[l.first + l.n] = true;
		}
	}
	/* the least set of channels that contains all that these channels need */
	if (!complete(&p))
		return false;
	if (x->estimate) {
		prune_choose(&p);
		if (!complete(&p))
			return false;
	}
	return !prune_note(&p) || prune_graph(&p);
}
