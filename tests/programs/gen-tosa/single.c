/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single operators with any types, ranks and attributes that TOSA allows, also ones
 * that no quantizer writes.
 */
#include "gen.h"

#include "base/little_endian.h"

#include <string.h>

enum { LARGEST = 6000 }; /* elements */

static const int maps[] = { TOSA_INT8, TOSA_INT16 };
static const int words[] = { TOSA_INT8, TOSA_INT16, TOSA_INT32 };
static const int any[] = { TOSA_BOOL, TOSA_INT8, TOSA_INT16, TOSA_INT32 };

#define ONE_OF(g, v) ((v)[draw(g, sizeof(v) / sizeof(*(v)))])

static int64_t
most_of(int type)
{
	return type == TOSA_BOOL ? 1 : type == TOSA_INT8 ? 127 : type == TOSA_INT16 ? 32767
									    : 2000000000;
}

/* rank dimensions of up to `most`, with at most LARGEST elements */
static void
draw_dims(struct gen *g, int rank, int32_t most, int32_t *dim)
{
	int64_t n;
	do {
		n = 1;
		for (int i = 0; i < rank; i++)
			n *= dim[i] = draw(g, 4) ? between(g, 1, most) : 1;
	} while (n > LARGEST);
}

static int
random_input(struct gen *g, int type, int rank, int32_t *dim)
{
	draw_dims(g, rank, rank > 4 ? 5 : rank > 2 ? 11 : 60, dim);
	return gen_input(g, type, rank, dim);
}

static int
simple(struct gen *g, int code, int n, const int *in, int type, int rank,
       const int32_t *dim)
{
	return gen_op(g, code, 0, n, in, type, rank, dim);
}

static int64_t
some_zero(struct gen *g, int type)
{
	return type == TOSA_INT8 && draw(g, 2) ? between(g, -128, 127) : 0;
}

/* ---- RESCALE ---------------------------------------------------------------------- */

static int
scaled(struct gen *g, int x, int type, int channels, int shift)
{
	const struct gen_tensor t = g->tensor[x];
	bool wide = t.type != TOSA_INT48 && draw(g, 5);
	int mode = wide && draw(g, 3) == 0 ? TOSA_DOUBLE_ROUND : TOSA_SINGLE_ROUND;
	int32_t n = channels > 1 && draw(g, 2) ? channels : 1;
	int64_t m[1024], s[1024];
	for (int i = 0; i < n; i++) {
		m[i] = wide ? between(g, 1 << 30, INT32_MAX) : between(g, 1, 32767);
		s[i] = shift + between(g, -1, 2) - (wide ? 0 : 16);
		s[i] = s[i] < 2 ? 2 : s[i] > 62 ? 62 : s[i];
	}
	int in[5] = { x };
	in[1] = gen_const(g, wide ? TOSA_INT32 : TOSA_INT16, 1, &n, m);
	in[2] = gen_const(g, TOSA_INT8, 1, &n, s);
	int64_t zero = t.type == TOSA_INT8 ? some_zero(g, t.type) : 0;
	in[3] = gen_number(g, t.type, zero);
	zero = some_zero(g, type);
	in[4] = gen_number(g, type, zero);
	int64_t v[5] = { wide, mode, n > 1, 0, 0 };
	fbw_off a = gen_attribute(g, &fb_TosaRescale, 0, NULL, NULL, 5, v);
	return gen_op(g, TOSA_RESCALE, a, 5, in, type, t.rank, t.dim);
}

static void
draw_rescale(struct gen *g)
{
	int32_t dim[6];
	int rank = between(g, 1, 6), type = ONE_OF(g, words);
	int x = random_input(g, type, rank, dim);
	int shift = type == TOSA_INT32 ? between(g, 38, 56) : between(g, 29, 34);
	type = ONE_OF(g, words);
	(void)scaled(g, x, type, dim[rank - 1], shift);
}

