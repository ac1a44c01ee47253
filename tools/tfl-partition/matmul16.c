/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL of int16.  The reference adds in 64 bits, multiplies by 15 bits and
 * shifts right, halves up (fixed_mbqm64): lower/matmul.h, wide.c.
 */
#include "matmul.h"

const char *
check_wide(const struct part *p, struct matmul *m, double ratio, bool native)
{
	if (m->zero_a || m->zero_b || m->zero_ofm)
		return "INT16 with a zero point";
	if (m->depth > LOW_WIDE_DEPTH && !native)
		return part_say(p, "sums of %d products of 16 bits: at most %d",
				m->depth, (int)LOW_WIDE_DEPTH);
	/* 2^30 each: the reference's result has 32 bits before it is clamped */
	if (ratio * m->depth >= 2)
		return "scaled sums may leave the range of int32, where the "
		       "reference wraps around";
	struct npu_scale s;
	if (!npu_quantise(ratio, &s) || s.mult < 1u << 30)
		return "the ratio of the scales can't be expressed";
	m->scale = npu_scale_reduce(s);
	m->round = ROUND_NATURAL;
	return NULL;
}

/* sums of products as words */
static struct g_operand
sums(struct part *p, const struct matmul *m, struct nd a, struct nd b)
{
	struct matmul words = *m;
	words.scale = (struct npu_scale){ .mult = 1 };
	words.round = ROUND_TFL;
	words.clamp = type_range(TFL_INT32);
	struct g_operand y = word_new(p->l, tfl_hwc(m->ofm));
	struct nd out = nd_of(y, m->ofm);
	multiply_matrices(p, &words, a, b, &out);
	return y;
}

static void
keep(void *ctx, struct g_op *op)
{
	(void)ctx;
	(void)op;
}

bool
lower_wide(struct part *p, const struct tfl_op *op, const struct matmul *m)
{
	/* the smaller operand is the one that is split */
	bool first = tfl_elements(m->a) <= tfl_elements(m->b);
	const struct tfl_tensor *t = first ? m->a : m->b;
	struct nd other = nd_ifm(p, op->in[first]);
	struct g_operand upper, lower;
	struct g_operand whole = low_view(p->l, part_ifm(p, op->in[!first]), tfl_hwc(t));
	low_split(p->l, whole, &upper, &lower);
	struct nd u = nd_of(upper, t), l = nd_of(lower, t);
	struct g_operand high = sums(p, m, first ? u : other, first ? other : u);
	struct g_operand low = sums(p, m, first ? l : other, first ? other : l);
	struct g_operand ofm = part_ofm(p, op->out[0]), room = low_room(p->l, ofm);
	low_scale_wide(p->l, high, low, m->scale, low_view(p->l, room, high.shape), keep,
		       NULL);
	low_deliver(p->l, room, ofm);
	return true;
}
