/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bilinear resizing of [N,H,W,C], for both front ends.  Along an axis, every output is
 * the weighted sum of two adjacent inputs.  If weights are small, each phase (outputs
 * at the same position between their inputs) is one operation (phases.c).  Otherwise
 * both axes are computed one after the other in 32-bit words (blend.c).
 */
#ifndef LOWER_BLEND_H
#define LOWER_BLEND_H

#include "lower/nd.h"

struct low_blend { /* one axis; each output is near * lower + far * upper */
	int32_t *lower, *upper, *near, *far;
	int32_t n;   /* number of outputs */
	int32_t sum; /* near + far, for every output */
};

struct low_blend low_blend_new(struct arena *a, int64_t n, int64_t sum);
/* Returns true if each output is a copy of one input. */
bool low_blend_takes_one(const struct low_blend *b);
/*
 * Returns v resized along axis 1 or 2, in 32-bit words.  v has 16 or 32 bits.  Adds the
 * number of copies to *copies.
 */
struct nd low_blend_axis(struct lower *l, const struct nd *v, int axis,
			 const struct low_blend *b, int *copies);

/* phases.c */
struct low_phasing {
	int type;	/* type of the elements */
	int64_t images;
	int32_t times;	/* factor by which the NPU's weights are larger than those of
			 * low_blend */
	struct npu_scale scale; /* scale of the sums with the weights of low_blend */
	enum g_round round;
};
/*
 * Returns NULL if weights or factors are outside of the NPU's range, or if there would
 * be too many operations.
 */
struct low_phases *low_phases_find(struct lower *l, const struct low_phasing *how,
				   const struct low_blend *y, const struct low_blend *x);
int low_phases_count(const struct low_phases *f); /* operations per image */
/*
 * Appends the operations; `end` ends each of them.  Refuses if no operation can address
 * the rows or columns.
 */
void low_phases(struct lower *l, const struct low_phases *f, const struct nd *in,
		const struct nd *out, const struct low_end *end);

#endif
