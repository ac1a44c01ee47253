/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/matmul.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/linux.h"

#include <string.h>

enum {
	MAX_PRODUCTS = 1 << 15, /* most products of an operation; each takes 4 bytes */
	MAX_EXTENT = 1 << 16,	/* limit per operand */
};

/* Returns matrix i of v [batch...][row][column]; a batch axis of 1 is repeated to that of `all`. */
static struct nd
matrix_of(const struct nd *v, const struct nd *all, int64_t i)
{
	struct nd m = { .t = v->t, .type = v->type, .rank = 2, .offset = v->offset };
	int lead = v->rank - 2;
	for (int d = all->rank - 3; d >= 0; d--) {
		int own = d - (all->rank - v->rank);
		if (own >= 0 && own < lead && v->dim[own] > 1)
			m.offset += i % all->dim[d] * v->stride[own];
		i /= all->dim[d];
	}
	memcpy(m.dim, v->dim + lead, 2 * sizeof(m.dim[0]));
	memcpy(m.stride, v->stride + lead, 2 * sizeof(m.stride[0]));
	return m;
}

/* number of rows of each matrix of a batch, and of their elements */
static int64_t
rows_of(const struct nd *v)
{
	return v->dim[v->rank - 2];
}

static int64_t
depth_of(const struct low_matmul *m)
{
	return m->a.dim[m->a.rank - 1];
}

bool
low_matmul_is_native(const struct lower *l, const struct low_matmul *m)
{
	return low_has(l, LACK_MATMUL) && graph_type_bytes(m->a.type) < 4 &&
	       rows_of(&m->a) <= MAX_EXTENT && rows_of(&m->b) <= MAX_EXTENT &&
	       depth_of(m) <= MAX_EXTENT;
}

/* columns of a block, which are chosen before its rows */
static int64_t
block_cols(const struct low_matmul *m)
{
	int64_t n = min_i64(MAX_PRODUCTS / depth_of(m), rows_of(&m->b));
	return n < 1 ? 1 : n;
}

static int64_t
block_rows(const struct low_matmul *m)
{
	int64_t n = min_i64(MAX_PRODUCTS / depth_of(m) / block_cols(m), rows_of(&m->a));
	return n < 1 ? 1 : n;
}

/* Are its sums wider than those of one operation? */
static bool
is_wide(const struct lower *l, const struct low_matmul *m)
{
	return m->a.type == TFL_INT16 && !m->fits && !low_matmul_is_native(l, m);
}

const char *
low_matmul_check(const struct lower *l, const struct low_matmul *m, int64_t batches)
{
	if (is_wide(l, m) && depth_of(m) > LOW_WIDE_DEPTH)
		return arena_printf(l->a, "sums of %lld products of 16 bits: at most %d",
				    (long long)depth_of(m), (int)LOW_WIDE_DEPTH);
	int64_t blocks = 1; /* of a batch */
	if (!low_matmul_is_native(l, m))
		blocks = ceil_div_i64(rows_of(&m->a), block_rows(m)) *
			 ceil_div_i64(rows_of(&m->b), block_cols(m));
	return batches > ND_MAX_COPIES || batches * blocks > ND_MAX_COPIES
		   ? "more than 2048 blocks of 32768 products"
		   : NULL;
}

/* ---- by products ------------------------------------------------------------- */

static void
multiply(struct lower *l, const struct low_matmul *m, const struct nd *out,
	 const struct low_end *end)
{
	const struct nd *a = &m->a, *b = &m->b;
	int64_t depth = a->dim[1];
	struct nd x = { .t = a->t, .type = a->type, .rank = 3, .offset = a->offset,
			.dim = { a->dim[0], b->dim[0], depth },
			.stride = { a->stride[0], 0, 1 } };
	struct nd y = { .t = b->t, .type = b->type, .rank = 3, .offset = b->offset,
			.dim = { 1, b->dim[0], depth },
			.stride = { 0, b->stride[0], 1 } };
	struct hwc shape = { .h = (int32_t)a->dim[0], .w = (int32_t)b->dim[0],
			     .c = (int32_t)depth };
	struct hwc all = shape;
	all.c += m->bias != NULL; /* the bias counts as one more product */
	struct g_operand products = word_new(l, all);
	struct g_op *mul = low_op(l, OP_MUL, nd_to_operand(&x),
				  low_box(products, shape, (struct hwc){ 0 }));
	op_ifm2(mul, nd_to_operand(&y), m->b_zero);
	mul->ifm_zero = m->a_zero;
	op_unscaled(mul);
	if (m->bias) { /* copied after the products of every row */
		struct nd v = { .t = m->bias->t, .type = m->bias->type, .rank = 3,
				.offset = m->bias->offset, .dim = { shape.h, shape.w, 1 },
				.stride = { 0, 1, 1 } };
		struct hwc at = { .c = shape.c };
		shape.c = 1;
		(void)low_copy(l, nd_to_operand(&v), low_box(products, shape, at));
	}
	struct nd to = *out;
	to.rank = 3;
	to.dim[2] = 1;
	to.stride[2] = 1;
	low_finish(end, low_op(l, OP_REDUCE_SUM, products, nd_to_operand(&to)));
}

