/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes registers into operations (ethosu-commands(7) 3, ethosu-memory(7) 5.4,
 * ethosu-commands(7) 6.3, 6.9): U55 and U65, and the parts that all generations share.
 */
#include "stream/op_view.h"

#include "target/accel.h"

/* ---- feature maps ------------------------------------------------------- */

/* Type, format and zero point, which a scalar IFM2 has, too. */
static void
decode_type(struct view *v, const struct fm_registers *r, int32_t precision,
	    struct npu_fm *f)
{
	f->bits = 8 << bits(v, precision, r->width);
	f->is_signed = bits(v, precision, r->is_signed);
	f->bricks = bits(v, precision, r->format);
	f->zero = by_sign(get(v, r->zero), f->is_signed);
}

static void
decode_place(struct view *v, const struct fm_registers *r, struct npu_fm *f)
{
	f->region = get(v, r->region) & 7;
	f->h0 = m1(v, r->height0);
	f->h1 = m1(v, r->height1);
	f->w0 = m1(v, r->width0);
	f->stride_y = stride(v, r->stride_y);
	f->stride_x = stride(v, r->stride_x);
	f->stride_c = stride(v, r->stride_c);
	bool right = f->w0 < f->shape.w, below0 = f->h0 < f->shape.h;
	bool used[4] = { true, right, below0,
			 right && f->h1 < f->shape.h };
	for (unsigned t = 0; t < 4; t++)
		f->base[t] = used[t] ? address(v, r->base0 + t)
				     : npu_address(v->r, r->base0 + t);
}

void
decode_fm(struct view *v, const struct fm_registers *r, int32_t precision,
	  enum npu_storage storage, struct npu_fm *f)
{
	decode_type(v, r, precision, f);
	f->storage = storage;
	if (npu_fm_stored(f))
		decode_place(v, r, f);
	else if (f->storage == NPU_CHAINED)
		f->region = f->chain = get(v, r->region) & 7;
}

/* The extent as it is stored (ethosu-commands(7) 23.3). */
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

void
decode_ofm(struct view *v)
{
	static const struct fm_registers r = FM_REGISTERS(OFM);
	struct npu_op *op = v->op;
	int32_t precision = get(v, NPU_OFM_PRECISION);
	op->extent.h = m1(v, NPU_OFM_HEIGHT_M1);
	op->extent.w = m1(v, NPU_OFM_WIDTH_M1);
	op->extent.c = m1(v, NPU_OFM_DEPTH_M1);
	op->transpose = (enum npu_transpose)FIELD(v, precision, OFM_PRECISION, transpose);
	op->reverse = (enum npu_reverse)FIELD(v, precision, OFM_PRECISION, reverse);
	op->global_scale = FIELD(v, precision, OFM_PRECISION, scale_mode);
	op->rounding = (enum npu_rounding)FIELD(v, precision, OFM_PRECISION, rounding);
	op->ofm.shape = transposed(op->extent, op->transpose);
	decode_fm(v, &r, precision, (enum npu_storage)bits(v, precision, r.storage), &op->ofm);
}

/* Stored rows (columns) of an extent that may be upscaled (ethosu-memory(7) 5.4). */
static int32_t
stored(int64_t up, enum upscale mode)
{
	int64_t n = mode == UPSCALE_NONE ? up : (up + 1) / 2;
	return (int32_t)(n < 0 ? 0 : n);
}

void
decode_input_extent(struct view *v)
{
	struct npu_op *op = v->op;
	if (op->kind == NPU_ELEMENTWISE) {
		op->ifm_up_h = op->extent.h;
		op->ifm_up_w = op->extent.w;
		op->ifm.shape.c = op->extent.c;
	} else {
		op->ifm_up_h = (int64_t)(op->extent.h - 1) * op->stride_y +
			       op->dilated_h - op->pad_top - op->pad_bottom;
		op->ifm_up_w = (int64_t)(op->extent.w - 1) * op->stride_x +
			       op->dilated_w - op->pad_left - op->pad_right;
	}
	op->ifm.shape.h = stored(op->ifm_up_h, op->upscale);
	op->ifm.shape.w = stored(op->ifm_up_w, op->upscale);
}

