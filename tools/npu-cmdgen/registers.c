/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the emitter's records with the graph's names of their operands: "Register-Level Command
 * Stream" of the reference's log.
 */
#include "base/fixed.h"
#include "cmdgen.h"
#include "base/text.h"
#include "graph/facts.h"
#include "graph/table.h"
#include "stream/op.h"
#include "stream/stream.h"

#include <inttypes.h>

static void
put_feature_map(struct text *t, const struct cmdgen *c, const char *what,
	const struct npu_fm *f, const struct g_tensor *of)
{
	int64_t depth = f->bricks ? round_up_i64(f->shape.c, BRICK) : f->shape.c;
	int64_t size = (int64_t)f->shape.h * f->shape.w * depth * f->bits / 8;
	text_printf(t, "      %s: h=%d,w=%d,c=%d, region=%d, %s, %sINT%d, size=%"
		    PRId64 ", scale: ", what, f->shape.h, f->shape.w, f->shape.c,
		    f->region, f->bricks ? "NHCWB16" : "NHWC",
		    f->is_signed ? "" : "U", f->bits, size);
	if (G_HAS(of, G_TENSOR_scale))
		text_repr(t, (double)of->scale);
	else
		text_puts(t, "None");
	text_printf(t, ", zero: %d\n", f->zero);
	text_printf(t, "         Stride y/x/c: %" PRId64 "/%" PRId64 "/%" PRId64
		    ", tiles: w0=%d, h0=%d, h1=%d, base=['0x%" PRIx64 "', '0x%"
		    PRIx64 "', '0x%" PRIx64 "', '0x%" PRIx64 "']\n",
		    f->stride_y, f->stride_x, f->stride_c, f->w0, f->h0, f->h1,
		    (uint64_t)f->base[0], (uint64_t)f->base[1],
		    (uint64_t)f->base[2], (uint64_t)f->base[3]);
	text_printf(t, "         name=%s\n", table_name(c->a, of->name, 't', of->rec.id));
}

static void
put_input(struct text *t, const struct cmdgen *c, const char *what, const struct npu_fm *f,
	  const struct g_tensor *of, const int32_t *scalar)
{
	if (scalar)
		text_printf(t, "      %s: scalar=%d\n", what, *scalar);
	else
		put_feature_map(t, c, what, f, of);
}

static void
put_range(struct text *t, const struct npu_range *r)
{
	text_printf(t, "(region=%d, address=0x%" PRIx64 ", length=%" PRId64 ")",
		    r->region, (uint64_t)r->at, r->n);
}

/* one range, or one per core */
static void
put_ranges(struct text *t, const char *what, const struct npu_range r[2])
{
	text_printf(t, "      %s: ", what);
	put_range(t, &r[0]);
	if (r[1].n) {
		text_puts(t, ", ");
		put_range(t, &r[1]);
	}
	text_putc(t, '\n');
}

static const char *const titles[OP_KINDS] = {
	[OP_CONV] = "Conv2D Conv2D",
	[OP_FC] = "FullyConnected Conv2D",
	[OP_DEPTHWISE] = "DepthwiseConv2D ConvDepthWise",
	[OP_MAXPOOL] = "MAX Pooling", [OP_AVGPOOL] = "AVERAGE Pooling",
	[OP_REDUCE_SUM] = "REDUCE_SUM Pooling",
	[OP_MATMUL] = "MatMul Conv2D", [OP_REORDER] = "SUM Pooling",
	[OP_RESIZE] = "Resize Resize",
	[OP_ARGMAX] = "ARGMAX_X Pooling",
	[OP_MUL] = "MUL ElementWise", [OP_ADD] = "ADD ElementWise",
	[OP_SUB] = "SUB ElementWise", [OP_MIN] = "MIN ElementWise",
	[OP_MAX] = "MAX ElementWise", [OP_LRELU] = "LRELU ElementWise",
	[OP_ABS] = "ABS ElementWise", [OP_CLZ] = "CLZ ElementWise",
	[OP_SHR] = "SHR ElementWise", [OP_SHL] = "SHL ElementWise",
	[OP_DIV] = "DIV ElementWise", [OP_EQUAL] = "CMP_EQ ElementWise",
	[OP_GREATER] = "CMP_GT ElementWise",
	[OP_NOT_LESS] = "CMP_GE ElementWise",
	[OP_UNEQUAL] = "CMP_NE ElementWise", [OP_AND] = "AND ElementWise",
	[OP_OR] = "OR ElementWise", [OP_AND_NOT] = "AND_NOT ElementWise",
	[OP_XOR] = "XOR ElementWise", [OP_LSR] = "LSR ElementWise",
};

