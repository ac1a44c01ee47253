/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements. */
#include "gen.h"

#include "tflite/fields.h"

enum { /* of the union BuiltinOptions, schema/tflite_unions.def */
	CONCATENATION = 10, SPACE_TO_DEPTH = 19, GATHER = 23, STRIDED_SLICE = 32,
	SPLIT = 35, PACK = 59, UNPACK = 64, MIRROR_PAD = 77, SPLIT_V = 79,
	DEPTH_TO_SPACE = 94, SHAPE_OP = 55,
};

static int
any_input(struct gen *g)
{
	int rank = (int)gen_range(g, 1, gen_chance(g, 10) ? 6 : 4);
	int type = gen_chance(g, 10) ? TFL_INT32 : gen_type(g);
	return gen_input(g, rank, type);
}

static void
draw_concat(struct gen *g, int code)
{
	int in[5], n = (int)gen_range(g, 2, 5);
	in[0] = any_input(g);
	struct shape s = shape_of(g, in[0]);
	bool pack = code == TFL_PACK;
	int axis = (int)gen_range(g, 0, s.rank - 1 + pack);
	struct shape out = s;
	if (pack) {
		out.rank++;
		for (int i = s.rank; i > axis; i--)
			out.dim[i] = s.dim[i - 1];
		out.dim[axis] = n;
	}
	for (int i = 1; i < n; i++) {
		struct shape k = s;
		if (!pack) {
			k.dim[axis] = (int32_t)gen_range(g, 1, 12);
			out.dim[axis] += k.dim[axis];
		}
		in[i] = gen_like(g, in[0], k);
		/* unsigned inputs are rescaled to the OFM's scale */
		if (!pack && gen_t(g, in[0])->type == TFL_UINT8 && gen_chance(g, 40))
			in[i] = gen_random(g, TFL_UINT8, k);
		if (gen_chance(g, 15) && gen_t(g, in[0])->type != TFL_INT32) {
			const struct tfl_quant *q = &gen_t(g, in[0])->quant;
			in[i] = gen_noise(g, gen_t(g, in[0])->type, k,
					  q->scale[0], (int)q->zero[0]);
		}
	}
	bool back = gen_chance(g, 50);
	int64_t ax = back ? axis - out.rank : axis;
	if (pack)
		gen_op1(g, code, n, in, gen_like(g, in[0], out), PACK,
			&fb_PackOptions, (int64_t[]){ n, ax });
	else
		gen_op1(g, code, n, in, gen_like(g, in[0], out), CONCATENATION,
			&fb_ConcatenationOptions, (int64_t[]){ ax, 0 });
}

static void
draw_slice(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = s;
	int32_t begin[TFL_MAX_RANK], size[TFL_MAX_RANK];
	for (int i = 0; i < s.rank; i++) {
		begin[i] = (int32_t)gen_range(g, 0, s.dim[i] - 1);
		out.dim[i] = (int32_t)gen_range(g, 1, s.dim[i] - begin[i]);
		size[i] = out.dim[i] == s.dim[i] - begin[i] && gen_chance(g, 30)
			      ? -1
			      : out.dim[i];
	}
	int ports[] = { in, gen_ints(g, s.rank, begin), gen_ints(g, s.rank, size) };
	gen_op1(g, code, 3, ports, gen_like(g, in, out), 0, NULL, NULL);
}

/* begin, end and strides of a slice; each axis uses one position of them */
struct cut {
	int n;
	int32_t b[2 * TFL_MAX_RANK], e[2 * TFL_MAX_RANK], k[2 * TFL_MAX_RANK];
	int64_t begin, end, ellipsis, new_axis, shrink; /* masks */
	struct shape out;
};

static void
cut_axis(struct gen *g, struct cut *c, int32_t n, bool may_go)
{
	int i = c->n++;
	int32_t from = (int32_t)gen_range(g, 0, n - 1);
	int32_t step = (int32_t)gen_range(g, 1, gen_chance(g, 40) ? 4 : 1);
	bool reverse = gen_chance(g, 20);
	int32_t span = (int32_t)gen_range(g, 1, reverse ? from + 1 : n - from);
	c->b[i] = gen_chance(g, 30) ? from - n : from;
	c->k[i] = reverse ? -step : step;
	c->e[i] = reverse ? from - span : from + span;
	if (reverse && c->e[i] < 0)
		c->e[i] = -n - 1; /* past the first element */
	if (may_go && gen_chance(g, 10)) {
		c->shrink |= (int64_t)1 << i;
		c->k[i] = 1;
		c->e[i] = c->b[i] + 1;
		return;
	}
	if (gen_chance(g, 15)) { /* the whole axis, masked */
		c->begin |= (int64_t)1 << i;
		c->end |= (int64_t)1 << i;
		span = n;
	}
	c->out.dim[c->out.rank++] = (span + step - 1) / step;
}

