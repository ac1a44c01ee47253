/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of U85: what holds for all of them, and products of two maps. */
#include "sim/npu85.h"

static bool
check(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	if (!op->ublock.c)
		return npu_fail(r, "%s has no microblock of %d x %d (rule 8)",
				r->accel->name, op->ublock.h, op->ublock.w);
	if (op->upscale > UPSCALE_ZEROS || op->acc_input > NPU_ACC_IFM2 ||
	    op->acc_format > 1)
		return npu_fail(r, "undefined code for upscaling or accumulators "
				   "(rule 8)");
	if (op->ifm_up_h < 1 || op->ifm_up_w < 1)
		return npu_fail(r, "the IFM extent %lld x %lld that follows from "
				   "OFM, kernel and padding is empty (rule 24)",
				(long long)op->ifm_up_h,
				(long long)op->ifm_up_w);
	if ((op->dilated_h - 1) % op->dilation_y ||
	    (op->dilated_w - 1) % op->dilation_x)
		return npu_fail(r, "kernel of %d x %d doesn't suit the dilation "
				   "(rule 24)", op->dilated_h, op->dilated_w);
	if (op->kind == NPU_DEPTHWISE && op->ifm.shape.c != op->extent.c)
		return npu_fail(r, "IFM depth %d and OFM depth %d differ "
				   "(rule 21)", op->ifm.shape.c, op->extent.c);
	return npu85_open_accumulators(r);
}

bool
npu85_run_kernel(struct npu_run *r)
{
	bool ok = check(r);
	switch (r->op.kind) {
	case NPU_CONV:
	case NPU_DEPTHWISE:
		ok = ok && npu_run_conv(r);
		break;
	case NPU_POOL:
		ok = ok && npu85_run_pool(r);
		break;
	case NPU_RESIZE:
		ok = ok && npu85_run_resize(r);
		break;
	default:
		ok = ok && npu85_run_eltwise(r);
	}
	npu85_close_ofm(r);
	if (!r->op.acc_kept) /* nothing to continue with (rule 55) */
		r->held = (struct npu_held){ .v = NULL };
	return ok;
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
