/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies elements of an axis by lists of positions, in as few copies as even spacing
 * allows.
 */
#ifndef LOWER_RUNS_H
#define LOWER_RUNS_H

#include "lower/nd.h"

/*
 * Returns how many of n positions, from the first on, are evenly spaced, and sets *step
 * to their distance.  down: allow negative steps.
 */
int low_even(const int64_t *at, int n, bool down, int64_t *step);
/* Returns the number of such runs in n positions. */
int low_even_runs(const int64_t *at, int n, bool down);

struct low_run { /* outputs out, out + out_step, ... are inputs in, in + in_step, ... */
	int32_t n, out, out_step, in, in_step;
};

/*
 * Divides outputs 0..n-1, whose inputs are map[], into runs with one value of key[]
 * each (key NULL: ignored).  Returns the number of runs in *out.
 */
int low_runs(struct arena *a, const int32_t *map, const int32_t *key, int32_t n,
	     struct low_run **out);
/*
 * Copies position map[o] of the axis of `from` to position o of the axis of `to`.
 * Returns the number of copies of parts.
 */
int low_copy_axis(struct lower *l, const struct nd *from, const struct nd *to, int axis,
		  const int32_t *map);
/*
 * Copies position o of the axis of `from` to position map[o] of the axis of `to`;
 * otherwise as low_copy_axis.
 */
int low_spread_axis(struct lower *l, const struct nd *from, const struct nd *to,
		    int axis, const int32_t *map);
/*
 * Copies pixel (y[o], x[p]) of `in` to pixel (o, p) of `out`, both [N,H,W,C]: a resize
 * to the nearest neighbours.  Returns the number of copies of parts.
 */
int low_copy_pixels(struct lower *l, const struct nd *in, const struct nd *out,
		     const int32_t *y, const int32_t *x);

#endif
