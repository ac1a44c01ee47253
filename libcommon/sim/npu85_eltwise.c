/* SPDX-License-Identifier: Apache-2.0 */
/* ELEMENTWISE of U85 (ethosu-commands(7) 26.9). */
#include "sim/npu85.h"

struct eltwise {
	struct npu_run *r;
	struct npu_operand x, x2;
	int32_t *a, *b; /* operands of one row, broadcast to the OFM's shape */
	int64_t *acc;
	struct npu_scaler in, in2;
	struct npu_stage stage;
};

/* ---- one function per mode, of unscaled or scaled operands -------------------- */

struct pair {
	const struct eltwise *e;
	int32_t a, b; /* minus the zero point */
	int64_t sa, sb; /* scaled by IFM_SCALE, IFM2_SCALE; set for modes with SCALED */
};

typedef int64_t combine(const struct pair *p);

#define COMBINE(name, value)                                                 \
	static int64_t name(const struct pair *p)                            \
	{                                                                    \
		return value;                                                \
	}

static int64_t
shifted_right(const struct pair *p)
{
	bool rounds = p->e->r->op.rounding == NPU_ROUND_NATURAL;
	int64_t half = rounds && p->b ? (int64_t)1 << (p->b - 1) : 0;
	return (p->a + half) >> p->b;
}

static int64_t
shifted_logically(const struct pair *p)
{
	int bits = p->e->r->op.ifm.bits;
	uint64_t mask = ((uint64_t)1 << bits) - 1;
	return (int64_t)(((uint64_t)p->a & mask) >> p->b);
}

static int64_t
leaky(const struct pair *p)
{
	return npu_scaled(p->a >= 0 ? &p->e->in : &p->e->in2, p->a);
}

COMBINE(product, (int64_t)p->a * p->b)
COMBINE(sum, p->sa + p->sb)
COMBINE(difference, p->sa - p->sb)
COMBINE(least, p->sa < p->sb ? p->sa : p->sb)
COMBINE(greatest, p->sa > p->sb ? p->sa : p->sb)
COMBINE(magnitude, p->sa < 0 ? -p->sa : p->sa)
COMBINE(zeros, npu_leading_zeros(p->a))
/* Bits that are shifted out are lost. */
COMBINE(shifted_left, (int32_t)((uint32_t)p->a << p->b))
COMBINE(quotient, (int64_t)p->a / p->b)
COMBINE(equal, -(int64_t)(p->sa == p->sb))
COMBINE(not_equal, -(int64_t)(p->sa != p->sb))
COMBINE(not_less, -(int64_t)(p->sa >= p->sb))
COMBINE(greater, -(int64_t)(p->sa > p->sb))
COMBINE(bits_and, p->a & p->b)
COMBINE(bits_or, p->a | p->b)
COMBINE(bits_xor, p->a ^ p->b)
COMBINE(bits_not, ~p->a)
COMBINE(bits_and_not, p->a & ~p->b)

enum { SCALED = 1, SHIFTS = 2, DIVIDES = 4 };

static const struct mode {
	combine *of;
	int what;
} modes[64] = {
	[NPU_ELT_MUL] = { product, 0 },
	[NPU_ELT_ADD] = { sum, SCALED },
	[NPU_ELT_SUB] = { difference, SCALED },
	[NPU_ELT_MIN] = { least, SCALED },
	[NPU_ELT_MAX] = { greatest, SCALED },
	[NPU_ELT_LRELU] = { leaky, 0 },
	[NPU_ELT_ABS] = { magnitude, SCALED },
	[NPU_ELT_CLZ] = { zeros, 0 },
	[NPU_ELT_SHR] = { shifted_right, SHIFTS },
	[NPU_ELT_SHL] = { shifted_left, SHIFTS },
	[NPU_ELT85_LSR] = { shifted_logically, SHIFTS },
	[NPU_ELT85_DIV] = { quotient, DIVIDES },
	[NPU_ELT85_EQ] = { equal, SCALED },
	[NPU_ELT85_NE] = { not_equal, SCALED },
	[NPU_ELT85_GE] = { not_less, SCALED },
	[NPU_ELT85_GT] = { greater, SCALED },
	[NPU_ELT85_AND] = { bits_and, 0 },
	[NPU_ELT85_OR] = { bits_or, 0 },
	[NPU_ELT85_XOR] = { bits_xor, 0 },
	[NPU_ELT85_NOT] = { bits_not, 0 },
	[NPU_ELT85_AND_NOT] = { bits_and_not, 0 },
};

