/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of weights of U85 (ethosu-weights(7) 22).  Output channels go to the
 * streams in groups of four.  IFM blocks alternate between forward and backward,
 * columns come before rows, and the elements of a sub-kernel are grouped by the phase
 * of the stride.
 */
#include "weights/order.h"

#include "base/fixed.h"

#include <assert.h>

enum {
	DEPTHWISE_RUN = 10, /* weights of a depthwise channel between two paddings */
	QUAD = 4,	    /* channels whose weights go to one stream together */
	SUBKERNEL = 8,	    /* maximum height and width of a part of a kernel */
};

static int32_t
clamp_rest(int32_t left, int32_t most)
{
	return left < 0 ? 0 : min_i32(left, most);
}

static int32_t
round_up(int32_t v, int32_t to)
{
	return (v + to - 1) / to * to;
}

struct nest
nest85_of(const struct weights_order *ord, int32_t h, int32_t w, int32_t i)
{
	bool depthwise = ord->traversal == WEIGHTS_DEPTHWISE;
	bool deep = ord->traversal == WEIGHTS_DEPTH_FIRST;
	bool part = ord->traversal == WEIGHTS_PART_KERNEL && !ord->sparse;
	struct nest n = {
		.traversal = ord->traversal,
		.o = ord->end - ord->begin,
		.h = h, .w = w, .i = depthwise ? 1 : i,
		.bd = ord->block_depth,
		.ib = depthwise ? 1 : ord->ifm_depth,
		.ou = ord->ou,
		.sub_h = SUBKERNEL / ord->dilation_y,
		.sub_w = SUBKERNEL / ord->dilation_x,
		.e = deep ? 1 : part && ord->ifm_bits == 8 ? 5 : 10,
		.lanes = depthwise ? 1 : ord->sparse ? 16 : 8,
		.rows = QUAD,
		.first = 0, .step = 1,
		.iu = depthwise ? 1 : part && ord->ifm_bits == 16 ? 8 : ord->ifm_depth,
		.stream = ord->core, .streams = ord->cores,
		.stride_y = deep ? 1 : ord->stride_y,
		.stride_x = deep ? 1 : ord->stride_x,
		.padding = depthwise ? ord->padding : 0,
	};
	assert(n.iu % n.lanes == 0 && n.ib % n.iu == 0);
	assert(n.ou % (QUAD * n.streams) == 0);
	assert(n.bd > 0 && (n.bd % n.ou == 0 || n.bd >= n.o));
	return n;
}

/* ---- loops --------------------------------------------------------------- */

struct walker {
	const struct nest *n;
	tile_fn *fn;
	void *ctx;
};

/* Loops 10 to 13: one kernel element of one unit and microblock, quad by quad. */
static void
emit_element(const struct walker *k, const struct tile *at)
{
	const struct nest *n = k->n;
	for (int32_t v = 0; v < n->iu; v += n->lanes)
		for (int32_t z = QUAD * n->stream; z < n->ou;
		     z += QUAD * n->streams) {
			struct tile t = *at;
			t.o = at->o + z;
			t.i = at->i + v;
			t.n_o = clamp_rest(n->o - t.o, QUAD);
			t.n_i = clamp_rest(n->i - t.i, n->lanes);
			if (!t.n_o || !t.n_i)
				t = (struct tile){ 0 };
			k->fn(k->ctx, &t);
		}
}

/* Emits `each` zeros for every input and output channel of a unit and microblock. */
static void
emit_zeros(const struct walker *k, int32_t each)
{
	const struct nest *n = k->n;
	struct tile t = { 0 };
	int32_t tiles = each * n->iu * n->ou / n->streams / (QUAD * n->lanes);
	for (int32_t j = 0; j < tiles; j++)
		k->fn(k->ctx, &t);
}

/*
 * Loops 7 to 9: the elements of a sub-kernel, phase by phase, with alternating
 * direction of rows; then padding to a multiple of the rounding.
 */
