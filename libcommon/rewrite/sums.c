/* SPDX-License-Identifier: Apache-2.0 */
/* Finds sums of two products whose users read ranges of channels. */
#include "rewrite/split.h"

#include "graph/facts.h"

#include <stdlib.h>
#include <string.h>

struct finder {
	struct arena *a;
	const struct graph *g;
	bool *inner; /* for each tensor: only operations of one node access the tensor */
	/* for each tensor: number of writes, last writer, first operation that accesses it */
	int *writes, *writer, *first;
	struct sums l;
	bool *bad; /* for each sum: true if the sum cannot be split */
	bool **cut; /* for each sum, for channels 0 to all of them: a piece begins or ends here */
};

/* bits of g_rec.has */
#define BIT(key) ((uint64_t)1 << G_##key)

/* ---- products and their sums -------------------------------------------------- */

/* True if the graph has no decision of a scheduler about the operation. */
static bool
is_undecided(const struct g_op *op)
{
	const uint64_t decided = BIT(OP_block) | BIT(OP_ib) | BIT(OP_ab) | BIT(OP_ib2) |
				 BIT(OP_blockdep) | BIT(OP_traversal) | BIT(OP_sparse) |
				 BIT(OP_fast);
	return !(op->rec.has & decided);
}

/* Returns the product that computes an operand of operation `at`; NULL: none. */
static struct g_op *
product_of(const struct finder *f, const struct g_operand *o, int at)
{
	const uint64_t decided = BIT(WEIGHTS_slices) | BIT(WEIGHTS_bytes) | BIT(WEIGHTS_at);
	int t = o->t ? o->t->rec.index : -1;
	if (t < 0 || !f->inner[t] || f->writes[t] != 1)
		return NULL;
	const int product = f->writer[t];
	struct g_op *p = f->g->ops[product];
	const struct hwc in = p->ifm.shape, out = p->ofm.shape;
	if (f->first[t] >= at || p->node != f->g->ops[at]->node || p->kind != OP_FC ||
	    node_repeats(p->node) || !is_undecided(p) || !p->weights ||
	    (p->weights->rec.has & decided) || !p->scales ||
	    (p->ofm.view != VIEW_WHOLE && p->ofm.view != VIEW_RESHAPE) ||
	    p->ofm.type != p->ofm.t->shape.type || out.c != p->ofm.t->hwc.c || in.h != out.h ||
	    in.w != out.w || !has_product_part(p, o))
		return NULL;
	for (int i = product + 1; i < at; i++) /* the IFM is unchanged when operation `at` runs */
		if (may_overlap(&p->ifm, &f->g->ops[i]->ofm))
			return NULL;
	return p;
}

/* ---- users of sums ----------------------------------------------------------------- */

/* Returns the index of the sum that is an operand; -1: none. */
static int
sum_of(const struct finder *f, const struct g_operand *o)
{
	int s = o->t ? f->l.of[o->t->rec.index] : -1;
	return s >= 0 && !f->bad[s] ? s : -1;
}

/* True if an operand takes all columns of the sum, in the sum's type, and has the shape of the
 * result. */
static bool
is_use(const struct sum *s, const struct g_op *op, const struct g_operand *o)
{
	struct hwc all = s->add->ofm.shape, is = o->shape;
	return (o->view == VIEW_WHOLE || o->view == VIEW_BOX) &&
	       o->type == s->add->ofm.type && !o->start.h && !o->start.w && is.h == all.h &&
	       is.w == all.w && hwc_equal(is, op->ofm.shape);
}

/* If op cannot be split, marks all sums that op uses as bad.  False: a sum was marked, so that
 * all operations must be checked again. */
static bool
drop_bad(struct finder *f, const struct g_op *op)
{
	const struct g_operand *o[] = { &op->ofm, &op->ifm, &op->ifm2 }, *first = NULL;
	int s = sum_of(f, &op->ofm);
	if (s >= 0 && f->l.v[s].add == op)
		return true;
	bool ok = op_is_elementwise(op->kind) && is_undecided(op);
	for (int k = 0; ok && k < 3; k++) {
		int own = sum_of(f, o[k]);
		ok = !o[k]->t || hwc_equal(o[k]->shape, op->ofm.shape);
		if (!ok || own < 0)
			continue;
		ok = is_use(&f->l.v[own], op, o[k]) && f->l.v[own].add->node == op->node;
		first = first ? first : o[k];
		/* the cuts of operands that are sums are at the same channels of the operands */
		ok = ok && !memcmp(f->cut[sum_of(f, first)] + first->start.c,
				   f->cut[own] + o[k]->start.c, (size_t)o[k]->shape.c + 1);
		/* no part of op reads channels that another part of op has written */
		int32_t by = op->ofm.start.c - o[k]->start.c;
		ok = ok && (o[k]->t != op->ofm.t || by == 0 || abs(by) >= o[k]->shape.c);
	}
	bool none = true;
	for (int k = 0; !ok && k < 3; k++) {
		s = sum_of(f, o[k]);
		if (s >= 0)
			f->bad[s] = true;
		none &= s < 0;
	}
	return none;
}