static void
put_kernel(struct text *t, const struct cmdgen *c, const struct npu_op *o,
	   const struct g_step *s)
{
	static const char *const resampling[] = { "NONE", "NEAREST", "TRANSPOSE" };
	static const char *const rounding[] = { "TFL", "TRUNCATE", "NATURAL", "?" };
	const struct g_op *op = s->op;
	/* U85 takes the operands in the order of the operation */
	const bool swapped = op_is_binary(op->kind) && op->reversed && !o->ifm2_first;
	text_printf(t, "%s name=%s: ", titles[op->kind], op_label(c, op));
	put_stripe(t, c, s);
	text_putc(t, '\n');
	const struct g_tensor *of = swapped ? op->ifm2.t : op->ifm.t;
	const struct g_tensor *of2 = swapped ? op->ifm.t : op->ifm2.t;
	put_input(t, c, "IFM", &o->ifm, of, o->ifm_scalar ? &o->scalar : NULL);
	if (o->has_ifm2)
		put_input(t, c, "IFM2", &o->ifm2, of2, o->ifm2_scalar ? &o->scalar : NULL);
	put_feature_map(t, c, "OFM", &o->ofm, op->ofm.t);
	if (o->kind != NPU_ELEMENTWISE) {
		text_printf(t, "      Kernel: w=%d, h=%d, stride=(%d, %d), "
			    "dilation=(%d, %d)\n", o->kernel_w, o->kernel_h, o->stride_x,
			    o->stride_y, o->dilation_x, o->dilation_y);
		text_printf(t, "      NpuPadding(top=%d, left=%d, bottom=%d, right=%d)\n",
			    o->pad_top, o->pad_left, o->pad_bottom, o->pad_right);
	}
	if (o->weights[0].n) {
		put_ranges(t, "Weights", o->weights);
		put_ranges(t, "Scales", o->scales);
		text_printf(t, "      NpuBlockTraversal.%s\n",
			    o->part_kernel ? "PART_KERNEL_FIRST" : "DEPTH_FIRST");
	}
	/* a table, or bounds that are tighter than those of the type; other bounds clamp nothing */
	int64_t least = o->ofm.is_signed ? -((int64_t)1 << (o->ofm.bits - 1)) : 0;
	int64_t most = least + ((int64_t)1 << o->ofm.bits) - 1;
	const char *name = o->activation == NPU_ACT_TANH      ? "TANH"
			   : o->activation == NPU_ACT_SIGMOID ? "SIGMOID"
							      : NULL;
	if (name || o->activation >= NPU_ACT_TABLE0 ||
	    (o->ofm.bits <= 16 && (o->min > least || o->max < most))) {
		text_puts(t, "      Activation: ");
		if (o->activation >= NPU_ACT_TABLE0)
			text_printf(t, "TABLE_LOOKUP %d", o->activation - NPU_ACT_TABLE0);
		else
			text_puts(t, name ? name : "NONE_OR_RELU");
		text_printf(t, ", min=%d, max=%d\n", o->min, o->max);
	}
	text_printf(t, "      Block config: h=%d,w=%d,c=%d, "
		    "NpuResamplingMode.%s, NpuRoundingMode.%s", o->block.h,
		    o->block.w, o->block.c, resampling[o->upscale],
		    rounding[o->rounding & 3]);
	text_puts(t, o->kind == NPU_POOL ? ", rescale=None\n" : "\n");
}

void
print_operations(const struct cmdgen *c, size_t node, struct text *t)
{
	const struct emit_words *w = &c->stream[node];
	text_puts(t, "Register-Level Command Stream: Input\n");
	for (size_t i = 0; i < w->n_ops; i++) {
		const struct npu_op *o = &w->op[i];
		if (o->index < 0)
			continue;
		text_printf(t, "%d ", o->index);
		if (npu_is_kernel(o)) {
			put_kernel(t, c, o, w->mark[o->index].step);
			continue;
		}
		text_puts(t, "DMA_START src=");
		put_range(t, &o->src);
		text_puts(t, ", dest=");
		put_range(t, &o->dst);
		text_puts(t, ": ");
		put_transfer(t, w->mark[o->index].step);
		text_putc(t, '\n');
	}
}

bool
print_words(struct cmdgen *c, size_t node, struct text *t)
{
	const struct npu_stream s = { .accel = c->accel, .word = c->stream[node].word,
				      .n_words = c->stream[node].n };
	return stream_print(t, &s, false, c->e);
}
