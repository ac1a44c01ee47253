/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks and their SHRAM buffers: rules 39 to 42, with the formulas of
 * ethosu-memory(7) 8.
 */
#include "verify/rules.h"

#include "base/fixed.h"
#include "target/accel.h"

bool
check_reads_depth(const struct npu_op *op)
{
	return op->kind == NPU_CONV ||
	       (op->kind == NPU_POOL && op->mode == NPU_POOL_REDUCE_SUM);
}

/* ---- layout (ethosu-memory(7) 8.2) --------------------------------------- */

int64_t
check_input_extent(const struct npu_op *op, int64_t block, int stride, int dilated,
		   int unit)
{
	int64_t n = (block - 1) * stride + min_i64(dilated, 8) +
		    (op->upscale == UPSCALE_NEAREST);
	int factor = op->upscale == UPSCALE_NONE ? 1 : 2;
	return round_up_i64((n + factor - 1) / factor, unit);
}

/* Returns the banks of a double buffer: banks of 1 KiB, rounded up to whole granules. */
static int
banks(int64_t bytes, int granule)
{
	return (int)round_up_i64(2 * ((bytes + SHRAM_BANK_BYTES - 1) / SHRAM_BANK_BYTES),
		       granule);
}

static void
check_eltwise_buffers(struct checker *c, int ifm, int end)
{
	const struct npu_op *op = &c->op;
	bool tensor2 = op->has_ifm2 && !op->ifm2_scalar;
	int start2 = SHRAM_OUTPUT_BANKS + ifm;
	/*
	 * Old compilers divide the free banks into equal halves for the two inputs, even if
	 * a half is odd: with 14 free banks of 16, IFM2 starts at bank 9.  An input needs an
	 * even number of banks.  Therefore an odd half has a spare bank, and both inputs fit,
	 * whether or not the hardware ignores the lowest bit of the register.
	 */
	bool halves = op->ib2_start - SHRAM_OUTPUT_BANKS == op->ib_end - op->ib2_start;
	if (tensor2) {
		ERROR_IF(op->ib2_start <= 2 || op->ib2_start >= op->ib_end, c,
			 40, "IFM2_IB_START %d is not between 2 and IB_END %d",
			 op->ib2_start, op->ib_end);
		ERROR_IF(op->ib2_start % 2 && !halves, c, 40,
			 "IFM2_IB_START %d is odd", op->ib2_start);
		ERROR_IF(op->ib2_start < start2 ||
			 op->ib_end - op->ib2_start < ifm, c, 41,
			 "IFM2_IB_START %d and IB_END %d leave no %d banks for each input",
			 op->ib2_start, op->ib_end, ifm);
	} else {
		ERROR_IF(op->ib_end - 2 < ifm, c, 41,
			 "IB_END %d leaves no %d banks for the IFM", op->ib_end,
			 ifm);
	}
	WARN_IF(op->ib_end != end || op->ab_start != end ||
		(tensor2 && op->ib2_start != start2), c, 42,
		"IB_END %d, AB_START %d, IFM2_IB_START %d: the usual values are %d, %d, %d",
		op->ib_end, op->ab_start, op->ib2_start, end, end, start2);
}

void
check_shram(struct checker *c)
{
	const struct npu_op *op = &c->op;
	const struct accel *a = c->accel;
	if (op->ifm.bits > 32)
		return; /* rule 8 has reported it */

	struct hwc b = op->block, u = a->ublock;
	/* registers can't hold more than width 64, height 32 and depth 128 */
	ERROR_IF(b.h % u.h || b.w % u.w || b.c % u.c, c, 39,
		 "block %dx%dx%d is no multiple of the microblock %dx%dx%d", b.h, b.w,
		 b.c, u.h, u.w, u.c);
	ERROR_IF(b.c < op->ofm.shape.c && b.c % BRICK, c, 39,
		 "block depth %d divides %d channels and is no multiple of 16", b.c,
		 op->ofm.shape.c);
	/* one compiler requires even blocks here, another compiler writes odd heights */
	WARN_IF(op->upscale != UPSCALE_NONE && (b.h % 2 || b.w % 2), c, 39,
		"block height and width %dx%d over an upscaled IFM are not even", b.h, b.w);

	int lut = a->lut_banks ? a->lut_banks : npu_uses_table(op) ? 2 : 0;
	int end = a->banks - lut;
	ERROR_IF(op->ib_end % 2 || op->ab_start % 2, c, 40,
		 "IB_END %d or AB_START %d is odd", op->ib_end, op->ab_start);
	ERROR_IF(op->ib_end <= 2 || op->ib_end > op->ab_start ||
		 op->ab_start > end, c, 40,
		 "2 < IB_END %d <= AB_START %d <= %d is false", op->ib_end,
		 op->ab_start, end);

	int bits = op->ifm.bits;
	int64_t depth = b.c, channels = op->ifm.shape.c;
	if (check_reads_depth(op))
		depth = bits == 16 ? round_up_i64(min_i64(channels, 16), 4)
				   : round_up_i64(min_i64(channels, op->part_kernel ? 16 : 32),
					8);
	int64_t ifm_bytes = check_input_extent(op, b.h, op->stride_y, op->dilated_h, u.h) *
			    check_input_extent(op, b.w, op->stride_x, op->dilated_w, u.w) *
			    round_up_i64(depth * bits / 8, 8);
	int ifm = banks(ifm_bytes, bits == 32 ? a->granule_ifm32 : a->granule_ifm);
	if (op->kind == NPU_ELEMENTWISE) {
		check_eltwise_buffers(c, ifm, end);
		return;
	}

	int64_t h = op->ofm.shape.h == 1 && op->dilated_h == 1 && u.h == 2 ? 1 : b.h;
	int64_t acc_bytes = h * b.w * round_up_i64(b.c, 8) * (op->acc_format == 1 ? 40 : 32) / 8;
	int acc = banks(acc_bytes, op->acc_format == 1 ? a->granule_acc40 : a->granule_acc32);
	ERROR_IF(op->ib_end - 2 < ifm, c, 41,
		 "IB_END %d leaves no %d banks for the IFM", op->ib_end, ifm);
	ERROR_IF(end - op->ab_start < acc, c, 41,
		 "AB_START %d leaves no %d banks for accumulators",
		 op->ab_start, acc);
	WARN_IF(op->ib_end != 2 + ifm || op->ab_start != end - acc, c, 42,
		"IB_END %d, AB_START %d: the usual values are %d, %d", op->ib_end,
		op->ab_start, 2 + ifm, end - acc);
}
