/* SPDX-License-Identifier: Apache-2.0 */
/* Makes operations of a graph. */
#include "lower/lower.h"

#include "graph/build.h"
#include "graph/facts.h"

#include <string.h>

struct g_op *
low_op(struct lower *l, enum g_op_kind kind, struct g_operand ifm,
	struct g_operand ofm)
{
	struct g_op *op = graph_add_g_op(l->g);
	G_PUT(op, OP, kind, (int)kind);
	G_PUT(op, OP, node, l->node);
	if (l->name)
		G_PUT(op, OP, name, l->name);
	struct g_tfl *v = anew(l->a, struct g_tfl, 1);
	v->index = l->op_i;
	G_PUT(op, OP, tfl, (struct g_tfls){ .n = 1, .v = v });
	G_PUT(op, OP, ifm, ifm);
	G_PUT(op, OP, ofm, ofm);
	op->kernel = op->stride = op->dilation = (struct yx){ .y = 1, .x = 1 };
	G_PUT(op, OP, ifm_zero, 0);
	G_PUT(op, OP, ofm_zero, 0);
	G_PUT(op, OP, round, ROUND_TFL);
	G_PUT(op, OP, clamp, type_range(ofm.type));
	return op;
}

void
op_zeros(struct g_op *op, int32_t ifm, int32_t ofm)
{
	op->ifm_zero = ifm;
	op->ofm_zero = ofm;
}

void
op_scale(struct g_op *op, struct npu_scale s, enum g_round round)
{
	G_PUT(op, OP, scale, s);
	op->round = (int)round;
}

void
op_clamp(struct g_op *op, struct g_range r)
{
	op->clamp = r;
}

void
op_ifm2(struct g_op *op, struct g_operand ifm2, int32_t zero)
{
	G_PUT(op, OP, ifm2, ifm2);
	G_PUT(op, OP, ifm2_zero, zero);
}

void
op_scalar(struct g_op *op, int32_t value, int32_t zero)
{
	G_PUT(op, OP, scalar, value);
	G_PUT(op, OP, ifm2_zero, zero);
}

void
op_kernel(struct g_op *op, struct yx kernel, struct yx stride,
	  struct yx dilation, struct g_pad pad)
{
	G_PUT(op, OP, kernel, kernel);
	G_PUT(op, OP, stride, stride);
	if (dilation.y != 1 || dilation.x != 1)
		G_PUT(op, OP, dilation, dilation);
	if (pad.top || pad.left || pad.bottom || pad.right)
		G_PUT(op, OP, pad, pad);
}

void
op_table(struct g_op *op, struct g_lut *lut)
{
	G_PUT(op, OP, act, G_ACT_LUT);
	G_PUT(op, OP, lut, lut);
}

struct npu_scale
scale_one(void)
{
	return (struct npu_scale){ .mult = 1u << 30, .shift = 30 };
}

struct g_op *
low_copy(struct lower *l, struct g_operand from, struct g_operand to)
{
	if (graph_type_bytes(from.type) == 4) { /* pools have at most 16 bits */
		struct g_op *words = low_op(l, OP_MAX, from, to);
		op_ifm2(words, from, 0);
		return words;
	}
	struct g_op *op = low_op(l, OP_AVGPOOL, from, to);
	op_scale(op, scale_one(), ROUND_TFL);
	return op;
}

struct g_op *
low_pair(struct lower *l, enum g_op_kind kind, struct g_operand a, struct g_operand b,
	 struct g_operand ofm)
{
	struct g_op *op = low_op(l, kind, a, ofm);
	op_ifm2(op, b, 0);
	op_unscaled(op);
	return op;
}

struct g_op *
low_subtract_from(struct lower *l, int32_t scalar, struct g_operand x, struct g_operand ofm)
{
	struct g_op *op = low_op(l, OP_SUB, x, ofm);
	op_scalar(op, scalar, 0);
	G_PUT(op, OP, reversed, 1);
	op_unscaled(op);
	return op;
}

struct g_op *
low_convert(struct lower *l, struct g_operand v, int32_t zero, struct g_operand ofm)
{
	struct g_op *op = low_op(l, OP_ADD, v, ofm);
	op_scalar(op, 0, 0);
	op_unscaled(op);
	op->ifm_zero = zero;
	return op;
}

void
low_reverse_order(struct lower *l, struct g_operand x, struct g_operand ofm)
{
	(void)low_subtract_from(l, x.type == TFL_UINT8 ? UINT8_MAX : -1, x, ofm);
}

struct g_lut *
low_lut_words(struct lower *l, int bits, const int64_t *v, size_t n)
{
	/* equal tables share a record, and so a copy in flash and in SHRAM */
	for (size_t i = 0; i < l->g->n_luts; i++) {
		struct g_lut *t = l->g->luts[i];
		if (t->bits == bits && !memcmp(t->values.v, v, n * sizeof(*v)))
			return t;
	}
	struct g_lut *t = graph_add_g_lut(l->g);
	int64_t *copy = anew(l->a, int64_t, n);
	memcpy(copy, v, n * sizeof(*v));
	G_PUT(t, LUT, bits, bits);
	G_PUT(t, LUT, values, (struct g_list){ .v = copy, .n = n });
	return t;
}

struct g_lut *
low_lut8(struct lower *l, const uint8_t table[256])
{
	int64_t v[256];
	for (int i = 0; i < 256; i++)
		v[i] = table[i];
	return low_lut_words(l, 8, v, 256);
}

struct g_lut *
low_lut32(struct lower *l, const int32_t table[256])
{
	int64_t v[256];
	for (int i = 0; i < 256; i++)
		v[i] = (uint32_t)table[i];
	return low_lut_words(l, 32, v, 256);
}

/*
 * An entry has the base in its low half and the slope in its high half:
 * ethosu-commands(7) 6.5.
 */
struct g_lut *
low_lut16(struct lower *l, const int16_t points[513])
{
	int64_t v[512];
	for (int i = 0; i < 512; i++) {
		uint16_t base = (uint16_t)points[i];
		uint16_t slope = (uint16_t)(points[i + 1] - points[i]);
		v[i] = (uint32_t)slope << 16 | base;
	}
	return low_lut_words(l, 16, v, 512);
}

void
op_unscaled(struct g_op *op)
{
	if (op->kind == OP_ADD || op->kind == OP_SUB) {
		G_PUT(op, OP, opa, (struct npu_scale){ .mult = 1 });
		G_PUT(op, OP, opb, 1);
	}
	op_scale(op, (struct npu_scale){ .mult = 1 }, ROUND_TFL);
}
