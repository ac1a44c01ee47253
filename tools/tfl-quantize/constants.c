/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes weights, biases and other constants. */
#include "quantize.h"

#include "base/attempt.h"
#include "base/fixed.h"
#include "kernels/kernels.h"

#include <float.h>
#include <math.h>

/* below this scale, the product with an input's scale could underflow */
static const float least_scale = 1e-20f;

static void
set_scales(struct net *n, struct tfl_tensor *t, int type, const float *scale, int count,
	   int axis, int zero)
{
	int64_t *zeros = anew(n->a, int64_t, (size_t)count);
	for (int i = 0; i < count; i++)
		zeros[i] = zero;
	t->type = type;
	t->quant = (struct tfl_quant){ .n_scale = count, .scale = scale, .n_zero = count,
				       .zero = zeros, .axis = axis };
}

static void
store(uint8_t *p, int type, int64_t i, double v)
{
	if (type == TFL_INT8)
		p[i] = (uint8_t)(int8_t)v;
	else if (type == TFL_INT16)
		store_le16(p + 2 * i, (uint16_t)(int16_t)v);
	else if (type == TFL_INT32)
		store_le32(p + 4 * i, (uint32_t)(int32_t)v);
	else
		store_le64(p + 8 * i, (uint64_t)(int64_t)v);
}

static struct tfl_tensor
constant_of(struct net *n, int t, int type, uint8_t **p)
{
	struct tfl_tensor c = n->tensor[t];
	size_t bytes = (size_t)tfl_type_bytes(type) * (size_t)tfl_elements(&c);
	*p = arena_alloc(n->a, bytes + 1, 1);
	c.data = (struct bytes){ .p = *p, .n = bytes };
	return c;
}

int
quantize_constant(struct net *n, int t, const struct parameters *p)
{
	uint8_t *to;
	const uint8_t *from = n->tensor[t].data.p;
	struct tfl_tensor c = constant_of(n, t, p->type, &to);
	float *scale = anew(n->a, float, 1);
	double lo = p->type == TFL_INT8 ? INT8_MIN : -INT16_MAX;
	double hi = p->type == TFL_INT8 ? INT8_MAX : INT16_MAX;
	*scale = p->scale;
	set_scales(n, &c, p->type, scale, 1, 0, p->zero);
	for (int64_t i = 0; i < tfl_elements(&c); i++)
		store(to, p->type, i,
		      clamp_f64((double)roundf(load_f32(from + 4 * i) / p->scale) + p->zero, lo, hi));
	return net_add_tensor(n, &c);
}

/* ---- weights ---------------------------------------------------------------------- */

struct weights {
	const uint8_t *from;
	int64_t n, inner; /* elements; elements between two channels */
	int axis, channels;
	int type, most;
	float *half; /* the largest magnitude of each channel */
	float *scale;
};

/* The channel of element i; for loops over all elements, which may take long. */
static int
channel_of(const struct weights *w, int64_t i)
{
	enum { BETWEEN = 1 << 14 }; /* elements, below 1 ms */
	if (i % BETWEEN == 0)
		checkpoint();
	return (int)(i / w->inner % w->channels);
}

/*
 * A bias must fit half of the range of INT32; a channel with a larger bias gets a larger
 * scale.  A channel of zeros gets the largest scale of all channels.
 */
static void
choose_scales(struct weights *w, float input, const struct tfl_tensor *bias, int bias_type)
{
	float most = 0;
	for (int c = 0; c < w->channels; c++) {
		if (w->half[c] / (float)w->most < least_scale)
			w->half[c] = 0;
		most = fmaxf(most, w->half[c]);
	}
	for (int c = 0; c < w->channels; c++)
		if (w->half[c] == 0)
			w->half[c] = most > 0 ? most : (float)w->most;
	for (int64_t i = 0; bias && bias_type == TFL_INT32 && i < tfl_elements(bias); i++) {
		float *half = &w->half[w->channels > 1 ? i : 0];
		double b = fabs((double)load_f32(bias->data.p + 4 * i));
		double least = 2 * b / INT32_MAX / (double)input * w->most;
		if (least > (double)*half)
			*half = (float)least;
	}
	for (int c = 0; c < w->channels; c++)
		w->scale[c] = w->half[c] / (float)w->most;
}

