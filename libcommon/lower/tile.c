/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repetition along any axes, by the cheaper of two methods.  The first copies with
 * steps of 0, which read elements repeatedly.  The second copies once to a corner of
 * the output, then copies the part already written along each axis.
 */
#include "lower/nd.h"

#include "base/fixed.h"

/* Inserts an axis of repetitions before each axis of v, in both views. */
static void
repeat(const struct nd *v, struct nd *from, struct nd *to)
{
	for (int k = v->rank; k-- > 0;) {
		nd_split(to, k, v->dim[k]);
		nd_split(from, k, v->dim[k]);
		from->dim[k] = to->dim[k];
		from->stride[k] = 0;
	}
}

static struct nd
corner(const struct nd *v, const struct nd *out)
{
	struct nd r = *out;
	for (int k = 0; k < v->rank; k++)
		nd_slice(&r, k, 0, v->dim[k], 1);
	return r;
}

/* Returns the number of operations of the second method. */
static int64_t
corner_copies(const struct lower *l, const struct nd *v, const struct nd *out)
{
	struct nd first = corner(v, out);
	int64_t n = 1;
	for (int k = 0; k < v->rank; k++)
		n += out->dim[k] / v->dim[k] - 1;
	return n * nd_copies(l, v, &first);
}

int64_t
nd_tile_copies(const struct lower *l, const struct nd *v, const struct nd *out)
{
	struct nd from = *v, to = *out;
	repeat(v, &from, &to);
	return min_i64(nd_copies(l, &from, &to), corner_copies(l, v, out));
}

void
nd_tile(struct lower *l, const struct nd *v, const struct nd *out)
{
	struct nd from = *v, to = *out, done = corner(v, out);
	repeat(v, &from, &to);
	if (nd_copies(l, &from, &to) <= corner_copies(l, v, out)) {
		nd_copy(l, &from, &to);
		return;
	}
	nd_copy(l, v, &done);
	for (int k = v->rank; k-- > 0;) {
		for (int64_t at = v->dim[k]; at < out->dim[k]; at += v->dim[k]) {
			struct nd next = done;
			next.offset += at * out->stride[k];
			nd_copy(l, &done, &next);
		}
		done.dim[k] = out->dim[k];
	}
}
