/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests random UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF operators over several runs:
 * outputs and kept states must follow nputools-lowering(7) 3.10 and the comment of
 * svdf_step() below.  The sigmoid table of the hardware (nputools-lowering(7) 3.8) is
 * compared with the function here; after that, the table of the kernels is used.
 */
#include "kernels/tables.h"
#include "rules.h"
#include "tflite/fields.h"

enum { MOST = 512, GATES = 4, RUNS = 3 };

static int64_t
into(int64_t v, int type)
{
	return v < rule_least(type) ? rule_least(type)
	       : v > rule_most(type) ? rule_most(type)
				     : v;
}

static int64_t
into16(int64_t v)
{
	return into(v, TFL_INT16);
}

/*
 * In 32768ths: the table's values are whole 65536ths.  Its lines between points 1/24
 * apart deviate from the curve by up to 1/(8 * 24^2) of the second derivative, 0.1 *
 * 32768 of it: 0.7.  Together with the corrections the error is at most 2; for tanh
 * twice that.
 */
static void
sigmoid_is_close(void)
{
	for (int is_tanh = 0; is_tanh < 2; is_tanh++) {
		struct sigmoid16 s;
		sigmoid16_prepare(&s, 0x1p-12f, is_tanh);
		for (int32_t x = INT16_MIN; x <= INT16_MAX; x += 7) {
			long double v = x / 4096.0L;
			v = 32768 * (is_tanh ? tanhl(v) : 1 / (1 + expl(-v)));
			if (fabsl(v - sigmoid16(&s, x)) <= 2 + 2 * is_tanh)
				continue;
			n_failed++;
			printf("%s of %d is %d, the function %.2Lf\n",
			       is_tanh ? "tanh" : "sigmoid", x, sigmoid16(&s, x), v);
			return;
		}
	}
}

/* ---- LSTM: inputs by their place in nputools-tflite(5) 6.2 ------------------- */

enum { X, WEIGHTS, RECURRENT = 5, BIAS = 12, HIDDEN = 18, CELL = 19, INPUTS = 24, OUT = INPUTS };

struct lstm {
	struct bench b;
	int type;
	int32_t batches, steps, features, cells;
	bool major;
	float clip;
	int64_t hidden[MOST], cell[MOST], want[MOST];
};

/* the product of row i of matrix w (n columns) and v, to 16 bits at 2^-12 */
static int64_t
dense(const struct lstm *l, int w, int32_t i, int32_t n, const int64_t *v, int of, int bias)
{
	const struct bench *b = &l->b;
	int64_t sum = bias < 0 ? 0 : get(b, bias, i);
	double r = (double)(b->scale[of][0] * b->scale[w][0] / 0x1p-12f);
	for (int32_t k = 0; k < n; k++)
		sum += (v[k] - b->zero[of][0]) * get(b, w, (int64_t)i * n + k);
	return into16(l->type == TFL_INT16 ? rule_mbqm64(sum, r) : rule_mbqm(sum, r));
}

/* one step of one batch: x the features, h and c its states */
static void
step(const struct lstm *l, const int64_t *x, int64_t *h, int64_t *c)
{
	struct sigmoid16 sigmoid, tanh, tanh_cell;
	float sc = l->b.scale[CELL][0], sh = l->b.scale[HIDDEN][0];
	int64_t gate[GATES][MOST];
	sigmoid16_prepare(&sigmoid, 0x1p-12f, false);
	sigmoid16_prepare(&tanh, 0x1p-12f, true);
	sigmoid16_prepare(&tanh_cell, sc, true);
	for (int g = 0; g < GATES; g++) /* input, forget, candidate, output */
		for (int32_t i = 0; i < l->cells; i++) {
			int64_t in = dense(l, WEIGHTS + g, i, l->features, x, X, BIAS + g);
			int64_t back = dense(l, RECURRENT + g, i, l->cells, h, HIDDEN, -1);
			gate[g][i] = sigmoid16(g == 2 ? &tanh : &sigmoid,
					       (int32_t)into16(in + back));
		}
	for (int32_t i = 0; i < l->cells; i++) {
		int64_t kept = into16(rule_mbqm(gate[1][i] * c[i], ldexp(1, -15)));
		int64_t more = into16(rule_mbqm(gate[0][i] * gate[2][i],
						(double)(0x1p-30f / sc)));
		int64_t most = l->clip > 0 ? into16((int64_t)(l->clip / sc)) : INT16_MAX;
		c[i] = into16(kept + more);
		if (l->clip > 0)
			c[i] = c[i] > most ? most : c[i] < -most ? -most : c[i];
		int64_t t = sigmoid16(&tanh_cell, (int32_t)c[i]);
		h[i] = into(rule_mbqm(t * gate[3][i], (double)(0x1p-30f / sh)) +
			    l->b.zero[HIDDEN][0], l->type);
	}
}

