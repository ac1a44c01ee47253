/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and checks TOSA graphs, 1.0 and 1.1: the integer profile, with int16, int4 and
 * int48 for the operators that have them.  The FlatBuffers tables are in
 * schema/tosa.def, the operators in schema/tosa_ops.def.  tosa-partition(1) describes
 * the accepted graphs.
 */
#ifndef TOSA_TOSA_H
#define TOSA_TOSA_H

#include "base/arena.h"
#include "base/bytes.h"
#include "tflite/flatbuffers.h"

#define FB_TABLE(t) extern const struct fb_table fb_##t; enum { FB_DUMMY_##t,
#define FB_END(t) };
#define FB_SCALAR(t, slot, f, kind, def) FB_##t##_##f = slot,
#define FB_VECTOR(t, slot, f, kind, align) FB_##t##_##f = slot,
#define FB_TEXT(t, slot, f) FB_##t##_##f = slot,
#define FB_TEXTS(t, slot, f) FB_##t##_##f = slot,
#define FB_CHILD(t, slot, f, c) FB_##t##_##f = slot,
#define FB_TABLES(t, slot, f, c) FB_##t##_##f = slot,
#define FB_UNION(t, slot, f, u) FB_##t##_##f = slot, FB_##t##_##f##_tag = slot - 1,
#include "tosa.def"

extern const struct fb_union fb_TosaAttribute;

enum tosa_code {
#define TOSA_OP(code, name, ...)                                               \
	TOSA_##name = code,
#include "tosa_ops.def"
	TOSA_OP_LIMIT = 76,
};

enum tosa_type {
	TOSA_UNKNOWN, TOSA_BOOL, TOSA_INT4, TOSA_INT8, TOSA_INT16, TOSA_INT32,
	TOSA_INT48, TOSA_FP32, TOSA_FP16, TOSA_BF16, TOSA_SHAPE,
};

enum { TOSA_MAX_RANK = 6 };

struct tosa_op_info {
	const char *name;
	int min_in, max_in;
	unsigned constants;  /* if bit k is set, input k must be a constant */
	const char *why_not; /* why the operator is never accepted; NULL: it may be accepted */
};
const struct tosa_op_info *tosa_op_info(int64_t code); /* NULL: no such operator */

const char *tosa_type_name(int64_t type); /* example: "i8" */
int tosa_type_bits(int type); /* bits of an element in a file; 0: unknown type */

struct tosa_tensor {
	const char *name;
	int type; /* enum tosa_type; TOSA_SHAPE: a list of numbers, rank 1 */
	int rank;
	int32_t dim[TOSA_MAX_RANK];
	struct bytes data; /* value of a constant, of any alignment; p is NULL for other
			    * tensors */
	int producer;	   /* operator that writes the tensor; -1: none, for example an input */
	int uses;	   /* number of operands and graph outputs that are this tensor */
	bool is_input, is_output;
};

struct tosa_op {
	int code; /* enum tosa_code */
	const char *name; /* example: "CONV2D" */
	int number;	  /* index in the file, for messages */
	int n_in, n_out;
	const int *in, *out; /* indices of tensors */
	struct fb_ref attribute;
	/*
	 * For an operator in a branch of COND_IF: its results are used only if tensor
	 * guard - 1 has the value guard_is.
	 */
	int guard; /* 1 + index of a tensor; 0: none */
	bool guard_is;
	const struct tosa_loop *loop; /* WHILE_LOOP; else NULL */
};

/*
 * The graphs of a WHILE_LOOP, with tensors of their own.  Both have one input for each
 * value of the loop.  While the only result of cond is true, body runs; its results are
 * the values of the next turn.
 */
struct tosa_loop {
	const struct tosa_graph *cond, *body;
};

struct tosa_graph {
	const char *name; /* name of the file, for messages */
	struct bytes file;
	int n_tensors, n_ops, n_in, n_out;
	struct tosa_tensor *tensor;
	struct tosa_op *op; /* sorted so that they can be executed in this order; no CONST */
	const int *in, *out;
};

/* True if the file has the identifier of TOSA. */
bool tosa_is(struct bytes file);

/*
 * Reads and checks a whole graph: container, names, order, and the rules of every
 * operator, including those for the values of constants.  The graph points into file,
 * which must outlive it.  Errors name the operator and the rule.
 */
