/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the operations of a stream as JSON. */
#include "dis.h"

#include <inttypes.h>
#include <string.h>

static void
put_string(struct text *t, const char *key, const char *v)
{
	text_printf(t, "\"%s\":", key);
	text_quoted(t, v, strlen(v));
}

static void
put_shape(struct text *t, const char *key, struct hwc s)
{
	text_printf(t, ",\"%s\":[%d,%d,%d]", key, s.h, s.w, s.c);
}

/* Prints a feature map of U85 that is not in memory. */
static void
put_no_place(struct text *t, const char *key, const struct npu_fm *f)
{
	text_printf(t, ",\"%s\":{", key);
	if (f->storage == NPU_CHAINED)
		text_printf(t, "\"chain\":%d,", f->chain);
	text_printf(t, "\"zero\":%d,\"bits\":%d,\"signed\":%s", f->zero,
		    f->bits, f->is_signed ? "true" : "false");
	put_shape(t, "shape", f->shape);
	text_putc(t, '}');
}

static void
put_fm(struct text *t, const char *key, const struct npu_fm *f)
{
	if (!npu_fm_stored(f)) {
		put_no_place(t, key, f);
		return;
	}
	text_printf(t, ",\"%s\":{\"region\":%d,\"base\":[%" PRId64 ",%" PRId64
		    ",%" PRId64 ",%" PRId64 "],\"tiles\":[%d,%d,%d]", key,
		    f->region, f->base[0], f->base[1], f->base[2], f->base[3],
		    f->h0, f->h1, f->w0);
	put_shape(t, "shape", f->shape);
	text_printf(t, ",\"stride\":[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
		    f->stride_y, f->stride_x, f->stride_c);
	text_printf(t, ",\"zero\":%d,\"bits\":%d,\"signed\":%s,"
		    "\"layout\":\"%s\"}", f->zero, f->bits,
		    f->is_signed ? "true" : "false",
		    f->bricks ? "nhcwb16" : "nhwc");
}

static void
put_ranges(struct text *t, const char *key, const struct npu_range *r, int n)
{
	text_printf(t, ",\"%s\":[", key);
	for (int i = 0; i < n && r[i].n; i++)
		text_printf(t, "%s{\"region\":%d,\"at\":%" PRId64
			    ",\"bytes\":%" PRId64 "}", i ? "," : "",
			    r[i].region, r[i].at, r[i].n);
	text_putc(t, ']');
}

static void
put_steps(struct text *t, const struct npu_op *op)
{
	text_printf(t, ",\"repeat\":[%d,%d],\"src_step\":[%" PRId64 ",%" PRId64
		    "],\"dst_step\":[%" PRId64 ",%" PRId64 "]", op->size1,
		    op->size0, op->src_step[1], op->src_step[0],
		    op->dst_step[1], op->dst_step[0]);
	if (op->src_indexed || op->dst_indexed)
		text_printf(t, ",\"indexed\":\"%s\",\"index\":{\"region\":%d,"
			    "\"at\":%" PRId64 ",\"bytes\":%" PRId64
			    ",\"max\":%" PRId64 "}",
			    op->src_indexed ? "src" : "dst", op->rows.region,
			    op->rows.at, op->rows.n, op->row_max);
}

static void
put_dma(struct text *t, const struct npu_op *op, const struct accel *accel)
{
	const char *internal = accel_lacks(accel, LACK_SHRAM) ? "lut" : "shram_cores";
	text_printf(t, ",\"bytes\":%" PRId64, op->src.n);
	text_printf(t, ",\"src\":{\"%s\":%d,\"at\":%" PRId64 "}",
		    op->src_internal ? internal : "region",
		    op->src.region, op->src.at);
	text_printf(t, ",\"dst\":{\"%s\":%d,\"at\":%" PRId64 "}",
		    op->dst_internal ? internal : "region",
		    op->dst.region, op->dst.at);
	if (npu_dma_is_stepped(op))
		put_steps(t, op);
	else if (op->src_dims > 1 || op->dst_dims > 1)
		text_printf(t, ",\"repeat\":[%d,%d],\"skip\":[%" PRId64
			    ",%" PRId64 "]", op->size1, op->size0, op->skip0,
			    op->skip1);
}