static void
draw_strided(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in);
	struct cut c = { .n = 0 };
	int dots = gen_chance(g, 15) ? (int)gen_range(g, 0, s.rank - 1) : -1;
	for (int i = 0; i < s.rank; i++) {
		if (c.n == i && gen_chance(g, 5) && s.rank < 5) {
			c.new_axis |= (int64_t)1 << c.n;
			c.k[c.n++] = 1;
			c.out.dim[c.out.rank++] = 1;
		}
		if (i == dots) { /* this axis and the next, if there is one */
			c.ellipsis |= (int64_t)1 << c.n;
			c.k[c.n++] = 1;
			c.out.dim[c.out.rank++] = s.dim[i];
			if (i + 1 < s.rank)
				c.out.dim[c.out.rank++] = s.dim[++i];
			continue;
		}
		cut_axis(g, &c, s.dim[i], c.out.rank > 0);
	}
	int ports[] = { in, gen_ints(g, c.n, c.b), gen_ints(g, c.n, c.e),
			gen_ints(g, c.n, c.k) };
	gen_op1(g, code, 4, ports, gen_like(g, in, c.out), STRIDED_SLICE,
		&fb_StridedSliceOptions,
		(int64_t[]){ c.begin, c.end, c.ellipsis, c.new_axis, c.shrink, 0 });
}

static void
draw_split(struct gen *g, int code)
{
	int in = any_input(g), out[8];
	struct shape s = shape_of(g, in);
	int32_t axis = (int32_t)gen_range(g, 0, s.rank - 1), left = s.dim[axis];
	int32_t sizes[8];
	int n = 0;
	if (code == TFL_SPLIT) {
		n = (int)gen_range(g, 1, left < 6 ? left : 6);
		while (left % n)
			n--;
		for (int i = 0; i < n; i++)
			sizes[i] = left / n;
	} else {
		while (left && n < 5) {
			sizes[n] = (int32_t)gen_range(g, 1, left);
			left -= sizes[n++];
		}
		if (left)
			sizes[n++] = left;
	}
	for (int i = 0; i < n; i++) {
		struct shape o = s;
		o.dim[axis] = sizes[i];
		out[i] = gen_like(g, in, o);
	}
	int32_t ax = gen_chance(g, 50) ? axis - s.rank : axis;
	int at = gen_index(g, ax);
	if (code == TFL_SPLIT_V && gen_chance(g, 20))
		sizes[gen_range(g, 0, n - 1)] = -1; /* the remaining size */
	int64_t count = n;
	if (code == TFL_SPLIT)
		gen_op(g, code, 2, (int[]){ at, in }, n, out, SPLIT,
		       &fb_SplitOptions, &count, NULL);
	else
		gen_op(g, code, 3, (int[]){ in, gen_ints(g, n, sizes), at }, n, out,
		       SPLIT_V, &fb_SplitVOptions, &count, NULL);
}

static void
draw_unpack(struct gen *g, int code)
{
	int in = any_input(g), out[16];
	struct shape s = shape_of(g, in), o = { .rank = s.rank - 1 };
	int axis = (int)gen_range(g, 0, s.rank - 1);
	if (s.rank < 2 || s.dim[axis] > 16) {
		draw_slice(g, TFL_SLICE);
		return;
	}
	for (int i = 0, k = 0; i < s.rank; i++)
		if (i != axis)
			o.dim[k++] = s.dim[i];
	for (int i = 0; i < s.dim[axis]; i++)
		out[i] = gen_like(g, in, o);
	int64_t ax = gen_chance(g, 50) ? axis - s.rank : axis;
	gen_op(g, code, 1, &in, s.dim[axis], out, UNPACK, &fb_UnpackOptions,
	       (int64_t[]){ s.dim[axis], ax }, NULL);
}

static void
draw_transpose(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = s;
	int32_t perm[TFL_MAX_RANK];
	for (int i = 0; i < s.rank; i++) {
		int k = (int)gen_range(g, 0, i);
		perm[i] = perm[k];
		perm[k] = i;
	}
	for (int i = 0; i < s.rank; i++)
		out.dim[i] = s.dim[perm[i]];
	int to = gen_like(g, in, out);
	gen_op1(g, code, 2, (int[]){ in, gen_ints(g, s.rank, perm) }, to, 0, NULL, NULL);
}