/* sums of so many products become a map again, or are not changed */
static void
finish(struct gen *g, int sums, int type, int64_t products, int channels)
{
	int bits = 0;
	if (type == TOSA_INT8 && draw(g, 5) == 0)
		return;
	while (products >> bits)
		bits++;
	int out = type == TOSA_INT16 && draw(g, 3) ? TOSA_INT16 : TOSA_INT8;
	(void)scaled(g, sums, out, channels,
		     31 + (type == TOSA_INT8 ? 6 : out == TOSA_INT16 ? 6 : 14) + bits / 2);
}

/* ---- windows ---------------------------------------------------------------------- */

struct axis {
	int32_t in, k, s, d, before, after, out;
};

static struct axis
draw_conv_axis(struct gen *g)
{
	bool large = draw(g, 12) == 0;
	for (;;) {
		struct axis x = { .in = between(g, 1, large ? 150 : 14) };
		x.k = large ? between(g, 30, 90) : between(g, 1, 6);
		x.s = between(g, 1, 5);
		x.d = large ? 1 : between(g, 1, 4);
		x.before = between(g, 0, draw(g, 3) ? 3 : 9);
		x.after = between(g, 0, draw(g, 3) ? 3 : 9);
		int32_t room = x.in + x.before + x.after - ((x.k - 1) * x.d + 1);
		if (room < 0 || room % x.s)
			continue;
		x.out = room / x.s + 1;
		return x;
	}
}

static struct axis
draw_transposed_axis(struct gen *g)
{
	for (;;) {
		struct axis x = { .in = between(g, 1, 8) };
		x.k = between(g, 1, 6);
		x.s = between(g, 1, 5);
		x.before = between(g, -x.k + 1, 3);
		x.after = between(g, -x.k + 1, 3);
		x.out = (x.in - 1) * x.s + x.before + x.after + x.k;
		if (x.out > 0)
			return x;
	}
}

static void
draw_conv(struct gen *g)
{
	static const int codes[] = { TOSA_CONV2D, TOSA_DEPTHWISE_CONV2D,
				     TOSA_TRANSPOSE_CONV2D };
	int code = g->computed ? codes[draw(g, 2)] : ONE_OF(g, codes);
	int type = g->computed ? TOSA_INT8 : ONE_OF(g, maps);
	bool deep = code == TOSA_DEPTHWISE_CONV2D, trans = code == TOSA_TRANSPOSE_CONV2D;
	struct axis y = trans ? draw_transposed_axis(g) : draw_conv_axis(g);
	struct axis x = trans ? draw_transposed_axis(g) : draw_conv_axis(g);
	int32_t c = between(g, 1, 20), m = deep ? between(g, 1, 3) : 1, o;
	o = deep ? c * m : between(g, 1, 20);
	int32_t dim[4] = { between(g, 1, 3), y.in, x.in, c };
	int32_t wd[4] = { o, y.k, x.k, c }, deep_wd[4] = { y.k, x.k, c, m };
	int32_t out[4] = { dim[0], y.out, x.out, o }, nb = draw(g, 4) ? o : 1;
	int acc = type == TOSA_INT8 ? TOSA_INT32 : TOSA_INT48;
	int wt = g->computed || draw(g, 4) ? TOSA_INT8 : TOSA_INT4;
	int in[5] = { gen_input(g, type, 4, dim) };
	if (g->computed) {
		bool bias = draw(g, 2);
		int v = bias ? gen_input(g, TOSA_INT8, 1, &nb) : -1;
		in[1] = draw(g, 8) || !bias
			    ? gen_input(g, wt, 4, deep ? deep_wd : wd)
			    : random_const(g, wt, 4, deep ? deep_wd : wd, 127);
		in[2] = bias ? simple(g, TOSA_CAST, 1, &v, acc, 1, &nb)
			     : random_const(g, acc, 1, &nb, 100000);
	} else {
		in[1] = random_const(g, wt, 4, deep ? deep_wd : wd,
				     wt == TOSA_INT4 ? 7 : 127);
		in[2] = random_const(g, acc, 1, &nb, 100000);
	}
	int64_t zero = some_zero(g, type);
	in[3] = gen_number(g, type, zero);
	zero = type == TOSA_INT8 && wt == TOSA_INT8 && draw(g, 4) == 0 ? between(g, -128, 127)
								     : 0;
	in[4] = gen_number(g, wt, zero);
	int32_t pad[4] = { y.before, y.after, x.before, x.after };
	int32_t s[2] = { y.s, x.s }, d[2] = { y.d, x.d };
	const int32_t *list[3] = { pad, s, d };
	const int64_t v[2] = { draw(g, 2), acc };
	fbw_off a = gen_attribute(g, trans ? &fb_TosaTransposeConv : &fb_TosaConv,
				  trans ? 2 : 3, list, (int[]){ 4, 2, 2 }, 2, v);
	int r = gen_op(g, code, a, 5, in, acc, 4, out);
	finish(g, r, type, (int64_t)y.k * x.k * (deep ? 1 : c), o);
}

