/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on windows and rows: pools, reductions, SOFTMAX, interpolation. */
#include "real/real.h"

#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <math.h>

/* ---- pools ------------------------------------------------------------------- */

struct span { /* the part of a window on one axis that is inside the input */
	int32_t from, to;
};

static struct span
span_of(int32_t at, int64_t stride, int64_t k, int32_t in, int32_t out, int64_t padding)
{
	int64_t first = at * stride - tfl_padding_total(padding, in, out, k, stride) / 2;
	int64_t end = first + k;
	return (struct span){ .from = (int32_t)(first < 0 ? 0 : first),
			      .to = (int32_t)(end > in ? in : end) };
}

static double
pool(const double *x, const struct tfl_tensor *in, struct span h, struct span w, int32_t c,
     bool max)
{
	double v = max ? -INFINITY : 0;
	for (int32_t y = h.from; y < h.to; y++)
		for (int32_t i = w.from; i < w.to; i++) {
			double e = x[((int64_t)y * in->dim[2] + i) * in->dim[3] + c];
			v = max ? fmax(v, e) : v + e;
		}
	return max ? v : v / ((double)(h.to - h.from) * (w.to - w.from));
}

void
real_pool(const struct real_op *o)
{
	const struct tfl_op *op = o->op;
	const struct tfl_tensor *in = real_in(o, 0), *out = real_out(o, 0);
	bool max = op->code == TFL_MAX_POOL_2D;
	int64_t padding = TFL_OPT(op, Pool2DOptions, padding);
	int64_t sh = TFL_OPT(op, Pool2DOptions, stride_h);
	int64_t sw = TFL_OPT(op, Pool2DOptions, stride_w);
	int64_t kh = TFL_OPT(op, Pool2DOptions, filter_height);
	int64_t kw = TFL_OPT(op, Pool2DOptions, filter_width);
	int64_t activation = TFL_OPT(op, Pool2DOptions, fused_activation_function);
	double *y = real_y(o, 0);
	for (int32_t b = 0; b < out->dim[0]; b++) {
		const double *x = real_x(o, 0) + tfl_elements(in) / in->dim[0] * b;
		for (int32_t oy = 0; oy < out->dim[1]; oy++)
			for (int32_t ox = 0; ox < out->dim[2]; ox++) {
				struct span h = span_of(oy, sh, kh, in->dim[1],
							out->dim[1], padding);
				struct span w = span_of(ox, sw, kw, in->dim[2],
							out->dim[2], padding);
				for (int32_t c = 0; c < out->dim[3]; c++)
					*y++ = real_clamp(pool(x, in, h, w, c, max),
							  activation);
			}
	}
}

/* ---- reductions ---------------------------------------------------------------- */

void
real_reduce(const struct real_op *o)
{
	const struct tfl_tensor *in = real_in(o, 0);
	int code = o->op->code, n_axes = 0;
	int64_t axis[TFL_MAX_RANK], n = tfl_elements(in), m = tfl_elements(real_out(o, 0));
	bool drop[TFL_MAX_RANK] = { false };
	const double *x = real_x(o, 0);
	double *y = real_y(o, 0);
	(void)real_ints(real_in(o, 1), axis, TFL_MAX_RANK, &n_axes);
	for (int i = 0; i < n_axes; i++)
		drop[axis[i] < 0 ? axis[i] + in->rank : axis[i]] = true;
	for (int64_t i = 0; i < m; i++)
		y[i] = code == TFL_REDUCE_MAX	? -INFINITY
		       : code == TFL_REDUCE_MIN ? INFINITY
						: 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t at = 0, step = 1, rest = i; /* at: the result that element i is of */
		for (int d = in->rank - 1; d >= 0; d--) {
			if (!drop[d]) {
				at += rest % in->dim[d] * step;
				step *= in->dim[d];
			}
			rest /= in->dim[d];
		}
		double *to = &y[at];
		*to = code == TFL_REDUCE_MAX   ? fmax(*to, x[i])
		      : code == TFL_REDUCE_MIN ? fmin(*to, x[i])
					       : *to + x[i];
	}
	for (int64_t i = 0; code == TFL_MEAN && i < m; i++)
		y[i] *= (double)m / (double)n;
}

