/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions, and ARGMAX. */
#include "part.h"

#include "lower/arg.h"
#include "lower/pool.h"

enum { MAX_EXTENT = 65536, MAX_ROWS = 256 };

/* what lies in front of axes that are neighbours, them, and what is behind them */
struct three {
	int64_t dim[3];
};

static struct three
around(const struct nd *v, int first, int last)
{
	struct three r = { { 1, 1, 1 } };
	for (int k = 0; k < v->rank; k++)
		r.dim[k < first ? 0 : k <= last ? 1 : 2] *= v->dim[k];
	return r;
}

/* v in these dimensions, copied where memory does not allow it */
static struct nd
reshaped(struct part *p, const struct nd *v, const int64_t *dim, int rank)
{
	struct nd r = *v;
	struct g_operand o;
	if (nd_reshape(&r, dim, rank) && nd_operand(&r, &o))
		return r;
	r = nd_like(p->l, v, v->type);
	nd_copy(p->l, v, &r);
	(void)nd_reshape(&r, dim, rank);
	return r;
}

/* memory for a result seen as [before][behind]; deliver() copies where it must */
static struct nd
room_of(struct part *p, const struct nd *out, const struct three *s)
{
	struct nd r = *out;
	const int64_t dim[3] = { s->dim[0], 1, s->dim[2] };
	struct g_operand o;
	if (nd_reshape(&r, dim, 3) && nd_operand(&r, &o))
		return r;
	return nd_new(p->l, out->type, 3, dim);
}

static void
deliver(struct part *p, const struct nd *room, const struct nd *out)
{
	struct nd r = *room;
	if (r.t == out->t)
		return;
	(void)nd_reshape(&r, out->dim, out->rank);
	nd_copy(p->l, &r, out);
}

/* a pool over the middle of [before][n][behind], n columns of each row */
static const char *
pool_middle(struct part *p, enum g_op_kind kind, const struct nd *v, int32_t zero,
	    const struct nd *out, struct finish *f)
{
	struct g_operand ifm, ofm;
	for (int k = 0; k < 3; k++)
		if (v->dim[k] > MAX_EXTENT)
			return "more than 65536 elements in front of, along or behind the "
			       "axis";
	if (!nd_operand(v, &ifm) || !nd_operand(out, &ofm))
		return "its tensors are parts of others";
	struct yx kernel = { .y = 1, .x = (int32_t)v->dim[1] };
	struct g_op *op = low_window(p->l, kind, ifm, ofm, kernel);
	op_zeros(op, zero, 0);
	f->p = p;
	finish_op(f, op);
	if (kind == OP_MAXPOOL)
		G_CLEAR(op, G_OP_scale);
	return NULL;
}

/* ---- REDUCE_MAX, MIN, ALL, ANY -------------------------------------------------------- */

const char *
lower_reduce(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_place(p, op->out[0]);
	int axis = (int)tosa_axis_of(op);
	struct three s = around(&v, axis, axis);
	bool least = op->code == TOSA_REDUCE_MIN || op->code == TOSA_REDUCE_ALL;
	struct nd x = reshaped(p, &v, s.dim, 3);
	if (v.type == TFL_INT32) {
		words_folded(p->l, least ? OP_MIN : OP_MAX, &x);
		deliver(p, &x, &out);
		return NULL;
	}
	struct nd room = room_of(p, &out, &s), r = room;
	struct finish f = { .round = ROUND_NATURAL };
	if (least) {
		struct nd turned = nd_like(p->l, &x, x.type);
		low_turn_order(p->l, nd_seen(&x), nd_seen(&turned));
		x = turned;
		r = nd_like(p->l, &room, room.type);
	}
	const char *why = pool_middle(p, OP_MAXPOOL, &x, 0, &r, &f);
	if (!why && least)
		low_turn_order(p->l, nd_seen(&r), nd_seen(&room));
	deliver(p, &room, &out);
	return why;
}

/* ---- REDUCE_SUM ------------------------------------------------------------------------ */

/* sums of sums that nobody else reads are one, over neighbouring axes */
static int
last_of(struct part *p, const struct tosa_op *op, int *first, int *last)
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