bool tosa_read(struct arena *a, struct bytes file, const char *name,
	       struct tosa_graph **out, struct err *e);

/* check.c: checks shapes, types and attributes of one operator */
bool tosa_check_op(const struct tosa_graph *g, const struct tosa_op *op,
		   struct err *e);

/* ---- values.c: constants --------------------------------------------------- */

int64_t tosa_elements(const struct tosa_tensor *t);
/*
 * Size of a tensor's data in a file, in bytes.  Only INT4 packs two elements into a
 * byte; border tensors never have this type.
 */
int64_t tosa_bytes(const struct tosa_tensor *t);
/* Returns element i of a constant, sign-extended; booleans are 0 or 1. */
int64_t tosa_value(const struct tosa_tensor *t, int64_t i);
/* Like tosa_value(), for memory in the format of a file. */
int64_t tosa_load(int type, const uint8_t *p, int64_t i);
void tosa_store(int type, uint8_t *p, int64_t i, int64_t v); /* not for INT4 */
/* Returns type and shape, "i8[1,2,3]", allocated in the arena. */
const char *tosa_text(struct arena *a, const struct tosa_tensor *t);

/* ---- attr.c: attributes as values --------------------------------------------- */

struct tosa_window { /* convolutions and pools; index 0 is y, index 1 is x */
	int32_t kernel[2], stride[2], dilation[2];
	int32_t before[2], after[2]; /* padding at top and left, at bottom and right; for
				      * TRANSPOSE_CONV2D: out_pad */
};
struct tosa_window tosa_window_of(const struct tosa_graph *g,
				  const struct tosa_op *op);

enum { TOSA_SINGLE_ROUND = 1, TOSA_INEXACT_ROUND, TOSA_DOUBLE_ROUND };
struct tosa_rescale {
	bool scale32, per_channel, in_unsigned, out_unsigned;
	int rounding;
	const struct tosa_tensor *mult, *shift;
	int64_t in_zero, out_zero; /* sign-extended or zero-extended, as the flags say */
};
struct tosa_rescale tosa_rescale_of(const struct tosa_graph *g,
				    const struct tosa_op *op);
/*
 * Returns (v * mult + rounding) >> shift without intermediate rounding, saturated to 64
 * bits.  twice: double rounding.
 */
int64_t tosa_scale(int64_t v, int64_t mult, int64_t shift, bool twice);
/* Returns the factor and shift by which AVG_POOL2D divides a sum of n elements. */
void tosa_reciprocal(int64_t n, int64_t *mult, int64_t *shift);

struct tosa_resize {
	bool bilinear;
	int64_t num[2], den[2], offset[2], border[2];
};
struct tosa_resize tosa_resize_of(const struct tosa_graph *g,
				  const struct tosa_op *op);
/*
 * Returns the lower neighbour of output position o on an axis (0: y, 1: x).  *rest is
 * the distance from it, in units of 1 / num[axis].
 */
int64_t tosa_resize_at(const struct tosa_resize *r, int axis, int64_t o,
		       int64_t *rest);

int64_t tosa_axis_of(const struct tosa_op *op);
/* Returns the bounds of a CLAMP. */
void tosa_clamp_of(const struct tosa_graph *g, const struct tosa_op *op,
		   int64_t *lo, int64_t *hi);
int32_t tosa_perm_of(const struct tosa_op *op, int i);
bool tosa_rounds(const struct tosa_op *op); /* rounding flag of ARITHMETIC_RIGHT_SHIFT */
/* Returns the value of operand k, a constant of one element. */
int64_t tosa_zero_of(const struct tosa_graph *g, const struct tosa_op *op, int k);
/* smallest and largest value of a type, optionally as unsigned */
int64_t tosa_least(int type, bool is_unsigned);
int64_t tosa_most(int type, bool is_unsigned);

static inline const struct tosa_tensor *
tosa_in(const struct tosa_graph *g, const struct tosa_op *op, int k)
{
	return &g->tensor[op->in[k]];
}

static inline const struct tosa_tensor *
tosa_out(const struct tosa_graph *g, const struct tosa_op *op)
{
	return &g->tensor[op->out[0]];
}

#endif
