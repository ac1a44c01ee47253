/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares random elementwise operators, pools and reductions with the rules of
 * nputools-lowering(7) 3.3 and 3.4, computed in numbers of 64 and 128 bits.
 */
#include "rules.h"

#include "tflite/fields.h"

enum { MOST_OUT = 1024 };

/* quantization of operands and result */
struct units {
	double s1, s2, so; /* float32 each */
	int64_t z1, z2, zo;
	int type;
};

static float
f32(double v)
{
	return (float)v;
}

/* ---- of two tensors ------------------------------------------------------------ */

/* the sum (SUB: the difference) of both in units of T / 2^L, T = 2 max(s1, s2) */
static int64_t
together(const struct units *u, int64_t x, int64_t y, int bits, bool narrow, int sign)
{
	double t = 2 * (u->s1 > u->s2 ? u->s1 : u->s2);
	double r1 = narrow ? (double)f32(u->s1 / t) : u->s1 / t;
	double r2 = narrow ? (double)f32(u->s2 / t) : u->s2 / t;
	int64_t unit = INT64_C(1) << bits;
	return rule_mbqm((x - u->z1) * unit, r1) + sign * rule_mbqm((y - u->z2) * unit, r2);
}

static int64_t
rule_add(const struct units *u, int64_t x, int64_t y)
{
	int bits = u->type == TFL_INT16 ? 15 : 20;
	double t = 2 * (u->s1 > u->s2 ? u->s1 : u->s2);
	return rule_mbqm(together(u, x, y, bits, false, 1), t / (ldexp(1, bits) * u->so)) +
	       u->zo;
}

static int64_t
rule_sub(const struct units *u, int64_t x, int64_t y)
{
	int bits = u->type == TFL_INT16 ? 15 : 20;
	double t = 2 * (u->s1 > u->s2 ? u->s1 : u->s2);
	return rule_mbqm(together(u, x, y, bits, true, -1),
			 (double)f32(t / (double)f32(ldexp(1, bits) * u->so))) + u->zo;
}

static int64_t
rule_mul(const struct units *u, int64_t x, int64_t y)
{
	return rule_mbqm((x - u->z1) * (y - u->z2), u->s1 * u->s2 / u->so) + u->zo;
}

static int64_t
rule_squared_difference(const struct units *u, int64_t x, int64_t y)
{
	int bits = u->type == TFL_INT16 ? 0 : 7;
	double t = 2 * (u->s1 > u->s2 ? u->s1 : u->s2);
	int64_t d = together(u, x, y, bits, false, -1);
	return rule_mbqm(d * d, t * t / (ldexp(1, 2 * bits) * u->so)) + u->zo;
}

static int64_t
rule_prelu(const struct units *u, int64_t x, int64_t alpha)
{
	int64_t v = x - u->z1;
	v = v < 0 ? rule_mbqm(v * (alpha - u->z2), u->s1 * u->s2 / u->so)
		  : rule_mbqm(v, u->s1 / u->so);
	return v + u->zo;
}

static int64_t
rule_maximum(const struct units *u, int64_t x, int64_t y)
{
	(void)u;
	return x > y ? x : y;
}

static int64_t
rule_minimum(const struct units *u, int64_t x, int64_t y)
{
	(void)u;
	return x < y ? x : y;
}

struct two {
	int code;
	int64_t (*rule)(const struct units *u, int64_t x, int64_t y);
	const struct fb_table *table; /* of its options, with an activation */
	int activation;
	bool equal, narrow; /* equal: one quantization; narrow: only 8 bits */
};

static const struct two twos[] = {
	{ .code = TFL_ADD, .rule = rule_add, .table = &fb_AddOptions,
	  .activation = FB_AddOptions_fused_activation_function },
	{ .code = TFL_SUB, .rule = rule_sub, .table = &fb_SubOptions,
	  .activation = FB_SubOptions_fused_activation_function },
	{ .code = TFL_MUL, .rule = rule_mul, .table = &fb_MulOptions,
	  .activation = FB_MulOptions_fused_activation_function },
	{ .code = TFL_SQUARED_DIFFERENCE, .rule = rule_squared_difference },
	{ .code = TFL_PRELU, .rule = rule_prelu, .narrow = true },
	{ .code = TFL_MAXIMUM, .rule = rule_maximum, .equal = true },
	{ .code = TFL_MINIMUM, .rule = rule_minimum, .equal = true },
};

