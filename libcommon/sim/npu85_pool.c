/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of U85: minima, maxima, sums, averages, positions of a maximum
 * (ethosu-commands(7) 26.6 to 26.8).
 */
#include "sim/npu85.h"

struct pool {
	struct npu_run *r;
	struct npu_samples x;
	struct npu_stage stage;
	int64_t *acc; /* [w][c] of one row */
};

static void
finish_window(const struct npu_op *op, int64_t *acc, int32_t n, int32_t count)
{
	if (op->mode == NPU_POOL_AVERAGE && count) {
		/* sum / count as the NPU computes it (ethosu-commands(7) 26.6) */
		int shift;
		uint32_t m = npu_reciprocal(count, 30, &shift);
		struct npu_scaler s = npu_scaler(m, shift, op->rounding, 0);
		for (int32_t c = 0; c < n; c++)
			acc[c] = npu_scaled(&s, acc[c]);
	}
	if (op->mode == NPU_POOL_ARGMAX_X || op->mode == NPU_POOL_ARGMAX_Y)
		for (int32_t c = 0; c < n && count; c++) {
			int64_t value = (acc[c] + NPU_PLACES - 1) >> 16;
			int64_t place = value * NPU_PLACES - acc[c];
			acc[c] = place * NPU_PLACES + (value & (NPU_PLACES - 1));
		}
}

static bool
run_row(struct pool *p, int32_t oy)
{
	struct npu_run *r = p->r;
	const struct npu_op *op = &r->op;
	int32_t depth = op->extent.c, width = op->extent.w;
	const int64_t *held = npu85_held(r, oy, 0);
	int64_t start = npu_samples_start(op->mode);
	for (int64_t i = 0; i < (int64_t)width * depth; i++)
		p->acc[i] = held ? held[i] : start;
	for (int32_t ox = 0; ox < width; ox++) {
		int64_t *acc = p->acc + (int64_t)ox * depth;
		int32_t count = npu_samples_join(&p->x, op->mode, oy, ox, acc);
		finish_window(op, acc, depth, count);
		if (!count && !held && !op->acc_kept)
			return npu_fail(r, "no sample lies under the kernel at "
					   "%d, %d (rule 18)", oy, ox);
		/* no sample yet: -infinity (or +infinity) of the format */
		for (int32_t c = 0; c < depth && !count && start; c++)
			acc[c] = held ? acc[c] : start < 0 ? INT32_MIN : INT32_MAX;
	}
	return npu85_put(r, &p->stage, oy, 0, width, p->acc);
}

/*
 * The null pool: accumulators start with IFM2 and are the only result
 * (ethosu-commands(7) 26.8).
 */
static bool
run_null(struct npu_run *r, struct pool *p)
{
	const struct npu_op *op = &r->op;
	int64_t row = (int64_t)op->extent.w * op->extent.c;
	struct npu_operand x = { .v = NULL };
	if (op->has_ifm2 &&
	    !npu85_load(r, &op->ifm2, false, "IFM2", &x))
		return false;
	for (int32_t y = 0; y < op->extent.h; y++) {
		const int64_t *held = npu85_held(r, y, 0);
		for (int64_t i = 0; i < row; i++)
			p->acc[i] = held    ? held[i]
				    : x.v64 ? x.v64[y * row + i]
				    : x.v   ? x.v[y * row + i]
					    : 0;
		if (!npu85_put(r, &p->stage, y, 0, op->extent.w, p->acc))
			return false;
	}
	return true;
}

bool
npu85_run_pool(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct pool p = { .r = r, .x = { .ay = npu_axis_y(op), .ax = npu_axis_x(op) } };
	struct npu_operand x;
	size_t row = (size_t)op->extent.w * (size_t)op->extent.c;
	if (!npu85_stage(r, &p.stage))
		return false;
	if (!npu_spend(r, (uint64_t)hwc_elements(op->extent)))
		return false;
	p.acc = anew(r->a, int64_t, row);
	if (op->mode == NPU_POOL_NONE)
		return run_null(r, &p);
	bool reduces = op->mode == NPU_POOL_REDUCE_SUM;
	bool extreme = op->mode == NPU_POOL_MAX || op->mode == NPU_POOL_MIN;
	if (op->ifm.bits > 32 || (op->ifm.bits == 32 && !reduces && !extreme))
		return npu_fail(r, "IFM of %d bits", op->ifm.bits);
	if (reduces && op->extent.c != 1)
		return npu_fail(r, "OFM depth %d of a sum over depth (rule 21)",
				op->extent.c);
	if (!reduces && op->ifm.shape.c != op->extent.c)
		return npu_fail(r, "IFM depth %d and OFM depth %d differ "
				   "(rule 21)", op->ifm.shape.c, op->extent.c);
	if (op->ifm.storage == NPU_CHAINED)
		return npu_fail(r, "a pool reads a chain buffer (rule 54)");
	if (!npu_samples_spend(r, op->extent) ||
	    !npu85_load(r, &op->ifm, false, "IFM", &x))
		return false;
	p.x.v = x.v;
	p.x.shape = x.shape;
	for (int32_t oy = 0; oy < op->extent.h; oy++)
		if (!run_row(&p, oy))
			return false;
	return true;
}
