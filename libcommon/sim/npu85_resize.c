/* SPDX-License-Identifier: Apache-2.0 */
/* RESIZE (ethosu-commands(7) 26.10). */
#include "sim/npu85.h"

#include "base/fixed.h"

struct resize {
	struct npu_run *r;
	struct npu_operand x;
};

/* The two input positions of an output position, and its distance from the first in 1/n. */
struct tap {
	int32_t first, second, rest;
};

static struct tap
tap_of(const struct npu_resize_axis *a, int32_t out, int32_t extent)
{
	int64_t p = (int64_t)out * a->d + a->offset;
	int64_t i = p >= 0 ? p / a->n : -((-p + a->n - 1) / a->n);
	return (struct tap){ .first = clamp_i32(i, 0, extent - 1),
			     .second = clamp_i32(i + 1, 0, extent - 1),
			     .rest = (int32_t)(p - i * a->n) };
}

static const int32_t *
at(const struct resize *z, int32_t y, int32_t x)
{
	struct hwc s = z->x.shape;
	return z->x.v + ((int64_t)y * s.w + x) * s.c;
}

static void
bilinear(const struct resize *z, struct tap y, struct tap x, int64_t *acc)
{
	const struct npu_op *op = &z->r->op;
	const int32_t *p00 = at(z, y.first, x.first);
	const int32_t *p01 = at(z, y.first, x.second);
	const int32_t *p10 = at(z, y.second, x.first);
	const int32_t *p11 = at(z, y.second, x.second);
	int64_t y0 = op->resize_y.n - y.rest, x0 = op->resize_x.n - x.rest;
	for (int32_t c = 0; c < op->extent.c; c++)
		acc[c] = p00[c] * y0 * x0 + p01[c] * y0 * x.rest +
			 p10[c] * (y.rest * x0) +
			 p11[c] * ((int64_t)y.rest * x.rest);
}

static void
nearest(const struct resize *z, struct tap y, struct tap x, int64_t *acc)
{
	const struct npu_op *op = &z->r->op;
	bool low = 2 * y.rest >= op->resize_y.n;
	bool right = 2 * x.rest >= op->resize_x.n;
	const int32_t *p = at(z, low ? y.second : y.first,
			      right ? x.second : x.first);
	for (int32_t c = 0; c < op->extent.c; c++)
		acc[c] = p[c];
}

bool
npu85_run_resize(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct resize z = { .r = r };
	struct npu_stage stage;
	if (op->mode != NPU_RESIZE_BILINEAR && op->mode != NPU_RESIZE_NEAREST)
		return npu_fail(r, "resize mode %d is not known (rule 8)",
				op->mode);
	if (op->ifm.shape.c != op->extent.c || op->ifm.bits > 16)
		return npu_fail(r, "IFM of %d bits, depth %d for %d", op->ifm.bits,
				op->ifm.shape.c, op->extent.c);
	if (!npu85_stage(r, &stage) ||
	    !npu_spend(r, 8 * (uint64_t)hwc_elements(op->extent)) ||
	    !npu85_load(r, &op->ifm, false, "IFM", &z.x))
		return false;
	int32_t depth = op->extent.c, width = op->extent.w;
	int64_t *row = anew(r->a, int64_t, (size_t)width * (size_t)depth);
	for (int32_t oy = 0; oy < op->extent.h; oy++) {
		struct tap y = tap_of(&op->resize_y, oy, z.x.shape.h);
		for (int32_t ox = 0; ox < width; ox++) {
			struct tap x = tap_of(&op->resize_x, ox, z.x.shape.w);
			int64_t *acc = row + (int64_t)ox * depth;
			if (op->mode == NPU_RESIZE_BILINEAR)
				bilinear(&z, y, x, acc);
			else
				nearest(&z, y, x, acc);
			/* 16 bits of fraction, which the scale removes again */
			for (int32_t c = 0; c < depth; c++)
				acc[c] *= 1 << 16;
		}
		if (!npu85_put(r, &stage, oy, 0, width, row))
			return false;
	}
	return true;
}
