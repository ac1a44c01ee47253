/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of U85: checks that hold for all of them, and matrix products. */
#include "sim/npu85.h"

#include "target/accel.h"

bool
npu85_check(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	if (!op->ublock.c)
		return npu_fail(r, "%s has no microblock of %d x %d (rule 8)",
				r->accel->name, op->ublock.h, op->ublock.w);
	if (op->upscale > UPSCALE_ZEROS || op->acc_input > NPU_ACC_IFM2 ||
	    op->acc_format > 1)
		return npu_fail(r, "undefined code for upscaling or accumulators "
				   "(rule 8)");
	if (!npu_check_window(r, 24))
		return false;
	if (op->kind == NPU_DEPTHWISE && op->ifm.shape.c != op->extent.c)
		return npu_fail(r, "IFM depth %d and OFM depth %d differ "
				   "(rule 21)", op->ifm.shape.c, op->extent.c);
	return npu85_open_accumulators(r);
}

void
npu85_close(struct npu_run *r)
{
	npu85_close_ofm(r);
	if (!r->op.acc_kept) /* leaves no accumulators to continue with (rule 55) */
		r->held = (struct npu_held){ .v = NULL };
}

bool
npu85_matrix(struct npu_run *r, struct npu_filters *out)
{
	const struct npu_op *op = &r->op;
	int32_t n = op->ifm2.shape.c, rows = op->extent.c;
	if (op->ifm2.bits != op->ifm.bits || !fm_fits16(&op->ifm2))
		return npu_fail(r, "IFM of %d bits and filters of %d with zero "
				   "point %d (rule 13)", op->ifm.bits,
				op->ifm2.bits, op->ifm2.zero);
	struct npu_operand x;
	if (!npu85_load(r, &op->ifm2, false, "IFM2", &x))
		return false;
	out->pitch = ((int64_t)n + 15) / 16 * 16;
	out->w = anew(r->a, int16_t, (size_t)out->pitch *
				     (((size_t)rows + 3) / 4 * 4));
	for (int32_t o = 0; o < rows; o++)
		for (int32_t i = 0; i < n; i++)
			out->w[o * out->pitch + i] =
			    (int16_t)x.v[(int64_t)o * n + i];
	out->largest = fm_largest(&op->ifm2);
	return true;
}