static void
decode_ifm2(struct view *v)
{
	static const struct fm_registers r = FM_REGISTERS(IFM2);
	struct npu_op *op = v->op;
	int32_t b = get(v, NPU_IFM2_BROADCAST);
	struct npu_fm *f = &op->ifm2;
	op->has_ifm2 = true;
	op->ifm2_scalar = FIELD(v, b, IFM2_BROADCAST, scalar);
	op->ifm2_first = FIELD(v, b, IFM2_BROADCAST, operand_order);
	op->ifm2_broadcast = (struct npu_axes){
		.h = op->ifm2_scalar || FIELD(v, b, IFM2_BROADCAST, height),
		.w = op->ifm2_scalar || FIELD(v, b, IFM2_BROADCAST, width),
		.c = op->ifm2_scalar || FIELD(v, b, IFM2_BROADCAST, depth),
	};
	f->shape = (struct hwc){
		.h = op->ifm2_broadcast.h ? 1 : op->ofm.shape.h,
		.w = op->ifm2_broadcast.w ? 1 : op->ofm.shape.w,
		.c = op->ifm2_broadcast.c ? 1 : op->ofm.shape.c,
	};
	decode_type(v, &r, get(v, NPU_IFM2_PRECISION), f);
	if (op->ifm2_scalar) {
		op->scalar = by_sign(get(v, NPU_IFM2_SCALAR), f->is_signed);
		return;
	}
	decode_place(v, &r, f);
	op->ib2_start = low_bits(v, NPU_IFM2_IB_START);
}

/* ---- kernels ------------------------------------------------------------ */

void
decode_window(struct view *v)
{
	struct npu_op *op = v->op;
	op->kernel_h = op->kernel_w = op->dilated_h = op->dilated_w = 1;
	op->stride_y = op->stride_x = op->dilation_y = op->dilation_x = 1;
	if (op->kind == NPU_ELEMENTWISE)
		return;
	int32_t k = get(v, NPU_KERNEL_STRIDE);
	op->stride_x = 1 + FIELD(v, k, KERNEL_STRIDE, stride_x_m1_low) +
		       2 * FIELD(v, k, KERNEL_STRIDE, stride_x_m1_high);
	op->stride_y = 1 + FIELD(v, k, KERNEL_STRIDE, stride_y_m1_low) +
		       2 * FIELD(v, k, KERNEL_STRIDE, stride_y_m1_high);
	op->part_kernel = FIELD(v, k, KERNEL_STRIDE, weight_order);
	op->dilation_x = 1 + FIELD(v, k, KERNEL_STRIDE, dilation_x_m1);
	op->dilation_y = 1 + FIELD(v, k, KERNEL_STRIDE, dilation_y_m1);
	op->dilated_h = m1(v, NPU_KERNEL_HEIGHT_M1);
	op->dilated_w = m1(v, NPU_KERNEL_WIDTH_M1);
	op->kernel_h = (op->dilated_h - 1) / op->dilation_y + 1;
	op->kernel_w = (op->dilated_w - 1) / op->dilation_x + 1;
	op->pad_top = low_bits(v, NPU_IFM_PAD_TOP);
	op->pad_left = low_bits(v, NPU_IFM_PAD_LEFT);
	op->pad_right = low_bits(v, NPU_IFM_PAD_RIGHT);
	op->pad_bottom = low_bits(v, NPU_IFM_PAD_BOTTOM);
}

struct npu_range
decode_range(struct view *v, enum npu_reg region, enum npu_reg base,
	     enum npu_reg length)
{
	struct npu_range r = { .region = get(v, region) & 7 };
	r.at = address(v, base);
	r.n = word(v, length);
	return r;
}

static void
decode_weights(struct view *v)
{
	struct npu_op *op = v->op;
	op->weights[0] = decode_range(v, NPU_WEIGHT_REGION, NPU_WEIGHT_BASE,
				      NPU_WEIGHT_LENGTH);
	if (!op->global_scale)
		op->scales[0] = decode_range(v, NPU_SCALE_REGION,
					     NPU_SCALE_BASE, NPU_SCALE_LENGTH);
	if (op->cores < 2)
		return;
	need(v, NPU_WEIGHT1_LENGTH);
	if (v->r->value[NPU_WEIGHT1_LENGTH])
		op->weights[1] = decode_range(v, NPU_WEIGHT_REGION,
					      NPU_WEIGHT1_BASE,
					      NPU_WEIGHT1_LENGTH);
	if (op->global_scale)
		return;
	need(v, NPU_SCALE1_LENGTH);
	if (v->r->value[NPU_SCALE1_LENGTH])
		op->scales[1] = decode_range(v, NPU_SCALE_REGION,
					     NPU_SCALE1_BASE,
					     NPU_SCALE1_LENGTH);
}

