/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for the LSTMs that the NPU computes exactly: shapes, states, scales, sums. */
#include "conv.h"
#include "lstm.h"

#include "kernels/tables.h"
#include "tflite/fields.h"

#include <math.h>

enum { MAX_STEPS = 1024 };

static const char *
check_state(const struct part *p, const struct tfl_op *op, int k, const char *role,
	    int type)
{
	const char *why = check_own_state(p, op, k, role);
	if (why)
		return why;
	const struct tfl_tensor *t = part_in(p, op, k);
	if (t->type != type || !t->has_shape)
		return arena_printf(p->a, "%s is not a variable of type %s", role,
				tfl_type_name(type));
	if (t->quant.n_scale != 1 || !(t->quant.scale[0] > 0) ||
	    !isfinite(t->quant.scale[0]))
		return arena_printf(p->a, "%s has no quantization", role);
	return NULL;
}

bool
lstm_gate_scale(const struct lstm *l, const struct tfl_tensor *w, bool recurrent,
	   struct npu_scale *s)
{
	float in = quant_scale_f32(recurrent ? l->hidden : l->x);
	if (!npu_quantise((double)(in * quant_scale_f32(w) / GATE_SCALE), s))
		return false;
	if (l->x->type == TFL_INT16)
		*s = npu_scale_reduce(*s);
	return s->shift >= 0 && s->shift <= 63;
}

static const char undefined[] = "scaled sums exceed 32 bits, where TensorFlow Lite "
				"Micro's result is undefined";

static double
largest_bias(const struct tfl_tensor *b)
{
	double most = 0;
	for (int64_t i = 0; i < tfl_elements(b); i++)
		most = fmax(most, fabs((double)tfl_integer(b->type, b->data.p, i)));
	return most;
}

static const char *
check_gate(const struct part *p, const struct tfl_op *op, const struct lstm *l,
	   int g)
{
	struct npu_scale s;
	for (int k = 0; k < 2; k++) {
		const struct tfl_tensor *w = part_in(p, op, (k ? LSTM_RECURRENT : LSTM_WEIGHTS) + g);
		int32_t n = k ? l->cells : l->features;
		if (!w->data.p || w->type != TFL_INT8 || w->quant.n_scale != 1 ||
		    !(w->quant.scale[0] > 0) || quant_zero(w) || w->is_sparse)
			return arena_printf(p->a, "weights of gate %d are not constant, "
					"symmetric int8", g);
		if (w->rank != 2 || w->dim[0] != l->cells || w->dim[1] != n)
			return arena_printf(p->a, "weights of gate %d are not %dx%d", g,
					l->cells, n);
		if (n > MAX_WEIGHT_SUM / 128)
			return "more than 65024 inputs";
		if (!lstm_gate_scale(l, w, k, &s))
			return "a scale of the gates can't be expressed";
	}
	const struct tfl_tensor *b = part_in(p, op, LSTM_BIAS + g);
	if (!b->data.p || (b->type != TFL_INT32 && b->type != TFL_INT64) ||
	    tfl_elements(b) != l->cells)
		return arena_printf(p->a, "bias of gate %d is not %d constants of int32 or int64", g,
				l->cells);
	if (largest_bias(b) > INT32_MAX)
		return arena_printf(p->a, "bias of gate %d exceeds 32 bits", g);
	/* sums for operands of 16 bits have 64 bits and always fit */
	for (int k = 0; k < 2 && l->x->type == TFL_INT8; k++) {
		const struct tfl_tensor *w = part_in(p, op, (k ? LSTM_RECURRENT : LSTM_WEIGHTS) + g);
		double most = (double)(k ? l->cells : l->features) * UINT8_MAX * -INT8_MIN;
		if (!k)
			most += largest_bias(b);
		(void)lstm_gate_scale(l, w, k, &s);
		if (most > INT32_MAX || npu_scale_leaves_word(s, most))
			return undefined;
	}
	return NULL;
}