/* the element of tensor i that corresponds to element k of the output, of 4
 * dimensions */
static int64_t
under(const struct bench *b, int i, int64_t k)
{
	const int32_t *dim = b->t[i].dim, *out = b->t[b->n - 1].dim;
	int64_t at = 0, step = 1;
	for (int d = 3; d >= 0; d--) {
		if (dim[d] > 1)
			at += k % out[d] * step;
		k /= out[d];
		step *= dim[d];
	}
	return at;
}

static void
of_two(const struct two *t)
{
	static const int acts[] = { TFL_ACT_NONE, TFL_ACT_RELU, TFL_ACT_RELU6,
				    TFL_ACT_RELU_N1_TO_1 };
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16 };
	struct bench b = { 0 };
	int64_t want[MOST_OUT];
	int act = t->table ? acts[draw() % 4] : TFL_ACT_NONE;
	struct units u = { .type = types[draw() % (t->narrow ? 2 : 3)] };
	float s1 = draw_scale(-4), s2 = t->equal ? s1 : draw_scale(-4 - (int)draw() % 3);
	float so = t->equal ? s1 : draw_scale(-4);
	if (t->code == TFL_SQUARED_DIFFERENCE || t->code == TFL_MUL)
		so *= u.type == TFL_INT16 ? 1024 : 4;
	int64_t z1 = draw_zero(u.type), z2 = t->equal ? z1 : draw_zero(u.type);
	int64_t zo = t->equal ? z1 : draw_zero(u.type);
	int32_t dim[4] = { (int32_t)draw_in(1, 2), (int32_t)draw_in(1, 5),
			   (int32_t)draw_in(1, 5), (int32_t)draw_in(1, 9) };
	int32_t other[4] = { dim[0], dim[1], dim[2], dim[3] };
	if (draw() % 2)
		other[draw() % 4] = 1;
	drawn_map(&b, u.type, dim, s1, z1);
	drawn_map(&b, u.type, other, s2, z2);
	bench_add(&b, u.type, dim, so, zo);
	if (t->table)
		bench_options(&b, t->table,
			      &(struct bench_option){ .slot = t->activation, .v = act }, 1);
	u = (struct units){ .s1 = (double)s1, .s2 = (double)s2, .so = (double)so,
			    .z1 = z1, .z2 = z2, .zo = zo, .type = u.type };
	for (int64_t k = 0; k < count_of(&b, 2); k++)
		want[k] = rule_clamp(t->rule(&u, get(&b, 0, k), get(&b, 1, under(&b, 1, k))),
				     u.type, act, so, zo);
	hold(&b, t->code, "drawn", want);
}

/* ---- of one -------------------------------------------------------------------- */

static int64_t
rule_quantize(const struct units *u, int64_t x)
{
	return rule_mbqm(x - u->z1, u->s1 / u->so) + u->zo;
}

static double
narrow_ratio(const struct units *u)
{
	return (double)f32(u->s1 / u->so);
}

static int64_t
rule_relu(const struct units *u, int64_t x)
{
	int64_t y = rule_mbqm(x - u->z1, narrow_ratio(u)) + u->zo;
	return y < u->zo ? u->zo : y;
}

static int64_t
rule_abs(const struct units *u, int64_t x)
{
	int64_t v = x < u->z1 ? u->z1 - x : x - u->z1;
	return rule_mbqm(v, narrow_ratio(u)) + u->zo;
}

static int64_t
rule_neg(const struct units *u, int64_t x)
{
	return u->zo - (x - u->z1);
}

static const float alpha = 0.3f;

static int64_t
rule_leaky(const struct units *u, int64_t x)
{
	int64_t v = x - u->z1;
	float below = (float)u->s1 * alpha / (float)u->so;
	return rule_mbqm(v, v < 0 ? (double)below : narrow_ratio(u)) + u->zo;
}

