/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses of the elements of feature maps and DMA transfers (ethosu-memory(7) 5,
 * ethosu-commands(7) 10).
 */
#include "stream/stream.h"

#include "base/fixed.h"
#include "stream/op.h"

#include <string.h>

int64_t
npu_fm_address(const struct npu_fm *f, int32_t y, int32_t x, int32_t c)
{
	int right = x >= f->w0;
	int32_t h = right ? f->h1 : f->h0;
	int low = y >= h;
	int64_t bytes = npu_fm_bytes(f);
	int64_t at = f->base[right + 2 * low] +
		     (int64_t)(low ? y - h : y) * f->stride_y;
	x -= right ? f->w0 : 0;
	if (!f->bricks)
		return at + x * f->stride_x + c * bytes;
	return at + (c / BRICK) * f->stride_c + (x * BRICK + c % BRICK) * bytes;
}

struct npu_box
npu_fm_box(const struct npu_fm *f)
{
	return (struct npu_box){ .y1 = f->shape.h, .x1 = f->shape.w,
				 .c1 = f->shape.c };
}

/* Clips a box to its part in tile t, in coordinates of the feature map. */
static bool
clip_to_tile(const struct npu_fm *f, int t, struct npu_box *b)
{
	int right = t & 1, low = t >> 1;
	int32_t h = right ? f->h1 : f->h0;
	if (right)
		b->x0 = max_i32(b->x0, f->w0);
	else
		b->x1 = min_i32(b->x1, f->w0);
	if (low)
		b->y0 = max_i32(b->y0, h);
	else
		b->y1 = min_i32(b->y1, h);
	return b->y0 < b->y1 && b->x0 < b->x1 && b->c0 < b->c1;
}

/* Extends [*lo, *hi] by the smallest and the largest multiple of step over [0, n). */
static void
widen(int64_t step, int64_t n, int64_t *lo, int64_t *hi)
{
	int64_t last = step * (n - 1);
	*lo += last < 0 ? last : 0;
	*hi += last > 0 ? last : 0;
}

int
npu_fm_extent(const struct npu_fm *f, struct npu_box box,
	      struct npu_range tile[4])
{
	int n = 0;
	int64_t bytes = npu_fm_bytes(f);
	for (int t = 0; t < 4; t++) {
		struct npu_box b = box;
		tile[t] = (struct npu_range){ .region = f->region };
		if (!clip_to_tile(f, t, &b))
			continue;
		int64_t lo = npu_fm_address(f, b.y0, b.x0, b.c0), hi = lo;
		widen(f->stride_y, b.y1 - b.y0, &lo, &hi);
		if (!f->bricks) {
			widen(f->stride_x, b.x1 - b.x0, &lo, &hi);
			hi += (b.c1 - b.c0) * bytes;
		} else {
			int32_t first = b.c0 / BRICK, last = (b.c1 - 1) / BRICK;
			int64_t from = b.c0 % BRICK * bytes; /* offset inside its brick */
			int64_t to = ((b.c1 - 1) % BRICK + 1) * bytes;
			widen(BRICK * bytes, b.x1 - b.x0, &lo, &hi);
			if (first == last) {
				hi += to - from;
			} else if (f->stride_c >= BRICK * bytes) {
				hi += f->stride_c * (last - first) + to - from;
			} else { /* bricks overlap or run backwards: an upper bound */
				lo -= from;
				hi -= from;
				widen(f->stride_c, last - first + 1, &lo, &hi);
				hi += BRICK * bytes;
			}
		}
		tile[t].at = lo;
		tile[t].n = hi - lo;
		n++;
	}
	return n;
}

/* Visits the runs of bytes of one row of a box, which is inside a tile. */
static bool
row_runs(const struct npu_fm *f, const struct npu_box *b, int32_t y,
	 npu_visit visit, void *ctx)
{
	int64_t bytes = npu_fm_bytes(f);
	int64_t step = f->bricks ? BRICK * bytes : f->stride_x;
	for (int32_t c = b->c0; c < b->c1;) {
		int32_t end = f->bricks ? min_i32(b->c1, (c / BRICK + 1) * BRICK)
					: b->c1;
		int64_t n = (end - c) * bytes;
		int64_t at = npu_fm_address(f, y, b->x0, c);
		if (step == n) {
			if (!visit(ctx, at, n * (b->x1 - b->x0)))
				return false;
		} else {
			for (int32_t x = b->x0; x < b->x1; x++, at += step)
				if (!visit(ctx, at, n))
					return false;
		}
		c = end;
	}
	return true;
}

