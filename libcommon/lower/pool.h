/* SPDX-License-Identifier: Apache-2.0 */
/* Pools over rows and columns, for both front ends. */
#ifndef LOWER_POOL_H
#define LOWER_POOL_H

#include "lower/lower.h"

enum { LOW_POOL_ROWS = 256, LOW_POOL_WINDOW = 65536 /* elements, at most */ };

struct low_axis { /* rows or columns */
	int32_t in, out, kernel, stride, before, after;
};

/* neighbouring outputs of an axis that one operation makes */
struct low_span {
	int32_t out, n, in, length, kernel, stride, before, after;
};

/*
 * Is a pool one operation as it is?  The hardware divides by the samples it saw up to
 * 8x8, and steps up to 3.
 */
bool low_pool_is_plain(const struct low_axis axis[2], bool average);
/*
 * How many spans an axis takes; into v unless that is NULL.  Of a pool that is not
 * plain, windows are cut at the edges of the IFM, and all that have the same extent
 * and distance are one span.
 */
int low_pool_spans(const struct low_axis *x, bool plain, struct low_span *v);
/* the mean of n, halves away from 0: (m, s) of ethosu-commands(7) 6.8 */
struct npu_scale low_mean(int64_t n);
/*
 * The operation of two spans, from a part of the IFM to one of the OFM; zero points,
 * clamp and table are the caller's.
 */
struct g_op *low_pool(struct lower *l, bool average, const struct low_span *y,
		      const struct low_span *x, struct g_operand ifm,
		      struct g_operand ofm);

#endif