static void
draw_reverse(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in);
	int32_t axis = (int32_t)gen_range(g, 0, s.rank - 1);
	int to = gen_like(g, in, s);
	gen_op1(g, code, 2, (int[]){ in, gen_ints(g, 1, &axis) }, to, 0, NULL, NULL);
}

/* pairs of 32 or 64 bits */
static int
margins(struct gen *g, int n, const int32_t *v)
{
	int64_t wide[2 * TFL_MAX_RANK];
	for (int i = 0; i < 2 * n; i++)
		wide[i] = v[i];
	return gen_chance(g, 15) ? gen_const(g, TFL_INT64, SHAPE(n, 2), wide)
				 : gen_const(g, TFL_INT32, SHAPE(n, 2), v);
}

static void
draw_pad(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = s;
	int32_t v[2 * TFL_MAX_RANK];
	int64_t symmetric = gen_range(g, 0, 1);
	for (int i = 0; i < 2 * s.rank; i++) {
		int64_t most = code != TFL_MIRROR_PAD ? 4
			       : symmetric	      ? s.dim[i / 2]
						      : s.dim[i / 2] - 1;
		v[i] = gen_chance(g, 70)
			   ? (int32_t)gen_range(g, 0, most < 4 ? most : 4)
			   : 0;
		out.dim[i / 2] += v[i];
	}
	int table = margins(g, s.rank, v);
	int to = gen_like(g, in, out), type = gen_t(g, in)->type;
	if (code == TFL_PAD) {
		gen_op1(g, code, 2, (int[]){ in, table }, to, 0, NULL, NULL);
	} else if (code == TFL_PADV2) {
		int value = gen_noise(g, type, SHAPE(1), 0, 0);
		gen_t(g, value)->quant = gen_t(g, in)->quant;
		gen_op1(g, code, 3, (int[]){ in, table, value }, to, 0, NULL, NULL);
	} else {
		gen_op1(g, code, 2, (int[]){ in, table }, to, MIRROR_PAD,
			&fb_MirrorPadOptions, &symmetric);
	}
}

static void
draw_tile(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = s;
	int32_t v[TFL_MAX_RANK];
	for (int i = 0; i < s.rank; i++) {
		v[i] = (int32_t)gen_range(g, 1, 3);
		out.dim[i] *= v[i];
	}
	int to = gen_like(g, in, out);
	gen_op1(g, code, 2, (int[]){ in, gen_ints(g, s.rank, v) }, to, 0, NULL, NULL);
}

static void
draw_blocks(struct gen *g, int code)
{
	int64_t b = gen_range(g, 2, 4);
	int32_t k = (int32_t)b;
	struct shape d = gen_shape(g, 4, 1);
	while (shape_elements(d) * k * k > 4 * GEN_ELEMENTS)
		d = gen_shape(g, 4, 1);
	struct shape deep = SHAPE(1, d.dim[1], d.dim[2], d.dim[3] * k * k);
	struct shape wide = SHAPE(1, d.dim[1] * k, d.dim[2] * k, d.dim[3]);
	bool to_depth = code == TFL_SPACE_TO_DEPTH;
	int in = gen_random(g, gen_type(g), to_depth ? wide : deep);
	int out = gen_like(g, in, to_depth ? deep : wide);
	gen_op1(g, code, 1, &in, out, to_depth ? SPACE_TO_DEPTH : DEPTH_TO_SPACE,
		to_depth ? &fb_SpaceToDepthOptions : &fb_DepthToSpaceOptions, &b);
}

static void
draw_gather(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = s;
	int axis = (int)gen_range(g, 0, s.rank - 1);
	int32_t index[8];
	int n = (int)gen_range(g, 1, 8);
	for (int i = 0; i < n; i++)
		index[i] = (int32_t)gen_range(g, 0, s.dim[axis] - 1);
	out.dim[axis] = n;
	int to = gen_like(g, in, out);
	gen_op1(g, code, 2, (int[]){ in, gen_ints(g, n, index) }, to, GATHER, &fb_GatherOptions,
		(int64_t[]){ axis, 0 });
}

