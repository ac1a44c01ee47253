/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of 32-bit elements: combine the two halves of an axis until one element is
 * left.
 */
#include "lower/nd.h"

static struct g_operand
part_of(const struct nd *v, int64_t start, int64_t n)
{
	struct nd part = nd_part(v, 1, start, n);
	return nd_to_operand(&part);
}

/* Combines the first n / 2 elements with the last n / 2; copies the middle one if n is odd. */
void
word_reduce_axis(struct lower *l, enum g_op_kind kind, struct nd *v)
{
	while (v->dim[1] > 1) {
		int64_t n = v->dim[1], pairs = n / 2;
		const int64_t dim[3] = { v->dim[0], n - pairs, v->dim[2] };
		struct nd out = nd_new(l, TFL_INT32, 3, dim);
		(void)word_op_to(l, kind, part_of(v, 0, pairs), part_of(v, n - pairs, pairs),
				 part_of(&out, 0, pairs));
		if (n % 2)
			(void)low_copy(l, part_of(v, pairs, 1), part_of(&out, pairs, 1));
		*v = out;
	}
}
