/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables: a convolution looks up the table of the operation behind it, whose OFM has another type
 * of 8 bits than its IFM (nputools-rewrites(7) 12).  The operation goes.
 */
#include "rewrite/rules.h"

#include "graph/build.h"
#include "lower/nd.h"
#include "target/accel.h"

static struct g_range
clamp_of(const struct g_op *op)
{
	return G_HAS(op, G_OP_clamp) ? op->clamp : type_range(op->ofm.type);
}

/* True if no operation between both, nor the convolution, uses the result: it may be written
 * earlier. */
static bool
is_free(const struct graph *g, const struct g_op *conv, const struct g_op *lookup)
{
	const struct g_tensor *t = lookup->ofm.t;
	for (int i = conv->rec.index; i < lookup->rec.index; i++) {
		const struct g_op *op = g->ops[i];
		if (op->ifm.t == t || op->ifm2.t == t || op->ofm.t == t)
			return false;
	}
	return !t->variable && !t->over.n;
}

bool
rewrite_tables(struct exact *x)
{
	struct graph *g = x->g;
	if (!x->estimate || !x->l->accel->lut_banks || graph_has_loops(g))
		return true;
	for (size_t i = 0; i < g->n_ops; i++) {
		/* looks up its operand, which is a whole tensor, after a change of type */
		struct g_op *op = g->ops[i];
		if (op->kind != OP_ADD || op->ifm2.t || !exact_is_unscaled(op) ||
		    op->act != G_ACT_LUT || op->scale.mult != 1u << op->scale.shift ||
		    !exact_is_bytes(&op->ifm) || graph_type_bytes(op->ofm.type) != 1)
			continue;
		struct g_op *conv = exact_writer(g, op->ifm.t, op);
		if (!conv || conv->rec.index >= op->rec.index || !op_has_weights(conv->kind) ||
		    conv->act != G_ACT_CLAMP || !exact_is_bytes(&conv->ofm) ||
		    conv->node != op->node || !is_free(g, conv, op))
			continue;
		/* replaces both, if no value is clamped, and the zero point has a place */
		const int32_t by = op->ofm_zero - op->ifm_zero + op->scalar - op->ifm2_zero;
		const struct g_range from = clamp_of(conv), to = clamp_of(op);
		const struct g_range zero = type_range(op->ofm.type);
		struct g_op both = *conv;
		G_PUT(&both, OP, ofm_zero, conv->ofm_zero + by);
		const struct g_range moved = { .lo = from.lo + by, .hi = from.hi + by };
		G_PUT(&both, OP, clamp, moved);
		op_table(&both, op->lut);
		const struct change c = { .old = { conv, op }, .now = { &both } };
		double saved;
		if (both.clamp.lo < to.lo || both.clamp.hi > to.hi || both.ofm_zero < zero.lo ||
		    both.ofm_zero > zero.hi || !operand_view(op->ofm, both.ofm.shape, &both.ofm) ||
		    !change_pays(x, &c, 1, &saved))
			continue;
		const struct g_tensor *t = op->ifm.t;
		for (int k = 0; k < op->tfl.n; k++) { /* names the operators of both */
			tfls_insert(g, &both.tfl, both.tfl.n, op->tfl.v[k]);
			G_SET(&both, G_OP_tfl);
		}
		if (G_HAS(op, G_OP_name))
			G_PUT(&both, OP, name, op->name);
		*conv = both;
		(void)exact_note(x, op, 0, saved, "a convolution looks up the table behind it");
		exact_drop_op(x, op);
		exact_drop_tensor(x, t);
		i--; /* the next operation has this position now */
	}
	return true;
}
