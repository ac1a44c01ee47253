/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data movement between views of any rank: the elements of one tensor, in any order
 * that strides describe, become elements of another tensor or of a part of it.  An
 * operator describes both sides as struct nd.
 */
#ifndef LOWER_ND_H
#define LOWER_ND_H

#include "lower/lower.h"

enum {
	ND_MAX = 2 * TFL_MAX_RANK,
	ND_MAX_COPIES = 2048, /* limit of NPU operations per movement */
	LOW_PAD = 127, /* limit of padding on each side: registers have 7 bits */
};

/*
 * A strided view: element (i0, i1, ...) is number offset + i0 * stride[0] + ... of
 * tensor t.  If t is NULL, the view is a shape, or a scalar with the value `offset`.
 */
struct nd {
	struct g_tensor *t;
	int type; /* enum tfl_type of the elements */
	int rank;
	int64_t dim[ND_MAX], stride[ND_MAX], offset;
};

/* a dense shape without memory, for checks */
struct nd nd_dense(int type, int rank, const int32_t *dim);
/* the elements of an operand in these dimensions */
struct nd nd_operand_of(struct g_operand o, int rank, const int32_t *dim);

/* v's dimensions without memory, as linear memory has them */
struct nd nd_linear(const struct nd *v);
/* Selects n elements of an axis: start, start + step, ... */
void nd_slice(struct nd *v, int axis, int64_t start, int64_t n, int64_t step);
/* Returns n elements of an axis of v, from start on. */
struct nd nd_part(const struct nd *v, int axis, int64_t start, int64_t n);
/* Permutes axes: axis i becomes the former axis order[i]. */
void nd_permute(struct nd *v, const int *order);
/* Exchanges the last two axes. */
void nd_transpose(struct nd *v);
/* Splits an axis of length n into two, of n / inner and inner. */
void nd_split(struct nd *v, int axis, int64_t inner);
/*
 * Changes the dimensions of the same elements.  Returns false if strides do not allow
 * that.
 */
bool nd_reshape(struct nd *v, const int64_t *dim, int rank);
/* as nd_reshape, for views that allow it */
struct nd nd_as(struct nd v, const int64_t *dim, int rank);
/* as nd_reshape; a view that does not allow it is copied */
struct nd nd_readable_as(struct lower *l, struct nd v, const int64_t *dim, int rank);
/* as nd_readable_as, and an operation can address the result */
struct nd nd_addressed_as(struct lower *l, const struct nd *v, const int64_t *dim, int rank);
/*
 * A view in these dimensions for an operation to write: v itself, or new memory that nd_deliver
 * copies to v.
 */
struct nd nd_writable_as(struct lower *l, const struct nd *v, const int64_t *dim, int rank);
void nd_deliver(struct lower *l, const struct nd *dest, const struct nd *v);
int64_t nd_elements(const struct nd *v);
/*
 * Sets out[i] to the offset of element i from the first element, for n elements along
 * the axes from `axis` on.
 */
void nd_distances(const struct nd *v, int axis, int32_t *out, int32_t n);

/* Converts v to an operand.  Returns false if H, W and C cannot describe the view. */
bool nd_operand(const struct nd *v, struct g_operand *out);
/* as nd_operand, for views that are convertible */
struct g_operand nd_to_operand(const struct nd *v);
/* true if elements are contiguous and in C order from offset on */
bool nd_is_dense(const struct nd *v);
/* Returns the same memory in another shape, if it is linear. */
bool operand_view(struct g_operand o, struct hwc shape, struct g_operand *out);

/* Do both views have the same elements, in the same order?  Only for views that an operation can
 * read. */
bool nd_is_same(const struct nd *x, const struct nd *y);
/*
 * Copies element by element, unless both are the same; dimensions must be equal.  Appends 1x1
 * average pools that are exact identities.  To apply a scale, table or clamp, the caller changes the
 * operations appended.
 */
void nd_copy(struct lower *l, const struct nd *from, const struct nd *to);
/* number of operations of nd_copy */
int64_t nd_copies(const struct lower *l, const struct nd *from, const struct nd *to);

/* a new tensor with these dimensions */
struct nd nd_new(struct lower *l, int type, int rank, const int64_t *dim);
/* a constant with these dimensions; v in C order.  Equal constants share a tensor. */
struct nd nd_const(struct lower *l, int type, int rank, const int64_t *dim,
		   const int32_t *v);
/* one element with all dimensions 1; a scalar without memory for 8 and 16 bits */
struct nd nd_const_one(struct lower *l, int type, int rank, int32_t v);
/* n values along the last dimension, other dimensions 1 */
struct nd nd_const_channels(struct lower *l, int type, int rank, int32_t n,
			    const int32_t *v);
/* Returns linear memory with the elements of v, copied if necessary. */
struct nd nd_readable(struct lower *l, const struct nd *v);
/*
 * Writes value to all elements of `to`, except for a box: n[k] elements from before[k]
 * on along each axis k.  any: linear memory that the operations read and clamp to
 * value.
 */
void nd_fill_border(struct lower *l, const struct nd *any, const struct nd *to,
		 const int64_t *before, const int64_t *n, int32_t value);

/* What a PAD adds: elements in front of each axis and behind it, which have one value. */
struct low_borders {
	int64_t before[ND_MAX], after[ND_MAX];
	int64_t value;
};

