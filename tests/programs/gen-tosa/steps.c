/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators in the form that the quantizer writes: each step reads an 8- or 16-bit
 * tensor and makes one of the same type.
 */
#include "gen.h"

#include <string.h>

uint32_t
draw(struct gen *g, uint32_t n)
{
	uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) >> 33) % n;
}

int32_t
between(struct gen *g, int32_t lo, int32_t hi)
{
	return (int32_t)(lo + (int64_t)draw(g, (uint32_t)((int64_t)hi - lo + 1)));
}

static const struct gen_tensor *
at(const struct gen *g, int t)
{
	return &g->tensor[t];
}

static int64_t
elements(const struct gen_tensor *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->rank; i++)
		n *= t->dim[i];
	return n;
}

static int64_t
zero_of(struct gen *g, int type)
{
	return type == TOSA_INT8 ? between(g, -128, 127) : 0;
}

/* n multipliers of 31 or 15 bits, times 2^-shift */
static int
rescale(struct gen *g, int x, int type, int64_t in_zero, int64_t out_zero, int shift,
	int n, bool exact)
{
	const struct gen_tensor *t = at(g, x);
	bool wide = t->type != TOSA_INT48, twice = wide && draw(g, 4) == 0;
	int64_t *m = anew(g->a, int64_t, (size_t)n), *s = anew(g->a, int64_t, (size_t)n);
	int32_t dim = n;
	for (int i = 0; i < n; i++) {
		m[i] = wide ? INT64_C(1) << 30 : 1 << 14;
		if (!exact)
			m[i] += draw(g, (uint32_t)m[i]);
		s[i] = shift + (n > 1 ? (int)draw(g, 3) : 0);
	}
	int in[5] = { x };
	in[1] = gen_const(g, wide ? TOSA_INT32 : TOSA_INT16, 1, &dim, m);
	in[2] = gen_const(g, TOSA_INT8, 1, &dim, s);
	in[3] = gen_number(g, t->type, in_zero);
	in[4] = gen_number(g, type, out_zero);
	int64_t v[5] = { wide, twice ? TOSA_DOUBLE_ROUND : TOSA_SINGLE_ROUND, n > 1, 0, 0 };
	fbw_off a = gen_attribute(g, &fb_TosaRescale, 0, NULL, NULL, 5, v);
	return gen_op(g, TOSA_RESCALE, a, 5, in, type, t->rank, t->dim);
}

static int64_t
log2_of(int64_t n)
{
	int64_t k = 0;
	while (n >> (k + 1))
		k++;
	return k;
}

/* ---- with windows -------------------------------------------------------------------- */

/* kernel, stride, dilation and padding of an axis that divide exactly */
static int32_t
draw_axis(struct gen *g, int32_t in, int32_t *k, int32_t *s, int32_t *d, int32_t *before,
	  int32_t *after, bool pool)
{
	for (;;) {
		*k = between(g, 1, 4);
		*s = between(g, 1, 3);
		*d = pool ? 1 : between(g, 1, 2);
		int32_t most = g->unpadded ? 0 : pool ? *k - 1 : 2;
		*before = between(g, 0, most);
		*after = between(g, 0, most);
		int32_t room = in + *before + *after - ((*k - 1) * *d + 1);
		if (room >= 0 && room % *s == 0)
			return room / *s + 1;
	}
}

