/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL, and FULLY_CONNECTED with weights that are not constant.  Both
 * operands have the summed axis in depth.  One multiplication makes all products of
 * a block of rows and columns; one REDUCE_SUM adds, scales and rounds them
 * (nputools-lowering(7) 5.1).  A bias is one more product.  If the MAC array can
 * multiply two feature maps, one operation does everything of a batch.
 */
#include "conv.h"
#include "../moves/move.h"

#include "lower/matmul.h"

enum { MAX_BATCHES = 512 };

/* ofm = a * b: a is [rows][depth], b [depth][cols]; adj_a, adj_b: stored transposed */
struct matmul {
	const struct tfl_tensor *a, *b, *ofm, *bias;
	bool adj_a, adj_b;
	int32_t rows, cols, depth;
	int64_t batches;
	int32_t zero_a, zero_b;
};

/* leading dimension d of `out` in t: t's own, or 1 if t has fewer dimensions */
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

/* the largest magnitude of t minus its zero point */
static int64_t
largest_magnitude(const struct tfl_tensor *t)
{
	struct g_range r = type_range(t->type);
	int64_t below = quant_zero(t) - r.lo, above = r.hi - quant_zero(t);
	return below > above ? below : above;
}

static const char *
check_types(const struct part *p, const struct matmul *m, int types)
{
	const char *why = check_fm(p, m->a, "IFM", types) ?: check_fm(p, m->b, "IFM2", types) ?:
			  check_fm(p, m->ofm, "OFM", types);
	if (why)
		return why;
	return m->a->type != m->b->type || m->a->type != m->ofm->type
		   ? "IFM, IFM2 and OFM differ in type"
		   : NULL;
}

/* the shape of one batch, for checks */
static struct low_matmul
shape_of(const struct matmul *m)
{
	const int32_t a[2] = { m->rows, m->depth }, b[2] = { m->cols, m->depth };
	return (struct low_matmul){ .a = nd_dense(m->a->type, 2, a),
				    .b = nd_dense(m->b->type, 2, b) };
}

/*
 * INT16; ratio: of the scales; native: the NPU's sums have 48 bits.  The reference adds in 64
 * bits, multiplies by 15 bits and shifts right, rounding halves up (fixed_mbqm64).
 */
static const char *
read_wide(const struct part *p, const struct matmul *m, double ratio, bool native,
	  struct low_end *end)
{
	if (m->zero_a || m->zero_b || end->zero)
		return "INT16 with a zero point";
	if (m->depth > LOW_WIDE_DEPTH && !native)
		return part_say(p, "sums of %d products of 16 bits: at most %d",
				m->depth, (int)LOW_WIDE_DEPTH);
	/* products up to 2^30: the reference's result has 32 bits before it is clamped */
	if (ratio * m->depth >= 2)
		return "scaled sums may leave the range of int32, where the "
		       "reference wraps around";
	struct npu_scale s;
	if (!npu_quantise(ratio, &s) || s.mult < 1u << 30)
		return "the ratio of the scales can't be expressed";
	end->scale = npu_scale_reduce(s);
	end->round = ROUND_NATURAL;
	return NULL;
}

/* the checks that all products share, once their shapes are set; sets the scale */
static const char *
read_products(const struct part *p, const struct matmul *m, struct low_end *end)
{
	bool wide = m->ofm->type == TFL_INT16;
	int64_t most = m->depth * largest_magnitude(m->a) * largest_magnitude(m->b), bias = 0;
	for (int32_t i = 0; m->bias && i < m->cols; i++) {
		int64_t v = tensor_int(m->bias, i);
		bias = v > bias ? v : -v > bias ? -v : bias;
	}
	if (!wide && most + bias > INT32_MAX)
		return part_say(p, "sums of %d products", m->depth);
	struct low_matmul shape = shape_of(m);
	if (m->batches > MAX_BATCHES ||
	    m->batches * low_matmul_blocks(p->l, &shape) > ND_MAX_COPIES)
		return "more than 2048 blocks of products";
	end->scaled = true;
	end->round = ROUND_TFL;
	double product = (double)(quant_scale_f32(m->a) * quant_scale_f32(m->b));
	double ratio = product / quant_scale(m->ofm);
	if (wide)
		return read_wide(p, m, ratio, low_matmul_is_native(p->l, &shape), end);
	return npu_quantise(ratio, &end->scale)
		   ? NULL
		   : "the ratio of the scales can't be expressed";
}

