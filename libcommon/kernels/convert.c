/* SPDX-License-Identifier: Apache-2.0 */
/* QUANTIZE, DEQUANTIZE, CAST, SHAPE, L2_NORMALIZATION, fills. */
#include "kernels/functions.h"
#include "kernels/view.h"

#include <math.h>
#include <string.h>

bool
kernel_quantize(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	struct affine q, q_out;
	struct fixed_mult m;
	struct range r;
	if (!call_type(c, in, "input", T_QUANT | T_I32 | T_F32) ||
	    !call_type(c, out, "output", T_QUANT | T_I32) ||
	    !call_same_count(c, in, out) ||
	    !call_affine(c, out, "output", &q_out) ||
	    !call_range(c, TFL_ACT_NONE, out, q_out, &r))
		return false;
	if (in->type == TFL_FLOAT32) {
		const float *from = c->io->in[0];
		int64_t n = c->check ? 0 : tfl_elements(in);
		int32_t *to = anew(c->a, int32_t, (size_t)n + 1);
		/* round(v / s) + z, clamped; an Arm core converts NaN to 0, before z is added */
		for (int64_t i = 0; i < n; i++) {
			float x = from[i] / q_out.scale;
			double y = (isnan(x) ? 0 : (double)roundf(x)) + (double)q_out.zero;
			to[i] = (int32_t)fmin(fmax(y, r.lo), r.hi);
		}
		call_narrow(c, 0, to);
		return true;
	}
	if (!call_affine(c, in, "input", &q) ||
	    !call_mult_of(c, (double)q.scale / (double)q_out.scale,
			  in->type == TFL_INT32 ? 0 : type_width(in->type), &m))
		return false;
	if (c->check)
		return true;
	int32_t *v = call_widen(c, 0);
	for (int64_t i = 0; i < tfl_elements(in); i++) {
		int32_t x = (int32_t)((uint32_t)v[i] - (uint32_t)q.zero);
		v[i] = clamp_i32((int64_t)fixed_mbqm(x, m) + q_out.zero, r.lo,
				 r.hi);
	}
	call_narrow(c, 0, v);
	return true;
}

bool
kernel_dequantize(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	struct affine q;
	if (!call_type(c, in, "input", T_QUANT | T_I32) ||
	    !call_type(c, out, "output", T_F32) ||
	    !call_same_count(c, in, out) || !call_affine(c, in, "input", &q))
		return false;
	if (c->check)
		return true;
	const int32_t *v = call_widen(c, 0);
	float *y = c->io->out[0];
	for (int64_t i = 0; i < tfl_elements(in); i++)
		y[i] = (float)((double)q.scale * ((double)v[i] - q.zero));
	return true;
}

/* CAST with INT64 on one side: keeps the low bits, or extends the sign. */
static bool
cast_long(struct call *c, const struct tfl_tensor *in, const struct tfl_tensor *out)
{
	int64_t n = tfl_elements(in);
	int64_t *v = anew(c->a, int64_t, (size_t)n);
	int32_t *low = anew(c->a, int32_t, (size_t)n);
	if (in->type == TFL_INT64)
		memcpy(v, c->io->in[0], (size_t)n * sizeof(*v));
	else
		low = call_widen(c, 0);
	for (int64_t i = 0; in->type != TFL_INT64 && i < n; i++)
		v[i] = low[i];
	if (out->type == TFL_INT64) {
		memcpy(c->io->out[0], v, (size_t)n * sizeof(*v));
		return true;
	}
	float *y = c->io->out[0];
	for (int64_t i = 0; i < n; i++) {
		low[i] = out->type == TFL_BOOL ? v[i] != 0 : (int32_t)(uint32_t)v[i];
		if (out->type == TFL_FLOAT32)
			y[i] = (float)v[i];
	}
	if (out->type != TFL_FLOAT32)
		call_narrow(c, 0, low);
	return true;
}

