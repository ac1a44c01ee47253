/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL: both operands with the summed axis in depth; one
 * multiplication makes all products of a block of rows and columns, one
 * REDUCE_SUM adds, scales and rounds them (spec/operators.md 5.1).
 */
#include "nd.h"

#include <assert.h>

enum {
	MAX_BATCHES = 512,
	MAX_PRODUCTS = 1 << 15, /* of an operation; 4 bytes each */
	MAX_DEPTH = 32767, /* 2^16 * this is within 32 bits */
};

struct matmul {
	const struct tfl_tensor *a, *b, *ofm;
	bool adj_a, adj_b;
	int32_t rows, cols, depth;
	int64_t batches;
	struct npu_scale scale;
};

/* leading dimension d of out as t has it: its own, or 1 */
static int32_t
lead_dim(const struct tfl_tensor *t, const struct tfl_tensor *out, int d)
{
	int own = d - (out->rank - t->rank);
	return own < 0 ? 1 : t->dim[own];
}

static bool
batches_match(const struct matmul *m)
{
	for (int d = 0; d + 2 < m->ofm->rank; d++) {
		int32_t n = m->ofm->dim[d];
		int32_t x = lead_dim(m->a, m->ofm, d), y = lead_dim(m->b, m->ofm, d);
		if ((x != 1 && x != n) || (y != 1 && y != n) || (x != n && y != n))
			return false;
	}
	return m->ofm->rank >= m->a->rank && m->ofm->rank >= m->b->rank;
}

static const char *
read_matmul(const struct part *p, const struct tfl_op *op, struct matmul *m)
{
	const char *why = check_arity(p, op, 2, 2, 1);
	if (!why)
		why = check_options(p, op, &fb_BatchMatMulOptions);
	if (!why)
		why = check_maps(p, op, TYPE_I8 | TYPE_U8);
	if (!why)
		why = check_map(p, part_in(p, op, 1), "IFM2", TYPE_I8 | TYPE_U8);
	if (why)
		return why;
	m->a = part_in(p, op, 0);
	m->b = part_in(p, op, 1);
	m->ofm = part_out(p, op, 0);
	m->adj_a = TFL_OPT(op, BatchMatMulOptions, adj_x);
	m->adj_b = TFL_OPT(op, BatchMatMulOptions, adj_y);
	int ra = m->a->rank, rb = m->b->rank, ro = m->ofm->rank;
	if (m->a->type != m->b->type || m->a->type != m->ofm->type)
		return "IFM, IFM2 and OFM differ in type";
	if (ra < 2 || rb < 2 || ro < 2)
		return "an operand has less than 2 dimensions";
	m->rows = m->a->dim[ra - 1 - !m->adj_a];
	m->depth = m->a->dim[ra - 2 + !m->adj_a];
	m->cols = m->b->dim[rb - 2 + !m->adj_b];
	if (m->b->dim[rb - 1 - !m->adj_b] != m->depth ||
	    m->ofm->dim[ro - 2] != m->rows || m->ofm->dim[ro - 1] != m->cols ||
	    !batches_match(m))
		return "the shapes of IFM, IFM2 and OFM do not match";
	if (m->depth > MAX_DEPTH)
		return part_say(p, "sums of %d products", m->depth);
	if (m->a->data.p && m->b->data.p)
		return "both inputs are constant";
	m->batches = tfl_elements(m->ofm) / m->rows / m->cols;
	int64_t blocks = (int64_t)m->rows * m->cols * m->depth / MAX_PRODUCTS + 1;
	if (m->batches > MAX_BATCHES || m->batches * blocks > ND_MAX_COPIES)
		return "more than 2048 blocks of products";
	double product = (double)(quant_scale_f32(m->a) * quant_scale_f32(m->b));
	return npu_quantise(product / quant_scale(m->ofm), &m->scale)
		   ? NULL
		   : "the ratio of the scales can't be expressed";
}

/* [batch...][row][col], depth innermost in memory */
static struct nd
operand(struct part *p, int tensor, bool transpose)
{
	struct nd v = nd_ifm(p, tensor);
	int r = v.rank;
	if (transpose) {
		int order[ND_MAX];
		for (int i = 0; i < r; i++)
			order[i] = i;
		order[r - 1] = r - 2;
		order[r - 2] = r - 1;
		nd_permute(&v, order);
	}
	if (v.stride[r - 1] == 1 || v.dim[r - 1] == 1)
		return v;
	struct nd to = v;
	struct hwc all = { .h = 1, .w = 1, .c = (int32_t)nd_elements(&v) };
	to.t = part_new_tensor(p, v.type, all, NULL);
	to.offset = 0;
	int64_t s = 1;
	for (int i = r; i-- > 0; s *= to.dim[i])
		to.stride[i] = s;
	nd_copy(p, &v, &to);
	return to;
}

