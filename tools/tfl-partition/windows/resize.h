/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR to any size: which input an output
 * takes along an axis (resize.c); two neighbours weighed
 * (bilinear.c, lower/blend.h); or by a unit for it (sample.c).
 */
#ifndef TFL_PARTITION_RESIZE_H
#define TFL_PARTITION_RESIZE_H

#include "../moves/move.h"

#include "lower/blend.h"
#include "lower/runs.h"

struct resize {
	const struct tfl_tensor *ifm, *ofm;
	bool align_corners, half_pixel;
};

/* resize.c: the options, or why the NPU can't */
const char *read_resize(const struct part *p, const struct tfl_op *op,
			struct resize *r);
/* output o of an axis is a copy of input map[o], for both */
void copy_axes(struct part *p, const struct tfl_op *op, const int32_t *y,
	       const int32_t *x);

/* bilinear.c */
enum { FRACTION_BITS = 10, FRACTION = 1 << FRACTION_BITS };
/* of an axis, in 1/1024: from output to output, and where output 0 is */
int64_t resize_step(const struct resize *r, int64_t in, int64_t out);
int64_t resize_first(const struct resize *r, int64_t step);
const char *check_bilinear(const struct part *p, const struct tfl_op *op);
bool lower_bilinear(struct part *p, const struct tfl_op *op);

/* sample.c; false: the NPU has no such unit, or it takes others than the reference */
bool can_sample_bilinear(const struct part *p, const struct resize *r);
bool sample_bilinear(struct part *p, const struct tfl_op *op, const struct resize *r);
/* output o of an axis is input map[o] */
bool sample_nearest(struct part *p, const struct tfl_op *op, const struct resize *r,
		    const int32_t *y, const int32_t *x);

#endif
