/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/products.h"

#include "base/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A second copy of each hot function for machines with AVX2, selected by libc's CPU
 * features.  target_clones is not used: it queries the processor at every program
 * start, even if the function is never called.  In a virtual machine this query takes
 * as long as all other work before main.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__OPTIMIZE__) && \
    !defined(__clang__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define HAS_AVX2 CPU_FEATURE_ACTIVE(AVX2)
#define FOR_AVX2 __attribute__((target("avx2")))
#else
#define HAS_AVX2 false
#define FOR_AVX2
#endif
#define EITHER static inline __attribute__((always_inline))

/* number of columns whose 32-bit sum cannot overflow: 2^15 * 255 * 256 < 2^31 */
enum { BLOCK = 256 };

struct matrix
matrix_new(struct arena *a, int64_t rows, int64_t cols)
{
	struct matrix m = { .rows = rows, .cols = cols };
	m.pitch = round_up_i64(cols, MATRIX_STEP);
	size_t n_rows = (size_t)round_up_i64(rows, 4);
	m.v = anew(a, int16_t, n_rows * (size_t)m.pitch);
	return m;
}

/* limit of 16-bit elements in each matrix: 512 MiB */
#define MATRIX_MAX ((int64_t)1 << 28)

bool
call_matrices(struct call *c, int64_t outputs, int64_t n, int64_t cols,
	      int64_t *block)
{
	if (!call_work(c, outputs, cols))
		return false;
	int64_t elements;
	if (__builtin_mul_overflow(n + 4, cols + MATRIX_STEP, &elements) ||
	    elements > MATRIX_MAX || cols > MATRIX_MAX / 8)
		return call_err(c, "%lld filters of %lld weights are too large",
				(long long)n, (long long)cols);
	/* patches fit the second-level cache: 48 rows of 1024 columns are 96 KiB */
	*block = cols <= 1024 ? 48 : cols <= 8192 ? 16 : 4;
	return true;
}

void
copy_minus(int16_t *restrict to, int type, const void *data, int64_t at,
	   int64_t n, int32_t zero)
{
	const int8_t *s8 = (const int8_t *)data + at;
	const uint8_t *u8 = (const uint8_t *)data + at;
	if (type == TFL_INT8 || type == TFL_INT4)
		for (int64_t i = 0; i < n; i++)
			to[i] = (int16_t)(s8[i] - zero);
	else if (type == TFL_UINT8)
		for (int64_t i = 0; i < n; i++)
			to[i] = (int16_t)(u8[i] - zero);
	else
		for (int64_t i = 0; i < n; i++)
			to[i] =
			    (int16_t)(((const int16_t *)data)[at + i] - zero);
}

/* products of rows i..i+3 of a and rows j, j+1 of b, over all columns */
EITHER void
tile(struct matrix a, int64_t i, struct matrix b, int64_t j, int64_t sum[8])
{
	memset(sum, 0, 8 * sizeof(*sum));
	for (int64_t k = 0; k < a.pitch; k += BLOCK) {
		int64_t left = a.pitch - k;
		int32_t part[8];
		products_4x2(matrix_row(a, i) + k, a.pitch,
			     matrix_row(b, j) + k, b.pitch,
			     left < BLOCK ? left : BLOCK, part);
		for (int t = 0; t < 8; t++)
			sum[t] += part[t];
	}
}

EITHER void
all_products(struct matrix a, int64_t n, struct matrix b, int64_t *acc)
{
	for (int64_t j = 0; j < b.rows; j += 2)
		for (int64_t i = 0; i < n; i += 4) {
			int64_t sum[8];
			tile(a, i, b, j, sum);
			for (int t = 0; t < 8; t++)
				if (i + t / 2 < n && j + t % 2 < b.rows)
					acc[(i + t / 2) * b.rows + j + t % 2] =
					    sum[t];
		}
}

FOR_AVX2 static void
all_products_avx2(struct matrix a, int64_t n, struct matrix b, int64_t *acc)
{
	all_products(a, n, b, acc);
}

void
matrix_products(struct matrix a, int64_t n, struct matrix b, int64_t *acc)
{
	if (HAS_AVX2)
		all_products_avx2(a, n, b, acc);
	else
		all_products(a, n, b, acc);
}

static bool
load_bias(struct call *c, const struct requant_from *f, struct requant *r)
{
	r->bias = anew(c->a, int64_t, (size_t)f->n);
	if (!f->bias)
		return true;
	if (tfl_elements(f->bias) != f->n)
		return call_mismatch(c,
				     "bias has %lld element%s for %d channel%s",
				     (long long)tfl_elements(f->bias),
				     tfl_elements(f->bias) == 1 ? "" : "s",
				     f->n, f->n == 1 ? "" : "s");
	for (int32_t i = 0; f->bias_data && i < f->n; i++)
		r->bias[i] = f->bias->type == TFL_INT64
				 ? ((const int64_t *)f->bias_data)[i]
				 : ((const int32_t *)f->bias_data)[i];
	return true;
}

/* Returns the checked scale of the weights of channel i. */
static bool
weight_scale(struct call *c, const struct requant_from *f, int32_t i, double *s)
{
	const struct tfl_quant *q = &f->weights->quant;
	if (i == 0 &&
	    (q->n_scale < 1 || q->other ||
	     (q->n_scale > 1 && (q->axis != f->axis || q->n_scale != f->n))))
		return call_err(c,
				"weights (%s) have %d scales along axis %d, "
				"needs 1 or %d along axis %d",
				f->weights->name, q->n_scale, q->axis, f->n,
				f->axis);
	*s = (double)q->scale[q->n_scale > 1 ? i : 0];
	return (isfinite(*s) && *s >= 0) ||
	       call_err(c, "weights (%s) have the scale %g", f->weights->name,
			*s);
}

bool
sums_are_wide(const struct tfl_tensor *in, const struct tfl_tensor *bias,
	      int64_t bias_type)
{
	return in->type == TFL_INT16 &&
	       (bias ? bias->type : bias_type) != TFL_INT32;
}

/* bound of the magnitude of channel i's sum of products and bias */
static int64_t
most_channel_sum(const struct requant_from *f, const struct requant *r, int32_t i)
{
	int64_t taps = tfl_elements(f->weights) / f->n;
	int64_t sum = taps * type_width(f->in->type) * type_width(f->weights->type);
	return sum + llabs(r->bias[i]);
}

/* magnitudes of a channel's weights, summed over positive and over negative weights */
struct weight_sums {
	int64_t above, below;
};

static struct weight_sums
sums_of_weights(const struct requant_from *f, int32_t channel)
{
	struct around w = around_axis(f->weights, f->axis);
	bool is_signed = f->weights->type != TFL_UINT8;
	struct weight_sums s = { 0 };
	for (int64_t o = 0; o < w.outer; o++)
		for (int64_t k = 0; k < w.inner; k++) {
			uint8_t b = f->weights->data.p[(o * w.n + channel) * w.inner + k];
			int v = (is_signed ? (int8_t)b : b) - f->weight_zero;
			*(v > 0 ? &s.above : &s.below) += abs(v);
		}
	return s;
}

/*
 * Checks that the sum of channel i fits the reference's 32-bit accumulator, whose
 * overflow is undefined in C.  For 16-bit values the check applies only if the bias
 * takes more than half of the accumulator: their worst case is far from any sum that
 * occurs in practice.
 */
static bool
check_sum(struct call *c, const struct requant_from *f, const struct requant *r,
	  int32_t i)
{
	int64_t bias = r->bias[i];
	if (f->wide || !f->weights->data.p || most_channel_sum(f, r, i) <= INT32_MAX ||
	    (f->in->type == TFL_INT16 && llabs(bias) <= INT32_MAX / 2))
		return true;
	struct affine in;
	if (!call_affine(c, f->in, "input", &in))
		return false;
	int64_t up = type_max(f->in->type) - (int64_t)in.zero;
	int64_t down = in.zero - (int64_t)type_min(f->in->type);
	struct weight_sums w = sums_of_weights(f, i);
	int64_t most = bias + w.above * up + w.below * down;
	int64_t least = bias - w.above * down - w.below * up;
	return (most <= INT32_MAX && least >= INT32_MIN) ||
	       call_err(c, "the sums of channel %d are between %lld and %lld, "
			"beyond 32 bits", i, (long long)least, (long long)most);
}

bool
requant_prepare(struct call *c, const struct requant_from *f, struct requant *r)
{
	struct affine in, out;
	*r = (struct requant){ .wide = f->wide };
	if (!call_affine(c, f->in, "input", &in) ||
	    !call_affine(c, f->out, "output", &out) ||
	    !call_range(c, f->activation, f->out, out, &r->range) ||
	    !load_bias(c, f, r))
		return false;
	r->zero = out.zero;
	r->mult = anew(c->a, struct fixed_mult, (size_t)f->n);
	for (int32_t i = 0; i < f->n; i++) {
		double s = 0;
		if (!weight_scale(c, f, i, &s) || !check_sum(c, f, r, i))
			return false;
		bool f32 = f->float_product && f->weights->quant.n_scale == 1;
		double product =
		    f32 ? (double)(in.scale * (float)s) : (double)in.scale * s;
		if (!call_mult_of(c, product / (double)out.scale,
				  f->wide ? 0 : most_channel_sum(f, r, i), &r->mult[i]))
			return false;
		/* the reference's range for 64-bit accumulators */
		if (f->wide && r->mult[i].exp > MBQM64_EXP)
			return call_err(c,
					"scales give a multiplier above 128");
	}
	return true;
}

/*
 * Scales channels into v: bias, multiplier, clamp, zero point.  The clamp precedes the
 * zero point, so that no sum overflows.
 */
EITHER void
scale_each(const struct requant *r, const int64_t *restrict acc, int32_t n,
	   int32_t *restrict v)
{
	int32_t lo = r->range.lo - r->zero, hi = r->range.hi - r->zero;
	for (int32_t i = 0; i < n; i++) {
		uint64_t sum = (uint64_t)acc[i] + (uint64_t)r->bias[i];
		int32_t x = fixed_mbqm((int32_t)sum, r->mult[i]);
		x = x < lo ? lo : x;
		v[i] = (x > hi ? hi : x) + r->zero;
	}
}

FOR_AVX2 static void
scale_each_avx2(const struct requant *r, const int64_t *restrict acc, int32_t n,
		int32_t *restrict v)
{
	scale_each(r, acc, n, v);
}

static void
scale_64(const struct requant *r, const int64_t *acc, int32_t n, int32_t *v)
{
	for (int32_t i = 0; i < n; i++) {
		uint64_t sum = (uint64_t)acc[i] + (uint64_t)r->bias[i];
		v[i] = clamp_i32((int64_t)wide_mbqm((int64_t)sum, r->mult[i]) +
				     r->zero,
				 r->range.lo, r->range.hi);
	}
}

/* channels per step */
enum { STRETCH = 64 };

void
requant_store(const struct requant *r, const int64_t *acc, int32_t n,
	      const struct tfl_tensor *out, void *data, int64_t at)
{
	int32_t v[STRETCH];
	struct requant part = *r;
	for (int32_t i = 0; i < n; i += STRETCH) {
		int32_t m = n - i < STRETCH ? n - i : STRETCH;
		part.bias = r->bias + i;
		part.mult = r->mult + i;
		if (r->wide)
			scale_64(&part, acc + i, m, v);
		else if (HAS_AVX2)
			scale_each_avx2(&part, acc + i, m, v);
		else
			scale_each(&part, acc + i, m, v);
		if (out->type == TFL_INT16)
			for (int32_t k = 0; k < m; k++)
				((int16_t *)data)[at + i + k] = (int16_t)v[k];
		else /* int8 and uint8 have the same bits */
			for (int32_t k = 0; k < m; k++)
				((uint8_t *)data)[at + i + k] = (uint8_t)v[k];
	}
}

bool
window_prepare(struct call *c, struct window *w, int64_t padding)
{
	if (w->stride < 1 || w->kernel < 1 || w->dilation < 1)
		return call_err(c,
				"kernel size %d, stride %d, dilation %d: all "
				"must be at least 1",
				w->kernel, w->stride, w->dilation);
	int64_t field = (int64_t)(w->kernel - 1) * w->dilation + 1;
	int64_t want = padding == TFL_SAME
			   ? ((int64_t)w->in + w->stride - 1) / w->stride
			   : ((int64_t)w->in - field + w->stride) / w->stride;
	if (padding != TFL_SAME && padding != TFL_VALID)
		return call_err(c, "padding %lld is unknown",
				(long long)padding);
	if (want != w->out || (padding == TFL_VALID && field > w->in))
		return call_mismatch(
		    c,
		    "output size is %d, input %d with kernel %d, "
		    "stride %d, dilation %d gives another",
		    w->out, w->in, w->kernel, w->stride, w->dilation);
	w->pad = tfl_padding_total(padding, w->in, w->out, field, w->stride) / 2;
	return true;
}

/* ---- weights -------------------------------------------------------------- */

bool
call_weights(struct call *c, const struct tfl_tensor *in, const struct tfl_tensor *w)
{
	unsigned is_signed = w->data.p ? T_I8 | T_I4 : T_I8;
	return call_type(c, w, "weights", in->type == TFL_UINT8 ? T_U8 : is_signed);
}

/* ---- convolutions --------------------------------------------------------- */

bool
conv_open(struct call *c, int in, int weights, int bias, struct convolution *v)
{
	*v = (struct convolution){
		.in = call_in(c, in), .weights = call_in(c, weights),
		.bias = call_in(c, bias), .out = call_out(c, 0),
		.x = c->io->in[in], .k = c->io->in[weights], .y = c->io->out[0],
	};
	v->b = v->bias ? c->io->in[bias] : NULL;
	int type = v->in->type;
	struct affine x, y, w = { 0 };
	if (!call_type(c, v->in, "input", T_QUANT) ||
	    !call_same_type(c, v->in, v->out) ||
	    !call_weights(c, v->in, v->weights) ||
	    (v->bias && !call_type(c, v->bias, "bias",
				   type == TFL_INT16 ? T_I32 | T_I64 : T_I32)))
		return false;
	if (!call_affine(c, v->in, "input", &x) ||
	    !call_affine(c, v->out, "output", &y))
		return false;
	if (type == TFL_INT16 && (x.zero || y.zero))
		return call_err(c, "int16 needs zero points of 0");
	/* int8 weights have zero point 0 by definition */
	if (type == TFL_UINT8 && !call_affine(c, v->weights, "weights", &w))
		return false;
	v->zero = x.zero;
	v->weight_zero = w.zero;
	return call_nhwc(c, v->in, "input", &v->i) &&
	       call_nhwc(c, v->weights, "weights", &v->f) &&
	       call_nhwc(c, v->out, "output", &v->o);
}

bool
conv_is_wide(const struct convolution *v)
{
	return v->in->type == TFL_INT16 && !(v->bias && v->bias->type == TFL_INT32);
}

bool
conv_requant(struct call *c, struct convolution *v, int axis, int64_t activation,
	     bool wide)
{
	const struct requant_from f = {
		.in = v->in, .weights = v->weights, .bias = v->bias, .out = v->out,
		.bias_data = v->b, .n = v->o.c, .axis = axis,
		.weight_zero = v->weight_zero, .activation = activation,
		.float_product = v->in->type == TFL_UINT8, .wide = wide,
	};
	return requant_prepare(c, &f, &v->r);
}

void
conv_products(struct call *c, const struct convolution *v, int32_t first, int32_t n,
	      conv_fill *fill, const void *ctx)
{
	int64_t cols = (int64_t)v->f.h * v->f.w * v->f.c;
	int64_t pixels = (int64_t)v->o.n * v->o.h * v->o.w;
	struct matrix filters = matrix_new(c->a, n, cols);
	struct matrix patches = matrix_new(c->a, v->block, cols);
	int64_t *acc = anew(c->a, int64_t, (size_t)(v->block * n));
	struct requant r = v->r;
	r.bias += first;
	r.mult += first;
	for (int32_t i = 0; i < n; i++)
		copy_minus(matrix_row(filters, i), v->weights->type, v->k,
			   ((int64_t)first + i) * cols, cols, v->weight_zero);
	for (int64_t p = 0; p < pixels; p += v->block) {
		int64_t here = pixels - p < v->block ? pixels - p : v->block;
		for (int64_t i = 0; i < here; i++)
			fill(ctx, p + i, matrix_row(patches, i));
		matrix_products(patches, here, filters, acc);
		for (int64_t i = 0; i < here; i++)
			requant_store(&r, acc + i * n, n, v->out, v->y,
				      (p + i) * v->o.c + first);
	}
}
