/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons and selections, for both front ends.  A truth value is a byte, 0 or 1.
 * Dimensions of 1 are broadcast.
 */
#ifndef LOWER_CHOOSE_H
#define LOWER_CHOOSE_H

#include "lower/nd.h"

enum low_order { LOW_EQUAL, LOW_UNEQUAL, LOW_GREATER, LOW_NOT_LESS };

struct low_compare {
	enum low_order order;
	struct nd a, b; /* both of one type */
	/*
	 * Scales of a and b, for an accelerator with comparisons of its own (low_has(l,
	 * LACK_BITS)); NULL: not scaled.
	 */
	const struct npu_scale *scale;
	int32_t zero[2]; /* zero points if scaled */
};

/* Writes the truth value of the comparison to out. */
void low_compare(struct lower *l, const struct low_compare *c, const struct nd *out);
/* Writes a where c is 1 and b where c is 0 to out, which has the type of a and b. */
void low_select(struct lower *l, const struct nd *c, const struct nd *a,
		const struct nd *b, const struct nd *out);

#endif
