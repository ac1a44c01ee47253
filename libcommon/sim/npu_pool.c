/* SPDX-License-Identifier: Apache-2.0 */
/* POOL: maximum, average, sum over depth (ethosu-commands(7) 6.8). */
#include "sim/npu.h"

#include <string.h>

struct pool {
	struct npu_run *r;
	struct npu_samples x;
	int64_t *acc; /* [out_w][out_c] */
	int32_t *y;
};

struct factor {
	uint32_t mult;
	int shift;
	bool none;
};

/* The multiplier for a sum of count values (ethosu-commands(7) 6.3). */
static struct factor
factor_of(const struct npu_op *op, int32_t count)
{
	bool padded = op->pad_top || op->pad_left || op->pad_bottom ||
		      op->pad_right;
	struct factor f = { .none = !op->global_scale, .mult = op->ofm_mult,
			    .shift = op->ofm_shift };
	if (op->mode == NPU_POOL_AVERAGE && padded) {
		f.mult = npu_reciprocal(count ? count : 1, 31, &f.shift);
		f.none = false;
	}
	return f;
}

static void
run_row(struct pool *p, int32_t oy)
{
	struct npu_run *r = p->r;
	int32_t depth = r->op.ofm.shape.c, width = r->op.ofm.shape.w;
	int64_t start = npu_samples_start(r->op.mode);
	for (int64_t i = 0; i < (int64_t)width * depth; i++)
		p->acc[i] = start;
	for (int32_t ox = 0; ox < width; ox++) {
		int64_t *acc = p->acc + (int64_t)ox * depth;
		int32_t count = npu_samples_join(&p->x, r->op.mode, oy, ox, acc);
		if (!count)
			memset(acc, 0, (size_t)depth * sizeof(*acc));
		struct factor f = factor_of(&r->op, count);
		npu_watch(r, acc, depth);
		for (int32_t c = 0; !f.none && c < depth; c++)
			acc[c] = npu_scale(acc[c], f.mult, f.shift,
					   r->op.rounding);
	}
	npu_output(r, p->acc, (int64_t)width * depth, p->y);
	fm_store(r, oy, 0, width, p->y);
}

bool
npu_run_pool(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct pool p = { .r = r, .x = { .shape = op->ifm.shape, .ay = npu_axis_y(op),
					 .ax = npu_axis_x(op) } };
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
	if (!npu_samples_spend(r, op->ofm.shape))
		return false;
	size_t row = (size_t)op->ofm.shape.w * (size_t)op->ofm.shape.c;
	p.x.v = fm_load32(r, &op->ifm);
	p.acc = anew(r->a, int64_t, row);
	p.y = anew(r->a, int32_t, row);
	for (int32_t oy = 0; oy < op->ofm.shape.h; oy++)
		run_row(&p, oy);
	return true;
}
