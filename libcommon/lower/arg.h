/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARG_MAX and ARG_MIN, for both front ends: the position of the maximum or minimum
 * along an axis.
 */
#ifndef LOWER_ARG_H
#define LOWER_ARG_H

#include "lower/nd.h"

struct low_arg {
	int64_t before, n, behind; /* number of elements before, along and after the axis */
	bool max;		   /* true: the first maximum; false: the first minimum */
	bool wide;		   /* results are INT64 instead of INT32 */
	int type;		   /* of the elements, 8 or 16 bits */
};

/* Returns NULL, or the reason why the NPU cannot compute it. */
const char *low_arg_check(const struct lower *l, const struct low_arg *r);
/* Appends the operations.  ofm: [before][behind], in linear order. */
void low_arg(struct lower *l, const struct low_arg *r, const struct nd *in,
	     struct g_operand ofm);

#endif
