/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOSA graphs, 1.0 and 1.1, integer profile with int16, int4 and int48 where
 * its operators have them.  The FlatBuffers tables are in schema/tosa.def,
 * operators in schema/tosa_ops.def; tosa-partition(1) says what is accepted.
 */
#ifndef TOSA_TOSA_H
#define TOSA_TOSA_H

#include "base/arena.h"
#include "base/bytes.h"
#include "tflite/tflite.h"

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
#define TOSA_OP(code, name, attributes, min_in, max_in, constants)             \
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
	unsigned constants;  /* bit k: input k must be a constant */
	const char *why_not; /* never accepted: the reason */
};
const struct tosa_op_info *tosa_op_info(int64_t code); /* NULL: no such operator */

const char *tosa_type_name(int64_t type); /* "i8" */
int tosa_type_bits(int type); /* that an element takes in a file */

struct tosa_tensor {
	const char *name;
	int type; /* enum tosa_type; TOSA_SHAPE: a list of numbers, rank 1 */
	int rank;
	int32_t dim[TOSA_MAX_RANK];
	struct bytes data; /* of a constant, else p is NULL; of any alignment */
	int producer;	   /* operator that writes it, -1: an input of the graph */
	int uses;	   /* operands that it is, and outputs of the graph */
	bool is_input, is_output;
};

struct tosa_op {
	int code; /* enum tosa_code */
	const char *name; /* "CONV2D" */
	int number;	  /* its place in the file */
	int n_in, n_out;
	const int *in, *out; /* tensors */
	struct fb_ref attribute;
	/* of a COND_IF's branch: its results matter where this tensor is guard_is */
	int guard; /* 1 + tensor, 0: none */
	bool guard_is;
	const struct tosa_loop *loop; /* of a WHILE_LOOP, else NULL */
};

/*
 * What a WHILE_LOOP runs, graphs with tensors of their own: as long as cond's only
 * result is true, body's results are the next turn's values.  Both have an input for
 * each value.
 */
struct tosa_loop {
	const struct tosa_graph *cond, *body;
};

struct tosa_graph {
	const char *name; /* of the file, for diagnostics */
	struct bytes file;
	int n_tensors, n_ops, n_in, n_out;
	struct tosa_tensor *tensor;
	struct tosa_op *op; /* in an order that can be executed; no CONST */
	const int *in, *out;
};

/* does it begin as a TOSA file does? */
bool tosa_is(struct bytes file);

/*
 * Reads and checks a whole graph: container, names, order, and the rules of
 * every operator, those on constants' values too.  Everything points into file,
 * which must outlive it.  Errors name the operator and the rule.
 */
bool tosa_read(struct arena *a, struct bytes file, const char *name,
	       struct tosa_graph **out, struct err *e);
bool tosa_read_file(struct arena *a, const char *path, struct tosa_graph **out,
		    struct err *e);

/* check.c: one operator's shapes, types and attributes */
bool tosa_check_op(const struct tosa_graph *g, const struct tosa_op *op,
		   struct err *e);

/* ---- values.c: constants --------------------------------------------------- */

int64_t tosa_elements(const struct tosa_tensor *t);
/* bytes in a file; of a tensor at the graph's border an element's own */
int64_t tosa_bytes(const struct tosa_tensor *t);
/* element i of constant data, sign-extended; booleans are 0 or 1 */
int64_t tosa_value(const struct tosa_tensor *t, int64_t i);
/* the same of memory that holds what the file does */
int64_t tosa_load(int type, const uint8_t *p, int64_t i);
void tosa_store(int type, uint8_t *p, int64_t i, int64_t v); /* not INT4 */
/* "i8[1,2,3]", into the arena */
const char *tosa_text(struct arena *a, const struct tosa_tensor *t);

/* ---- attr.c: attributes as values --------------------------------------------- */

struct tosa_window { /* convolutions and pools; y before x, top left bottom right */
	int32_t kernel[2], stride[2], dilation[2];
	int32_t before[2], after[2]; /* padding; of TRANSPOSE_CONV2D out_pad */
};
struct tosa_window tosa_window_of(const struct tosa_graph *g,
				  const struct tosa_op *op);

enum { TOSA_SINGLE_ROUND = 1, TOSA_INEXACT_ROUND, TOSA_DOUBLE_ROUND };
struct tosa_rescale {
	bool scale32, per_channel, in_unsigned, out_unsigned;
	int rounding;
	const struct tosa_tensor *mult, *shift;
	int64_t in_zero, out_zero; /* extended as the flags say */
};
struct tosa_rescale tosa_rescale_of(const struct tosa_graph *g,
				    const struct tosa_op *op);
/* (v * mult + rounding) >> shift, exactly; saturates where 64 bits don't hold it */
int64_t tosa_scale(int64_t v, int64_t mult, int64_t shift, bool twice);
/* what AVG_POOL2D divides a sum of n by */
void tosa_reciprocal(int64_t n, int64_t *mult, int64_t *shift);

struct tosa_resize {
	bool bilinear;
	int64_t num[2], den[2], offset[2], border[2];
};
struct tosa_resize tosa_resize_of(const struct tosa_graph *g,
				  const struct tosa_op *op);
/* lower neighbour, and the remainder of num[axis], of output position o */
int64_t tosa_resize_at(const struct tosa_resize *r, int axis, int64_t o,
		       int64_t *rest);

int64_t tosa_axis_of(const struct tosa_op *op);
/* the bounds of a CLAMP */
void tosa_clamp_of(const struct tosa_graph *g, const struct tosa_op *op,
		   int64_t *lo, int64_t *hi);
int32_t tosa_perm_of(const struct tosa_op *op, int i);
bool tosa_rounds(const struct tosa_op *op); /* ARITHMETIC_RIGHT_SHIFT */
/* the value of operand k, a constant of one element */
int64_t tosa_zero_of(const struct tosa_graph *g, const struct tosa_op *op, int k);
/* smallest and largest value of a type, as unsigned where asked for */
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
