/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes registers into operations of U85 (ethosu-commands(7) 23, 30; ethosu-memory(7)
 * 25).
 */
#include "stream/op_view.h"

#include "target/accel.h"

static const enum npu_rounding roundings[8] = {
	NPU_ROUND_DBL, NPU_ROUND_NATURAL, NPU_ROUND_DBL_ASYMMETRIC,
	NPU_ROUND_SYMMETRIC, NPU_ROUND_TRUNCATE, NPU_ROUND_TRUNCATE_LOWER,
	NPU_ROUND_UNDEFINED, NPU_ROUND_UNDEFINED,
};

/* ---- feature maps (ethosu-commands(7) 23.1, ethosu-memory(7) 25.1) -------- */

/* How a feature map is stored; a scalar and an absent operand have no storage. */
static enum npu_storage
storage_of(const struct view *v, int32_t precision, enum npu_field_id storage, bool absent)
{
	return absent ? NPU_STORED_NONE : (enum npu_storage)bits(v, precision, storage);
}

/* Which axes have the extent 1, by a register BROADCAST. */
static struct npu_axes
decode_broadcast(struct npu_fm *f, int32_t b)
{
	const struct npu_axes axes = { .h = b & 9, .w = b & 10, .c = b & 12 };
	if (axes.h)
		f->shape.h = 1;
	if (axes.w)
		f->shape.w = 1;
	if (axes.c)
		f->shape.c = 1;
	return axes;
}

static void
decode_ifm(struct view *v)
{
	static const struct fm_registers r = FM_REGISTERS(IFM);
	struct npu_op *op = v->op;
	int32_t precision = get(v, NPU_IFM_PRECISION);
	op->upscale = get(v, NPU_IFM_UPSCALE) & 3;
	/*
	 * elementwise: the OFM's depth, as the register may be stale
	 * (ethosu-memory(7) 25.1)
	 */
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
		op->ifm_scalar = FIELD(v, b, IFM_BROADCAST, scalar);
		op->ifm_broadcast = decode_broadcast(&op->ifm, b);
	}
	decode_fm(v, &r, precision, storage_of(v, precision, r.storage, op->ifm_scalar),
		  &op->ifm);
	/*
	 * the IFM of the null pool only sets registers; nothing is read
	 * (ethosu-commands(7) 26.8)
	 */
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
		op->ifm2_scalar = FIELD(v, b, IFM2_BROADCAST, scalar);
		op->ifm2_broadcast = decode_broadcast(&op->ifm2, b);
	}
	decode_fm(v, &r, precision, storage_of(v, precision, r.storage, op->ifm2_scalar),
		  &op->ifm2);
}

/* ---- scales (ethosu-commands(7) 23.6) ------------------------------------- */

/* A register of a scale: multiplier, shift, dbl_rnd and rounding. */
struct scale_fields {
	enum npu_reg reg;
	enum npu_field_id shift, twice, rounding;
};
#define SCALE_FIELDS(name)                                                   \
	{ NPU_##name, NPU_FIELD_##name##_shift, NPU_FIELD_##name##_dbl_rnd,  \
	  NPU_FIELD_##name##_rounding }

static enum npu_rounding
decode_scale(struct view *v, const struct scale_fields *s, uint32_t *mult, int *shift,
	     int *twice)
{
	*mult = word(v, s->reg);
	int32_t high = v->r->high[s->reg];
	*shift = bits(v, high, s->shift);
	*twice = bits(v, high, s->twice);
	return roundings[bits(v, high, s->rounding)];
}

/* ---- weights (ethosu-commands(7) 7) ------------------------------------- */

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
	op->fast_weights = FIELD(v, format, WEIGHT_FORMAT, format);
	op->sparse_weights = FIELD(v, format, WEIGHT_FORMAT, sparsity);
	for (int i = 0; i < v->accel->streams; i++) {
		need(v, length[i]);
		if (v->r->value[length[i]])
			op->weights[i] = decode_range(v, NPU_WEIGHT_REGION,
						      base[i], length[i]);
	}
}

/* ---- kernels ------------------------------------------------------------ */

/*
 * The shift registers hold D as whole multiples of N, and the remainder
 * (ethosu-commands(7) 23.7).
 */
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

