/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds sparse weights: those with two zeros in each four input channels, which take half the
 * cycles on U85 (ethosu-weights(7) 23).  Weights of one or two input channels always are
 * sparse, others if the network was pruned so.
 */
#include "passes.h"

#include "base/fixed.h"
#include "emit/emit.h"
#include "target/accel.h"
#include "weights/weights.h"

enum { GROUP = 4, MOST = 2, LARGEST = 127, SHALLOW = 16 };

/* Do the weights at each position of a filter fit the sparse format? */
static bool
view_is_sparse(const struct weights_view *v)
{
	for (int32_t o = 0; o < v->o; o++)
		for (int32_t at = 0; at < v->h * v->w; at++) {
			int n = 0;
			for (int32_t i = 0; i < v->i; i++) {
				const int32_t w = weights_value(v, o, at / v->w, at % v->w, i);
				n = (i % GROUP ? n : 0) + (w != 0);
				if (n > MOST || w < -LARGEST || w > LARGEST)
					return false;
			}
		}
	return true;
}

/* Decides about one operation; obeys the input graph.  False: an error. */
static bool
find_in(struct sched *s, struct g_op *op)
{
	bool in_graph = G_HAS(op, G_OP_sparse), lacks = accel_lacks(s->accel, LACK_SPARSE);
	bool conv = op->weights && (op->kind == OP_CONV || op->kind == OP_FC);
	/* sparse weights come in units of 128 channels instead of 64, which must not be half empty */
	const int32_t depth = op->ifm.shape.c;
	bool suits = depth <= SHALLOW || round_up_i64(depth, 128) == round_up_i64(depth, 64);
	struct weights_view v;
	if (in_graph ? !op->sparse : lacks || !conv || !suits ||
				      G_HAS(op->weights, G_WEIGHTS_at))
		return true;
	if (lacks || !conv)
		return graph_err(s->g, op, s->e, "o%d: sparse=1, but %s has no sparse "
						 "format for this operation", op->rec.id,
				 s->accel->name);
	if (!emit_weights_view(s->a, s->g, op->weights, &v, s->e))
		return false;
	bool is = view_is_sparse(&v);
	if (in_graph && !is)
		return graph_err(s->g, op, s->e, "o%d: sparse=1 needs at most two "
						 "weights of four that are not 0, and "
						 "none beyond 127; w%d has others",
						 op->rec.id,
				 op->weights->rec.id);
	if (is)
		G_PUT(op, OP, sparse, 1);
	return true;
}

bool
find_sparse(struct sched *s)
{
	for (size_t i = 0; i < s->g->n_ops; i++)
		if (!find_in(s, s->g->ops[i]))
			return false;
	return true;
}
