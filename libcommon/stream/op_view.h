/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the decoders of operations share.  They read registers through a view, which notes
 * the registers that the stream has not written.  Private to libcommon/stream.
 */
#ifndef STREAM_OP_VIEW_H
#define STREAM_OP_VIEW_H

#include "stream/op.h"
#include "stream/stream.h"
#include "target/accel.h"

#include <assert.h>

/* Reads registers for one operation and adds unwritten ones to op->missing. */
struct view {
	const struct npu_registers *r;
	const struct accel *accel;
	struct npu_op *op;
};

static inline void
need(struct view *v, enum npu_reg reg)
{
	struct npu_op *op = v->op;
	if (v->r->written[reg])
		return;
	for (int i = 0; i < op->n_missing; i++)
		if (op->missing[i] == reg)
			return;
	if (op->n_missing < (int)ARRAY_LEN(op->missing))
		op->missing[op->n_missing++] = (uint16_t)reg;
}

static inline int32_t
get(struct view *v, enum npu_reg reg)
{
	need(v, reg);
	return (int32_t)(v->r->value[reg] & 0xffff);
}

static inline int32_t
m1(struct view *v, enum npu_reg reg)
{
	return get(v, reg) + 1;
}

static inline uint32_t
word(struct view *v, enum npu_reg reg)
{
	need(v, reg);
	return v->r->value[reg];
}

static inline int64_t
address(struct view *v, enum npu_reg reg)
{
	need(v, reg);
	return npu_address(v->r, reg);
}

static inline int64_t
stride(struct view *v, enum npu_reg reg)
{
	need(v, reg);
	return npu_stride(v->r, reg);
}

static inline int32_t
by_sign(int32_t v16, bool is_signed)
{
	return is_signed ? (int16_t)v16 : v16;
}

/* A field of a param that has been read; 0 if the generation does not have the field. */
static inline int32_t
bits(const struct view *v, int32_t param, enum npu_field_id id)
{
	return (int32_t)npu_field_value(id, v->accel->generation, (unsigned)param);
}

#define FIELD(v, param, reg, field) bits(v, param, NPU_FIELD_##reg##_##field)

/* The bits of a register that the generation has. */
static inline int32_t
low_bits(struct view *v, enum npu_reg reg)
{
	int n = npu_command_bits(&npu_registers[reg], v->accel->generation);
	return get(v, reg) & ((1 << n) - 1);
}

struct fm_registers {
	enum npu_reg region, base0, stride_y, stride_x, stride_c;
	enum npu_reg height0, height1, width0, zero, precision;
	enum npu_field_id is_signed, width, format, storage; /* of the precision */
};

#define FM_REGISTERS(fm)                                                     \
	{ .region = NPU_##fm##_REGION, .base0 = NPU_##fm##_BASE0,            \
	  .stride_y = NPU_##fm##_STRIDE_Y, .stride_x = NPU_##fm##_STRIDE_X,  \
	  .stride_c = NPU_##fm##_STRIDE_C, .height0 = NPU_##fm##_HEIGHT0_M1, \
	  .height1 = NPU_##fm##_HEIGHT1_M1, .width0 = NPU_##fm##_WIDTH0_M1,  \
	  .zero = NPU_##fm##_ZERO_POINT, .precision = NPU_##fm##_PRECISION,  \
	  .is_signed = NPU_FIELD_##fm##_PRECISION_signed,                    \
	  .width = NPU_FIELD_##fm##_PRECISION_precision,                     \
	  .format = NPU_FIELD_##fm##_PRECISION_format,                       \
	  .storage = NPU_FIELD_##fm##_PRECISION_storage }

static_assert(NPU_IFM_BASE3 == NPU_IFM_BASE0 + 3, "tiles are consecutive");
static_assert(NPU_OFM_BASE3 == NPU_OFM_BASE0 + 3, "tiles are consecutive");
static_assert(NPU_IFM2_BASE3 == NPU_IFM2_BASE0 + 3, "tiles are consecutive");

/* op.c: registers that all generations have. */

/*
 * Type and place.  A chained feature map and one without storage have no address.  Their
 * address registers may hold values of earlier operations, and are not read.
 */
void decode_fm(struct view *v, const struct fm_registers *r, int32_t precision,
	       enum npu_storage storage, struct npu_fm *f);
void decode_ofm(struct view *v);
void decode_window(struct view *v);
/* Sets the IFM's rows and columns, which follow from OFM, kernel and padding. */
void decode_input_extent(struct view *v);
struct npu_range decode_range(struct view *v, enum npu_reg region,
			      enum npu_reg base, enum npu_reg length);
/* Function and clamp.  Returns ACTIVATION. */
int32_t decode_activation(struct view *v);
void decode_block(struct view *v);
bool decode_is_unary(const struct npu_op *op);
/* The begin of both sides of a transfer.  Returns the modes of the source and stores those
 * of the destination. */
int32_t decode_sides(struct view *v, int32_t *dst_modes);

/* op85.c */
void decode_kernel85(struct view *v);
void decode_dma85(struct view *v);

#endif