void
decode_kernel85(struct view *v)
{
	static const struct hwc microblock[8] = {
		{ .h = 1, .w = 1 }, { .h = 1, .w = 2 }, { .h = 1, .w = 4 },
		{ .h = 2, .w = 2 }, { .h = 2, .w = 4 }, { .h = 4, .w = 4 },
	};
	static const int table_bytes[32] = {
		[NPU_ACT85_U8_U8] = 256, [NPU_ACT85_S8_S8] = 256,
		[NPU_ACT85_S8_S16] = 512, [NPU_ACT85_S8_S32] = 1024,
		[NPU_ACT85_S16_S16] = 2048, [NPU_ACT85_S16_S32] = 2048,
		[NPU_ACT85_TANH] = 2048, [NPU_ACT85_SIGMOID] = 2048,
	};
	static const struct scale_fields ofm = SCALE_FIELDS(OFM_SCALE);
	static const struct scale_fields ifm = SCALE_FIELDS(IFM_SCALE);
	static const struct scale_fields ifm2 = SCALE_FIELDS(IFM2_SCALE);
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

	/* accumulators and microblock */
	int32_t format = get(v, NPU_ACC_FORMAT);
	op->acc_format = FIELD(v, format, ACC_FORMAT, format);
	op->acc_input = (enum npu_accumulator)FIELD(v, format, ACC_FORMAT, input);
	op->acc_kept = FIELD(v, format, ACC_FORMAT, output);
	op->ublock = microblock[FIELD(v, format, ACC_FORMAT, microblock)];
	for (int i = 0; i < v->accel->n_ublocks; i++) {
		struct hwc u = v->accel->ublocks[i];
		if (u.h == op->ublock.h && u.w == op->ublock.w)
			op->ublock.c = u.c;
	}

	decode_block(v);
	op->blockdep = low_bits(v, NPU_BLOCKDEP);
	decode_ofm(v);
	decode_ifm(v);

	/* the output stage (ethosu-commands(7) 23.5, 23.6) */
	int32_t act = decode_activation(v);
	op->table.n = table_bytes[op->activation];
	op->table.at = FIELD(v, act, ACTIVATION, table) * op->table.n;
	op->rounding = decode_scale(v, &ofm, &op->ofm_mult, &op->ofm_shift, &op->ofm_double);

	/* the second operand, if there is one, with its shape (ethosu-memory(7) 25.1) */
	bool unary = decode_is_unary(op) || op->mode == NPU_ELT85_NOT;
	if (op->weights_ifm2)
		decode_ifm2(v, (struct hwc){ .h = 1, .w = op->extent.c, .c = op->ifm.shape.c });
	else if (op->kind == NPU_ELEMENTWISE ? !unary : op->acc_input == NPU_ACC_IFM2)
		decode_ifm2(v, op->extent);
	if (op->ifm_scalar || op->ifm2_scalar)
		op->scalar = (int32_t)word(v, NPU_OP_SCALAR);

	if (op->kind == NPU_ELEMENTWISE)
		op->ifm_rounding = decode_scale(v, &ifm, &op->opa_mult, &op->opa_shift,
						&op->opa_double);
	if (op->kind == NPU_ELEMENTWISE && (op->has_ifm2 || op->mode == NPU_ELT_LRELU))
		op->ifm2_rounding = decode_scale(v, &ifm2, &op->opb_mult, &op->opb_shift,
						 &op->opb_double);
	if (op->kind == NPU_RESIZE) {
		op->mode = op->param & 3;
		op->resize_y = decode_axis(v, NPU_RESIZE_Y_SCALE_N_M1, NPU_RESIZE_Y,
					   NPU_RESIZE_Y_OFFSET);
		op->resize_x = decode_axis(v, NPU_RESIZE_X_SCALE_N_M1, NPU_RESIZE_X,
					   NPU_RESIZE_X_OFFSET);
	}
	if ((op->kind == NPU_CONV && !op->weights_ifm2) ||
	    op->kind == NPU_DEPTHWISE)
		decode_weights(v);
	if (!op->global_scale && op->kind != NPU_ELEMENTWISE && op->kind != NPU_RESIZE)
		op->scales[0] = decode_range(v, NPU_SCALE_REGION,
					     NPU_SCALE_BASE, NPU_SCALE_LENGTH);
}

/* ---- DMA (ethosu-commands(7) 10) ---------------------------------------- */

void
decode_dma85(struct view *v)
{
	struct npu_op *op = v->op;
	int32_t dst, src = decode_sides(v, &dst);
	op->src_indexed = FIELD(v, src, DMA0_SRC_REGION, indexed);
	op->dst_indexed = FIELD(v, dst, DMA0_DST_REGION, indexed);
	int dims = 1 + FIELD(v, src, DMA0_SRC_REGION, stride_mode); /* of both sides */
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
	if (!op->src_indexed && !op->dst_indexed)
		return;
	op->rows.region = get(v, NPU_DMA0_IDX_REGION) & 7;
	op->rows.at = address(v, NPU_DMA0_IDX);
	op->row_max = word(v, NPU_DMA0_IDX_MAX);
	if (dims >= 3)
		op->row_skip = address(v, NPU_DMA0_IDX_SKIP1);
	op->rows.n = (int64_t)op->size1 * (4 * (int64_t)op->size0 +
					    op->row_skip) - op->row_skip;
}