static int
store_bias(struct net *n, int t, float input, const struct weights *w, int type)
{
	uint8_t *to;
	const uint8_t *from = n->tensor[t].data.p;
	struct tfl_tensor c = constant_of(n, t, type, &to);
	float *scale = anew(n->a, float, (size_t)w->channels);
	for (int i = 0; i < w->channels; i++)
		scale[i] = fmaxf(input * w->scale[i], FLT_MIN);
	set_scales(n, &c, type, scale, w->channels, 0, 0);
	double most = type == TFL_INT32 ? INT32_MAX : 0x1p62;
	for (int64_t i = 0; i < tfl_elements(&c); i++) {
		double q = round((double)load_f32(from + 4 * i) /
				 (double)scale[w->channels > 1 ? i : 0]);
		store(to, type, i, clamp_f64(q, -most, most));
	}
	return net_add_tensor(n, &c);
}

/* the roles of an operator's inputs, with the scale that the weights are multiplied by */
struct roles {
	int weights, bias, axis, weights_type, bias_type;
	float input;
	const struct channel_sums *sums; /* of the input; NULL: no bias correction */
};

/* ---- bias correction ---------------------------------------------------------------- */

/*
 * Adds to the bias what the rounding of the weights takes from the mean of each channel:
 * the sum of weight errors, times the means of their inputs.  A layer without a bias gets
 * one.
 */
static void
correct_bias(struct net *n, struct tfl_op *o, const struct rule *r, const struct weights *w,
	     const struct channel_sums *s)
{
	const struct tfl_tensor *t = &n->tensor[o->in[r->weights]];
	bool depthwise = o->code == TFL_DEPTHWISE_CONV_2D;
	int32_t depth = t->dim[t->rank - 1], channels = depthwise ? depth : t->dim[0];
	int32_t each = depthwise && s->n ? depth / s->n : 1;
	if (!(s->count > 0) || (depthwise ? each * s->n : s->n) != depth)
		return; /* filters of groups of channels, too */
	double *delta = anew(n->a, double, (size_t)channels);
	for (int64_t i = 0; i < w->n; i++) {
		int k = channel_of(w, i);
		float v = load_f32(w->from + 4 * i), inverse = (float)w->most / w->half[k];
		double q = clamp_f64((double)roundf(v * inverse), -w->most, w->most);
		int64_t to = depthwise ? i % depth : i / (w->n / channels);
		int64_t from = depthwise ? to / each : i % depth;
		delta[to] += ((double)v - q * (double)w->scale[k]) * s->sum[from] / s->count;
	}
	bool has_bias = r->bias < o->n_in && o->in[r->bias] >= 0;
	struct tfl_tensor b = { .name = arena_printf(n->a, "%s_bias", t->name),
				.type = TFL_FLOAT32, .rank = 1, .dim = { channels },
				.has_shape = true, .producer = -1 };
	const struct tfl_tensor *old = has_bias ? &n->tensor[o->in[r->bias]] : NULL;
	uint8_t *to = arena_alloc(n->a, (size_t)channels + 1, 4);
	for (int32_t c = 0; c < channels; c++)
		store_f32(to + 4 * c, (float)(delta[c] + (old ? (double)load_f32(old->data.p + 4 * c)
							      : 0)));
	b = old ? *old : b;
	b.data = (struct bytes){ .p = to, .n = (size_t)channels * 4 };
	int *in = anew(n->a, int, (size_t)r->bias + 1);
	for (int k = 0; k <= r->bias; k++)
		in[k] = k < o->n_in ? o->in[k] : -1;
	in[r->bias] = net_add_tensor(n, &b);
	o->in = in;
	o->n_in = r->bias + 1;
}