/* ---- rows ------------------------------------------------------------------------- */

void
real_softmax(const struct real_op *o)
{
	const struct tfl_tensor *t = real_in(o, 0);
	bool is_log = o->op->code == TFL_LOG_SOFTMAX;
	double beta = is_log ? 1 : TFL_OPT_FLOAT(o->op, SoftmaxOptions, beta);
	int32_t depth = real_depth(t);
	const double *x = real_x(o, 0);
	double *y = real_y(o, 0);
	for (int64_t r = 0; r < real_rows(t); r++, x += depth, y += depth) {
		double most = x[0], sum = 0;
		for (int32_t k = 0; k < depth; k++)
			most = fmax(most, x[k]);
		for (int32_t k = 0; k < depth; k++)
			sum += real_exp(beta * (x[k] - most));
		for (int32_t k = 0; k < depth; k++)
			y[k] = is_log ? x[k] - most - real_log(sum)
				      : real_exp(beta * (x[k] - most)) / sum;
	}
}

/* L2_NORMALIZATION: scales each row to length 1 */
void
real_unit(const struct real_op *o)
{
	const struct tfl_tensor *t = real_in(o, 0);
	int32_t depth = real_depth(t);
	const double *x = real_x(o, 0);
	double *y = real_y(o, 0);
	for (int64_t r = 0; r < real_rows(t); r++, x += depth, y += depth) {
		double sum = 0;
		for (int32_t k = 0; k < depth; k++)
			sum += x[k] * x[k];
		for (int32_t k = 0; k < depth; k++)
			y[k] = sum > 0 ? x[k] / sqrt(sum) : 0;
	}
}

/* ---- RESIZE_BILINEAR ---------------------------------------------------------------- */

struct between {
	int32_t low, high;
	double part; /* weight of high, 0 to 1 */
};

static struct between
between(int32_t at, int32_t in, int32_t out, bool corners, bool half)
{
	double scale = corners && out > 1 ? (double)(in - 1) / (out - 1)
					  : (double)in / out;
	double v = half ? (at + 0.5) * scale - 0.5 : at * scale;
	double low = floor(v);
	struct between b = { .low = (int32_t)low, .high = (int32_t)low + 1,
			     .part = v - low };
	b.low = b.low < 0 ? 0 : b.low >= in ? in - 1 : b.low;
	b.high = b.high < 0 ? 0 : b.high >= in ? in - 1 : b.high;
	return b;
}

void
real_bilinear(const struct real_op *o)
{
	const struct tfl_tensor *in = real_in(o, 0), *out = real_out(o, 0);
	bool corners = TFL_OPT(o->op, ResizeBilinearOptions, align_corners);
	bool half = TFL_OPT(o->op, ResizeBilinearOptions, half_pixel_centers);
	int32_t depth = in->dim[3], wide = in->dim[2];
	double *y = real_y(o, 0);
	for (int32_t b = 0; b < out->dim[0]; b++) {
		const double *x = real_x(o, 0) + tfl_elements(in) / in->dim[0] * b;
		for (int32_t oy = 0; oy < out->dim[1]; oy++)
			for (int32_t ox = 0; ox < out->dim[2]; ox++) {
				struct between h = between(oy, in->dim[1], out->dim[1],
							   corners, half);
				struct between w = between(ox, wide, out->dim[2], corners,
							   half);
				for (int32_t c = 0; c < depth; c++) {
					double top =
					    x[(h.low * wide + w.low) * depth + c] *
						(1 - w.part) +
					    x[(h.low * wide + w.high) * depth + c] * w.part;
					double low =
					    x[(h.high * wide + w.low) * depth + c] *
						(1 - w.part) +
					    x[(h.high * wide + w.high) * depth + c] * w.part;
					*y++ = top * (1 - h.part) + low * h.part;
				}
			}
	}
}
