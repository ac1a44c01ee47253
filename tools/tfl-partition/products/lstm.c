/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM: nputools-lowering(7) 3.10.  The four gates are one
 * matrix with per-channel scales.  A step is therefore one product with the last
 * output and nine operations on vectors.  The contributions of the inputs to the
 * gates are computed for several steps at once.
 */
#include "lstm.h"

#include "../moves/move.h"

#include "kernels/tables.h"

#include <string.h>

enum { SIGMOIDS = 3 };

/* first the gates that pass through a sigmoid: input, forget, output; then the candidate */
static const int gate_at[LSTM_N_GATES] = { 0, 1, 3, 2 };
enum { AT_INPUT, AT_FORGET, AT_OUTPUT, AT_CANDIDATE };

/* ---- the gates' matrices --------------------------------------------------------------- */

struct matrix {
	struct g_weights *w;
	struct g_scales *s;
	int32_t zero; /* the zero point of the operand */
};

static struct matrix
matrix_of(struct part *p, const struct tfl_op *op, const struct lstm *l,
	  bool recurrent)
{
	int first = recurrent ? LSTM_RECURRENT : LSTM_WEIGHTS;
	int32_t columns = recurrent ? l->cells : l->features;
	size_t n = (size_t)l->cells, all = LSTM_N_GATES * n, one = n * (size_t)columns;
	uint8_t *v = anew(p->a, uint8_t, LSTM_N_GATES * one);
	for (int g = 0; g < LSTM_N_GATES; g++)
		memcpy(v + (size_t)g * one, part_in(p, op, first + gate_at[g])->data.p, one);
	struct g_shape shape = { .type = TFL_INT8, .rank = 4,
				 .dim = { LSTM_N_GATES * l->cells, 1, 1, columns } };
	struct matrix m = { .zero = quant_zero(recurrent ? l->hidden : l->x) };
	m.w = low_weights_new(p->l, "gates", shape,
			      (struct bytes){ .p = v, .n = LSTM_N_GATES * one });

	int64_t *bias = anew(p->a, int64_t, all);
	struct npu_scale *scale = anew(p->a, struct npu_scale, all);
	for (size_t i = 0; i < all; i++) {
		int g = gate_at[i / n];
		const struct tfl_tensor *b = part_in(p, op, LSTM_BIAS + g);
		(void)lstm_gate_scale(l, part_in(p, op, first + g), recurrent, &scale[i]);
		if (!recurrent)
			bias[i] = (int32_t)tfl_integer(b->type, b->data.p, (int64_t)(i % n));
	}
	m.s = low_scales_new(p->l, all, bias, scale, false);
	return m;
}

static void
multiply(struct part *p, const struct lstm *l, const struct matrix *m,
	 struct g_operand x, struct g_operand y)
{
	struct yx one = { .y = 1, .x = 1 };
	struct g_op *o = low_op(p->l, OP_FC, x, y);
	op_kernel(o, one, one, one, (struct g_pad){ 0 });
	op_zeros(o, m->zero, 0);
	G_PUT(o, OP, weights, m->w);
	G_PUT(o, OP, scales, m->s);
	if (l->x->type != TFL_INT16)
		return;
	o->round = ROUND_NATURAL;
	G_PUT(o, OP, acc40, 1);
}

/* ---- a step ------------------------------------------------------------------------ */

/* n gates of the batch, from gate k on */
static struct g_operand
gate(const struct lstm *l, struct g_operand all, int k, int n)
{
	return low_box(all, (struct hwc){ .h = 1, .w = l->batch, .c = n * l->cells },
			(struct hwc){ .c = k * l->cells });
}

/*
 * The hardware's functions need a scale of 3 / 2^12 (nputools-lowering(7) 4.6).  The
 * operation is a product with 1 because that is elementwise: it may write over its
 * operand, and costs less than a pool.
 */
static void
squash(struct part *p, struct g_operand x, struct g_operand y, float scale,
       bool tanh)
{
	struct sigmoid16 s;
	sigmoid16_prepare(&s, scale, tanh);
	struct g_op *o = low_op(p->l, OP_MUL, x, y);
	op_scalar(o, 1, 0);
	op_scale(o, (struct npu_scale){ .mult = (uint32_t)s.mult, .shift = s.shift },
		 ROUND_TFL);
	G_PUT(o, OP, act, tanh ? G_ACT_TANH : G_ACT_SIGMOID);
}

/* steps t to t + n - 1 of X or OFM: [batch][step][depth] */
static struct nd
some_steps(const struct lstm *l, const struct nd *all, int32_t t, int32_t n)
{
	struct nd v = nd_part(all, !l->major, t, n);
	if (l->major)
		nd_permute(&v, (const int[]){ 1, 0, 2 });
	return v;
}