static void
draw_pool(struct gen *g)
{
	int type = ONE_OF(g, maps);
	bool average = draw(g, 2);
	struct axis v[2];
	for (int i = 0; i < 2; i++)
		do {
			v[i] = draw_conv_axis(g);
		} while (v[i].d > 1 || v[i].before >= v[i].k || v[i].after >= v[i].k);
	int32_t batch = between(g, 1, 3), c = between(g, 1, 20);
	int32_t dim[4] = { batch, v[0].in, v[1].in, c };
	int32_t out[4] = { dim[0], v[0].out, v[1].out, dim[3] };
	int32_t k[2] = { v[0].k, v[1].k }, s[2] = { v[0].s, v[1].s };
	int32_t pad[4] = { v[0].before, v[0].after, v[1].before, v[1].after };
	const int32_t *list[3] = { k, s, pad };
	fbw_off a = gen_attribute(g, &fb_TosaPool, 3, list, (int[]){ 2, 2, 4 }, 1,
				  (int64_t[]){ average ? TOSA_INT32 : 1 });
	int in[3] = { gen_input(g, type, 4, dim) };
	for (int i = 1; average && i < 3; i++) {
		int64_t zero = some_zero(g, type);
		in[i] = gen_number(g, type, zero);
	}
	(void)gen_op(g, average ? TOSA_AVG_POOL2D : TOSA_MAX_POOL2D, a, average ? 3 : 1, in,
		     type, 4, out);
}

static void
draw_matmul(struct gen *g)
{
	int type = ONE_OF(g, maps), acc = type == TOSA_INT8 ? TOSA_INT32 : TOSA_INT48;
	int32_t n = between(g, 1, 4), h = between(g, 1, 20), c = between(g, 1, 60);
	int32_t w = between(g, 1, 20), a[3] = { n, h, c }, b[3] = { n, c, w };
	int32_t out[3] = { n, h, w };
	int in[4] = { gen_input(g, type, 3, a) };
	in[1] = gen_input(g, type, 3, b);
	for (int i = 2; i < 4; i++) {
		int64_t zero = some_zero(g, type);
		in[i] = gen_number(g, type, zero);
	}
	int r = simple(g, TOSA_MATMUL, 4, in, acc, 3, out);
	finish(g, r, type, type == TOSA_INT16 ? c * 256 : c, 1);
}

