/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges successive TRANSPOSEs, RESHAPEs and SLICEs into one movement.  Behind a
 * RESHAPE that joins axes which are not contiguous, no view has as few dimensions
 * as the tensor.  The tensor is then a view of more dimensions: every axis is the
 * product of some factors, from the outermost to the innermost.  The tensor remains
 * such a view, without memory of its own, if the operators behind it then move it
 * in no more operations.  An example are the five operators of a channel shuffle
 * between NHWC and NCHW, whose result is other channels of the same pixels.
 */
#include "part.h"

#include "lower/linux.h"

enum { PIXEL_AXES = 3 /* N, H, W */, NEAR = 256 /* operators to search for readers */ };

/*
 * Splits v's factors where axes of these lengths end.  first[k] is the first factor
 * of axis k, first[rank] the end of the last axis.
 */
static bool
split_factors(struct nd *v, const int32_t *dim, int rank, int *first)
{
	int at = 0;
	/* the fewest factors: drops factors of 1, and merges neighbours that are contiguous */
	const struct nd old = *v;
	v->rank = 0;
	for (int k = 0; k < old.rank; k++) {
		int last = v->rank - 1;
		if (old.dim[k] == 1)
			continue;
		if (last >= 0 && v->stride[last] == old.dim[k] * old.stride[k]) {
			v->dim[last] *= old.dim[k];
			v->stride[last] = old.stride[k];
			continue;
		}
		v->dim[v->rank] = old.dim[k];
		v->stride[v->rank++] = old.stride[k];
	}
	for (int k = 0; k < rank; k++) {
		int64_t left = dim[k];
		first[k] = at;
		for (; left > 1; at++) {
			int64_t f = at < v->rank ? v->dim[at] : 0;
			if (f > left && f % left == 0 && v->rank < ND_MAX)
				nd_split(v, at, f / left);
			else if (!f || left % f)
				return false;
			left /= v->dim[at];
		}
	}
	first[rank] = at;
	return at == v->rank;
}

/* merges the factors of each axis; false: an axis has several that are not contiguous */
static bool
merge_factors(const struct nd *v, const int *first, int rank, struct nd *out)
{
	*out = *v;
	out->rank = rank;
	for (int k = 0; k < rank; k++) {
		out->dim[k] = out->stride[k] = 1;
		for (int i = first[k + 1]; i-- > first[k];) {
			if (i + 1 == first[k + 1])
				out->stride[k] = v->stride[i];
			else if (v->stride[i] != out->stride[k] * out->dim[k])
				return false;
			out->dim[k] *= v->dim[i];
		}
	}
	return true;
}

/* ---- how operators change factors ------------------------------------------------ */

/* changes the factors of op's first operand into those of its result */
static bool
moved_factors(const struct part *p, const struct tosa_op *op, struct nd *v)
{
	const struct tosa_tensor *x = tosa_in(p->t, op, 0);
	int first[TOSA_MAX_RANK + 1];
	if (op->code == TOSA_RESHAPE || op->code == TOSA_IDENTITY)
		return true;
	if (!split_factors(v, x->dim, x->rank, first))
		return false;
	if (op->code != TOSA_SLICE) { /* TRANSPOSE */
		const struct nd old = *v;
		v->rank = 0;
		for (int k = 0; k < x->rank; k++) {
			int axis = tosa_perm_of(op, k);
			for (int i = first[axis]; i < first[axis + 1]; i++, v->rank++) {
				v->dim[v->rank] = old.dim[i];
				v->stride[v->rank] = old.stride[i];
			}
		}
		return true;
	}
	/* an axis of several factors is sliced if that takes whole steps of the outermost one */
	for (int k = 0; k < x->rank; k++) {
		int64_t start = tosa_value(tosa_in(p->t, op, 1), k), inner = 1;
		int64_t n = tosa_value(tosa_in(p->t, op, 2), k);
		if (first[k] == first[k + 1])
			continue;
		for (int i = first[k] + 1; i < first[k + 1]; i++)
			inner *= v->dim[i];
		if (start % inner || n % inner)
			return false;
		nd_slice(v, first[k], start / inner, n / inner, 1);
	}
	return true;
}

