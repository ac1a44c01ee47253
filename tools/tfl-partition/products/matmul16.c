/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL of int16.  The reference adds in 64 bits, multiplies by 15 bits and
 * shifts right, rounding halves up (fixed_mbqm64): lower/matmul.h, wide.c.
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
	/* products up to 2^30: the reference's result has 32 bits before it is clamped */
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

struct wide {
	struct part *p;
	const struct matmul *m;
	struct nd a, b;
};

/* sums of products as words */
static struct nd
half_sums(void *ctx, const struct nd *half, bool of_a)
{
	const struct wide *w = ctx;
	struct matmul words = *w->m;
	words.scale = (struct npu_scale){ .mult = 1 };
	words.round = ROUND_TFL;
	words.clamp = type_range(TFL_INT32);
	struct g_operand y = word_new(w->p->l, tfl_hwc(words.ofm));
	struct nd out = nd_of(y, words.ofm);
	multiply_matrices(w->p, &words, of_a ? *half : w->a, of_a ? w->b : *half, &out);
	return out;
}

bool
lower_wide(struct part *p, const struct tfl_op *op, const struct matmul *m)
{
	struct nd out = nd_ofm(p, op->out[0]);
	struct wide ctx = { .p = p, .m = m };
	ctx.a = nd_ifm(p, op->in[0]);
	ctx.b = nd_ifm(p, op->in[1]);
	struct low_wide w = { .a = ctx.a, .b = ctx.b, .scale = m->scale,
			      .sums = half_sums, .made = nd_finish_none, .ctx = &ctx };
	low_multiply_wide(p->l, &w, &out);
	return true;
}