/* scale, offset and border of an axis that divide exactly */
static void
draw_resize(struct gen *g)
{
	int type = ONE_OF(g, maps), mode = between(g, 1, 2);
	int32_t batch = between(g, 1, 2), c = between(g, 1, 12);
	int32_t dim[4] = { batch, 0, 0, c }, out[4] = { batch, 0, 0, c };
	int64_t scale[4], offset[2], border[2];
	for (int i = 0; i < 2;) {
		int64_t num = between(g, 1, draw(g, 2) ? 4 : 16);
		int64_t den = between(g, 1, draw(g, 2) ? 4 : 16);
		dim[1 + i] = between(g, 1, 12);
		offset[i] = between(g, (int32_t)-num, (int32_t)num);
		border[i] = between(g, (int32_t)-num, (int32_t)num - 1);
		int64_t room = (dim[1 + i] - 1) * num - offset[i] + border[i];
		if (room < 0 || room % den || den >= 16 * num || room / den > 30)
			continue;
		scale[2 * i] = num;
		scale[2 * i + 1] = den;
		out[1 + i] = (int32_t)(room / den) + 1;
		i++;
	}
	int in[4] = { gen_input(g, type, 4, dim) };
	in[1] = gen_shape(g, 4, scale);
	in[2] = gen_shape(g, 2, offset);
	in[3] = gen_shape(g, 2, border);
	int wide = type == TOSA_INT8 ? TOSA_INT32 : TOSA_INT48;
	fbw_off a = gen_attribute(g, &fb_TosaResize, 0, NULL, NULL, 1, (int64_t[]){ mode });
	int r = gen_op(g, TOSA_RESIZE, a, 4, in, mode == 1 ? type : wide, 4, out);
	int bits = 0;
	for (int64_t n = scale[0] * scale[2]; n > 1; n /= 2)
		bits++;
	if (mode == 2 && (type == TOSA_INT16 || draw(g, 3)))
		(void)scaled(g, r, type, 1, 31 + bits);
}

/* ---- elementwise ------------------------------------------------------------------- */

/* the other operand for a result of these dimensions: an input or a constant */
static int
operand(struct gen *g, int type, int rank, const int32_t *dim, int64_t most)
{
	int32_t own[6];
	for (int i = 0; i < rank; i++)
		own[i] = draw(g, 3) ? dim[i] : 1;
	if (draw(g, 2))
		return gen_input(g, type, rank, own);
	return random_const(g, type, rank, own, most);
}

static void
draw_binary(struct gen *g)
{
	static const struct {
		int code, type; /* UNKNOWN: any type of words */
		bool truth, shift;
	} kinds[] = {
		{ .code = TOSA_ADD, .type = TOSA_INT32 },
		{ .code = TOSA_SUB, .type = TOSA_INT32 },
		{ .code = TOSA_MAXIMUM, .type = TOSA_INT32 },
		{ .code = TOSA_MINIMUM, .type = TOSA_INT32 },
		{ .code = TOSA_BITWISE_AND },
		{ .code = TOSA_BITWISE_OR },
		{ .code = TOSA_BITWISE_XOR },
		{ .code = TOSA_LOGICAL_AND, .type = TOSA_BOOL },
		{ .code = TOSA_LOGICAL_OR, .type = TOSA_BOOL },
		{ .code = TOSA_LOGICAL_XOR, .type = TOSA_BOOL },
		{ .code = TOSA_EQUAL, .type = TOSA_INT32, .truth = true },
		{ .code = TOSA_GREATER, .type = TOSA_INT32, .truth = true },
		{ .code = TOSA_GREATER_EQUAL, .type = TOSA_INT32, .truth = true },
		{ .code = TOSA_LOGICAL_LEFT_SHIFT, .shift = true },
		{ .code = TOSA_LOGICAL_RIGHT_SHIFT, .shift = true },
		{ .code = TOSA_ARITHMETIC_RIGHT_SHIFT, .shift = true },
		{ .code = TOSA_MUL },
		{ .code = TOSA_INTDIV, .type = TOSA_INT32 },
	};
	unsigned k = draw(g, sizeof(kinds) / sizeof(*kinds));
	int code = kinds[k].code, rank = between(g, 1, 6), n = 2;
	int type = kinds[k].type ? kinds[k].type : ONE_OF(g, words);
	int32_t dim[6];
	int in[3] = { random_input(g, type, rank, dim) };
	if (kinds[k].shift) {
		int64_t by = between(g, 0, type == TOSA_INT8 ? 7 : type == TOSA_INT16 ? 15 : 31);
		int32_t one[6] = { 1, 1, 1, 1, 1, 1 };
		in[1] = gen_const(g, type, rank, one, &by);
	} else if (code == TOSA_INTDIV) {
		int64_t by = between(g, 1, 1000);
		by = draw(g, 2) ? by : -by;
		int32_t one[6] = { 1, 1, 1, 1, 1, 1 };
		in[1] = gen_const(g, type, rank, one, &by);
	} else {
		in[1] = operand(g, type, rank, dim, code == TOSA_MUL ? 100 : most_of(type));
	}
	fbw_off a = 0;
	if (code == TOSA_MUL) {
		int64_t shift = type == TOSA_INT32 ? between(g, 0, 40) : 0;
		in[n++] = gen_number(g, TOSA_INT8, shift);
	}
	if (code == TOSA_MAXIMUM || code == TOSA_MINIMUM)
		a = gen_attribute(g, &fb_TosaNan, 0, NULL, NULL, 1, (int64_t[]){ 1 });
	if (code == TOSA_ARITHMETIC_RIGHT_SHIFT)
		a = gen_attribute(g, &fb_TosaShift, 0, NULL, NULL, 1,
				  (int64_t[]){ draw(g, 2) });
	if (!kinds[k].shift && code != TOSA_INTDIV && draw(g, 2)) {
		int t = in[0];
		in[0] = in[1];
		in[1] = t;
	}
	(void)gen_op(g, code, a, n, in,
		     kinds[k].truth ? TOSA_BOOL : code == TOSA_MUL ? TOSA_INT32 : type, rank,
		     dim);
}

