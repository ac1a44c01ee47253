/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over some axes, for both front ends: nputools-lowering(7) 5.2. */
#ifndef LOWER_REDUCE_H
#define LOWER_REDUCE_H

#include "lower/nd.h"

enum { LOW_REDUCE_EXTENT = 65536 /* limit of rows, columns or channels */ };

/* axes, outermost first; neighbours that are all kept or all reduced are one, those of 1 none */
struct low_axes {
	struct low_extent {
		int32_t n;
		bool drop;
	} axis[ND_MAX];
	int n, drops; /* number of axes, and of those that are reduced */
};

struct low_axes low_axes_of(int rank, const int32_t *dim, const bool *drop);
/* sets the number of elements before, along and behind the outermost reduced axis, which exists */
void low_axes_dropped(const struct low_axes *r, int32_t k[3]);
/*
 * Returns NULL, or why low_reduce() can't reduce them.  natural: the shape in which an
 * operation can address the elements; NULL: there is none.
 */
const char *low_reduce_check(const struct low_axes *r, int type, const struct hwc *natural);
/*
 * Writes to out the greatest element (OP_MAX) or the least one (OP_MIN), of words also the sum
 * (OP_ADD).  Refuses what low_reduce_check() refuses.
 */
void low_reduce(struct lower *l, enum g_op_kind kind, const struct low_axes *axes,
		const struct nd *v, const struct nd *out);

/* shapes in which an operation reduces the middle of k[0] x k[1] x k[2] elements */
struct low_reduced {
	struct hwc in, out; /* shapes of the input's and the output's memory */
	struct yx kernel;   /* of a pool whose window steps by 1 */
};

/* Reduction by a pool.  natural: the shape that other operations use for these elements. */
struct low_reduced low_reduced_by_pool(struct hwc natural, const int32_t k[3]);
bool low_reduced_fits(const struct low_reduced *r);
/*
 * Reduces the middle of v's elements minus the zero point by one operation: a pool, or, for
 * OP_REDUCE_SUM of channels (k[2] is 1), that or a convolution.  Returns NULL, or why it can't.
 */
const char *low_reduce_once(struct lower *l, enum g_op_kind kind, const struct nd *v,
			    int32_t zero, const int32_t k[3], const struct nd *out,
			    const struct low_end *end);

#endif
