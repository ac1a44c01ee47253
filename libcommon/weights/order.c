/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of weights in the streams of U55 and U65 (ethosu-weights(7) 2), and the
 * copying of weights in the order of any NPU.
 */
#include "weights/order.h"

#include "base/fixed.h"

#include <assert.h>
#include <string.h>

/*
 * depth of the IFM microblock, and maximum extent of a sub-kernel
 * (ethosu-weights(7) 2.2)
 */
enum { IFM_UBLOCK = 8, SUBKERNEL = 8 };

static int32_t
round_up(int32_t v, int32_t to)
{
	return (v + to - 1) / to * to;
}

int32_t
weights_order_channels(const struct weights_order *ord)
{
	int32_t n = ord->end - ord->begin - ord->core;
	if (ord->quads) /* every stream has a part of every microblock */
		return ord->end - ord->begin;
	return n > 0 ? (n + ord->cores - 1) / ord->cores : 0;
}

static struct nest
nest55_of(const struct weights_order *ord, int32_t h, int32_t w, int32_t i)
{
	bool depthwise = ord->traversal == WEIGHTS_DEPTHWISE;
	bool depth_first = ord->traversal == WEIGHTS_DEPTH_FIRST;
	bool wide_part = ord->traversal == WEIGHTS_PART_KERNEL && ord->ifm_bits == 16;

	assert(ord->dilation_y == 1 || ord->dilation_y == 2);
	assert(ord->dilation_x == 1 || ord->dilation_x == 2);
	struct nest n = {
		.traversal = ord->traversal,
		.o = weights_order_channels(ord),
		.h = h, .w = w, .i = depthwise ? 1 : i,
		.bd = (ord->block_depth + ord->cores - 1 - ord->core) /
		      ord->cores,
		.ib = depth_first && ord->ifm_bits == 8 ? 32 : 16,
		.ou = ord->ou,
		.sub_h = SUBKERNEL / ord->dilation_y,
		.sub_w = SUBKERNEL / ord->dilation_x,
		/* R of ethosu-weights(7) 2.2 */
		.e = depth_first ? 1 : wide_part ? 2 : 4,
		.lanes = depthwise ? 1 : IFM_UBLOCK,
		.rows = ord->ou,
		.first = ord->core, .step = ord->cores,
	};
	assert(n.bd > 0 || n.o == 0);
	assert(n.bd % n.ou == 0 || n.bd >= n.o);
	return n;
}

static size_t
nest55_count(const struct nest *n)
{
	if (n->o == 0)
		return 0;

	size_t depth = n->traversal == WEIGHTS_DEPTHWISE   ? 1
		       : n->traversal == WEIGHTS_PART_KERNEL
			   ? (size_t)round_up(n->i, IFM_UBLOCK)
			   : (size_t)round_up(n->i, n->ib);
	int32_t whole = n->o / n->bd, rest = n->o % n->bd;
	size_t o = (size_t)whole * (size_t)round_up(n->bd, n->ou) +
		   (size_t)round_up(rest, n->ou);
	/* the padded kernel elements, summed over sub-kernels: S of 2.7 */
	size_t s = 0;
	for (int32_t sy = 0; sy < n->h; sy += n->sub_h)
		for (int32_t sx = 0; sx < n->w; sx += n->sub_w)
			s += (size_t)round_up(min_i32(n->sub_h, n->h - sy) *
						  min_i32(n->sub_w, n->w - sx),
					      n->e);
	return o * s * depth;
}

/*
 * The loops over OFM microblocks, elements and IFM microblocks i0..i1 of an IFM block
 * (6 to 8 of ethosu-weights(7) 2.3).
 */
