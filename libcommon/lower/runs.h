/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of an axis by lists of positions, in as few copies as even spacing allows. */
#ifndef LOWER_RUNS_H
#define LOWER_RUNS_H

#include "lower/nd.h"

/* of n positions, how many from the first one on are evenly spaced, upwards or, where
 * `down`, either way; *step: from one to the next */
int low_even(const int64_t *at, int n, bool down, int64_t *step);
/* into how many such runs they fall */
int low_even_runs(const int64_t *at, int n, bool down);

struct low_run { /* positions out, out + out_step, ... take in, in + in_step, ... */
	int32_t n, out, out_step, in, in_step;
};

/* runs of a map in which key[] (NULL: nothing) is one value; how many there are */
int low_runs(struct arena *a, const int32_t *map, const int32_t *key, int32_t n,
	     struct low_run **out);
/* position o of to's axis is from's map[o]; how many copies of parts that takes */
int low_copy_axis(struct lower *l, const struct nd *from, const struct nd *to, int axis,
		  const int32_t *map);
/* position map[o] of to's axis, for each o of from's */
int low_spread_axis(struct lower *l, const struct nd *from, const struct nd *to,
		    int axis, const int32_t *map);
/*
 * Pixel (y[o], x[p]) of in is pixel (o, p) of out, both [N,H,W,C]: the nearest
 * neighbours of a resize; how many copies of parts that takes
 */
int low_copy_pixels(struct lower *l, const struct nd *in, const struct nd *out,
		     const int32_t *y, const int32_t *x);

#endif
