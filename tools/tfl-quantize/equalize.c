/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cross-layer equalization: moves a factor of each channel from the weights of a layer to
 * the weights of the next layer, so that both layers have the same range in this channel.
 * No activation, and RELU, pass a positive factor on.  The factors are powers of 2, so that
 * the float network computes the same values as before.
 */
#include "quantize.h"

#include "base/attempt.h"
#include "real/real.h"

#include <math.h>

struct side { /* weights of one layer, with one factor per channel between the layers */
	struct tfl_tensor *t;
	int64_t inner;	/* elements between two channels */
	int32_t n;	/* channels */
};

static struct tfl_tensor *
float_weights(struct net *n, const struct tfl_op *op, int k)
{
	struct tfl_tensor *t = net_input(n, op, k);
	return t && t->data.p && t->type == TFL_FLOAT32 ? t : NULL;
}

static bool
set_side(struct side *s, struct tfl_tensor *t, int axis)
{
	*s = (struct side){ .t = t, .inner = 1 };
	if (!t || axis >= t->rank)
		return false;
	for (int d = axis + 1; d < t->rank; d++)
		s->inner *= t->dim[d];
	s->n = t->dim[axis];
	return true;
}

/* the largest magnitude of each channel */
static double *
ranges_of(struct net *n, const struct side *s)
{
	double *most = anew(n->a, double, (size_t)s->n + 1);
	for (int64_t i = 0; i < tfl_elements(s->t); i++) {
		double *own = &most[i / s->inner % s->n];
		*own = fmax(*own, fabs((double)load_f32(s->t->data.p + 4 * i)));
	}
	return most;
}

/* Multiplies each channel by 2 to the power of sign * shift[channel]. */
static void
scale_channels(struct net *n, const struct side *s, const int *shift, int sign)
{
	size_t bytes = (size_t)tfl_elements(s->t) * 4;
	uint8_t *p = arena_alloc(n->a, bytes + 1, 1);
	for (int64_t i = 0; i < tfl_elements(s->t); i++)
		store_f32(p + 4 * i, ldexpf(load_f32(s->t->data.p + 4 * i),
					    sign * shift[i / s->inner % s->n]));
	s->t->data = (struct bytes){ .p = p, .n = bytes };
}

/* Moves factors over the channels between two layers: outputs of the first, inputs of the second. */
static void
equalize_pair(struct net *n, const struct net_op *first, const struct net_op *second)
{
	enum { MOST = 20 }; /* a factor of a million */
	const struct rule *r = rule_of(first->op.code), *q = rule_of(second->op.code);
	int activation = net_activation(first), between = first->op.out[0];
	bool depthwise = second->op.code == TFL_DEPTHWISE_CONV_2D;
	struct tfl_tensor *w = float_weights(n, &second->op, q->weights);
	if (r->kind != RULE_WEIGHTS || q->kind != RULE_WEIGHTS || first == second ||
	    (activation != TFL_ACT_NONE && activation != TFL_ACT_RELU) ||
	    second->op.in[q->input] != between || net_count_users(n, between) != 1)
		return;
	struct side from, bias = { 0 }, to;
	bool has_bias = r->bias < first->op.n_in && first->op.in[r->bias] >= 0;
	if (has_bias && !set_side(&bias, float_weights(n, &first->op, r->bias), 0))
		return;
	if (!set_side(&from, float_weights(n, &first->op, r->weights), r->axis < 0 ? 0 : r->axis) ||
	    !w || !set_side(&to, w, w->rank - 1) || from.n != to.n ||
	    (depthwise && n->tensor[between].dim[n->tensor[between].rank - 1] != to.n))
		return;
	/* others may read the constants, too */
	if ((has_bias && (bias.n != from.n || net_count_users(n, first->op.in[r->bias]) != 1)) ||
	    net_count_users(n, first->op.in[r->weights]) != 1 ||
	    net_count_users(n, second->op.in[q->weights]) != 1)
		return;
	int *shift = anew(n->a, int, (size_t)from.n + 1);
	const double *a = ranges_of(n, &from), *b = ranges_of(n, &to);
	for (int32_t c = 0; c < from.n; c++) {
		if (!(a[c] > 0) || !(b[c] > 0))
			continue;
		double half = floor((real_log(a[c]) - real_log(b[c])) / real_log(2) / 2 + 0.5);
		shift[c] = (int)fmax(-MOST, fmin(half, MOST));
	}
	scale_channels(n, &from, shift, -1);
	if (bias.n)
		scale_channels(n, &bias, shift, -1);
	scale_channels(n, &to, shift, 1);
}

void
equalize_layers(struct net *n)
{
	enum { ROUNDS = 4 }; /* later layers change the ranges of earlier ones */
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < n->n_ops; i++) {
			checkpoint();
			for (int k = i + 1; k < n->n_ops; k++)
				if (!n->op[i].removed && !n->op[k].removed && n->op[i].op.n_out == 1)
					equalize_pair(n, &n->op[i], &n->op[k]);
		}
}
