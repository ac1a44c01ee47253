/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes registers into operations of U85 (ethosu-commands(7) 23, 30; ethosu-memory(7)
 * 25).
 */
#include "stream/op_view.h"

static const enum npu_rounding roundings[8] = {
	NPU_ROUND_DBL, NPU_ROUND_NATURAL, NPU_ROUND_DBL_ASYMMETRIC,
	NPU_ROUND_SYMMETRIC, NPU_ROUND_TRUNCATE, NPU_ROUND_TRUNCATE_LOWER,
	NPU_ROUND_UNDEFINED, NPU_ROUND_UNDEFINED,
};

/* ---- feature maps (23.1, 25.1) -------------------------------------------- */

/*
 * A chained feature map, a scalar and an absent operand have no address.  Their address
 * registers may hold values of earlier operations, and are not read.
 */
static void
decode_fm(struct view *v, const struct fm_registers *r, int32_t precision,
	   int lsb, struct npu_fm *f)
{
	f->bits = 8 << (precision >> lsb & 3);
	f->is_signed = precision & 1;
	f->bricks = precision >> 6 & 3;
	f->zero = by_sign(get(v, r->zero), f->is_signed);
	f->storage = (enum npu_storage)(precision >> 14 & 3);
	if (npu_fm_stored(f))
		decode_place(v, r, f);
	else if (f->storage == NPU_CHAINED)
		f->region = f->chain = get(v, r->region) & 7;
}

/* The extent as it is stored (23.3). */
static struct hwc
transposed(struct hwc e, enum npu_transpose t)
{
	switch (t) {
	case NPU_WHC:
		return (struct hwc){ .h = e.w, .w = e.h, .c = e.c };
	case NPU_HCW:
		return (struct hwc){ .h = e.h, .w = e.c, .c = e.w };
	case NPU_WCH:
		return (struct hwc){ .h = e.w, .w = e.c, .c = e.h };
	case NPU_CHW:
		return (struct hwc){ .h = e.c, .w = e.h, .c = e.w };
	case NPU_CWH:
		return (struct hwc){ .h = e.c, .w = e.w, .c = e.h };
	case NPU_HWC:
		break;
	}
	return e;
}

static void
decode_ofm(struct view *v)
{
	static const struct fm_registers r = FM_REGISTERS(OFM);
	struct npu_op *op = v->op;
	int32_t precision = get(v, NPU_OFM_PRECISION);
	op->extent.h = m1(v, NPU_OFM_HEIGHT_M1);
	op->extent.w = m1(v, NPU_OFM_WIDTH_M1);
	op->extent.c = m1(v, NPU_OFM_DEPTH_M1);
	op->transpose = (enum npu_transpose)(precision >> 11 & 7);
	op->reverse = (enum npu_reverse)(precision >> 9 & 3);
	op->global_scale = precision >> 8 & 1;
	op->ofm.shape = transposed(op->extent, op->transpose);
	decode_fm(v, &r, precision, 1, &op->ofm);
}

static void
decode_ifm(struct view *v)
{
	static const struct fm_registers r = FM_REGISTERS(IFM);
	struct npu_op *op = v->op;
	int32_t precision = get(v, NPU_IFM_PRECISION);
	op->upscale = get(v, NPU_IFM_UPSCALE) & 3;
	/* elementwise: the OFM's depth, as the register may be stale (25.1) */
	if (op->kind != NPU_ELEMENTWISE)
		op->ifm.shape.c = m1(v, NPU_IFM_DEPTH_M1);
	decode_input_extent(v);
	if (op->kind == NPU_RESIZE) {
		op->ifm.shape.h = m1(v, NPU_KERNEL_HEIGHT_M1);
		op->ifm.shape.w = m1(v, NPU_KERNEL_WIDTH_M1);
		op->ifm_up_h = op->ifm.shape.h;
		op->ifm_up_w = op->ifm.shape.w;
	}
	if (op->kind == NPU_ELEMENTWISE) {
		int32_t b = get(v, NPU_IFM_BROADCAST);
		op->ifm_scalar = b >> 3 & 1;
		if (b & 9)
			op->ifm.shape.h = 1;
		if (b & 10)
			op->ifm.shape.w = 1;
		if (b & 12)
			op->ifm.shape.c = 1;
		if (op->ifm_scalar)
			precision |= NPU_STORED_NONE << 14;
	}
	decode_fm(v, &r, precision, 2, &op->ifm);
	/* the IFM of the null pool only sets registers; nothing is read (26.8) */
	if (op->kind == NPU_POOL && op->mode == NPU_POOL_NONE)
		op->ifm.storage = NPU_STORED_NONE;
}