static void
run_steps(struct lstm *l)
{
	for (int32_t t = 0; t < l->steps; t++)
		for (int32_t n = 0; n < l->batches; n++) {
			int64_t x[MOST], row = l->major ? (int64_t)t * l->batches + n
							: (int64_t)n * l->steps + t;
			for (int32_t k = 0; k < l->features; k++)
				x[k] = get(&l->b, X, row * l->features + k);
			step(l, x, l->hidden + n * l->cells, l->cell + n * l->cells);
			for (int32_t i = 0; i < l->cells; i++)
				l->want[row * l->cells + i] = l->hidden[n * l->cells + i];
		}
}

static void
keeps(const struct bench *b, int state, const int64_t *want, const char *what)
{
	for (int64_t k = 0; k < count_of(b, state); k++) {
		if (get(b, state, k) == want[k])
			continue;
		n_failed++;
		printf("%s: element %" PRId64 " stays as %" PRId64 ", want %" PRId64 "\n", what,
		       k, get(b, state, k), want[k]);
		return;
	}
}

static void
lstm_inputs(struct lstm *l)
{
	struct bench *b = &l->b;
	const int32_t in[4] = { l->major ? l->steps : l->batches,
				l->major ? l->batches : l->steps, l->features };
	const int32_t out[4] = { in[0], in[1], l->cells }, state[4] = { l->batches, l->cells };
	int64_t zero = draw_zero(l->type);
	float sh = draw_scale(l->type == TFL_INT8 ? -7 : -15);
	drawn_map(b, l->type, in, draw_scale(l->type == TFL_INT8 ? -6 : -13),
		  draw_zero(l->type));
	for (int k = WEIGHTS; k < INPUTS; k++)
		if (k < WEIGHTS + GATES)
			drawn(b, TFL_INT8, (int32_t[4]){ l->cells, l->features }, draw_scale(-6),
			      0, -127, 127);
		else if (k >= RECURRENT && k < RECURRENT + GATES)
			drawn(b, TFL_INT8, (int32_t[4]){ l->cells, l->cells }, draw_scale(-6), 0,
			      -127, 127);
		else if (k >= BIAS && k < BIAS + GATES)
			drawn(b, TFL_INT32, (int32_t[4]){ l->cells }, 0, 0, -3000, 3000);
		else if (k == HIDDEN)
			drawn_map(b, l->type, state, sh, zero);
		else if (k == CELL) /* a power of two, as the converter chooses it */
			drawn_map(b, TFL_INT16, state, ldexpf(1, -(int)draw_in(9, 13)), 0);
		else
			bench_add_none(b);
	b->t[HIDDEN].is_variable = b->t[CELL].is_variable = true;
	bench_add(b, l->type, out, sh, zero);
}

static void
lstm(void)
{
	struct lstm l = { .type = draw() % 2 ? TFL_INT8 : TFL_INT16, .major = draw() % 2 };
	l.batches = (int32_t)draw_in(1, 3);
	l.steps = (int32_t)draw_in(1, 4);
	l.features = (int32_t)draw_in(1, 9);
	l.cells = (int32_t)draw_in(1, 7);
	l.clip = draw() % 2 ? 0 : draw_scale(0);
	lstm_inputs(&l);
	struct bench_option o[] = {
		{ .slot = FB_UnidirectionalSequenceLSTMOptions_fused_activation_function,
		  .v = TFL_ACT_TANH },
		{ .slot = FB_UnidirectionalSequenceLSTMOptions_cell_clip,
		  .v = (double)l.clip, .is_float = true },
		{ .slot = FB_UnidirectionalSequenceLSTMOptions_time_major, .v = l.major },
	};
	bench_options(&l.b, &fb_UnidirectionalSequenceLSTMOptions, o, 3);
	for (int64_t k = 0; k < count_of(&l.b, HIDDEN); k++) {
		l.hidden[k] = get(&l.b, HIDDEN, k);
		l.cell[k] = get(&l.b, CELL, k);
	}
	for (int i = 0; i < RUNS; i++) {
		run_steps(&l);
		hold(&l.b, TFL_UNIDIRECTIONAL_SEQUENCE_LSTM,
		     l.type == TFL_INT8 ? "bytes" : "16 bits", l.want);
		keeps(&l.b, HIDDEN, l.hidden, "the output state");
		keeps(&l.b, CELL, l.cell, "the cell state");
	}
}

