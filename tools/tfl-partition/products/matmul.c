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
#include "graph/facts.h"
#include "tflite/fields.h"

#include "lower/matmul.h"

/* the OFM is the IFM, [rows][depth], times IFM2, [depth][cols]; adj: stored transposed */
struct matmul {
	const struct tfl_tensor *bias;
	bool adj_a, adj_b;
	int32_t rows, cols, depth;
	int64_t batches;
};

/* the product of two views, of the IFM and of IFM2 with its columns as rows */
static struct low_matmul
product_of(const struct lop *o, struct nd a, struct nd b)
{
	return (struct low_matmul){ .a = a, .b = b, .a_zero = quant_zero(o->ifm),
				    .b_zero = quant_zero(o->ifm2) };
}

static bool
batches_match(const struct lop *o)
{
	for (int d = 0; d + 2 < o->ofm->rank; d++) {
		int32_t n = o->ofm->dim[d];
		int32_t x = tfl_broadcast_dim(o->ifm, o->ofm, d), y = tfl_broadcast_dim(o->ifm2, o->ofm, d);
		if ((x != 1 && x != n) || (y != 1 && y != n) || (x != n && y != n))
			return false;
	}
	return o->ofm->rank >= o->ifm->rank && o->ofm->rank >= o->ifm2->rank;
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
check_types(const struct part *p, const struct lop *o, int types)
{
	const char *why = check_fm(p, o->ifm, "IFM", types) ?:
			  check_fm(p, o->ifm2, "IFM2", types) ?: check_fm(p, o->ofm, "OFM", types);
	if (why)
		return why;
	return o->ifm->type != o->ifm2->type || o->ifm->type != o->ofm->type
		   ? "IFM, IFM2 and OFM differ in type"
		   : NULL;
}

/* the checks that all products share, once their shapes are set; sets the end */
static const char *
read_products(const struct part *p, struct lop *o, int activation)
{
	const struct matmul *m = o->own;
	bool wide = o->ofm->type == TFL_INT16;
	int64_t most = m->depth * largest_magnitude(o->ifm) * largest_magnitude(o->ifm2), bias = 0;
	for (int32_t i = 0; m->bias && i < m->cols; i++) {
		int64_t v = tensor_int(m->bias, i);
		bias = v > bias ? v : -v > bias ? -v : bias;
	}
	if (!wide && most + bias > INT32_MAX)
		return arena_printf(p->a, "sums of %d products", m->depth);
	const int32_t a[2] = { m->rows, m->depth }, b[2] = { m->cols, m->depth };
	const struct low_matmul batch = product_of(o, nd_dense(o->ifm->type, 2, a),
						   nd_dense(o->ifm2->type, 2, b));
	const char *why = low_matmul_check(p->l, &batch, m->batches);
	if (why)
		return why;
	o->end = (struct low_end){ .scaled = true, .round = ROUND_TFL, .zero = quant_zero(o->ofm),
				   .clamped = true, .clamp = quant_clamp(o->ofm, activation) };
	double product = (double)(quant_scale_f32(o->ifm) * quant_scale_f32(o->ifm2));
	double ratio = product / quant_scale(o->ofm);
	if (!wide)
		return npu_quantise(ratio, &o->end.scale)
			   ? NULL
			   : "the ratio of the scales can't be expressed";
	/*
	 * INT16: the reference adds in 64 bits, multiplies by 15 bits and shifts right, rounding
	 * halves up (fixed_mbqm64)
	 */
	if (quant_zero(o->ifm) || quant_zero(o->ifm2) || o->end.zero)
		return "INT16 with a zero point";
	/* products up to 2^30: the reference's result has 32 bits before it is clamped */
	if (ratio * m->depth >= 2)
		return "scaled sums may leave the range of int32, where the "
		       "reference wraps around";
	struct npu_scale s;
	if (!npu_quantise(ratio, &s) || s.mult < 1u << 30)
		return "the ratio of the scales can't be expressed";
	o->end.scale = npu_scale_reduce(s);
	o->end.round = ROUND_NATURAL;
	return NULL;
}

const char *
read_matmul(const struct part *p, struct lop *o)
{
	const struct tfl_tensor *a = o->ifm, *b = o->ifm2, *y = o->ofm;
	struct matmul *m = o->own = anew(p->a, struct matmul, 1);
	const char *why = check_options(p, o->op, &fb_BatchMatMulOptions) ?:
			  check_types(p, o, family_types(o->op));
	if (why)
		return why;
	m->adj_a = TFL_OPT(o->op, BatchMatMulOptions, adj_x);
	m->adj_b = TFL_OPT(o->op, BatchMatMulOptions, adj_y);
	if (a->rank < 2 || b->rank < 2 || y->rank < 2)
		return "an operand has less than 2 dimensions";
	m->rows = a->dim[a->rank - 1 - !m->adj_a];
	m->depth = a->dim[a->rank - 2 + !m->adj_a];
	m->cols = b->dim[b->rank - 2 + !m->adj_b];
	if (b->dim[b->rank - 1 - !m->adj_b] != m->depth || y->dim[y->rank - 2] != m->rows ||
	    y->dim[y->rank - 1] != m->cols || !batches_match(o))
		return "the shapes of IFM, IFM2 and OFM do not match";
	if (a->data.p && b->data.p)
		return "both inputs are constant";
	m->batches = tfl_elements(y) / m->rows / m->cols;
	return read_products(p, o, TFL_ACT_NONE);
}

/* FULLY_CONNECTED, whose matrices have the summed axis last already */
const char *
read_computed(const struct part *p, struct lop *o)
{
	struct matmul *m = o->own = anew(p->a, struct matmul, 1);
	int activation = (int)TFL_OPT(o->op, FullyConnectedOptions, fused_activation_function);
	const char *why = check_types(p, o, TYPE_8) ?: check_activation(p, o->op, activation) ?:
			  read_matrix(p, o->ifm2, &m->cols, &m->depth);
	if (why)
		return why;
	m->batches = 1;
	m->bias = part_in(p, o->op, 2);
	int64_t rows = tfl_elements(o->ifm) / m->depth;
	m->rows = (int32_t)rows;
	if (rows * m->depth != tfl_elements(o->ifm) || rows < 1 || rows > INT32_MAX ||
	    rows * m->cols != tfl_elements(o->ofm))
		return "the shapes of IFM, weights and OFM do not match";
	if (m->bias && (!m->bias->data.p || m->bias->type != TFL_INT32 ||
			tfl_elements(m->bias) != m->cols))
		return arena_printf(p->a, "the bias is not %d constants of int32", m->cols);
	return read_products(p, o, activation);
}

void
lower_matmul(struct part *p, const struct lop *o)
{
	const struct matmul *m = o->own;
	struct nd a = nd_ifm(p, o->op->in[0]), b = nd_ifm(p, o->op->in[1]);
	struct nd out = nd_ofm(p, o->op->out[0]);
	struct low_matmul x = product_of(o, a, b);
	if (m->adj_a)
		nd_transpose(&x.a);
	if (!m->adj_b)
		nd_transpose(&x.b);
	low_matmul(p->l, &x, &out, &o->end);
}

void
lower_computed(struct part *p, const struct lop *o)
{
	const struct matmul *m = o->own;
	const int64_t as[3][2] = { { m->rows, m->depth }, { m->cols, m->depth },
				   { m->rows, m->cols } };
	struct nd a = nd_readable_as(p->l, nd_ifm(p, o->op->in[0]), as[0], 2);
	struct nd b = nd_readable_as(p->l, nd_ifm(p, o->op->in[1]), as[1], 2);
	struct nd out = nd_readable_as(p->l, nd_ofm(p, o->op->out[0]), as[2], 2), bias;
	struct low_matmul x = product_of(o, a, b);
	if (m->bias) {
		bias = nd_operand_of(part_ifm(p, o->op->in[2]), 1, &m->cols);
		x.bias = &bias;
	}
	low_matmul(p->l, &x, &out, &o->end);
}