/* one of these steps: [1][batch][depth] */
static struct g_operand
one_step(const struct nd *steps, int32_t t)
{
	struct nd v = nd_part(steps, 1, t, 1);
	nd_permute(&v, (const int[]){ 1, 0, 2 });
	return nd_to_operand(&v);
}

/*
 * The four gates of a step are one tensor, and elementwise operations write over
 * their operands: a second tensor would be live at the step's peak.
 */
static void
make_step(struct part *p, const struct lstm *l, const struct matrix *m,
	  struct g_operand from_x, struct g_operand h, struct g_operand cell,
	  struct g_operand to)
{
	struct hwc gates = { .h = 1, .w = l->batch, .c = LSTM_N_GATES * l->cells };
	struct g_operand from_h = low_new(p->l, TFL_INT16, gates);
	struct g_operand all = low_new(p->l, TFL_INT16, gates);
	struct g_operand input = gate(l, all, AT_INPUT, 1);
	struct g_operand forget = gate(l, all, AT_FORGET, 1);
	struct g_operand output = gate(l, all, AT_OUTPUT, 1);
	struct g_operand candidate = gate(l, all, AT_CANDIDATE, 1);
	struct g_operand sigmoids = gate(l, all, 0, SIGMOIDS);
	multiply(p, l, m, h, from_h);
	(void)low_pair(p->l, OP_ADD, from_x, from_h, all);
	squash(p, sigmoids, sigmoids, GATE_SCALE, false);
	squash(p, candidate, candidate, GATE_SCALE, true);
	op_scale(low_pair(p->l, OP_MUL, forget, cell, cell), l->keep, ROUND_TFL);
	op_scale(low_pair(p->l, OP_MUL, input, candidate, input), l->add, ROUND_TFL);
	struct g_op *o = low_pair(p->l, OP_ADD, cell, input, cell);
	if (l->clip)
		op_clamp(o, (struct g_range){ .lo = -l->clip, .hi = l->clip });
	squash(p, cell, candidate, quant_scale_f32(l->cell), true);
	o = low_pair(p->l, OP_MUL, output, candidate, to);
	op_scale(o, l->emit, ROUND_TFL);
	op_zeros(o, 0, quant_zero(l->hidden));
}

void
lower_lstm(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct lstm *l = o->own;
	struct matrix mx = matrix_of(p, op, l, false), mh = matrix_of(p, op, l, true);
	struct hwc ss = { .h = 1, .w = l->batch, .c = l->cells };
	struct g_operand state = low_view(p->l, part_ifm(p, op->in[LSTM_HIDDEN]), ss);
	struct g_operand cell = low_view(p->l, part_ifm(p, op->in[LSTM_CELL]), ss);
	struct nd x = nd_ifm(p, op->in[LSTM_X]), y = nd_ofm(p, op->out[0]);
	struct nd out = some_steps(l, &y, 0, l->steps), products = { .t = NULL };
	struct g_operand h = state;
	/*
	 * The number of steps whose input products are computed ahead: their bytes are at
	 * most half of the inputs' bytes.  More steps per pass over the weights would cost
	 * SRAM that the network may lack elsewhere.
	 */
	int64_t row = LSTM_N_GATES * (int64_t)l->cells * tfl_type_bytes(TFL_INT16);
	int64_t in = (int64_t)l->features * tfl_type_bytes(l->x->type);
	int64_t n = l->steps * in / 2 / row;
	n = n < 1 ? 1 : n < l->steps ? n : l->steps;
	/* groups as equal as possible */
	int32_t many = (int32_t)ceil_div(l->steps, ceil_div(l->steps, (int32_t)n)), first = 0;
	for (int32_t t = 0; t < l->steps; t++) {
		if (t % many == 0) {
			/* all groups have one shape: they share the block of their weights */
			first = min_i32(t, l->steps - many);
			/* contributions of the inputs: [batch][step][gate] */
			struct hwc s = { .h = l->batch, .w = many, .c = LSTM_N_GATES * l->cells };
			struct tfl_tensor shape = { .rank = 3, .dim = { s.h, s.w, s.c } };
			struct g_operand all = low_new(p->l, TFL_INT16, s);
			struct nd v = some_steps(l, &x, first, many);
			multiply(p, l, &mx, nd_to_operand(&v), all);
			products = nd_of(all, &shape);
		}
		struct g_operand to = one_step(&out, t);
		make_step(p, l, &mh, one_step(&products, t - first), h, cell, to);
		h = to;
	}
	(void)low_copy(p->l, h, state);
}
