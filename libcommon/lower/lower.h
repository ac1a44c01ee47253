/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes NPU primitives from operators, for tfl-partition and tosa-partition.  The
 * functions append tensors and operations to a graph.  The partitioner has to refuse
 * unsupported operators first; what only the lowering can see is refused by low_refuse().
 * Functions are grouped by file; views of any rank are in lower/nd.h.
 */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "graph/records.h"

/* the graph that receives operations, and their common properties */
struct lower {
	struct arena *a;
	struct graph *g;
	struct g_node *node; /* the node being filled */
	int op_i;	     /* index of the original operator that is being lowered */
	const char *name;    /* name of its operations; NULL: none */
	const struct accel *accel; /* target of the lowering; NULL: all accelerators */
	const char *refused; /* why the operator can't be lowered: low_refuse(); NULL: it can */
	bool for_linux; /* streams must keep the rules of the Linux driver */
};
enum { LOW_MAX_OPS = 1 << 14 };

/*
 * values.c: Refuses the operator that is being lowered; the last reason counts.  The
 * operations that were appended are of no use.
 */
void low_refuse(struct lower *l, const char *why);
/* Refuses an operator that would need more than LOW_MAX_OPS operations, if nothing else did. */
void low_refuse_many(struct lower *l);

/* values.c: tensors of the graph */
struct g_tensor *low_tensor(struct lower *l, int type, struct hwc hwc,
			    const char *name); /* an intermediate tensor */
struct g_operand low_new(struct lower *l, int type, struct hwc shape); /* all of a new one */
/* Returns the same elements in another shape; copies them if no view has that shape. */
struct g_operand low_view(struct lower *l, struct g_operand o, struct hwc shape);
/* Returns the same elements in linear order, as a view that accepts any strides. */
struct g_operand low_linear(struct lower *l, struct g_operand o);
/*
 * Returns the destination for a result that is written to ofm with strides or in
 * another shape: ofm itself, or, if ofm is a part of a tensor, a new tensor that
 * low_deliver copies to ofm.
 */
struct g_operand low_destination(struct lower *l, struct g_operand ofm);
void low_deliver(struct lower *l, struct g_operand dest, struct g_operand ofm);
/*
 * Makes a constant that is not in the model; v is in C order.  Equal constants share a
 * tensor.
 */
struct g_operand low_const(struct lower *l, int type, struct hwc shape,
			    const int32_t *v);
/* Returns a part of an operand, with this shape, at this start. */
struct g_operand low_box(struct g_operand o, struct hwc shape, struct hwc start);

/* ops.c: make graph operations with all properties that a primitive needs. */
struct g_op *low_op(struct lower *l, enum g_op_kind kind, struct g_operand ifm,
		     struct g_operand ofm);
void op_zeros(struct g_op *op, int32_t ifm, int32_t ofm);
void op_scale(struct g_op *op, struct npu_scale s, enum g_round round);
void op_clamp(struct g_op *op, struct g_range r);
void op_ifm2(struct g_op *op, struct g_operand ifm2, int32_t zero);
void op_scalar(struct g_op *op, int32_t value, int32_t zero);
void op_kernel(struct g_op *op, struct yx kernel, struct yx stride,
	       struct yx dilation, struct g_pad pad);
void op_table(struct g_op *op, struct g_lut *lut);
/* Makes an operation of two operands with all scales 1. */
struct g_op *low_pair(struct lower *l, enum g_op_kind kind, struct g_operand a,
		      struct g_operand b, struct g_operand ofm);
/* Writes ofm = scalar - x. */
struct g_op *low_subtract_from(struct lower *l, int32_t scalar, struct g_operand x,
			       struct g_operand ofm);
/* Writes ofm = v - zero, of another type: a sum with 0. */
struct g_op *low_convert(struct lower *l, struct g_operand v, int32_t zero, struct g_operand ofm);
/* Copies elements unchanged: a 1x1 average pool, or MAX for 32 bits. */
struct g_op *low_copy(struct lower *l, struct g_operand from, struct g_operand to);
/* Makes a table of n entries in the hardware's format.  Equal tables share a record. */
struct g_lut *low_lut_words(struct lower *l, int bits, const int64_t *v, size_t n);
struct g_lut *low_lut8(struct lower *l, const uint8_t table[256]);
struct g_lut *low_lut16(struct lower *l, const int16_t points[513]);
struct g_lut *low_lut32(struct lower *l, const int32_t table[256]);
/*
 * Writes ofm = -1 - x, or 255 - x for UINT8: reverses the order, so that the minimum
 * becomes the maximum.
 */
void low_reverse_order(struct lower *l, struct g_operand x, struct g_operand ofm);
/* identity scale of pools: 2^30 >> 30 */
struct npu_scale scale_one(void);

/* Sets all scales to 1, for plain integer arithmetic. */
void op_unscaled(struct g_op *op);

/*
 * function.c: the table of TANH or SIGMOID of 16 bits, for accelerators without these functions.
 * The two tables differ in the first slope only: 0 and 1.
 */
struct g_lut *low_function(struct graph *g, bool tanh);

/* words.c: arithmetic of 32-bit integers (words); the smaller operand is broadcast */
struct g_operand word_const(struct lower *l, int32_t v);
struct g_operand word_new(struct lower *l, struct hwc shape);
struct g_operand word_widened(struct lower *l, struct g_operand v, int32_t zero); /* v - zero */
struct g_op *word_op_to(struct lower *l, enum g_op_kind kind, struct g_operand a,
			struct g_operand b, struct g_operand ofm);
typedef struct g_operand word_function(struct lower *l, struct g_operand a,
				       struct g_operand b);
word_function word_add, word_sub, word_mul, word_min, word_max, word_shl;
word_function word_shr;	     /* rounds halves up */
word_function word_mul_high; /* SRDHM of nputools-lowering(7) 3.1 */
/* Writes MBQM(v, s) + zero, the reference's rescaling, in the type of ofm. */
void word_scale_to(struct lower *l, struct g_operand v, struct npu_scale s,
		   int32_t zero, struct g_operand ofm);
/* Returns v / 2^bits, rounded down.  v has to be at least INT32_MIN + 2^bits. */
struct g_operand word_floor(struct lower *l, struct g_operand v, int bits);
/* Returns v - high * 2^bits. */
struct g_operand word_remainder(struct lower *l, struct g_operand v, struct g_operand high,
			   int bits);
struct g_operand word_clz(struct lower *l, struct g_operand a);
struct g_operand word_is_above(struct lower *l, struct g_operand v); /* 1 if v is above 0, else 0 */
struct g_operand word_abs(struct lower *l, struct g_operand a);
/*
 * Reciprocals, Q0.
 *
 * word_half_recip: half of 1 / (1 + x), for half = (1 + x) / 2, which is at least 2^30.
 * The result is at most 2^30, that is 1/2, where the reference's reciprocal is 2^31 -
 * 1.
 *
 * word_mul_halved: a times the whole reciprocal, from its half, rounded as SRDHM.  If
 * half is 2^30 and a is greater, the result is a where the reference has a - 1.
 *
 * word_doubled: the whole reciprocal from its half.
 */
struct g_operand word_half_recip(struct lower *l, struct g_operand half);
word_function word_mul_halved;
struct g_operand word_doubled(struct lower *l, struct g_operand half);
/* divide.c: writes a / b, rounded towards zero; all operands have one shape. */
void word_divide_to(struct lower *l, struct g_operand a, struct g_operand b,
		    struct g_operand ofm);

#endif