static void
draw_unary(struct gen *g)
{
	static const int codes[] = { TOSA_ABS, TOSA_CLZ, TOSA_BITWISE_NOT, TOSA_LOGICAL_NOT,
				     TOSA_NEGATE, TOSA_CAST, TOSA_IDENTITY };
	int code = ONE_OF(g, codes), rank = between(g, 1, 6), n = 1;
	int type = code == TOSA_ABS || code == TOSA_CLZ ? TOSA_INT32
		   : code == TOSA_LOGICAL_NOT		? TOSA_BOOL
		   : code == TOSA_CAST || code == TOSA_IDENTITY ? ONE_OF(g, any)
								: ONE_OF(g, words);
	int32_t dim[6];
	int in[3] = { random_input(g, type, rank, dim) }, to = type;
	if (code == TOSA_NEGATE)
		for (; n < 3; n++) {
			int64_t zero = some_zero(g, type);
			in[n] = gen_number(g, type, zero);
		}
	while (code == TOSA_CAST && to == type)
		to = ONE_OF(g, any);
	(void)simple(g, code, n, in, to, rank, dim);
}

static void
draw_select(struct gen *g)
{
	int type = ONE_OF(g, any), rank = between(g, 1, 6);
	int32_t dim[6], own[6];
	draw_dims(g, rank, rank > 4 ? 5 : rank > 2 ? 11 : 60, dim);
	for (int i = 0; i < rank; i++)
		own[i] = draw(g, 3) ? dim[i] : 1;
	int in[3] = { gen_input(g, TOSA_BOOL, rank, draw(g, 2) ? dim : own) };
	in[1] = gen_input(g, type, rank, dim);
	in[2] = operand(g, type, rank, dim, most_of(type));
	(void)simple(g, TOSA_SELECT, 3, in, type, rank, dim);
}

static void
draw_table(struct gen *g)
{
	int type = ONE_OF(g, maps), rank = between(g, 1, 6);
	int32_t dim[6], n = type == TOSA_INT8 ? 256 : 513;
	int in[2] = { random_input(g, type, rank, dim) };
	in[1] = random_const(g, type, 1, &n, type == TOSA_INT8 ? 127 : 16000);
	int r = simple(g, TOSA_TABLE, 2, in, type == TOSA_INT8 ? type : TOSA_INT32, rank, dim);
	if (type == TOSA_INT16 && draw(g, 2))
		(void)scaled(g, r, ONE_OF(g, maps), 1, 31 + 8);
}

