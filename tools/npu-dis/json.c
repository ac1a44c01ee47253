/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the operations of a stream as JSON. */
#include "dis.h"

#include "stream/op.h"
#include "target/accel.h"

static void
put_shape(const struct json_out *j, const char *key, struct hwc s)
{
	const int32_t v[] = { s.h, s.w, s.c };
	json_put_i32s(j, key, v, ARRAY_LEN(v));
}

static void
put_i64s(const struct json_out *j, const char *key, const int64_t *v, size_t n)
{
	json_open(j, key, '[');
	for (size_t i = 0; i < n; i++)
		json_put_i64(j, NULL, v[i]);
	json_close(j, ']');
}

static void
put_type(const struct json_out *j, const struct npu_fm *f)
{
	json_put_i64(j, "zero", f->zero);
	json_put_i64(j, "bits", f->bits);
	json_put_bool(j, "signed", f->is_signed);
}

static void
put_fm(const struct json_out *j, const char *key, const struct npu_fm *f)
{
	json_open(j, key, '{');
	if (npu_fm_stored(f)) {
		json_put_i64(j, "region", f->region);
		put_i64s(j, "base", f->base, ARRAY_LEN(f->base));
		json_put_i32s(j, "tiles", (const int32_t[]){ f->h0, f->h1, f->w0 }, 3);
		put_shape(j, "shape", f->shape);
		put_i64s(j, "stride", (const int64_t[]){ f->stride_y, f->stride_x, f->stride_c }, 3);
		put_type(j, f);
		json_put_string(j, "layout", f->bricks ? "nhcwb16" : "nhwc");
	} else { /* of U85 */
		if (f->storage == NPU_CHAINED)
			json_put_i64(j, "chain", f->chain);
		put_type(j, f);
		put_shape(j, "shape", f->shape);
	}
	json_close(j, '}');
}

