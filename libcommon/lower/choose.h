/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons and choices between two, for both front ends.  Truth is a byte, 0 or 1;
 * dimensions of 1 are repeated.
 */
#ifndef LOWER_CHOOSE_H
#define LOWER_CHOOSE_H

#include "lower/nd.h"

enum low_order { LOW_EQUAL, LOW_UNEQUAL, LOW_GREATER, LOW_NOT_LESS };

struct low_compare {
	enum low_order order;
	struct nd a, b; /* of one type */
	/* of a and b, for an accelerator that compares itself (LACK_BITS); NULL: as they are */
	const struct npu_scale *scale;
	int32_t zero[2]; /* where they are scaled */
};

/* out: does it hold? */
void low_compare(struct lower *l, const struct low_compare *c, const struct nd *out);
/* out, of a's and b's type: a where c is 1, b where it is 0 */
void low_select(struct lower *l, const struct nd *c, const struct nd *a,
		const struct nd *b, const struct nd *out);

#endif
