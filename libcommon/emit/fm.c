/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of feature maps: ethosu-memory(7) 5. */
#include "emit/regs.h"

#include "base/fixed.h"
#include "graph/facts.h"

int
emit_region(const struct memory_system *memory, int place)
{
	/* without spilling the cache is part of the arena: ethosu-memory(7) 9.1 */
	return place == PLACE_CACHE && !memory->spilling ? PLACE_ARENA : place;
}

int
emit_region_of(const struct memory_system *memory, const struct g_tensor *t)
{
	return tensor_is_const(t) ? PLACE_FLASH : emit_region(memory, t->area);
}

/*
 * Sets the tiles of rows y to y + f->shape.h - 1.  inside: byte offset of the first element in
 * its row.
 */
static void
set_tiles(struct npu_fm *f, const struct g_tensor *t, int64_t y, int64_t inside)
{
	f->h0 = f->h1 = f->shape.h;
	f->w0 = f->shape.w;
	if (!G_HAS(t, G_TENSOR_rows)) {
		f->base[0] = t->at + y * f->stride_y + inside;
		return;
	}
	/* a rolling buffer: rows wrap once, into tile 2 (ethosu-memory(7) 5.6) */
	int64_t first = y % t->rows;
	int32_t before = (int32_t)(t->rows - first);
	f->base[0] = t->at + first * f->stride_y + inside;
	if (before < f->shape.h) {
		f->base[2] = t->at + inside;
		f->h0 = f->h1 = before;
	}
}

static struct npu_fm
fm_of_operand(const struct g_operand *o, int32_t lo, int32_t hi)
{
	const struct g_tensor *t = o->t;
	const bool bricks = t->layout == LAYOUT_NHCWB16;
	struct npu_fm f = {
		.shape = { .h = hi - lo, .w = o->shape.w, .c = o->shape.c },
		.bits = 8 * graph_type_bytes(o->type),
		.bricks = bricks,
	};
	int64_t e = npu_fm_bytes(&f);
	if (o->view == VIEW_STRIDED) {
		f.stride_y = o->stride[0] * e;
		f.stride_x = o->stride[1] * e;
		f.stride_c = e;
		set_tiles(&f, t, lo, o->offset * e);
		return f;
	}
	struct g_stride s = tensor_strides(t);
	if (o->view == VIEW_RESHAPE ||
	    (o->view == VIEW_WHOLE && o->type != t->shape.type))
		s = (struct g_stride){ .y = (int64_t)o->shape.w * o->shape.c * e,
				       .x = o->shape.c * e, .c = e };
	f.stride_y = s.y;
	f.stride_x = s.x;
	f.stride_c = s.c;
	/* the byte offset of the first channel inside a pixel */
	int64_t size = graph_type_bytes(t->shape.type), channel = o->start.c * size;
	if (bricks)
		channel = o->start.c / BRICK * s.c + o->start.c % BRICK * size;
	set_tiles(&f, t, o->start.h + lo, o->start.w * s.x + channel);
	return f;
}

struct npu_fm
emit_feature_map(const struct memory_system *memory, const struct g_operand *o, int32_t lo,
		 int32_t hi)
{
	struct npu_fm f = fm_of_operand(o, lo, hi);
	f.region = emit_region_of(memory, o->t);
	return f;
}

/* First and last byte of `rows` rows from a base. */
static struct g_range
tile_extent(const struct npu_fm *f, int64_t base, int64_t rows)
{
	int64_t e = npu_fm_bytes(f);
	int64_t x = (int64_t)(f->shape.w - 1) * (f->bricks ? BRICK * e : f->stride_x);
	int64_t y = (rows - 1) * f->stride_y;
	int64_t c = (f->shape.c - 1) * e;
	if (f->bricks)
		c = (f->shape.c - 1) / BRICK * f->stride_c +
		    ((f->shape.c - 1) / BRICK ? BRICK - 1 : f->shape.c - 1) * e;
	return (struct g_range){
		.lo = base + min_i64(x, 0) + min_i64(y, 0),
		.hi = base + (x > 0 ? x : 0) + (y > 0 ? y : 0) + c + e,
	};
}

