/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of 32-bit elements: combine the two halves of an axis until one element is
 * left.
 */
#include "lower/nd.h"

#include <assert.h>

static struct nd
new_words(struct lower *l, const int64_t dim[3])
{
	struct hwc s = { .h = (int32_t)dim[0], .w = (int32_t)dim[1],
			 .c = (int32_t)dim[2] };
	struct nd v = { .t = low_tensor(l, TFL_INT32, s, NULL),
			.type = TFL_INT32, .rank = 3,
			.dim = { dim[0], dim[1], dim[2] },
			.stride = { dim[1] * dim[2], dim[2], 1 } };
	return v;
}

static struct g_operand
part_of(const struct nd *v, int64_t start, int64_t n)
{
	struct nd part = *v;
	struct g_operand o;
	nd_slice(&part, 1, start, n, 1);
	bool ok = nd_operand(&part, &o);
	assert(ok);
	return o;
}

/*
 * v is [before][n][behind]: combines the first n / 2 elements with the last n / 2, and
 * copies the middle one if n is odd.
 */
static struct nd
halve(struct lower *l, enum g_op_kind kind, const struct nd *v)
{
	int64_t n = v->dim[1], pairs = n / 2;
	struct nd out = new_words(l, (int64_t[]){ v->dim[0], n - pairs, v->dim[2] });
	(void)word_op_to(l, kind, part_of(v, 0, pairs), part_of(v, n - pairs, pairs),
			 part_of(&out, 0, pairs));
	if (n % 2)
		(void)low_copy(l, part_of(v, pairs, 1), part_of(&out, pairs, 1));
	return out;
}

void
word_reduce_axis(struct lower *l, enum g_op_kind kind, struct nd *v)
{
	while (v->dim[1] > 1)
		*v = halve(l, kind, v);
}
