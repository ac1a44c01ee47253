/* SPDX-License-Identifier: Apache-2.0 */
/* Checks convolutions, MATMUL and pools, whose windows must divide without a rest. */
#include "tosa/check.h"

enum { MAX_EXTENT = 8192 }; /* level 8K: limit of dilated kernel and stride */

static int
acc_type(int type)
{
	return type == TOSA_INT8 ? TOSA_INT32 : TOSA_INT48;
}

static bool
check_acc(const struct check *c, int slot, int type)
{
	int64_t got = fb_int(c->op->attribute, slot);
	return got == type || check_bad(c, "accumulators of type %s, %s are needed",
					tosa_type_name(got), tosa_type_name(type));
}

static bool
check_positive(const struct check *c, const int32_t v[2], const char *what)
{
	for (int i = 0; i < 2; i++)
		if (v[i] < 1 || v[i] > MAX_EXTENT)
			return check_bad(c, "%s %dx%d: 1 to %d are allowed", what, v[0],
					 v[1], MAX_EXTENT);
	return true;
}

/* Returns the size of the result on axis i; the windows must leave no rest. */
static bool
window_extent(const struct check *c, const struct tosa_window *w, int i, int64_t in,
	      int64_t *out)
{
	int64_t kernel = ((int64_t)w->kernel[i] - 1) * w->dilation[i] + 1;
	int64_t slack = in + w->before[i] + w->after[i] - kernel;
	if (kernel > MAX_EXTENT)
		return check_bad(c, "a dilated kernel of %lld, level 8K allows %d",
				 (long long)kernel, MAX_EXTENT);
	if (slack < 0)
		return check_bad(c, "a kernel of %lld does not fit %lld with padding %d "
				 "and %d", (long long)kernel, (long long)in,
				 w->before[i], w->after[i]);
	if (slack % w->stride[i])
		return check_bad(c, "(%lld + %d + %d - %lld) is no multiple of the "
				 "stride %d", (long long)in, w->before[i], w->after[i],
				 (long long)kernel, w->stride[i]);
	*out = slack / w->stride[i] + 1;
	return true;
}

/*
 * Checks types, ranks and the length of the bias.  acc_slot is the attribute of the
 * accumulator type.
 */
static bool
check_operands(const struct check *c, int acc_slot, int channels_axis,
	       int64_t channels)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0), *w = tosa_in(c->g, c->op, 1),
				 *b = tosa_in(c->g, c->op, 2);
	int acc = acc_type(x->type);
	if (!check_in(c, 0, T_FEATURE_MAPS) || !check_in(c, 1, T(INT8) | T(INT4)))
		return false;
	if (w->dim[channels_axis] != x->dim[3])
		return check_bad(c, "weights of %d channels, the input has %d",
				 w->dim[channels_axis], x->dim[3]);
	if (b->type != acc || b->rank != 1 || (b->dim[0] != channels && b->dim[0] != 1))
		return check_bad(c, "the bias is %lld of type %s, %lld or 1 of type %s "
				 "are needed", (long long)tosa_elements(b),
				 tosa_type_name(b->type), (long long)channels,
				 tosa_type_name(acc));
	return check_out(c, acc) && check_acc(c, acc_slot, acc) &&
	       check_zero(c, 3, x) && check_zero(c, 4, w);
}

bool
check_conv(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0), *w = tosa_in(c->g, c->op, 1);
	bool deep = c->op->code == TOSA_DEPTHWISE_CONV2D;
	if (!check_rank(c, x, 4) || !check_rank(c, w, 4) ||
	    !check_list(c, FB_TosaConv_pad, 4) || !check_list(c, FB_TosaConv_stride, 2) ||
	    !check_list(c, FB_TosaConv_dilation, 2))
		return false;
	struct tosa_window k = tosa_window_of(c->g, c->op);
	int64_t channels = deep ? (int64_t)w->dim[2] * w->dim[3] : w->dim[0];
	if (!check_positive(c, k.stride, "stride") ||
	    !check_positive(c, k.dilation, "dilation") ||
	    !check_positive(c, k.kernel, "kernel") ||
	    !check_operands(c, FB_TosaConv_acc_type, deep ? 2 : 3, channels))
		return false;
	int64_t out[4] = { x->dim[0], 0, 0, channels };
	for (int i = 0; i < 2; i++) {
		if (k.before[i] < 0 || k.after[i] < 0)
			return check_bad(c, "negative padding %d, %d", k.before[i],
					 k.after[i]);
		if (!window_extent(c, &k, i, x->dim[1 + i], &out[1 + i]))
			return false;
	}
	return check_shape(c, 4, out);
}

