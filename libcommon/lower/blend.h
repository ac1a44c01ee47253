/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bilinear resizing of [N,H,W,C], for both front ends: every output of an axis is two
 * neighbours by their weights.  By small weights it is one operation a run of outputs
 * that lie alike (phases.c), else sums in words, an axis after the other (blend.c).
 */
#ifndef LOWER_BLEND_H
#define LOWER_BLEND_H

#include "lower/nd.h"

struct low_blend { /* of an axis, each output: near * lower + far * upper */
	int32_t *lower, *upper, *near, *far;
	int32_t n;   /* outputs */
	int32_t sum; /* of both weights */
};

struct low_blend low_blend_new(struct arena *a, int64_t n, int64_t sum);
/* is each output one input? */
bool low_blend_takes_one(const struct low_blend *b);
/* v, of 16 or 32 bits, along axis 1 or 2, in words; *copies grows by what that takes */
struct nd low_blend_axis(struct lower *l, const struct nd *v, int axis,
			 const struct low_blend *b, int *copies);

/* phases.c */
struct low_phasing {
	int type;	/* of the elements */
	int64_t images;
	int32_t times;	/* weights that are given to the NPU are so many times as large */
	struct npu_scale scale; /* of the sums by the weights of low_blend */
	enum g_round round;
};
/* NULL: it takes other weights or factors than the NPU has, or too many operations */
struct low_phases *low_phases_find(struct lower *l, const struct low_phasing *how,
				   const struct low_blend *y, const struct low_blend *x);
int low_phases_count(const struct low_phases *f); /* operations for an image */
/* `made` has zero points and clamps; false: rows or columns that none can write */
bool low_phases(struct lower *l, const struct low_phases *f, const struct nd *in,
		const struct nd *out, nd_made *made, void *ctx);

#endif
