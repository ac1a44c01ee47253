/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over any axes.  Adjacent axes that are all kept or all reduced are
 * merged.  A pool reduces the middle one of three axes.
 */
#ifndef TFL_PARTITION_REDUCE_H
#define TFL_PARTITION_REDUCE_H

#include "../part.h"

struct axis {
	int32_t n;
	bool drop;
};

struct reduction {
	const struct tfl_tensor *ifm, *ofm;
	struct axis g[TFL_MAX_RANK]; /* outermost first; kept and reduced axes alternate */
	int n, drops;
	int64_t count; /* number of elements that each result combines */
	struct npu_scale scale;
	int32_t zero; /* zero point of the summed elements; 0 once these are partial sums */
};

/* fills r and returns NULL, or returns why the operator can't be described so */
const char *reduction_read(const struct part *p, const struct tfl_op *op,
			   struct reduction *r);
/* wordreduce.c: reductions of 32 bits, one axis after the other */
const char *check_extents(const struct reduction *r);
void lower_words_reduced(struct part *p, const struct tfl_op *op,
			 struct reduction *r);

/* reduce.c */
int64_t axes_product(const struct axis *g, int n);
/* a whole tensor in another shape */
struct g_operand reshaped(struct g_operand o, struct hwc shape);

#endif
