/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data movement, whatever its name: the elements of one tensor, taken in any
 * order along straight lines, become those of another, or of a part of it.
 * An operator describes both sides as an nd; the rest is here.
 */
#ifndef TFL_PARTITION_ND_H
#define TFL_PARTITION_ND_H

#include "part.h"

enum {
	ND_MAX = 2 * TFL_MAX_RANK,
	ND_MAX_COPIES = 2048, /* NPU operations that a movement may take */
};

/* element (i0, i1, ...) is number offset + i0 * stride[0] + ... of t */
struct nd {
	struct g_tensor *t;
	int type; /* enum tfl_type of the elements */
	int rank;
	int64_t dim[ND_MAX], stride[ND_MAX], offset;
};

/* a dense shape without memory yet, for checks */
struct nd nd_shape(const struct tfl_tensor *t);
/* an operand whose elements are those of t, in t's dimensions */
struct nd nd_of(struct g_operand o, const struct tfl_tensor *t);

/* n elements of an axis: start, start + step, ... */
void nd_slice(struct nd *v, int axis, int64_t start, int64_t n, int64_t step);
/* axis i becomes what axis order[i] was */
void nd_permute(struct nd *v, const int *order);
/* axis of length n becomes two of n / inner and inner */
void nd_split(struct nd *v, int axis, int64_t inner);
/* the same elements in other dimensions; false where memory forbids */
bool nd_reshape(struct nd *v, const int64_t *dim, int rank);
int64_t nd_elements(const struct nd *v);

/* v as an operation sees it, when H, W, C can describe it */
bool nd_operand(const struct nd *v, struct g_operand *out);
/* memory in linear order from offset on */
bool nd_is_dense(const struct nd *v);
/* the same memory in other dimensions, when it is linear */
bool operand_view(struct g_operand o, struct hwc shape, struct g_operand *out);

/*
 * Copies element by element; dimensions must be equal.  Appends 1x1 average
 * pools that are exact identities to the graph; a caller that wants another
 * scale, table or clamp changes the operations added.
 */
void nd_copy(struct part *p, const struct nd *from, const struct nd *to);
/* how many operations that takes */
int64_t nd_copies(const struct nd *from, const struct nd *to);

/*
 * The result of an operator that only moves: another name of what is seen
 * where nothing forces a copy, copied otherwise.
 */
void nd_result(struct part *p, int tensor, const struct nd *seen);
/* the result to write, made where it is not there yet */
struct nd nd_ofm(struct part *p, int tensor);
struct nd nd_ifm(struct part *p, int tensor);

/* pad.c: linear memory with v's elements, to read something from */
struct nd nd_readable(struct part *p, const struct nd *v);
/* value everywhere in `to` but in n[k] elements from before[k] on of each axis k */
void nd_surround(struct part *p, const struct nd *any, const struct nd *to,
		 const int64_t *before, const int64_t *n, int32_t value);

/* rules that movements share: NULL or the reason */
const char *check_move(const struct part *p, const struct tfl_op *op, int min_in,
		       int max_in);
const char *check_moved(const struct part *p, const struct tfl_tensor *t,
			const char *role);
const char *check_copies(const struct part *p, const struct nd *from,
			 const struct nd *to);
/* an axis of t counted from the end when negative; -1: out of range */
int move_axis(int64_t axis, int rank);

#endif