static void
decode_ifm2(struct view *v, struct hwc shape)
{
	static const struct fm_registers r = FM_REGISTERS(IFM2);
	struct npu_op *op = v->op;
	int32_t precision = get(v, NPU_IFM2_PRECISION);
	op->has_ifm2 = true;
	op->ifm2.shape = shape;
	if (op->kind == NPU_ELEMENTWISE) {
		int32_t b = get(v, NPU_IFM2_BROADCAST);
		op->ifm2_scalar = b >> 3 & 1;
		op->broadcast_h = b & 9;
		op->broadcast_w = b & 10;
		op->broadcast_c = b & 12;
		if (op->broadcast_h)
			op->ifm2.shape.h = 1;
		if (op->broadcast_w)
			op->ifm2.shape.w = 1;
		if (op->broadcast_c)
			op->ifm2.shape.c = 1;
		if (op->ifm2_scalar)
			precision |= NPU_STORED_NONE << 14;
	}
	decode_fm(v, &r, precision, 2, &op->ifm2);
}

/* ---- output stage (23.5, 23.6) -------------------------------------------- */

static void
decode_table(struct npu_op *op, int number)
{
	static const int bytes[32] = {
		[NPU_ACT85_U8_U8] = 256, [NPU_ACT85_S8_S8] = 256,
		[NPU_ACT85_S8_S16] = 512, [NPU_ACT85_S8_S32] = 1024,
		[NPU_ACT85_S16_S16] = 2048, [NPU_ACT85_S16_S32] = 2048,
		[NPU_ACT85_TANH] = 2048, [NPU_ACT85_SIGMOID] = 2048,
	};
	op->table.n = bytes[op->activation];
	op->table.at = number * op->table.n;
}

static void
decode_output_stage(struct view *v)
{
	struct npu_op *op = v->op;
	int32_t act = get(v, NPU_ACTIVATION);
	op->activation = act & 0x1f;
	op->clip_range = act >> 12 & 1;
	decode_table(op, act >> 5 & 7);
	op->min = by_sign(get(v, NPU_ACTIVATION_MIN), op->ofm.is_signed);
	op->max = by_sign(get(v, NPU_ACTIVATION_MAX), op->ofm.is_signed);
	op->ofm_mult = word(v, NPU_OFM_SCALE);
	uint16_t high = v->r->high[NPU_OFM_SCALE];
	op->ofm_shift = high & 0x3f;
	op->ofm_double = high >> 6 & 0x1f;
	op->rounding = roundings[high >> 13];
}

static void
decode_operand_scales(struct view *v)
{
	struct npu_op *op = v->op;
	op->opa_mult = word(v, NPU_IFM_SCALE);
	uint16_t high = v->r->high[NPU_IFM_SCALE];
	op->opa_shift = high & 0x3f;
	op->opa_double = high >> 6 & 0x1f;
	op->ifm_rounding = roundings[high >> 13 & 1];
	if (!op->has_ifm2 && op->mode != NPU_ELT_LRELU)
		return;
	op->opb_mult = word(v, NPU_IFM2_SCALE);
	high = v->r->high[NPU_IFM2_SCALE];
	op->opb_shift = high & 0x3f;
	op->opb_double = high >> 6 & 0x1f;
	op->ifm2_rounding = roundings[high >> 13 & 1];
}

/* ---- weights (7) -------------------------------------------------------- */

