/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH_MATMUL: nputools-lowering(7) 3.2. */
#include "kernels/view.h"

/* One operand: [batch...][rows][cols], transposed if its option is set. */
struct operand {
	const struct tfl_tensor *t;
	struct affine q;
	const int32_t *v;
	int32_t rows, cols; /* after transposition */
	int64_t row_step, col_step;
};

struct matmul {
	struct operand a, b;
	const struct tfl_tensor *out;
	struct affine q_out;
	struct fixed_mult mult;
	bool wide; /* int16: 64-bit accumulators */
};

static bool
load_operand(struct call *c, int k, bool adjoint, struct operand *o)
{
	o->t = call_in(c, k);
	if (!call_type(c, o->t, "input", T_I8 | T_I16) ||
	    !call_same_type(c, o->t, call_out(c, 0)) ||
	    !call_affine(c, o->t, "input", &o->q))
		return false;
	if (o->t->rank < 2)
		return call_mismatch(c, "input %d has rank %d", k, o->t->rank);
	int32_t rows = o->t->dim[o->t->rank - 2],
		cols = o->t->dim[o->t->rank - 1];
	o->rows = adjoint ? cols : rows;
	o->cols = adjoint ? rows : cols;
	o->row_step = adjoint ? 1 : cols;
	o->col_step = adjoint ? cols : 1;
	o->v = call_widen(c, k);
	return true;
}

static bool
check_matmul_shapes(struct call *c, const struct matmul *m)
{
	const struct tfl_tensor *out = m->out;
	bool ok = out->rank >= 2 && out->rank >= m->a.t->rank &&
		  out->rank >= m->b.t->rank && m->a.cols == m->b.rows &&
		  out->dim[out->rank - 2] == m->a.rows &&
		  out->dim[out->rank - 1] == m->b.cols;
	for (int d = 0; ok && d < out->rank - 2; d++) {
		int32_t x = tfl_broadcast_dim(m->a.t, out, d),
			y = tfl_broadcast_dim(m->b.t, out, d);
		ok = (x == 1 || x == out->dim[d]) &&
		     (y == 1 || y == out->dim[d]) &&
		     (x == out->dim[d] || y == out->dim[d]);
	}
	return ok ? call_work(c, tfl_elements(out), m->a.cols)
		  : call_mismatch(
			c,
			"%dx%d times %dx%d with these batches does not "
			"give the output's shape",
			m->a.rows, m->a.cols, m->b.rows, m->b.cols);
}

/* Returns the first element of the operand's matrix for batch i of the output. */
static int64_t
batch_start(const struct operand *o, const struct tfl_tensor *out, int64_t i)
{
	int64_t start = 0, step = (int64_t)o->rows * o->cols;
	for (int d = out->rank - 3; d >= 0; d--) {
		int32_t own = tfl_broadcast_dim(o->t, out, d);
		if (own > 1)
			start += i % out->dim[d] * step;
		step *= own;
		i /= out->dim[d];
	}
	return start;
}

static int32_t
element(const struct matmul *m, const int32_t *a, const int32_t *b)
{
	int64_t sum = 0;
	for (int32_t k = 0; k < m->a.cols; k++)
		sum += (int64_t)(a[k * m->a.col_step] - m->a.q.zero) *
		       (b[k * m->b.row_step] - m->b.q.zero);
	int32_t v = m->wide ? wide_mbqm(sum, m->mult)
			    : fixed_mbqm((int32_t)sum, m->mult);
	return clamp_i32((int64_t)v + m->q_out.zero, type_min(m->out->type),
			 type_max(m->out->type));
}

bool
kernel_batch_matmul(struct call *c)
{
	struct fb_ref o = tfl_options(c->op, &fb_BatchMatMulOptions);
	struct matmul m = { .out = call_out(c, 0) };
	/* largest magnitude of a value minus its zero point */
	const int64_t most = type_width(TFL_INT8);
	if (!load_operand(c, 0, fb_int(o, FB_BatchMatMulOptions_adj_x), &m.a) ||
	    !load_operand(c, 1, fb_int(o, FB_BatchMatMulOptions_adj_y), &m.b) ||
	    !call_affine(c, m.out, "output", &m.q_out) ||
	    !check_matmul_shapes(c, &m) ||
	    !call_mult_of(
		c, (double)(m.a.q.scale * m.b.q.scale) / (double)m.q_out.scale,
		m.out->type == TFL_INT16 ? 0 : m.a.cols * most * most, &m.mult))
		return false;
	m.wide = m.out->type == TFL_INT16;
	if (m.wide && m.mult.exp > MBQM64_EXP)
		return call_err(c, "scales give a multiplier above 128");
	if (c->check)
		return true;
	int64_t per = (int64_t)m.a.rows * m.b.cols;
	int64_t batches = per ? tfl_elements(m.out) / per : 0;
	int32_t *y = anew(c->a, int32_t, (size_t)tfl_elements(m.out)), *at = y;
	for (int64_t i = 0; i < batches; i++) {
		const int32_t *a = m.a.v + batch_start(&m.a, m.out, i);
		const int32_t *b = m.b.v + batch_start(&m.b, m.out, i);
		for (int32_t r = 0; r < m.a.rows; r++)
			for (int32_t k = 0; k < m.b.cols; k++)
				*at++ = element(&m, a + r * m.a.row_step,
						b + k * m.b.col_step);
	}
	call_narrow(c, 0, y);
	return true;
}