/*
 * Refuses shifts and divisors that the pages don't define (W5, W6 in
 * ethosu-commands(7) 17).
 */
static bool
check_second(struct npu_run *r, const int32_t *b, int64_t n)
{
	int what = modes[r->op.mode].what;
	for (int64_t i = 0; i < n; i++) {
		if (what & SHIFTS && (b[i] < 0 || b[i] >= r->op.ifm.bits))
			return npu_fail(r, "shifts by %d, outside 0 to %d (rule 13): its values "
					   "break a precondition of the graph", b[i],
					r->op.ifm.bits - 1);
		if (what & DIVIDES && !b[i])
			return npu_fail(r, "divides by 0 (rule 13): its values break a "
					   "precondition of the graph");
	}
	return true;
}

static bool
run_row(struct eltwise *e, int32_t y)
{
	struct npu_run *r = e->r;
	const struct npu_op *op = &r->op;
	const struct mode *m = &modes[op->mode];
	int64_t n = (int64_t)op->extent.w * op->extent.c;
	npu_broadcast_row(e->x.v, e->x.shape, op->extent, y, e->a);
	if (op->has_ifm2)
		npu_broadcast_row(e->x2.v, e->x2.shape, op->extent, y, e->b);
	if (op->has_ifm2 && !check_second(r, e->b, n))
		return false;
	for (int64_t i = 0; i < n; i++) {
		struct pair p = { .e = e, .a = e->a[i], .b = e->b[i] };
		if (m->what & SCALED) {
			p.sa = npu_scaled(&e->in, p.a);
			p.sb = op->has_ifm2 ? npu_scaled(&e->in2, p.b) : 0;
		}
		e->acc[i] = m->of(&p);
	}
	return npu85_put(r, &e->stage, y, 0, op->extent.w, e->acc);
}

bool
npu85_run_eltwise(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct eltwise e = { .r = r };
	if (!modes[op->mode].of)
		return npu_fail(r, "elementwise mode %d is not defined (rule 8)",
				op->mode);
	if (op->ifm.bits > 32 || (op->has_ifm2 && op->ifm2.bits > 32))
		return npu_fail(r, "operands of 64 bits (rule 13)");
	if (!npu_check_same_types(r))
		return false;
	if (op->ifm_scalar && op->ifm2_scalar)
		return npu_fail(r, "both operands are the scalar (rule 13)");
	if (op->upscale != UPSCALE_NONE)
		return npu_fail(r, "upscaled IFM (rule 24)");
	if (!npu85_stage(r, &e.stage) ||
	    !npu_spend(r, 8 * (uint64_t)hwc_elements(op->extent)) ||
	    !npu85_load(r, &op->ifm, op->ifm_scalar, "IFM", &e.x) ||
	    (op->has_ifm2 &&
	     !npu85_load(r, &op->ifm2, op->ifm2_scalar, "IFM2", &e.x2)))
		return false;
	size_t row = (size_t)op->extent.w * (size_t)op->extent.c;
	e.in = npu_scaler(op->opa_mult, op->opa_shift, op->ifm_rounding,
			  op->opa_double);
	e.in2 = npu_scaler(op->opb_mult, op->opb_shift, op->ifm2_rounding,
			   op->opb_double);
	e.a = anew(r->a, int32_t, row);
	e.b = anew(r->a, int32_t, row);
	e.acc = anew(r->a, int64_t, row);
	for (int32_t y = 0; y < op->extent.h; y++)
		if (!run_row(&e, y))
			return false;
	return true;
}