bool
npu_fm_runs(const struct npu_fm *f, struct npu_box box, npu_visit visit,
	    void *ctx)
{
	int64_t bytes = npu_fm_bytes(f);
	for (int t = 0; t < 4; t++) {
		struct npu_box b = box;
		if (!clip_to_tile(f, t, &b))
			continue;
		/* all rows of the box are one run of bytes: the usual case of whole tensors */
		bool dense = f->bricks
				     ? b.c1 - b.c0 == BRICK && b.c0 % BRICK == 0 &&
					       f->stride_y == BRICK * bytes * (b.x1 - b.x0)
				     : f->stride_x == (b.c1 - b.c0) * bytes &&
					       f->stride_y == f->stride_x * (b.x1 - b.x0);
		if (dense) {
			if (!visit(ctx, npu_fm_address(f, b.y0, b.x0, b.c0),
				   f->stride_y * (b.y1 - b.y0)))
				return false;
			continue;
		}
		for (int32_t y = b.y0; y < b.y1; y++)
			if (!row_runs(f, &b, y, visit, ctx))
				return false;
	}
	return true;
}

/* ---- exact overlap ------------------------------------------------------ */

struct probe { /* the other box, and the run that is compared with it */
	const struct npu_fm *f;
	struct npu_box box;
	int64_t at, n;
	uint64_t *steps; /* steps left; NULL: no limit */
};

/* Returns false when no steps are left. */
static bool
take_step(uint64_t *steps)
{
	return !steps || (*steps && (*steps)--);
}

static bool
run_misses_run(void *ctx, int64_t at, int64_t n)
{
	const struct probe *p = ctx;
	return take_step(p->steps) &&
	       !spans_overlap(at, n, p->at, p->n);
}

static bool
run_misses_box(void *ctx, int64_t at, int64_t n)
{
	struct probe *p = ctx;
	struct npu_range tile[4];
	bool near = false;
	npu_fm_extent(p->f, p->box, tile);
	for (int t = 0; t < 4; t++)
		near |= tile[t].n && spans_overlap(at, n, tile[t].at, tile[t].n);
	p->at = at;
	p->n = n;
	return take_step(p->steps) &&
	       (!near || npu_fm_runs(p->f, p->box, run_misses_run, p));
}

bool
npu_fm_same_place(const struct npu_fm *a, const struct npu_fm *b)
{
	return a->region == b->region && a->h0 == b->h0 && a->h1 == b->h1 &&
	       a->w0 == b->w0 && a->bits == b->bits &&
	       a->bricks == b->bricks && a->stride_y == b->stride_y &&
	       a->stride_c == b->stride_c &&
	       (a->bricks || a->stride_x == b->stride_x) &&
	       !memcmp(a->base, b->base, sizeof(a->base));
}

struct step {
	int64_t stride, n;
};

static int64_t
abs_i64(int64_t v)
{
	return v < 0 ? -v : v;
}

bool
npu_fm_nests(const struct npu_fm *f)
{
	struct npu_range tile[4];
	int64_t bytes = npu_fm_bytes(f), c = f->shape.c;
	int64_t unit = bytes * (f->bricks && c > BRICK ? BRICK : c);
	struct step all[3] = {
		{ abs_i64(f->stride_y), f->shape.h },
		{ f->bricks ? BRICK * bytes : abs_i64(f->stride_x), f->shape.w },
		{ abs_i64(f->stride_c), f->bricks ? (c + BRICK - 1) / BRICK : 1 },
	}, some[3];
	int n = 0;
	for (int i = 0; i < 3; i++)
		if (all[i].n > 1)
			some[n++] = all[i];
	npu_fm_extent(f, npu_fm_box(f), tile);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			if (spans_overlap(tile[i].at, tile[i].n, tile[j].at, tile[j].n))
				return false;
	/* nested steps, ordered by stride, never share a byte if each is larger than those inside */
	for (int i = 0; i < n; i++) {
		for (int j = i + 1; j < n; j++)
			if (some[j].stride < some[i].stride) {
				struct step s = some[i];
				some[i] = some[j];
				some[j] = s;
			}
		if (some[i].stride < unit)
			return false;
		unit += some[i].stride * (some[i].n - 1);
	}
	return true;
}

