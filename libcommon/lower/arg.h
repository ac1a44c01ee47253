/* SPDX-License-Identifier: Apache-2.0 */
/* Where along an axis the greatest or the least is, for both front ends. */
#ifndef LOWER_ARG_H
#define LOWER_ARG_H

#include "lower/nd.h"

struct low_arg {
	int64_t before, n, behind; /* elements before, along, behind the axis */
	bool max;		   /* the first of the greatest; else of the least */
	bool wide;		   /* results are INT64, not words */
	int type;		   /* of the elements: 8 or 16 bits */
};

/* NULL, or why the NPU can't */
const char *low_arg_check(const struct lower *l, const struct low_arg *r);
/* ofm: [before][behind], in linear order */
void low_arg(struct lower *l, const struct low_arg *r, const struct nd *in,
	     struct g_operand ofm);

#endif
