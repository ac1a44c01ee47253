/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over rows and columns, for both front ends. */
#ifndef LOWER_POOL_H
#define LOWER_POOL_H

#include "lower/nd.h"

enum { LOW_POOL_ROWS = 256, LOW_POOL_WINDOW = 65536 /* limit of window elements */ };

struct low_axis { /* rows or columns */
	int32_t in, out, kernel, stride, before, after;
};

struct low_pool {
	bool average;
	int32_t zero; /* the IFM's zero point */
	struct low_axis axis[2];
};

/* Returns NULL, or the reason why the NPU cannot pool so many images. */
const char *low_pool_check(struct arena *a, const struct low_pool *p, int64_t images);
/*
 * Pools all images of `in` into `out`, both [N,H,W,C].  `end` ends each operation; its
 * scale is not used.  Refuses if no operation can address the parts of in or out.
 */
void low_pool(struct lower *l, const struct low_pool *p, const struct nd *in,
	      const struct nd *out, const struct low_end *end);
/* scale of a mean of n, halves rounded away from 0: (m, s) of ethosu-commands(7) 6.8 */
struct npu_scale low_mean(int64_t n);
/* Makes a pool whose window steps by 1. */
struct g_op *low_pool_window(struct lower *l, enum g_op_kind kind, struct g_operand ifm,
			struct g_operand ofm, struct yx kernel);
#endif
