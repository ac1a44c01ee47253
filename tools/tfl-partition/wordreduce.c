/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SUM, REDUCE_MAX, REDUCE_MIN of 32 bits: pools take 16 at most, so the two
 * halves of an axis are added, or compared, until one element is left.
 */
#include "nd.h"
#include "reduce.h"

#include <assert.h>

static struct nd
new_words(struct part *p, const int64_t dim[3])
{
	struct hwc s = { .h = (int32_t)dim[0], .w = (int32_t)dim[1],
			 .c = (int32_t)dim[2] };
	struct nd v = { .t = part_new_tensor(p, TFL_INT32, s, NULL),
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

/* [before][n][behind]: the first n / 2 with the last; the middle one remains */
static struct nd
halve(struct part *p, enum g_op_kind kind, const struct nd *v)
{
	int64_t n = v->dim[1], pairs = n / 2;
	struct nd out = new_words(p, (int64_t[]){ v->dim[0], n - pairs, v->dim[2] });
	struct g_op *op = part_op(p, kind, part_of(v, 0, pairs), part_of(&out, 0, pairs));
	op_ifm2(op, part_of(v, n - pairs, pairs), 0);
	if (kind == OP_ADD)
		op_unscaled(op);
	if (n % 2)
		(void)part_copy(p, part_of(v, pairs, 1), part_of(&out, pairs, 1));
	return out;
}

void
words_folded(struct part *p, enum g_op_kind kind, struct nd *v)
{
	while (v->dim[1] > 1)
		*v = halve(p, kind, v);
}

const char *
check_extents(const struct reduction *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->g[i].n > MAX_EXTENT ||
		    axes_product(r->g, i) > MAX_EXTENT ||
		    axes_product(r->g + i + 1, r->n - i - 1) > MAX_EXTENT)
			return "an axis, or those before or behind it, have more "
			       "than 65536 elements";
	return NULL;
}

bool
lower_words_reduced(struct part *p, const struct tfl_op *op, struct reduction *r)
{
	enum g_op_kind kind = op->code == TFL_SUM	 ? OP_ADD
			      : op->code == TFL_REDUCE_MAX ? OP_MAX
							 : OP_MIN;
	struct nd v = nd_ifm(p, op->in[0]);
	if (!nd_is_dense(&v))
		v = nd_readable(p, &v);
	for (int at = r->n; at-- > 0;) {
		int64_t dim[3] = { axes_product(r->g, at), r->g[at].n,
				   axes_product(r->g + at + 1, r->n - at - 1) };
		if (!r->g[at].drop)
			continue;
		bool ok = nd_reshape(&v, dim, 3);
		assert(ok);
		words_folded(p, kind, &v);
		r->g[at].n = 1;
	}
	struct nd to = nd_ofm(p, op->out[0]);
	nd_copy(p, &v, &to);
	return true;
}
