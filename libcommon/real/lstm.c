/* SPDX-License-Identifier: Apache-2.0 */
/* UNIDIRECTIONAL_SEQUENCE_LSTM with full gates: the formulas of nputools-lowering(7) 3.10. */
#include "real/real.h"

#include "kernels/kernels.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <math.h>

struct lstm {
	const struct real_op *o;
	int32_t batch, steps, features, cells;
	bool major; /* time is the first dimension of input and output, the batch the second */
	double clip; /* limit of the cell state; 0: none */
	double *gate[LSTM_N_GATES]; /* values of one batch */
};

static double
sum_products(const double *x, const double *w, int32_t n)
{
	double sum = 0;
	for (int32_t k = 0; k < n; k++)
		sum += x[k] * w[k];
	return sum;
}

static void
run_gates(const struct lstm *l, const double *x, const double *h)
{
	for (int g = 0; g < LSTM_N_GATES; g++) {
		const double *w = real_x(l->o, LSTM_WEIGHTS + g);
		const double *r = real_x(l->o, LSTM_RECURRENT + g);
		for (int32_t i = 0; i < l->cells; i++) {
			double v = sum_products(x, w + (int64_t)i * l->features, l->features) +
				   sum_products(h, r + (int64_t)i * l->cells, l->cells) +
				   real_bias(l->o, LSTM_X, LSTM_WEIGHTS + g, LSTM_BIAS + g, i);
			l->gate[g][i] = g == LSTM_CANDIDATE ? real_tanh(v)
							    : 1 / (1 + real_exp(-v));
		}
	}
}

/* c = f c + i g; h = o tanh(c) */
static void
run_states(const struct lstm *l, double *cell, double *h)
{
	struct real_span *seen = &l->o->r->inside[l->o->index];
	for (int32_t i = 0; i < l->cells; i++) {
		double c = l->gate[LSTM_FORGET][i] * cell[i] +
			   l->gate[LSTM_INPUT][i] * l->gate[LSTM_CANDIDATE][i];
		cell[i] = l->clip > 0 ? fmin(fmax(c, -l->clip), l->clip) : c;
		h[i] = l->gate[LSTM_OUTPUT][i] * real_tanh(cell[i]);
		seen->lo = fmin(seen->lo, cell[i]);
		seen->hi = fmax(seen->hi, cell[i]);
	}
}

void
real_lstm(const struct real_op *o)
{
	const struct tfl_tensor *in = real_in(o, LSTM_X);
	bool major = TFL_OPT(o->op, UnidirectionalSequenceLSTMOptions, time_major);
	struct lstm l = {
		.o = o, .major = major, .steps = in->dim[!major], .batch = in->dim[major],
		.features = in->dim[2], .cells = real_out(o, 0)->dim[2],
		.clip = TFL_OPT_FLOAT(o->op, UnidirectionalSequenceLSTMOptions, cell_clip),
	};
	struct arena *a = arena_open();
	for (int g = 0; g < LSTM_N_GATES; g++)
		l.gate[g] = anew(a, double, (size_t)l.cells);
	o->r->inside[o->index] = (struct real_span){ 0, 0 };
	for (int32_t t = 0; t < l.steps; t++)
		for (int32_t b = 0; b < l.batch; b++) {
			int64_t row = major ? (int64_t)t * l.batch + b : (int64_t)b * l.steps + t;
			double *h = real_x(o, LSTM_HIDDEN) + (int64_t)b * l.cells;
			run_gates(&l, real_x(o, LSTM_X) + row * l.features, h);
			run_states(&l, real_x(o, LSTM_CELL) + (int64_t)b * l.cells, h);
			for (int32_t i = 0; i < l.cells; i++)
				real_y(o, 0)[row * l.cells + i] = h[i];
		}
	arena_close(a);
}
