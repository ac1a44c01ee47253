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

static struct g_operand *
input_operand(struct g_op *op, int k)
{
	return k ? &op->ifm2 : &op->ifm;
}

static bool
is_candidate(const struct g_operand *o)
{
	return o->t && tensor_is_const(o->t) && o->type == o->t->shape.type &&
	       hwc_elements(o->shape) > 1;
}

/* Counts the elements that the operations of a node read of each constant. */
static void
count_reads(struct constant_reads *c, size_t from, size_t end)
{
	struct graph *g = c->s->g;
	for (size_t i = from; i < end; i++)
		for (int k = 0; k < 2 && op_is_elementwise(g->ops[i]->kind); k++) {
			struct g_operand *o = input_operand(g->ops[i], k);
			if (is_candidate(o))
				c->reads[o->t->rec.index] += hwc_elements(g->ops[i]->ofm.shape);
		}
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

/* Inserts a copy of t in front of g->ops[at]. */
static struct g_tensor *
make_copy(struct graph *g, size_t at, struct g_tensor *t)
{
	struct g_operand from = operand_whole(t);
	struct g_operand to =
		operand_whole(graph_add_feature_map(g, t->shape.type, t->hwc));
	(void)insert_copy(g, at, g->ops[at], from, to);
	return to.t;
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
	count_reads(c, from, end);
	for (size_t i = from; i < end + added; i++) {
		struct g_op *op = g->ops[i];
		for (int k = 0; k < 2 && op_is_elementwise(op->kind); k++) {
			struct g_operand *o = input_operand(op, k);
			int t = o->t ? o->t->rec.index : -1;
			if (!is_candidate(o) || c->reads[t] < WORTH_A_COPY * hwc_elements(o->t->hwc))
				continue;
			if (!c->copy[t]) {
				c->copy[t] = make_copy(g, find_chain_start(c->s, from, i++), o->t);
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