static bool
replace_weights(struct net *n, int op, const struct roles *r, struct err *e)
{
	struct tfl_op *o = &n->op[op].op;
	int *in = (int *)(uintptr_t)o->in;
	bool has_bias = r->bias < o->n_in && in[r->bias] >= 0;
	const struct tfl_tensor *t = &n->tensor[in[r->weights]];
	const struct tfl_tensor *bias = has_bias ? &n->tensor[in[r->bias]] : NULL;
	if (r->axis >= t->rank)
		return net_refuse(n, op, "the weights have too few dimensions", e);
	struct weights w = { .from = t->data.p, .n = tfl_elements(t),
			     .axis = r->axis < 0 ? 0 : r->axis,
			     .channels = r->axis < 0 ? 1 : t->dim[r->axis], .inner = 1,
			     .type = r->weights_type,
			     .most = r->weights_type == TFL_INT16 ? INT16_MAX : INT8_MAX };
	for (int d = w.axis + 1; d < t->rank && r->axis >= 0; d++)
		w.inner *= t->dim[d];
	w.half = anew(n->a, float, (size_t)w.channels);
	w.scale = anew(n->a, float, (size_t)w.channels);
	for (int64_t i = 0; i < w.n; i++) {
		float *half = &w.half[channel_of(&w, i)];
		*half = fmaxf(*half, fabsf(load_f32(w.from + 4 * i)));
	}
	if (bias && (bias->type != TFL_FLOAT32 ||
		     (w.channels > 1 && tfl_elements(bias) != w.channels)))
		return net_refuse(n, op, "the bias has another number of channels or type", e);
	choose_scales(&w, r->input, bias, r->bias_type);
	if (r->sums) {
		correct_bias(n, o, rule_of(o->code), &w, r->sums);
		in = (int *)(uintptr_t)o->in;
		has_bias = r->bias < o->n_in && in[r->bias] >= 0;
	}
	uint8_t *to;
	struct tfl_tensor integer = constant_of(n, in[r->weights], w.type, &to);
	set_scales(n, &integer, w.type, w.scale, w.channels, w.axis, 0);
	for (int64_t i = 0; i < w.n; i++) {
		float inverse = (float)w.most / w.half[channel_of(&w, i)];
		store(to, w.type, i, clamp_f64((double)roundf(load_f32(w.from + 4 * i) * inverse),
					       -w.most, w.most));
	}
	in[r->weights] = net_add_tensor(n, &integer);
	if (has_bias)
		in[r->bias] = store_bias(n, in[r->bias], r->input, &w, r->bias_type);
	return true;
}

bool
quantize_weights(struct net *n, int op, const struct parameters *p,
		 const struct ranges *ranges, const struct options *o, struct err *e)
{
	enum { SVDF_FEATURE = 1, SVDF_TIME, SVDF_BIAS, SVDF_STATE };
	struct tfl_op *it = &n->op[op].op;
	const struct rule *r = rule_of(it->code);
	if (r->kind == RULE_SVDF) {
		struct roles feature = { .weights = SVDF_FEATURE, .bias = it->n_in, .axis = -1,
					 .weights_type = TFL_INT8 };
		struct roles time = { .weights = SVDF_TIME, .bias = SVDF_BIAS, .axis = -1,
				      .weights_type = TFL_INT16, .bias_type = TFL_INT32,
				      .input = p[it->in[SVDF_STATE]].scale };
		return replace_weights(n, op, &feature, e) && replace_weights(n, op, &time, e);
	}
	const struct parameters *x = &p[it->in[r->kind == RULE_LSTM ? (int)LSTM_X : r->input]];
	int bias_type = x->type == TFL_INT16 ? TFL_INT64 : TFL_INT32;
	/* the bias of a gate has the scale of the input times that of the gate's weights */
	for (int g = 0; r->kind == RULE_LSTM && g < LSTM_N_GATES; g++) {
		struct roles input = { .weights = LSTM_WEIGHTS + g, .bias = LSTM_BIAS + g,
				       .axis = -1, .weights_type = TFL_INT8, .input = x->scale,
				       .bias_type = bias_type };
		struct roles recurrent = { .weights = LSTM_RECURRENT + g, .bias = it->n_in,
					   .axis = -1, .weights_type = TFL_INT8 };
		if (!replace_weights(n, op, &input, e) || !replace_weights(n, op, &recurrent, e))
			return false;
	}
	if (r->kind == RULE_LSTM)
		return true;
	int *in = (int *)(uintptr_t)it->in;
	if (!n->tensor[in[r->weights]].data.p) { /* the network computes the weights */
		float scale = p[in[r->weights]].scale;
		struct weights w = { .channels = 1, .scale = &scale };
		if (r->bias < it->n_in && in[r->bias] >= 0)
			in[r->bias] = store_bias(n, in[r->bias], x->scale, &w, bias_type);
		return true;
	}
	int axis = it->code == TFL_FULLY_CONNECTED && o->per_channel_fc ? 0 : r->axis;
	struct roles roles = { .weights = r->weights, .bias = r->bias,
			       .axis = o->per_tensor ? -1 : axis, .weights_type = TFL_INT8,
			       .bias_type = bias_type, .input = x->scale };
	int from = n->op[op].from;
	if (ranges->sums && from >= 0)
		roles.sums = &ranges->sums[n->m->subgraph[0].op[from].in[r->input]];
	return replace_weights(n, op, &roles, e);
}
