/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVDF with a state of 8 or 16 bits, which is a variable.  A matrix product makes
 * the newest value of each filter's memory; the older values move up by one step.
 * Nobody else reads the state, and all its elements begin with one value, so its
 * order is free: step by step, all filters of a step side by side.
 *
 * The sum over time is a depthwise convolution along the steps.  If a unit has
 * several filters, the sum is a product with a matrix that is 0 except for the
 * unit's own filters.  Weights over time of 16 bits need two such products, of
 * their upper and lower bytes.  If 256 * upper + lower may exceed 32 bits, lower is
 * carried into upper first: then the sum wraps around as the kernel's does (to C++
 * that is undefined).
 */
#include "../moves/move.h"

#include "base/little_endian.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "tflite/fields.h"

#include <math.h>
#include <stdlib.h>

enum { INPUT, FEATURE, TIME, BIAS, STATE, N_INPUTS };
enum { MAX_MATRIX = 1 << 24 };

struct svdf {
	const struct tfl_tensor *x, *feature, *time, *bias, *state, *y;
	int32_t batch, inputs, filters, memory, rank, units;
	struct npu_scale to_state, to_y;
	int type; /* element type of the state */
};

static bool
is_constant(const struct tfl_tensor *t, int type, int32_t rows, int32_t columns)
{
	return t && t->data.p && t->type == type && t->rank == 2 &&
	       t->dim[0] == rows && t->dim[1] == columns && !t->is_sparse &&
	       t->quant.n_scale == 1 && t->quant.scale[0] > 0 &&
	       isfinite(t->quant.scale[0]) && !quant_zero(t);
}

const char *
read_svdf(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct svdf *s = anew(p->a, struct svdf, 1);
	const char *why = check_options(p, op, &fb_SVDFOptions) ?: check_ifm_ofm(p, o);
	if (why)
		return why;
	o->own = s;
	*s = (struct svdf){ .x = part_in(p, op, INPUT), .y = o->ofm,
			    .feature = part_in(p, op, FEATURE),
			    .time = part_in(p, op, TIME), .bias = part_in(p, op, BIAS),
			    .state = part_in(p, op, STATE) };
	s->rank = (int32_t)TFL_OPT(op, SVDFOptions, rank);
	if (!family_rank(op, s->x) || s->feature->rank != 2 || s->time->rank != 2 ||
	    s->rank < 1)
		return "input and weights are not matrices, or the rank is below 1";
	s->batch = s->x->dim[0];
	s->inputs = s->x->dim[1];
	s->filters = s->feature->dim[0];
	s->memory = s->time->dim[1];
	s->units = s->filters / s->rank;
	s->type = s->state ? s->state->type : 0;
	if (s->type != TFL_INT8 && s->type != TFL_INT16)
		return "the state is neither INT8 nor INT16";
	if (!is_constant(s->feature, TFL_INT8, s->filters, s->inputs) ||
	    !is_constant(s->time, s->type, s->filters, s->memory))
		return "weights are not constant and symmetric, over time of the "
		       "state's type";
	if (s->bias && (!s->bias->data.p || s->bias->type != TFL_INT32))
		return "the bias is not constant INT32";
	if ((why = check_own_state(p, op, STATE, "the state")))
		return why;
	if (s->state->quant.n_scale != 1 ||
	    !(s->state->quant.scale[0] > 0) ||
	    (s->type == TFL_INT16 && quant_zero(s->state)))
		return "the state has no quantization of its type";
	int64_t all = (int64_t)s->filters * s->memory;
	/* bound on a sum of lower bytes: 2^7 * 2^15 * steps */
	if (s->units * s->rank != s->filters || all > 65536 ||
	    s->rank * (int64_t)s->memory > 256 || all * s->units > MAX_MATRIX)
		return "more than 256 steps of a unit, 65536 in all, or weights of "
		       "16 MiB";
	double value = s->type == TFL_INT8 ? -INT8_MIN : -INT16_MIN, most = 0;
	float state = s->state->quant.scale[0];
	if (!npu_quantise((double)(s->x->quant.scale[0] * s->feature->quant.scale[0] / state),
			  &s->to_state) ||
	    !npu_quantise((double)(state * s->time->quant.scale[0] / s->y->quant.scale[0]),
			  &s->to_y))
		return "the ratio of the scales can't be expressed";
	for (size_t i = 0; s->bias && 4 * i + 4 <= s->bias->data.n; i++)
		most = fmax(most, fabs((double)(int32_t)
				       load_le32(s->bias->data.p + 4 * i)));
	double feature = (double)s->inputs * UINT8_MAX * -INT8_MIN;
	double time = (double)s->rank * s->memory * value * value + most;
	if (npu_scale_leaves_word(s->to_state, feature) ||
	    npu_scale_leaves_word(s->to_y, time))
		return "scaled sums exceed 32 bits, where TensorFlow Lite Micro's "
		       "result is undefined";
	return NULL;
}