/* Finds which tensors belong to one node, and which operations access each tensor. */
static void
find_touches(struct finder *f)
{
	const struct graph *g = f->g;
	const size_t n = g->n_tensors + 1;
	const uint64_t decided = BIT(TENSOR_io) | BIT(TENSOR_layout) | BIT(TENSOR_area) |
				 BIT(TENSOR_at) | BIT(TENSOR_rows) | BIT(TENSOR_over);
	f->inner = anew(f->a, bool, n);
	f->writes = anew(f->a, int, n);
	f->writer = anew(f->a, int, n);
	f->first = anew(f->a, int, n);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		f->inner[i] = !tensor_is_const(t) && !t->variable && !(t->rec.has & decided);
		f->first[i] = -1;
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_tensors *l[] = { &g->nodes[i]->in, &g->nodes[i]->out };
		for (int k = 0; k < 2; k++)
			for (size_t j = 0; j < l[k]->n; j++)
				f->inner[l[k]->v[j]->rec.index] = false;
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		const struct g_tensor *t[] = { op->ifm.t, op->ifm2.t, op->ofm.t };
		for (int k = 0; k < 3; k++)
			if (t[k] && f->first[t[k]->rec.index] < 0)
				f->first[t[k]->rec.index] = (int)i;
		f->writes[op->ofm.t->rec.index]++;
		f->writer[op->ofm.t->rec.index] = (int)i;
	}
}

/* Keeps the sums that can be split and have more than one piece; counts the sums of each product. */
static void
keep_sums(struct finder *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->l.n; i++) {
		struct sum s = f->l.v[i];
		s.n_cuts = -1;
		s.cut = anew(f->a, int32_t, (size_t)s.add->ofm.shape.c + 1);
		for (int32_t c = 0; c <= s.add->ofm.shape.c; c++)
			if (f->cut[i][c])
				s.cut[++s.n_cuts] = c;
		const bool keep = !f->bad[i] && s.n_cuts > 1;
		f->l.of[s.add->ofm.t->rec.index] = keep ? (int)kept : -1;
		if (keep)
			f->l.v[kept++] = s;
	}
	f->l.n = kept;
	int *reads = anew(f->a, int, f->g->n_tensors + 1); /* of each product, by sums */
	for (size_t i = 0; i < 2 * kept; i++) {
		struct sum *s = &f->l.v[i / 2];
		s->turn[i % 2] = reads[s->product[i % 2]->ofm.t->rec.index]++;
	}
	for (size_t i = 0; i < 2 * kept; i++) {
		struct sum *s = &f->l.v[i / 2];
		s->shared[i % 2] = reads[s->product[i % 2]->ofm.t->rec.index];
	}
}

struct sums
sums_find(struct arena *a, const struct graph *g)
{
	struct finder f = { .a = a, .g = g };
	find_touches(&f);
	f.l.of = anew(a, int, g->n_tensors + 1);
	f.l.v = anew(a, struct sum, g->n_ops + 1);
	f.bad = anew(a, bool, g->n_ops + 1);
	f.cut = anew(a, bool *, g->n_ops + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		f.l.of[i] = -1;
	for (size_t i = 0; i < g->n_ops && !g->n_steps; i++) {
		struct g_op *op = g->ops[i];
		const int at = (int)i, t = op->ofm.t->rec.index;
		if (op->kind != OP_ADD || !op->ifm2.t || op->ofm.view != VIEW_WHOLE ||
		    op->ofm.type != op->ofm.t->shape.type || !f.inner[t] || f.first[t] != at ||
		    !is_undecided(op) || !hwc_equal(op->ifm2.shape, op->ofm.shape))
			continue;
		struct sum s = { .add = op, .product = { product_of(&f, &op->ifm, at),
							 product_of(&f, &op->ifm2, at) } };
		if (!s.product[0] || !s.product[1] || s.product[0] == s.product[1])
			continue;
		bool *cut = f.cut[f.l.n] = anew(a, bool, (size_t)op->ofm.shape.c + 1);
		cut[0] = cut[op->ofm.shape.c] = true;
		f.l.of[t] = (int)f.l.n;
		f.l.v[f.l.n++] = s;
	}
	/* a user cuts a sum where its channels begin and end */
	for (size_t i = 0; i < g->n_ops && f.l.n; i++) {
		const struct g_op *op = g->ops[i];
		const struct g_operand *o[] = { &op->ofm, &op->ifm, &op->ifm2 };
		for (int k = 0; k < 3; k++) {
			int s = sum_of(&f, o[k]);
			if (s < 0 || f.l.v[s].add == op || !is_use(&f.l.v[s], op, o[k]))
				continue;
			f.cut[s][o[k]->start.c] = true;
			f.cut[s][o[k]->start.c + o[k]->shape.c] = true;
		}
	}
	for (bool again = f.l.n > 0; again;) {
		again = false;
		for (size_t i = 0; i < g->n_ops; i++)
			again |= !drop_bad(&f, g->ops[i]);
	}
	keep_sums(&f);
	return f.l;
}
