/* SPDX-License-Identifier: Apache-2.0 */
/* UNIDIRECTIONAL_SEQUENCE_LSTM with full gates: nputools-lowering(7) 3.10. */
#include "kernels/tables.h"

#include <math.h>
#include <string.h>

#define GATE_SCALE 0x1p-12f /* scale of the inputs of activations */
#define UNIT_SCALE 0x1p-15f /* scale of the outputs of activations */

struct dense {
	const int32_t *w;
	int64_t *bias; /* includes the input's zero point */
	struct fixed_mult mult;
};

struct lstm {
	const struct tfl_tensor *in, *hidden, *cell, *out;
	int64_t batch, steps, features, cells;
	int64_t step_stride, batch_stride; /* in rows of features or cells */
	bool wide; /* int16 inputs: 64-bit accumulators */
	struct affine q_in, q_hidden, q_cell;
	struct dense from_x[LSTM_N_GATES], from_h[LSTM_N_GATES];
	struct sigmoid16 sigmoid, tanh, tanh_cell;
	struct fixed_mult keep, add, emit; /* multipliers of f*c, i*g, tanh(c)*o */
	int32_t clip;			   /* limit of the cell state; 0: none */
	int32_t *gate[LSTM_N_GATES];		   /* gate values of one batch */
};

static bool
check_inputs_present(struct call *c)
{
	for (int k = 0; k < LSTM_N_INPUTS; k++) {
		bool forbidden = (k >= LSTM_PEEPHOLE && k < LSTM_BIAS) ||
				 k == LSTM_PROJECTION || k == LSTM_PROJECTION + 1 ||
				 k >= LSTM_NORM;
		if (forbidden && call_in(c, k))
			return call_err(c,
					"input %d: peephole, projection and "
					"layer normalisation are not "
					"supported",
					k);
		if (!forbidden && !call_in(c, k))
			return call_err(c, "input %d is absent", k);
	}
	return true;
}

static bool
check_lstm_shapes(struct call *c, struct lstm *l)
{
	bool major =
	    TFL_OPT(c->op, UnidirectionalSequenceLSTMOptions, time_major);
	if (l->in->rank != 3 || l->out->rank != 3)
		return call_mismatch(
		    c, "input and output have rank %d and %d, not 3",
		    l->in->rank, l->out->rank);
	l->steps = l->in->dim[!major];
	l->batch = l->in->dim[major];
	l->step_stride = major ? l->batch : 1;
	l->batch_stride = major ? 1 : l->steps;
	l->features = l->in->dim[2];
	l->cells = l->out->dim[2];
	if (l->out->dim[0] != l->in->dim[0] ||
	    l->out->dim[1] != l->in->dim[1] ||
	    tfl_elements(l->hidden) != l->batch * l->cells ||
	    tfl_elements(l->cell) != l->batch * l->cells)
		return call_mismatch(
		    c,
		    "states and output do not suit %lld batches of "
		    "%lld cells",
		    (long long)l->batch, (long long)l->cells);
	if (!l->hidden->is_variable || !l->cell->is_variable)
		return call_err(c, "the states are not variables");
	return call_work(c, tfl_elements(l->out), l->features + l->cells);
}

/*
 * Loads weights k with n columns and folds the zero point into the bias: sum (x - z) w
 * = sum x w - z sum w.
 */
static bool
load_dense(struct call *c, const struct lstm *l, int k, int64_t n,
	   struct affine q, struct dense *d)
{
	const struct tfl_tensor *t = call_in(c, k);
	struct affine w;
	if (!call_type(c, t, "weights", T_I8) ||
	    !call_affine(c, t, "weights", &w) ||
	    !call_mult(c, (double)(q.scale * w.scale / GATE_SCALE), &d->mult))
		return false;
	if (t->rank != 2 || t->dim[0] != l->cells || t->dim[1] != n)
		return call_mismatch(c, "weights (%s) are not %lld by %lld",
				     t->name, (long long)l->cells,
				     (long long)n);
	if (l->wide && d->mult.exp > MBQM64_EXP)
		return call_err(c, "scales give a multiplier above 128");
	if (c->check)
		return true;
	d->w = call_widen(c, k);
	d->bias = anew(c->a, int64_t, (size_t)l->cells);
	for (int64_t i = 0; i < l->cells * n; i++)
		d->bias[i / n] -= (int64_t)q.zero * d->w[i];
	return true;
}

static bool
load_gate_bias(struct call *c, const struct lstm *l, int k, struct dense *d)
{
	const struct tfl_tensor *t = call_in(c, k);
	if (!call_type(c, t, "bias", T_I32 | T_I64))
		return false;
	if (tfl_elements(t) != l->cells)
		return call_mismatch(c, "bias (%s) has %lld elements", t->name,
				     (long long)tfl_elements(t));
	if (c->check)
		return true;
	for (int64_t i = 0; i < l->cells; i++)
		d->bias[i] = (int64_t)((uint64_t)d->bias[i] +
				       (uint64_t)(t->type == TFL_INT64
						      ? ((const int64_t *)
							     c->io->in[k])[i]
						      : ((const int32_t *)
							     c->io->in[k])[i]));
	return true;
}

