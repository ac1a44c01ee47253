/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks that shuffle channels, as ShuffleNetV2: some channels of a feature map go through
 * convolutions and the others do not, and both parts are joined to a map.
 */
#include "gen.h"

#include "tflite/fields.h"

enum { /* of the union BuiltinOptions */
	CONV = 1, DEPTHWISE = 2, CONCATENATION = 10, ADD = 11, RESHAPE = 17, GATHER = 23,
	TRANSPOSE = 26, STRIDED_SLICE = 32, SPLIT = 35,
	MOST = 24, /* channels that a unit makes */
};

static int32_t
depth_of(const struct gen *g, int map)
{
	return g->tensor[map].t.dim[3];
}

static int
with_depth(struct gen *g, int map, int32_t c)
{
	struct shape s = shape_of(g, map);
	s.dim[3] = c;
	return gen_like(g, map, s);
}

/* a convolution whose result has the input's quantization, so that maps can be joined */
static int
conv(struct gen *g, int in, int32_t c)
{
	int32_t k = gen_chance(g, 25) ? 3 : 1;
	bool each = gen_chance(g, 30);
	c = each ? depth_of(g, in) : c;
	struct shape s = each ? SHAPE(1, k, k, c) : SHAPE(c, k, k, depth_of(g, in));
	int w = gen_weights(g, in, s, each ? 3 : 0, gen_chance(g, 70));
	int ports[] = { in, w, 0 };
	ports[2] = gen_bias(g, in, w, c);
	int64_t act = gen_chance(g, 40) ? 1 : 0;
	if (each)
		return gen_op1(g, TFL_DEPTHWISE_CONV_2D, 3, ports, with_depth(g, in, c),
			       DEPTHWISE, &fb_DepthwiseConv2DOptions,
			       (int64_t[]){ TFL_SAME, 1, 1, 1, act, 1, 1 });
	return gen_op1(g, TFL_CONV_2D, 3, ports, with_depth(g, in, c), CONV,
		       &fb_Conv2DOptions, (int64_t[]){ TFL_SAME, 1, 1, act, 1, 1, 0 });
}

static int
gather(struct gen *g, int in, const int32_t *at, int32_t n)
{
	int ports[] = { in, gen_ints(g, n, at) };
	bool back = gen_chance(g, 50);
	return gen_op1(g, TFL_GATHER, 2, ports, with_depth(g, in, n), GATHER,
		       &fb_GatherOptions, (int64_t[]){ back ? -1 : 3, 0 });
}

static int
slice(struct gen *g, int in, int32_t from, int32_t n)
{
	struct shape s = shape_of(g, in);
	int32_t begin[] = { 0, 0, 0, from };
	int32_t end[] = { s.dim[0], s.dim[1], s.dim[2], from + n };
	int ports[4] = { in };
	ports[1] = gen_ints(g, 4, begin);
	ports[2] = gen_ints(g, 4, end);
	ports[3] = gen_ints(g, 4, (int32_t[]){ 1, 1, 1, 1 });
	return gen_op1(g, TFL_STRIDED_SLICE, 4, ports, with_depth(g, in, n),
		       STRIDED_SLICE, &fb_StridedSliceOptions, (int64_t[6]){ 0 });
}

static void
split(struct gen *g, int in, int out[2])
{
	int32_t c = depth_of(g, in);
	if (c % 2) {
		out[0] = slice(g, in, 0, c / 2);
		out[1] = slice(g, in, c / 2, c - c / 2);
		return;
	}
	int ports[] = { gen_index(g, 3), in };
	out[0] = with_depth(g, in, c / 2);
	out[1] = with_depth(g, in, c / 2);
	gen_op(g, TFL_SPLIT, 2, ports, 2, out, SPLIT, &fb_SplitOptions,
	       (int64_t[]){ 2 }, NULL);
}

static int
reshape(struct gen *g, int in, struct shape s)
{
	int ports[] = { in, gen_ints(g, s.rank, s.dim) };
	return gen_op1(g, TFL_RESHAPE, 2, ports, gen_like(g, in, s), 0, NULL, NULL);
}

