/* SPDX-License-Identifier: Apache-2.0 */
/* Translates the graph's scales to U85: ethosu-commands(7) 23.6, 26.2, 26.3, 26.9. */
#include "emit/regs.h"

#include "graph/facts.h"

/* The reference shifts operands of comparisons left by this many bits, and rounds twice. */
enum { COMPARE_TWICE = 8 };

static const struct scale85 one = { .mult = 1 };

/* Operands are rounded in two of the modes. */
static enum npu_rounding
natural(int round)
{
	return round == ROUND_NATURAL ? NPU_ROUND_NATURAL : NPU_ROUND_DBL;
}

bool
emit85_divides(const struct g_op *op)
{
	const bool padded = op->pad.top || op->pad.left || op->pad.bottom || op->pad.right;
	return op->kind == OP_AVGPOOL && (padded || !G_HAS(op, G_OP_scale));
}

/*
 * Sets 1 / n as U85 computes it.  With this value natural rounding is that of TFLite
 * (ethosu-commands(7) 26.6).  False: the scale is another value.
 */
static bool
plain_average(const struct g_op *op, struct scale85 *out)
{
	int32_t n = op->kernel.y * op->kernel.x;
	int e = 0;
	while (n > 1 && (n - 1) >> e)
		e++;
	bool pool = op->kind == OP_AVGPOOL || op->kind == OP_REORDER;
	/* 1 / n as the older generations compute it (ethosu-commands(7) 6.8) */
	uint64_t m = ((UINT64_C(1) << (31 + e)) + (UINT64_C(1) << e)) / (uint64_t)n;
	if (!pool || op->scale.mult != m || op->scale.shift != 31 + e)
		return false;
	m = ((UINT64_C(1) << (30 + e)) + (UINT64_C(1) << e)) / (uint64_t)n;
	*out = (struct scale85){ .mult = (uint32_t)m, .shift = 30 + e,
				 .round = NPU_ROUND_NATURAL };
	if (n == 1)
		*out = (struct scale85){ .mult = 1 };
	return true;
}

static int
log2_of(int32_t v)
{
	int n = 0;
	while (v >> (n + 1))
		n++;
	return n;
}

static struct scale85
ofm_scale(const struct g_op *op)
{
	struct scale85 s = { .mult = 1, .round = (enum npu_rounding)op->round };
	if (op_has_weights(op->kind)) /* only its rounding is used */
		return s;
	/* division is exact with natural rounding only (ethosu-commands(7) 26.6) */
	if (emit85_divides(op))
		return (struct scale85){ .mult = 1u << 30, .shift = 30,
					 .round = NPU_ROUND_NATURAL };
	/* the operands' scales are used instead */
	if (op->kind == OP_LRELU || op_compares(op->kind))
		return s;
	/* the weighted sum of four samples has 16 more bits, and those of the weights */
	if (op->kind == OP_RESIZE) {
		enum { FRACTION = 16 };
		bool divided = op->sample == SAMPLE_BILINEAR && op->ofm.type != TFL_INT32;
		int weights = divided ? log2_of(op->up.y) + log2_of(op->up.x) : 0;
		return (struct scale85){ .mult = 1, .shift = FRACTION + weights,
					 .round = NPU_ROUND_SYMMETRIC };
	}
	/* position * 2^16 + value, rounded down (ethosu-commands(7) 26.7) */
	if (op->kind == OP_ARGMAX)
		return (struct scale85){ .mult = 1, .shift = 16,
					 .round = NPU_ROUND_TRUNCATE_LOWER };
	/*
	 * Half up, because no shift reaches the double rounding; or down, which is towards
	 * zero for values that are not negative (nputools-graph(5)).
	 */
	if (op->kind == OP_SHR)
		s.round = op->round == ROUND_TRUNCATE ? NPU_ROUND_TRUNCATE_LOWER
						      : NPU_ROUND_NATURAL;
	if (!G_HAS(op, G_OP_scale))
		return s;
	struct scale85 average;
	if (plain_average(op, &average))
		return average;
	/*
	 * Products of 32-bit words are only shifted (ethosu-commands(7) 26.3).  The
	 * older generations do so for all operations with words, whose multiplier is 1
	 * in their graphs.
	 */
	bool product = op->kind == OP_MUL && graph_type_bytes(op->ifm.type) == 4;
	s.mult = product ? 1 : op->scale.mult;
	s.shift = op->scale.shift;
	return s;
}

/* Multipliers have 31 bits. */
static struct scale85
narrowed(struct scale85 s)
{
	if (s.mult >> 31) {
		s.mult >>= 1;
		s.shift--;
	}
	return s;
}

struct scales85
emit85_scales(const struct g_op *op)
{
	struct scales85 s = { .a = one, .b = one, .ofm = narrowed(ofm_scale(op)),
			      .operands = op_is_elementwise(op->kind) };
	if (op->kind == OP_LRELU) {
		s.b = (struct scale85){ .mult = op->scale.mult,
					.shift = op->scale.shift,
					.round = natural(op->round) };
		if (G_HAS(op, G_OP_opa))
			s.a = (struct scale85){ .mult = op->opa.mult,
						.shift = op->opa.shift,
						.round = s.b.round };
	} else if (op_compares(op->kind) && G_HAS(op, G_OP_opa)) {
		s.a = (struct scale85){ .mult = op->opa.mult, .shift = op->opa.shift,
					.twice = COMPARE_TWICE };
		s.b = (struct scale85){ .mult = op->scale.mult, .shift = op->scale.shift,
					.twice = COMPARE_TWICE };
	} else if (s.operands && G_HAS(op, G_OP_opa) && op->scaled == SCALED_BOTH) {
		s.a.mult = (uint16_t)op->opa.mult;
		s.b.mult = (uint16_t)op->opb;
	} else if (s.operands && G_HAS(op, G_OP_opa)) {
		/*
		 * ADD and SUB: one operand is multiplied with two roundings, and the other one is
		 * shifted
		 */
		bool narrow = graph_type_bytes(op->ifm.type) == 1;
		int twice = narrow ? 20 : 15, fixed = narrow ? 19 : 14;
		struct scale85 scaled = { .mult = op->opa.mult, .shift = op->opa.shift,
					  .twice = twice, .round = natural(op->ifm_round) };
		struct scale85 shifted = { .mult = 1u << fixed };
		s.a = op->scaled == SCALED_A ? scaled : shifted;
		s.b = op->scaled == SCALED_A ? shifted : scaled;
	}
	s.a = narrowed(s.a);
	s.b = narrowed(s.b);
	return s;
}