const char *
read_matmul(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct matmul *m = o->own = anew(p->a, struct matmul, 1);
	const char *why = check_options(p, op, &fb_BatchMatMulOptions);
	if (why)
		return why;
	*m = (struct matmul){ .a = o->ifm, .b = part_in(p, op, 1),
			      .ofm = o->ofm };
	why = check_types(p, m, family_types(op));
	if (why)
		return why;
	m->adj_a = TFL_OPT(op, BatchMatMulOptions, adj_x);
	m->adj_b = TFL_OPT(op, BatchMatMulOptions, adj_y);
	o->end.clamped = true;
	o->end.clamp = type_range(m->ofm->type);
	o->end.zero = quant_zero(m->ofm);
	m->zero_a = quant_zero(m->a);
	m->zero_b = quant_zero(m->b);
	int ra = m->a->rank, rb = m->b->rank, ro = m->ofm->rank;
	if (ra < 2 || rb < 2 || ro < 2)
		return "an operand has less than 2 dimensions";
	m->rows = m->a->dim[ra - 1 - !m->adj_a];
	m->depth = m->a->dim[ra - 2 + !m->adj_a];
	m->cols = m->b->dim[rb - 2 + !m->adj_b];
	if (m->b->dim[rb - 1 - !m->adj_b] != m->depth ||
	    m->ofm->dim[ro - 2] != m->rows || m->ofm->dim[ro - 1] != m->cols ||
	    !batches_match(m))
		return "the shapes of IFM, IFM2 and OFM do not match";
	if (m->a->data.p && m->b->data.p)
		return "both inputs are constant";
	m->batches = tfl_elements(m->ofm) / m->rows / m->cols;
	return read_products(p, m, &o->end);
}

/* FULLY_CONNECTED, whose matrices have the summed axis last already */
const char *
read_computed(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct matmul *m = o->own = anew(p->a, struct matmul, 1);
	*m = (struct matmul){ .a = o->ifm, .b = part_in(p, op, 1),
			      .ofm = o->ofm, .bias = part_in(p, op, 2),
			      .batches = 1 };
	int activation =
	    (int)TFL_OPT(op, FullyConnectedOptions, fused_activation_function);
	const char *why = check_types(p, m, TYPE_8) ?: check_activation(p, op, activation);
	if (why)
		return why;
	why = read_matrix(p, m->b, &m->cols, &m->depth);
	if (why)
		return why;
	o->end.clamped = true;
	o->end.clamp = quant_clamp(m->ofm, activation);
	o->end.zero = quant_zero(m->ofm);
	m->zero_a = quant_zero(m->a);
	m->zero_b = quant_zero(m->b);
	int64_t rows = tfl_elements(m->a) / m->depth;
	m->rows = (int32_t)rows;
	if (rows * m->depth != tfl_elements(m->a) || rows < 1 || rows > INT32_MAX ||
	    rows * m->cols != tfl_elements(m->ofm))
		return "the shapes of IFM, weights and OFM do not match";
	if (m->bias && (!m->bias->data.p || m->bias->type != TFL_INT32 ||
			tfl_elements(m->bias) != m->cols))
		return part_say(p, "the bias is not %d constants of int32", m->cols);
	return read_products(p, m, &o->end);
}

/* the matrix with a contiguous summed axis: v itself, or a copy in linear memory */
static struct nd
contiguous_matrix(struct part *p, struct nd v, bool transpose)
{
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
	return nd_readable(p->l, &v);
}