static void
walk_elements(const struct nest *n, struct tile t, int32_t ob, int32_t i1,
	      tile_fn *fn, void *ctx)
{
	int32_t i0 = t.i, y0 = t.y, x0 = t.x;
	int32_t sw = min_i32(n->sub_w, n->w - x0);
	int32_t real = min_i32(n->sub_h, n->h - y0) * sw;

	for (t.o = ob; t.o < min_i32(ob + n->bd, n->o); t.o += n->ou)
		for (int32_t e = 0; e < round_up(real, n->e); e++) {
			t.n_o = e < real ? min_i32(n->ou, n->o - t.o) : 0;
			t.y = y0 + e / sw;
			t.x = x0 + e % sw;
			for (t.i = i0; t.i < i1; t.i += IFM_UBLOCK) {
				int32_t left = n->i - t.i;
				t.n_i = left < 0 ? 0 : min_i32(n->lanes, left);
				fn(ctx, &t);
			}
		}
}

/*
 * The loops over sub-kernels and IFM microblocks (3 to 5 of ethosu-weights(7) 2.3), for
 * one OFM block and IFM block.
 */
static void
walk_subkernels(const struct nest *n, int32_t ob, int32_t b, tile_fn *fn,
		void *ctx)
{
	bool part = n->traversal == WEIGHTS_PART_KERNEL;
	int32_t i1 = part ? b + min_i32(n->ib, n->i - b) : b + n->ib;
	int32_t step = part ? IFM_UBLOCK : n->ib;

	if (n->traversal == WEIGHTS_DEPTHWISE)
		i1 = 1;
	for (int32_t sy = 0; sy < n->h; sy += n->sub_h)
		for (int32_t sx = 0; sx < n->w; sx += n->sub_w)
			for (int32_t i = b; i < i1; i += step) {
				struct tile t = { .y = sy, .x = sx, .i = i };
				walk_elements(n, t, ob, min_i32(i + step, i1), fn,
					      ctx);
			}
}

static void
nest55_walk(const struct nest *n, tile_fn *fn, void *ctx)
{
	for (int32_t ob = 0; ob < n->o; ob += n->bd)
		for (int32_t b = 0; b < n->i; b += n->ib)
			walk_subkernels(n, ob, b, fn, ctx);
}

/* the orders of U55 and U65, and of U85 */
static const struct loops {
	struct nest (*of)(const struct weights_order *ord, int32_t h, int32_t w,
			  int32_t i);
	void (*walk)(const struct nest *n, tile_fn *fn, void *ctx);
	size_t (*count)(const struct nest *n);
} channelwise = { nest55_of, nest55_walk, nest55_count },
  quadwise = { nest85_of, nest85_walk, nest85_count };

static const struct loops *
loops_of(const struct weights_order *ord)
{
	return ord->quads ? &quadwise : &channelwise;
}

size_t
weights_order_count(const struct weights_order *ord, int32_t h, int32_t w,
		    int32_t i)
{
	const struct loops *l = loops_of(ord);
	struct nest n = l->of(ord, h, w, i);
	return l->count(&n);
}

struct gather {
	const struct weights_view *v;
	int32_t first, cores; /* tensor channel of the core's channel 0; step between
			       * channels */
	int32_t rows, lanes;
	int16_t *out;
};

/* Compiler vectors: the lanes of an IFM microblock. */
typedef uint8_t row __attribute__((vector_size(IFM_UBLOCK)));
typedef int8_t signed_row __attribute__((vector_size(IFM_UBLOCK)));
typedef int16_t wide_row __attribute__((vector_size(2 * IFM_UBLOCK)));

/* Copies the rows of a tile in which all lanes are present and contiguous. */
static void
gather_rows(const struct gather *g, const uint8_t *p, int32_t n,
	    const int32_t *zero, ptrdiff_t zero_step)
{
	ptrdiff_t stride = g->v->stride_o;
	bool is_unsigned = g->v->is_unsigned;
	int16_t *out = g->out;

	for (int32_t oz = 0; oz < n; oz++, out += IFM_UBLOCK) {
		row v;
		memcpy(&v, p + oz * g->cores * stride, sizeof(v));
		wide_row w = is_unsigned
				 ? __builtin_convertvector(v, wide_row)
				 : __builtin_convertvector((signed_row)v,
							   wide_row);
		w -= (int16_t)zero[oz * zero_step];
		memcpy(out, &w, sizeof(w));
	}
}

