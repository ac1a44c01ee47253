/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over any axes.  Neighbouring axes that are all kept or all
 * reduced are one; a pool reduces the middle one of three.
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
	struct axis g[TFL_MAX_RANK]; /* outermost first; kinds alternate */
	int n, drops;
	int64_t count; /* elements behind every result */
	struct npu_scale scale;
	int32_t zero; /* of what is summed; 0 once it is a partial sum */
};

/* NULL, or why the operator is no reduction that can be described so */
const char *reduction_read(const struct part *p, const struct tfl_op *op,
			   struct reduction *r);
/* wordreduce.c: every reduced axis in turn; of 32 bits */
const char *check_extents(const struct reduction *r);
bool lower_words_reduced(struct part *p, const struct tfl_op *op,
			 struct reduction *r);

/* reduce.c */
int64_t axes_product(const struct axis *g, int n);
/* a whole tensor under another shape */
struct g_operand reshaped(struct g_operand o, struct hwc shape);

#endif
