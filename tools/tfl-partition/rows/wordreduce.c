/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SUM, REDUCE_MAX, REDUCE_MIN of 32 bits.  Pools take at most 16 bits, therefore
 * the two halves of an axis are added or compared until one element is left.
 */
#include "../moves/move.h"
#include "reduce.h"

#include "lower/reduce.h"

#include <assert.h>

const char *
check_extents(const struct reduction *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->g[i].n > LOW_REDUCE_EXTENT ||
		    axes_product(r->g, i) > LOW_REDUCE_EXTENT ||
		    axes_product(r->g + i + 1, r->n - i - 1) > LOW_REDUCE_EXTENT)
			return "an axis, or those before or behind it, have more "
			       "than 65536 elements";
	return NULL;
}

void
lower_words_reduced(struct part *p, const struct tfl_op *op, struct reduction *r)
{
	enum g_op_kind kind = op->code == TFL_SUM	 ? OP_ADD
			      : op->code == TFL_REDUCE_MAX ? OP_MAX
							 : OP_MIN;
	struct nd v = nd_ifm(p, op->in[0]);
	if (!nd_is_dense(&v))
		v = nd_readable(p->l, &v);
	for (int at = r->n; at-- > 0;) {
		int64_t dim[3] = { axes_product(r->g, at), r->g[at].n,
				   axes_product(r->g + at + 1, r->n - at - 1) };
		if (!r->g[at].drop)
			continue;
		bool ok = nd_reshape(&v, dim, 3);
		assert(ok);
		word_reduce_axis(p->l, kind, &v);
		r->g[at].n = 1;
	}
	struct nd to = nd_ofm(p, op->out[0]);
	nd_copy(p->l, &v, &to);
}
