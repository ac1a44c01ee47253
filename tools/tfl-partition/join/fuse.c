/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuses a separate table or clamp into the output stage of the operations that make
 * its input, if nobody else reads that input: nputools-lowering(7) 6.1, 6.2.
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "graph/build.h"
#include "graph/facts.h"

static bool
is_whole_view(const struct g_operand *o)
{
	return o->view == VIEW_WHOLE || o->view == VIEW_RESHAPE;
}

/* makes the writers of t write to ofm instead */
static bool
redirect(const struct g_tensor *t, struct g_op **writer, size_t n,
	 struct g_operand ofm)
{
	struct g_operand view = ofm;
	if (n == 1 && is_whole_view(&writer[0]->ofm) &&
	    ((ofm.view == VIEW_BOX && hwc_equal(ofm.shape, writer[0]->ofm.shape)) ||
	     operand_view(ofm, writer[0]->ofm.shape, &view))) {
		writer[0]->ofm = view;
		return true;
	}
	if (ofm.view != VIEW_WHOLE || !hwc_equal(ofm.t->hwc, t->hwc))
		return false;
	for (size_t i = 0; i < n; i++)
		writer[i]->ofm.t = ofm.t;
	return true;
}

bool
fuse(struct part *p, int tensor, struct g_operand ofm, struct g_lut *lut,
     struct g_range clamp)
{
	struct g_operand x = p->value[tensor];
	if (!x.t || tensor_is_const(x.t) || !is_whole_view(&x) ||
	    x.type != x.t->shape.type || ofm.type != x.type)
		return false;
	/* every tensor of the model that is stored there is read once, and inside its region */
	for (int i = 0; i < p->sg->n_tensors; i++)
		if (p->value[i].t == x.t && (p->uses[i] != 1 || p->crosses[i]))
			return false;
	/* every operation that writes it can take the table or clamp, and none reads it */
	struct g_op **writer = anew(p->a, struct g_op *, p->g->n_ops + 1);
	size_t n = 0, kept = 0;
	for (size_t i = 0; i < p->g->n_ops; i++) {
		struct g_op *op = p->g->ops[i];
		if (op->ifm.t == x.t || op->ifm2.t == x.t)
			return false;
		if (op->ofm.t != x.t)
			continue;
		if (op->node != p->l->node || op->act != G_ACT_CLAMP ||
		    op->ofm.type != x.t->shape.type ||
		    !(lut ? op_can_look_up(op->kind) : op_can_clamp(op->kind)))
			return false;
		writer[n++] = op;
	}
	if (!n || !redirect(x.t, writer, n, ofm))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct g_range *r = &writer[i]->clamp;
		/* the operation also computes the current operator */
		tfls_insert(p->g, &writer[i]->tfl, writer[i]->tfl.n,
			    (struct g_tfl){ .index = p->l->op_i });
		G_PUT(writer[i], OP, name, p->l->name);
		if (lut) {
			op_table(writer[i], lut);
			continue;
		}
		/* disjoint ranges: everything becomes the nearer bound of `clamp` */
		r->lo = clamp_i64(r->lo, clamp.lo, clamp.hi);
		r->hi = clamp_i64(r->hi, clamp.lo, clamp.hi);
	}
	for (size_t i = 0; i < p->g->n_tensors; i++)
		if (p->g->tensors[i] != x.t) {
			p->g->tensors[i]->rec.index = (int)kept;
			p->g->tensors[kept++] = p->g->tensors[i];
		}
	p->g->n_tensors = kept;
	for (int i = 0; i < p->sg->n_tensors; i++)
		if (p->value[i].t == x.t)
			p->value[i] = ofm;
	return true;
}
