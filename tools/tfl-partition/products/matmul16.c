/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BATCH_MATMUL of int16.  The reference adds in 64 bits, multiplies by 15 bits and
 * shifts right, rounding halves up (fixed_mbqm64): lower/matmul.h, wide.c.
 */
#include "matmul.h"

const char *
read_wide(const struct part *p, const struct matmul *m, double ratio, bool native,
	  struct low_end *end)
{
	if (m->zero_a || m->zero_b || end->zero)
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
	end->scale = npu_scale_reduce(s);
	end->round = ROUND_NATURAL;
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
	struct g_operand y = word_new(w->p->l, tfl_hwc(w->m->ofm));
	struct nd out = nd_of(y, w->m->ofm);
	multiply_matrices(w->p, w->m, of_a ? *half : w->a, of_a ? w->b : *half, &out, &low_plain);
	return out;
}

void
lower_wide(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct nd out = nd_ofm(p, op->out[0]);
	struct wide ctx = { .p = p, .m = o->own };
	ctx.a = nd_ifm(p, op->in[0]);
	ctx.b = nd_ifm(p, op->in[1]);
	struct low_wide w = { .a = ctx.a, .b = ctx.b, .scale = o->end.scale,
			      .sums = half_sums, .end = &low_as_made, .ctx = &ctx };
	low_multiply_wide(p->l, &w, &out);
}