/* a product with weights of 8 bits; all results have one scale */
static struct g_op *
weighted_sum(struct part *p, enum g_op_kind kind, struct g_operand x, struct g_operand y,
	 struct g_source source, const int64_t *bias, struct npu_scale scale)
{
	struct yx one = { .y = 1, .x = 1 }, kernel = one;
	int32_t rows = y.shape.c, columns = x.shape.c;
	if (kind == OP_DEPTHWISE) {
		kernel.y = x.shape.h;
		columns = 1;
	}
	struct g_weights *w = graph_add_g_weights(p->g);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = TFL_INT8, .rank = 4,
				.dim = { rows, kernel.y, 1, columns } });
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = anew(p->a, int64_t, 1), .n = 1 });
	G_PUT(w, WEIGHTS, source, source);
	struct g_scales *s = low_scales_new(p->l, (size_t)rows, bias, &scale, true);
	struct g_op *o = low_op(p->l, kind, x, y);
	op_kernel(o, kernel, one, one, (struct g_pad){ 0 });
	G_PUT(o, OP, weights, w);
	G_PUT(o, OP, scales, s);
	return o;
}

/* h steps of all filters of a batch, from step `first` on */
static struct g_operand
steps_of(struct g_operand o, const struct svdf *s, int64_t first, int32_t h)
{
	int64_t n = s->filters;
	return (struct g_operand){
		.t = o.t, .type = s->type, .view = VIEW_STRIDED,
		.shape = { .h = h, .w = 1, .c = s->filters },
		.offset = first * n, .stride = { n, n, 1 },
	};
}

enum part_of_weight { ALL, UPPER, LOWER, BEYOND };

/* w = (upper + beyond) * 256 + lower, each of 8 bits; beyond is 1 for w >= 32640 */
static int32_t
weight_part(int32_t w, enum part_of_weight part)
{
	int32_t high = (w + 128) >> 8, upper = high < INT8_MAX ? high : INT8_MAX;
	switch (part) {
	case UPPER:
		return upper;
	case LOWER:
		return w - high * 256;
	case BEYOND:
		return high - upper;
	default:
		return w;
	}
}

/*
 * Memory times weights over time, with one sum per unit.  The weights are [filter][step] for a
 * depthwise convolution, else [unit][step][filter] with 0 where the filter does not belong to
 * the unit.
 */
static struct g_op *
sum_over_time(struct part *p, const struct svdf *s, struct g_operand now,
	      struct g_operand to, enum part_of_weight part,
	      const int64_t *bias, struct npu_scale scale)
{
	enum { MAX_KERNEL_Y = 64 };
	struct hwc line = { .h = 1, .w = 1, .c = s->filters * s->memory };
	size_t steps = (size_t)s->memory, filters = (size_t)s->filters, row = steps * filters;
	bool depthwise = s->rank == 1 && s->memory <= MAX_KERNEL_Y;
	const char *name = arena_printf(p->a, "time%d_%d", p->l->op_i, (int)part);
	const struct g_blob *b = graph_find_blob(p->g, name);
	if (!b) {
		size_t n = row * (depthwise ? 1 : (size_t)s->units);
		uint8_t *v = anew(p->a, uint8_t, n);
		for (size_t f = 0; f < filters; f++)
			for (size_t k = 0; k < steps; k++) {
				size_t from = f * steps + k, unit = f / (size_t)s->rank;
				size_t at = depthwise ? from : unit * row + k * filters + f;
				v[at] = (uint8_t)weight_part(
				    tensor_int(s->time, (int64_t)from), part);
			}
		b = graph_add_blob(p->g, name, (struct bytes){ .p = v, .n = n });
	}
	struct g_source w = { .blob = b->name };
	if (!depthwise)
		now = low_view(p->l, now, line);
	return weighted_sum(p, depthwise ? OP_DEPTHWISE : OP_FC, now, to, w, bias, scale);
}

/* the sums as words, before bias and scale */
static struct g_operand
unit_sums(struct part *p, const struct svdf *s, struct g_operand now,
       enum part_of_weight part)
{
	struct g_operand y = word_new(p->l, (struct hwc){ .h = 1, .w = 1, .c = s->units });
	struct npu_scale one = { .mult = 1 };
	struct g_op *o = sum_over_time(p, s, now, y, part, NULL, one);
	o->round = ROUND_NATURAL;
	G_PUT(o, OP, acc40, 1);
	op_clamp(o, type_range(TFL_INT32));
	return y;
}

