/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements: their tensors as views of any rank. */
#ifndef TFL_PARTITION_MOVE_H
#define TFL_PARTITION_MOVE_H

#include "../part.h"

#include "lower/nd.h"

/* a dense shape without memory, for checks */
struct nd nd_shape(const struct tfl_tensor *t);
/* an operand with the elements of t, in t's dimensions */
struct nd nd_of(struct g_operand o, const struct tfl_tensor *t);

/*
 * Sets the result of an operator that only moves elements: another name of the view
 * `seen`, or a copy of it if something forbids that.
 */
void nd_result(struct part *p, int tensor, const struct nd *seen);
/* the result to write, made if it does not exist yet */
struct nd nd_ofm(struct part *p, int tensor);
struct nd nd_ifm(struct part *p, int tensor);

/* moverules.c: rules that movements share; each returns NULL or the reason */
const char *check_move(const struct part *p, const struct lop *o);
const char *check_moved(const struct part *p, const struct tfl_tensor *t,
			const char *role);
/* the same, or a type of the operator's family */
const char *check_moved_by(const struct part *p, const struct tfl_op *op,
			   const struct tfl_tensor *t, const char *role);
const char *check_copies(const struct part *p, const struct nd *from,
			 const struct nd *to);
/* INT64 as pairs of words, in one more dimension; false if the rank is too large */
bool move_words(const struct tfl_tensor *t, struct nd *v);
struct nd as_words(const struct tfl_tensor *t, struct nd v); /* the same of a tensor */
/* nd_shape(), nd_ifm(), nd_ofm() with INT64 as pairs of words */
struct nd words_shape(const struct tfl_tensor *t);
struct nd words_ifm(struct part *p, int tensor);
struct nd words_ofm(struct part *p, int tensor);
/*
 * Sets the operator's result to a view v of its IFM, as nd_result() does.  A result of
 * INT64 is a copy.
 */
void move_result(struct part *p, const struct tfl_op *op, const struct nd *v);
/* the axis, counted from the end if negative; -1: out of range */
int move_axis(int64_t axis, int rank);
/* slice.c, permute.c, batch.c, move.c: changes v, all elements of the IFM, to the result's */
view_fn view_slice, view_strided_slice, view_transpose, view_reverse, view_depth_to_space,
    view_space_to_depth, view_repeat, view_reshape;

/* slice.c: output k of a SPLIT or SPLIT_V that the NPU runs, of v, the elements of its IFM */
void split_view(const struct part *p, const struct lop *o, int k, struct nd *v);

/* gather.c: the n indices of a GATHER along one axis; false: they are not constant */
bool gather_axis(const struct lop *o, int *axis, const int64_t **index, int *n);

/*
 * place/padding.c: true if operator i is a PAD or PADV2 that becomes padding of all
 * operators that read its result, convolutions and MAX_POOL_2D
 */
bool pad_folds(const struct part *p, int i);
/*
 * The folded PAD in front of an operator, with a struct low_borders; NULL: there is none, and
 * the operator reads its own input.
 */
const struct lop *folded_pad(const struct part *p, const struct tfl_op *op);

/* indexed.c: GATHER and GATHER_ND with computed indices, by the DMA engine */
const char *read_indexed(const struct part *p, struct lop *o);
void lower_indexed(struct part *p, const struct lop *o);

#endif