static void
put_ranges(const struct json_out *j, const char *key, const struct npu_range *r, int n)
{
	json_open(j, key, '[');
	for (int i = 0; i < n && r[i].n; i++) {
		json_open(j, NULL, '{');
		json_put_i64(j, "region", r[i].region);
		json_put_i64(j, "at", r[i].at);
		json_put_i64(j, "bytes", r[i].n);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void
put_side(const struct json_out *j, const char *key, const char *memory, const struct npu_range *r)
{
	json_open(j, key, '{');
	json_put_i64(j, memory, r->region);
	json_put_i64(j, "at", r->at);
	json_close(j, '}');
}

static void
put_dma(const struct json_out *j, const struct npu_op *op, const struct accel *accel)
{
	const char *internal = accel_lacks(accel, LACK_SHRAM) ? "lut" : "shram_cores";
	json_put_i64(j, "bytes", op->src.n);
	put_side(j, "src", op->src_internal ? internal : "region", &op->src);
	put_side(j, "dst", op->dst_internal ? internal : "region", &op->dst);
	bool stepped = npu_dma_is_stepped(op);
	if (stepped || op->src_dims > 1 || op->dst_dims > 1)
		json_put_i32s(j, "repeat", (const int32_t[]){ op->size1, op->size0 }, 2);
	if (!stepped && (op->src_dims > 1 || op->dst_dims > 1))
		put_i64s(j, "skip", (const int64_t[]){ op->skip0, op->skip1 }, 2);
	if (!stepped)
		return;
	put_i64s(j, "src_step", (const int64_t[]){ op->src_step[1], op->src_step[0] }, 2);
	put_i64s(j, "dst_step", (const int64_t[]){ op->dst_step[1], op->dst_step[0] }, 2);
	if (!op->src_indexed && !op->dst_indexed)
		return;
	json_put_string(j, "indexed", op->src_indexed ? "src" : "dst");
	json_open(j, "index", '{');
	json_put_i64(j, "region", op->rows.region);
	json_put_i64(j, "at", op->rows.at);
	json_put_i64(j, "bytes", op->rows.n);
	json_put_i64(j, "max", op->row_max);
	json_close(j, '}');
}

static void
put_kernel(const struct json_out *j, const struct npu_op *op)
{
	if (!op->ifm_scalar)
		put_fm(j, "ifm", &op->ifm);
	if (op->ifm_scalar || op->ifm2_scalar)
		json_put_i64(j, "scalar", op->scalar);
	if (op->has_ifm2 && !op->ifm2_scalar)
		put_fm(j, "ifm2", &op->ifm2);
	put_fm(j, "ofm", &op->ofm);
	json_put_i32s(j, "kernel", (const int32_t[]){ op->kernel_h, op->kernel_w }, 2);
	json_put_i32s(j, "stride", (const int32_t[]){ op->stride_y, op->stride_x }, 2);
	json_put_i32s(j, "dilation", (const int32_t[]){ op->dilation_y, op->dilation_x }, 2);
	json_put_i32s(j, "pad", (const int32_t[]){ op->pad_top, op->pad_left, op->pad_bottom,
						   op->pad_right }, 4);
	json_put_i64(j, "upscale", (int)op->upscale);
	json_put_bool(j, "part_kernel", op->part_kernel);
	put_ranges(j, "weights", op->weights, ARRAY_LEN(op->weights));
	put_ranges(j, "scales", op->scales, ARRAY_LEN(op->scales));
	json_put_i64(j, "activation", op->activation);
	json_put_i64(j, "min", op->min);
	json_put_i64(j, "max", op->max);
	if (op->global_scale)
		put_i64s(j, "scale", (const int64_t[]){ op->ofm_mult, op->ofm_shift }, 2);
	json_put_i64(j, "rounding", (int)op->rounding);
	put_shape(j, "block", op->block);
	if (!op->ublock.h) { /* the SHRAM layout */
		json_put_i64(j, "ib_end", op->ib_end);
		json_put_i64(j, "ab_start", op->ab_start);
		json_put_i64(j, "ib2_start", op->ib2_start);
		json_put_i64(j, "acc_format", op->acc_format);
		json_put_i64(j, "blockdep", op->blockdep);
		return;
	}

	/* the values that U85 has instead */
	put_shape(j, "extent", op->extent);
	put_shape(j, "microblock", op->ublock);
	json_put_i64(j, "transpose", (int)op->transpose);
	json_put_i64(j, "reverse", (int)op->reverse);
	json_put_i64(j, "acc_format", op->acc_format);
	json_put_i64(j, "acc_input", (int)op->acc_input);
	json_put_bool(j, "acc_output", !op->acc_kept);
	json_put_bool(j, "fast_weights", op->fast_weights);
	json_put_bool(j, "sparse_weights", op->sparse_weights);
	json_put_i64(j, "clip", op->clip_range);
	json_put_i64(j, "table", op->table.at);
	json_put_i64(j, "blockdep", op->blockdep);
	if (op->kind == NPU_ELEMENTWISE) {
		json_open(j, "operand_scales", '[');
		put_i64s(j, NULL, (const int64_t[]){ op->opa_mult, op->opa_shift, op->opa_double }, 3);
		put_i64s(j, NULL, (const int64_t[]){ op->opb_mult, op->opb_shift, op->opb_double }, 3);
		json_close(j, ']');
	}
	if (op->kind == NPU_RESIZE) {
		const struct npu_resize_axis *y = &op->resize_y, *x = &op->resize_x;
		json_open(j, "resize", '[');
		json_put_i32s(j, NULL, (const int32_t[]){ y->n, y->d, y->offset }, 3);
		json_put_i32s(j, NULL, (const int32_t[]){ x->n, x->d, x->offset }, 3);
		json_close(j, ']');
	}
}

void
put_stream_head(const struct json_out *j, const struct npu_stream *s)
{
	json_put_string(j, "name", s->name);
	json_put_i64(j, "subgraph", s->subgraph);
	json_put_i64(j, "operator", s->op);
	json_put_string(j, "accelerator", s->accel->name);
	json_put_i64(j, "bytes", (int64_t)(4 * s->n_words));
}

bool
print_json(struct arena *a, struct text *t, const struct input *in, int k,
	   struct err *e)
{
	const struct json_out out = { .t = t }, *j = &out;
	const struct npu_stream *s = &in->stream[k];
	struct npu_walk w;
	struct npu_op op;
	json_root(j, '{');
	put_stream_head(j, s);
	json_open(j, "operations", '[');
	walk_init(&w, s);
	while (walk_next(&w, &op, e)) {
		bool named = op.kind == NPU_DMA || npu_is_kernel(&op);
		const char *name = named ? source_name(a, in, k, op.at) : NULL;
		json_line(j, 1);
		json_open(j, NULL, '{');
		json_put_i64(j, "offset", (int64_t)(4 * op.at));
		json_put_string(j, "op", npu_op_name(&op));
		if (name)
			json_put_string(j, "source", name);
		if (op.kind == NPU_DMA)
			put_dma(j, &op, s->accel);
		else if (npu_is_kernel(&op))
			put_kernel(j, &op);
		else
			json_put_i64(j, "param", op.param);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
	return !e->status;
}
