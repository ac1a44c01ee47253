/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groupings: which operations are done for all inputs before the next operation.  Operations of
 * small feature maps come first, as the others are cascades input by input.  Between all and
 * none, a few thresholds are tried.  Where memory is short, the best grouping is changed
 * operation by operation.
 */
#include "batch.h"

#include "graph/facts.h"

#include <stdlib.h>

static int64_t
feature_maps_bytes(const struct g_op *op)
{
	const struct g_operand *const operand[] = { &op->ifm, &op->ifm2, &op->ofm };
	int64_t bytes = 0;
	for (size_t i = 0; i < ARRAY_LEN(operand); i++) {
		const struct g_operand *o = operand[i];
		if (o->t && !tensor_is_const(o->t))
			bytes += hwc_elements(o->shape) * graph_type_bytes(o->type);
	}
	return bytes;
}

static int
compare_i64(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

static bool *
grouping_below(struct arena *a, const struct graph *g, int64_t limit)
{
	bool *together = anew(a, bool, g->n_ops + 1);
	for (size_t i = 0; i < g->n_ops; i++)
		together[i] = feature_maps_bytes(g->ops[i]) <= limit;
	return together;
}

/*
 * Lists the first groupings to try.  In the first grouping, all operations run for all
 * inputs at once, in the last one none.  In each of the others, the operations with
 * small feature maps do, up to a size below which a third, or two thirds, of all bytes
 * are.
 */
size_t
batch_groupings(struct arena *a, const struct graph *g, bool *joint_ops[MAX_GROUPINGS])
{
	int64_t *v = anew(a, int64_t, g->n_ops + 1), all = 0, sum = 0, last = INT64_MAX;
	size_t n = 0;
	for (size_t i = 0; i < g->n_ops; i++)
		all += v[i] = feature_maps_bytes(g->ops[i]);
	qsort(v, g->n_ops, sizeof(*v), compare_i64);
	joint_ops[n++] = grouping_below(a, g, INT64_MAX);
	for (size_t i = 0, part = 1; i < g->n_ops && part < MAX_GROUPINGS - 1; i++) {
		sum += v[i];
		if (sum * (MAX_GROUPINGS - 1) < all * (int64_t)part)
			continue;
		part++;
		if (v[i] == last || v[i] == v[g->n_ops - 1])
			continue;
		last = v[i];
		joint_ops[n++] = grouping_below(a, g, last);
	}
	joint_ops[n++] = grouping_below(a, g, -1);
	return n;
}

/* ---- changes of a grouping ---------------------------------------------------- */

struct turn {
	size_t op, distance; /* distance: operations to where the grouping changes */
	int64_t weights;
};

static int
compare_turns(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;
	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	if (a->weights != b->weights)
		return a->weights > b->weights ? -1 : 1;
	return a->op < b->op ? -1 : a->op > b->op;
}

static size_t
distance_of(const bool *joint_ops, size_t n, size_t op)
{
	for (size_t d = 0; d < n; d++) {
		bool before = op >= d + 1 && joint_ops[op - d - 1] != joint_ops[op - d];
		bool behind = op + d + 1 < n && joint_ops[op + d + 1] != joint_ops[op + d];
		if (before || behind)
			return d;
	}
	return n;
}

size_t *
batch_turns(struct arena *a, const struct graph *g, const bool *joint_ops)
{
	struct turn *t = anew(a, struct turn, g->n_ops + 1);
	size_t *order = anew(a, size_t, g->n_ops + 1);
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_weights *w = g->ops[i]->weights;
		t[i] = (struct turn){ .op = i, .distance = distance_of(joint_ops, g->n_ops, i),
				      .weights = w != NULL };
		for (int k = 0; w && k < w->shape.rank; k++)
			t[i].weights *= w->shape.dim[k];
	}
	qsort(t, g->n_ops, sizeof(*t), compare_turns);
	for (size_t i = 0; i < g->n_ops; i++)
		order[i] = t[i].op;
	return order;
}
