/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over rows and columns, for both front ends. */
#ifndef LOWER_POOL_H
#define LOWER_POOL_H

#include "lower/nd.h"

enum { LOW_POOL_ROWS = 256, LOW_POOL_WINDOW = 65536 /* elements, at most */ };

struct low_axis { /* rows or columns */
	int32_t in, out, kernel, stride, before, after;
};

struct low_pool {
	bool average;
	struct low_axis axis[2];
};

/* how many operations an image takes */
int64_t low_pool_count(const struct low_pool *p);
/*
 * All images of in and out, [N,H,W,C] each.  `made` has zero points, clamp and table of
 * each operation.  False: no operation can see such parts of them.
 */
bool low_pool(struct lower *l, const struct low_pool *p, const struct nd *in,
	      const struct nd *out, nd_made *made, void *ctx);
/* the mean of n, halves away from 0: (m, s) of ethosu-commands(7) 6.8 */
struct npu_scale low_mean(int64_t n);
/* what is reduced is one window, or one that steps by 1 */
struct g_op *low_window(struct lower *l, enum g_op_kind kind, struct g_operand ifm,
			struct g_operand ofm, struct yx kernel);
#endif