static bool
lstm_prepare(struct call *c, struct lstm *l)
{
	l->in = call_in(c, LSTM_X);
	l->hidden = call_in(c, LSTM_HIDDEN);
	l->cell = call_in(c, LSTM_CELL);
	l->out = call_out(c, 0);
	l->wide = l->in->type == TFL_INT16;
	if (!call_type(c, l->in, "input", T_I8 | T_I16) ||
	    !call_same_type(c, l->in, l->out) ||
	    !call_same_type(c, l->in, l->hidden) ||
	    !call_type(c, l->cell, "cell state", T_I16) ||
	    !call_affine(c, l->in, "input", &l->q_in) ||
	    !call_affine(c, l->hidden, "output state", &l->q_hidden) ||
	    !call_affine(c, l->cell, "cell state", &l->q_cell) || !check_lstm_shapes(c, l))
		return false;
	float clip = (float)TFL_OPT_FLOAT(
	    c->op, UnidirectionalSequenceLSTMOptions, cell_clip);
	if (clip > 0)
		l->clip = (int32_t)fminf(clip / l->q_cell.scale, INT16_MAX);
	sigmoid16_prepare(&l->sigmoid, GATE_SCALE, false);
	sigmoid16_prepare(&l->tanh, GATE_SCALE, true);
	sigmoid16_prepare(&l->tanh_cell, l->q_cell.scale, true);
	float unit2 = UNIT_SCALE * UNIT_SCALE;
	if (!call_mult(c, (double)(UNIT_SCALE * l->q_cell.scale / l->q_cell.scale), &l->keep) ||
	    !call_mult(c, (double)(unit2 / l->q_cell.scale), &l->add) ||
	    !call_mult(c, (double)(unit2 / l->q_hidden.scale), &l->emit))
		return false;
	for (int g = 0; g < LSTM_N_GATES; g++) {
		if (!load_dense(c, l, LSTM_WEIGHTS + g, l->features, l->q_in,
				&l->from_x[g]) ||
		    !load_dense(c, l, LSTM_RECURRENT + g, l->cells, l->q_hidden,
				&l->from_h[g]) ||
		    !load_gate_bias(c, l, LSTM_BIAS + g, &l->from_x[g]))
			return false;
		l->gate[g] = anew(c->a, int32_t, (size_t)l->cells);
	}
	return true;
}

static int32_t
sat16(int64_t v)
{
	return clamp_i32(v, INT16_MIN, INT16_MAX);
}

static int32_t
dense_row(const struct lstm *l, const struct dense *d, const int32_t *x,
	  int64_t n, int64_t row)
{
	const int32_t *w = d->w + row * n;
	int64_t sum = 0;
	for (int64_t k = 0; k < n; k++)
		sum += (int64_t)x[k] * w[k];
	sum = (int64_t)((uint64_t)sum + (uint64_t)d->bias[row]);
	return sat16(l->wide ? wide_mbqm(sum, d->mult)
			     : fixed_mbqm((int32_t)sum, d->mult));
}

static void
run_gates(struct lstm *l, const int32_t *x, const int32_t *h)
{
	for (int g = 0; g < LSTM_N_GATES; g++)
		for (int64_t i = 0; i < l->cells; i++) {
			int32_t v = sat16(
			    dense_row(l, &l->from_x[g], x, l->features, i) +
			    dense_row(l, &l->from_h[g], h, l->cells, i));
			l->gate[g][i] = sigmoid16(
			    g == LSTM_CANDIDATE ? &l->tanh : &l->sigmoid, v);
		}
}

/* c = f c + i g; h = o tanh(c) */
static void
run_states(struct lstm *l, int32_t *cell, int32_t *h)
{
	int32_t lo = type_min(l->out->type), hi = type_max(l->out->type);
	for (int64_t i = 0; i < l->cells; i++) {
		int32_t kept =
		    sat16(fixed_mbqm(l->gate[LSTM_FORGET][i] * cell[i], l->keep));
		int32_t added = sat16(fixed_mbqm(
		    l->gate[LSTM_INPUT][i] * l->gate[LSTM_CANDIDATE][i], l->add));
		cell[i] = sat16(kept + added);
		if (l->clip)
			cell[i] = clamp_i32(cell[i], -l->clip, l->clip);
		int32_t t = sigmoid16(&l->tanh_cell, cell[i]);
		h[i] = clamp_i32(
		    (int64_t)fixed_mbqm(t * l->gate[LSTM_OUTPUT][i], l->emit) +
			l->q_hidden.zero,
		    lo, hi);
	}
}

bool
kernel_lstm(struct call *c)
{
	struct lstm *l = anew(c->a, struct lstm, 1);
	if (!check_inputs_present(c) || !lstm_prepare(c, l))
		return false;
	if (c->check)
		return true;
	const int32_t *x = call_widen(c, LSTM_X);
	int32_t *h = call_widen(c, LSTM_HIDDEN), *cell = call_widen(c, LSTM_CELL);
	int32_t *y = anew(c->a, int32_t, (size_t)tfl_elements(l->out));
	for (int64_t t = 0; t < l->steps; t++)
		for (int64_t b = 0; b < l->batch; b++) {
			int64_t row = t * l->step_stride + b * l->batch_stride;
			int32_t *own = h + b * l->cells;
			run_gates(l, x + row * l->features, own);
			run_states(l, cell + b * l->cells, own);
			memcpy(y + row * l->cells, own,
			       (size_t)l->cells * sizeof(*y));
		}
	narrow(l->hidden, c->io->in[LSTM_HIDDEN], h);
	narrow(l->cell, c->io->in[LSTM_CELL], cell);
	call_narrow(c, 0, y);
	return true;
}