bool
kernel_cast(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	const unsigned types = T_QUANT | T_I32 | T_I64 | T_F32 | T_BOOL;
	if (!call_type(c, in, "input", types) ||
	    !call_type(c, out, "output", types) || !call_same_count(c, in, out))
		return false;
	if (in->type == TFL_FLOAT32 && out->type == TFL_INT64)
		return call_err(c, "from FLOAT32 to INT64");
	if (c->check)
		return true;
	if (in->type == TFL_INT64 || out->type == TFL_INT64)
		return cast_long(c, in, out);
	int64_t n = tfl_elements(in);
	const float *f = c->io->in[0];
	float *y = c->io->out[0];
	if (in->type == TFL_FLOAT32 && out->type == TFL_FLOAT32) {
		memmove(y, f, (size_t)n * sizeof(*y));
		return true;
	}
	int32_t *v = anew(c->a, int32_t, (size_t)n);
	/*
	 * A float is truncated towards zero and saturates.  Conversions between integers keep
	 * the low bits.
	 */
	if (in->type == TFL_FLOAT32)
		for (int64_t i = 0; i < n; i++)
			v[i] = out->type == TFL_BOOL ? f[i] != 0
			       : isnan(f[i])	     ? 0
						     : (int32_t)fmin(fmax((double)f[i], INT32_MIN),
								     INT32_MAX);
	else
		v = call_widen(c, 0);
	for (int64_t i = 0; out->type == TFL_BOOL && i < n; i++)
		v[i] = v[i] != 0;
	if (out->type != TFL_FLOAT32)
		call_narrow(c, 0, v);
	for (int64_t i = 0; out->type == TFL_FLOAT32 && i < n; i++)
		y[i] = (float)v[i];
	return true;
}

bool
kernel_shape(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_type(c, out, "output", T_I32 | T_I64))
		return false;
	if (tfl_elements(out) != in->rank)
		return call_mismatch(c, "output has %lld elements for rank %d",
				     (long long)tfl_elements(out), in->rank);
	if (c->check)
		return true;
	for (int d = 0; d < in->rank; d++)
		if (out->type == TFL_INT64)
			((int64_t *)c->io->out[0])[d] = in->dim[d];
		else
			((int32_t *)c->io->out[0])[d] = in->dim[d];
	return true;
}

bool
kernel_zeros_like(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_movable(c, in, out) || !call_same_count(c, in, out))
		return false;
	if (c->check)
		return true;
	memset(c->io->out[0], 0, (size_t)tfl_bytes(out));
	return true;
}

bool
kernel_fill(struct call *c)
{
	enum { DIMENSIONS, VALUE };
	const struct tfl_tensor *v = call_in(c, VALUE), *out = call_out(c, 0);
	if (!call_movable(c, v, out) || !call_same_quant(c, v, out) ||
	    !call_type(c, call_in(c, DIMENSIONS), "dimensions", T_I32 | T_I64))
		return false;
	if (tfl_elements(v) != 1)
		return call_mismatch(c, "the value has %lld elements", (long long)tfl_elements(v));
	if (c->io->in[DIMENSIONS]) { /* the network may compute them */
		int64_t n;
		const int64_t *dim = call_indices(c, DIMENSIONS, "dimensions", &n);
		bool same = dim && n == out->rank;
		for (int d = 0; same && d < out->rank; d++)
			same = dim[d] == out->dim[d];
		if (!same)
			return call_mismatch(c, "the shape of the output differs from the dimensions");
	}
	if (c->check)
		return true;
	size_t size = element_size(v);
	for (int64_t i = 0; i < tfl_elements(out); i++)
		memcpy((uint8_t *)c->io->out[0] + (size_t)i * size, c->io->in[VALUE], size);
	return true;
}

/* x / |x| along the last dimension, output scale 1/128 and zero point 0 */
bool
kernel_l2_normalization(struct call *c)
{
	enum { OUTPUT_BITS = 7 };
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	struct affine q;
	if (!call_type(c, in, "input", T_I8) || !call_same_type(c, in, out) ||
	    !call_same_shape(c, in, out) || !call_affine(c, in, "input", &q))
		return false;
	int64_t depth = in->rank ? in->dim[in->rank - 1] : 1;
	int32_t *v = call_widen(c, 0);
	if (depth >
	    1 << 15) /* limit: squares are of 16-bit values; TFLite's own limit is 2^16 */
		return call_err(c, "rows have %lld elements", (long long)depth);
	if (c->check)
		return true;
	for (int64_t i = 0; i < tfl_elements(in); i += depth) {
		int32_t sum = 0;
		for (int64_t k = i; k < i + depth; k++) {
			v[k] -= q.zero;
			sum += v[k] * v[k];
		}
		struct fixed_mult m = fixed_inv_sqrt(sum);
		m.exp += OUTPUT_BITS;
		for (int64_t k = i; k < i + depth; k++)
			v[k] =
			    clamp_i32(fixed_mbqm(v[k], m), INT8_MIN, INT8_MAX);
	}
	call_narrow(c, 0, v);
	return true;
}