static void
multiply_blocks(struct lower *l, const struct low_matmul *m, const struct nd *out,
		const struct low_end *end)
{
	int64_t rows = block_rows(m), cols = block_cols(m);
	for (int64_t r = 0; r < m->a.dim[0]; r += rows)
		for (int64_t c = 0; c < m->b.dim[0]; c += cols) {
			struct low_matmul block = *m;
			struct nd bias;
			int64_t h = min_i64(rows, m->a.dim[0] - r);
			int64_t w = min_i64(cols, m->b.dim[0] - c);
			nd_slice(&block.a, 0, r, h, 1);
			nd_slice(&block.b, 0, c, w, 1);
			struct nd z = nd_part(out, 0, r, h);
			nd_slice(&z, 1, c, w, 1);
			if (m->bias) {
				bias = nd_part(m->bias, 0, c, w);
				block.bias = &bias;
			}
			multiply(l, &block, &z, end);
		}
}

/* ---- natively ---------------------------------------------------------------- */

static struct g_op *
multiply_natively(struct lower *l, const struct low_matmul *m, const struct nd *out)
{
	struct g_op *op = low_op(l, OP_MATMUL, nd_to_operand(&m->a), nd_to_operand(out));
	op_ifm2(op, nd_to_operand(&m->b), m->b_zero);
	op->ifm_zero = m->a_zero;
	if (graph_type_bytes(m->a.type) == 2)
		G_PUT(op, OP, acc40, 1);
	return op;
}

static struct nd
contiguous(struct lower *l, const struct nd *v)
{
	int depth = v->rank - 1;
	return v->stride[depth] == 1 || v->dim[depth] == 1 ? *v : nd_readable(l, v);
}

/*
 * Makes the depth of n matrices contiguous if one copy of all of them takes fewer operations
 * than a copy of each, which can wait for its product.
 */
static struct nd
copied_at_once(struct lower *l, const struct nd *v, int64_t n)
{
	const struct nd first = matrix_of(v, v, 0), one = nd_linear(&first), all = nd_linear(v);
	return nd_copies(l, v, &all) < n * nd_copies(l, &first, &one) ? contiguous(l, v) : *v;
}

void
low_matmul(struct lower *l, const struct low_matmul *m, const struct nd *out,
	   const struct low_end *end)
{
	struct low_matmul all = *m;
	int64_t n = 1;
	if (is_wide(l, m)) { /* each half would be copied */
		all.a = contiguous(l, &m->a);
		all.b = contiguous(l, &m->b);
		low_multiply_wide(l, &all, out, end);
		return;
	}
	for (int k = 0; k + 2 < out->rank; k++)
		n *= out->dim[k];
	all.a = copied_at_once(l, &m->a, n);
	all.b = copied_at_once(l, &m->b, n);
	for (int64_t i = 0; i < n; i++) {
		const struct nd a = matrix_of(&all.a, out, i), b = matrix_of(&all.b, out, i);
		const struct nd z = matrix_of(out, out, i);
		struct low_matmul one = all;
		one.a = contiguous(l, &a);
		one.b = contiguous(l, &b);
		if (!low_matmul_is_native(l, &one)) {
			multiply_blocks(l, &one, &z, end);
		} else if (!one.bias) {
			low_finish(end, multiply_natively(l, &one, &z));
		} else { /* products as words, then the bias */
			struct nd words = nd_new(l, TFL_INT32, 2, z.dim);
			op_unscaled(multiply_natively(l, &one, &words));
			struct g_operand x = nd_to_operand(&words), ofm = nd_to_operand(&z);
			low_finish(end, low_pair(l, OP_ADD, x, nd_to_operand(one.bias), ofm));
		}
	}
}