static const char *
check_inputs(const struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = check_options(p, op, &fb_UnidirectionalSequenceLSTMOptions);
	if (why)
		return why;
	for (int k = 0; k < LSTM_N_INPUTS; k++) {
		bool unknown = (k >= LSTM_PEEPHOLE && k < LSTM_BIAS) || k == LSTM_PROJECTION ||
			       k == LSTM_PROJECTION + 1 || k >= LSTM_NORM;
		if (!unknown == !part_in(p, op, k))
			return arena_printf(p->a, "LSTM with%s input %d",
					unknown ? "" : "out", k);
	}
	if (TFL_OPT(op, UnidirectionalSequenceLSTMOptions, fused_activation_function) !=
		    TFL_ACT_TANH ||
	    TFL_OPT(op, UnidirectionalSequenceLSTMOptions, diagonal_recurrent_tensors))
		return "LSTM with an activation other than TANH, or with diagonal "
		       "recurrent tensors";
	return check_ifm_ofm(p, o);
}

const char *
read_lstm(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct lstm *l = anew(p->a, struct lstm, 1);
	const char *why = check_inputs(p, o);
	if (why)
		return why;
	o->own = l;
	*l = (struct lstm){ .x = part_in(p, op, LSTM_X), .ofm = o->ofm,
			    .hidden = part_in(p, op, LSTM_HIDDEN),
			    .cell = part_in(p, op, LSTM_CELL) };
	if (l->x->type != l->ofm->type)
		return "IFM and OFM differ in type";
	why = check_state(p, op, LSTM_HIDDEN, "the output state", l->x->type) ?:
	      check_state(p, op, LSTM_CELL, "the cell state", TFL_INT16);
	if (why)
		return why;
	if (l->x->rank != 3 || l->ofm->rank != 3)
		return "IFM and OFM must have 3 dimensions";
	l->major = TFL_OPT(op, UnidirectionalSequenceLSTMOptions, time_major);
	l->steps = l->x->dim[!l->major];
	l->batch = l->x->dim[l->major];
	l->features = l->x->dim[2];
	l->cells = l->ofm->dim[2];
	if (l->ofm->dim[0] != l->x->dim[0] || l->ofm->dim[1] != l->x->dim[1] ||
	    tfl_elements(l->hidden) != (int64_t)l->batch * l->cells ||
	    tfl_elements(l->cell) != (int64_t)l->batch * l->cells)
		return "the shapes of IFM, states and OFM do not match";
	if (l->steps > MAX_STEPS || l->cells > 16384 || (int64_t)l->steps * l->batch > 65536)
		return "more than 1024 steps, 16384 cells or 65536 rows";
	for (int g = 0; !why && g < LSTM_N_GATES; g++)
		why = check_gate(p, op, l, g);
	if (why)
		return why;
	if (quant_zero(l->cell))
		return "the cell state has a zero point";
	float cell = quant_scale_f32(l->cell), unit2 = UNIT_SCALE * UNIT_SCALE;
	float clip = (float)TFL_OPT_FLOAT(op, UnidirectionalSequenceLSTMOptions,
					  cell_clip);
	if (clip > 0)
		l->clip = (int32_t)fminf(clip / cell, INT16_MAX);
	if (!npu_quantise((double)(UNIT_SCALE * cell / cell), &l->keep) ||
	    !npu_quantise((double)(unit2 / cell), &l->add) ||
	    !npu_quantise((double)(unit2 / quant_scale_f32(l->hidden)), &l->emit))
		return "a scale of the states can't be expressed";
	/* the products of states, and the factor of the cell before its tanh */
	const double most = (double)INT16_MIN * INT16_MIN, word = (double)UINT16_MAX + 1;
	struct sigmoid16 tanh;
	sigmoid16_prepare(&tanh, cell, true);
	return npu_scale_leaves_word(l->keep, most) || npu_scale_leaves_word(l->add, most) ||
			       npu_scale_leaves_word(l->emit, most) || tanh.mult >= word
		   ? undefined
		   : NULL;
}
