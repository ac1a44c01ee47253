/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVDF with a state of 8 or 16 bits: a matrix product makes each filter's newest
 * memory; the others move up by one; all are multiplied with the weights over
 * time as words, summed by unit, and scaled.  The state is a variable.
 *
 * Where partial sums of 16 bits might leave 32, upper and lower bytes of the
 * weights are summed apart, 256 * upper + lower at the end: then only a sum that
 * itself does not fit is wrong (nputools-ops(7), EXACTNESS).
 */
#include "nd.h"
#include "reduce.h"

#include <math.h>
#include <stdlib.h>

enum { INPUT, FEATURE, TIME, BIAS, STATE, N_INPUTS };

struct svdf {
	const struct tfl_tensor *x, *feature, *time, *bias, *state, *y;
	int32_t batch, inputs, filters, memory, rank, units;
	struct npu_scale to_state, to_y;
	int type;   /* of the state */
	bool split; /* weights over time by upper and lower byte */
};

static bool
is_constant(const struct tfl_tensor *t, int type, int32_t rows, int32_t columns)
{
	return t && t->data.p && t->type == type && t->rank == 2 &&
	       t->dim[0] == rows && t->dim[1] == columns && !t->is_sparse &&
	       t->quant.n_scale == 1 && t->quant.scale[0] > 0 &&
	       isfinite(t->quant.scale[0]) && !quant_zero(t);
}

/* every partial sum over time in 32 bits: the NPU saturates */
static bool
sums_fit(const struct svdf *s)
{
	int bits = s->type == TFL_INT8 ? 8 : 15; /* of a value less its zero point */
	int32_t n = s->rank * s->memory;
	for (int32_t u = 0; u < s->units; u++) {
		int64_t sum = s->bias ? llabs((int64_t)tensor_int(s->bias, u)) : 0;
		for (int32_t k = 0; k < n; k++)
			sum += (int64_t)abs(tensor_int(s->time, (int64_t)u * n + k))
			       << bits;
		if (sum > INT32_MAX)
			return false;
	}
	return true;
}

static bool
find_scales(struct svdf *s)
{
	float x = s->x->quant.scale[0], f = s->feature->quant.scale[0];
	float t = s->time->quant.scale[0], y = s->y->quant.scale[0];
	float state = s->state->quant.scale[0];
	return npu_quantise((double)(x * f / state), &s->to_state) &&
	       npu_quantise((double)(state * t / y), &s->to_y);
}

static const char *
read_svdf(const struct part *p, const struct tfl_op *op, struct svdf *s)
{
	const char *why = check_arity(p, op, BIAS, N_INPUTS, 1);
	if (!why)
		why = check_options(p, op, &fb_SVDFOptions);
	if (!why)
		why = check_maps(p, op, TYPE_I8);
	if (why)
		return why;
	*s = (struct svdf){ .x = part_in(p, op, INPUT), .y = part_out(p, op, 0),
			    .feature = part_in(p, op, FEATURE),
			    .time = part_in(p, op, TIME), .bias = part_in(p, op, BIAS),
			    .state = part_in(p, op, STATE) };
	s->rank = (int32_t)TFL_OPT(op, SVDFOptions, rank);
	if (s->x->rank != 2 || s->feature->rank != 2 || s->time->rank != 2 ||
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
	if (!s->state->is_variable || s->state->quant.n_scale != 1 ||
	    !(s->state->quant.scale[0] > 0) ||
	    (s->type == TFL_INT16 && quant_zero(s->state)))
		return "the state is no variable with a quantization of its type";
	/* a sum of lower bytes: 2^7 * 2^15 * steps */
	if (s->units * s->rank != s->filters || s->filters > 65536 ||
	    s->rank * (int64_t)s->memory > 256)
		return "more than 65536 filters, or 256 steps of a unit";
	if (!find_scales(s))
		return "the ratio of the scales can't be expressed";
	s->split = !sums_fit(s);
	return NULL;
}

static const char *
check_svdf(const struct part *p, const struct tfl_op *op)
{
	struct svdf s;
	return read_svdf(p, op, &s);
}

static struct g_list
repeated(struct part *p, int64_t v, int32_t n)
{
	struct g_list l = { .v = anew(p->a, int64_t, (size_t)n), .n = (size_t)n };
	for (int32_t i = 0; i < n; i++)
		l.v[i] = v;
	return l;
}

/* all filters of a batch of inputs */
static struct g_operand
features(struct part *p, const struct svdf *s, struct g_operand x)
{
	struct yx one = { .y = 1, .x = 1 };
	struct hwc in = { .h = 1, .w = s->batch, .c = s->inputs };
	struct hwc out = { .h = 1, .w = s->batch, .c = s->filters };
	struct g_weights *w = graph_add_g_weights(p->g);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = TFL_INT8, .rank = 4,
				.dim = { s->filters, 1, 1, s->inputs } });
	G_PUT(w, WEIGHTS, zero, repeated(p, 0, 1));
	G_PUT(w, WEIGHTS, source, part_source(p, s->feature));
	struct g_scales *scales = graph_add_g_scales(p->g);
	G_PUT(scales, SCALES, bias, repeated(p, 0, s->filters));
	G_PUT(scales, SCALES, mult, repeated(p, s->to_state.mult, s->filters));
	G_PUT(scales, SCALES, shift, repeated(p, s->to_state.shift, s->filters));
	struct g_operand y = operand_whole(part_new_tensor(p, s->type, out, NULL));
	struct g_op *o = part_op(p, OP_FC, part_view(p, x, in), y);
	op_kernel(o, one, one, one, (struct g_pad){ 0 });
	op_zeros(o, quant_zero(s->x), quant_zero(s->state));
	G_PUT(o, OP, weights, w);
	G_PUT(o, OP, scales, scales);
	return y;
}