int
random_const(struct gen *g, int type, int rank, const int32_t *dim, int64_t most)
{
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= dim[i];
	int64_t *v = anew(g->a, int64_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		v[i] = between(g, (int32_t)-most, (int32_t)most);
	return gen_const(g, type, rank, dim, v);
}

int
draw_layer(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	bool deep = draw(g, 3) == 0;
	int32_t k[2], s[2], d[2], pad[4], c = t.dim[3], o = between(g, 1, 20);
	int32_t m = between(g, 1, 2), out[4] = { t.dim[0] };
	for (int i = 0; i < 2; i++)
		out[1 + i] = draw_axis(g, t.dim[1 + i], &k[i], &s[i], &d[i], &pad[2 * i],
				       &pad[2 * i + 1], false);
	out[3] = deep ? c * m : o;
	int32_t wd[4] = { o, k[0], k[1], c }, wdeep[4] = { k[0], k[1], c, m };
	int acc = t.type == TOSA_INT8 ? TOSA_INT32 : TOSA_INT48;
	int32_t nb = out[3];
	int in[5] = { x };
	in[1] = random_const(g, TOSA_INT8, 4, deep ? wdeep : wd, 127);
	in[2] = random_const(g, acc, 1, &nb, 5000);
	int64_t zero = g->zero ? *g->zero : zero_of(g, t.type);
	in[3] = gen_number(g, t.type, zero);
	in[4] = gen_number(g, TOSA_INT8, 0);
	const int32_t *list[3] = { pad, s, d };
	fbw_off a = gen_attribute(g, &fb_TosaConv, 3, list, (int[]){ 4, 2, 2 }, 2,
				  (int64_t[]){ 0, acc });
	int y = gen_op(g, deep ? TOSA_DEPTHWISE_CONV2D : TOSA_CONV2D, a, 5, in, acc, 4, out);
	int64_t taps = (int64_t)k[0] * k[1] * (deep ? 1 : c);
	int shift = (acc == TOSA_INT32 ? 37 : 21) + (int)log2_of(taps) / 2;
	zero = zero_of(g, t.type);
	int n = draw(g, 2) && nb > 1 ? nb : 1;
	return rescale(g, y, t.type, 0, zero, shift, n, false);
}

static int
pool(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	bool average = draw(g, 2);
	int32_t k[2], s[2], d, pad[4], out[4] = { t.dim[0], 0, 0, t.dim[3] };
	for (int i = 0; i < 2; i++)
		out[1 + i] = draw_axis(g, t.dim[1 + i], &k[i], &s[i], &d, &pad[2 * i],
				       &pad[2 * i + 1], true);
	const int32_t *list[3] = { k, s, pad };
	fbw_off a = gen_attribute(g, &fb_TosaPool, 3, list, (int[]){ 2, 2, 4 }, 1,
				  (int64_t[]){ average ? TOSA_INT32 : 1 });
	int in[3] = { x };
	for (int i = 1; average && i < 3; i++) {
		int64_t zero = zero_of(g, t.type);
		in[i] = gen_number(g, t.type, zero);
	}
	return gen_op(g, average ? TOSA_AVG_POOL2D : TOSA_MAX_POOL2D, a, average ? 3 : 1, in,
		      t.type, 4, out);
}

/* ---- elementwise ----------------------------------------------------------------------- */

/* x itself, or one element of each channel, or a constant */
static int
other_operand(struct gen *g, int x)
{
	const struct gen_tensor *t = at(g, x);
	int32_t dim[TOSA_MAX_RANK];
	for (int i = 0; i < t->rank; i++)
		dim[i] = draw(g, 2) ? 1 : t->dim[i];
	return draw(g, 2) ? x : random_const(g, t->type, t->rank, dim, 127);
}

static int
binary(struct gen *g, int x)
{
	static const int codes[] = { TOSA_ADD, TOSA_SUB, TOSA_MUL, TOSA_MAXIMUM,
				     TOSA_MINIMUM };
	int code = codes[draw(g, 5)], y = other_operand(g, x), type = at(g, x)->type;
	bool narrow = type == TOSA_INT8, mul = code == TOSA_MUL;
	bool extreme = code == TOSA_MAXIMUM || code == TOSA_MINIMUM;
	/* the larger scale is 2^19 or 2^11, the other up to 16 times smaller; or 1 */
	bool one = mul || (extreme && draw(g, 2));
	int top = one ? 30 : narrow ? 11 : 19, less = mul ? 0 : (int)draw(g, 4);
	int64_t za = zero_of(g, type), zb = zero_of(g, type), zo = zero_of(g, type);
	bool whole = mul || draw(g, 2);
	int a = rescale(g, x, TOSA_INT32, za, 0, top, 1, true);
	int b = rescale(g, y, TOSA_INT32, zb, 0, top + less, 1, whole);
	int in[3] = { draw(g, 2) ? a : b };
	in[1] = in[0] == a ? b : a;
	if (mul)
		in[2] = gen_number(g, TOSA_INT8, 0);
	fbw_off t = extreme
			? gen_attribute(g, &fb_TosaNan, 0, NULL, NULL, 1, (int64_t[]){ 1 })
			: 0;
	int r = gen_op(g, code, t, 2 + mul, in, TOSA_INT32, at(g, x)->rank, at(g, x)->dim);
	int shift = mul ? (narrow ? 37 : 46) : one ? 30 : narrow ? 50 : 43;
	return rescale(g, r, type, 0, zo, shift, 1, one && !mul && draw(g, 2));
}

static int
table(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	int32_t n = t.type == TOSA_INT8 ? 256 : 513;
	int in[2] = { x };
	in[1] = random_const(g, t.type, 1, &n, t.type == TOSA_INT8 ? 127 : 16000);
	int more = (int)draw(g, 2), y = gen_op(g, TOSA_TABLE, 0, 2, in, t.type == TOSA_INT8 ? TOSA_INT8 : TOSA_INT32,
		       t.rank, t.dim);
	return t.type == TOSA_INT8 ? y
				   : rescale(g, y, TOSA_INT16, 0, 0, 37 + more, 1, true);
}

static int
requantize(struct gen *g, int x)
{
	const struct gen_tensor *t = at(g, x);
	int32_t c = t->rank ? t->dim[t->rank - 1] : 1;
	int type = t->type, n = draw(g, 3) || c < 2 ? 1 : c;
	int64_t in = zero_of(g, type), out = zero_of(g, type);
	int shift = 31 + (int)draw(g, 2);
	return rescale(g, x, type, in, out, shift, n, false);
}

/* ---- sums and movement ------------------------------------------------------------------- */

static int
sum(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	int64_t axis = draw(g, (uint32_t)t.rank);
	int32_t dim[TOSA_MAX_RANK];
	memcpy(dim, t.dim, sizeof(dim));
	int a = rescale(g, x, TOSA_INT32, zero_of(g, t.type), 0, 30, 1, true);
	dim[axis] = 1;
	fbw_off attr = gen_attribute(g, &fb_TosaAxis, 0, NULL, NULL, 1, &axis);
	int y = gen_op(g, TOSA_REDUCE_SUM, attr, 1, &a, TOSA_INT32, t.rank, dim);
	return rescale(g, y, t.type, 0, zero_of(g, t.type),
		       31 + (int)log2_of(t.dim[axis]), 1, false);
}

static int
transpose(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	int32_t perm[TOSA_MAX_RANK], dim[TOSA_MAX_RANK];
	for (int i = 0; i < t.rank; i++)
		perm[i] = i;
	for (int i = t.rank - 1; i > 0; i--) {
		int k = (int)draw(g, (uint32_t)i + 1), v = perm[i];
		perm[i] = perm[k];
		perm[k] = v;
	}
	for (int i = 0; i < t.rank; i++)
		dim[i] = t.dim[perm[i]];
	const int32_t *list[1] = { perm };
	fbw_off a = gen_attribute(g, &fb_TosaPerms, 1, list, &t.rank, 0, NULL);
	return gen_op(g, TOSA_TRANSPOSE, a, 1, &x, t.type, t.rank, dim);
}

static int
slice_or_pad(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	int64_t a[2 * TOSA_MAX_RANK], b[TOSA_MAX_RANK];
	int32_t dim[TOSA_MAX_RANK];
	bool pad = draw(g, 2);
	for (int i = 0; i < t.rank; i++) {
		int32_t start = between(g, 0, t.dim[i] - 1);
		a[pad ? 2 * i : i] = pad ? between(g, 0, 2) : start;
		b[i] = dim[i] = between(g, 1, t.dim[i] - start);
		if (!pad)
			continue;
		a[2 * i + 1] = between(g, 0, 2);
		dim[i] = (int32_t)(a[2 * i] + t.dim[i] + a[2 * i + 1]);
	}
	int in[3] = { x, gen_shape(g, pad ? 2 * t.rank : t.rank, a) };
	in[2] = pad ? gen_number(g, t.type, zero_of(g, t.type)) : gen_shape(g, t.rank, b);
	return gen_op(g, pad ? TOSA_PAD : TOSA_SLICE, 0, 3, in, t.type, t.rank, dim);
}

static int
concat(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	int32_t dim[TOSA_MAX_RANK];
	int64_t axis = draw(g, (uint32_t)t.rank);
	memcpy(dim, t.dim, sizeof(dim));
	dim[axis] *= 2;
	int in[2] = { requantize(g, x) };
	in[1] = draw(g, 2) ? x : table(g, x);
	fbw_off a = gen_attribute(g, &fb_TosaAxis, 0, NULL, NULL, 1, &axis);
	return gen_op(g, TOSA_CONCAT, a, 2, in, t.type, t.rank, dim);
}

/* joins two neighbouring dimensions; a first dimension of 1 keeps the rank */
static int
reshape(struct gen *g, int x)
{
	const struct gen_tensor t = *at(g, x);
	int32_t dim[TOSA_MAX_RANK] = { 1 };
	int64_t v[TOSA_MAX_RANK];
	int k = (int)draw(g, (uint32_t)t.rank - 1);
	for (int i = 0, n = 1; i < t.rank; i++) {
		if (i == k + 1)
			dim[n - 1] *= t.dim[i];
		else
			dim[n++] = t.dim[i];
	}
	for (int i = 0; i < t.rank; i++)
		v[i] = dim[i];
	int in[2] = { x, gen_shape(g, t.rank, v) };
	return gen_op(g, TOSA_RESHAPE, 0, 2, in, t.type, t.rank, dim);
}

int
draw_alike(struct gen *g, int x)
{
	static int (*const step[])(struct gen *, int) = { draw_layer, draw_layer, pool, table,
							  binary, transpose };
	enum { STEPS = sizeof(step) / sizeof(*step), TRIES = 12 };
	const struct gen_tensor t = *at(g, x);
	for (int i = 0; i < TRIES; i++) {
		int n_ops = g->n_ops, n_tensors = g->n_tensors;
		int y = step[draw(g, STEPS)](g, x);
		if (!memcmp(at(g, y)->dim, t.dim, sizeof(t.dim)))
			return y;
		g->n_ops = n_ops;
		g->n_tensors = n_tensors;
	}
	return requantize(g, x);
}

void
draw_graph(struct gen *g)
{
	static int (*const step[])(struct gen *, int) = {
		draw_layer, draw_layer, pool, binary, binary, table, requantize, sum, transpose,
		slice_or_pad, concat, reshape };
	enum { STEPS = sizeof(step) / sizeof(*step), LARGE = 20000 };
	static const int32_t most[4] = { 2, 12, 12, 24 };
	int32_t dim[4];
	for (int i = 0; i < 4; i++)
		dim[i] = between(g, 1, most[i]);
	int x = gen_new(g, draw(g, 3) ? TOSA_INT8 : TOSA_INT16, 4, dim);
	g->in[g->n_in++] = x;
	for (int n = between(g, 1, 6); n > 0; n--) {
		x = step[draw(g, STEPS)](g, x);
		if (elements(at(g, x)) > LARGE)
			break;
	}
}

/* rows and columns, sometimes images and channels, with a value */
static int
padded(struct gen *g, int x, int64_t value)
{
	const struct gen_tensor t = *at(g, x);
	int64_t v[8];
	int32_t dim[4], most = draw(g, 4) ? 1 : 6;
	bool all = draw(g, 5) == 0;
	for (int i = 0; i < 8; i++)
		v[i] = all || i / 2 == 1 || i / 2 == 2 ? between(g, 0, most) : 0;
	for (int i = 0; i < 4; i++)
		dim[i] = (int32_t)(v[2 * i] + t.dim[i] + v[2 * i + 1]);
	int in[3] = { x, gen_shape(g, 8, v) };
	in[2] = gen_number(g, t.type, value);
	return gen_op(g, TOSA_PAD, 0, 3, in, t.type, 4, dim);
}

void
draw_pads(struct gen *g)
{
	static int (*const step[])(struct gen *, int) = { binary, requantize, transpose, concat,
							  reshape };
	enum { STEPS = sizeof(step) / sizeof(*step) };
	static const int32_t most[4] = { 2, 12, 12, 24 };
	int32_t dim[4];
	for (int i = 0; i < 4; i++)
		dim[i] = i || draw(g, 4) == 0 ? between(g, 1, most[i]) : 1;
	int type = draw(g, 2) ? TOSA_INT8 : TOSA_INT16;
	int x = gen_input(g, type, 4, dim);
	for (int n = between(g, 1, 2); n > 0; n--) {
		bool least = draw(g, 2), pads = draw(g, 3); /* do readers take padding? */
		int64_t value = least ? tosa_least(type, false) : zero_of(g, type);
		x = padded(g, draw(g, 6) ? draw_alike(g, x) : x, value);
		g->zero = type == TOSA_INT8 ? &value : NULL;
		g->unpadded = draw(g, 2);
		for (int readers = between(g, 0, 2); readers > 0; readers--)
			(void)(!pads ? step[draw(g, STEPS)] : least ? pool : draw_layer)(g, x);
		g->zero = NULL;
		g->unpadded = false;
	}
}
