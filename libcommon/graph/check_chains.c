/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks chains of U85 (ethosu-commands(7) 29): elementwise operations that take the
 * result of the kernel before them block by block, without a feature map in memory.
 */
#include "graph/check.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "target/accel.h"
#include "target/generation.h"

const struct g_operand *
op_chained_operand(const struct g_op *op)
{
	return op->chain == CHAIN_IFM ? &op->ifm : op->chain == CHAIN_IFM2 ? &op->ifm2 : NULL;
}

const struct g_step *
step_next_in_chain(const struct graph *g, const struct g_step *s)
{
	size_t next = (size_t)s->rec.index + 1;
	if (!s->op || next >= g->n_steps || !g->steps[next]->op)
		return NULL;
	return g->steps[next]->op->chain ? g->steps[next] : NULL;
}

/* True if one operation writes t and only `reader` reads it. */
static bool
is_between(const struct graph *g, const struct g_tensor *t, const struct g_op *reader)
{
	int writers = 0;
	bool others = tensor_is_const(t) || t->variable || G_HAS(t, G_TENSOR_io) ||
		      (reader->ifm.t == reader->ifm2.t);
	for (size_t i = 0; i < g->n_ops && !others; i++) {
		const struct g_op *op = g->ops[i];
		writers += op->ofm.t == t;
		others = op != reader && (op->ifm.t == t || op->ifm2.t == t);
	}
	for (size_t i = 0; i < g->n_nodes && !others; i++)
		others = tensors_have(&g->nodes[i]->in, t) ||
			 tensors_have(&g->nodes[i]->out, t);
	return !others && writers == 1;
}

static bool
meets(const struct g_tensor *written, int area, int64_t at, int64_t bytes)
{
	return written->area == area &&
	       spans_overlap(written->at, tensor_bytes(written), at, bytes);
}

/* True if a chain's result overlaps memory that one of its kernels reads. */
static bool
overwrites(const struct g_step *s, const struct g_tensor *out)
{
	const struct g_operand *o[2] = { &s->op->ifm, &s->op->ifm2 };
	const struct g_buffer *b = s->buffer ? s->buffer : s->scale_buffer;
	for (int i = 0; i < 2; i++)
		if (o[i]->t && o[i] != op_chained_operand(s->op) && !tensor_is_const(o[i]->t) &&
		    meets(out, o[i]->t->area, o[i]->t->at, tensor_bytes(o[i]->t)))
			return true;
	return b && meets(out, b->area, b->at, b->bytes);
}

static const char overwriting[] = "the result of a chain overlaps an operand of its "
				  "kernels";

const char *
chain_ops_fault(const struct g_op *const *ops, int n)
{
	const struct g_op *op = ops[n - 1], *lead = ops[0];
	int operands = 0;
	if (!op_is_elementwise(op->kind) || op_has_table(op))
		return "only elementwise operations without tables can continue a "
		       "chain";
	/* the results of the first kernel leave the output stage in order, all channels at once */
	const bool leads = op_is_elementwise(lead->kind) || op_has_weights(lead->kind) ||
			   lead->kind == OP_MAXPOOL || lead->kind == OP_AVGPOOL;
	if (!leads || (lead->weights && lead->weights->slices.n > 2) || lead->node != op->node)
		return "a chain needs whole operations of one node";
	/* the chained operand is exactly the result of the operation before */
	const struct g_operand *in = op_chained_operand(op), *out = &ops[n - 2]->ofm;
	if (!in || in->t != out->t || in->type != out->type || in->view != out->view ||
	    (in->view != VIEW_WHOLE && in->view != VIEW_RESHAPE) ||
	    !hwc_equal(in->shape, out->shape) || !hwc_equal(op->ofm.shape, lead->ofm.shape) ||
	    !hwc_equal(op->block, lead->block))
		return "the operation differs from its chain in extents, type or block";
	if (n > CHAIN_LENGTH)
		return "a chain can have at most four kernels";
	for (int i = 0; i < n; i++) {
		const struct g_operand *chained = op_chained_operand(ops[i]);
		const struct g_operand *ifm = &ops[i]->ifm, *ifm2 = &ops[i]->ifm2;
		operands += (chained != ifm) + (ifm2->t && chained != ifm2); /* in memory */
		if (i < n - 1 && ((ifm->t == op->ofm.t && chained != ifm) ||
				  (ifm2->t == op->ofm.t && chained != ifm2)))
			return overwriting;
	}
	return operands > CHAIN_READS ? "a chain can have at most three operands in "
					"memory" : NULL;
}

/* Checks the steps from first to last as one chain. */
static const char *
steps_fault(const struct graph *g, const struct g_step *first, const struct g_step *last)
{
	const struct g_op *op[CHAIN_LENGTH + 1];
	int n = 0;
	for (int i = first->rec.index; i <= last->rec.index && n <= CHAIN_LENGTH; i++) {
		if (G_HAS(g->steps[i], G_STEP_rows))
			return "a chain needs whole operations of one node";
		op[n++] = g->steps[i]->op;
	}
	const char *why = chain_ops_fault(op, n);
	if (why)
		return why;
	if (!is_between(g, op_chained_operand(last->op)->t, last->op))
		return "only one operation can read a chained tensor";
	for (int i = first->rec.index; i < last->rec.index && !step_next_in_chain(g, last); i++)
		if (overwrites(g->steps[i], last->op->ofm.t))
			return overwriting;
	return NULL;
}

bool
check_chain_of(struct check *c, const struct g_step *s)
{
	const struct graph *g = c->g;
	const struct accel *a = g->n_targets ? accel_find(g->targets[0]->rec.word) : NULL;
	if (!s->op || !s->op->chain)
		return true;
	if (a && accel_lacks(a, LACK_CHAINS))
		return BAD(c, s->op, "o%d: chain=, but %s has no chains", s->op->rec.id,
			   a->name);
	int i = s->rec.index, first = i - 1;
	while (first > 0 && g->steps[first]->op && g->steps[first]->op->chain)
		first--;
	if (i == 0 || !g->steps[i - 1]->op || !g->steps[first]->op)
		return BAD(c, s, "p%d: nothing runs before it that o%d could be chained to",
			   s->rec.id, s->op->rec.id);
	const char *why = steps_fault(g, g->steps[first], s);
	return !why || BAD(c, s, "p%d: %s", s->rec.id, why);
}