/* the IFM's first dimension and `rest`, in the form that converters write */
static int
computed_shape(struct gen *g, int in, int32_t rest)
{
	static const int32_t zero = 0, one = 1;
	struct shape none = { .rank = 0 };
	int all = gen_tensor(g, TFL_INT32, SHAPE(gen_t(g, in)->rank), 0, 0);
	int first = gen_tensor(g, TFL_INT32, none, 0, 0);
	int shape = gen_tensor(g, TFL_INT32, SHAPE(2), 0, 0);
	gen_op1(g, TFL_SHAPE, 1, &in, all, SHAPE_OP, &fb_ShapeOptions,
		(int64_t[]){ TFL_INT32 });
	int cut[] = { all, gen_ints(g, 1, &zero), gen_ints(g, 1, &one),
		      gen_ints(g, 1, &one) };
	gen_op1(g, TFL_STRIDED_SLICE, 4, cut, first, STRIDED_SLICE,
		&fb_StridedSliceOptions, (int64_t[]){ 0, 0, 0, 0, 1, 0 });
	int both[] = { first, gen_const(g, TFL_INT32, none, &rest) };
	return gen_op1(g, TFL_PACK, 2, both, shape, PACK, &fb_PackOptions,
		       (int64_t[]){ 2, 0 });
}

static void
draw_shape(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = SHAPE(gen_t(g, in)->rank);
	gen_op1(g, code, 1, &in, gen_tensor(g, TFL_INT32, s, 0, 0), SHAPE_OP,
		&fb_ShapeOptions, (int64_t[]){ TFL_INT32 });
}

/* the same elements in dimensions with other factors */
static void
draw_reshape(struct gen *g, int code)
{
	int in = any_input(g);
	if (gen_chance(g, 20)) {
		struct shape s = shape_of(g, in);
		int32_t rest = (int32_t)shape_elements(s) / s.dim[0];
		int shape = computed_shape(g, in, rest);
		gen_op1(g, code, 2, (int[]){ in, shape },
			gen_like(g, in, SHAPE(s.dim[0], rest)), 0, NULL, NULL);
		return;
	}
	int32_t left = (int32_t)shape_elements(shape_of(g, in));
	struct shape out = { .rank = (int)gen_range(g, 1, 4) };
	for (int i = 0; i + 1 < out.rank; i++) {
		int32_t d = (int32_t)gen_range(g, 1, 16);
		while (left % d)
			d--;
		out.dim[i] = d;
		left /= d;
	}
	out.dim[out.rank - 1] = left;
	int to = gen_like(g, in, out);
	gen_op1(g, code, 2, (int[]){ in, gen_ints(g, out.rank, out.dim) }, to, 0, NULL, NULL);
}

/* blocks of one or two dimensions; padding or a crop completes the blocks */
static void
draw_batches(struct gen *g, int code)
{
	bool to_batch = code == TFL_SPACE_TO_BATCH_ND;
	int n = (int)gen_range(g, 1, 2);
	int32_t block[2], margin[4];
	struct shape big, small;
	do {
		struct shape s = gen_shape(g, n + 2, (int32_t)gen_range(g, 1, 2));
		big = small = s;
		for (int i = 0; i < n; i++) {
			block[i] = (int32_t)gen_range(g, 1, 4);
			int32_t before = (int32_t)gen_range(g, 0, 5), after = 0;
			int32_t *piece = &small.dim[1 + i];
			*piece = (s.dim[1 + i] + before + block[i] - 1) / block[i] +
				 (int32_t)gen_range(g, 0, 1);
			after = *piece * block[i] - before - s.dim[1 + i];
			margin[2 * i] = before;
			margin[2 * i + 1] = after;
			small.dim[0] *= block[i];
		}
	} while (shape_elements(small) > 2 * GEN_ELEMENTS);
	int type = gen_chance(g, 10) ? TFL_INT32 : gen_type(g);
	int in = gen_random(g, type, to_batch ? big : small);
	int table = margins(g, n, margin);
	int to = gen_like(g, in, to_batch ? small : big);
	gen_op1(g, code, 3, (int[]){ in, gen_ints(g, n, block), table }, to, 0, NULL, NULL);
}

static void
draw_broadcast(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = s;
	int more = s.rank < 4 ? (int)gen_range(g, 0, 1) : 0;
	out.rank += more;
	for (int i = 0; i < s.rank; i++)
		out.dim[i + more] = s.dim[i];
	if (more)
		out.dim[0] = (int32_t)gen_range(g, 1, 3);
	for (int i = 0; i < out.rank; i++)
		if (out.dim[i] == 1)
			out.dim[i] = (int32_t)gen_range(g, 1, 9);
	int to = gen_like(g, in, out);
	gen_op1(g, code, 2, (int[]){ in, gen_ints(g, out.rank, out.dim) }, to, 0, NULL, NULL);
}

