/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR to any size: by copying the input
 * that each output takes (resize.c), by blending two neighbours (bilinear.c,
 * lower/blend.h), or with the NPU's resize unit (sample.c).
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

/* resize.c: sets o->own, a struct resize; returns NULL, or why the NPU can't run the operator */
const char *read_resize(const struct part *p, struct lop *o);
/* copies pixels: output row o is input row y[o], output column o is input column x[o] */
void copy_axes(struct part *p, const struct tfl_op *op, const int32_t *y,
	       const int32_t *x);

/* bilinear.c */
enum { FRACTION_BITS = 10, FRACTION = 1 << FRACTION_BITS };
/* along an axis, in 1/1024 of an input element: output to output; position of output 0 */
int64_t resize_step(const struct resize *r, int64_t in, int64_t out);
int64_t resize_first(const struct resize *r, int64_t step);
const char *read_bilinear(const struct part *p, struct lop *o);
const char *lower_bilinear(struct part *p, const struct lop *o);

/*
 * sample.c.  False: the NPU has no resize unit, or the unit takes other elements
 * than the reference.
 */
bool can_sample_bilinear(const struct part *p, const struct resize *r);
bool sample_bilinear(struct part *p, const struct tfl_op *op, const struct resize *r);
/* output row o is input row y[o], output column o is input column x[o] */
bool sample_nearest(struct part *p, const struct tfl_op *op, const struct resize *r,
		    const int32_t *y, const int32_t *x);

#endif
