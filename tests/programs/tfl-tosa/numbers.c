/* SPDX-License-Identifier: Apache-2.0 */
/* Scales and zero points of TFLite as TOSA's RESCALEs and constants. */
#include "turn.h"

#include <math.h>
#include <string.h>

float
scale_of(const struct tfl_tensor *t, int channel)
{
	return !t->quant.n_scale ? 1.0f : t->quant.scale[t->quant.n_scale > 1 ? channel : 0];
}

int64_t
zero_of(const struct tfl_tensor *t)
{
	return t->quant.n_zero ? t->quant.zero[0] : 0;
}

int
tosa_of(int tfl_type)
{
	switch (tfl_type) {
	case TFL_INT8:
	case TFL_UINT8:
		return TOSA_INT8;
	case TFL_INT16:
		return TOSA_INT16;
	case TFL_INT32:
		return TOSA_INT32;
	default:
		return TOSA_UNKNOWN;
	}
}

int64_t
number_of(const struct tfl_tensor *t, int64_t i)
{
	int64_t v = 0;
	int size = tfl_type_bytes(t->type);
	for (int k = 0; k < size; k++)
		v |= (int64_t)((uint64_t)t->data.p[i * size + k] << 8 * k);
	int unused = 64 - 8 * size;
	return t->type == TFL_UINT8 ? v : (int64_t)((uint64_t)v << unused) >> unused;
}

/* TFLite's quantized multiplier of 31 bits, or of 15 bits for sums of 64 bits */
static bool
factor_of(double real, bool wide, int64_t *mult, int64_t *shift)
{
	int exp;
	double f = frexp(real, &exp);
	int64_t m = (int64_t)round(f * 2147483648.0);
	if (m == INT64_C(1) << 31) {
		m /= 2;
		exp++;
	}
	int64_t s = 31 - exp;
	if (wide) {
		m = m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;
		s = 15 - exp;
	}
	if (s > 62) {
		m = s - 62 > 31 ? 0 : m >> (s - 62);
		s = 62;
	}
	*mult = m;
	*shift = s;
	return real >= 0 && s >= 2;
}

int
add_rescale(struct turn *t, int x, const struct rescale *r)
{
	const struct gen_tensor from = t->g->tensor[x];
	bool wide = from.type == TOSA_INT48;
	int32_t n = r->n;
	int64_t *m = anew(t->g->a, int64_t, (size_t)n), *s = anew(t->g->a, int64_t, (size_t)n);
	for (int32_t i = 0; i < n; i++)
		if (!factor_of(r->scale[i], wide, &m[i], &s[i]))
			refuse(t, "a scale is outside what RESCALE takes");
	int in[5] = { x };
	in[1] = gen_const(t->g, wide ? TOSA_INT16 : TOSA_INT32, 1, &n, m);
	in[2] = gen_const(t->g, TOSA_INT8, 1, &n, s);
	in[3] = gen_number(t->g, from.type, r->in_zero);
	in[4] = gen_number(t->g, r->type, r->out_zero);
	int64_t v[5] = { !wide, t->single || wide ? TOSA_SINGLE_ROUND : TOSA_DOUBLE_ROUND,
			 n > 1, r->in_unsigned, r->out_unsigned };
	fbw_off a = gen_attribute(t->g, &fb_TosaRescale, 0, NULL, NULL, 5, v);
	return gen_op(t->g, TOSA_RESCALE, a, 5, in, r->type, from.rank, from.dim);
}

int
add_widen(struct turn *t, int x, int64_t zero)
{
	const double one = 1;
	return add_rescale(t, x, &(struct rescale){ .type = TOSA_INT32, .n = 1,
						    .scale = &one, .in_zero = zero });
}

int
add_reshape(struct turn *t, int x, int rank, const int32_t *dim)
{
	const struct gen_tensor from = t->g->tensor[x];
	int64_t v[TOSA_MAX_RANK];
	if (rank > TOSA_MAX_RANK) {
		refuse(t, "a tensor of more than 6 dimensions");
		return x;
	}
	if (rank == from.rank && !memcmp(dim, from.dim, (size_t)rank * sizeof(*dim)))
		return x;
	for (int i = 0; i < rank; i++)
		v[i] = dim[i];
	int in[2] = { x, gen_shape(t->g, rank, v) };
	return gen_op(t->g, TOSA_RESHAPE, 0, 2, in, from.type, rank, dim);
}

int
add_slice(struct turn *t, int x, const int64_t *first, const int32_t *dim)
{
	const struct gen_tensor from = t->g->tensor[x];
	int64_t size[TOSA_MAX_RANK];
	if (!memcmp(dim, from.dim, (size_t)from.rank * sizeof(*dim)))
		return x;
	for (int i = 0; i < from.rank; i++)
		size[i] = dim[i];
	int in[3] = { x, gen_shape(t->g, from.rank, first) };
	in[2] = gen_shape(t->g, from.rank, size);
	return gen_op(t->g, TOSA_SLICE, 0, 3, in, from.type, from.rank, dim);
}

/* a bound of the activation in out's scale: TFLite computes it in float */
static int64_t
bound(const struct tfl_tensor *out, float v)
{
	float q = v / scale_of(out, 0);
	return zero_of(out) + (q > 1e6f ? 1000000 : (int64_t)roundf(q));
}

int
add_clamp(struct turn *t, int x, const struct tfl_tensor *out, int activation)
{
	int type = t->g->tensor[x].type;
	int64_t least = tosa_least(type, false), most = tosa_most(type, false);
	if (activation == TFL_ACT_NONE)
		return x;
	if (activation != TFL_ACT_RELU && activation != TFL_ACT_RELU6) {
		refuse(t, "an activation other than RELU and RELU6");
		return x;
	}
	int64_t lo = bound(out, 0.0f);
	int64_t hi = activation == TFL_ACT_RELU6 ? bound(out, 6.0f) : most;
	lo = lo < least ? least : lo;
	hi = hi > most ? most : hi;
	if (lo == least && hi == most)
		return x;
	uint8_t bytes[2][8];
	tosa_store(type, bytes[0], 0, lo);
	tosa_store(type, bytes[1], 0, hi);
	size_t n = (size_t)tosa_type_bits(type) / 8;
	fbw_off min = fbw_bytes(t->g->w, bytes[0], n, 8);
	fbw_off max = fbw_bytes(t->g->w, bytes[1], n, 8);
	fbw_table(t->g->w, &fb_TosaClamp);
	fbw_ref(t->g->w, FB_TosaClamp_min_val, min);
	fbw_ref(t->g->w, FB_TosaClamp_max_val, max);
	fbw_int(t->g->w, FB_TosaClamp_nan_mode, 1);
	const struct gen_tensor from = t->g->tensor[x];
	return gen_op(t->g, TOSA_CLAMP, fbw_end(t->g->w), 1, &x, type, from.rank, from.dim);
}

int
add_result(struct turn *t, int x, int n, const double *scale,
	   const struct tfl_tensor *out, int activation)
{
	struct rescale r = { .type = tosa_of(out->type), .n = n, .scale = scale,
			     .out_zero = zero_of(out) };
	return add_clamp(t, add_rescale(t, x, &r), out, activation);
}
