/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions, MATMUL, pools. */
#include "tosakernels/tosakernels.h"

#include "base/fixed.h"

/* Warns about accumulators that do not fit their type. */
static void
check_sums(struct tosa_run *r, int type, const int64_t *v, int64_t n)
{
	int64_t lo = tosa_least(type, false), hi = tosa_most(type, false);
	for (int64_t i = 0; i < n; i++)
		if (v[i] < lo || v[i] > hi)
			tosa_warn(r, "the accumulator %lld does not fit %s",
				  (long long)v[i], tosa_type_name(type));
}

/* Returns operand k minus its zero point, in 32 bits. */
static const int32_t *
minus_zero_point(struct tosa_run *r, int k, int64_t zero)
{
	int64_t n = tosa_elements(tosa_in(r->g, r->op, k));
	int32_t *p = anew(r->a, int32_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		p[i] = (int32_t)(r->in[k][i] - zero);
	return p;
}

struct conv {
	const struct tosa_tensor *x, *w, *o;
	struct tosa_window k;
	const int32_t *v, *weight; /* minus zero points */
	/*
	 * 16-bit copies of v and weight, if the products of all channels add up in 32
	 * bits; else NULL
	 */
	const int16_t *short_v, *short_weight;
	const int64_t *bias;
	int bias_step;
	bool deep;
};

/*
 * Returns v in 16 bits, or NULL if some value needs more; sets *most to the greatest
 * magnitude.
 */
static const int16_t *
narrow(struct tosa_run *r, int k, const int32_t *v, int64_t *most)
{
	int64_t n = tosa_elements(tosa_in(r->g, r->op, k));
	int16_t *p = anew(r->a, int16_t, (size_t)n);
	int32_t least = 0, greatest = 0;
	for (int64_t i = 0; i < n; i++) {
		least = v[i] < least ? v[i] : least;
		greatest = v[i] > greatest ? v[i] : greatest;
		p[i] = (int16_t)v[i];
	}
	*most = greatest > -(int64_t)least ? greatest : -(int64_t)least;
	return *most <= INT16_MAX ? p : NULL;
}

static void
narrow_both(struct tosa_run *r, struct conv *c)
{
	int64_t v, weight;
	const int16_t *short_v = narrow(r, 0, c->v, &v);
	const int16_t *short_weight = narrow(r, 1, c->weight, &weight);
	if (!short_v || !short_weight ||
	    (v && weight && c->x->dim[3] > INT32_MAX / (v * weight)))
		return;
	c->short_v = short_v;
	c->short_weight = short_weight;
}

static struct conv
conv_of(struct tosa_run *r)
{
	struct conv c = { .x = tosa_in(r->g, r->op, 0), .w = tosa_in(r->g, r->op, 1),
			  .o = tosa_out(r->g, r->op), .k = tosa_window_of(r->g, r->op),
			  .bias = r->in[2],
			  .bias_step = tosa_elements(tosa_in(r->g, r->op, 2)) > 1,
			  .deep = r->op->code == TOSA_DEPTHWISE_CONV2D };
	c.v = minus_zero_point(r, 0, tosa_zero_of(r->g, r->op, 3));
	c.weight = minus_zero_point(r, 1, tosa_zero_of(r->g, r->op, 4));
	if (!c.deep)
		narrow_both(r, &c);
	return c;
}

/*
 * Returns the sum of products of n channels: inputs from `at` on, weights from `from`
 * on.
 */
static int64_t
dot(const struct conv *c, int64_t at, int64_t from, int32_t n)
{
	int64_t sum = 0;
	int32_t short_sum = 0;
	if (!c->short_v) {
		for (int32_t i = 0; i < n; i++)
			sum += (int64_t)c->v[at + i] * c->weight[from + i];
		return sum;
	}
	const int16_t *v = c->short_v + at, *w = c->short_weight + from;
	for (int32_t i = 0; i < n; i++)
		short_sum += v[i] * w[i];
	return short_sum;
}

/*
 * Adds the products of one tap, with the input channels from `at` on, to all channels
 * of one result.
 */
static void
add_tap(const struct conv *c, int32_t ky, int32_t kx, int64_t at, int64_t *out)
{
	int32_t channels = c->x->dim[3], outs = c->o->dim[3];
	if (c->deep) {
		int32_t m = c->w->dim[3];
		const int32_t *v = c->v + at;
		const int32_t *w =
		    c->weight + ((int64_t)ky * c->w->dim[1] + kx) * channels * m;
		for (int32_t o = 0; o < outs; o++)
			out[o] += (int64_t)v[o / m] * w[o];
		return;
	}
	for (int32_t o = 0; o < outs; o++)
		out[o] += dot(c, at, (((int64_t)o * c->k.kernel[0] + ky) *
				      c->k.kernel[1] + kx) * channels, channels);
}

static void
fill_bias(const struct conv *c, int64_t *out, int64_t n)
{
	int32_t outs = c->o->dim[3];
	for (int64_t i = 0; i < n; i++)
		out[i] = c->bias[i % outs * c->bias_step];
}

void
tosa_run_conv(struct tosa_run *r)
{
	struct conv c = conv_of(r);
	int32_t ih = c.x->dim[1], iw = c.x->dim[2], oh = c.o->dim[1], ow = c.o->dim[2];
	int64_t n = tosa_elements(c.o);
	fill_bias(&c, r->out, n);
	for (int64_t p = 0; p < n / c.o->dim[3]; p++) {
		int64_t b = p / ow / oh;
		int32_t y0 = (int32_t)(p / ow % oh) * c.k.stride[0] - c.k.before[0];
		int32_t x0 = (int32_t)(p % ow) * c.k.stride[1] - c.k.before[1];
		for (int32_t ky = 0; ky < c.k.kernel[0]; ky++) {
			int32_t y = y0 + ky * c.k.dilation[0];
			for (int32_t kx = 0; y >= 0 && y < ih && kx < c.k.kernel[1]; kx++) {
				int32_t x = x0 + kx * c.k.dilation[1];
				if (x >= 0 && x < iw)
					add_tap(&c, ky, kx,
						((b * ih + y) * iw + x) * c.x->dim[3],
						r->out + p * c.o->dim[3]);
			}
		}
	}
	check_sums(r, c.o->type, r->out, n);
}

void
tosa_run_transpose_conv(struct tosa_run *r)
{
	struct conv c = conv_of(r);
	int32_t iw = c.x->dim[2], ih = c.x->dim[1], oh = c.o->dim[1], ow = c.o->dim[2];
	int64_t n = tosa_elements(c.o);
	fill_bias(&c, r->out, n);
	for (int64_t p = 0; p < tosa_elements(c.x) / c.x->dim[3]; p++) {
		int64_t b = p / iw / ih;
		int64_t y0 = p / iw % ih * c.k.stride[0] + c.k.before[0];
		int64_t x0 = p % iw * c.k.stride[1] + c.k.before[1];
		for (int32_t ky = 0; ky < c.k.kernel[0]; ky++)
			for (int32_t kx = 0; kx < c.k.kernel[1]; kx++) {
				int64_t y = y0 + ky, x = x0 + kx;
				if (y >= 0 && y < oh && x >= 0 && x < ow)
					add_tap(&c, ky, kx, p * c.x->dim[3],
						r->out + ((b * oh + y) * ow + x) *
							     c.o->dim[3]);
			}
	}
	check_sums(r, c.o->type, r->out, n);
}

void
tosa_run_matmul(struct tosa_run *r)
{
	const struct tosa_tensor *a = tosa_in(r->g, r->op, 0), *b = tosa_in(r->g, r->op, 1);
	const struct tosa_tensor *o = tosa_out(r->g, r->op);
	const int32_t *x = minus_zero_point(r, 0, tosa_zero_of(r->g, r->op, 2));
	const int32_t *y = minus_zero_point(r, 1, tosa_zero_of(r->g, r->op, 3));
	int32_t depth = a->dim[2], cols = b->dim[2], rows = a->dim[1];
	for (int64_t p = 0; p < (int64_t)a->dim[0] * rows; p++) {
		const int32_t *matrix = y + p / rows * depth * cols;
		int64_t *out = r->out + p * cols;
		for (int32_t w = 0; w < cols; w++)
			out[w] = 0;
		for (int32_t k = 0; k < depth; k++)
			for (int32_t w = 0; w < cols; w++)
				out[w] += (int64_t)x[p * depth + k] *
					  matrix[(int64_t)k * cols + w];
	}
	check_sums(r, o->type, r->out, tosa_elements(o));
}

/* ---- pools ------------------------------------------------------------------------ */

/*
 * Computes the sum or maximum over the window of result (y, x, c) of batch b; returns
 * the number of elements.
 */
static int64_t
pool_window(const struct tosa_run *r, const struct tosa_window *k, bool max, const int64_t *at,
     int64_t *value)
{
	const struct tosa_tensor *x = tosa_in(r->g, r->op, 0);
	int64_t n = 0, v = 0;
	for (int32_t ky = 0; ky < k->kernel[0]; ky++) {
		int64_t iy = at[1] * k->stride[0] - k->before[0] + ky;
		for (int32_t kx = 0; iy >= 0 && iy < x->dim[1] && kx < k->kernel[1]; kx++) {
			int64_t ix = at[2] * k->stride[1] - k->before[1] + kx;
			if (ix < 0 || ix >= x->dim[2])
				continue;
			int64_t e = r->in[0][((at[0] * x->dim[1] + iy) * x->dim[2] + ix) *
						 x->dim[3] + at[3]];
			v = !max ? v + e : !n || e > v ? e : v;
			n++;
		}
	}
	*value = v;
	return n;
}

static void
run_pool(struct tosa_run *r, bool max)
{
	const struct tosa_tensor *o = tosa_out(r->g, r->op);
	struct tosa_window k = tosa_window_of(r->g, r->op);
	int64_t zi = max ? 0 : tosa_zero_of(r->g, r->op, 1);
	int64_t zo = max ? 0 : tosa_zero_of(r->g, r->op, 2);
	int64_t lo = tosa_least(o->type, false), hi = tosa_most(o->type, false);
	for (int64_t i = 0; i < tosa_elements(o); i++) {
		int64_t at[4] = { i / o->dim[3] / o->dim[2] / o->dim[1],
				  i / o->dim[3] / o->dim[2] % o->dim[1],
				  i / o->dim[3] % o->dim[2], i % o->dim[3] };
		int64_t v, n = pool_window(r, &k, max, at, &v), m, s;
		if (!n) { /* the window contains padding only */
			r->out[i] = max ? lo : zo;
			continue;
		}
		if (!max) {
			tosa_reciprocal(n, &m, &s);
			v = tosa_scale(v - n * zi, m, s, false) + zo;
		}
		r->out[i] = clamp_i64(v, lo, hi);
	}
}

void
tosa_run_avg_pool(struct tosa_run *r)
{
	run_pool(r, false);
}

void
tosa_run_max_pool(struct tosa_run *r)
{
	run_pool(r, true);
}