/* ---- memory -------------------------------------------------------------------------- */

/* finds a feature map [N,H,W,C] with v's pixels, of which v's elements are some channels */
static bool
find_feature_map(const struct nd *v, const int *first, struct nd *fm)
{
	struct nd pixels = *v;
	int64_t most = 0;
	pixels.rank = first[PIXEL_AXES];
	if (!merge_factors(&pixels, first, PIXEL_AXES, fm))
		return false;
	for (int k = first[PIXEL_AXES]; k < v->rank; k++) {
		if (v->stride[k] < 0)
			return false;
		most += (v->dim[k] - 1) * v->stride[k];
	}
	for (int k = 0; k < PIXEL_AXES; k++)
		if (fm->dim[k] > 1 && fm->stride[k] <= most)
			return false;
	fm->rank = PIXEL_AXES + 1;
	fm->dim[PIXEL_AXES] = most + 1;
	fm->stride[PIXEL_AXES] = 1;
	return true;
}

/*
 * Copies v, the elements of tensor t, to memory like `to`; or, if really is false,
 * only returns the number of operations.
 */
static int64_t
copy_factors(struct part *p, const struct nd *v, const struct tosa_tensor *t, const struct nd *to,
    bool really)
{
	int first[TOSA_MAX_RANK + 1];
	struct nd x = *v, fm;
	bool turns = low_has(p->l, LACK_ORDERS) && nd_copies(p->l, v, to) == 1;
	if (!turns && t->rank == PIXEL_AXES + 1 && split_factors(&x, t->dim, t->rank, first) &&
	    find_feature_map(&x, first, &fm) && is_feature_map(&fm) && is_feature_map(to)) {
		int32_t n = t->dim[PIXEL_AXES];
		int32_t *at = anew(p->a, int32_t, (size_t)n);
		nd_distances(&x, first[PIXEL_AXES], at, n);
		if (low_picks_channels(&fm, at, n)) {
			if (really)
				low_copy_channels(p->l, &fm, to, at);
			return 1;
		}
	}
	if (really)
		nd_copy(p->l, v, to);
	return really ? 0 : nd_copies(p->l, v, to);
}

static void
materialize(struct part *p, int tensor, const struct nd *v)
{
	struct nd to = result_view(p, tensor);
	(void)copy_factors(p, v, &p->t->tensor[tensor], &to, true);
}

static int64_t
count_copies(struct part *p, const struct nd *v, int tensor)
{
	const struct tosa_tensor *t = &p->t->tensor[tensor];
	struct nd to = nd_dense(v->type, t->rank, t->dim);
	to.t = v->t; /* copies() only counts, so the memory does not matter */
	return copy_factors(p, v, t, &to, false);
}

/*
 * A convolution can read other channels of the same pixels if its weights are in
 * the order of these channels, with 0 for those in between.  True if the additional
 * products are no more than those of picking the channels before.
 */
static bool
suits_conv(const struct part *p, int tensor, const struct nd *v, struct nd *fm, int *first)
{
	int i = p->reader[tensor];
	const struct tosa_tensor *t = &p->t->tensor[tensor];
	const struct tosa_op *op = i >= 0 ? &p->t->op[i] : NULL;
	struct nd x = *v;
	if (!op || op->code != TOSA_CONV2D || op->in[0] != tensor || t->is_output ||
	    !tosa_in(p->t, op, 1)->data.p || !tosa_in(p->t, op, 2)->data.p ||
	    !split_factors(&x, t->dim, t->rank, first) || !find_feature_map(&x, first, fm) || !is_feature_map(fm))
		return false;
	int64_t each = tosa_elements(tosa_in(p->t, op, 1)) / t->dim[PIXEL_AXES];
	int64_t span = fm->dim[PIXEL_AXES], n = t->dim[PIXEL_AXES];
	return each * (span - n) <= n * span;
}