/* the matrix of batch i, counted in the OFM's batches */
static struct nd
matrix_of(const struct nd *v, const struct tfl_tensor *ofm, int64_t i)
{
	struct nd m = { .t = v->t, .type = v->type, .rank = 2, .offset = v->offset };
	int lead = v->rank - 2;
	for (int d = ofm->rank - 3; d >= 0; d--) {
		int own = d - (ofm->rank - v->rank);
		if (own >= 0 && own < lead && v->dim[own] > 1)
			m.offset += i % ofm->dim[d] * v->stride[own];
		i /= ofm->dim[d];
	}
	memcpy(m.dim, v->dim + lead, 2 * sizeof(m.dim[0]));
	memcpy(m.stride, v->stride + lead, 2 * sizeof(m.stride[0]));
	return m;
}

static struct g_operand
operand_of(const struct nd *v)
{
	struct g_operand o;
	bool ok = nd_operand(v, &o);
	assert(ok);
	return o;
}

/* out (rows x cols) = a (rows x depth) times b (cols x depth) transposed */
static void
multiply(struct part *p, const struct matmul *m, const struct nd *a,
	 const struct nd *b, const struct nd *out)
{
	struct nd x = { .t = a->t, .type = a->type, .rank = 3, .offset = a->offset,
			.dim = { a->dim[0], b->dim[0], m->depth },
			.stride = { a->stride[0], 0, 1 } };
	struct nd y = { .t = b->t, .type = b->type, .rank = 3, .offset = b->offset,
			.dim = { 1, b->dim[0], m->depth },
			.stride = { 0, b->stride[0], 1 } };
	struct hwc shape = { .h = (int32_t)a->dim[0], .w = (int32_t)b->dim[0],
			     .c = m->depth };
	struct g_operand products =
	    operand_whole(part_new_tensor(p, TFL_INT32, shape, NULL));
	struct g_op *mul = part_op(p, OP_MUL, operand_of(&x), products);
	op_ifm2(mul, operand_of(&y), quant_zero(m->b));
	op_zeros(mul, quant_zero(m->a), 0);
	op_unscaled(mul);
	struct nd to = *out;
	to.rank = 3;
	to.dim[2] = 1;
	to.stride[2] = 1;
	struct g_op *sum = part_op(p, OP_REDUCE_SUM, products, operand_of(&to));
	op_zeros(sum, 0, quant_zero(m->ofm));
	op_scale(sum, m->scale, ROUND_TFL);
}

static bool
lower_matmul(struct part *p, const struct tfl_op *op)
{
	struct matmul m;
	(void)read_matmul(p, op, &m);
	struct nd a = operand(p, op->in[0], m.adj_a);
	struct nd b = operand(p, op->in[1], !m.adj_b);
	struct nd out = nd_ofm(p, op->out[0]);
	int32_t cols = MAX_PRODUCTS / m.depth;
	cols = cols < 1 ? 1 : cols < m.cols ? cols : m.cols;
	int32_t rows = MAX_PRODUCTS / m.depth / cols;
	rows = rows < 1 ? 1 : rows;
	for (int64_t i = 0; i < m.batches; i++)
		for (int32_t r = 0; r < m.rows; r += rows)
			for (int32_t c = 0; c < m.cols; c += cols) {
				struct nd x = matrix_of(&a, m.ofm, i);
				struct nd y = matrix_of(&b, m.ofm, i);
				struct nd z = matrix_of(&out, m.ofm, i);
				int32_t h = m.rows - r < rows ? m.rows - r : rows;
				int32_t w = m.cols - c < cols ? m.cols - c : cols;
				nd_slice(&x, 0, r, h, 1);
				nd_slice(&y, 0, c, w, 1);
				nd_slice(&z, 0, r, h, 1);
				nd_slice(&z, 1, c, w, 1);
				multiply(p, &m, &x, &y, &z);
			}
	return true;
}

static const char *
check_matmul(const struct part *p, const struct tfl_op *op)
{
	struct matmul m;
	return read_matmul(p, op, &m);
}

const struct family matmul_families[] = {
	{ .code = TFL_BATCH_MATMUL, .check = check_matmul, .lower = lower_matmul,
	  .direct = true },
	{ .code = 0 },
};
