/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL.  Sums of 16-bit products have up to 39 bits.  Without an operation for
 * matrix products no operation yields such sums: their parts are made and scaled
 * separately (lower/matmul.h).
 */
#include "part.h"

enum { MAX_BLOCKS = 2048 };

struct nd
matrix_of(struct part *p, const struct nd *v, int64_t i, bool transpose)
{
	static const int order[] = { 1, 0 };
	struct nd m = low_matrix(v, v, i);
	if (transpose)
		nd_permute(&m, order);
	if (m.stride[1] == 1 || m.dim[1] == 1)
		return m;
	struct nd r = nd_new(p->l, m.type, 2, m.dim);
	nd_copy(p->l, &m, &r);
	return r;
}

struct product {
	struct nd a, b; /* [batch][row][depth], [batch][depth][column] */
	int32_t a_zero, b_zero;
};

/* the shape of a batch, without its memory */
static struct low_matmul
shape_of(const struct product *m)
{
	const int32_t depth = (int32_t)m->a.dim[2];
	const int32_t a[2] = { (int32_t)m->a.dim[1], depth };
	const int32_t b[2] = { (int32_t)m->b.dim[2], depth };
	return (struct low_matmul){ .a = nd_dense(m->a.type, 2, a),
				    .b = nd_dense(m->b.type, 2, b) };
}

static void
multiply_batches(struct part *p, const struct product *m, const struct nd *out,
		 const struct low_end *end)
{
	for (int64_t i = 0; i < m->a.dim[0]; i++) {
		struct nd a = matrix_of(p, &m->a, i, false);
		struct nd b = matrix_of(p, &m->b, i, true);
		struct low_matmul one = { .a = a, .b = b, .a_zero = m->a_zero,
					  .b_zero = m->b_zero };
		struct nd z = low_matrix(out, out, i);
		low_matmul(p->l, &one, &z, end);
	}
}

struct wide {
	struct part *p;
	const struct product *m;
};

static void
multiply_half(void *ctx, const struct nd *a, const struct nd *b, const struct nd *sums)
{
	const struct wide *w = ctx;
	struct product m = *w->m;
	m.a = *a;
	m.b = *b;
	multiply_batches(w->p, &m, sums, &low_half_up);
}

const char *
lower_matmul(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct product m = { .a = a, .b = b,
			     .a_zero = (int32_t)tosa_zero_of(p->t, op, 2),
			     .b_zero = (int32_t)tosa_zero_of(p->t, op, 3) };
	struct low_matmul shape = shape_of(&m);
	bool wide = m.a.type == TFL_INT16, native = low_matmul_is_native(p->l, &shape);
	struct tail t = tail_of(p, op->out[0], TAIL_SCALE | (native ? TAIL_WORDS : 0));
	if (wide && !t.scaled)
		return "an operator other than RESCALE to 8 or 16 bits reads its sums "
		       "of 48 bits";
	if (wide && !native && m.a.dim[2] > LOW_WIDE_DEPTH)
		return part_say(p, "sums of %lld products of 16 bits, at most %d",
			   (long long)m.a.dim[2], (int)LOW_WIDE_DEPTH);
	if (m.a.dim[0] * low_matmul_blocks(p->l, &shape) > MAX_BLOCKS)
		return "more than 2048 blocks of 32768 products";
	struct nd out = result_view(p, t.out);
	struct low_end end = wide && !native ? tail_end(p, &t) : tail_scaled_end(p, &t);
	struct wide ctx = { .p = p, .m = &m };
	struct low_wide w = { .a = a, .b = b, .scale = tail_scale(&t, 0),
			      .multiply = multiply_half, .end = &end, .ctx = &ctx };
	if (wide && !native)
		low_multiply_wide(p->l, &w, &out);
	else
		multiply_batches(p, &m, &out, &end);
	return NULL;
}