/* The part of out with v's dimensions, from element before[k] on along each axis k. */
struct nd nd_middle(const struct nd *out, const struct nd *v, const int64_t *before);
/* Should v be written to out by its producer, from element before[k] on along each axis k, and
 * nd_pad() write value around it?  Depends on shapes and types alone.  The sides must be no thicker
 * than v, and the last axis have none. */
bool nd_pads_around(const struct nd *v, const int64_t *before, int32_t value,
		    const struct nd *out);
/* Writes v to out, unless it is there already, and value around it. */
void nd_pad(struct lower *l, const struct nd *v, const int64_t *before, int32_t value,
	    const struct nd *out);

/* Writes the low bits of words to out, which has a smaller type. */
void nd_narrow(struct lower *l, const struct nd *v, const struct nd *out);
/* Returns a new tensor in which v's dimensions of 1 are broadcast to shape. */
struct nd nd_spread(struct lower *l, const struct nd *v, const struct nd *shape);

/* divide.c: quotients of words, rounded towards zero; dimensions of 1 are broadcast */
/* NULL, or the reason why not */
const char *nd_divide_check(const struct lower *l, const struct nd *out);
void nd_divide(struct lower *l, const struct nd *a, const struct nd *b,
	       const struct nd *out);

/* tile.c: fills out with repetitions of v along every axis. */
void nd_tile(struct lower *l, const struct nd *v, const struct nd *out);
int64_t nd_tile_copies(const struct lower *l, const struct nd *v, const struct nd *out);

/*
 * fold.c: v is [before][n][behind] of 32 bits.  Reduces its middle axis to one element
 * by ADD, MIN or MAX.
 */
void word_reduce_axis(struct lower *l, enum g_op_kind kind, struct nd *v);

/*
 * What ends an operation, and the constants of its operands.  All members 0: the
 * operation stays as it was made.
 */
struct low_end {
	/* true: the operation takes scale, factors and round from here; false: it keeps its own */
	bool scaled;
	struct npu_scale scale; /* ignored by operations that have none */
	enum g_round round;
	/*
	 * The factors of ADD and SUB are opa and opb, or else 1.  Others have opa alone: the
	 * scale of a comparison's first operand, or of LRELU's values above 0.
	 */
	bool factors;
	struct npu_scale opa;
	int opb;
	enum g_scaled side; /* the operand that opa scales, instead of both */
	bool half_up;	    /* the scaled operand rounds halves up */
	bool has_scalar;
	int32_t scalar;
	int32_t zero; /* the OFM's zero point */
	bool clamped; /* else the clamp stays as it is */
	struct g_range clamp;
	struct g_lut *lut; /* NULL: none */
};
extern const struct low_end low_as_made; /* nothing changes */
extern const struct low_end low_plain, low_half_up; /* scales of 1; halves as TFLite, or up */
/* elements.c: sets the members of an operation, whose other members are set */
void low_finish(const struct low_end *e, struct g_op *op);

/*
 * pieces.c: elementwise operations (and 1x1 pools) on views of equal rank, in whose
 * operands dimensions of 1 are broadcast.  Appends several operations if one cannot
 * address the views.  At most one operand is a scalar.
 */
void nd_unary(struct lower *l, enum g_op_kind kind, const struct nd *in, int32_t zero,
	      const struct nd *out, const struct low_end *end);
void nd_binary(struct lower *l, enum g_op_kind kind, const struct nd *a,
	       int32_t a_zero, const struct nd *b, int32_t b_zero,
	       const struct nd *out, const struct low_end *end);
/* upper bound of the number of operations; INT64_MAX: more */
int64_t nd_pieces(const struct nd *a, const struct nd *b, const struct nd *out);

/*
 * elements.c: arithmetic with all scales 1, in which SHR rounds halves up.  Results are
 * new tensors, in the broadcast dimensions of the operands.
 */
/* new tensor with v's dimensions */
struct nd nd_new_like(struct lower *l, const struct nd *v, int type);
struct nd nd_broadcast_op(struct lower *l, enum g_op_kind kind, const struct nd *a,
		  const struct nd *b); /* in the type of a */
struct nd nd_with_scalar(struct lower *l, enum g_op_kind kind, const struct nd *a, int32_t b);
/* Returns v - zero in a wider type. */
struct nd nd_widen(struct lower *l, const struct nd *v, int32_t zero, int type);

/*
 * indexed.c, only if low_has(l, LACK_GATHER).  nd_gather copies column at[y][x] of row
 * y of `from` [rows][any][channels] to column x of row y of `to`
 * [rows][columns][channels].  nd_scatter copies in the opposite direction and keeps all
 * other columns of `to`.  `at` is [rows][columns] of int32.  nd_can_index(l, {rows, any, channels},
 * columns) must hold.
 */
bool nd_can_index(const struct lower *l, const int64_t any[3], int64_t columns);
bool nd_has_columns(const struct nd *v); /* true if nd_scatter accepts v as its `to` */
void nd_gather(struct lower *l, const struct nd *from, const struct nd *at,
	       const struct nd *to);
void nd_scatter(struct lower *l, const struct nd *from, const struct nd *at,
		const struct nd *to);

#endif