/* ---- SVDF -------------------------------------------------------------------- */

enum { IN, FEATURE, TIME, SVDF_BIAS, STATE, SVDF_OUT };

struct svdf {
	struct bench b;
	int32_t batches, inputs, units, rank, memory;
	int64_t past[MOST], want[MOST]; /* past: of a batch's filter, the oldest first */
};

/*
 * The oldest memory of each filter is dropped, and the product of its features
 * becomes the newest.  A unit is its bias plus its filters' memories times their
 * weights over time.
 */
static void
svdf_step(struct svdf *s)
{
	struct bench *b = &s->b;
	int32_t filters = s->units * s->rank, m = s->memory;
	float si = b->scale[IN][0], sf = b->scale[FEATURE][0], st = b->scale[TIME][0];
	float ss = b->scale[STATE][0], so = b->scale[SVDF_OUT][0];
	for (int32_t n = 0; n < s->batches; n++)
		for (int32_t u = 0; u < s->units; u++) {
			int64_t sum = get(b, SVDF_BIAS, u);
			for (int32_t f = u * s->rank; f < (u + 1) * s->rank; f++) {
				int64_t *past = s->past + (n * filters + f) * m, dot = 0;
				for (int32_t k = 0; k < s->inputs; k++)
					dot += get(b, FEATURE, f * s->inputs + k) *
					       (get(b, IN, n * s->inputs + k) - b->zero[IN][0]);
				memmove(past, past + 1, (size_t)(m - 1) * sizeof(*past));
				past[m - 1] = into(rule_mbqm(dot, (double)(si * sf / ss)) +
						   b->zero[STATE][0], b->t[STATE].type);
				for (int32_t k = 0; k < m; k++)
					sum += get(b, TIME, f * m + k) *
					       (past[k] - b->zero[STATE][0]);
			}
			s->want[n * s->units + u] =
			    into(rule_mbqm(sum, (double)(ss * st / so)) + b->zero[SVDF_OUT][0],
				 TFL_INT8);
		}
}

static void
svdf(void)
{
	struct svdf s = { .batches = (int32_t)draw_in(1, 2) };
	struct bench *b = &s.b;
	int type = draw() % 2 ? TFL_INT8 : TFL_INT16;
	s.inputs = (int32_t)draw_in(1, 12);
	s.units = (int32_t)draw_in(1, 5);
	s.rank = (int32_t)draw_in(1, 3);
	s.memory = (int32_t)draw_in(1, 8);
	int32_t filters = s.units * s.rank;
	drawn_map(b, TFL_INT8, (int32_t[4]){ s.batches, s.inputs }, draw_scale(-6),
		  draw_zero(TFL_INT8));
	drawn(b, TFL_INT8, (int32_t[4]){ filters, s.inputs }, draw_scale(-7), 0, -127, 127);
	/* the reference's sums have 32 bits: 24 memories of 16 times 11 do not
	 * overflow */
	drawn(b, type, (int32_t[4]){ filters, s.memory }, draw_scale(type == TFL_INT8 ? -7 : -11),
	      0, type == TFL_INT8 ? -127 : -2000, type == TFL_INT8 ? 127 : 2000);
	drawn(b, TFL_INT32, (int32_t[4]){ s.units }, 0, 0, -5000, 5000);
	drawn_map(b, type, (int32_t[4]){ s.batches, filters * s.memory },
		  draw_scale(type == TFL_INT8 ? -5 : -13), draw_zero(type));
	b->t[STATE].is_variable = true;
	bench_add(b, TFL_INT8, (int32_t[4]){ s.batches, s.units }, draw_scale(-5),
		  draw_zero(TFL_INT8));
	bench_options(b, &fb_SVDFOptions,
		      &(struct bench_option){ .slot = FB_SVDFOptions_rank, .v = s.rank }, 1);
	for (int64_t k = 0; k < count_of(b, STATE); k++)
		s.past[k] = get(b, STATE, k);
	for (int i = 0; i < RUNS; i++) {
		svdf_step(&s);
		hold(b, TFL_SVDF, type == TFL_INT8 ? "bytes" : "16 bits over time", s.want);
		keeps(b, STATE, s.past, "the state");
	}
}

int
main(void)
{
	sigmoid_is_close();
	for (int i = 0; i < 150; i++) {
		lstm();
		svdf();
	}
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
