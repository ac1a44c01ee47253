/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers convolutions whose channels may be stored in another order than the model's. */
#include "conv.h"
#include "../moves/move.h"
#include "lower/padding.h"

/* ---- constants ---------------------------------------------------------------------- */

struct low_conv
stored_conv(struct part *p, const struct lop *o, int ifm)
{
	struct low_conv c = o->conv;
	const struct tfl_tensor *w = part_in(p, o->op, 1);
	const struct channels *in = &p->channels[o->op->in[ifm]];
	const struct channels *out = &p->channels[o->op->out[0]];
	struct g_source *source = anew(p->a, struct g_source, 1);
	*source = part_source(p, w);
	/* the model's buffer of INT4 is packed */
	c.weights.source = w->type == c.weights.type ? source : NULL;
	c.weights.in = c.kind == OP_DEPTHWISE ? NULL : in->at;
	c.weights.out = out->at;
	if (!out->at)
		return c;
	int64_t *bias = anew(p->a, int64_t, (size_t)c.o);
	struct npu_scale *scale = anew(p->a, struct npu_scale, (size_t)c.o);
	for (int32_t k = 0; k < c.o; k++) {
		bias[k] = c.bias[out->at[k]];
		scale[k] = c.scale[out->at[k]];
	}
	c.bias = bias;
	c.scale = scale;
	return c;
}

/* ---- windows ------------------------------------------------------------------------ */

const char *
check_large(const struct low_conv *c)
{
	for (int o = 0; !low_conv_fits(c) && o < c->o; o++)
		if (c->scale[o].shift < 31 || c->scale[o].shift > 62)
			return "a kernel of this size and a scale above 1";
	return NULL;
}

struct scaling {
	struct lower *l;
	const struct low_conv *c;
	const struct low_end *end;
};

/*
 * Scales sums of 32 bits as the reference does (nputools-lowering(7) 3.1, MBQM).
 * Halves below 0 round down: 1 is subtracted first, then halves round up.
 */
static void
scale_sums(void *ctx, const struct nd *sums, const struct nd *out)
{
	struct scaling *x = ctx;
	const struct low_conv *c = x->c;
	struct lower *l = x->l;
	struct hwc line = { .h = 1, .w = 1, .c = c->o };
	size_t n = (size_t)c->o;
	int32_t *mult = anew(l->a, int32_t, n), *shift = anew(l->a, int32_t, n),
		*least = anew(l->a, int32_t, n);
	for (int o = 0; o < c->o; o++) {
		mult[o] = (int32_t)c->scale[o].mult;
		shift[o] = c->scale[o].shift - 31;
		least[o] = c->scale[o].shift > 31 ? -1 : 0;
	}
	struct g_operand sum = nd_to_operand(sums), ofm = nd_to_operand(out);
	struct g_operand y = word_mul_high(l, sum, low_const(l, TFL_INT32, line, mult));
	struct g_operand below = word_min(l, y, word_const(l, 0));
	below = word_max(l, below, low_const(l, TFL_INT32, line, least));
	struct g_operand bits = low_const(l, TFL_INT32, line, shift);
	struct g_op *r = word_op_to(l, OP_SHR, word_add(l, y, below), bits, ofm);
	low_finish(x->end, r);
	r->round = ROUND_NATURAL;
}

void
lower_conv(struct part *p, const struct lop *o)
{
	struct low_conv c = stored_conv(p, o, 0);
	const struct lop *pad = folded_pad(p, o->op);
	if (pad)
		(void)low_conv_takes_pad(&c, pad->own);
	struct nd in = nd_ifm(p, (pad ? pad : o)->op->in[0]), out = nd_ofm(p, o->op->out[0]);
	struct scaling x = { .l = p->l, .c = &c, .end = &o->end };
	if (low_conv_fits(&c))
		low_conv(p->l, &c, &in, &out, &o->end);
	else
		low_conv_large(p->l, &c, &in, &out, scale_sums, &x);
}
