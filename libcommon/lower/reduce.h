/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an operation sees k[0] x k[1] x k[2] elements of which it reduces the middle:
 * in front of, along and behind axes that are neighbours.  For both front ends.
 */
#ifndef LOWER_REDUCE_H
#define LOWER_REDUCE_H

#include "lower/lower.h"

enum { LOW_REDUCE_EXTENT = 65536 /* rows, columns or channels, at most */ };

struct low_reduced {
	struct hwc in, out; /* shapes of the same memory */
	struct yx kernel;   /* of a pool: one window, or one that steps by 1 */
};

/* by a pool; natural: the shape that the elements have for others */
struct low_reduced low_reduced_by_pool(struct hwc natural, const int32_t k[3]);
/* by REDUCE_SUM, which adds channels; k[2] is 1 */
struct low_reduced low_reduced_channels(struct hwc natural, const int32_t k[3]);
bool low_reduced_fits(const struct low_reduced *r);

#endif