int
emit_extent(const struct npu_fm *f, struct g_range tile[2])
{
	tile[0] = tile_extent(f, f->base[0], f->h0);
	if (f->h0 == f->shape.h)
		return 1;
	tile[1] = tile_extent(f, f->base[2], f->shape.h - f->h0);
	return 2;
}

/* Cuts an operand to `depth` channels from c on. */
static void
cut_depth(struct g_operand *o, int32_t c, int32_t depth)
{
	if (o->view == VIEW_STRIDED) {
		o->offset += c * o->stride[2];
	} else if (o->view == VIEW_RESHAPE) {
		o->view = VIEW_STRIDED;
		o->stride[0] = (int64_t)o->shape.w * o->shape.c;
		o->stride[1] = o->shape.c;
		o->stride[2] = 1;
		o->offset = c;
	} else {
		o->view = VIEW_BOX;
		o->start.c += c;
	}
	o->shape.c = depth;
}

struct emit_part
emit_part(const struct g_op *op, struct g_range rows, int slice)
{
	struct emit_part p = {
		.ofm = op->ofm, .ifm = op->ifm, .rows = rows,
		.depth = { .lo = 0, .hi = op_extent(op).c },
	};
	if (!op->weights || !op->weights->slices.n)
		return p;
	p.depth.lo = op->weights->slices.v[slice];
	p.depth.hi = op->weights->slices.v[slice + 1];
	int32_t depth = (int32_t)(p.depth.hi - p.depth.lo);
	cut_depth(&p.ofm, (int32_t)p.depth.lo, depth);
	if (op->kind == OP_DEPTHWISE)
		cut_depth(&p.ifm, (int32_t)p.depth.lo, depth);
	return p;
}

static int
add_spans(const struct g_operand *o, int32_t lo, int32_t hi, struct emit_span *out)
{
	struct npu_fm f = fm_of_operand(o, lo, hi);
	struct g_range tile[2];
	int n = emit_extent(&f, tile);
	for (int i = 0; i < n; i++)
		out[i] = (struct emit_span){ .t = o->t, .lo = tile[i].lo - o->t->at,
					     .hi = tile[i].hi - o->t->at };
	return n;
}

int
emit_spans(const struct g_op *op, struct g_range rows, int slice,
	   struct emit_span out[EMIT_SPANS])
{
	struct emit_part p = emit_part(op, rows, slice);
	struct emit_rows r = emit_ifm_rows(op, rows);
	int n = add_spans(&p.ifm, r.lo, r.hi, out);
	int m = add_spans(&p.ofm, (int32_t)rows.lo, (int32_t)rows.hi, out + n);
	for (; m > 0; m--)
		out[n++].write = true;
	bool one = op->ifm2.shape.h == 1;
	if (op->ifm2.t)
		n += add_spans(&op->ifm2, one ? 0 : r.lo, one ? 1 : r.hi, out + n);
	return n;
}

struct emit_rows
emit_ifm_rows(const struct g_op *op, struct g_range r)
{
	if (op->kind == OP_RESIZE)
		return (struct emit_rows){ .hi = op_sampled(op).y };
	if (op_is_row_by_row(op->kind))
		return (struct emit_rows){ .lo = (int32_t)r.lo, .hi = (int32_t)r.hi };
	bool twice = op->upscale != UPSCALE_NONE;
	int64_t height = (int64_t)op->ifm.shape.h * (twice ? 2 : 1);
	int64_t first = r.lo * op->stride.y - op->pad.top;
	int64_t end = (r.hi - 1) * op->stride.y - op->pad.top + op_dilated(op).y;
	bool whole = r.lo == 0 && r.hi == op->ofm.shape.h;
	int64_t top = first < 0 ? -first : 0;
	int64_t bottom = end > height ? end - height : 0;
	if (first < 0)
		first = 0;
	if (end > height)
		end = height;
	/* keep the operation's own padding, even if the last rows need less */
	if (whole)
		bottom = op->pad.bottom > bottom ? op->pad.bottom : bottom;
	if (whole && bottom > 0)
		end = height;
	/* divides by a constant: schedulers call this function most often */
	return (struct emit_rows){ .lo = (int32_t)(twice ? first / 2 : first),
				   .hi = (int32_t)(twice ? (end + 1) / 2 : end),
				   .pad_top = (int32_t)top,
				   .pad_bottom = (int32_t)bottom };
}
