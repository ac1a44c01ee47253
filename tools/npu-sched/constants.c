/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies constant operands that are read again and again, as a row of factors for every pixel.
 * If constants are in slow memory, they are copied to fast memory first, once for all
 * operations of a node.
 */
#include "costs/costs.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "network/insert.h"
#include "passes.h"
#include "target/accel.h"

#include <string.h>

/* elements of results for each element of the constant */
enum { WORTH_A_COPY = 4 };

struct constant_reads {
	struct sched *s;
	int64_t *reads; /* of each tensor: elements read by a node */
	struct g_tensor **copy; /* of each tensor: its copy in the present node, or NULL */
};

/* Input k of an elementwise operation if it is a constant that may be copied; else NULL. */
static struct g_operand *
candidate(struct g_op *op, int k)
{
	struct g_operand *o = k ? &op->ifm2 : &op->ifm;
	const bool is_one = o->t && tensor_is_const(o->t) && o->type == o->t->shape.type &&
			    hwc_elements(o->shape) > 1;
	return is_one && op_is_elementwise(op->kind) ? o : NULL;
}

/* Where the possible chain of g->ops[at] begins: its operations stay together. */
static size_t
find_chain_start(const struct sched *s, size_t from, size_t at)
{
	struct g_op *const *ops = s->g->ops;
	size_t least = at - from < CHAIN_LENGTH ? from : at - CHAIN_LENGTH + 1;
	while (!accel_lacks(s->accel, LACK_CHAINS) && at > least &&
	       op_is_elementwise(ops[at]->kind) &&
	       (ops[at]->ifm.t == ops[at - 1]->ofm.t || ops[at]->ifm2.t == ops[at - 1]->ofm.t))
		at--;
	return at;
}

/* Copies constants of operations from..end of one node; returns the number of operations
 * added. */
static size_t
copy_constants(struct constant_reads *c, size_t from, size_t end, size_t n_tensors)
{
	struct graph *g = c->s->g;
	size_t added = 0;
	memset(c->reads, 0, n_tensors * sizeof(*c->reads));
	memset(c->copy, 0, n_tensors * sizeof(struct g_tensor *));
	for (size_t i = from; i < end; i++) /* the elements read of each constant */
		for (int k = 0; k < 2; k++) {
			const struct g_operand *o = candidate(g->ops[i], k);
			if (o)
				c->reads[o->t->rec.index] += hwc_elements(g->ops[i]->ofm.shape);
		}
	for (size_t i = from; i < end + added; i++) {
		struct g_op *op = g->ops[i];
		for (int k = 0; k < 2; k++) {
			struct g_operand *o = candidate(op, k);
			int t = o ? o->t->rec.index : -1;
			if (!o || c->reads[t] < WORTH_A_COPY * hwc_elements(o->t->hwc))
				continue;
			if (!c->copy[t]) {
				const size_t at = find_chain_start(c->s, from, i++);
				c->copy[t] = graph_add_feature_map(g, o->t->shape.type, o->t->hwc);
				const struct g_operand to = operand_whole(c->copy[t]);
				(void)insert_copy(g, at, g->ops[at], operand_whole(o->t), to);
				added++;
			}
			o->t = c->copy[t];
		}
	}
	return added;
}

bool
fetch_constants(struct sched *s)
{
	struct graph *g = s->g;
	size_t n = g->n_tensors;
	if (!weights_move(s) || g->n_steps)
		return true;
	struct constant_reads c = { .s = s };
	c.reads = anew(s->a, int64_t, n + 1);
	c.copy = anew(s->a, struct g_tensor *, n + 1);
	for (size_t from = 0, end; from < g->n_ops; from = end) {
		for (end = from; end < g->n_ops && g->ops[end]->node == g->ops[from]->node;)
			end++;
		end += copy_constants(&c, from, end, n);
	}
	return true;
}