/* removes dimensions of 1, or adds one */
static void
draw_ones(struct gen *g, int code)
{
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = { .rank = 0 };
	int32_t at = (int32_t)gen_range(g, 0, s.rank);
	if (code == TFL_SQUEEZE) {
		for (int i = 0; i < s.rank; i++)
			if (s.dim[i] > 1)
				out.dim[out.rank++] = s.dim[i];
		if (!out.rank)
			out = SHAPE(1);
		gen_op1(g, code, 1, &in, gen_like(g, in, out), 0, NULL, NULL);
		return;
	}
	out.rank = s.rank + 1;
	for (int i = 0; i < out.rank; i++)
		out.dim[i] = i == at ? 1 : s.dim[i - (i > at)];
	int to = gen_like(g, in, out);
	gen_op1(g, code, 2, (int[]){ in, gen_index(g, at) }, to, 0, NULL, NULL);
}

static void
draw_quantize(struct gen *g, int code)
{
	int in = gen_any_input(g);
	int to = gen_type(g);
	if (gen_chance(g, 20)) { /* to 32 bits with a finer scale, and back */
		struct shape s = shape_of(g, in);
		float scale = gen_t(g, in)->quant.scale[0];
		int mid = gen_tensor(g, TFL_INT32, s,
				     scale * (float)gen_real(g, 1e-4, 1.5), 0);
		in = gen_op1(g, code, 1, &in, mid, 0, NULL, NULL);
	}
	gen_op1(g, code, 1, &in, gen_random(g, to, shape_of(g, in)), 0, NULL, NULL);
}

static void
draw_gather_nd(struct gen *g, int code)
{
	enum { MOST = 8 };
	int in = any_input(g);
	struct shape s = shape_of(g, in), out = { .rank = 1 };
	int depth = (int)gen_range(g, 1, s.rank), n = (int)gen_range(g, 1, MOST);
	int32_t index[MOST * TFL_MAX_RANK];
	for (int i = 0; i < n * depth; i++)
		index[i] = (int32_t)gen_range(g, 0, s.dim[i % depth] - 1);
	out.dim[0] = n;
	for (int i = depth; i < s.rank; i++)
		out.dim[out.rank++] = s.dim[i];
	int at = gen_const(g, TFL_INT32, SHAPE(n, depth), index);
	gen_op1(g, code, 2, (int[]){ in, at }, gen_like(g, in, out), 0, NULL, NULL);
}

/* copies integers unchanged, with any scale */
static void
draw_cast(struct gen *g, int code)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16, TFL_INT32,
				     TFL_INT64 };
	int in = any_input(g);
	int to = types[gen_choose(g, ARRAY_LEN(types))];
	gen_op1(g, code, 1, &in, gen_tensor(g, to, shape_of(g, in), 0, 0), 0, NULL,
		NULL);
}

const struct draw move_draws[] = {
	{ "CONCATENATION", draw_concat, TFL_CONCATENATION },
	{ "PACK", draw_concat, TFL_PACK },
	{ "UNPACK", draw_unpack, TFL_UNPACK },
	{ "SLICE", draw_slice, TFL_SLICE },
	{ "STRIDED_SLICE", draw_strided, TFL_STRIDED_SLICE },
	{ "SPLIT", draw_split, TFL_SPLIT },
	{ "SPLIT_V", draw_split, TFL_SPLIT_V },
	{ "TRANSPOSE", draw_transpose, TFL_TRANSPOSE },
	{ "REVERSE_V2", draw_reverse, TFL_REVERSE_V2 },
	{ "PAD", draw_pad, TFL_PAD },
	{ "PADV2", draw_pad, TFL_PADV2 },
	{ "MIRROR_PAD", draw_pad, TFL_MIRROR_PAD },
	{ "TILE", draw_tile, TFL_TILE },
	{ "DEPTH_TO_SPACE", draw_blocks, TFL_DEPTH_TO_SPACE },
	{ "SPACE_TO_DEPTH", draw_blocks, TFL_SPACE_TO_DEPTH },
	{ "GATHER", draw_gather, TFL_GATHER },
	{ "SHAPE", draw_shape, TFL_SHAPE },
	{ "RESHAPE", draw_reshape, TFL_RESHAPE },
	{ "SPACE_TO_BATCH_ND", draw_batches, TFL_SPACE_TO_BATCH_ND },
	{ "BATCH_TO_SPACE_ND", draw_batches, TFL_BATCH_TO_SPACE_ND },
	{ "BROADCAST_TO", draw_broadcast, TFL_BROADCAST_TO },
	{ "SQUEEZE", draw_ones, TFL_SQUEEZE },
	{ "EXPAND_DIMS", draw_ones, TFL_EXPAND_DIMS },
	{ "QUANTIZE", draw_quantize, TFL_QUANTIZE },
	{ 0 },
};

const struct draw later_move_draws[] = {
	{ "GATHER_ND", draw_gather_nd, TFL_GATHER_ND },
	{ "CAST", draw_cast, TFL_CAST },
	{ 0 },
};
