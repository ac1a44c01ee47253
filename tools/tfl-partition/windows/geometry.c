/* SPDX-License-Identifier: Apache-2.0 */
/* Padding and output extent of windows: nputools-lowering(7) 3.2. */
#include "../part.h"

#include "base/fixed.h"

static void
one_axis(int padding, int32_t in, int32_t k, int32_t stride, int32_t *out,
	 int32_t *before, int32_t *after)
{
	bool valid = padding == TFL_VALID;
	/* a model may have any stride above 0 */
	*out = !valid ? (int32_t)ceil_div_i64(in, stride) : in < k ? 0 : (in - k) / stride + 1;
	int64_t total = tfl_padding_total(padding, in, *out, k, stride);
	*before = (int32_t)(total / 2);
	*after = (int32_t)total - *before;
}

struct window
window_of(int padding, struct yx in, struct yx kernel, struct yx stride,
	  struct yx dilation)
{
	struct window w;
	one_axis(padding, in.y, (kernel.y - 1) * dilation.y + 1, stride.y,
		 &w.out.y, &w.pad.top, &w.pad.bottom);
	one_axis(padding, in.x, (kernel.x - 1) * dilation.x + 1, stride.x,
		 &w.out.x, &w.pad.left, &w.pad.right);
	return w;
}
