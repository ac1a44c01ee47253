/* SPDX-License-Identifier: Apache-2.0 */
/* MEAN: spec/operators.md 3.3. */
#include "part.h"

#include <math.h>

enum { MAX_POOL_H = 256, MAX_POOL = 65536 };

/* the mean over rows and columns as one average pool */
struct mean {
	const struct tfl_tensor *ifm, *ofm;
	struct yx kernel;
	struct npu_scale scale;
};

/* M' and e' of the reference: the division by n is in the multiplier */
static bool
mean_scale(const struct mean *m, struct npu_scale *out)
{
	int64_t n = (int64_t)m->kernel.y * m->kernel.x;
	struct fixed_mult q = fixed_quantize(quant_scale(m->ifm) / quant_scale(m->ofm));
	int shift = 63 - __builtin_clzll((uint64_t)n);
	shift = shift < 32 ? shift : 32;
	shift = shift < 31 + q.exp ? shift : 31 + q.exp;
	if (q.mult <= 0 || shift < 0)
		return false;
	int64_t mult = ((int64_t)q.mult << shift) / n;
	int s = 31 - (q.exp - shift);
	*out = (struct npu_scale){ .mult = (uint32_t)mult, .shift = s };
	return mult > 0 && mult <= INT32_MAX && s >= 0 && s <= 63;
}

static const char *
read_mean(const struct part *p, const struct tfl_op *op, struct mean *m)
{
	const char *why = check_arity(p, op, 2, 2, 1);
	if (!why)
		why = check_maps(p, op, TYPE_MAPS);
	if (why)
		return why;
	m->ifm = part_in(p, op, 0);
	m->ofm = part_out(p, op, 0);
	int64_t axis[4];
	int n;
	if (m->ifm->rank != 4 || m->ifm->dim[0] != 1)
		return "IFM must have 4 dimensions and batch 1";
	if (m->ifm->type != m->ofm->type)
		return "IFM and OFM differ in type";
	if (!part_ints(part_in(p, op, 1), axis, 4, &n))
		return "the axes are not constant";
	m->kernel = (struct yx){ .y = 1, .x = 1 };
	for (int i = 0; i < n; i++) {
		int64_t a = axis[i] < 0 ? axis[i] + 4 : axis[i];
		if (a == 1)
			m->kernel.y = m->ifm->dim[1];
		else if (a == 2)
			m->kernel.x = m->ifm->dim[2];
		else
			return "reduction over other axes than height and width";
	}
	if (m->kernel.y > MAX_POOL_H || (int64_t)m->kernel.y * m->kernel.x > MAX_POOL)
		return "more than 256 rows or 65536 elements to reduce";
	if (tfl_elements(m->ofm) * m->kernel.y * m->kernel.x != tfl_elements(m->ifm))
		return "the OFM's shape is not what the axes give";
	return mean_scale(m, &m->scale) ? NULL : "the scale can't be expressed";
}

static const char *
check_mean(const struct part *p, const struct tfl_op *op)
{
	struct mean m;
	return read_mean(p, op, &m);
}

static bool
lower_mean(struct part *p, const struct tfl_op *op)
{
	struct mean m;
	(void)read_mean(p, op, &m);
	struct g_operand ifm = part_ifm(p, op->in[0]);
	struct hwc out = { .h = ifm.shape.h / m.kernel.y,
			   .w = ifm.shape.w / m.kernel.x, .c = ifm.shape.c };
	struct g_op *r = part_op(p, OP_AVGPOOL, ifm,
				 part_view(p, part_ofm(p, op->out[0]), out));
	op_kernel(r, m.kernel, (struct yx){ .y = 1, .x = 1 },
		  (struct yx){ .y = 1, .x = 1 }, (struct g_pad){ 0 });
	op_zeros(r, quant_zero(m.ifm), quant_zero(m.ofm));
	op_scale(r, m.scale, ROUND_TFL);
	return true;
}

const struct family reduce_families[] = {
	{ .code = TFL_MEAN, .check = check_mean, .lower = lower_mean },
	{ .code = 0 },
};
