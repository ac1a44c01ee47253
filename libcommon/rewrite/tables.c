/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables: a convolution looks up the table of the operation behind it, whose OFM has another type
 * of 8 bits than its IFM (nputools-rewrites(7) 12).  The operation goes.
 */
#include "rewrite/rules.h"

#include "graph/build.h"
#include "lower/nd.h"
#include "target/accel.h"

struct lookup {
	struct g_op *conv, *op; /* op adds `by` to each result of conv, and looks the sum up */
	int32_t by;
	struct g_op both; /* replaces them */
};

static struct g_range
clamp_of(const struct g_op *op)
{
	return G_HAS(op, G_OP_clamp) ? op->clamp : type_range(op->ofm.type);
}

/* True if no operation between both, nor the convolution, uses the result: it may be written
 * earlier. */
static bool
is_free(const struct graph *g, const struct lookup *r)
{
	const struct g_tensor *t = r->op->ofm.t;
	for (int i = r->conv->rec.index; i < r->op->rec.index; i++) {
		const struct g_op *op = g->ops[i];
		if (op->ifm.t == t || op->ifm2.t == t || op->ofm.t == t)
			return false;
	}
	return !t->variable && !t->over.n;
}

/* Makes the operation that replaces both.  False: a value would be clamped, or the zero point has no
 * place. */
static bool
join(struct lookup *r)
{
	const struct g_op *op = r->op;
	const struct g_range from = clamp_of(r->conv), to = clamp_of(op);
	const struct g_range zero = type_range(op->ofm.type);
	struct g_op *y = &r->both;
	*y = *r->conv;
	G_PUT(y, OP, ofm_zero, y->ofm_zero + r->by);
	G_PUT(y, OP, clamp, ((struct g_range){ .lo = from.lo + r->by, .hi = from.hi + r->by }));
	op_table(y, op->lut);
	return y->clamp.lo >= to.lo && y->clamp.hi <= to.hi && y->ofm_zero >= zero.lo &&
	       y->ofm_zero <= zero.hi && operand_view(op->ofm, y->ofm.shape, &y->ofm);
}

static bool
has_pattern(const struct graph *g, struct g_op *op, struct lookup *r)
{
	/* the operation looks up its operand, which is a whole tensor, after a change of type */
	if (op->kind != OP_ADD || op->ifm2.t || !exact_is_unscaled(op) || op->act != G_ACT_LUT ||
	    op->scale.mult != 1u << op->scale.shift || !exact_is_bytes(&op->ifm) ||
	    graph_type_bytes(op->ofm.type) != 1)
		return false;
	*r = (struct lookup){ .op = op, .conv = exact_writer(g, op->ifm.t, op) };
	r->by = op->ofm_zero - op->ifm_zero + op->scalar - op->ifm2_zero;
	return r->conv && r->conv->rec.index < op->rec.index && op_has_weights(r->conv->kind) &&
	       r->conv->act == G_ACT_CLAMP && exact_is_bytes(&r->conv->ofm) &&
	       r->conv->node == op->node && is_free(g, r) && join(r);
}

bool
rewrite_tables(struct exact *x)
{
	struct graph *g = x->g;
	if (!x->estimate || !x->l->accel->lut_banks || graph_has_loops(g))
		return true;
	for (size_t i = 0; i < g->n_ops;) {
		struct lookup r = { .op = NULL };
		double saved;
		bool found = has_pattern(g, g->ops[i], &r);
		const struct change c = { .old = { r.conv, r.op }, .now = { &r.both } };
		if (!found || !change_pays(x, &c, 1, &saved)) {
			i++;
			continue;
		}
		const struct g_tensor *t = r.op->ifm.t;
		for (int k = 0; k < r.op->tfl.n; k++) { /* names the operators of both */
			tfls_insert(g, &r.both.tfl, r.both.tfl.n, r.op->tfl.v[k]);
			G_SET(&r.both, G_OP_tfl);
		}
		if (G_HAS(r.op, G_OP_name))
			G_PUT(&r.both, OP, name, r.op->name);
		*r.conv = r.both;
		(void)exact_note(x, r.op, 0, saved, "a convolution looks up the table behind it");
		exact_drop_op(x, r.op);
		exact_drop_tensor(x, t);
	}
	return true;
}
