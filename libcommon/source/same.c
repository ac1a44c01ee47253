/* SPDX-License-Identifier: Apache-2.0 */
/* Compares registers with values of the graph, on every generation. */
#include "source/parts.h"

#include "graph/facts.h"
#include "stream/op.h"
#include "target/accel.h"

#include <inttypes.h>
#include <stdio.h>

/* Reports "o3: WHAT is HAVE, the graph has WANT" if the values differ. */
void
source_same(struct source *x, const struct g_op *op, const char *what, int64_t have,
     int64_t want)
{
	if (have != want)
		source_error(x, "o%d: %s is %" PRId64 ", the graph has %" PRId64,
		      op->rec.id, what, have, want);
}

/* For registers of 16 bits: messages print the values as signed numbers. */
void
source_same16(struct source *x, const struct g_op *op, const char *what, int64_t have,
       int64_t want)
{
	source_same(x, op, what, (int16_t)have, (int16_t)want);
}

/*
 * Compares the addresses of the elements at the borders of tiles and bricks.  They determine
 * all other addresses, because each tile and brick is linear.  row, channel: position in the
 * operand where the feature map begins.
 */
static void
same_places(struct source *x, const struct g_op *op, const char *role,
	    const struct npu_fm *f, const struct g_operand *o, int64_t row,
	    int32_t channel)
{
	const int32_t ys[] = { 0, 1, f->h0 - 1, f->h0, f->h1, f->shape.h - 1 };
	const int32_t xs[] = { 0, 1, f->w0 - 1, f->w0, f->shape.w - 1 };
	const int32_t cs[] = { 0, 1, BRICK - 1, BRICK, BRICK + 1, f->shape.c - 1 };
	for (size_t i = 0; i < ARRAY_LEN(ys); i++)
		for (size_t j = 0; j < ARRAY_LEN(xs); j++)
			for (size_t k = 0; k < ARRAY_LEN(cs); k++) {
				int32_t v = ys[i], w = xs[j], c = cs[k];
				if (v < 0 || v >= f->shape.h || w < 0 ||
				    w >= f->shape.w || c < 0 || c >= f->shape.c)
					continue;
				int64_t have = npu_fm_address(f, v, w, c);
				int64_t want = source_address(o, row + v, w,
							      channel + c);
				if (have == want)
					continue;
				source_error(x, "o%d: %s element %d,%d,%d is at 0x%" PRIx64
				      ", the graph has t%d's at 0x%" PRIx64,
				      op->rec.id, role, v, w, c, (uint64_t)have,
				      o->t->rec.id, (uint64_t)want);
				return;
			}
}

void
source_same_type(struct source *x, const struct g_op *op, const char *role,
	  const struct npu_fm *f, int type, int32_t zero)
{
	char what[40];
	(void)snprintf(what, sizeof(what), "%s type's width", role);
	source_same(x, op, what, f->bits, 8 * graph_type_bytes(type));
	(void)snprintf(what, sizeof(what), "%s signedness", role);
	source_same(x, op, what, f->is_signed, graph_type_signed(type));
	(void)snprintf(what, sizeof(what), "%s zero point", role);
	source_same16(x, op, what, f->zero, zero);
}

void
source_same_fm(struct source *x, const struct g_op *op, const char *role,
	 const struct npu_fm *f, const struct g_operand *o, struct hwc shape,
	 int64_t row, int32_t channel, int32_t zero)
{
	source_same_type(x, op, role, f, o->type, zero);
	int region = tensor_is_const(o->t) ? PLACE_FLASH
					   : source_region(o->t->area, x->spilling);
	if (f->region != region)
		source_error(x, "o%d: %s is in region %d, t%d is in %d", op->rec.id, role,
		      f->region, o->t->rec.id, region);
	if (f->bricks != (o->t->layout == LAYOUT_NHCWB16))
		source_error(x, "o%d: %s has layout %s, t%d has another", op->rec.id, role,
		      f->bricks ? "nhcwb16" : "nhwc", o->t->rec.id);
	if (!hwc_equal(f->shape, shape))
		source_error(x, "o%d: %s is %dx%dx%d, the graph has %dx%dx%d", op->rec.id,
		      role, f->shape.h, f->shape.w, f->shape.c, shape.h, shape.w,
		      shape.c);
	same_places(x, op, role, f, o, row, channel);
}

