/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data movement, whatever its name: the elements of one tensor, taken in any
 * order along straight lines, become those of another, or of a part of it.
 * An operator describes both sides as an nd; the rest is here.
 */
#ifndef LOWER_ND_H
#define LOWER_ND_H

#include "lower/lower.h"

enum {
	ND_MAX = 2 * TFL_MAX_RANK,
	ND_MAX_COPIES = 2048, /* NPU operations that a movement may take */
};

/*
 * Element (i0, i1, ...) is number offset + i0 * stride[0] + ... of t.  Without t it is
 * a shape alone, or the immediate `offset`.
 */
struct nd {
	struct g_tensor *t;
	int type; /* enum tfl_type of the elements */
	int rank;
	int64_t dim[ND_MAX], stride[ND_MAX], offset;
};

/* a dense shape without memory yet, for checks */
struct nd nd_dense(int type, int rank, const int32_t *dim);
/* an operand whose elements have these dimensions */
struct nd nd_operand_of(struct g_operand o, int rank, const int32_t *dim);

/* n elements of an axis: start, start + step, ... */
void nd_slice(struct nd *v, int axis, int64_t start, int64_t n, int64_t step);
/* axis i becomes what axis order[i] was */
void nd_permute(struct nd *v, const int *order);
/* axis of length n becomes two of n / inner and inner */
void nd_split(struct nd *v, int axis, int64_t inner);
/* the same elements in other dimensions; false where memory forbids */
bool nd_reshape(struct nd *v, const int64_t *dim, int rank);
int64_t nd_elements(const struct nd *v);
/* how far each of n elements lies behind the first one, along axes from `axis` on */
void nd_distances(const struct nd *v, int axis, int32_t *out, int32_t n);

/* v as an operation sees it, when H, W, C can describe it */
bool nd_operand(const struct nd *v, struct g_operand *out);
struct g_operand nd_seen(const struct nd *v); /* they certainly can */
/* memory in linear order from offset on */
bool nd_is_dense(const struct nd *v);
/* the same memory in other dimensions, when it is linear */
bool operand_view(struct g_operand o, struct hwc shape, struct g_operand *out);

/*
 * Copies element by element; dimensions must be equal.  Appends 1x1 average
 * pools that are exact identities to the graph; a caller that wants another
 * scale, table or clamp changes the operations added.
 */
void nd_copy(struct lower *l, const struct nd *from, const struct nd *to);
/* how many operations that takes */
int64_t nd_copies(const struct lower *l, const struct nd *from, const struct nd *to);

/* new memory for elements in these dimensions */
struct nd nd_new(struct lower *l, int type, int rank, const int64_t *dim);
/* constants in dimensions; v in C order; equal ones are one tensor */
struct nd nd_const(struct lower *l, int type, int rank, const int64_t *dim,
		   const int32_t *v);
/* one element, seen in so many dimensions: of 8 and 16 bits an immediate */
struct nd nd_const_one(struct lower *l, int type, int rank, int32_t v);
/* channels' values along the last of so many dimensions */
struct nd nd_const_channels(struct lower *l, int type, int rank, int32_t n,
			    const int32_t *v);
/* linear memory with v's elements, to read something from */
struct nd nd_readable(struct lower *l, const struct nd *v);
/* value everywhere in `to` but in n[k] elements from before[k] on of each axis k */
void nd_surround(struct lower *l, const struct nd *any, const struct nd *to,
		 const int64_t *before, const int64_t *n, int32_t value);

/* v in the middle of out, before[k] elements in along axis k, and value around it */
void nd_pad(struct lower *l, const struct nd *v, const int64_t *before, int32_t value,
	    const struct nd *out);

/* the low bits of words, whatever the others are, in out's smaller type */
void nd_narrow(struct lower *l, const struct nd *v, const struct nd *out);
/* v with its dimensions of 1 repeated to those of shape, in new memory */
struct nd nd_spread(struct lower *l, const struct nd *v, const struct nd *shape);

/* divide.c: a / b of words, towards zero, in which dimensions of 1 are repeated */
const char *nd_divide_check(const struct lower *l, const struct nd *out); /* why not */
void nd_divide(struct lower *l, const struct nd *a, const struct nd *b,
	       const struct nd *out);

/* tile.c: v again and again along every axis, as often as that fits out */
void nd_tile(struct lower *l, const struct nd *v, const struct nd *out);
int64_t nd_tile_copies(const struct lower *l, const struct nd *v, const struct nd *out);

/*
 * fold.c: v is [before][n][behind], of 32 bits: its middle axis becomes one element by
 * ADD, MIN or MAX
 */
void words_folded(struct lower *l, enum g_op_kind kind, struct nd *v);

/*
 * pieces.c: an elementwise operation (a 1x1 pool, too) of views of equal rank, in
 * whose operands a dimension of 1 is repeated; several where one can't say it.
 * `made` completes each: scale, rounding, the OFM's zero point, clamp; a scalar.
 * Not both operands are immediates.
 */
typedef void nd_made(void *ctx, struct g_op *op);
nd_made nd_as_made; /* there is nothing to complete */
void nd_unary(struct lower *l, enum g_op_kind kind, const struct nd *in, int32_t zero,
	      const struct nd *out, nd_made *made, void *ctx);
void nd_binary(struct lower *l, enum g_op_kind kind, const struct nd *a,
	       int32_t a_zero, const struct nd *b, int32_t b_zero,
	       const struct nd *out, nd_made *made, void *ctx);
/* how many operations that takes at most, of tensors in such memory; INT64_MAX: more */
int64_t nd_pieces(const struct nd *a, const struct nd *b, const struct nd *out);

/*
 * elements.c: plain arithmetic, in which all factors are 1 and SHR rounds halves up;
 * results are in new memory, in the dimensions that operands repeat to
 */
nd_made nd_plain; /* ctx is NULL */
struct nd nd_like(struct lower *l, const struct nd *v, int type); /* without elements */
struct nd nd_both(struct lower *l, enum g_op_kind kind, const struct nd *a,
		  const struct nd *b); /* in a's type */
struct nd nd_by(struct lower *l, enum g_op_kind kind, const struct nd *a, int32_t b);
struct nd nd_floor_shift(struct lower *l, const struct nd *v, int n); /* of 32 bits */
/* v - zero in more bits */
struct nd nd_widen(struct lower *l, const struct nd *v, int32_t zero, int type);

/*
 * indexed.c: where the accelerator has that (LACK_GATHER), column at[y][x] of row y of
 * from [rows][any][channels] becomes column x of row y of to [rows][columns][channels];
 * scattered, the other way round, among what is in `to` already.  at
 * [rows][columns] of int32; rows and columns up to ND_MAX_INDEXED.
 */
enum { ND_MAX_INDEXED = 65535 };
bool nd_has_columns(const struct nd *v); /* a map that can be `to` of nd_scatter */
void nd_gather(struct lower *l, const struct nd *from, const struct nd *at,
	       const struct nd *to);
void nd_scatter(struct lower *l, const struct nd *from, const struct nd *at,
		const struct nd *to);

#endif