static void
draw_clamp(struct gen *g)
{
	int type = ONE_OF(g, maps), rank = between(g, 1, 6);
	int32_t dim[6], a = between(g, -100, 100), b = between(g, a, 120);
	if (type == TOSA_INT16)
		a *= 250, b *= 250;
	int x = random_input(g, type, rank, dim);
	uint8_t lo[2], hi[2];
	tosa_store(type, lo, 0, a);
	tosa_store(type, hi, 0, b);
	size_t n = type == TOSA_INT8 ? 1 : 2;
	fbw_off low = fbw_bytes(g->w, lo, n, 8), high = fbw_bytes(g->w, hi, n, 8);
	fbw_table(g->w, &fb_TosaClamp);
	fbw_ref(g->w, FB_TosaClamp_min_val, low);
	fbw_ref(g->w, FB_TosaClamp_max_val, high);
	fbw_int(g->w, FB_TosaClamp_nan_mode, 1);
	fbw_off t = fbw_end(g->w);
	(void)gen_op(g, TOSA_CLAMP, t, 1, &x, type, rank, dim);
}

static void
draw_reduce(struct gen *g)
{
	static const int codes[] = { TOSA_REDUCE_MAX, TOSA_REDUCE_MIN, TOSA_REDUCE_SUM,
				     TOSA_REDUCE_ALL, TOSA_REDUCE_ANY, TOSA_ARGMAX };
	int code = ONE_OF(g, codes), rank = between(g, 1, 6);
	int type = code == TOSA_REDUCE_SUM				   ? TOSA_INT32
		   : code == TOSA_REDUCE_ALL || code == TOSA_REDUCE_ANY ? TOSA_BOOL
		   : code == TOSA_ARGMAX				   ? ONE_OF(g, maps)
									   : ONE_OF(g, words);
	int32_t dim[6];
	int x = random_input(g, type, rank, dim);
	int64_t axis = draw(g, (uint32_t)rank), v[2] = { axis, 1 };
	bool nan = code == TOSA_REDUCE_MAX || code == TOSA_REDUCE_MIN || code == TOSA_ARGMAX;
	fbw_off a = gen_attribute(g, &fb_TosaAxis, 0, NULL, NULL, 1 + nan, v);
	dim[axis] = 1;
	for (int i = (int)axis; code == TOSA_ARGMAX && i + 1 < rank; i++)
		dim[i] = g->tensor[x].dim[i + 1];
	bool argmax = code == TOSA_ARGMAX;
	(void)gen_op(g, code, a, 1, &x, argmax ? TOSA_INT32 : type, rank - argmax, dim);
}

/* ---- movement ------------------------------------------------------------------------ */

static void
draw_gather(struct gen *g)
{
	bool scatter = draw(g, 2);
	int type = ONE_OF(g, words);
	int32_t n = between(g, 1, 3), k = between(g, 1, 12), c = between(g, 1, 20);
	int32_t w = scatter ? between(g, 1, k) : between(g, 1, 15);
	int32_t v[3] = { n, k, c }, at[2] = { n, w }, part[3] = { n, w, c };
	int64_t index[64];
	for (int i = 0; i < n * w; i++)
		index[i] = between(g, 0, k - 1);
	for (int b = 0; scatter && b < n; b++) { /* each place once */
		int first = between(g, 0, k - 1);
		for (int i = 0; i < w; i++)
			index[b * w + i] = (first + i) % k;
	}
	int in[3] = { gen_input(g, type, 3, v) };
	in[1] = gen_const(g, TOSA_INT32, 2, at, index);
	if (scatter)
		in[2] = gen_input(g, type, 3, part);
	(void)simple(g, scatter ? TOSA_SCATTER : TOSA_GATHER, scatter ? 3 : 2, in, type, 3,
		     scatter ? v : part);
}

