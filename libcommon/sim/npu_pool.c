/* SPDX-License-Identifier: Apache-2.0 */
/* POOL: maximum, average, sum over depth (ethosu-commands(7) 6.8). */
#include "sim/npu.h"

#include <string.h>

struct pool {
	struct npu_run *r;
	const int32_t *x; /* [h][w][c], minus the zero point */
	struct npu_axis ay, ax;
	int32_t in_w, in_c;
	int64_t *acc; /* [out_w][out_c] */
	int32_t *y;
};

/* Joins the values of one tap to acc. */
static void
join(int64_t *restrict acc, const int32_t *restrict x, int32_t n, bool max,
     bool first)
{
	if (first)
		for (int32_t c = 0; c < n; c++)
			acc[c] = x[c];
	else if (max)
		for (int32_t c = 0; c < n; c++)
			acc[c] = acc[c] > x[c] ? acc[c] : x[c];
	else
		for (int32_t c = 0; c < n; c++)
			acc[c] += x[c];
}

static int64_t
depth_sum(const int32_t *x, int32_t n)
{
	int64_t s = 0;
	for (int32_t c = 0; c < n; c++)
		s += x[c];
	return s;
}

/* Joins the taps inside the IFM.  Returns their number. */
static int32_t
gather(const struct pool *p, int32_t oy, int32_t ox, int64_t *acc)
{
	int mode = p->r->op.mode;
	int32_t count = 0;
	for (int32_t ky = 0; ky < p->ay.taps; ky++) {
		int32_t y = axis_tap(&p->ay, oy, ky);
		for (int32_t kx = 0; y >= 0 && kx < p->ax.taps; kx++) {
			int32_t x = axis_tap(&p->ax, ox, kx);
			if (x < 0)
				continue;
			const int32_t *from =
			    p->x + ((int64_t)y * p->in_w + x) * p->in_c;
			if (mode == NPU_POOL_REDUCE_SUM)
				acc[0] += depth_sum(from, p->in_c);
			else
				join(acc, from, p->in_c, mode == NPU_POOL_MAX,
				     count == 0);
			count++;
		}
	}
	return count;
}

struct factor {
	uint32_t mult;
	int shift;
	bool none;
};

/* 1 / n as the NPU computes it: m = (2^(31+k) + 2^k) / n (ethosu-commands(7) 6.8). */
static struct factor
reciprocal(int32_t n)
{
	int k = 0;
	while (n > 1 && (n - 1) >> k)
		k++;
	uint64_t m = ((UINT64_C(1) << (31 + k)) + (UINT64_C(1) << k)) /
		     (uint64_t)n;
	return (struct factor){ .mult = (uint32_t)m, .shift = 31 + k };
}

/* The multiplier for a sum of count values (ethosu-commands(7) 6.3). */
static struct factor
factor_of(const struct npu_op *op, int32_t count)
{
	bool padded = op->pad_top || op->pad_left || op->pad_bottom ||
		      op->pad_right;
	if (op->mode == NPU_POOL_AVERAGE && padded)
		return reciprocal(count ? count : 1);
	if (op->global_scale)
		return (struct factor){ .mult = op->ofm_mult,
					.shift = op->ofm_shift };
	return (struct factor){ .none = true };
}

static void
run_row(struct pool *p, int32_t oy)
{
	struct npu_run *r = p->r;
	int32_t depth = r->op.ofm.shape.c, width = r->op.ofm.shape.w;
	memset(p->acc, 0, (size_t)width * (size_t)depth * sizeof(*p->acc));
	for (int32_t ox = 0; ox < width; ox++) {
		int64_t *acc = p->acc + (int64_t)ox * depth;
		int32_t count = gather(p, oy, ox, acc);
		struct factor f = factor_of(&r->op, count);
		npu_watch(r, acc, depth);
		for (int32_t c = 0; !f.none && c < depth; c++)
			acc[c] = npu_scale(acc[c], f.mult, f.shift,
					   r->op.rounding);
	}
	npu_output(r, p->acc, (int64_t)width * depth, p->y);
	fm_store(r, oy, 0, width, p->y);
}

static bool
check(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	if (op->mode > NPU_POOL_REDUCE_SUM)
		return npu_fail(r, "pooling mode %d is not defined (rule 8)",
				op->mode);
	if (op->ifm.bits == 32 && op->mode != NPU_POOL_REDUCE_SUM)
		return npu_fail(r, "IFM of 32 bits (rule 13)");
	if (op->mode == NPU_POOL_REDUCE_SUM && op->ofm.shape.c != 1)
		return npu_fail(r, "OFM depth %d of a sum over depth (rule 20)",
				op->ofm.shape.c);
	if (op->ifm.bits == 32 && op->ifm.bricks)
		return npu_fail(r, "IFM of 32 bits in bricks (rule 20)");
	/*
	 * the multiplier would be undefined; no generator emits this (U5 in
	 * ethosu-commands(7) 17)
	 */
	if (op->mode != NPU_POOL_MAX && factor_of(op, 1).none)
		return npu_fail(r, "no output scale without padding (rule 17)");
	return true;
}

bool
npu_run_pool(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct pool p = { .r = r, .ay = npu_axis_y(op), .ax = npu_axis_x(op),
			  .in_w = op->ifm.shape.w, .in_c = op->ifm.shape.c };
	uint64_t pixels = (uint64_t)op->ofm.shape.h * (uint64_t)op->ofm.shape.w;
	uint64_t taps = (uint64_t)op->kernel_h * (uint64_t)op->kernel_w;
	/* taps and pixels are <= 2^32: spending them first keeps the product in 64 bits */
	if (!check(r) || !npu_spend(r, taps) || !npu_spend(r, pixels) ||
	    !npu_spend(r, taps * pixels) ||
	    !npu_spend(r, taps * pixels * ((uint64_t)p.in_c + 4)))
		return false;
	size_t row = (size_t)op->ofm.shape.w * (size_t)op->ofm.shape.c;
	p.x = fm_load32(r, &op->ifm);
	p.acc = anew(r->a, int64_t, row);
	p.y = anew(r->a, int32_t, row);
	for (int32_t oy = 0; oy < op->ofm.shape.h; oy++)
		run_row(&p, oy);
	return true;
}