static void
decode_weights(struct view *v)
{
	static const enum npu_reg base[] = { NPU_WEIGHT_BASE, NPU_WEIGHT1_BASE,
					     NPU_WEIGHT2_BASE, NPU_WEIGHT3_BASE };
	static const enum npu_reg length[] = {
		NPU_WEIGHT_LENGTH, NPU_WEIGHT1_LENGTH, NPU_WEIGHT2_LENGTH,
		NPU_WEIGHT3_LENGTH };
	struct npu_op *op = v->op;
	int32_t format = get(v, NPU_WEIGHT_FORMAT);
	op->fast_weights = format & 1;
	op->sparse_weights = format >> 4 & 1;
	for (int i = 0; i < v->accel->streams; i++) {
		need(v, length[i]);
		if (v->r->value[length[i]])
			op->weights[i] = decode_range(v, NPU_WEIGHT_REGION,
						      base[i], length[i]);
	}
}

/* ---- kernels ------------------------------------------------------------ */

static void
decode_block(struct view *v)
{
	static const struct hwc microblock[8] = {
		{ .h = 1, .w = 1 }, { .h = 1, .w = 2 }, { .h = 1, .w = 4 },
		{ .h = 2, .w = 2 }, { .h = 2, .w = 4 }, { .h = 4, .w = 4 },
	};
	struct npu_op *op = v->op;
	int32_t format = get(v, NPU_ACC_FORMAT);
	op->acc_format = format & 3;
	op->acc_input = (enum npu_accumulator)(format >> 4 & 3);
	op->acc_kept = format >> 6 & 1;
	op->ublock = microblock[format >> 8 & 7];
	for (int i = 0; i < v->accel->n_ublocks; i++) {
		struct hwc u = v->accel->ublocks[i];
		if (u.h == op->ublock.h && u.w == op->ublock.w)
			op->ublock.c = u.c;
	}
	op->block.h = (get(v, NPU_OFM_BLK_HEIGHT_M1) & 0x7f) + 1;
	op->block.w = (get(v, NPU_OFM_BLK_WIDTH_M1) & 0x7f) + 1;
	op->block.c = (get(v, NPU_OFM_BLK_DEPTH_M1) & 0x3ff) + 1;
	op->blockdep = get(v, NPU_BLOCKDEP) & 7;
}

static bool
is_unary(const struct npu_op *op)
{
	return op->mode == NPU_ELT_LRELU || op->mode == NPU_ELT_ABS ||
	       op->mode == NPU_ELT_CLZ || op->mode == NPU_ELT85_NOT;
}

/* Decodes the second operand, if there is one, with its shape (25.1). */
static void
decode_second(struct view *v)
{
	struct npu_op *op = v->op;
	struct hwc filters = { .h = 1, .w = op->extent.c, .c = op->ifm.shape.c };
	if (op->kind == NPU_ELEMENTWISE && !is_unary(op))
		decode_ifm2(v, op->extent);
	else if (op->weights_ifm2)
		decode_ifm2(v, filters);
	else if (op->kind != NPU_ELEMENTWISE && op->acc_input == NPU_ACC_IFM2)
		decode_ifm2(v, op->extent);
	if (op->ifm_scalar || op->ifm2_scalar)
		op->scalar = (int32_t)word(v, NPU_OP_SCALAR);
}

/* The shift registers hold D as whole multiples of N, and the remainder (23.7). */
static struct npu_resize_axis
decode_axis(struct view *v, enum npu_reg n, enum npu_reg step,
	    enum npu_reg offset)
{
	struct npu_resize_axis a = { .n = (get(v, n) & 0x7ff) + 1 };
	uint32_t fraction = word(v, step) & 0x7ff;
	a.d = (v->r->high[step] & 0xf) * a.n + (int32_t)fraction;
	int32_t o = get(v, offset) & 0xfff;
	a.offset = o >> 11 ? o - 4096 : o;
	return a;
}

