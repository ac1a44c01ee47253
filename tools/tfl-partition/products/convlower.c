/* SPDX-License-Identifier: Apache-2.0 */
/* Converts TFLite's convolutions to those that both front ends share: lower/conv.h. */
#include "conv.h"
#include "../moves/move.h"

/* ---- constants ---------------------------------------------------------------------- */

struct low_conv
conv_shape(const struct conv *c, struct g_pad pad)
{
	return (struct low_conv){ .kind = c->kind, .o = c->o, .i = c->i,
				  .groups = c->groups, .kernel = c->kernel,
				  .stride = c->stride, .dilation = c->dilation,
				  .pad = pad, .ifm_zero = quant_zero(c->ifm),
				  .round = is_reduced(c) ? ROUND_NATURAL : ROUND_TFL };
}

static struct low_weights
weights_of(struct part *p, const struct conv *c)
{
	bool many = c->weights->quant.n_zero > 1;
	struct g_source *source = anew(p->a, struct g_source, 1);
	struct low_weights w = { .v = c->weights->data.p, .type = c->weights->type,
				 .n_zero = many ? c->o : 1, .source = source,
				 .name = c->weights->name };
	int64_t *zero = anew(p->a, int64_t, (size_t)w.n_zero);
	for (int32_t o = 0; o < w.n_zero; o++)
		zero[o] = weight_zero(c, o);
	w.zero = zero;
	*source = part_source(p, c->weights);
	if (w.type == TFL_INT4) { /* the model's buffer is packed */
		w.type = TFL_INT8;
		w.source = NULL;
	}
	memcpy(w.stride, c->strides, sizeof(w.stride));
	return w;
}

static int64_t
bias_of(const struct conv *c, size_t o)
{
	const struct tfl_tensor *b = c->bias;
	if (!b)
		return 0;
	return b->type == TFL_INT32 ? (int32_t)load_le32(b->data.p + 4 * o)
				    : (int64_t)load_le64(b->data.p + 8 * o);
}

/* the channel that is stored at position k */
static size_t
stored_channel(const struct channels *c, size_t k)
{
	return c->at ? (size_t)c->at[k] : k;
}

static struct channels *
channels_of(const struct part *p, const struct tfl_tensor *t)
{
	return &p->channels[t - p->sg->tensor];
}

/* reorders weights to match feature maps that store their channels in another order */
static void
reorder_weights(struct part *p, const struct conv *c, struct low_weights *w)
{
	const struct channels *in = channels_of(p, c->ifm), *out = channels_of(p, c->ofm);
	bool each = c->kind == OP_DEPTHWISE;
	size_t n_o = (size_t)c->o, n_i = (size_t)c->i, n_y = (size_t)c->kernel.y,
	       n_x = (size_t)c->kernel.x;
	uint8_t *v = anew(p->a, uint8_t, n_o * n_y * n_x * n_i), *to = v;
	int64_t *zero = anew(p->a, int64_t, (size_t)w->n_zero);
	for (size_t o = 0; o < n_o; o++)
		for (size_t y = 0; y < n_y; y++)
			for (size_t x = 0; x < n_x; x++)
				for (size_t i = 0; i < n_i; i++)
					*to++ = w->v[w->first +
						     (int64_t)stored_channel(out, o) * w->stride[0] +
						     (int64_t)y * w->stride[1] +
						     (int64_t)x * w->stride[2] +
						     (int64_t)(each ? 0 : stored_channel(in, i)) *
							     w->stride[3]];
	for (int32_t o = 0; o < w->n_zero; o++)
		zero[o] = w->zero[w->n_zero > 1 ? stored_channel(out, (size_t)o) : 0];
	w->v = v;
	w->zero = zero;
	w->source = NULL;
	w->first = 0;
	w->stride[3] = 1;
	w->stride[2] = c->i;
	w->stride[1] = (int64_t)c->kernel.x * c->i;
	w->stride[0] = c->kernel.y * w->stride[1];
}