static void
gather_lanes(const struct gather *g, const uint8_t *p, int32_t n, int32_t zero,
	     int16_t *out)
{
	ptrdiff_t step = g->v->stride_i;

	if (g->v->is_unsigned)
		for (int32_t iz = 0; iz < n; iz++)
			out[iz] = (int16_t)(p[iz * step] - zero);
	else
		for (int32_t iz = 0; iz < n; iz++)
			out[iz] = (int16_t)((int8_t)p[iz * step] - zero);
	for (int32_t iz = n; iz < g->lanes; iz++)
		out[iz] = 0;
}

static void
gather_tile(void *ctx, const struct tile *t)
{
	struct gather *g = ctx;
	const struct weights_view *v = g->v;
	const uint8_t *p = v->p + t->y * v->stride_y + t->x * v->stride_x +
			   t->i * v->stride_i;

	static const int32_t none = 0;
	int32_t first = g->first + t->o * g->cores;
	const int32_t *zero = v->zero ? v->zero : &none;
	ptrdiff_t zero_step = v->zero && v->n_zero > 1 ? g->cores : 0;

	p += first * v->stride_o;
	zero += zero_step ? first : 0;
	if (t->n_i == IFM_UBLOCK && g->lanes == IFM_UBLOCK && v->stride_i == 1)
		gather_rows(g, p, t->n_o, zero, zero_step);
	else
		for (int32_t oz = 0; oz < t->n_o; oz++)
			gather_lanes(g, p + oz * g->cores * v->stride_o, t->n_i,
				     zero[oz * zero_step],
				     g->out + oz * g->lanes);
	g->out += t->n_o * g->lanes;
	size_t pad = (size_t)((g->rows - t->n_o) * g->lanes);
	memset(g->out, 0, pad * sizeof(*g->out));
	g->out += pad;
}

void
weights_reorder(const struct weights_view *v, const struct weights_order *ord,
		int16_t *out)
{
	const struct loops *l = loops_of(ord);
	struct nest n = l->of(ord, v->h, v->w, v->i);
	struct gather g = {
		.v = v,
		.first = ord->begin + n.first,
		.cores = n.step,
		.rows = n.rows,
		.lanes = n.lanes,
		.out = out,
	};

	assert(ord->end <= v->o);
	l->walk(&n, gather_tile, &g);
}

struct scatter {
	const struct weights_dest *place;
	int32_t first, cores;
	int32_t rows, lanes;
	const int16_t *in;
	size_t stray; /* number of padding values that are not zero */
};

static void
scatter_tile(void *ctx, const struct tile *t)
{
	struct scatter *s = ctx;
	const struct weights_dest *pl = s->place;

	for (int32_t oz = 0; oz < s->rows; oz++, s->in += s->lanes) {
		int32_t o = s->first + (t->o + oz) * s->cores;
		int32_t real = oz < t->n_o ? t->n_i : 0;
		int16_t *p = pl->p;

		if (real > 0)
			p += o * pl->stride_o + t->y * pl->stride_y +
			     t->x * pl->stride_x + t->i * pl->stride_i;
		for (int32_t iz = 0; iz < real; iz++)
			p[iz * pl->stride_i] = s->in[iz];
		for (int32_t iz = real; iz < s->lanes; iz++)
			s->stray += s->in[iz] != 0;
	}
}

size_t
weights_restore(const int16_t *values, const struct weights_order *ord,
		const struct weights_dest *place)
{
	const struct loops *l = loops_of(ord);
	struct nest n = l->of(ord, place->h, place->w, place->i);
	struct scatter s = {
		.place = place,
		.first = n.first,
		.cores = n.step,
		.rows = n.rows,
		.lanes = n.lanes,
		.in = values,
	};

	l->walk(&n, scatter_tile, &s);
	return s.stray;
}
