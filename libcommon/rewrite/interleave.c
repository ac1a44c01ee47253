/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interleave: the plain sum of two maps, such as the two sides of a PRELU, becomes a depthwise
 * convolution (nputools-rewrites(7) 10).  The rows of both maps are written alternately into one
 * map, and a kernel of two rows and the stride 2 adds them: Ethos-U55 and U65 scale the operands
 * of a sum, which takes several times as long.
 */
#include "rewrite/rules.h"

#include "graph/build.h"
#include "lower/conv.h"

enum { MOST_ROWS = 1 << 15, MOST_CONSTANTS = 64 };

/* Weights and scales.  Sums of equal shape and bias share them, and have the same block. */
struct ones {
	struct hwc shape; /* of the OFM */
	int32_t bias;
	struct g_weights *weights;
	struct g_scales *scales;
};

struct constants_made {
	struct ones v[MOST_CONSTANTS];
	int n;
};

/* True for a sum of bytes without scales. */
static bool
is_plain_sum(const struct g_op *op)
{
	return op->kind == OP_ADD && G_HAS(op, G_OP_opa) && exact_is_unscaled(op) &&
	       op->scale.mult == 1 && !op->scale.shift && op->act == G_ACT_CLAMP && !op->reversed &&
	       graph_type_bytes(op->ofm.type) == 1 && op->ifm.type == op->ofm.type &&
	       operand_is_whole(&op->ifm) && operand_is_whole(&op->ifm2) &&
	       op->ifm.t != op->ifm2.t &&
	       op->ifm2.type == op->ifm.type && hwc_equal(op->ifm.shape, op->ofm.shape) &&
	       hwc_equal(op->ifm2.shape, op->ofm.shape) && op->ofm.shape.h <= MOST_ROWS;
}

/* The depthwise convolution over the rows of both maps, without its constants. */
static struct g_op
make_product(const struct g_op *sum, struct g_tensor *both)
{
	struct g_op op = *sum;
	op.kind = OP_DEPTHWISE;
	op.ifm = operand_whole(both);
	op.ifm2 = (struct g_operand){ .t = NULL };
	op.kernel = op.stride = (struct yx){ .y = 2, .x = 1 };
	op.scale = (struct npu_scale){ 0 };
	op.round = ROUND_TFL;
	return op;
}

/* Weights of 1 for both rows.  The bias is the difference of the zero points. */
static const struct ones *
ones_of(struct exact *x, struct constants_made *m, struct hwc shape, int32_t bias)
{
	struct lower l = { .a = x->a, .g = x->g };
	for (int i = 0; i < m->n; i++)
		if (hwc_equal(m->v[i].shape, shape) && m->v[i].bias == bias)
			return &m->v[i];
	const size_t n = (size_t)shape.c;
	uint8_t *one = anew(x->a, uint8_t, 2 * n);
	int64_t *biases = anew(x->a, int64_t, n);
	for (size_t i = 0; i < n; i++) {
		one[2 * i] = one[2 * i + 1] = 1;
		biases[i] = bias;
	}
	struct ones *r = &m->v[m->n < MOST_CONSTANTS ? m->n++ : MOST_CONSTANTS - 1];
	const struct g_shape taps = { .type = TFL_INT8, .rank = 4, .dim = { shape.c, 2, 1, 1 } };
	const struct npu_scale scale = scale_one();
	*r = (struct ones){ .shape = shape, .bias = bias };
	r->weights = low_weights_new(&l, "ones", taps, (struct bytes){ .p = one, .n = 2 * n });
	r->scales = low_scales_new(&l, n, biases, &scale, true);
	return r;
}

bool
rewrite_interleave(struct exact *x)
{
	static struct g_weights some;
	struct graph *g = x->g;
	struct constants_made made = { .n = 0 };
	for (size_t i = 0; x->estimate && !graph_has_loops(g) && i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		struct g_op *writer[2] = { NULL, NULL }; /* of the operands */
		double saved;
		bool fits = is_plain_sum(op);
		for (int k = 0; fits && k < 2; k++) {
			struct g_op *w = exact_writer(g, k ? op->ifm2.t : op->ifm.t, op);
			fits = w && w->node == op->node && operand_is_whole(&w->ofm) &&
			       w->kind != OP_REORDER && !op_is_transfer(w->kind) &&
			       w->rec.index <= op->rec.index;
			writer[k] = w;
		}
		if (!fits || writer[0] == writer[1])
			continue;
		const struct hwc shape = op->ofm.shape;
		struct g_tensor rows = {
			.hwc = { .h = 2 * shape.h, .w = shape.w, .c = shape.c },
			.shape = { .type = op->ofm.type, .rank = 4,
				   .dim = { 1, 2 * shape.h, shape.w, shape.c } } };
		struct g_op product = make_product(op, &rows);
		product.weights = &some;
		const struct change c = { .old = { op }, .now = { &product } };
		if (!change_pays(x, &c, 1, &saved))
			continue;
		(void)exact_note(x, op, 0, saved,
				 "a sum of two maps becomes a depthwise convolution over their rows");
		const struct g_tensor *old[] = { op->ifm.t, op->ifm2.t };
		struct g_tensor *both = graph_add_feature_map(g, op->ofm.type, rows.hwc);
		for (int k = 0; k < 2; k++)
			writer[k]->ofm = (struct g_operand){
				.t = both, .view = VIEW_STRIDED, .type = op->ofm.type,
				.shape = shape, .offset = (int64_t)k * shape.w * shape.c,
				.stride = { 2 * (int64_t)shape.w * shape.c, shape.c, 1 } };
		const struct ones *ones = ones_of(x, &made, shape, op->ifm_zero - op->ifm2_zero);
		*op = make_product(op, both);
		G_CLEAR(op, G_OP_ifm2);
		G_CLEAR(op, G_OP_ifm2_zero);
		G_CLEAR(op, G_OP_opa);
		G_CLEAR(op, G_OP_opb);
		G_CLEAR(op, G_OP_scaled);
		G_CLEAR(op, G_OP_scale);
		G_SET(op, G_OP_kernel);
		G_SET(op, G_OP_stride);
		G_PUT(op, OP, weights, ones->weights);
		G_PUT(op, OP, scales, ones->scales);
		exact_drop_tensor(x, old[0]);
		exact_drop_tensor(x, old[1]);
	}
	return true;
}