struct one {
	int code;
	int64_t (*rule)(const struct units *u, int64_t x);
	bool equal, other; /* other: the result may have another type */
};

static const struct one ones[] = {
	{ .code = TFL_QUANTIZE, .rule = rule_quantize, .other = true },
	{ .code = TFL_RELU, .rule = rule_relu },
	{ .code = TFL_ABS, .rule = rule_abs },
	{ .code = TFL_NEG, .rule = rule_neg, .equal = true },
	{ .code = TFL_LEAKY_RELU, .rule = rule_leaky },
};

static void
of_one(const struct one *o)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16 };
	struct bench b = { 0 };
	int64_t want[MOST_OUT];
	int type = types[draw() % 3], to = o->other ? types[draw() % 3] : type;
	float s1 = draw_scale(-4), so = o->equal ? s1 : draw_scale(-5 + (int)draw() % 3);
	int64_t z1 = draw_zero(type), zo = o->equal ? z1 : draw_zero(to);
	int32_t dim[4] = { (int32_t)draw_in(1, 300) };
	drawn_map(&b, type, dim, s1, z1);
	bench_add(&b, to, dim, so, zo);
	if (o->code == TFL_LEAKY_RELU)
		bench_options(&b, &fb_LeakyReluOptions,
			      &(struct bench_option){ .slot = FB_LeakyReluOptions_alpha,
						      .v = (double)alpha,
						      .is_float = true }, 1);
	struct units u = { .s1 = (double)s1, .so = (double)so, .z1 = z1, .zo = zo,
			   .type = type };
	for (int64_t k = 0; k < count_of(&b, 1); k++)
		want[k] = rule_clamp(o->rule(&u, get(&b, 0, k)), to, TFL_ACT_NONE, so, zo);
	hold(&b, o->code, "drawn", want);
}

/* ---- pools --------------------------------------------------------------------- */

struct pool {
	struct bench b;
	int32_t in[2], kernel[2], stride[2], out[2], pad[2], depth;
	bool max;
};

/* sum / n to nearest, halves away from zero */
static int64_t
mean_away(int64_t sum, int64_t n)
{
	int64_t size = sum < 0 ? -sum : sum;
	int64_t near = (2 * size + n) / (2 * n);
	return sum < 0 ? -near : near;
}

/* over the positions inside the input */
static int64_t
pooled(const struct pool *p, int32_t oy, int32_t ox, int32_t c)
{
	int64_t sum = 0, most = INT64_MIN, n = 0;
	for (int32_t iy = 0; iy < p->in[0]; iy++)
		for (int32_t ix = 0; ix < p->in[1]; ix++) {
			int32_t ky = iy + p->pad[0] - oy * p->stride[0];
			int32_t kx = ix + p->pad[1] - ox * p->stride[1];
			if (ky < 0 || kx < 0 || ky >= p->kernel[0] || kx >= p->kernel[1])
				continue;
			int64_t v = get(&p->b, 0, ((int64_t)iy * p->in[1] + ix) * p->depth + c);
			sum += v;
			most = v > most ? v : most;
			n++;
		}
	return p->max ? most : mean_away(sum, n);
}

