/* SPDX-License-Identifier: Apache-2.0 */
/* ELEMENTWISE (ethosu-commands(7) 6.9, 6.10). */
#include "sim/npu.h"

struct eltwise {
	struct npu_run *r;
	const int32_t *x, *x2; /* feature maps minus zero point; x2: or &scalar */
	int32_t scalar;
	int32_t *b;	 /* one row of IFM2 */
	int64_t *acc;
	int32_t *y;
};

void
npu_broadcast_row(const int32_t *v, struct hwc from, struct hwc to, int32_t y, int32_t *row)
{
	for (int32_t x = 0; x < to.w; x++)
		for (int32_t c = 0; c < to.c; c++)
			*row++ = v[((int64_t)(from.h > 1 ? y : 0) * from.w +
				    (from.w > 1 ? x : 0)) * from.c +
				   (from.c > 1 ? c : 0)];
}

bool
npu_check_same_types(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	bool same = op->ifm2.bits == op->ifm.bits && op->ifm2.is_signed == op->ifm.is_signed;
	return same || !op->has_ifm2 ||
	       npu_fail(r, "IFM is %c%d and IFM2 %c%d (rule 13)",
			op->ifm.is_signed ? 's' : 'u', op->ifm.bits,
			op->ifm2.is_signed ? 's' : 'u', op->ifm2.bits);
}

/* An operand of ADD or SUB with its scale (ethosu-commands(7) 6.10). */
static int64_t
scaled_operand(const struct npu_op *op, int32_t v, bool first)
{
	bool narrow = op->ifm.bits == 8;
	int fixed = narrow ? 19 : 14, d = narrow ? 20 : 15;
	if (op->operand_scale == 0)
		return (int64_t)v * (uint16_t)(first ? op->opa_mult
						     : op->opb_mult);
	if ((op->operand_scale == 1) == first)
		return npu_scale_operand(v, op->opa_mult, op->opa_shift,
					 op->ifm_rounding, d);
	return v * ((int64_t)1 << fixed);
}

static void
combine(const struct npu_op *op, const int32_t *a, const int32_t *b, int64_t n,
	int64_t *acc)
{
	switch ((enum npu_eltwise)op->mode) {
	case NPU_ELT_MUL:
		for (int64_t i = 0; i < n; i++)
			acc[i] = (int64_t)a[i] * b[i];
		break;
	case NPU_ELT_ADD:
		for (int64_t i = 0; i < n; i++)
			acc[i] = scaled_operand(op, a[i], true) +
				 scaled_operand(op, b[i], false);
		break;
	case NPU_ELT_SUB:
		for (int64_t i = 0; i < n; i++)
			acc[i] = scaled_operand(op, a[i], true) -
				 scaled_operand(op, b[i], false);
		break;
	case NPU_ELT_MIN:
		for (int64_t i = 0; i < n; i++)
			acc[i] = a[i] < b[i] ? a[i] : b[i];
		break;
	case NPU_ELT_MAX:
		for (int64_t i = 0; i < n; i++)
			acc[i] = a[i] > b[i] ? a[i] : b[i];
		break;
	case NPU_ELT_LRELU:
		for (int64_t i = 0; i < n; i++)
			acc[i] = a[i];
		break;
	case NPU_ELT_ABS:
		for (int64_t i = 0; i < n; i++)
			acc[i] = a[i] < 0 ? -(int64_t)a[i] : a[i];
		break;
	case NPU_ELT_CLZ:
		for (int64_t i = 0; i < n; i++)
			acc[i] = npu_leading_zeros(a[i]);
		break;
	case NPU_ELT_SHR:
		for (int64_t i = 0; i < n; i++)
			acc[i] = npu_scale(a[i], 1, b[i], op->rounding);
		break;
	/* bits that are shifted out are lost (U9 in ethosu-commands(7) 17) */
	case NPU_ELT_SHL:
		for (int64_t i = 0; i < n; i++)
			acc[i] = (int32_t)((uint32_t)a[i] << b[i]);
		break;
	case NPU_ELT_COUNT:
		break;
	}
}

