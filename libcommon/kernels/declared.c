/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operators, types and declared quantizations the kernels of TensorFlow Lite Micro compute:
 * some have a fixed output quantization, and some of int8 demand equal ones
 * (nputools-lowering(7) 3.12).
 */
#include "kernels/call.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

static const struct fixed {
	int code, in, out; /* operator, types of input and output */
	int zero;
	float scale;
} fixed_outputs[] = {
	{ TFL_LOGISTIC, TFL_INT8, TFL_INT8, -128, 0x1p-8f },
	{ TFL_LOGISTIC, TFL_INT16, TFL_INT16, 0, 0x1p-15f },
	{ TFL_TANH, TFL_INT8, TFL_INT8, 0, 0x1p-7f },
	{ TFL_TANH, TFL_INT16, TFL_INT16, 0, 0x1p-15f },
	{ TFL_SOFTMAX, TFL_INT8, TFL_INT8, -128, 0x1p-8f },
	{ TFL_SOFTMAX, TFL_UINT8, TFL_UINT8, 0, 0x1p-8f },
	{ TFL_SOFTMAX, TFL_INT8, TFL_INT16, -32768, 0x1p-16f },
	{ TFL_SOFTMAX, TFL_INT16, TFL_INT16, 0, 0x1p-15f },
	{ TFL_LOG_SOFTMAX, TFL_INT8, TFL_INT8, 127, 0x1p-4f },
	{ TFL_L2_NORMALIZATION, TFL_INT8, TFL_INT8, 0, 0x1p-7f },
	{ TFL_L2_NORMALIZATION, TFL_UINT8, TFL_UINT8, 128, 0x1p-7f },
};

static const struct tfl_tensor *
tensor_at(const struct tfl_subgraph *g, const int *index, int n, int k)
{
	return k < n && index[k] >= 0 ? &g->tensor[index[k]] : NULL;
}

static bool
is_plain(const struct tfl_tensor *t)
{
	return t && t->quant.n_scale == 1 && t->quant.n_zero <= 1 && !t->quant.other;
}

static int64_t
zero_of(const struct tfl_tensor *t)
{
	return t->quant.n_zero ? t->quant.zero[0] : 0;
}

static bool
is_near(float scale, float other, float relative)
{
	return fabsf(scale - other) <= relative * other;
}

static bool
same_scale(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	return is_near(a->quant.scale[0], b->quant.scale[0], 1e-6f) &&
	       zero_of(a) == zero_of(b);
}

bool
kernel_rescales(const struct tfl_op *op, const struct tfl_tensor *in,
		const struct tfl_tensor *out)
{
	bool bytes = out->type == TFL_INT8 || out->type == TFL_UINT8;
	return op->code == TFL_CONCATENATION && bytes && is_plain(in) && is_plain(out) &&
	       !same_scale(in, out);
}

/* operators of int8 that TensorFlow Lite Micro refuses if quantizations differ */
static bool
demands_equal(int code)
{
	return code == TFL_CONCATENATION || code == TFL_MAX_POOL_2D ||
	       code == TFL_AVERAGE_POOL_2D || code == TFL_REDUCE_MAX || code == TFL_REDUCE_MIN;
}

/* the input of such an operator whose quantization is not the output's; -1: none */
static int
unequal_input(const struct tfl_subgraph *g, const struct tfl_op *op,
	      const struct tfl_tensor *out)
{
	if (out->type != TFL_INT8 || !demands_equal(op->code))
		return -1;
	for (int k = 0; k < op->n_in; k++) {
		const struct tfl_tensor *t = tensor_at(g, op->in, op->n_in, k);
		if (t && t->type == out->type && is_plain(t) && !same_scale(t, out))
			return k;
	}
	return -1;
}