/* Prints the values that U85 has instead of an SHRAM layout. */
static void
put_more(struct text *t, const struct npu_op *op)
{
	put_shape(t, "extent", op->extent);
	put_shape(t, "microblock", op->ublock);
	text_printf(t, ",\"transpose\":%d,\"reverse\":%d,\"acc_format\":%d,"
		    "\"acc_input\":%d,\"acc_output\":%s,"
		    "\"fast_weights\":%s,\"sparse_weights\":%s,"
		    "\"clip\":%d,\"table\":%" PRId64 ",\"blockdep\":%d",
		    (int)op->transpose, (int)op->reverse, op->acc_format,
		    (int)op->acc_input, op->acc_kept ? "false" : "true",
		    op->fast_weights ? "true" : "false",
		    op->sparse_weights ? "true" : "false", op->clip_range,
		    op->table.at, op->blockdep);
	if (op->kind == NPU_ELEMENTWISE)
		text_printf(t, ",\"operand_scales\":[[%" PRIu32 ",%d,%d],[%"
			    PRIu32 ",%d,%d]]", op->opa_mult, op->opa_shift,
			    op->opa_double, op->opb_mult, op->opb_shift,
			    op->opb_double);
	if (op->kind == NPU_RESIZE)
		text_printf(t, ",\"resize\":[[%d,%d,%d],[%d,%d,%d]]",
			    op->resize_y.n, op->resize_y.d, op->resize_y.offset,
			    op->resize_x.n, op->resize_x.d, op->resize_x.offset);
}

static void
put_kernel(struct text *t, const struct npu_op *op)
{
	if (!op->ifm_scalar)
		put_fm(t, "ifm", &op->ifm);
	if (op->ifm_scalar || op->ifm2_scalar)
		text_printf(t, ",\"scalar\":%d", op->scalar);
	if (op->has_ifm2 && !op->ifm2_scalar)
		put_fm(t, "ifm2", &op->ifm2);
	put_fm(t, "ofm", &op->ofm);
	text_printf(t, ",\"kernel\":[%d,%d],\"stride\":[%d,%d],"
		    "\"dilation\":[%d,%d],\"pad\":[%d,%d,%d,%d]",
		    op->kernel_h, op->kernel_w, op->stride_y, op->stride_x,
		    op->dilation_y, op->dilation_x, op->pad_top, op->pad_left,
		    op->pad_bottom, op->pad_right);
	text_printf(t, ",\"upscale\":%d,\"part_kernel\":%s", (int)op->upscale,
		    op->part_kernel ? "true" : "false");
	put_ranges(t, "weights", op->weights, ARRAY_LEN(op->weights));
	put_ranges(t, "scales", op->scales, ARRAY_LEN(op->scales));
	text_printf(t, ",\"activation\":%d,\"min\":%d,\"max\":%d",
		    op->activation, op->min, op->max);
	if (op->global_scale)
		text_printf(t, ",\"scale\":[%" PRIu32 ",%d]", op->ofm_mult,
			    op->ofm_shift);
	text_printf(t, ",\"rounding\":%d", (int)op->rounding);
	put_shape(t, "block", op->block);
	if (op->ublock.h) {
		put_more(t, op);
		return;
	}
	text_printf(t, ",\"ib_end\":%d,\"ab_start\":%d,\"ib2_start\":%d,"
		    "\"acc_format\":%d,\"blockdep\":%d", op->ib_end,
		    op->ab_start, op->ib2_start, op->acc_format, op->blockdep);
}

bool
print_json(struct arena *a, struct text *t, const struct input *in, int k,
	   struct err *e)
{
	const struct npu_stream *s = &in->stream[k];
	struct npu_walk w;
	struct npu_op op;
	bool first = true;
	text_putc(t, '{');
	put_string(t, "name", s->name);
	text_printf(t, ",\"subgraph\":%d,\"operator\":%d,", s->subgraph, s->op);
	put_string(t, "accelerator", s->accel->name);
	text_printf(t, ",\"bytes\":%zu,\"operations\":[", 4 * s->n_words);
	walk_init(&w, s);
	for (; walk_next(&w, &op, e); first = false) {
		text_printf(t, "%s\n {\"offset\":%zu,", first ? "" : ",",
			    4 * op.at);
		put_string(t, "op", npu_op_name(&op));
		bool named = op.kind == NPU_DMA || npu_is_kernel(&op);
		const char *name = named ? source_name(a, in, k, op.at) : NULL;
		if (name) {
			text_putc(t, ',');
			put_string(t, "source", name);
		}
		if (op.kind == NPU_DMA)
			put_dma(t, &op, s->accel);
		else if (npu_is_kernel(&op))
			put_kernel(t, &op);
		else
			text_printf(t, ",\"param\":%d", op.param);
		text_putc(t, '}');
	}
	text_puts(t, "]}");
	return !e->status;
}