struct low_conv
conv_whole(struct part *p, const struct conv *c, struct g_pad pad)
{
	struct low_conv w = conv_shape(c, pad);
	size_t n = (size_t)c->o;
	int64_t *bias = anew(p->a, int64_t, n);
	struct npu_scale *scale = anew(p->a, struct npu_scale, n);
	const struct channels *in = channels_of(p, c->ifm), *out = channels_of(p, c->ofm);
	for (size_t o = 0; o < n; o++) {
		bias[o] = bias_of(c, stored_channel(out, o));
		(void)channel_scale(c, (int)stored_channel(out, o), &scale[o]);
	}
	w.bias = bias;
	w.scale = scale;
	w.weights = weights_of(p, c);
	if (in->at || out->at)
		reorder_weights(p, c, &w.weights);
	return w;
}

void
conv_made(void *ctx, struct g_op *op)
{
	const struct conv *c = ctx;
	op->ofm_zero = quant_zero(c->ofm);
	op_clamp(op, quant_clamp(c->ofm, c->activation));
}

/* ---- windows ------------------------------------------------------------------------ */

const char *
conv_check_shape(const struct part *p, const struct conv *c)
{
	struct low_conv w = conv_shape(c, conv_window(c).pad);
	struct nd in = nd_shape(c->ifm), out = nd_shape(c->ofm);
	const char *why = low_conv_check(p->a, &w, &in, &out);
	if (why || low_conv_fits(&w))
		return why;
	for (int o = 0; o < c->o; o++) {
		struct npu_scale s;
		if (!channel_scale(c, o, &s) || s.shift < 31 || s.shift > 62)
			return "a kernel of this size and a scale above 1";
	}
	return NULL;
}

struct scaling {
	struct part *p;
	const struct conv *c;
};

/*
 * Scales sums of 32 bits as the reference does (nputools-lowering(7) 3.1, MBQM).
 * Halves below 0 round down: 1 is subtracted first, then halves round up.
 */
static void
scale_sums(void *ctx, const struct nd *sums, const struct nd *out)
{
	const struct scaling *x = ctx;
	const struct conv *c = x->c;
	struct lower *l = x->p->l;
	struct hwc line = { .h = 1, .w = 1, .c = c->o };
	size_t n = (size_t)c->o;
	int32_t *mult = anew(l->a, int32_t, n), *shift = anew(l->a, int32_t, n),
		*least = anew(l->a, int32_t, n);
	for (int o = 0; o < c->o; o++) {
		struct npu_scale s;
		(void)channel_scale(c, o, &s);
		mult[o] = (int32_t)s.mult;
		shift[o] = s.shift - 31;
		least[o] = s.shift > 31 ? -1 : 0;
	}
	struct g_operand sum = nd_to_operand(sums), ofm = nd_to_operand(out);
	struct g_operand y = word_mul_high(l, sum, low_const(l, TFL_INT32, line, mult));
	struct g_operand below = word_min(l, y, word_const(l, 0));
	below = word_max(l, below, low_const(l, TFL_INT32, line, least));
	struct g_operand bits = low_const(l, TFL_INT32, line, shift);
	struct g_op *r = word_op_to(l, OP_SHR, word_add(l, y, below), bits, ofm);
	r->round = ROUND_NATURAL;
	r->ofm_zero = quant_zero(c->ofm);
	op_clamp(r, quant_clamp(c->ofm, c->activation));
}

void
lower_windows(struct part *p, const struct tfl_op *op, const struct conv *c)
{
	struct g_pad pad = conv_window(c).pad;
	struct low_conv own = conv_shape(c, pad);
	int input = folded_pad(p, op, &pad);
	struct low_conv w = conv_whole(p, c, pad);
	struct nd in = nd_ifm(p, input), out = nd_ofm(p, op->out[0]);
	struct conv made = *c;
	struct scaling x = { .p = p, .c = c };
	if (low_conv_fits(&own))
		low_conv(p->l, &w, &in, &out, conv_made, &made);
	else
		low_conv_large(p->l, &w, &in, &out, scale_sums, &x);
}
