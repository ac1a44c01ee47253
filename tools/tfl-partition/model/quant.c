/* SPDX-License-Identifier: Apache-2.0 */
/* Scales, zero points and clamps of tensors, in the precision of the reference. */
#include "../part.h"

#include "graph/facts.h"

#include <math.h>

double
quant_scale(const struct tfl_tensor *t)
{
	return (double)quant_scale_f32(t);
}

float
quant_scale_f32(const struct tfl_tensor *t)
{
	return t->quant.n_scale ? t->quant.scale[0] : 1.0f;
}

float
quant_channel_scale(const struct tfl_tensor *t, int c)
{
	return t->quant.n_scale > 1 ? t->quant.scale[c] : quant_scale_f32(t);
}

int32_t
quant_zero(const struct tfl_tensor *t)
{
	return t->quant.n_zero && t->quant.n_scale && t->type != TFL_INT32
		   ? (int32_t)t->quant.zero[0]
		   : 0;
}

bool
quant_equal(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	return quant_scale_f32(a) == quant_scale_f32(b) &&
	       quant_zero(a) == quant_zero(b);
}

/* float32 on purpose: the reference computes in it, too (nputools-lowering(7) 3.1) */
static int64_t
quantized(const struct tfl_tensor *t, float v)
{
	float q = v / quant_scale_f32(t);
	if (!(q < 1e9f))
		return 1000000000;
	if (q < -1e9f)
		return -1000000000;
	return quant_zero(t) + (int64_t)roundf(q);
}

struct g_range
quant_clamp(const struct tfl_tensor *t, int activation)
{
	struct g_range r = type_range(t->type);
	float lo = activation == TFL_ACT_RELU_N1_TO_1 ? -1.0f : 0.0f;
	float hi = activation == TFL_ACT_RELU6 ? 6.0f : 1.0f;
	if (activation == TFL_ACT_NONE)
		return r;
	int64_t q = quantized(t, lo);
	r.lo = q > r.lo ? q : r.lo;
	if (activation == TFL_ACT_RELU)
		return r;
	q = quantized(t, hi);
	r.hi = q < r.hi ? q : r.hi;
	return r;
}