static void
draw_tile(struct gen *g)
{
	int type = ONE_OF(g, any), rank = between(g, 1, 6);
	int32_t dim[6];
	int64_t times[6];
	int in[2] = { random_input(g, type, rank, dim) };
	for (int i = 0; i < rank; i++) {
		times[i] = draw(g, 3) ? 1 : between(g, 1, 3);
		dim[i] *= (int32_t)times[i];
	}
	in[1] = gen_shape(g, rank, times);
	(void)simple(g, TOSA_TILE, 2, in, type, rank, dim);
}

static void
draw_reverse(struct gen *g)
{
	int type = ONE_OF(g, any), rank = between(g, 1, 6);
	int32_t dim[6];
	int x = random_input(g, type, rank, dim);
	int64_t axis = draw(g, (uint32_t)rank);
	fbw_off a = gen_attribute(g, &fb_TosaAxis, 0, NULL, NULL, 1, &axis);
	(void)gen_op(g, TOSA_REVERSE, a, 1, &x, type, rank, dim);
}

void
draw_order(struct gen *g, int n, int32_t *perm)
{
	for (int i = 0; i < n; i++)
		perm[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = (int)draw(g, (uint32_t)i + 1), v = perm[i];
		perm[i] = perm[k];
		perm[k] = v;
	}
}

static void
draw_transpose(struct gen *g)
{
	int type = ONE_OF(g, any), rank = between(g, 1, 6);
	int32_t dim[6], perm[6], out[6];
	int x = random_input(g, type, rank, dim);
	draw_order(g, rank, perm);
	for (int i = 0; i < rank; i++)
		out[i] = dim[perm[i]];
	const int32_t *list[1] = { perm };
	fbw_off a = gen_attribute(g, &fb_TosaPerms, 1, list, &rank, 0, NULL);
	(void)gen_op(g, TOSA_TRANSPOSE, a, 1, &x, type, rank, out);
}

static void
draw_pad(struct gen *g)
{
	int type = ONE_OF(g, any), rank = between(g, 1, 6);
	int32_t dim[6];
	int64_t v[12];
	int in[3] = { random_input(g, type, rank, dim) };
	for (int i = 0; i < 2 * rank; i++) {
		v[i] = draw(g, 2) ? 0 : between(g, 0, rank > 3 ? 2 : 7);
		dim[i / 2] += (int32_t)v[i];
	}
	in[1] = gen_shape(g, 2 * rank, v);
	int64_t value = type == TOSA_BOOL ? between(g, 0, 1) : between(g, -128, 127);
	value *= type == TOSA_INT8 || type == TOSA_BOOL ? 1 : 99;
	in[2] = gen_number(g, type, value);
	(void)simple(g, TOSA_PAD, 3, in, type, rank, dim);
}

static void
draw_concat(struct gen *g)
{
	int type = ONE_OF(g, any), rank = between(g, 1, 6), n = between(g, 1, 4), in[4];
	int64_t axis = draw(g, (uint32_t)rank);
	int32_t dim[6], sum = 0;
	draw_dims(g, rank, rank > 4 ? 4 : 9, dim);
	for (int i = 0; i < n; i++) {
		dim[axis] = between(g, 1, 5);
		sum += dim[axis];
		in[i] = draw(g, 4) ? gen_input(g, type, rank, dim)
				   : random_const(g, type, rank, dim, type == TOSA_BOOL ? 0 : 100);
	}
	dim[axis] = sum;
	if (!g->n_in) /* at least one is not a constant */
		return draw_tile(g);
	fbw_off a = gen_attribute(g, &fb_TosaAxis, 0, NULL, NULL, 1, &axis);
	(void)gen_op(g, TOSA_CONCAT, a, n, in, type, rank, dim);
}

