/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Post-training quantization: activations are int8 with a zero point from the ranges
 * over calibration pictures.  Weights are symmetric int8 with a scale for each output
 * channel (one scale for the fully connected layer, as converters do).  Biases are
 * int32 with the scale input * weight.
 */
#include "digits.h"

#include "base/little_endian.h"
#include "sim/sim.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"
#include "tflite/write.h"

#include <math.h>
#include <string.h>

enum {
	N_ACTS = N_LAYERS + 3, /* with the flattened pool and softmax */
	MAX_TENSORS = N_ACTS + 2 * N_LAYERS + 1,
	FLATTEN = N_LAYERS - 1, /* the reshape is before the last layer */
};

struct affine {
	float scale;
	int64_t zero;
};

struct writer {
	struct arena *a;
	struct net *net;
	bool real; /* a float model: no scales */
	struct affine act[N_LAYERS + 1];
	struct tflw_tensor tensor[MAX_TENSORS];
	struct bytes buffer[MAX_TENSORS + 1];
	struct tflw_op op[N_LAYERS + 2];
	int n_tensors, n_buffers, n_ops;
};

/* every operator once, in the order of the file's operator codes */
enum { CODE_CONV, CODE_DEPTHWISE, CODE_ADD, CODE_POOL, CODE_RESHAPE, CODE_FC,
       CODE_SOFTMAX, N_CODES };

static struct tflw_opcode opcodes[N_CODES] = {
	[CODE_CONV] = { .code = TFL_CONV_2D, .version = 3 },
	[CODE_DEPTHWISE] = { .code = TFL_DEPTHWISE_CONV_2D, .version = 3 },
	[CODE_ADD] = { .code = TFL_ADD, .version = 2 },
	[CODE_POOL] = { .code = TFL_AVERAGE_POOL_2D, .version = 2 },
	[CODE_RESHAPE] = { .code = TFL_RESHAPE, .version = 1 },
	[CODE_FC] = { .code = TFL_FULLY_CONNECTED, .version = 4 },
	[CODE_SOFTMAX] = { .code = TFL_SOFTMAX, .version = 2 },
};

/* ---- ranges ------------------------------------------------------------- */

static struct affine
affine_of(float lo, float hi)
{
	float scale = (hi - lo) / 255;
	return (struct affine){
		.scale = scale > 0 ? scale : 1,
		.zero = scale > 0 ? (int64_t)(-128 - roundf(lo / scale)) : 0,
	};
}

static void
calibrate(struct writer *w, int n_pictures)
{
	struct net *n = w->net;
	float lo[N_LAYERS + 1] = { 0 }, hi[N_LAYERS + 1] = { 0 };
	struct rng r = rng_seeded(SEED_CALIBRATE);
	for (int k = 0; k < n_pictures; k++) {
		struct picture p;
		draw_any(&r, &p);
		net_forward(n, &p);
		for (int i = 0; i <= N_LAYERS; i++)
			for (int j = 0; j < n->n_value[i]; j++) {
				float v = n->value[i][j];
				lo[i] = v < lo[i] ? v : lo[i];
				hi[i] = v > hi[i] ? v : hi[i];
			}
	}
	w->act[0] = affine_of(0, 1); /* a pixel's whole range */
	for (int i = 1; i <= N_LAYERS; i++)
		w->act[i] = plan[i - 1].kind == POOL ? w->act[i - 1] :
						       affine_of(lo[i], hi[i]);
}

/* ---- tensors ------------------------------------------------------------ */

static int
add_tensor(struct writer *w, struct tfl_tensor t, struct bytes data)
{
	struct tflw_tensor *out = &w->tensor[w->n_tensors];
	if (w->real && t.quant.n_scale) {
		t.type = TFL_FLOAT32;
		t.quant = (struct tfl_quant){ 0 };
	}
	out->t = t;
	if (data.p) {
		out->buffer = (uint32_t)w->n_buffers;
		w->buffer[w->n_buffers++] = data;
	}
	return w->n_tensors++;
}

static struct tfl_quant
one_scale(struct arena *a, struct affine f)
{
	float *scale = anew(a, float, 1);
	int64_t *zero = anew(a, int64_t, 1);
	*scale = f.scale;
	*zero = f.zero;
	return (struct tfl_quant){ .n_scale = 1, .n_zero = 1, .scale = scale,
				   .zero = zero };
}

