/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements: their tensors as views of any rank. */
#ifndef TFL_PARTITION_MOVE_H
#define TFL_PARTITION_MOVE_H

#include "../part.h"

#include "lower/nd.h"

/* a dense shape without memory yet, for checks */
struct nd nd_shape(const struct tfl_tensor *t);
/* an operand whose elements are those of t, in t's dimensions */
struct nd nd_of(struct g_operand o, const struct tfl_tensor *t);

/*
 * The result of an operator that only moves: another name of what is seen
 * where nothing forces a copy, copied otherwise.
 */
void nd_result(struct part *p, int tensor, const struct nd *seen);
/* the result to write, made where it is not there yet */
struct nd nd_ofm(struct part *p, int tensor);
struct nd nd_ifm(struct part *p, int tensor);

/* rules that movements share: NULL or the reason */
const char *check_move(const struct part *p, const struct tfl_op *op, int min_in,
		       int max_in);
const char *check_moved(const struct part *p, const struct tfl_tensor *t,
			const char *role);
const char *check_copies(const struct part *p, const struct nd *from,
			 const struct nd *to);
/* INT64 as pairs of words, a dimension more; false where there is none left */
bool move_words(const struct tfl_tensor *t, struct nd *v);
/* an axis of t counted from the end when negative; -1: out of range */
int move_axis(int64_t axis, int rank);

/* what an operator shows of v, the elements of its IFM; it was accepted before */
/* slice.c: SLICE, STRIDED_SLICE; SPLIT and SPLIT_V as output k */
void slice_view(const struct part *p, const struct tfl_op *op, int k, struct nd *v);
/* permute.c: TRANSPOSE */
void transpose_view(const struct part *p, const struct tfl_op *op, struct nd *v);
/* gather.c: the n indices of a GATHER along one axis; false: they are not known */
bool gather_axis(const struct part *p, const struct tfl_op *op, int *axis,
		 const int64_t **index, int *n);

/* indexed.c: GATHER and GATHER_ND by the DMA engine, where it takes indices */
const char *check_indexed(const struct part *p, const struct tfl_op *op);
bool lower_indexed(struct part *p, const struct tfl_op *op);

#endif