static void
pool(void)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16 };
	struct pool p = { .max = draw() % 2, .depth = (int32_t)draw_in(1, 9) };
	int64_t want[MOST_OUT];
	int type = types[draw() % 3], padding = (int)draw_in(TFL_SAME, TFL_VALID);
	int act = draw() % 2 ? TFL_ACT_RELU6 : TFL_ACT_NONE;
	float scale = draw_scale(type == TFL_INT16 ? -12 : -4);
	int64_t zero = draw_zero(type), k = 0;
	for (int a = 0; a < 2; a++) {
		p.kernel[a] = (int32_t)draw_in(1, 5);
		p.stride[a] = (int32_t)draw_in(1, 3);
		p.in[a] = p.kernel[a] + (int32_t)draw_in(0, 4);
		p.out[a] = (padding == TFL_SAME ? p.in[a] - 1 : p.in[a] - p.kernel[a]) /
			   p.stride[a] + 1;
		int32_t lack = (p.out[a] - 1) * p.stride[a] + p.kernel[a] - p.in[a];
		p.pad[a] = padding == TFL_SAME && lack > 0 ? lack / 2 : 0;
	}
	drawn_map(&p.b, type, (int32_t[4]){ 1, p.in[0], p.in[1], p.depth }, scale, zero);
	bench_add(&p.b, type, (int32_t[4]){ 1, p.out[0], p.out[1], p.depth }, scale, zero);
	struct bench_option o[] = {
		{ .slot = FB_Pool2DOptions_padding, .v = padding },
		{ .slot = FB_Pool2DOptions_stride_w, .v = p.stride[1] },
		{ .slot = FB_Pool2DOptions_stride_h, .v = p.stride[0] },
		{ .slot = FB_Pool2DOptions_filter_width, .v = p.kernel[1] },
		{ .slot = FB_Pool2DOptions_filter_height, .v = p.kernel[0] },
		{ .slot = FB_Pool2DOptions_fused_activation_function, .v = act },
	};
	bench_options(&p.b, &fb_Pool2DOptions, o, 6);
	for (int32_t y = 0; y < p.out[0]; y++)
		for (int32_t x = 0; x < p.out[1]; x++)
			for (int32_t c = 0; c < p.depth; c++)
				want[k++] = rule_clamp(pooled(&p, y, x, c), type, act, scale,
						       zero);
	hold(&p.b, p.max ? TFL_MAX_POOL_2D : TFL_AVERAGE_POOL_2D, "drawn", want);
}

/* ---- reductions ---------------------------------------------------------------- */

/*
 * the mean's multiplier: (M << sh) / n of nputools-lowering(7) 3.3, rounded down, which
 * may be below 2^30
 */
static int64_t
rule_mean(int64_t sum, int64_t n, double r)
{
	struct rule_mult q = rule_mult(r);
	int shift = 0;
	while (shift < 32 && INT64_C(2) << shift <= n)
		shift++;
	shift = shift < 31 + q.e ? shift : 31 + q.e;
	q.m = (int64_t)rule_floor_div(q.m * rule_power(shift), n);
	q.e -= shift;
	return rule_scaled(sum, q);
}

static void
reduce(int code)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16 };
	struct bench b = { 0 };
	int64_t want[MOST_OUT];
	int type = types[draw() % 3];
	bool same = code == TFL_REDUCE_MAX;
	int32_t h = (int32_t)draw_in(1, 7), w = (int32_t)draw_in(1, 9), c = (int32_t)draw_in(1, 8);
	int64_t n = (int64_t)h * w;
	float s1 = draw_scale(-4), so = same ? s1 : draw_scale(-4);
	if (code == TFL_SUM)
		so *= (float)n;
	int64_t z1 = draw_zero(type), zo = same ? z1 : draw_zero(type);
	drawn_map(&b, type, (int32_t[4]){ 1, h, w, c }, s1, z1);
	bench_add(&b, TFL_INT32, (int32_t[4]){ 2 }, 0, 0);
	put(&b, 1, 0, 1);
	put(&b, 1, 1, 2);
	bench_add(&b, type, (int32_t[4]){ 1, c }, so, zo);
	for (int32_t i = 0; i < c; i++) {
		int64_t sum = 0, most = INT64_MIN;
		for (int64_t k = 0; k < n; k++) {
			int64_t v = get(&b, 0, k * c + i);
			sum += v - z1;
			most = v > most ? v : most;
		}
		double r = (double)s1 / (double)so;
		int64_t y = code == TFL_MEAN ? rule_mean(sum, n, r)
			    : code == TFL_SUM ? rule_mbqm(sum, r)
					      : most - zo;
		want[i] = rule_clamp(y + zo, type, TFL_ACT_NONE, so, zo);
	}
	hold(&b, code, "over two axes", want);
}

int
main(void)
{
	for (int i = 0; i < 600; i++) {
		for (size_t k = 0; k < ARRAY_LEN(twos); k++)
			of_two(&twos[k]);
		for (size_t k = 0; k < ARRAY_LEN(ones); k++)
			of_one(&ones[k]);
		pool();
		reduce(TFL_MEAN);
		reduce(TFL_SUM);
		reduce(TFL_REDUCE_MAX);
	}
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
