/* SPDX-License-Identifier: Apache-2.0 */
/* Views of dense weights, for tests. */
#ifndef TESTS_VIEWS_H
#define TESTS_VIEWS_H

#include "weights/weights.h"

/* of a tensor with shape [O,H,W,I] */
static inline struct weights_view
view_ohwi(const void *p, int32_t o, int32_t h, int32_t w, int32_t i)
{
	return (struct weights_view){
		.p = p, .o = o, .h = h, .w = w, .i = i,
		.stride_o = (ptrdiff_t)h * w * i,
		.stride_y = (ptrdiff_t)w * i,
		.stride_x = i,
		.stride_i = 1,
	};
}

/* of a tensor with shape [1,H,W,C], with O=C, I=1 */
static inline struct weights_view
view_depthwise(const void *p, int32_t h, int32_t w, int32_t c)
{
	return (struct weights_view){
		.p = p, .o = c, .h = h, .w = w, .i = 1,
		.stride_o = 1,
		.stride_y = (ptrdiff_t)w * c,
		.stride_x = c,
		.stride_i = 1,
	};
}

#endif