static bool
is_scaled(int mode)
{
	return mode == NPU_ELT_MUL || mode == NPU_ELT_ADD ||
	       mode == NPU_ELT_SUB || mode == NPU_ELT_ABS ||
	       mode == NPU_ELT_LRELU;
}

static bool
run_row(struct eltwise *e, int32_t y)
{
	struct npu_run *r = e->r;
	const struct npu_op *op = &r->op;
	int64_t n = (int64_t)op->ofm.shape.w * op->ofm.shape.c;
	const int32_t *a = e->x + y * n, *b = e->b;
	if (op->has_ifm2) {
		npu_broadcast_row(e->x2, op->ifm2.shape, op->ofm.shape, y, e->b);
		if (op->ifm2_first) {
			b = a;
			a = e->b;
		}
	}
	/* shift distances are only defined from 0 to 31 (U9 in ethosu-commands(7) 17) */
	bool shifts = op->mode == NPU_ELT_SHL || op->mode == NPU_ELT_SHR;
	for (int64_t i = 0; shifts && i < n; i++)
		if (b[i] < 0 || b[i] > 31)
			return npu_fail(r, "shifts by %d, outside 0 to 31 (rule 13): its values "
					   "break a precondition of the graph", b[i]);
	combine(op, a, b, n, e->acc);
	/* words are only shifted (ethosu-commands(7) 6.3) */
	bool words = op->ifm.bits == 32 || op->ofm.bits == 32;
	uint32_t mult = words ? 1 : op->ofm_mult;
	bool rescales = is_scaled(op->mode) && op->global_scale;
	for (int64_t i = 0; rescales && i < n; i++)
		if (op->mode != NPU_ELT_LRELU || e->acc[i] < 0)
			e->acc[i] = npu_scale(e->acc[i], mult, op->ofm_shift,
					      op->rounding);
	npu_output(r, e->acc, n, e->y);
	fm_store(r, y, 0, op->ofm.shape.w, e->y);
	return true;
}

bool
npu_run_eltwise(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct eltwise e = { .r = r };
	bool shift = op->mode == NPU_ELT_SHL || op->mode == NPU_ELT_SHR ||
		     op->mode == NPU_ELT_CLZ;
	if (op->mode >= NPU_ELT_COUNT)
		return npu_fail(r, "elementwise mode %d is not defined (rule 8)",
				op->mode);
	if (op->has_ifm2 && op->ifm2.bits > 32)
		return npu_fail(r, "IFM2's precision is not defined (rule 8)");
	if (!npu_check_same_types(r))
		return false;
	if (shift && op->ifm.bits != 32)
		return npu_fail(r, "IFM of %d bits (rule 13)", op->ifm.bits);
	if (op->upscale != UPSCALE_NONE)
		return npu_fail(r, "upscaled IFM (rule 27)");
	if (is_scaled(op->mode) && !op->global_scale)
		return npu_fail(r, "no output scale (rule 17)");
	if (op->operand_scale && op->mode != NPU_ELT_ADD &&
	    op->mode != NPU_ELT_SUB)
		return npu_fail(r, "operand scaling (rule 15)");
	if (op->operand_scale && op->ifm.bits == 32)
		return npu_fail(r, "operand scaling of 32 bits (rule 16)");
	bool tensor2 = op->has_ifm2 && !op->ifm2_scalar;
	if ((tensor2 && !fm_check(r, &op->ifm2, "IFM2", false)) ||
	    !npu_spend(r, 8 * (uint64_t)hwc_elements(op->ofm.shape)))
		return false;
	size_t row = (size_t)op->ofm.shape.w * (size_t)op->ofm.shape.c;
	e.x = fm_load32(r, &op->ifm);
	e.scalar = op->scalar - op->ifm2.zero;
	e.x2 = &e.scalar;
	if (tensor2)
		e.x2 = fm_load32(r, &op->ifm2);
	e.b = anew(r->a, int32_t, row);
	e.acc = anew(r->a, int64_t, row);
	e.y = anew(r->a, int32_t, row);
	for (int32_t y = 0; y < op->ofm.shape.h; y++)
		if (!run_row(&e, y))
			return false;
	return true;
}
