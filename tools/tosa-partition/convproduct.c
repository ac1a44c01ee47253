/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONV2D and DEPTHWISE_CONV2D with computed weights, which no weight stream can
 * hold.  CONV2D is a product of two matrices: one has for each result the elements
 * under its window, the other for each channel its weights.  DEPTHWISE_CONV2D is a
 * sum of products over the taps of its window.
 */
#include "part.h"

enum { MAX_OPS = 2048 };

struct windows {
	struct nd in;  /* [N,H,W,C] including the padding */
	struct nd w;   /* in TOSA's dimensions */
	struct nd bias; /* words [1 or O] */
	struct tosa_window k;
	int32_t in_zero, weight_zero;
	int64_t out[4]; /* dimensions of the result */
};

/* the elements under tap (y, x) of all windows: [N,OH,OW,C] */
static struct nd
under_tap(const struct windows *m, int32_t y, int32_t x)
{
	struct nd v = m->in;
	nd_slice(&v, 1, (int64_t)y * m->k.dilation[0], m->out[1], m->k.stride[0]);
	nd_slice(&v, 2, (int64_t)x * m->k.dilation[1], m->out[2], m->k.stride[1]);
	return v;
}

/* one bias for each channel, in contiguous memory */
static struct nd
bias_of(struct part *p, const struct windows *m)
{
	struct nd v = m->bias;
	struct nd shape = nd_dense(TFL_INT32, 1, (int32_t[]){ (int32_t)m->out[3] });
	bool whole = v.dim[0] == shape.dim[0];
	return whole && nd_is_dense(&v) ? v : nd_spread(p->l, &v, &shape);
}

static const char *
multiply_rows(struct part *p, const struct windows *m, const struct tail *t)
{
	int64_t taps = (int64_t)m->k.kernel[0] * m->k.kernel[1], c = m->in.dim[3];
	const int64_t rows = m->out[0] * m->out[1] * m->out[2];
	const int64_t matrix[2] = { m->out[3], taps * c };
	const int64_t sums[2] = { rows, m->out[3] };
	struct nd w = nd_readable(p->l, &m->w), bias = bias_of(p, m);
	(void)nd_reshape(&w, matrix, 2);
	struct low_matmul x = { .b = w, .a_zero = m->in_zero, .b_zero = m->weight_zero,
				.bias = &bias };
	x.a = nd_dense(w.type, 2, (int32_t[]){ (int32_t)rows, (int32_t)matrix[1] });
	if (taps > MAX_OPS || low_matmul_check(p->l, &x, 1) ||
	    rows > INT32_MAX / matrix[1])
		return "its weights are not constant, and it would take more than 2048 "
		       "operations";
	/* a row of elements for each result: [N * OH * OW][taps * C] */
	x.a = nd_new(p->l, m->in.type, 4,
		     (int64_t[]){ m->out[0], m->out[1], m->out[2], matrix[1] });
	for (int32_t i = 0; i < taps; i++) {
		struct nd part = nd_part(&x.a, 3, i * c, c);
		struct nd from = under_tap(m, i / m->k.kernel[1], i % m->k.kernel[1]);
		nd_copy(p->l, &from, &part);
	}
	/* new memory is contiguous, so this succeeds */
	(void)nd_reshape(&x.a, (int64_t[]){ rows, matrix[1] }, 2);
	struct nd out = result_view(p, t->out), dest = out, to;
	if (!nd_reshape(&dest, sums, 2))
		dest = nd_new(p->l, out.type, 2, sums);
	struct low_end end = tail_scaled_end(p, t);
	low_matmul(p->l, &x, &dest, &end);
	if (dest.t == out.t)
		return NULL;
	to = dest;
	(void)nd_reshape(&to, out.dim, out.rank);
	nd_copy(p->l, &to, &out);
	return NULL;
}

/* sums the products of all taps: [N,OH,OW,C,M] of words */
static const char *
add_taps(struct part *p, const struct windows *m, const struct nd *out)
{
	int64_t c = m->in.dim[3], each = m->out[3] / c;
	int32_t taps = m->k.kernel[0] * m->k.kernel[1];
	const int64_t dim[5] = { m->out[0], m->out[1], m->out[2], c, each };
	struct nd sum = bias_of(p, m), w = nd_readable(p->l, &m->w), to = *out;
	if (taps > MAX_OPS / 2)
		return "its weights are not constant, and it would take more than 2048 "
		       "operations";
	(void)nd_reshape(&sum, (int64_t[]){ 1, 1, 1, c, each }, 5);
	(void)nd_reshape(&w, (int64_t[]){ taps, c, each }, 3);
	for (int32_t i = 0; i < taps; i++) {
		struct nd x = under_tap(m, i / m->k.kernel[1], i % m->k.kernel[1]);
		struct nd product = nd_new(p->l, TFL_INT32, 5, dim);
		x.rank = 5;
		x.dim[4] = x.stride[4] = 1;
		struct nd y = nd_part(&w, 0, i, 1);
		(void)nd_reshape(&y, (int64_t[]){ 1, 1, 1, c, each }, 5);
		nd_binary(p->l, OP_MUL, &x, m->in_zero, &y, m->weight_zero, &product,
			  &low_half_up);
		sum = nd_broadcast_op(p->l, OP_ADD, &product, &sum);
	}
	(void)nd_reshape(&sum, to.dim, to.rank);
	nd_copy(p->l, &sum, &to);
	return NULL;
}

const char *
lower_conv_product(struct part *p, const struct tosa_op *op)
{
	if (tosa_in(p->t, op, 0)->type != TOSA_INT8 ||
	    tosa_in(p->t, op, 1)->type != TOSA_INT8)
		return "its weights are not constant, which is supported for 8 bits "
		       "only";
	struct windows m = { .k = tosa_window_of(p->t, op) };
	struct nd v = value_of(p, op->in[0]);
	m.w = value_of(p, op->in[1]);
	m.bias = value_of(p, op->in[2]);
	m.in_zero = (int32_t)tosa_zero_of(p->t, op, 3);
	m.weight_zero = (int32_t)tosa_zero_of(p->t, op, 4);
	const int64_t before[4] = { 0, m.k.before[0], m.k.before[1], 0 };
	m.in = v;
	for (int i = 0; i < 2; i++)
		m.in.dim[1 + i] += m.k.before[i] + m.k.after[i];
	if (m.in.dim[1] != v.dim[1] || m.in.dim[2] != v.dim[2]) {
		m.in = nd_new_like(p->l, &m.in, v.type);
		nd_pad(p->l, &v, before, m.in_zero, &m.in);
	}
	for (int i = 0; i < 4; i++)
		m.out[i] = tosa_out(p->t, op)->dim[i];
	if (op->code == TOSA_DEPTHWISE_CONV2D) {
		struct nd out = result_view(p, op->out[0]);
		return add_taps(p, &m, &out);
	}
	struct tail t = tail_of(p, op->out[0], TAIL_SCALE);
	return multiply_rows(p, &m, &t);
}