static void
decode_resize(struct view *v)
{
	struct npu_op *op = v->op;
	op->mode = op->param & 3;
	op->resize_y = decode_axis(v, NPU_RESIZE_Y_SCALE_N_M1, NPU_RESIZE_Y,
				   NPU_RESIZE_Y_OFFSET);
	op->resize_x = decode_axis(v, NPU_RESIZE_X_SCALE_N_M1, NPU_RESIZE_X,
				   NPU_RESIZE_X_OFFSET);
}

static bool
has_scale_records(const struct npu_op *op)
{
	return !op->global_scale && op->kind != NPU_ELEMENTWISE &&
	       op->kind != NPU_RESIZE;
}

void
decode_kernel85(struct view *v)
{
	struct npu_op *op = v->op;
	op->cores = 1;
	op->weights_ifm2 = op->kind == NPU_CONV && op->param & 1;
	if (op->kind == NPU_RESIZE) {
		op->kernel_h = op->kernel_w = op->dilated_h = op->dilated_w = 1;
		op->stride_y = op->stride_x = 1;
		op->dilation_y = op->dilation_x = 1;
	} else {
		decode_window(v);
	}
	decode_block(v);
	decode_ofm(v);
	decode_ifm(v);
	decode_output_stage(v);
	decode_second(v);
	if (op->kind == NPU_ELEMENTWISE)
		decode_operand_scales(v);
	if (op->kind == NPU_RESIZE)
		decode_resize(v);
	if ((op->kind == NPU_CONV && !op->weights_ifm2) ||
	    op->kind == NPU_DEPTHWISE)
		decode_weights(v);
	if (has_scale_records(op))
		op->scales[0] = decode_range(v, NPU_SCALE_REGION,
					     NPU_SCALE_BASE, NPU_SCALE_LENGTH);
}

/* ---- DMA (10) ----------------------------------------------------------- */

static void
decode_index(struct view *v, int dims)
{
	struct npu_op *op = v->op;
	op->rows.region = get(v, NPU_DMA0_IDX_REGION) & 7;
	op->rows.at = address(v, NPU_DMA0_IDX);
	op->row_max = word(v, NPU_DMA0_IDX_MAX);
	if (dims >= 3)
		op->row_skip = address(v, NPU_DMA0_IDX_SKIP1);
	op->rows.n = (int64_t)op->size1 * (4 * (int64_t)op->size0 +
					    op->row_skip) - op->row_skip;
}

void
decode_dma85(struct view *v)
{
	struct npu_op *op = v->op;
	int32_t src = get(v, NPU_DMA0_SRC_REGION);
	int32_t dst = get(v, NPU_DMA0_DST_REGION);
	int64_t len = address(v, NPU_DMA0_LEN);
	op->src = (struct npu_range){ .region = src & 7, .n = len,
				      .at = address(v, NPU_DMA0_SRC) };
	op->dst = (struct npu_range){ .region = dst & 7, .n = len,
				      .at = address(v, NPU_DMA0_DST) };
	op->src_internal = src >> 8 & 1;
	op->dst_internal = dst >> 8 & 1;
	op->src_indexed = src >> 11 & 1;
	op->dst_indexed = dst >> 11 & 1;
	int dims = 1 + (src >> 9 & 3); /* of both sides */
	op->src_dims = op->dst_dims = dims;
	op->size0 = op->size1 = 1;
	if (dims >= 2)
		op->size0 = get(v, NPU_DMA0_SIZE0);
	if (dims >= 3) {
		op->size1 = get(v, NPU_DMA0_SIZE1);
		op->src_step[1] = address(v, NPU_DMA0_SRC_STRIDE1);
		op->dst_step[1] = address(v, NPU_DMA0_DST_STRIDE1);
	}
	if (dims >= 2 || op->src_indexed)
		op->src_step[0] = address(v, NPU_DMA0_SRC_STRIDE0);
	if (dims >= 2 || op->dst_indexed)
		op->dst_step[0] = address(v, NPU_DMA0_DST_STRIDE0);
	if (op->src_indexed || op->dst_indexed)
		decode_index(v, dims);
}