void
draw_single(struct gen *g)
{
	static void (*const one[])(struct gen *) = {
		draw_conv, draw_conv, draw_conv, draw_pool, draw_matmul, draw_resize,
		draw_binary, draw_binary, draw_binary, draw_unary, draw_select, draw_table,
		draw_clamp, draw_reduce, draw_reduce, draw_rescale, draw_rescale, draw_gather,
		draw_tile, draw_reverse, draw_transpose, draw_pad, draw_concat };
	g->minor = (int)draw(g, 2);
	one[draw(g, sizeof(one) / sizeof(*one))](g);
}

/* the smallest, the largest, or any value of a type */
static int64_t
whole_range(struct gen *g, int type)
{
	int64_t lo = tosa_least(type, false), hi = tosa_most(type, false);
	uint64_t bits = (uint64_t)draw(g, 1 << 16) << 32 | (uint64_t)draw(g, 1 << 16) << 16 |
			draw(g, 1 << 16);
	switch (draw(g, 4)) {
	case 0:
		return lo;
	case 1:
		return hi;
	default:
		return lo + (int64_t)(bits % (uint64_t)(hi - lo + 1));
	}
}

static int
clamped(struct gen *g, int x, int32_t most)
{
	const struct gen_tensor *t = &g->tensor[x];
	uint8_t lo[4], hi[4];
	store_le32(lo, (uint32_t)-most);
	store_le32(hi, (uint32_t)most);
	fbw_off l = fbw_bytes(g->w, lo, 4, 8), h = fbw_bytes(g->w, hi, 4, 8);
	fbw_table(g->w, &fb_TosaClamp);
	fbw_ref(g->w, FB_TosaClamp_min_val, l);
	fbw_ref(g->w, FB_TosaClamp_max_val, h);
	fbw_int(g->w, FB_TosaClamp_nan_mode, 1);
	return gen_op(g, TOSA_CLAMP, fbw_end(g->w), 1, &x, t->type, t->rank, t->dim);
}

/* without a shift: bits above 32 are lost, or CLAMPs keep the product within 32 bits */
static void
draw_product(struct gen *g)
{
	int rank = between(g, 1, 6), in[3];
	int32_t dim[6];
	in[0] = random_input(g, TOSA_INT32, rank, dim);
	in[1] = operand(g, TOSA_INT32, rank, dim, most_of(TOSA_INT32));
	in[2] = gen_number(g, TOSA_INT8, 0);
	if (draw(g, 2))
		for (int k = 0; k < 2; k++)
			in[k] = clamped(g, in[k], 46340); /* its square fits */
	(void)simple(g, TOSA_MUL, 3, in, TOSA_INT32, rank, dim);
}

void
draw_full(struct gen *g)
{
	static void (*const kinds[])(struct gen *) = {
		draw_single, draw_single, draw_single, draw_graph, draw_product };
	ONE_OF(g, kinds)(g);
	for (int k = 0; k < g->n_tensors; k++) {
		const struct gen_tensor *t = &g->tensor[k];
		int64_t n = t->data.p ? 1 : 0;
		for (int i = 0; i < t->rank; i++)
			n *= t->dim[i];
		if (t->type == TOSA_SHAPE || t->type == TOSA_INT4 || draw(g, 3))
			continue;
		for (int64_t i = 0; i < n; i++) /* this program's own memory */
			tosa_store(t->type, (uint8_t *)(uintptr_t)t->data.p, i,
				   whole_range(g, t->type));
	}
	for (int i = 0; i < g->n_ops; i++) { /* some scales are 0 */
		const struct bytes mult = g->tensor[g->op[i].in[1]].data;
		if (g->op[i].code == TOSA_RESCALE && draw(g, 4) == 0)
			memset((uint8_t *)(uintptr_t)mult.p, 0, mult.n);
	}
}

void
draw_computed(struct gen *g)
{
	g->computed = true;
	draw_conv(g);
}
