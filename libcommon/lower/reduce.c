/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduces axes, the innermost first.  An operation keeps the natural shape if it fits, so that
 * layouts other than linear remain possible; else it uses three plain axes.
 */
#include "lower/reduce.h"

#include "graph/facts.h"
#include "lower/conv.h"
#include "lower/pool.h"

struct low_reduced
low_reduced_by_pool(struct hwc natural, const int32_t k[3])
{
	struct hwc s = natural;
	if (k[0] == 1 && s.h * s.w == k[1] && s.c == k[2] && s.h <= LOW_POOL_ROWS)
		return (struct low_reduced){ .in = s, .out = { 1, 1, k[2] },
					     .kernel = { .y = s.h, .x = s.w } };
	if (k[0] == 1 && s.h == k[1] && s.h <= LOW_POOL_ROWS)
		return (struct low_reduced){ .in = s, .out = { 1, s.w, s.c },
					     .kernel = { .y = s.h, .x = 1 } };
	if (k[0] == 1 && k[2] > LOW_REDUCE_EXTENT && k[1] <= LOW_POOL_ROWS)
		return (struct low_reduced){ .in = { k[1], k[2] / s.c, s.c },
					     .out = { 1, k[2] / s.c, s.c },
					     .kernel = { .y = k[1], .x = 1 } };
	return (struct low_reduced){ .in = { k[0], k[1], k[2] }, .out = { k[0], 1, k[2] },
				     .kernel = { .y = 1, .x = k[1] } };
}

bool
low_reduced_fits(const struct low_reduced *r)
{
	return r->in.h <= LOW_REDUCE_EXTENT && r->in.w <= LOW_REDUCE_EXTENT &&
	       r->in.c <= LOW_REDUCE_EXTENT &&
	       (int64_t)r->kernel.y * r->kernel.x <= LOW_POOL_WINDOW;
}

/*
 * Adds channels minus a zero point, by weights of 1: no compiler uses a zero point with
 * REDUCE_SUM.
 */
static void
sum_by_weights(struct lower *l, const struct nd *v, int32_t zero, const struct nd *out,
	       const struct low_end *end)
{
	static const uint8_t one = 1;
	static const int64_t none = 0;
	const struct yx unit = { .y = 1, .x = 1 };
	const int64_t in[4] = { 1, v->dim[0], v->dim[1], v->dim[2] };
	const int64_t to[4] = { 1, out->dim[0], out->dim[1], 1 };
	const struct nd image = nd_as(*v, in, 4), sums = nd_as(*out, to, 4);
	struct low_conv c = {
		.kind = OP_CONV, .o = 1, .i = (int32_t)v->dim[2], .groups = 1,
		.weights = { .v = &one, .type = TFL_INT8, .zero = &none, .n_zero = 1, .name = "ones" },
		.kernel = unit, .stride = unit, .dilation = unit, .ifm_zero = zero, .bias = &none,
		.scale = &end->scale, .round = end->round };
	low_conv(l, &c, &image, &sums, end);
}

static const char too_large[] =
    "more than 65536 elements in front of, along or behind the axis";

const char *
low_reduce_once(struct lower *l, enum g_op_kind kind, const struct nd *v, int32_t zero,
		const int32_t k[3], const struct nd *out, const struct low_end *end)
{
	struct g_operand o;
	struct hwc natural = { k[0], k[1], k[2] };
	if (nd_operand(v, &o))
		natural = o.shape;
	struct low_reduced r;
	if (kind == OP_REDUCE_SUM) { /* adds channels; k[2] is 1 */
		if (natural.c != k[1])
			natural = (struct hwc){ .h = 1, .w = k[0], .c = k[1] };
		r = (struct low_reduced){ .in = natural, .out = { natural.h, natural.w, 1 },
					  .kernel = { .y = 1, .x = 1 } };
	} else {
		r = low_reduced_by_pool(natural, k);
	}
	if (!low_reduced_fits(&r))
		return too_large;
	const int64_t in[3] = { r.in.h, r.in.w, r.in.c }, to[3] = { r.out.h, r.out.w, r.out.c };
	struct nd x = nd_addressed_as(l, v, in, 3), dest = nd_writable_as(l, out, to, 3);
	if (kind == OP_REDUCE_SUM && zero) {
		sum_by_weights(l, &x, zero, &dest, end);
	} else {
		struct g_operand ifm = nd_to_operand(&x), ofm = nd_to_operand(&dest);
		struct g_op *op = kind == OP_REDUCE_SUM
				      ? low_op(l, kind, ifm, ofm)
				      : low_pool_window(l, kind, ifm, ofm, r.kernel);
		op->ifm_zero = zero;
		low_finish(end, op);
	}
	nd_deliver(l, &dest, out);
	return NULL;
}

