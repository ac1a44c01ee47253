/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the elements that SLICE and STRIDED_SLICE take. */
#include "quantize.h"

#include "kernels/kernels.h"
#include "real/real.h"
#include "tflite/fields.h"

bool
slice_start(const struct net *n, const struct tfl_op *op, int64_t *first)
{
	const struct tfl_tensor *v = &n->tensor[op->in[0]];
	const bool strided = op->code == TFL_STRIDED_SLICE;
	int64_t from[TFL_MAX_RANK], to[TFL_MAX_RANK], step[TFL_MAX_RANK];
	int64_t begin_mask = 0, end_mask = 0, shrink_mask = 0;
	int n_from, n_to, n_step = v->rank;
	if (op->n_in != (strided ? 4 : 3) ||
	    !real_ints(&n->tensor[op->in[1]], from, TFL_MAX_RANK, &n_from) ||
	    !real_ints(&n->tensor[op->in[2]], to, TFL_MAX_RANK, &n_to) || n_from != v->rank ||
	    n_to != v->rank)
		return false;
	if (strided) {
		if (!real_ints(&n->tensor[op->in[3]], step, TFL_MAX_RANK, &n_step) || n_step != v->rank ||
		    TFL_OPT(op, StridedSliceOptions, ellipsis_mask) ||
		    TFL_OPT(op, StridedSliceOptions, new_axis_mask))
			return false;
		begin_mask = TFL_OPT(op, StridedSliceOptions, begin_mask);
		end_mask = TFL_OPT(op, StridedSliceOptions, end_mask);
		shrink_mask = TFL_OPT(op, StridedSliceOptions, shrink_axis_mask);
	}
	/* the bounds in each dimension; other steps than 1 are refused */
	for (int d = 0; d < v->rank; d++) {
		int64_t dim = v->dim[d], bit = 1 << d;
		from[d] = begin_mask & bit ? 0 : strided && from[d] < 0 ? from[d] + dim : from[d];
		if (from[d] < 0 || from[d] >= dim || (strided && step[d] != 1))
			return false;
		if (shrink_mask & bit)
			to[d] = from[d] + 1;
		else if (strided)
			to[d] = end_mask & bit || to[d] > dim ? dim : to[d] < 0 ? to[d] + dim : to[d];
		else
			to[d] = to[d] == -1 || to[d] > dim - from[d] ? dim : from[d] + to[d];
		if (from[d] >= to[d])
			return false;
	}
	bool part = false; /* of a later dimension */
	*first = 0;
	for (int d = v->rank - 1; d >= 0; d--) {
		if (part && to[d] - from[d] != 1)
			return false;
		part |= to[d] - from[d] != v->dim[d];
	}
	for (int d = 0; d < v->rank; d++)
		*first = *first * v->dim[d] + from[d];
	return true;
}
