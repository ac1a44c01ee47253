/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes in which an operation reduces the middle of k[0] x k[1] x k[2] elements: those
 * before, along and after adjacent axes.  For both front ends.
 */
#ifndef LOWER_REDUCE_H
#define LOWER_REDUCE_H

#include "lower/lower.h"

enum { LOW_REDUCE_EXTENT = 65536 /* limit of rows, columns or channels */ };

struct low_reduced {
	struct hwc in, out; /* shapes of the input's and the output's memory */
	struct yx kernel;   /* of a pool whose window steps by 1 */
};

/* Reduction by a pool.  natural: the shape that other operations use for these elements. */
struct low_reduced low_reduced_by_pool(struct hwc natural, const int32_t k[3]);
/* Reduction by REDUCE_SUM, which adds channels; k[2] is 1. */
struct low_reduced low_reduced_channels(struct hwc natural, const int32_t k[3]);
bool low_reduced_fits(const struct low_reduced *r);

#endif
