/* SPDX-License-Identifier: Apache-2.0 */
/* Converts records of the graph to bytes of a region: ethosu-memory(7) 5, 9. */
#include "source/parts.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "stream/op.h"

struct source_part
source_part_of(const struct g_step *s)
{
	const struct g_op *op = s->op;
	struct source_part p = { .op = op, .rows = op->ofm.shape.h,
				 .depth = op->ofm.shape.c };
	if (G_HAS(s, G_STEP_rows)) {
		p.row = s->rows.lo;
		p.rows = s->rows.hi - s->rows.lo;
	}
	if (op->weights && op->weights->slices.n) {
		p.channel = (int32_t)op->weights->slices.v[s->slice];
		p.depth = (int32_t)op->weights->slices.v[s->slice + 1] - p.channel;
	}
	p.ifm_row = p.row;
	if (op_is_row_by_row(op->kind))
		return p;
	int up = op->upscale == UPSCALE_NONE ? 1 : 2;
	int64_t top = p.row * op->stride.y - op->pad.top;
	int64_t reach = top + (p.rows - 1) * op->stride.y +
			(int64_t)(op->kernel.y - 1) * op->dilation.y + 1;
	p.pad_top = (int)max_i64(-top, 0);
	p.ifm_row = max_i64(top, 0) / up;
	p.pad_bottom = (int)max_i64(reach - (int64_t)op->ifm.shape.h * up, 0);
	/* with all rows, the padding is the operation's, even if it is not read */
	if (p.rows == op->ofm.shape.h)
		p.pad_bottom = (int)max_i64(p.pad_bottom, op->pad.bottom);
	return p;
}

int64_t
source_address(const struct g_operand *o, int64_t y, int64_t x, int64_t c)
{
	const struct g_tensor *t = o->t;
	int64_t e = graph_type_bytes(o->type), at;
	if (o->view == VIEW_STRIDED) {
		at = (o->offset + y * o->stride[0] + x * o->stride[1] + c * o->stride[2]) * e;
		return t->at + (G_HAS(t, G_TENSOR_rows) ? at % tensor_bytes(t) : at);
	}
	if (o->view == VIEW_RESHAPE || o->type != t->shape.type) {
		at = ((y * o->shape.w + x) * o->shape.c + c) * e;
		return t->at + (G_HAS(t, G_TENSOR_rows) ? at % tensor_bytes(t) : at);
	}
	y += o->start.h;
	x += o->start.w;
	c += o->start.c;
	if (G_HAS(t, G_TENSOR_rows))
		y %= t->rows;
	int64_t pixel = t->pixel_stride ? t->pixel_stride / e : t->hwc.c;
	int64_t row = t->row_stride ? t->row_stride / e : t->hwc.w * pixel;
	if (t->layout == LAYOUT_NHCWB16)
		at = y * t->hwc.w * round_up_i64(t->hwc.c, BRICK) +
		     c / BRICK * BRICK * t->hwc.w + x * BRICK + c % BRICK;
	else
		at = y * row + x * pixel + c;
	return t->at + at * e;
}

int
source_region(int place, bool spilling)
{
	return place == PLACE_CACHE && !spilling ? PLACE_ARENA : place;
}

const struct g_code *
source_code(const struct graph *g, const struct g_weights *w, int slice, int core)
{
	for (size_t i = 0; i < g->n_codes; i++)
		if (g->codes[i]->weights == w && g->codes[i]->slice == slice &&
		    g->codes[i]->core == core)
			return g->codes[i];
	return NULL;
}

struct npu_range
source_slice(const struct graph *g, const struct g_weights *w, int slice)
{
	struct npu_range r = { .region = PLACE_FLASH };
	const struct g_code *first = source_code(g, w, slice, 0), *last = first;
	for (int core = 1; first && core < 8; core++) {
		const struct g_code *c = source_code(g, w, slice, core);
		last = c ? c : last;
	}
	if (!first)
		return r;
	r.at = first->scale_bytes.at;
	r.n = last->weight_bytes.at + last->weight_bytes.bytes - r.at;
	return r;
}
