/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two maps: MUL and REDUCE_SUM block by block, or U85's own. */
#include "lower/nd.h"

#include "base/fixed.h"

#include <assert.h>

enum { MAX_PRODUCTS = 1 << 15 /* of an operation; 4 bytes each */ };

static struct g_operand
operand_of(const struct nd *v)
{
	struct g_operand o;
	bool ok = nd_operand(v, &o);
	assert(ok);
	return o;
}

/* columns, then rows, of a block */
static int64_t
block_cols(const struct nd *a, const struct nd *b)
{
	int64_t n = min_i64(MAX_PRODUCTS / a->dim[1], b->dim[0]);
	return n < 1 ? 1 : n;
}

static int64_t
block_rows(const struct nd *a, const struct nd *b)
{
	int64_t n = min_i64(MAX_PRODUCTS / a->dim[1] / block_cols(a, b), a->dim[0]);
	return n < 1 ? 1 : n;
}

int64_t
nd_matmul_blocks(const struct nd *a, const struct nd *b)
{
	int64_t cols = block_cols(a, b), rows = block_rows(a, b);
	return (a->dim[0] + rows - 1) / rows * ((b->dim[0] + cols - 1) / cols);
}

struct factors {
	int32_t a_zero, b_zero;
	nd_made *made;
	void *ctx;
};

static void
multiply(struct lower *l, const struct factors *f, const struct nd *a,
	 const struct nd *b, const struct nd *out)
{
	int64_t depth = a->dim[1];
	struct nd x = { .t = a->t, .type = a->type, .rank = 3, .offset = a->offset,
			.dim = { a->dim[0], b->dim[0], depth },
			.stride = { a->stride[0], 0, 1 } };
	struct nd y = { .t = b->t, .type = b->type, .rank = 3, .offset = b->offset,
			.dim = { 1, b->dim[0], depth },
			.stride = { 0, b->stride[0], 1 } };
	struct hwc shape = { .h = (int32_t)a->dim[0], .w = (int32_t)b->dim[0],
			     .c = (int32_t)depth };
	struct g_operand products = word_new(l, shape);
	struct g_op *mul = low_op(l, OP_MUL, operand_of(&x), products);
	op_ifm2(mul, operand_of(&y), f->b_zero);
	op_zeros(mul, f->a_zero, 0);
	op_unscaled(mul);
	struct nd to = *out;
	to.rank = 3;
	to.dim[2] = 1;
	to.stride[2] = 1;
	f->made(f->ctx, low_op(l, OP_REDUCE_SUM, products, operand_of(&to)));
}

void
nd_matmul(struct lower *l, const struct nd *a, int32_t a_zero, const struct nd *b,
	  int32_t b_zero, const struct nd *out, nd_made *made, void *ctx)
{
	struct factors f = { .a_zero = a_zero, .b_zero = b_zero, .made = made,
			     .ctx = ctx };
	int64_t rows = block_rows(a, b), cols = block_cols(a, b);
	for (int64_t r = 0; r < a->dim[0]; r += rows)
		for (int64_t c = 0; c < b->dim[0]; c += cols) {
			struct nd x = *a, y = *b, z = *out;
			int64_t h = min_i64(rows, a->dim[0] - r);
			int64_t w = min_i64(cols, b->dim[0] - c);
			nd_slice(&x, 0, r, h, 1);
			nd_slice(&y, 0, c, w, 1);
			nd_slice(&z, 0, r, h, 1);
			nd_slice(&z, 1, c, w, 1);
			multiply(l, &f, &x, &y, &z);
		}
}

struct g_op *
nd_matmul_native(struct lower *l, const struct nd *a, int32_t a_zero,
		 const struct nd *b, int32_t b_zero, const struct nd *out)
{
	struct g_op *op = low_op(l, OP_MATMUL, operand_of(a), operand_of(out));
	op_ifm2(op, operand_of(b), b_zero);
	op->ifm_zero = a_zero;
	if (graph_type_bytes(a->type) == 2)
		G_PUT(op, OP, acc40, 1);
	return op;
}
