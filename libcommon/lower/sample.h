/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE by a unit that samples between elements (LACK_RESIZE, ethosu-commands(7)
 * 26.10).  Output o of an axis is at o * down + first on a grid that divides the
 * IFM's elements into up parts.
 */
#ifndef LOWER_SAMPLE_H
#define LOWER_SAMPLE_H

#include "lower/nd.h"

struct low_grid { /* of an axis */
	int64_t up, down, first;
	int64_t skip; /* elements of the IFM that first is beyond */
};

/* in least terms, first within an element; false: the registers don't hold it */
bool low_grid_settle(struct low_grid *g, int64_t in);
/* the element that output o takes as its nearest, of `in` from skip on */
int64_t low_grid_nearest(const struct low_grid *g, int64_t in, int64_t o);
/* does the accelerator have the unit, for maps [N,H,W,C] of this type? */
bool low_can_sample(const struct lower *l, int type, int64_t images);
/*
 * Is the unit there and, for bilinear results [N,H,W,C], faster than n pools or
 * depthwise convolutions an image?
 */
bool low_sampling_pays(const struct lower *l, const struct nd *out, int n);
/* every image by an operation; bilinear: between neighbours, else the nearest */
void low_sample(struct lower *l, bool bilinear, const struct low_grid *y,
		const struct low_grid *x, const struct nd *in, const struct nd *out);

#endif
