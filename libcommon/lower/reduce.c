/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses shapes for reductions.  Keeps the natural shape if it fits, so that layouts
 * other than linear remain possible; else uses three plain axes.
 */
#include "lower/reduce.h"

#include "lower/pool.h"

struct low_reduced
low_reduced_by_pool(struct hwc natural, const int32_t k[3])
{
	struct hwc s = natural;
	if (k[0] == 1 && s.h * s.w == k[1] && s.c == k[2] && s.h <= LOW_POOL_ROWS)
		return (struct low_reduced){ .in = s, .out = { 1, 1, k[2] },
					     .kernel = { .y = s.h, .x = s.w } };
	if (k[0] == 1 && s.h == k[1] && s.h <= LOW_POOL_ROWS)
		return (struct low_reduced){ .in = s, .out = { 1, s.w, s.c },
					     .kernel = { .y = s.h, .x = 1 } };
	if (k[0] == 1 && k[2] > LOW_REDUCE_EXTENT && k[1] <= LOW_POOL_ROWS)
		return (struct low_reduced){ .in = { k[1], k[2] / s.c, s.c },
					     .out = { 1, k[2] / s.c, s.c },
					     .kernel = { .y = k[1], .x = 1 } };
	return (struct low_reduced){ .in = { k[0], k[1], k[2] }, .out = { k[0], 1, k[2] },
				     .kernel = { .y = 1, .x = k[1] } };
}

struct low_reduced
low_reduced_channels(struct hwc natural, const int32_t k[3])
{
	struct hwc in = natural;
	if (in.c != k[1])
		in = (struct hwc){ .h = 1, .w = k[0], .c = k[1] };
	return (struct low_reduced){ .in = in, .out = { in.h, in.w, 1 },
				     .kernel = { .y = 1, .x = 1 } };
}

bool
low_reduced_fits(const struct low_reduced *r)
{
	return r->in.h <= LOW_REDUCE_EXTENT && r->in.w <= LOW_REDUCE_EXTENT &&
	       r->in.c <= LOW_REDUCE_EXTENT &&
	       (int64_t)r->kernel.y * r->kernel.x <= LOW_POOL_WINDOW;
}
