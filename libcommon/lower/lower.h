/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From operators to NPU primitives: what the front ends share.  Functions append
 * tensors and operations to a graph and can't fail; what the NPU is not able to
 * do a front end refuses beforehand.  The functions stand under the name of
 * their file; views of any rank are in lower/nd.h.
 */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "graph/graph.h"

/* where operations go, and what they are made from */
struct lower {
	struct arena *a;
	struct graph *g;
	struct g_node *node; /* being filled */
	int op_i;	     /* operator of the original that is being lowered */
	const char *name;    /* what its operations are called, or NULL */
	const struct accel *accel; /* to lower for; NULL: for all of them */
	bool for_linux; /* streams keep the rules of Linux's driver: nputools-linux(7) */
	bool too_many; /* a movement was left out: more operations than LOW_MAX_OPS */
};
enum { LOW_MAX_OPS = 1 << 14 };

/* values.c: tensors of the graph */
struct g_tensor *low_tensor(struct lower *l, int type, struct hwc hwc,
			    const char *name); /* an intermediate */
/* another shape of the same elements; copied first where a view can't do it */
struct g_operand low_view(struct lower *l, struct g_operand o, struct hwc shape);
/* the same elements in linear order, as a view that can be given any strides */
struct g_operand low_linear(struct lower *l, struct g_operand o);
/*
 * Where to write what becomes ofm by strides or another shape: ofm itself or,
 * where that is a part of something, a new tensor that low_deliver copies.
 */
struct g_operand low_room(struct lower *l, struct g_operand ofm);
void low_deliver(struct lower *l, struct g_operand room, struct g_operand ofm);
/* a constant of the compiler's own; v in C order; equal ones are one tensor */
struct g_operand low_const(struct lower *l, int type, struct hwc shape,
			    const int32_t *v);
/* a part of what an operand shows */
struct g_operand low_box(struct g_operand o, struct hwc shape, struct hwc start);

/* has the accelerator that the graph is for something, and does the driver allow it? */
static inline bool
low_has(const struct lower *l, enum accel_lack what)
{
	bool refused = what == LACK_RESIZE || what == LACK_GATHER || what == LACK_BRANCHES;
	return l->accel && !accel_lacks(l->accel, what) && !(l->for_linux && refused);
}

/* linux.c: why Linux's driver refuses an operation, or NULL; NULL, too, for no Linux */
const char *low_linux_limit(const struct lower *l, const struct g_op *op);
/* does a copy have to do without strides that run backwards? */
bool low_linux_forwards(const struct lower *l);
/* --target of the front ends: its names; false: e says why the accelerator has none */
extern const char *const low_targets[];
bool low_set_target(struct lower *l, int target, struct err *e);
void low_put_target(const struct lower *l, struct g_model *m); /* into the graph */

/* ops.c: graph operations with everything set that a primitive needs */
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
/* moves elements as they are: a 1x1 average pool, MAX for 32 bits */
struct g_op *low_copy(struct lower *l, struct g_operand from, struct g_operand to);
/* n entries as the hardware has them; equal tables are one record */
struct g_lut *low_lut_words(struct lower *l, int bits, const int64_t *v, size_t n);
struct g_lut *low_lut8(struct lower *l, const uint8_t table[256]);
struct g_lut *low_lut16(struct lower *l, const int16_t points[513]);
struct g_lut *low_lut32(struct lower *l, const int32_t table[256]);
/* ofm = -1 - x, of UINT8 255 - x: the least becomes the greatest */
void low_turn_order(struct lower *l, struct g_operand x, struct g_operand ofm);
/* identity multiplier as pools use it: 2^30 >> 30 */
struct npu_scale scale_one(void);

/* plain integer arithmetic: every factor is 1 */
void op_unscaled(struct g_op *op);

/* smallest and largest value of 8, 16 or 32 bits */
struct g_range type_range(int type);

/* words.c: arithmetic of 32-bit integers; the smaller operand is repeated */
struct g_operand word_const(struct lower *l, int32_t v);
struct g_operand word_new(struct lower *l, struct hwc shape);
struct g_op *word_op_to(struct lower *l, enum g_op_kind kind, struct g_operand a,
			struct g_operand b, struct g_operand ofm);
typedef struct g_operand word_function(struct lower *l, struct g_operand a,
				       struct g_operand b);
word_function word_add, word_sub, word_mul, word_min, word_max, word_shl;
word_function word_shr;	     /* halves up */
word_function word_mul_high; /* SRDHM of nputools-lowering(7) 3.1 */
/* v * s as the reference rescales (MBQM), plus zero, in the type of ofm */
void word_scale_to(struct lower *l, struct g_operand v, struct npu_scale s,
		   int32_t zero, struct g_operand ofm);
/* v / 2^bits, rounded down; v is 2^bits or more above the least number */
struct g_operand word_floor(struct lower *l, struct g_operand v, int bits);
/* v - high * 2^bits */
struct g_operand word_rest(struct lower *l, struct g_operand v, struct g_operand high,
			   int bits);
struct g_operand word_clz(struct lower *l, struct g_operand a);
struct g_operand word_abs(struct lower *l, struct g_operand a);
/*
 * Half of 1 / (1 + x) in Q0, given half = (1 + x) / 2 in Q0, 2^30 or more: 2^30 at most,
 * 1/2 itself, for the reference's 2^31 - 1.  Then: a times the whole, as SRDHM has it but where the
 * half is 2^30 and a above that (a, where the reference has a - 1); and the whole.
 */
struct g_operand word_half_recip(struct lower *l, struct g_operand half);
word_function word_mul_halved;
struct g_operand word_doubled(struct lower *l, struct g_operand half);
/* divide.c: a / b towards zero; all of one shape */
void word_divide_to(struct lower *l, struct g_operand a, struct g_operand b,
		    struct g_operand ofm);

#endif
