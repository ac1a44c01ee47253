/* SPDX-License-Identifier: Apache-2.0 */
/*
 * U85's operations as Regor estimated them, reconstructed from the stream and the
 * model's tensors: ethosu-timing(7) 25.
 */
#include "base/fixed.h"
#include "layer.h"
#include "stream/op.h"
#include "target/accel.h"
#include "target/blocks.h"

/* true for a pool that only applies its output stage */
static bool
only_output(const struct npu_op *npu)
{
	return npu->kind == NPU_POOL && npu->kernel_h == 1 && npu->kernel_w == 1 &&
	       (npu->mode == NPU_POOL_NONE || npu->mode == NPU_POOL_SUM);
}

/*
 * Extent of an IFM along an axis as Regor counts it.  A stride can skip elements at the
 * end of the axis, which the stream then does not read.  If there is only one result,
 * Regor lost the stride, and up to 3 elements count.
 */
static int32_t
whole_axis(int32_t read, int32_t all, int stride, int32_t results)
{
	enum { MAX_STRIDE = 3 };
	int32_t left = all - read;
	return left > 0 && left < (results == 1 ? MAX_STRIDE + 1 : stride) ? all : read;
}

/*
 * A stride larger than the hardware's reads every n-th row or column of a feature map.
 * Regor counts all rows and columns from the first one that is read; for pools, also
 * those before.
 */
static bool
see_skipped(const struct perf_operand_info *operand_info, const struct npu_fm *f, struct perf_op *op)
{
	const struct perf_tensor *p = perf_operand_holding(operand_info, f->region, f->base[0]);
	if (!p || f->bricks || f->shape.c != p->shape.c || f->bits != p->bits)
		return false;
	int64_t pixel = (int64_t)p->shape.c * npu_fm_bytes(f);
	int64_t row = p->shape.w * pixel, d = f->base[0] - p->at;
	if ((f->stride_y == row && f->stride_x == pixel) || f->stride_y % row ||
	    f->stride_x % pixel)
		return false;
	bool from = op->class != BLOCK_POOL;
	op->ifm.shape.h = p->shape.h - (from ? (int32_t)(d / row) : 0);
	op->ifm.shape.w = p->shape.w - (from ? (int32_t)(d % row / pixel) : 0);
	return true;
}

static void
see_whole_ifm(const struct perf_operand_info *operand_info, const struct perf_run *run,
	      const struct perf_row *r, struct perf_op *op)
{
	const struct npu_op *npu = r->npu;
	struct perf_tensor whole;
	const struct npu_fm *f = &npu->ifm;
	if (op->class == BLOCK_ELEMENTWISE || only_output(npu) ||
	    see_skipped(operand_info, f, op) ||
	    !perf_operand_at(operand_info, run, (size_t)(r - run->row), f->region, f->base[0],
			     &whole))
		return;
	/* the rows must be those of the whole feature map */
	int64_t c = f->bricks ? round_up_i64(whole.shape.c, BRICK) : whole.shape.c;
	if (f->shape.c != whole.shape.c ||
	    f->stride_y != whole.shape.w * c * npu_fm_bytes(f))
		return;
	op->ifm.shape.h = whole_axis(op->ifm.shape.h, whole.shape.h, npu->stride_y,
				     npu->extent.h);
	op->ifm.shape.w = whole_axis(op->ifm.shape.w, whole.shape.w, npu->stride_x,
				     npu->extent.w);
}

void
perf_regor85_see(const struct perf_machine *m, const struct perf_operand_info *operand_info,
		 const struct perf_run *run, const struct perf_phases *phases,
		 const struct perf_row *r, struct perf_op *op)
{
	const struct npu_op *npu = r->npu;
	bool pool = op->class == BLOCK_POOL || op->class == BLOCK_REDUCE_SUM;
	const struct perf_op shown = *op;
	/* the OFM is counted as stored, transposed; its block is not transposed */
	if (!op->chain.n && op->stage.moves)
		op->ofm.shape = npu->ofm.shape;
	/*
	 * If a kernel keeps its accumulators for the next one, Regor counts for it the OFM of
	 * the kernel that writes the results.
	 */
	const struct perf_row *end = run->row + run->n, *last = r;
	while (last < end && (last->step.kind != PERF_KERNEL || last->npu->acc_kept))
		last++;
	if (npu->acc_kept && last < end) {
		op->ofm.area = last->op.ofm.area;
		op->ofm.nhcwb16 = last->op.ofm.nhcwb16;
		op->stage.no_output = false;
	}
	/*
	 * The OFM of a phase counts from the phase's first pixel to the end of the whole OFM,
	 * pixels of other phases included.
	 */
	if (r < run->row + phases->end) {
		int64_t d = npu->ofm.base[0] - phases->base;
		op->ofm.shape.h = phases->h - (int32_t)(d / phases->row);
		op->ofm.shape.w = phases->w - (int32_t)(d % phases->row / phases->pixel);
	}
	see_whole_ifm(operand_info, run, r, op);
	if (only_output(npu) && op->stage.clamps) { /* an operator that is only a ReLU */
		op->activation = ACT_RELU;
		op->stage.bare = true;
	}
	/* MEMORY_COPY: Regor chooses its block differently from those of other pools */
	bool alike = npu->ofm.storage == NPU_CHAINED ||
		     npu->ofm.bricks == npu->ifm.bricks;
	bool is_copy = only_output(npu) && alike && npu->ofm_shift == 0 &&
		       !npu->scales[0].n && !op->stage.moves && !op->stage.clamps &&
		       op->activation == ACT_NONE;
	if ((pool && !is_copy) || op->class == BLOCK_DEPTHWISE)
		op->ifm_block.c = block85_ifm_held(m->accel, op->ublock,
						   op->ifm_block.c, op->ifm.bits);
	if (pool) { /* Regor does not count the scale records of pools */
		op->has_bias = false;
		op->scale_bytes = 0;
	}
	if (!perf_op_fits(op)) /* the result is too large to be right */
		*op = shown;
}
