/* SPDX-License-Identifier: Apache-2.0 */
/* Strided copies of elements of any size.  Private to libcommon/kernels. */
#ifndef KERNELS_VIEW_H
#define KERNELS_VIEW_H

#include "kernels/call.h"

enum { VIEW_RANK = 2 * TFL_MAX_RANK };

/*
 * Element [i0][i1]... of a view lies at base + sum of i[d] * stride[d], in
 * elements; the last dimension runs fastest.
 */
struct view {
	int rank;
	int64_t base;
	int64_t dim[VIEW_RANK], stride[VIEW_RANK];
};

/* the whole tensor in C order */
struct view view_of(const struct tfl_tensor *t);

int64_t view_count(const struct view *v);

/* in dense C order on one side */
void view_gather(void *out, const void *in, struct view from, size_t bytes);
void view_scatter(void *out, struct view to, const void *in, size_t bytes);

/* bytes of an element of a type that call_type's T_ANY accepts */
size_t element_size(const struct tfl_tensor *t);

/* input 0 and output 0 of one movable type (T_ANY) and one quantization */
bool call_movable(struct call *c, const struct tfl_tensor *in,
		  const struct tfl_tensor *out);

#endif
