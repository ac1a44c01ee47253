/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the columns of a stride into channels.  The NPU reads at least eight input
 * channels per tap.  If an image has few channels and its columns are contiguous, s
 * columns become one column of s times as many channels.  A stride of s becomes 1, and
 * a kernel of k columns has ceil(k / s) columns.  The elements and their order are
 * unchanged.
 *
 * Only for Ethos-U55.  Cycles of mbv2_int8, relative to no folding:
 *
 *   ethos-u55-64, ethos-u55-128  0.982
 *   ethos-u55-256                0.994
 *   ethos-u65-512                1.06 (reads images from DRAM)
 *   ethos-u85-2048               1.00 (reads images from DRAM)
 */
#include "lower/convparts.h"

enum { LEAST_CHANNELS = 8 };

static bool
can_fold(const struct lower *l, const struct low_conv *c, const struct nd *in)
{
	const int32_t s = c->stride.x;
	return l->accel && l->accel->generation == GEN_U55 && c->kind == OP_CONV && c->groups == 1 && c->dilation.x == 1 && s > 1 &&
	       c->kernel.x > 1 && s * c->i <= LEAST_CHANNELS && in->dim[2] % s == 0 &&
	       c->pad.left % s == 0 && in->stride[3] == 1 && in->stride[2] == c->i &&
	       in->stride[1] == in->dim[2] * c->i;
}

/* Merges s columns into one; taps beyond the kernel's last one are zero points. */
static void
fold_weights(struct lower *l, struct low_conv *c, int32_t s)
{
	struct low_weights *w = &c->weights;
	const int32_t columns = ceil_div(c->kernel.x, s), depth = s * c->i;
	const size_t row = (size_t)columns * (size_t)depth, all = (size_t)c->kernel.y * row;
	uint8_t *v = anew(l->a, uint8_t, (size_t)c->o * all);
	for (int32_t o = 0; o < c->o; o++) {
		uint8_t *to = v + (size_t)o * all;
		memset(to, (int)(uint8_t)w->zero[w->n_zero > 1 ? o : 0], all);
		for (int32_t y = 0; y < c->kernel.y; y++)
			for (int32_t x = 0; x < c->kernel.x; x++)
				for (int32_t i = 0; i < c->i; i++)
					to[(size_t)y * row + (size_t)(x * c->i + i)] =
						w->v[w->first + o * w->stride[0] +
						     y * w->stride[1] + x * w->stride[2] +
						     i * w->stride[3]];
	}
	w->v = v;
	w->source = NULL;
	w->first = 0;
	w->stride[3] = 1;
	w->stride[2] = depth;
	w->stride[1] = (int64_t)row;
	w->stride[0] = (int64_t)all;
	c->kernel.x = columns;
	c->i = depth;
}

void
conv_fold_stride(struct lower *l, struct low_conv *c, struct nd *in)
{
	const int32_t s = c->stride.x;
	if (!can_fold(l, c, in))
		return;
	fold_weights(l, c, s);
	c->stride.x = 1;
	c->pad.left /= s;
	c->pad.right = ceil_div(c->pad.right, s);
	in->dim[2] /= s;
	in->dim[3] *= s;
	in->stride[2] *= s;
}