static const struct fixed *
find_fixed(const struct tfl_subgraph *g, const struct tfl_op *op, const struct tfl_tensor *out)
{
	const struct tfl_tensor *in = tensor_at(g, op->in, op->n_in, 0);
	for (size_t i = 0; in && i < ARRAY_LEN(fixed_outputs); i++) {
		const struct fixed *f = &fixed_outputs[i];
		if (f->code == op->code && f->in == in->type && f->out == out->type)
			return f;
	}
	return NULL;
}

bool
kernel_takes_quantization(const struct tfl_subgraph *g, const struct tfl_op *op,
			  struct err *e)
{
	const struct tfl_tensor *out = tensor_at(g, op->out, op->n_out, 0);
	if (!is_plain(out))
		return true;
	const struct fixed *f = find_fixed(g, op, out);
	int k = unequal_input(g, op, out);
	double scale = (double)out->quant.scale[0];
	/*
	 * TensorFlow Lite Micro allows 0.1 % for 16 bits.  Of 8 bits, this is a quarter of a
	 * step at most.
	 */
	if (f && (!is_near(out->quant.scale[0], f->scale, 1e-3f) || zero_of(out) != f->zero))
		return err_set(e, "output scale %.9g zero point %lld, but the kernel of "
				  "TensorFlow Lite Micro has %.9g and %d", scale,
			       (long long)zero_of(out), (double)f->scale, f->zero);
	if (k < 0)
		return true;
	const struct tfl_tensor *t = &g->tensor[op->in[k]];
	return err_set(e, "input %d has scale %.9g zero point %lld, the output %.9g and %lld, but "
			  "the kernel of TensorFlow Lite Micro needs equal ones", k,
		       (double)t->quant.scale[0], (long long)zero_of(t), scale,
		       (long long)zero_of(out));
}

/*
 * Operators of which the kernel takes FLOAT32 alone: elementwise.cc, exp.cc, neg.cc, floor.cc,
 * ceil.cc, round.cc, floor_div.cc, floor_mod.cc and l2_pool_2d.cc of tflite-micro 90b983c2b
 * (August 2026).
 */
static bool
is_of_floats(int code)
{
	static const int codes[] = { TFL_SIN, TFL_COS, TFL_LOG, TFL_SQRT, TFL_SQUARE, TFL_EXP,
				     TFL_NEG, TFL_FLOOR, TFL_CEIL, TFL_ROUND, TFL_FLOOR_DIV,
				     TFL_FLOOR_MOD, TFL_L2_POOL_2D };
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (codes[i] == code)
			return true;
	return false;
}

const char *
kernel_adder(int code)
{
	/* identifiers; those of functions begin with a capital */
	static const char *const adders[TFL_BUILTIN_LIMIT] = {
#define OPERATOR(name, kernel, real, adder, ...) [TFL_##name] = #adder,
#include "operators.def"
#undef OPERATOR
	};
	const char *name = code >= 0 && code < TFL_BUILTIN_LIMIT ? adders[code] : NULL;
	return name && isupper((unsigned char)*name) ? name : NULL;
}

bool
kernel_is_in_micro(const struct tfl_subgraph *g, const struct tfl_op *op, struct err *e)
{
	const struct tfl_tensor *in = tensor_at(g, op->in, op->n_in, 0);
	if (op->code == TFL_CUSTOM)
		return true;
	if (!kernel_adder(op->code))
		return err_set(e, "TensorFlow Lite Micro has no kernel for it");
	return !is_of_floats(op->code) || !in || in->type == TFL_FLOAT32 ||
	       err_set(e, "TensorFlow Lite Micro computes it with FLOAT32 alone");
}

bool
kernel_computes_declared(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	const struct tfl_tensor *out = tensor_at(g, op->out, op->n_out, 0);
	return out && out->type == TFL_INT8 &&
	       (op->code == TFL_LOGISTIC || op->code == TFL_TANH ||
		op->code == TFL_CONCATENATION);
}

bool
call_quantization(struct call *c)
{
	struct err e = { 0 };
	return kernel_computes_declared(c->g, c->op) ||
	       kernel_takes_quantization(c->g, c->op, &e) || call_err(c, "%s", e.text);
}
