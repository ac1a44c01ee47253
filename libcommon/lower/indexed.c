/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER and SCATTER of columns by U85's DMA engine, with indices in a feature map.
 * Only this engine reads addresses from data; all other addresses are in the commands.
 * Only the engine sees an index out of range, as it is programmed with the greatest
 * index.  Its behaviour is undocumented, and the reference gives no result for such an
 * index either.
 */
#include "lower/linux.h"
#include "lower/nd.h"

#include "graph/facts.h"

#include <assert.h>

/* Converts v to an operand whose rows, columns and channels a transfer can step through. */
static bool
as_columns(const struct nd *v, struct g_operand *out)
{
	bool together = v->dim[2] == 1 || v->stride[2] == 1;
	bool apart = v->dim[1] == 1 || v->stride[1] >= v->dim[2];
	bool forth = v->dim[0] == 1 || v->stride[0] >= 0;
	return together && apart && forth && nd_operand(v, out);
}

bool
nd_can_index(const struct lower *l, const int64_t any[3], int64_t columns)
{
	enum { MOST = 1 << 16 }; /* rows and indices: one less */
	return low_has(l, LACK_GATHER) && any[0] < MOST && columns < MOST && any[1] <= MOST &&
	       any[2] <= MOST;
}

bool
nd_has_columns(const struct nd *v)
{
	struct g_operand o;
	return as_columns(v, &o);
}

static struct g_operand
columns_of(struct lower *l, const struct nd *v)
{
	struct g_operand o;
	if (as_columns(v, &o))
		return o;
	struct nd dense = nd_readable(l, v);
	bool ok = as_columns(&dense, &o);
	assert(ok);
	return o;
}

/* Converts indices to contiguous words. */
static struct g_operand
indices_of(struct lower *l, const struct nd *at)
{
	const int64_t dim[3] = { at->dim[0], at->dim[1], 1 };
	struct nd v = nd_readable(l, at);
	struct g_operand o;
	bool ok = nd_reshape(&v, dim, 3) && nd_operand(&v, &o) && operand_is_contiguous(&o);
	assert(ok);
	return o;
}

void
nd_gather(struct lower *l, const struct nd *from, const struct nd *at,
	  const struct nd *to)
{
	struct g_operand i = columns_of(l, from), x = indices_of(l, at), o;
	bool direct = as_columns(to, &o) && o.t != i.t;
	if (!direct) {
		struct hwc shape = { .h = (int32_t)to->dim[0], .w = (int32_t)to->dim[1],
				     .c = (int32_t)to->dim[2] };
		o = low_new(l, to->type, shape);
	}
	op_ifm2(low_op(l, OP_GATHER, i, o), x, 0);
	if (direct)
		return;
	struct nd made = nd_operand_of(o, 3, (int32_t[]){ o.shape.h, o.shape.w, o.shape.c });
	nd_copy(l, &made, to);
}

void
nd_scatter(struct lower *l, const struct nd *from, const struct nd *at,
	   const struct nd *to)
{
	struct g_operand i = columns_of(l, from), x = indices_of(l, at), o;
	bool ok = as_columns(to, &o);
	assert(ok);
	op_ifm2(low_op(l, OP_SCATTER, i, o), x, 0);
}