bool
npu_fm_extents_overlap(const struct npu_fm *a, struct npu_box abox, const struct npu_fm *b,
		       struct npu_box bbox)
{
	struct npu_range at[4], bt[4];
	bool near = false;
	npu_fm_extent(a, abox, at);
	npu_fm_extent(b, bbox, bt);
	for (int i = 0; i < 16; i++) {
		const struct npu_range *p = &at[i / 4], *q = &bt[i % 4];
		near |= p->n && q->n && spans_overlap(p->at, p->n, q->at, q->n);
	}
	return near;
}

bool
npu_fm_overlap(const struct npu_fm *a, struct npu_box abox,
	       const struct npu_fm *b, struct npu_box bbox, uint64_t *steps)
{
	if (a->region != b->region)
		return false;
	if (npu_fm_same_place(a, b)) {
		if (abox.y0 < bbox.y1 && bbox.y0 < abox.y1 && abox.x0 < bbox.x1 &&
		    bbox.x0 < abox.x1 && abox.c0 < bbox.c1 && bbox.c0 < abox.c1)
			return true; /* the boxes intersect */
		if (npu_fm_nests(a) && npu_fm_nests(b))
			return false;
	}
	struct probe p = { .f = b, .box = bbox, .steps = steps };
	return npu_fm_extents_overlap(a, abox, b, bbox) &&
	       !npu_fm_runs(a, abox, run_misses_box, &p);
}

/* ---- DMA ---------------------------------------------------------------- */

/* Addresses have 40 bits: an address beyond this one is out of bounds in any region. */
#define FAR ((int64_t)1 << 48)

/*
 * Transfers of U85: step[] is the distance between the starts of two transfers.  An index
 * may select any row up to the largest, so that all these rows are visited.
 */
static bool
stepped_runs(const struct npu_op *op, int which, npu_visit visit, void *ctx)
{
	const struct npu_range *r = which ? &op->dst : &op->src;
	const int64_t *step = which ? op->dst_step : op->src_step;
	bool indexed = which ? op->dst_indexed : op->src_indexed;
	int64_t count = indexed ? op->row_max + 1 : op->size0, n = r->n;
	int64_t whole = 0;
	/* rows that join up, or rows by an index, of which these are too many to visit each */
	enum { MOST = 1 << 16 };
	bool joined = step[0] == n && !__builtin_mul_overflow(count, n, &whole);
	bool many = indexed && (count > MOST || count * op->size1 > MOST);
	if (!joined && many && (__builtin_mul_overflow(count - 1, step[0], &whole) ||
				__builtin_add_overflow(whole, n, &whole)))
		whole = FAR;
	for (int64_t j = 0; j < op->size1; j++) {
		int64_t at = r->at + j * step[1];
		if (at > FAR)
			return visit(ctx, FAR, n);
		if (joined || many) {
			if (!visit(ctx, at, whole < FAR ? whole : FAR))
				return false;
			continue;
		}
		for (int64_t i = 0; i < count; i++)
			if (!visit(ctx, at + i * step[0], n))
				return false;
	}
	return true;
}

bool
npu_dma_runs(const struct npu_op *op, int which, npu_visit visit, void *ctx)
{
	const struct npu_range *r = which ? &op->dst : &op->src;
	int dims = which ? op->dst_dims : op->src_dims;
	int64_t n = r->n, count = (int64_t)op->size0 * op->size1;
	if (n == 0)
		return true;
	if (npu_dma_is_stepped(op))
		return stepped_runs(op, which, visit, ctx);
	if (dims == 1) { /* contiguous, even if the other side repeats */
		if (__builtin_mul_overflow(n, count, &n) || n > FAR)
			n = FAR;
		return count == 0 || visit(ctx, r->at, n);
	}
	int64_t plane = r->at;
	for (int z = 0; z < op->size1; z++) {
		int64_t at = plane;
		for (int i = 0; i < op->size0; i++) {
			if (!visit(ctx, at, n))
				return false;
			if (at > FAR || at < -FAR)
				return true;
			at += n + op->skip0;
		}
		/*
		 * SKIP1 is relative to the byte behind the plane's last one (U14 in
		 * ethosu-commands(7) 17)
		 */
		plane += n * op->size0 + op->skip1;
	}
	return true;
}