int
source_mode(int kind)
{
	static const int modes[OP_KINDS] = {
		[OP_MAXPOOL] = NPU_POOL_MAX, [OP_AVGPOOL] = NPU_POOL_AVERAGE,
		[OP_REDUCE_SUM] = NPU_POOL_REDUCE_SUM, [OP_MUL] = NPU_ELT_MUL,
		[OP_ADD] = NPU_ELT_ADD, [OP_SUB] = NPU_ELT_SUB,
		[OP_MIN] = NPU_ELT_MIN, [OP_MAX] = NPU_ELT_MAX,
		[OP_LRELU] = NPU_ELT_LRELU, [OP_ABS] = NPU_ELT_ABS,
		[OP_CLZ] = NPU_ELT_CLZ, [OP_SHR] = NPU_ELT_SHR,
		[OP_SHL] = NPU_ELT_SHL, [OP_DIV] = NPU_ELT85_DIV,
		[OP_EQUAL] = NPU_ELT85_EQ, [OP_UNEQUAL] = NPU_ELT85_NE,
		[OP_GREATER] = NPU_ELT85_GT, [OP_NOT_LESS] = NPU_ELT85_GE,
		[OP_AND] = NPU_ELT85_AND, [OP_OR] = NPU_ELT85_OR,
		[OP_AND_NOT] = NPU_ELT85_AND_NOT, [OP_XOR] = NPU_ELT85_XOR,
		[OP_LSR] = NPU_ELT85_LSR,
	};
	return modes[kind];
}

enum npu_op_kind
source_kind(int kind)
{
	return kind == OP_CONV || kind == OP_FC ? NPU_CONV
	       : kind == OP_DEPTHWISE		? NPU_DEPTHWISE
	       : op_is_pool(kind)		? NPU_POOL
						: NPU_ELEMENTWISE;
}

void
source_same_window(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	const struct g_op *op = p->op;
	source_same(x, op, "kernel height", k->kernel_h, op->kernel.y);
	source_same(x, op, "kernel width", k->kernel_w, op->kernel.x);
	source_same(x, op, "vertical stride", k->stride_y, op->stride.y);
	source_same(x, op, "horizontal stride", k->stride_x, op->stride.x);
	source_same(x, op, "vertical dilation", k->dilation_y, op->dilation.y);
	source_same(x, op, "horizontal dilation", k->dilation_x, op->dilation.x);
	source_same(x, op, "padding above", k->pad_top, p->pad_top);
	source_same(x, op, "padding below", k->pad_bottom, p->pad_bottom);
	source_same(x, op, "padding on the left", k->pad_left, op->pad.left);
	source_same(x, op, "padding on the right", k->pad_right, op->pad.right);
	source_same(x, op, "traversal", k->part_kernel, op->traversal == PART_KERNEL);
}

void
source_same_table(struct source *x, const struct g_op *op, int slot, int bytes)
{
	if (slot < 0) {
		source_error(x, "o%d uses no table, the graph has table l%d", op->rec.id,
		      op->lut->rec.id);
		return;
	}
	for (int i = 0; i < bytes / 256; i++)
		if (slot + i >= SLOTS || x->lut[slot + i] != op->lut ||
		    x->part[slot + i] != i) {
			source_error(x, "o%d: slot %d does not hold table l%d", op->rec.id, slot,
			      op->lut->rec.id);
			return;
		}
}

static void
same_range(struct source *x, const struct g_op *op, const char *what, int core,
	   const struct npu_range *have, int region, struct g_span want, int64_t move)
{
	if (!want.bytes && !have->n)
		return;
	if (have->region == region && have->at == want.at + move &&
	    have->n == want.bytes)
		return;
	source_error(x, "o%d: %s of core %d are %" PRId64 " bytes at 0x%" PRIx64 " of region "
	      "%d, the graph has %" PRId64 " at 0x%" PRIx64 " of %d", op->rec.id,
	      what, core, have->n, (uint64_t)have->at, have->region, want.bytes,
	      (uint64_t)(want.at + move), region);
}

void
source_same_weights(struct source *x, const struct npu_op *k, const struct g_step *s)
{
	const struct g_op *op = s->op;
	const struct g_buffer *b = s->buffer ? s->buffer : s->scale_buffer;
	int region = PLACE_FLASH, scale_region = PLACE_FLASH;
	int64_t move = 0, move_scales = 0;
	source_same(x, op, "number of cores", k->cores, x->accel->cores);
	/* U85 has the scales of all streams beside the first one */
	int streams = x->accel->cores * x->accel->streams;
	if (b) {
		scale_region = source_region(b->area, x->spilling);
		move_scales = b->at - source_slice(x->g, op->weights, s->slice).at;
	}
	if (s->buffer) {
		region = scale_region;
		move = move_scales;
	}
	for (int core = 0; core < streams; core++) {
		const struct g_code *c = source_code(x->g, op->weights, s->slice, core);
		struct g_span none = { 0 };
		same_range(x, op, "weights", core, &k->weights[core], region,
			   c ? c->weight_bytes : none, move);
		if (core < x->accel->cores)
			same_range(x, op, "scales", core, &k->scales[core], scale_region,
				   c ? c->scale_bytes : none, move_scales);
	}
}