/* [c] as [groups][c / groups], with the axes exchanged */
static int
transposed(struct gen *g, int in, int32_t groups)
{
	struct shape s = shape_of(g, in), r = s, t;
	r.rank = 5;
	r.dim[3] = groups;
	r.dim[4] = s.dim[3] / groups;
	t = r;
	t.dim[3] = r.dim[4];
	t.dim[4] = groups;
	in = reshape(g, in, r);
	int ports[] = { in, gen_ints(g, 5, (int32_t[]){ 0, 1, 2, 4, 3 }) };
	in = gen_op1(g, TFL_TRANSPOSE, 2, ports, gen_like(g, in, t), TRANSPOSE,
		     &fb_TransposeOptions, NULL);
	return reshape(g, in, s);
}

/* any channels in any order: a permutation, or a list with duplicates */
static void
list_any(struct gen *g, int32_t *at, int32_t n, bool twice)
{
	int32_t *r = anew(g->a, int32_t, (size_t)n);
	gen_many(g, n, 0, n - 1, r);
	for (int32_t k = 0; k < n; k++)
		at[k] = k;
	for (int32_t k = 0; k < n; k++) {
		int32_t v = at[k];
		at[k] = at[r[k]];
		if (!twice)
			at[r[k]] = v;
	}
}

/* two parts of a map's channels */
static void
part(struct gen *g, int in, int out[2])
{
	int32_t n = depth_of(g, in), half = n / 2, *at = anew(g->a, int32_t, (size_t)n);
	switch (gen_choose(g, 5)) {
	case 0: /* even and odd channels */
		for (int32_t k = 0; k < n; k++)
			at[k] = k < n - half ? 2 * k : 2 * (k - n + half) + 1;
		out[0] = gather(g, in, at, n - half);
		out[1] = gather(g, in, at + n - half, half);
		return;
	case 1: /* any channels; the parts overlap */
		list_any(g, at, n, gen_chance(g, 30));
		out[0] = gather(g, in, at, n - half);
		at += gen_chance(g, 20) ? 0 : n - half;
		out[1] = gather(g, in, at, half);
		return;
	case 2: /* shuffled, as groups of channels or otherwise, and split */
		in = transposed(g, in, n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1);
		break;
	case 3:
		list_any(g, at, n, false);
		in = gather(g, in, at, n);
		break;
	default:
		break;
	}
	split(g, in, out);
}

static int
concat(struct gen *g, int a, int b)
{
	int in[] = { a, b };
	if (gen_chance(g, 30)) {
		in[0] = b;
		in[1] = a;
	}
	int32_t c = depth_of(g, a) + depth_of(g, b);
	return gen_op1(g, TFL_CONCATENATION, 2, in, with_depth(g, a, c), CONCATENATION,
		       &fb_ConcatenationOptions, (int64_t[]){ 3, 0 });
}

static int
unit(struct gen *g, int map)
{
	int half[2], past, through;
	part(g, map, half);
	past = half[0];
	through = conv(g, half[1], (int32_t)gen_range(g, 1, MOST));
	for (int64_t n = gen_range(g, 0, 2); n > 0; n--)
		through = conv(g, through, (int32_t)gen_range(g, 1, MOST));
	if (gen_chance(g, 10)) /* a second reader, and another operator */
		(void)conv(g, half[1], 3);
	if (gen_chance(g, 10))
		past = gen_op1(g, TFL_ADD, 2, (int[]){ past, past },
			       with_depth(g, past, depth_of(g, past)), ADD, &fb_AddOptions,
			       (int64_t[]){ 0, 0 });
	return concat(g, past, through);
}

static void
draw_shuffle(struct gen *g, int code)
{
	(void)code;
	int type = gen_chance(g, 25) ? (gen_chance(g, 30) ? TFL_INT16 : TFL_UINT8) : TFL_INT8;
	struct shape s = { .rank = 4, .dim = { gen_chance(g, 10) ? 2 : 1 } };
	for (int i = 1; i < 3; i++)
		s.dim[i] = (int32_t)gen_range(g, 1, 9);
	s.dim[3] = (int32_t)gen_range(g, 2, MOST);
	int in = gen_random(g, type, s);
	g->is_used[in] = true;
	int map = conv(g, in, (int32_t)gen_range(g, 2, MOST));
	if (gen_chance(g, 50)) {
		int more = conv(g, in, (int32_t)gen_range(g, 2, MOST));
		map = concat(g, map, more);
	}
	for (int64_t n = gen_range(g, 1, 3); n > 0; n--)
		map = unit(g, map);
	if (gen_chance(g, 70))
		(void)conv(g, map, (int32_t)gen_range(g, 1, MOST));
}

const struct draw shuffle_draws[] = {
	{ "SHUFFLE", draw_shuffle, 0 },
	{ 0 },
};
