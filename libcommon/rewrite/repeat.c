/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repeat: on Ethos-U85, an elementwise operation on few elements is repeated for each of its
 * readers (nputools-rewrites(7) 11).  Each reader then takes its operand from a chain buffer, and
 * does not wait for memory: this takes hundreds of cycles, an operation on one word takes two.
 */
#include "rewrite/rules.h"

#include "graph/build.h"
#include "target/accel.h"

enum { MOST_ELEMENTS = 64, MOST_READERS = 3 };

struct repeated {
	struct g_op *op;
	size_t at; /* its position */
	int n;
	size_t reader[MOST_READERS]; /* positions */
};

/* True if the operation can take t from a chain buffer. */
static bool
can_chain(const struct g_op *op, const struct g_tensor *t)
{
	const struct g_operand *o = op->ifm.t == t ? &op->ifm : &op->ifm2;
	return op_is_elementwise(op->kind) && op->ifm.t != op->ifm2.t && operand_is_whole(o) &&
	       hwc_equal(o->shape, op->ofm.shape);
}

/* True if the operation at position i may be in a chain with the one before it. */
static bool
continues(const struct graph *g, size_t i)
{
	const struct g_op *before = g->ops[i - 1], *op = g->ops[i];
	const struct g_tensor *t = before->ofm.t;
	int readers = 0;
	if (!op_is_elementwise(before->kind) || (op->ifm.t != t && op->ifm2.t != t) ||
	    !can_chain(op, t))
		return false;
	for (size_t k = i; k < g->n_ops; k++)
		readers += g->ops[k]->ifm.t == t || g->ops[k]->ifm2.t == t;
	return readers == 1;
}

/* Finds the readers of the OFM.  False: one of them cannot be in a chain, or gains nothing. */
static bool
find_readers(const struct graph *g, struct repeated *r)
{
	const struct g_tensor *t = r->op->ofm.t;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (op != r->op && op->ofm.t == t)
			return false;
		if (op->ifm.t != t && op->ifm2.t != t)
			continue;
		if (i < r->at || r->n == MOST_READERS || op->node != r->op->node ||
		    !can_chain(op, t))
			return false;
		/*
		 * The reader begins a chain, and the chain has a place for one more operation:
		 * otherwise the last one would wait instead.
		 */
		size_t end = i + 1;
		while (end < g->n_ops && continues(g, end))
			end++;
		if (end - i >= CHAIN_LENGTH || (g->ops[i - 1] != r->op && continues(g, i)))
			return false;
		r->reader[r->n++] = i;
	}
	return r->n > 1;
}

/*
 * True if the operand is in memory anyway, and keeps its elements until the last reader: it is
 * not the result of an elementwise operation that nothing else reads.
 */
static bool
is_in_memory(const struct graph *g, const struct repeated *r, const struct g_tensor *t)
{
	bool chains = false, shared = false;
	if (!t || tensor_is_const(t))
		return true;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (op->ofm.t == t && i > r->at)
			return false;
		chains |= op->ofm.t == t && op_is_elementwise(op->kind);
		shared |= (op->ifm.t == t || op->ifm2.t == t) && op != r->op;
	}
	return (!chains || shared) && !t->variable && !t->over.n;
}

bool
rewrite_repeat(struct exact *x)
{
	const struct g_op *first = NULL;
	int n = 0;
	if (!x->l->accel || x->l->accel->generation != GEN_U85 || graph_has_loops(x->g))
		return true;
	for (size_t i = 0; i < x->g->n_ops; i++) {
		struct repeated r = { .op = x->g->ops[i], .at = i };
		if (!op_is_elementwise(r.op->kind) || !operand_is_whole(&r.op->ofm) ||
		    hwc_elements(r.op->ofm.shape) > MOST_ELEMENTS || !find_readers(x->g, &r) ||
		    !exact_is_inner(x->g, r.op->ofm.t) || !is_in_memory(x->g, &r, r.op->ifm.t) ||
		    !is_in_memory(x->g, &r, r.op->ifm2.t))
			continue;
		/* put a copy of the operation in front of each reader but the first */
		for (int k = r.n - 1; k > 0; k--) {
			struct g_op *reader = x->g->ops[r.reader[k]];
			struct g_op *copy = graph_copy_g_op(x->g, r.op);
			const struct g_tensor *of = r.op->ofm.t;
			struct g_tensor *t = graph_add_feature_map(x->g, of->shape.type, of->hwc);
			copy->ofm = operand_whole(t);
			*(reader->ifm.t == of ? &reader->ifm : &reader->ifm2) = copy->ofm;
			exact_move(x, x->g->n_ops - 1, 1, r.reader[k]);
		}
		exact_move(x, r.at, 1, r.reader[0]); /* the operation moves to its first reader */
		first = first ? first : r.op;
		n += r.n - 1;
		i = 0;
	}
	if (n)
		(void)exact_note(x, first, 0, 0, "%d operation%s on few elements %s repeated for %s",
				 n, n == 1 ? "" : "s", n == 1 ? "is" : "are", "each reader");
	return true;
}