/* floor(bias / 2^shift) & mask, of each unit */
static struct g_operand
bias_words(struct part *p, const struct svdf *s, int shift, int32_t mask)
{
	int32_t *v = anew(p->a, int32_t, (size_t)s->units);
	for (int32_t i = 0; i < s->units; i++)
		v[i] = tensor_int(s->bias, i) >> shift & mask;
	return low_const(p->l, TFL_INT32,
			  (struct hwc){ .h = 1, .w = 1, .c = s->units }, v);
}

/* can a unit's sum, or a part of it, exceed 32 bits? */
static bool
may_wrap(const struct svdf *s)
{
	int64_t steps = (int64_t)s->rank * s->memory;
	for (int32_t i = 0; i < s->units; i++) {
		int64_t most = s->bias ? llabs((int64_t)tensor_int(s->bias, i)) : 0;
		for (int64_t k = i * steps; k < (i + 1) * steps; k++)
			/* the weight's lower part, below 256, may have the other sign */
			most += (llabs((int64_t)tensor_int(s->time, k)) + 256) << 15;
		if (most > INT32_MAX)
			return true;
	}
	return false;
}

/* computes the units from the memory of one batch */
static void
write_units(struct part *p, const struct svdf *s, struct g_operand now,
	    struct g_operand ofm, int32_t batch)
{
	struct g_operand to = { .t = ofm.t, .view = VIEW_STRIDED, .type = TFL_INT8,
				.shape = { .h = 1, .w = 1, .c = s->units },
				.offset = (int64_t)batch * s->units,
				.stride = { s->units, s->units, 1 } };
	if (s->type == TFL_INT8) {
		int64_t *bias = anew(p->a, int64_t, (size_t)s->units);
		for (int32_t i = 0; s->bias && i < s->units; i++)
			bias[i] = tensor_int(s->bias, i);
		op_zeros(sum_over_time(p, s, now, to, ALL, bias, s->to_y),
			 quant_zero(s->state), quant_zero(s->y));
		return;
	}
	struct g_operand upper = unit_sums(p, s, now, UPPER);
	bool beyond = false;
	for (int64_t i = 0; i < tfl_elements(s->time) && !beyond; i++)
		beyond = weight_part(tensor_int(s->time, i), BEYOND);
	if (beyond)
		upper = word_add(p->l, upper, unit_sums(p, s, now, BEYOND));
	struct g_operand lower = unit_sums(p, s, now, LOWER);
	struct g_operand sum; /* 256 * upper + lower + bias */
	if (may_wrap(s)) {
		if (s->bias) {
			upper = word_add(p->l, upper, bias_words(p, s, 8, -1));
			lower = word_add(p->l, lower, bias_words(p, s, 0, 255));
		}
		struct g_operand carry = word_floor(p->l, lower, 8);
		lower = word_remainder(p->l, lower, carry, 8);
		upper = word_add(p->l, upper, carry);
		sum = word_add(p->l, word_shl(p->l, upper, word_const(p->l, 8)), lower);
	} else {
		upper = word_mul(p->l, upper, word_const(p->l, 256));
		sum = word_add(p->l, upper, lower);
		if (s->bias)
			sum = word_add(p->l, sum, bias_words(p, s, 0, -1));
	}
	word_scale_to(p->l, sum, s->to_y, quant_zero(s->y), to);
}

void
lower_svdf(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct svdf *s = o->own;
	struct g_operand x = low_linear(p->l, part_ifm(p, op->in[INPUT]));
	struct g_operand state = part_ifm(p, op->in[STATE]);
	struct g_operand ofm = part_ofm(p, op->out[0]), dest = low_destination(p->l, ofm);
	int32_t m = s->memory;
	for (int32_t b = 0; b < s->batch; b++) {
		/*
		 * The state moved up by one step, with the newest value of each filter behind
		 * it.  A copy of the result becomes the state of the next inference.
		 */
		int64_t begin = (int64_t)b * m;
		struct hwc shape = { .h = m, .w = 1, .c = s->filters };
		struct g_operand now = low_new(p->l, s->type, shape);
		if (m > 1)
			(void)low_copy(p->l, steps_of(state, s, begin + 1, m - 1),
					steps_of(now, s, 0, m - 1));
		struct nd in = nd_of(x, s->x), row = nd_part(&in, 0, b, 1);
		struct g_operand one = nd_to_operand(&row);
		struct g_source w = part_source(p, s->feature);
		op_zeros(weighted_sum(p, OP_FC, one, steps_of(now, s, m - 1, 1), w, NULL,
				  s->to_state),
			 quant_zero(s->x), quant_zero(s->state));
		(void)low_copy(p->l, steps_of(now, s, 0, m), steps_of(state, s, begin, m));
		write_units(p, s, now, dest, b);
	}
	low_deliver(p->l, dest, ofm);
}