int32_t
decode_activation(struct view *v)
{
	struct npu_op *op = v->op;
	int32_t act = get(v, NPU_ACTIVATION);
	op->activation = FIELD(v, act, ACTIVATION, function);
	op->clip_range = FIELD(v, act, ACTIVATION, clip_range);
	op->min = by_sign(get(v, NPU_ACTIVATION_MIN), op->ofm.is_signed);
	op->max = by_sign(get(v, NPU_ACTIVATION_MAX), op->ofm.is_signed);
	return act;
}

void
decode_block(struct view *v)
{
	struct npu_op *op = v->op;
	op->block.h = low_bits(v, NPU_OFM_BLK_HEIGHT_M1) + 1;
	op->block.w = low_bits(v, NPU_OFM_BLK_WIDTH_M1) + 1;
	op->block.c = low_bits(v, NPU_OFM_BLK_DEPTH_M1) + 1;
}

bool
decode_is_unary(const struct npu_op *op)
{
	return op->mode == NPU_ELT_LRELU || op->mode == NPU_ELT_ABS ||
	       op->mode == NPU_ELT_CLZ;
}

static void
decode_kernel(struct view *v)
{
	struct npu_op *op = v->op;
	op->cores = 1;
	if (v->accel->cores > 1 && v->r->written[NPU_PARALLEL_MODE])
		op->cores = 1 + (get(v, NPU_PARALLEL_MODE) & 1);
	decode_window(v);
	decode_ofm(v);

	static const struct fm_registers r = FM_REGISTERS(IFM);
	int32_t precision = get(v, NPU_IFM_PRECISION);
	op->upscale = get(v, NPU_IFM_UPSCALE) & 3;
	op->ifm.shape.c = m1(v, NPU_IFM_DEPTH_M1);
	decode_input_extent(v);
	decode_fm(v, &r, precision, NPU_TILES, &op->ifm);
	op->operand_scale = FIELD(v, precision, IFM_PRECISION, scale_mode);
	op->ifm_rounding = (enum npu_rounding)FIELD(v, precision, IFM_PRECISION, rounding);
	if (op->kind == NPU_CONV || op->kind == NPU_DEPTHWISE)
		decode_weights(v);

	/* the output stage */
	(void)decode_activation(v);
	if (op->activation >= NPU_ACT_TABLE0)
		op->table = (struct npu_range){
			.at = 256 * (op->activation - NPU_ACT_TABLE0),
			.n = op->ofm.bits == 8	  ? 256
			     : op->ofm.bits == 16 ? 2048
						  : 1024,
		};
	if (op->global_scale) {
		op->ofm_mult = word(v, NPU_OFM_SCALE);
		op->ofm_shift = v->r->high[NPU_OFM_SCALE] & 0x3f;
	}
	if (op->kind == NPU_ELEMENTWISE &&
	    (op->mode == NPU_ELT_ADD || op->mode == NPU_ELT_SUB)) {
		op->opa_mult = word(v, NPU_OPA_SCALE);
		op->opa_shift = v->r->high[NPU_OPA_SCALE] & 0x3f;
		op->opb_mult = word(v, NPU_OPB_SCALE);
	}

	/* blocks and SHRAM */
	decode_block(v);
	op->ib_end = low_bits(v, NPU_IFM_IB_END);
	op->ab_start = low_bits(v, NPU_AB_START);
	op->acc_format = FIELD(v, get(v, NPU_ACC_FORMAT), ACC_FORMAT, format);
	op->blockdep = low_bits(v, NPU_BLOCKDEP);
	if (op->kind == NPU_ELEMENTWISE && !decode_is_unary(op))
		decode_ifm2(v);
}

/* ---- DMA ---------------------------------------------------------------- */