/* ---- any axes ------------------------------------------------------------------------ */

struct low_axes
low_axes_of(int rank, const int32_t *dim, const bool *drop)
{
	struct low_axes r = { .n = 0 };
	for (int i = 0; i < rank; i++) {
		struct low_extent *last = r.n ? &r.axis[r.n - 1] : NULL;
		if (dim[i] == 1)
			continue;
		if (last && last->drop == drop[i]) {
			last->n *= dim[i];
			continue;
		}
		r.axis[r.n++] = (struct low_extent){ .n = dim[i], .drop = drop[i] };
		r.drops += drop[i];
	}
	return r;
}

/* sets the number of elements before, along and behind axis `at` */
static void
axes_around(const struct low_axes *r, int at, int32_t k[3])
{
	k[0] = k[1] = k[2] = 1;
	for (int i = 0; i < r->n; i++)
		k[i < at ? 0 : i == at ? 1 : 2] *= r->axis[i].n;
}

void
low_axes_dropped(const struct low_axes *r, int32_t k[3])
{
	int at = 0;
	while (!r->axis[at].drop)
		at++;
	axes_around(r, at, k);
}

const char *
low_reduce_check(const struct low_axes *r, int type, const struct hwc *natural)
{
	int32_t k[3];
	if (type != TFL_INT32 && r->drops == 1) {
		low_axes_dropped(r, k);
		struct low_reduced s = low_reduced_by_pool(
		    natural ? *natural : (struct hwc){ k[0], k[1], k[2] }, k);
		return low_reduced_fits(&s) ? NULL : too_large;
	}
	for (int i = 0; r->drops && i < r->n; i++) {
		axes_around(r, i, k);
		if (k[0] > LOW_REDUCE_EXTENT || k[1] > LOW_REDUCE_EXTENT ||
		    k[2] > LOW_REDUCE_EXTENT)
			return too_large;
	}
	return NULL;
}

/* Writes -1 - v, in v's own shape. */
static void
reverse_order(struct lower *l, const struct nd *v, const struct nd *out)
{
	struct nd from = nd_addressed_as(l, v, v->dim, v->rank);
	struct nd to = nd_writable_as(l, out, out->dim, out->rank);
	low_reverse_order(l, nd_to_operand(&from), nd_to_operand(&to));
	nd_deliver(l, &to, out);
}

void
low_reduce(struct lower *l, enum g_op_kind kind, const struct low_axes *axes, const struct nd *v,
	   const struct nd *out)
{
	struct low_axes r = *axes;
	struct g_operand o;
	const char *why = low_reduce_check(&r, v->type, nd_operand(v, &o) ? &o.shape : NULL);
	if (why) {
		low_refuse(l, why);
		return;
	}
	if (!r.drops) {
		struct nd same = nd_readable_as(l, *v, out->dim, out->rank);
		nd_copy(l, &same, out);
		return;
	}
	/* the least element is the greatest one when the order is reversed */
	bool turn = kind == OP_MIN && v->type != TFL_INT32;
	struct nd x = turn ? nd_new_like(l, v, v->type) : *v;
	if (turn)
		reverse_order(l, v, &x);
	struct nd dest = turn ? nd_new_like(l, out, out->type) : *out;
	for (int at = r.n; at-- > 0;) {
		int32_t k[3];
		if (!r.axis[at].drop)
			continue;
		axes_around(&r, at, k);
		const int64_t in[3] = { k[0], k[1], k[2] }, to[3] = { k[0], 1, k[2] };
		const bool last = !--r.drops;
		if (v->type == TFL_INT32) {
			/* pools take at most 16 bits: combine the two halves of an axis of words */
			x = nd_addressed_as(l, &x, in, 3);
			word_reduce_axis(l, kind, &x);
			if (last)
				nd_deliver(l, &x, &dest);
		} else {
			struct nd y = last ? dest : nd_new(l, v->type, 3, to);
			(void)low_reduce_once(l, OP_MAXPOOL, &x, 0, k, &y, &low_as_made);
			x = y;
		}
		r.axis[at].n = 1;
	}
	if (turn)
		reverse_order(l, &dest, out);
}