static void
walk_elements(const struct walker *k, const struct tile *at, int32_t sh,
	      int32_t sw)
{
	const struct nest *n = k->n;
	int32_t done = 0;
	for (int32_t p = 0; p < n->stride_y * n->stride_x; p++) {
		int32_t py = p / n->stride_x, px = p % n->stride_x;
		int32_t ny = (sh + n->stride_y - 1 - py) / n->stride_y;
		int32_t nx = (sw + n->stride_x - 1 - px) / n->stride_x;
		for (int32_t e = 0; e < ny * nx; e++) {
			int32_t ey = e / nx, ex = e % nx;
			int32_t x = ey % 2 ? nx - 1 - ex : ex;
			struct tile t = *at;
			t.y += py + ey * n->stride_y;
			t.x += px + x * n->stride_x;
			emit_element(k, &t);
			if (++done % DEPTHWISE_RUN == 0)
				emit_zeros(k, n->padding);
		}
	}
	int32_t whole = round_up(done, n->e);
	if (whole > done)
		emit_zeros(k, whole - done + n->padding);
}

/* loops 3 to 6 of one OFM block and IFM block */
static void
walk_block(const struct walker *k, int32_t ob, int32_t ib)
{
	const struct nest *n = k->n;
	int32_t depth = min_i32(n->bd, n->o - ob), inputs = min_i32(n->ib, n->i - ib);
	for (int32_t cx = 0; cx < n->w; cx += n->sub_w)
		for (int32_t cy = 0; cy < n->h; cy += n->sub_h)
			for (int32_t iu = 0; iu < inputs; iu += n->iu)
				for (int32_t u = 0; u < depth; u += n->ou) {
					struct tile t = { .o = ob + u, .y = cy,
							  .x = cx, .i = ib + iu };
					walk_elements(k, &t,
						      min_i32(n->sub_h, n->h - cy),
						      min_i32(n->sub_w, n->w - cx));
				}
}

void
nest85_walk(const struct nest *n, tile_fn *fn, void *ctx)
{
	struct walker k = { .n = n, .fn = fn, .ctx = ctx };
	int32_t blocks = (n->i + n->ib - 1) / n->ib;
	for (int32_t b = 0; b * (int64_t)n->bd < n->o; b++)
		for (int32_t j = 0; j < blocks; j++)
			walk_block(&k, b * n->bd,
				   (b % 2 ? blocks - 1 - j : j) * n->ib);
}

size_t
nest85_count(const struct nest *n)
{
	if (n->o <= 0)
		return 0;
	int32_t whole = n->o / n->bd, rest = n->o % n->bd;
	size_t o = (size_t)whole * (size_t)round_up(n->bd, n->ou) +
		   (size_t)round_up(rest, n->ou);
	/* the inputs of each block are rounded up to whole units */
	size_t depth = (size_t)(n->i / n->ib) * (size_t)n->ib +
		       (size_t)round_up(n->i % n->ib, n->iu);
	/* the values of all sub-kernels for one output channel and one input channel
	 * (ethosu-weights(7) 22.2) */
	size_t s = 0;
	for (int32_t cx = 0; cx < n->w; cx += n->sub_w)
		for (int32_t cy = 0; cy < n->h; cy += n->sub_h) {
			int32_t m = min_i32(n->sub_h, n->h - cy) *
				    min_i32(n->sub_w, n->w - cx);
			int32_t t = round_up(m, n->e);
			/* after every ten elements, and after an incomplete group */
			int32_t runs = n->padding ? (t + DEPTHWISE_RUN - 1) /
							DEPTHWISE_RUN : 0;
			s += (size_t)(t + runs * n->padding);
		}
	return o / (size_t)n->streams * s * depth;
}

/*
 * Returns the chunk size of ethosu-weights(7) 22.5: the values of one unit and
 * microblock for one rounded run of elements.
 */
size_t
weights_fast_chunk(const struct weights_order *ord)
{
	struct nest n = nest85_of(ord, 1, 1, 1);
	return (size_t)(n.ou * n.iu * n.e / n.streams);
}