int32_t
decode_sides(struct view *v, int32_t *dst_modes)
{
	struct npu_op *op = v->op;
	int32_t src = get(v, NPU_DMA0_SRC_REGION);
	int32_t dst = get(v, NPU_DMA0_DST_REGION);
	int64_t len = address(v, NPU_DMA0_LEN);
	op->src = (struct npu_range){ .region = src & 7, .n = len,
				      .at = address(v, NPU_DMA0_SRC) };
	op->dst = (struct npu_range){ .region = dst & 7, .n = len,
				      .at = address(v, NPU_DMA0_DST) };
	op->src_internal = FIELD(v, src, DMA0_SRC_REGION, internal);
	op->dst_internal = FIELD(v, dst, DMA0_DST_REGION, internal);
	*dst_modes = dst;
	return src;
}

static void
decode_dma(struct view *v)
{
	struct npu_op *op = v->op;
	int32_t dst, src = decode_sides(v, &dst);
	op->src_dims = 1 + FIELD(v, src, DMA0_SRC_REGION, stride_mode);
	op->dst_dims = 1 + FIELD(v, dst, DMA0_DST_REGION, stride_mode);
	op->size0 = op->size1 = 1;
	int dims = op->src_dims > op->dst_dims ? op->src_dims : op->dst_dims;
	if (dims >= 2) {
		op->size0 = get(v, NPU_DMA0_SIZE0);
		op->skip0 = stride(v, NPU_DMA0_SKIP0);
	}
	if (dims >= 3) {
		op->size1 = get(v, NPU_DMA0_SIZE1);
		op->skip1 = stride(v, NPU_DMA0_SKIP1);
	}
}

static const struct decoder {
	void (*kernel)(struct view *v);
	void (*dma)(struct view *v);
} decoders[GENERATIONS] = {
	[GEN_U55] = { decode_kernel, decode_dma },
	[GEN_U65] = { decode_kernel, decode_dma },
	[GEN_U85] = { decode_kernel85, decode_dma85 },
};

static enum npu_op_kind
kind_of(uint32_t code)
{
	switch (code) {
	case NPU_OP_CONV:
		return NPU_CONV;
	case NPU_OP_DEPTHWISE:
		return NPU_DEPTHWISE;
	case NPU_OP_POOL:
		return NPU_POOL;
	case NPU_OP_ELEMENTWISE:
		return NPU_ELEMENTWISE;
	case NPU_OP_RESIZE:
		return NPU_RESIZE;
	case NPU_OP_DMA_START:
		return NPU_DMA;
	case NPU_OP_DMA_WAIT:
		return NPU_DMA_WAIT;
	case NPU_OP_KERNEL_WAIT:
		return NPU_KERNEL_WAIT;
	case NPU_OP_BRANCH:
		return NPU_BRANCH;
	case NPU_OP_STOP:
		return NPU_STOP;
	default:
		return NPU_OTHER;
	}
}

void
npu_op_decode(const struct npu_registers *r, const struct accel *accel,
	      const struct npu_command *c, struct npu_op *op)
{
	*op = (struct npu_op){ .kind = kind_of(c->code), .at = c->at,
			       .param = c->param, .index = -1,
			       .target = c->payload };
	struct view v = { .r = r, .accel = accel, .op = op };
	const struct decoder *d = &decoders[accel->generation];
	if (op->kind == NPU_POOL)
		op->mode = c->param & 7;
	else if (op->kind == NPU_ELEMENTWISE)
		op->mode = c->param & 0x3f;
	if (npu_is_kernel(op))
		d->kernel(&v);
	else if (op->kind == NPU_DMA)
		d->dma(&v);
}

/* ---- properties of an operation ----------------------------------------- */

const char *
npu_op_name(const struct npu_op *op)
{
	static const char *const kind[] = {
		[NPU_CONV] = "conv", [NPU_DEPTHWISE] = "depthwise",
		[NPU_RESIZE] = "resize",
		[NPU_DMA] = "dma", [NPU_DMA_WAIT] = "dma_wait",
		[NPU_KERNEL_WAIT] = "kernel_wait", [NPU_BRANCH] = "branch",
		[NPU_OTHER] = "other", [NPU_STOP] = "stop",
	};
	const char *name = NULL;
	if (op->kind == NPU_POOL)
		name = npu_enum_name("pool", (unsigned)op->mode);
	else if (op->kind == NPU_ELEMENTWISE)
		name = npu_enum_name("elementwise", (unsigned)op->mode);
	else
		name = kind[op->kind];
	return name ? name : "?";
}