static int
add_activation(struct writer *w, const char *name, struct affine f, int rank,
	       struct shape s)
{
	struct tfl_tensor t = {
		.name = name,
		.type = TFL_INT8,
		.rank = rank,
		.dim = { 1, s.h, s.w, s.c },
		.quant = one_scale(w->a, f),
	};
	if (rank == 2)
		t.dim[1] = s.h * s.w * s.c;
	return add_tensor(w, t, (struct bytes){ 0 });
}

/*
 * Our weights are w[position][out].  TFLite's are OHWI for CONV_2D and
 * FULLY_CONNECTED, and 1HWC, which is our order, for DEPTHWISE_CONV_2D.
 */
static struct bytes
int8_weights(struct writer *w, const struct layer *l, bool depthwise,
	     bool per_channel, float *scale)
{
	int n_o = l->out.c, n_i = l->n_w / n_o;
	int8_t *q = anew(w->a, int8_t, (size_t)l->n_w);
	float largest = 0;
	for (int o = 0; o < n_o; o++) {
		if (per_channel)
			largest = 0;
		for (int i = 0; i < n_i; i++)
			largest = fmaxf(largest, fabsf(l->w[i * n_o + o]));
		scale[o] = largest > 0 ? largest / 127 : 1;
	}
	for (int o = 0; o < n_o; o++) {
		if (!per_channel)
			scale[o] = largest / 127;
		for (int i = 0; i < n_i; i++) {
			float v = roundf(l->w[i * n_o + o] / scale[o]);
			q[depthwise ? i * n_o + o : o * n_i + i] =
			    (int8_t)fmaxf(-127, fminf(127, v));
		}
	}
	return (struct bytes){ .p = (uint8_t *)q, .n = (size_t)l->n_w };
}

/* the weights as they are, in TFLite's order */
static struct bytes
float_weights(struct arena *a, const struct layer *l, bool depthwise)
{
	int n_o = l->out.c, n_i = l->n_w / n_o;
	uint8_t *p = anew(a, uint8_t, 4 * (size_t)l->n_w);
	for (int o = 0; o < n_o; o++)
		for (int i = 0; i < n_i; i++)
			store_f32(p + 4 * (depthwise ? i * n_o + o : o * n_i + i),
				  l->w[i * n_o + o]);
	return (struct bytes){ .p = p, .n = 4 * (size_t)l->n_w };
}

static struct bytes
float_biases(struct arena *a, const struct layer *l)
{
	uint8_t *p = anew(a, uint8_t, 4 * (size_t)l->n_b);
	for (int o = 0; o < l->n_b; o++)
		store_f32(p + 4 * o, l->b_[o]);
	return (struct bytes){ .p = p, .n = 4 * (size_t)l->n_b };
}

static struct bytes
int32_biases(struct arena *a, const struct layer *l, const float *scale)
{
	uint8_t *q = anew(a, uint8_t, 4 * (size_t)l->n_b);
	for (int o = 0; o < l->n_b; o++) {
		int32_t v = (int32_t)roundf(l->b_[o] / scale[o]);
		store_le32(q + 4 * (size_t)o, (uint32_t)v);
	}
	return (struct bytes){ .p = q, .n = 4 * (size_t)l->n_b };
}

/* makes weights and biases of layer i, as tensors in[1] and in[2] */
static void
add_parameters(struct writer *w, int i, bool fc, int *in)
{
	const struct layer *l = &w->net->layer[i];
	bool depthwise = plan[i].kind == DEPTHWISE;
	int n = fc ? 1 : l->out.c, k = plan[i].kernel;
	float *scale = anew(w->a, float, (size_t)l->out.c);
	float *bias_scale = anew(w->a, float, (size_t)l->out.c);
	struct bytes q = int8_weights(w, l, depthwise, !fc, scale);
	for (int o = 0; o < l->out.c; o++)
		bias_scale[o] = w->act[l->a].scale * scale[o];
	struct tfl_tensor t = {
		.name = arena_printf(w->a, "%s/weights", plan[i].name),
		.type = TFL_INT8,
		.rank = fc ? 2 : 4,
		.dim = { l->out.c, k, k, l->in.c },
		.quant = { .n_scale = n, .n_zero = n, .scale = scale,
			   .zero = anew(w->a, int64_t, (size_t)n),
			   .axis = depthwise ? 3 : 0 },
	};
	if (fc)
		t.dim[1] = l->n_w / l->out.c;
	if (depthwise)
		t.dim[0] = 1;
	in[1] = add_tensor(w, t, w->real ? float_weights(w->a, l, depthwise) : q);
	t.name = arena_printf(w->a, "%s/bias", plan[i].name);
	t.type = TFL_INT32;
	t.rank = 1;
	t.dim[0] = l->out.c;
	t.quant.scale = bias_scale;
	t.quant.axis = 0;
	in[2] = add_tensor(w, t, w->real ? float_biases(w->a, l)
					 : int32_biases(w->a, l, bias_scale));
}