bool
check_transpose_conv(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0), *w = tosa_in(c->g, c->op, 1);
	if (!check_rank(c, x, 4) || !check_rank(c, w, 4) ||
	    !check_list(c, FB_TosaTransposeConv_out_pad, 4) ||
	    !check_list(c, FB_TosaTransposeConv_stride, 2))
		return false;
	struct tosa_window k = tosa_window_of(c->g, c->op);
	int64_t out[4] = { x->dim[0], 0, 0, w->dim[0] };
	if (!check_positive(c, k.stride, "stride") ||
	    !check_positive(c, k.kernel, "kernel") ||
	    !check_operands(c, FB_TosaTransposeConv_acc_type, 3, w->dim[0]))
		return false;
	for (int i = 0; i < 2; i++) {
		if (k.before[i] <= -k.kernel[i] || k.after[i] <= -k.kernel[i])
			return check_bad(c, "output padding %d, %d of a kernel of %d",
					 k.before[i], k.after[i], k.kernel[i]);
		out[1 + i] = ((int64_t)x->dim[1 + i] - 1) * k.stride[i] + k.before[i] +
			     k.after[i] + k.kernel[i];
	}
	return check_shape(c, 4, out);
}

bool
check_pool(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	bool average = c->op->code == TOSA_AVG_POOL2D;
	if (!check_in(c, 0, T_FEATURE_MAPS) || !check_out(c, x->type) || !check_rank(c, x, 4) ||
	    !check_list(c, FB_TosaPool_kernel, 2) ||
	    !check_list(c, FB_TosaPool_stride, 2) || !check_list(c, FB_TosaPool_pad, 4))
		return false;
	if (average && (!check_acc(c, FB_TosaPool_acc_type, TOSA_INT32) ||
			!check_zero(c, 1, x) || !check_zero(c, 2, x)))
		return false;
	struct tosa_window k = tosa_window_of(c->g, c->op);
	int64_t out[4] = { x->dim[0], 0, 0, x->dim[3] };
	if (!check_positive(c, k.stride, "stride") ||
	    !check_positive(c, k.kernel, "kernel"))
		return false;
	for (int i = 0; i < 2; i++) {
		if (k.before[i] < 0 || k.after[i] < 0 || k.before[i] >= k.kernel[i] ||
		    k.after[i] >= k.kernel[i])
			return check_bad(c, "padding %d, %d of a kernel of %d: 0 to %d "
					 "are allowed", k.before[i], k.after[i],
					 k.kernel[i], k.kernel[i] - 1);
		if (!window_extent(c, &k, i, x->dim[1 + i], &out[1 + i]))
			return false;
	}
	return check_shape(c, 4, out);
}

bool
check_matmul(const struct check *c)
{
	const struct tosa_tensor *a = tosa_in(c->g, c->op, 0), *b = tosa_in(c->g, c->op, 1);
	if (!check_in(c, 0, T_FEATURE_MAPS) || !check_in(c, 1, T(INT8) | T(INT16)) ||
	    !check_rank(c, a, 3) || !check_rank(c, b, 3))
		return false;
	if (a->type != b->type)
		return check_bad(c, "operands are %s and %s", tosa_type_name(a->type),
				 tosa_type_name(b->type));
	if (a->dim[0] != b->dim[0] || a->dim[2] != b->dim[1])
		return check_bad(c, "matrices of %dx%dx%d and %dx%dx%d", a->dim[0],
				 a->dim[1], a->dim[2], b->dim[0], b->dim[1], b->dim[2]);
	int64_t out[3] = { a->dim[0], a->dim[1], b->dim[2] };
	return check_out(c, acc_type(a->type)) && check_zero(c, 2, a) &&
	       check_zero(c, 3, b) && check_shape(c, 3, out);
}
