/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, and ARGMAX. */
#include "part.h"

#include "lower/arg.h"
#include "lower/reduce.h"

/* sets the number of elements in front of adjacent axes, in them, and behind them */
static void
axis_extents(const struct nd *v, int first, int last, int32_t k[3])
{
	k[0] = k[1] = k[2] = 1;
	for (int i = 0; i < v->rank; i++)
		k[i < first ? 0 : i <= last ? 1 : 2] *= (int32_t)v->dim[i];
}

/* the greatest or the least elements, or sums of words */
static void
reduce_middle(struct part *p, enum g_op_kind kind, const struct nd *v, const int32_t k[3],
	      const struct nd *out)
{
	static const bool middle[3] = { [1] = true };
	const struct low_axes r = low_axes_of(3, k, middle);
	low_reduce(p->l, kind, &r, v, out);
}

const char *
lower_reduce(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	int axis = (int)tosa_axis_of(op);
	int32_t k[3];
	axis_extents(&v, axis, axis, k);
	bool least = op->code == TOSA_REDUCE_MIN || op->code == TOSA_REDUCE_ALL;
	reduce_middle(p, least ? OP_MIN : OP_MAX, &v, k, &out);
	return NULL;
}

/* ---- REDUCE_SUM ------------------------------------------------------------------------ */

const char *
lower_reduce_sum(struct part *p, const struct tosa_op *op)
{
	struct source src;
	int64_t factor = 0;
	/* merges successive sums over adjacent axes that nobody else reads */
	int first = (int)tosa_axis_of(op), last = first, sum = op->out[0];
	for (int i; (i = p->reader[sum]) >= 0 && !p->t->tensor[sum].is_output &&
		    p->t->op[i].code == TOSA_REDUCE_SUM;) {
		int axis = (int)tosa_axis_of(&p->t->op[i]);
		if (axis != first - 1 && axis != last + 1)
			break;
		first = axis < first ? axis : first;
		last = axis > last ? axis : last;
		p->done[i] = true;
		sum = p->t->op[i].out[0];
	}
	bool narrow = source_of(p, op->in[0], &src) && is_factor(&src, &factor) &&
		      factor == 1;
	struct nd v = value_of(p, narrow ? src.tensor : op->in[0]);
	int32_t k[3];
	axis_extents(&v, first, last, k);
	bool depth = k[2] == 1;
	struct tail t = tail_of(p, sum, narrow || depth ? TAIL_SCALE : 0);
	struct nd out = result_view(p, t.out);
	struct low_end end = tail_scaled_end(p, &t);
	int32_t zero = narrow ? src.zero : 0;
	if (narrow || depth)
		return low_reduce_once(p->l, depth ? OP_REDUCE_SUM : OP_AVGPOOL, &v, zero, k,
				       &out, &end);
	reduce_middle(p, OP_ADD, &v, k, &out);
	return NULL;
}

/* ---- ARGMAX ----------------------------------------------------------------------------- */

const char *
lower_argmax(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]), dest = out;
	int axis = (int)tosa_axis_of(op);
	int32_t k[3];
	axis_extents(&v, axis, axis, k);
	struct low_arg r = { .max = true, .before = k[0], .n = k[1],
			     .behind = k[2], .type = v.type };
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
