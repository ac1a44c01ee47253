/* SPDX-License-Identifier: Apache-2.0 */
/* Strided copies of elements of any size.  Private to libcommon/kernels. */
#ifndef KERNELS_VIEW_H
#define KERNELS_VIEW_H

#include "kernels/call.h"

enum { VIEW_RANK = 2 * TFL_MAX_RANK };

/*
 * A strided view: element [i0][i1]... is at base + sum of i[d] * stride[d], in
 * elements.  The last dimension varies fastest.
 */
struct view {
	int rank;
	int64_t base;
	int64_t dim[VIEW_RANK], stride[VIEW_RANK];
};

/* Returns the view of a whole tensor in C order. */
struct view view_of(const struct tfl_tensor *t);

int64_t view_count(const struct view *v);

/* Copy a view to or from a dense array in C order.  bytes: size of an element. */
void view_gather(void *out, const void *in, struct view from, size_t bytes);
void view_scatter(void *out, struct view to, const void *in, size_t bytes);

/* Returns the bytes of an element of a type that T_ANY of call_type contains. */
size_t element_size(const struct tfl_tensor *t);

/* Checks that in and out have one type of T_ANY. */
bool call_movable(struct call *c, const struct tfl_tensor *in,
		  const struct tfl_tensor *out);

#endif