/* ---- operators ----------------------------------------------------------- */

enum { MAX_SLOTS = 8 };

static int64_t *
slots(struct arena *a)
{
	return anew(a, int64_t, MAX_SLOTS);
}

static void
add_op(struct writer *w, struct tflw_op op, const int *in, int out)
{
	int *to = anew(w->a, int, (size_t)op.n_in + 1);
	memcpy(to, in, (size_t)op.n_in * sizeof(int));
	to[op.n_in] = out;
	op.in = to;
	op.out = to + op.n_in;
	op.n_out = 1;
	w->op[w->n_ops++] = op;
}

static struct tflw_op
conv_op(struct writer *w, const struct plan *p)
{
	int64_t *v = slots(w->a);
	v[FB_Conv2DOptions_padding] = p->valid ? TFL_VALID : TFL_SAME;
	v[FB_Conv2DOptions_stride_w] = v[FB_Conv2DOptions_stride_h] = p->stride;
	v[FB_Conv2DOptions_fused_activation_function] = p->relu;
	v[FB_Conv2DOptions_dilation_w_factor] = 1;
	v[FB_Conv2DOptions_dilation_h_factor] = 1;
	return (struct tflw_op){ .opcode = CODE_CONV, .n_in = 3,
				 .options = &fb_Conv2DOptions,
				 .options_tag = 1, .option = v };
}

static struct tflw_op
depthwise_op(struct writer *w, const struct plan *p)
{
	int64_t *v = slots(w->a);
	v[FB_DepthwiseConv2DOptions_padding] = TFL_SAME;
	v[FB_DepthwiseConv2DOptions_stride_w] = p->stride;
	v[FB_DepthwiseConv2DOptions_stride_h] = p->stride;
	v[FB_DepthwiseConv2DOptions_depth_multiplier] = 1;
	v[FB_DepthwiseConv2DOptions_fused_activation_function] = p->relu;
	v[FB_DepthwiseConv2DOptions_dilation_w_factor] = 1;
	v[FB_DepthwiseConv2DOptions_dilation_h_factor] = 1;
	return (struct tflw_op){ .opcode = CODE_DEPTHWISE, .n_in = 3,
				 .options = &fb_DepthwiseConv2DOptions,
				 .options_tag = 2, .option = v };
}

static struct tflw_op
pool_op(struct writer *w, const struct plan *p)
{
	int64_t *v = slots(w->a);
	v[FB_Pool2DOptions_padding] = TFL_VALID;
	v[FB_Pool2DOptions_stride_w] = v[FB_Pool2DOptions_stride_h] = p->stride;
	v[FB_Pool2DOptions_filter_width] = p->kernel;
	v[FB_Pool2DOptions_filter_height] = p->kernel;
	return (struct tflw_op){ .opcode = CODE_POOL, .n_in = 1,
				 .options = &fb_Pool2DOptions,
				 .options_tag = 5, .option = v };
}

static struct tflw_op
add_two_op(struct writer *w, const struct plan *p)
{
	int64_t *v = slots(w->a);
	v[FB_AddOptions_fused_activation_function] = p->relu;
	v[FB_AddOptions_pot_scale_int16] = 1;
	return (struct tflw_op){ .opcode = CODE_ADD, .n_in = 2,
				 .options = &fb_AddOptions,
				 .options_tag = 11, .option = v };
}

static int
add_layer(struct writer *w, int i, const int *value)
{
	const struct layer *l = &w->net->layer[i];
	const struct plan *p = &plan[i];
	int in[3] = { value[l->a], value[l->b] };
	if (p->kind == CONV || p->kind == DEPTHWISE)
		add_parameters(w, i, false, in);
	int out = add_activation(w, p->name, w->act[i + 1], 4, l->out);
	struct tflw_op op = p->kind == CONV	 ? conv_op(w, p) :
			    p->kind == DEPTHWISE ? depthwise_op(w, p) :
			    p->kind == ADD	 ? add_two_op(w, p) :
						   pool_op(w, p);
	add_op(w, op, in, out);
	return out;
}

