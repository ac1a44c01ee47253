/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE by the NPU's resize unit (low_has(l, LACK_RESIZE), ethosu-commands(7) 26.10).
 * Output o of an axis is at position o * down + first of a grid that divides each
 * element of the IFM into `up` parts.
 */
#ifndef LOWER_SAMPLE_H
#define LOWER_SAMPLE_H

#include "lower/nd.h"

struct low_grid { /* of one axis */
	int64_t up, down, first;
	int64_t skip; /* IFM elements before the element that contains first */
};

/*
 * Reduces the fractions and moves first into one element.  Returns false if the
 * registers cannot hold the grid.
 */
bool low_grid_normalize(struct low_grid *g, int64_t in);
/* Returns the element nearest to output o, for an axis of `in` elements. */
int64_t low_grid_nearest(const struct low_grid *g, int64_t in, int64_t o);
/*
 * Returns true if the accelerator has the resize unit and the unit supports this type
 * and number of images.
 */
bool low_can_sample(const struct lower *l, int type, int64_t images);
/*
 * Returns true if the accelerator has the resize unit and, for bilinear results
 * [N,H,W,C], the unit is faster than n pools or depthwise convolutions per image.
 */
bool low_sampling_pays(const struct lower *l, const struct nd *out, int n);
/* Appends one operation per image: bilinear, or nearest neighbour. */
void low_sample(struct lower *l, bool bilinear, const struct low_grid *y,
		const struct low_grid *x, const struct nd *in, const struct nd *out);

#endif
