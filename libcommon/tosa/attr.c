/* SPDX-License-Identifier: Apache-2.0 */
/* Returns attributes and constant operands of operators that were checked before. */
#include "tosa/tosa.h"

#include "base/fixed.h"
#include "base/little_endian.h"

static int32_t
item(struct fb_ref t, int slot, int i)
{
	struct fb_vec v = fb_vector(t, slot);
	return (int32_t)load_le32(v.p + 4 * (size_t)i);
}

struct tosa_window
tosa_window_of(const struct tosa_graph *g, const struct tosa_op *op)
{
	struct tosa_window w = { .dilation = { 1, 1 } };
	struct fb_ref t = op->attribute;
	bool pool = op->code == TOSA_AVG_POOL2D || op->code == TOSA_MAX_POOL2D;
	bool trans = op->code == TOSA_TRANSPOSE_CONV2D;
	int taps = op->code == TOSA_DEPTHWISE_CONV2D ? 0 : 1; /* axis of the weights' height */
	for (int i = 0; i < 2; i++) {
		if (pool)
			w.kernel[i] = item(t, FB_TosaPool_kernel, i);
		else
			w.kernel[i] = tosa_in(g, op, 1)->dim[taps + i];
		w.stride[i] = item(t, pool    ? FB_TosaPool_stride
				      : trans ? FB_TosaTransposeConv_stride
					      : FB_TosaConv_stride, i);
		if (!pool && !trans)
			w.dilation[i] = item(t, FB_TosaConv_dilation, i);
	}
	int slot = pool ? FB_TosaPool_pad : trans ? FB_TosaTransposeConv_out_pad : FB_TosaConv_pad;
	for (int i = 0; i < 2; i++) {
		w.before[i] = item(t, slot, 2 * i);
		w.after[i] = item(t, slot, 2 * i + 1);
	}
	return w;
}

int64_t
tosa_zero_of(const struct tosa_graph *g, const struct tosa_op *op, int k)
{
	return tosa_value(tosa_in(g, op, k), 0);
}

/* reinterprets the bits as an unsigned number */
static int64_t
unsigned_of(int type, int64_t v)
{
	return v & ((INT64_C(1) << tosa_type_bits(type)) - 1);
}

struct tosa_rescale
tosa_rescale_of(const struct tosa_graph *g, const struct tosa_op *op)
{
	struct fb_ref t = op->attribute;
	struct tosa_rescale r = {
		.scale32 = fb_int(t, FB_TosaRescale_scale32) != 0,
		.per_channel = fb_int(t, FB_TosaRescale_per_channel) != 0,
		.in_unsigned = fb_int(t, FB_TosaRescale_input_unsigned) != 0,
		.out_unsigned = fb_int(t, FB_TosaRescale_output_unsigned) != 0,
		.rounding = (int)fb_int(t, FB_TosaRescale_rounding_mode),
		.mult = tosa_in(g, op, 1), .shift = tosa_in(g, op, 2),
		.in_zero = tosa_zero_of(g, op, 3), .out_zero = tosa_zero_of(g, op, 4),
	};
	if (r.in_unsigned)
		r.in_zero = unsigned_of(tosa_in(g, op, 3)->type, r.in_zero);
	if (r.out_unsigned)
		r.out_zero = unsigned_of(tosa_in(g, op, 4)->type, r.out_zero);
	return r;
}

int64_t
tosa_scale(int64_t v, int64_t mult, int64_t shift, bool twice)
{
	int64_t add = INT64_C(1) << (shift - 1);
	if (twice && shift > 31)
		add += v >= 0 ? INT64_C(1) << 30 : -(INT64_C(1) << 30);
	return fixed_scale_wide(v, (uint32_t)mult, add, (int)shift);
}

void
tosa_reciprocal(int64_t n, int64_t *mult, int64_t *shift)
{
	int k = 0;
	while (n > 1 && (n - 1) >> k)
		k++;
	*mult = (((INT64_C(1) << 30) + 1) << k) / n;
	*shift = 30 + k;
}

struct tosa_resize
tosa_resize_of(const struct tosa_graph *g, const struct tosa_op *op)
{
	struct tosa_resize r = {
		.bilinear = fb_int(op->attribute, FB_TosaResize_mode) == 2 };
	for (int i = 0; i < 2; i++) {
		r.num[i] = tosa_value(tosa_in(g, op, 1), 2 * i);
		r.den[i] = tosa_value(tosa_in(g, op, 1), 2 * i + 1);
		r.offset[i] = tosa_value(tosa_in(g, op, 2), i);
		r.border[i] = tosa_value(tosa_in(g, op, 3), i);
	}
	return r;
}

int64_t
tosa_resize_at(const struct tosa_resize *r, int axis, int64_t o, int64_t *rest)
{
	int64_t n = r->num[axis], at = o * r->den[axis] + r->offset[axis];
	int64_t lower = at >= 0 ? at / n : -((n - 1 - at) / n);
	*rest = at - lower * n;
	return lower;
}

int64_t
tosa_axis_of(const struct tosa_op *op)
{
	return fb_int(op->attribute, FB_TosaAxis_axis);
}

void
tosa_clamp_of(const struct tosa_graph *g, const struct tosa_op *op, int64_t *lo,
	      int64_t *hi)
{
	int type = tosa_in(g, op, 0)->type;
	*lo = tosa_load(type, fb_vector(op->attribute, FB_TosaClamp_min_val).p, 0);
	*hi = tosa_load(type, fb_vector(op->attribute, FB_TosaClamp_max_val).p, 0);
}

int32_t
tosa_perm_of(const struct tosa_op *op, int i)
{
	return item(op->attribute, FB_TosaPerms_perms, i);
}

bool
tosa_rounds(const struct tosa_op *op)
{
	return fb_int(op->attribute, FB_TosaShift_round) != 0;
}

int64_t
tosa_least(int type, bool is_unsigned)
{
	return is_unsigned || type == TOSA_BOOL
		   ? 0
		   : -(INT64_C(1) << (tosa_type_bits(type) - 1));
}

int64_t
tosa_most(int type, bool is_unsigned)
{
	if (type == TOSA_BOOL)
		return 1;
	return (INT64_C(1) << (tosa_type_bits(type) - !is_unsigned)) - 1;
}