/* the matrix of batch i, counted in the OFM's batches */
static struct nd
matrix_of(const struct nd *v, const struct nd *ofm, int64_t i)
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

/* multiplies [batch...][row][depth] by [batch...][col][depth] */
static void
multiply_all(struct part *p, const struct matmul *m, const struct nd *a,
	     const struct nd *b, const struct nd *out, const struct nd *bias,
	     const struct low_end *end)
{
	for (int64_t i = 0; i < m->batches; i++) {
		struct nd z = matrix_of(out, out, i);
		struct low_matmul one = { .a = matrix_of(a, out, i),
					  .b = matrix_of(b, out, i),
					  .a_zero = m->zero_a, .b_zero = m->zero_b,
					  .bias = bias };
		low_matmul(p->l, &one, &z, end);
	}
}

/*
 * out = a * b for every batch.  a and b have the shapes of m->a and m->b, `out` that of
 * m->ofm; their element types may differ from m's.
 */
static void
multiply_matrices(struct part *p, const struct matmul *m, struct nd a, struct nd b,
		  const struct nd *out, const struct low_end *end)
{
	a = contiguous_matrix(p, a, m->adj_a);
	b = contiguous_matrix(p, b, !m->adj_b);
	multiply_all(p, m, &a, &b, out, NULL, end);
}

struct wide {
	struct part *p;
	const struct matmul *m;
	struct nd a, b;
};

/* sums of products as words */
static struct nd
half_sums(void *ctx, const struct nd *half, bool of_a)
{
	const struct wide *w = ctx;
	struct g_operand y = word_new(w->p->l, tfl_hwc(w->m->ofm));
	struct nd out = nd_of(y, w->m->ofm);
	multiply_matrices(w->p, w->m, of_a ? *half : w->a, of_a ? w->b : *half, &out, &low_plain);
	return out;
}

/* two sums of words: lower/matmul.h, wide.c */
static void
lower_wide(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct nd out = nd_ofm(p, op->out[0]);
	struct wide ctx = { .p = p, .m = o->own };
	ctx.a = nd_ifm(p, op->in[0]);
	ctx.b = nd_ifm(p, op->in[1]);
	struct low_wide w = { .a = ctx.a, .b = ctx.b, .scale = o->end.scale,
			      .sums = half_sums, .end = &low_as_made, .ctx = &ctx };
	low_multiply_wide(p->l, &w, &out);
}

const char *
lower_matmul(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct matmul *m = o->own;
	struct low_matmul shape = shape_of(m);
	if (m->ofm->type == TFL_INT16 && !low_matmul_is_native(p->l, &shape)) {
		lower_wide(p, o);
		return NULL;
	}
	struct nd a = nd_ifm(p, op->in[0]), b = nd_ifm(p, op->in[1]);
	struct nd out = nd_ofm(p, op->out[0]);
	multiply_matrices(p, m, a, b, &out, &o->end);
	return NULL;
}

/* v's elements as a matrix */
static struct nd
as_matrix(struct part *p, struct nd v, int64_t rows, int64_t cols)
{
	int64_t dim[2] = { rows, cols };
	if (!nd_reshape(&v, dim, 2)) {
		v = nd_readable(p->l, &v);
		(void)nd_reshape(&v, dim, 2);
	}
	return v;
}

void
lower_computed(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct matmul *m = o->own;
	struct nd a = as_matrix(p, nd_ifm(p, op->in[0]), m->rows, m->depth);
	struct nd b = as_matrix(p, nd_ifm(p, op->in[1]), m->cols, m->depth);
	struct nd out = as_matrix(p, nd_ofm(p, op->out[0]), m->rows, m->cols);
	struct nd bias;
	a = contiguous_matrix(p, a, false);
	b = contiguous_matrix(p, b, false);
	if (m->bias)
		bias = nd_operand_of(part_ifm(p, op->in[2]), 1, &m->cols);
	multiply_all(p, m, &a, &b, &out, m->bias ? &bias : NULL, &o->end);
}