/* memory[filter][step] of one batch, a line of a tensor */
static struct nd
memory_of(struct g_operand o, const struct svdf *s, int32_t batch)
{
	return (struct nd){
		.t = o.t, .type = s->type, .rank = 2,
		.dim = { s->filters, s->memory }, .stride = { s->memory, 1 },
		.offset = (int64_t)batch * s->filters * s->memory,
	};
}

/* the state moved up by one, with the newest of each filter at its end */
static struct g_operand
moved_up(struct part *p, const struct svdf *s, struct g_operand newest,
	 struct g_operand state, int32_t batch)
{
	struct hwc shape = { .h = 1, .w = s->filters, .c = s->memory };
	struct g_operand now =
	    operand_whole(part_new_tensor(p, s->type, shape, NULL));
	struct nd from = memory_of(state, s, batch), to = memory_of(now, s, 0);
	struct nd last = to;
	if (s->memory > 1) {
		nd_slice(&from, 1, 1, s->memory - 1, 1);
		nd_slice(&to, 1, 0, s->memory - 1, 1);
		nd_copy(p, &from, &to);
	}
	struct nd made = { .t = newest.t, .type = s->type, .rank = 2,
			   .dim = { s->filters, 1 }, .stride = { 1, 1 },
			   .offset = (int64_t)batch * s->filters };
	nd_slice(&last, 1, s->memory - 1, 1, 1);
	nd_copy(p, &made, &last);
	struct nd all = memory_of(now, s, 0), kept = memory_of(state, s, batch);
	nd_copy(p, &all, &kept);
	return now;
}

enum part_of_weight { ALL, UPPER, LOWER };

/* upper * 256 + lower, lower from -128 on */
static int32_t
weight_part(int32_t w, enum part_of_weight part)
{
	int32_t upper = (w + 128) >> 8;
	return part == ALL ? w : part == UPPER ? upper : w - upper * 256;
}

static struct g_operand
time_weights(struct part *p, const struct svdf *s, enum part_of_weight part)
{
	int64_t n = (int64_t)s->filters * s->memory;
	int32_t *v = anew(p->a, int32_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		v[i] = weight_part(tensor_int(s->time, i), part);
	return part_const(p, s->type,
			  (struct hwc){ .h = 1, .w = s->filters, .c = s->memory }, v);
}

static struct g_operand
biases(struct part *p, const struct svdf *s)
{
	int32_t *v = anew(p->a, int32_t, (size_t)s->units);
	for (int32_t i = 0; i < s->units; i++)
		v[i] = tensor_int(s->bias, i);
	return part_const(p, TFL_INT32,
			  (struct hwc){ .h = 1, .w = s->units, .c = 1 }, v);
}

/* one batch's memory times weights, summed by unit */
static struct g_operand
summed(struct part *p, const struct svdf *s, struct g_operand now,
       enum part_of_weight part)
{
	struct g_operand products = word_new(p, now.shape);
	struct g_operand weights = time_weights(p, s, part);
	struct g_op *o = part_op(p, OP_MUL, now, products);
	op_ifm2(o, weights, 0);
	op_unscaled(o);
	op_zeros(o, quant_zero(s->state), 0);
	int32_t n = s->rank * s->memory;
	struct nd v = { .t = products.t, .type = TFL_INT32, .rank = 3,
			.dim = { s->units, n, 1 }, .stride = { n, 1, 1 } };
	words_folded(p, OP_ADD, &v);
	return operand_reshape(v.t, (struct hwc){ .h = 1, .w = s->units, .c = 1 });
}

static void
write_units(struct part *p, const struct svdf *s, struct g_operand now,
	    struct g_operand ofm, int32_t batch)
{
	struct g_operand sum;
	if (s->split) {
		struct g_operand upper = summed(p, s, now, UPPER);
		struct g_operand lower = summed(p, s, now, LOWER);
		upper = word_mul(p, upper, word_const(p, 256));
		sum = word_add(p, upper, lower);
	} else {
		sum = summed(p, s, now, ALL);
	}
	if (s->bias)
		sum = word_add(p, sum, biases(p, s));
	struct g_operand to = { .t = ofm.t, .view = VIEW_STRIDED, .type = TFL_INT8,
				.shape = sum.shape,
				.offset = (int64_t)batch * s->units,
				.stride = { s->units, 1, 1 } };
	word_scale_to(p, sum, s->to_y, quant_zero(s->y), to);
}

static bool
lower_svdf(struct part *p, const struct tfl_op *op)
{
	struct svdf s;
	(void)read_svdf(p, op, &s);
	struct g_operand newest = features(p, &s, part_ifm(p, op->in[INPUT]));
	struct g_operand state = part_ifm(p, op->in[STATE]);
	struct g_operand ofm = part_ofm(p, op->out[0]), room = part_room(p, ofm);
	for (int32_t b = 0; b < s.batch; b++) {
		struct g_operand now = moved_up(p, &s, newest, state, b);
		write_units(p, &s, now, room, b);
	}
	part_deliver(p, room, ofm);
	return true;
}

const struct family svdf_families[] = {
	{ .code = TFL_SVDF, .check = check_svdf, .lower = lower_svdf },
	{ .code = 0 },
};