/* pool -> flat -> logits -> probabilities; returns the last tensor */
static int
add_head(struct writer *w, int pool)
{
	const struct layer *l = &w->net->layer[FLATTEN];
	int32_t n = l->in.h * l->in.w * l->in.c;
	uint8_t *shape = anew(w->a, uint8_t, 8);
	store_le32(shape, 1);
	store_le32(shape + 4, (uint32_t)n);
	int in[3] = { pool };
	in[1] = add_tensor(w, (struct tfl_tensor){ .name = "flat/shape",
						   .type = TFL_INT32,
						   .rank = 1, .dim = { 2 } },
			   (struct bytes){ .p = shape, .n = 8 });
	int flat = add_activation(w, "flat", w->act[FLATTEN], 2, l->in);
	add_op(w, (struct tflw_op){ .opcode = CODE_RESHAPE, .n_in = 2 }, in,
	       flat);

	in[0] = flat;
	add_parameters(w, FLATTEN, true, in);
	int logits = add_activation(w, "logits", w->act[N_LAYERS], 2, l->out);
	add_op(w, (struct tflw_op){ .opcode = CODE_FC, .n_in = 3,
				    .options = &fb_FullyConnectedOptions,
				    .options_tag = 8, .option = slots(w->a) },
	       in, logits);

	/* TFLite's softmax requires this output scale */
	struct affine prob = { .scale = 1.0f / 256, .zero = -128 };
	double *beta = anew(w->a, double, MAX_SLOTS);
	beta[FB_SoftmaxOptions_beta] = 1;
	in[0] = logits;
	int out = add_activation(w, "digit", prob, 2, l->out);
	add_op(w, (struct tflw_op){ .opcode = CODE_SOFTMAX, .n_in = 1,
				    .options = &fb_SoftmaxOptions,
				    .options_tag = 9, .option = slots(w->a),
				    .option_float = beta },
	       in, out);
	return out;
}

bool
quantize(struct arena *a, struct net *n, int n_calibrate, bool real, struct bytes *model,
	 struct err *e)
{
	struct writer *w = anew(a, struct writer, 1);
	int value[N_LAYERS + 1];
	w->a = a;
	w->net = n;
	w->real = real;
	w->n_buffers = 1; /* buffer 0 is empty by convention */
	calibrate(w, n_calibrate);
	value[0] = add_activation(w, "picture", w->act[0], 4,
				  n->layer[0].in);
	for (int i = 0; i < FLATTEN; i++)
		value[i + 1] = add_layer(w, i, value);
	int out = add_head(w, value[FLATTEN]);
	struct tflw_subgraph sg = {
		.name = "main",
		.tensor = w->tensor, .n_tensors = w->n_tensors,
		.op = w->op, .n_ops = w->n_ops,
		.in = &value[0], .n_in = 1,
		.out = &out, .n_out = 1,
	};
	struct tflw_model m = {
		.description = real ? "nputools demo: drawn digits, float"
				    : "nputools demo: drawn digits, int8",
		.opcode = opcodes, .n_opcodes = N_CODES,
		.buffer = w->buffer, .n_buffers = w->n_buffers,
		.subgraph = &sg, .n_subgraphs = 1,
	};
	return tfl_write(a, &m, model, e);
}

/* ---- the int8 model, run ------------------------------------------------- */

static int
largest(const int8_t *v, int n)
{
	int best = 0;
	for (int i = 1; i < n; i++)
		if (v[i] > v[best])
			best = i;
	return best;
}

bool
accuracy_int8(struct arena *a, struct bytes model, int n_pictures, double *out,
	      struct err *e)
{
	struct tfl_model *m;
	struct sim *s;
	struct rng r = rng_seeded(SEED_TEST);
	int right = 0;
	if (!tfl_read(a, model, "digits", &m, e) || !sim_open(a, m, &s, e))
		return false;
	int8_t *in = sim_tensor(s, m->subgraph[0].in[0]);
	const int8_t *answer = sim_tensor(s, m->subgraph[0].out[0]);
	for (int i = 0; i < n_pictures; i++) {
		struct picture p;
		draw_any(&r, &p);
		for (int k = 0; k < PIXELS; k++)
			in[k] = (int8_t)(p.pixel[k] - 128);
		if (!sim_invoke(s, NULL, e))
			return false;
		right += largest(answer, CLASSES) == p.digit;
	}
	*out = (double)right / n_pictures;
	return true;
}
