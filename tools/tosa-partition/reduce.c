/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, and ARGMAX. */
#include "part.h"

#include "lower/arg.h"
#include "lower/pool.h"
#include "lower/reduce.h"

/* number of elements in front of adjacent axes, in them, and behind them */
struct extents {
	int32_t k[3];
};

static struct extents
axis_extents(const struct nd *v, int first, int last)
{
	struct extents r = { { 1, 1, 1 } };
	for (int i = 0; i < v->rank; i++)
		r.k[i < first ? 0 : i <= last ? 1 : 2] *= (int32_t)v->dim[i];
	return r;
}

/* v in another shape, copied if its memory does not allow that */
static struct nd
reshaped(struct part *p, const struct nd *v, struct hwc shape)
{
	const int64_t dim[3] = { shape.h, shape.w, shape.c };
	return readable_as(p, v, dim, 3);
}

/* reduces with one operation: a pool, or REDUCE_SUM of channels */
static const char *
reduce_to(struct part *p, enum g_op_kind kind, const struct nd *v, int32_t zero,
	  const struct extents *s, const struct nd *out, const struct low_end *end)
{
	struct g_operand o;
	struct hwc natural = { s->k[0], s->k[1], s->k[2] };
	if (nd_operand(v, &o))
		natural = o.shape;
	struct low_reduced r = kind == OP_REDUCE_SUM ? low_reduced_channels(natural, s->k)
						     : low_reduced_by_pool(natural, s->k);
	if (!low_reduced_fits(&r))
		return "more than 65536 elements in front of, along or behind the axis";
	const int64_t dim[3] = { r.out.h, r.out.w, r.out.c };
	struct nd x = reshaped(p, v, r.in), dest = writable_as(p, out, dim, 3);
	struct g_operand ifm = nd_to_operand(&x), ofm = nd_to_operand(&dest);
	struct g_op *op = kind == OP_REDUCE_SUM ? low_op(p->l, kind, ifm, ofm)
						: low_pool_window(p->l, kind, ifm, ofm, r.kernel);
	op->ifm_zero = zero;
	low_finish(end, op);
	if (kind == OP_MAXPOOL)
		G_CLEAR(op, G_OP_scale);
	deliver_fm(p, &dest, out);
	return NULL;
}

/* reduces the middle axis in 32 bits, by halves, as pools take at most 16 bits */
static const char *
fold_to(struct part *p, enum g_op_kind kind, const struct nd *v, const struct extents *s,
	const struct nd *out)
{
	struct nd x = reshaped(p, v, (struct hwc){ s->k[0], s->k[1], s->k[2] });
	word_reduce_axis(p->l, kind, &x);
	deliver_fm(p, &x, out);
	return NULL;
}

/* ---- REDUCE_MAX, MIN, ALL, ANY -------------------------------------------------------- */

/* the least element is the greatest one when the order is reversed */
static const char *
least_to(struct part *p, const struct nd *v, const struct extents *s, const struct nd *out,
	 const struct low_end *end)
{
	const struct hwc one = { s->k[0], 1, s->k[2] };
	const int64_t dim[3] = { one.h, one.w, one.c };
	struct nd x = reshaped(p, v, (struct hwc){ s->k[0], s->k[1], s->k[2] });
	struct nd turned = nd_new_like(p->l, v, v->type), most = nd_new_like(p->l, out, out->type);
	struct nd to = reshaped(p, &turned, (struct hwc){ s->k[0], s->k[1], s->k[2] });
	low_reverse_order(p->l, nd_to_operand(&x), nd_to_operand(&to));
	const char *why = reduce_to(p, OP_MAXPOOL, &turned, 0, s, &most, end);
	if (why)
		return why;
	struct nd from = reshaped(p, &most, one), dest = writable_as(p, out, dim, 3);
	low_reverse_order(p->l, nd_to_operand(&from), nd_to_operand(&dest));
	deliver_fm(p, &dest, out);
	return NULL;
}

const char *
lower_reduce(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	int axis = (int)tosa_axis_of(op);
	struct extents s = axis_extents(&v, axis, axis);
	bool least = op->code == TOSA_REDUCE_MIN || op->code == TOSA_REDUCE_ALL;
	if (v.type == TFL_INT32)
		return fold_to(p, least ? OP_MIN : OP_MAX, &v, &s, &out);
	return least ? least_to(p, &v, &s, &out, &low_half_up)
		     : reduce_to(p, OP_MAXPOOL, &v, 0, &s, &out, &low_half_up);
}

/* ---- REDUCE_SUM ------------------------------------------------------------------------ */

/* merges successive sums over adjacent axes that nobody else reads; returns their result */
static int
merge_sums(struct part *p, const struct tosa_op *op, int *first, int *last)
{
	int t = op->out[0];
	*first = *last = (int)tosa_axis_of(op);
	for (;;) {
		int i = p->reader[t];
		if (i < 0 || p->t->tensor[t].is_output ||
		    p->t->op[i].code != TOSA_REDUCE_SUM)
			return t;
		int axis = (int)tosa_axis_of(&p->t->op[i]);
		if (axis != *first - 1 && axis != *last + 1)
			return t;
		*first = axis < *first ? axis : *first;
		*last = axis > *last ? axis : *last;
		p->done[i] = true;
		t = p->t->op[i].out[0];
	}
}

const char *
lower_reduce_sum(struct part *p, const struct tosa_op *op)
{
	struct source src;
	int64_t factor = 0;
	int first, last, sum = merge_sums(p, op, &first, &last);
	bool narrow = source_of(p, op->in[0], &src) && is_factor(&src, &factor) &&
		      factor == 1;
	struct nd v = value_of(p, narrow ? src.tensor : op->in[0]);
	struct extents s = axis_extents(&v, first, last);
	bool depth = s.k[2] == 1;
	struct tail t = tail_of(p, sum, narrow || depth ? TAIL_SCALE : 0);
	struct nd out = result_view(p, t.out);
	struct low_end end = tail_scaled_end(p, &t);
	int32_t zero = narrow ? src.zero : 0;
	if (!narrow && !depth)
		return fold_to(p, OP_ADD, &v, &s, &out);
	return reduce_to(p, depth ? OP_REDUCE_SUM : OP_AVGPOOL, &v, zero, &s, &out, &end);
}

/* ---- ARGMAX ----------------------------------------------------------------------------- */

const char *
lower_argmax(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]), dest = out;
	int axis = (int)tosa_axis_of(op);
	struct extents s = axis_extents(&v, axis, axis);
	struct low_arg r = { .max = true, .before = s.k[0], .n = s.k[1],
			     .behind = s.k[2], .type = v.type };
	struct g_operand ofm;
	const char *why = low_arg_check(p->l, &r);
	if (why)
		return why;
	if (!nd_is_dense(&out))
		dest = nd_new_like(p->l, &out, out.type);
	(void)nd_operand(&dest, &ofm); /* dense memory always has such a view */
	low_arg(p->l, &r, &v, ofm);
	if (dest.t != out.t)
		nd_copy(p->l, &dest, &out);
	return NULL;
}