/* [before][n] to [before], by REDUCE_SUM along channels */
static const char *
sum_depth(struct part *p, const struct nd *v, int32_t zero, const struct nd *out,
	  struct finish *f)
{
	struct g_operand ifm, ofm;
	struct nd x = *v, y = *out;
	const int64_t in[3] = { 1, v->dim[0], v->dim[1] }, to[3] = { 1, v->dim[0], 1 };
	if (v->dim[0] > MAX_EXTENT || v->dim[1] > MAX_EXTENT)
		return "more than 65536 elements in front of or along the axis";
	if (!nd_reshape(&x, in, 3) || !nd_reshape(&y, to, 3) || !nd_operand(&x, &ifm) ||
	    !nd_operand(&y, &ofm))
		return "its tensors are parts of others";
	struct g_op *op = low_op(p->l, OP_REDUCE_SUM, ifm, ofm);
	op_zeros(op, zero, 0);
	f->p = p;
	finish_op(f, op);
	return NULL;
}

/* rows and columns of an image: a pool whose window is all of it */
static bool
sum_image(struct part *p, const struct nd *v, int32_t zero, int first, int last,
	  const struct nd *out, struct finish *f)
{
	struct g_operand ifm, ofm;
	if (v->rank != 4 || first != 1 || last != 2 || v->dim[1] > MAX_ROWS ||
	    v->dim[1] * v->dim[2] > MAX_EXTENT || v->dim[0] != 1 ||
	    !nd_operand(v, &ifm) || !nd_operand(out, &ofm))
		return false;
	struct yx kernel = { .y = ifm.shape.h, .x = ifm.shape.w };
	struct g_op *op = low_window(p->l, OP_AVGPOOL, ifm, ofm, kernel);
	op_zeros(op, zero, 0);
	f->p = p;
	finish_op(f, op);
	return true;
}

const char *
lower_reduce_sum(struct part *p, const struct tosa_op *op)
{
	struct source src;
	int64_t factor = 0;
	int first, last, sum = last_of(p, op, &first, &last);
	bool narrow = source_of(p, op->in[0], &src) && is_factor(&src, &factor) &&
		      factor == 1;
	struct nd v = value_of(p, narrow ? src.tensor : op->in[0]);
	struct three s = around(&v, first, last);
	bool depth = s.dim[2] == 1;
	struct tail t = tail_of(p, sum, narrow || depth ? TAIL_SCALE : 0);
	struct nd out = result_place(p, t.out);
	struct finish f = { .tail = &t, .round = tail_round(&t),
			    .scale = tail_scale(&t, 0) };
	int32_t zero = narrow ? src.zero : 0;
	if (narrow && sum_image(p, &v, zero, first, last, &out, &f))
		return NULL;
	struct nd x = reshaped(p, &v, s.dim, 3), room = room_of(p, &out, &s);
	const char *why = NULL;
	if (depth) {
		why = sum_depth(p, &x, zero, &room, &f);
	} else if (narrow) {
		why = pool_middle(p, OP_AVGPOOL, &x, zero, &room, &f);
	} else {
		words_folded(p->l, OP_ADD, &x);
		deliver(p, &x, &out);
		return NULL;
	}
	deliver(p, &room, &out);
	return why;
}

/* ---- ARGMAX ----------------------------------------------------------------------------- */

const char *
lower_argmax(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_place(p, op->out[0]), room = out;
	int axis = (int)tosa_axis_of(op);
	struct three s = around(&v, axis, axis);
	struct low_arg r = { .max = true, .before = s.dim[0], .n = s.dim[1],
			     .behind = s.dim[2], .type = v.type };
	struct g_operand ofm;
	const char *why = low_arg_check(p->l, &r);
	if (why)
		return why;
	if (!nd_is_dense(&out))
		room = nd_like(p->l, &out, out.type);
	(void)nd_operand(&room, &ofm); /* dense memory is one */
	low_arg(p->l, &r, &v, ofm);
	if (room.t != out.t)
		nd_copy(p->l, &room, &out);
	return NULL;
}