/* are all readers SLICEs that divide the tensor with no more operations? */
static bool
is_shared(struct part *p, int tensor, const struct nd *v)
{
	const struct tosa_graph *g = p->t;
	int first[TOSA_MAX_RANK + 1], left = g->tensor[tensor].uses;
	int64_t before = count_copies(p, v, tensor), after = 0, elements = nd_elements(v);
	for (int i = p->maker[tensor] + 1, n = 0; left && i < g->n_ops && n < NEAR; i++, n++) {
		const struct tosa_op *op = &g->op[i];
		if (op->in[0] != tensor)
			continue;
		const struct tosa_tensor *o = tosa_out(g, op);
		struct nd x = *v, seen;
		if (op->code != TOSA_SLICE || p->done[i] || !moved_factors(p, op, &x) ||
		    !split_factors(&x, o->dim, o->rank, first))
			return false;
		elements -= nd_elements(&x);
		/* it will be copied into a CONCAT's result if it is not made there */
		int reader = p->reader[op->out[0]];
		before += reader >= 0 && g->op[reader].code == TOSA_CONCAT;
		after += merge_factors(&x, first, o->rank, &seen) ? 0
							      : count_copies(p, &x, op->out[0]);
		left--;
	}
	return !left && elements >= 0 && after <= before;
}

/*
 * can later operators move the tensor's elements in at most as many operations as a
 * copy takes now?
 */
static bool
can_be_deferred(struct part *p, int tensor, const struct nd *v)
{
	struct nd x = *v, seen;
	int t = tensor, i, first[TOSA_MAX_RANK + 1];
	if (suits_conv(p, t, v, &seen, first))
		return true;
	if (p->t->tensor[t].uses > 1)
		return is_shared(p, t, v);
	while ((i = p->reader[t]) >= 0 && !p->t->tensor[t].is_output && !p->done[i]) {
		const struct tosa_op *op = &p->t->op[i];
		if (op->code != TOSA_TRANSPOSE && op->code != TOSA_RESHAPE &&
		    op->code != TOSA_SLICE && op->code != TOSA_IDENTITY)
			break;
		const struct tosa_tensor *o = tosa_out(p->t, op);
		if (!moved_factors(p, op, &x) || !split_factors(&x, o->dim, o->rank, first))
			return false;
		if (merge_factors(&x, first, o->rank, &seen))
			return true;
		t = op->out[0];
	}
	int64_t now = count_copies(p, v, tensor);
	return t != tensor && count_copies(p, &x, t) <= now;
}

/* ---- for operators ------------------------------------------------------------------- */

struct nd
materialized(struct part *p, int tensor)
{
	struct nd v = p->loose[tensor];
	p->loose[tensor].t = NULL;
	materialize(p, tensor, &v);
	return p->value[tensor];
}

bool
take_channels(struct part *p, int tensor, struct nd *fm, int32_t **at)
{
	struct nd v = p->loose[tensor];
	int first[TOSA_MAX_RANK + 1];
	const struct tosa_tensor *t = &p->t->tensor[tensor];
	if (!v.t || !suits_conv(p, tensor, &v, fm, first))
		return false;
	(void)split_factors(&v, t->dim, t->rank, first);
	*at = anew(p->a, int32_t, (size_t)t->dim[PIXEL_AXES]);
	nd_distances(&v, first[PIXEL_AXES], *at, t->dim[PIXEL_AXES]);
	p->loose[tensor].t = NULL;
	return true;
}

const char *
lower_moved(struct part *p, const struct tosa_op *op)
{
	int tensor = op->out[0], first[TOSA_MAX_RANK + 1];
	const struct tosa_tensor *t = tosa_out(p->t, op);
	struct nd v = p->loose[op->in[0]], seen;
	if (!v.t || !moved_factors(p, op, &v)) {
		v = value_of(p, op->in[0]);
		if (p->bound[op->in[0]])
			return NULL; /* its memory is a part of the result */
		(void)moved_factors(p, op, &v);
	}
	if (!split_factors(&v, t->dim, t->rank, first)) /* lengths without a common factor */
		materialize(p, tensor, &v);
	else if (merge_factors(&v, first, t->rank, &seen))
		name_result(p, tensor, &seen);
	else if (!p->value[tensor].t && can_be_deferred(p, tensor, &v))
		p->loose[tensor] = v;
	else
		materialize(p, tensor, &v);
	return NULL;
}
