/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MAXIMUM, MINIMUM.  Their operands have 32 bits and are mostly RESCALEs of narrow
 * tensors; another RESCALE makes the result narrow again.  Rescaling keeps the
 * order, so each operand may be rescaled to the result's units first, if one of its
 * two factors is 1: then all tensors are narrow.  The maximum of a tensor and of
 * the same tensor times a factor below 1 is a leaky ReLU, which the NPU has.
 */
#include "part.h"

#include "graph/facts.h"
#include "lower/linux.h"

#include <math.h>

/* an operand's scale from its narrow tensor to the result: (v - zero) * scale + t->zero */
struct scale_path {
	int tensor;
	int32_t zero;
	struct npu_scale scale;
	enum g_round round;
};

static bool
is_one(struct npu_scale s)
{
	return s.shift < 32 && s.mult == UINT32_C(1) << s.shift;
}

static bool
scale_path_of(const struct part *p, int tensor, const struct tail *t, struct scale_path *w)
{
	int i = p->maker[tensor];
	if (i < 0 || p->t->op[i].code != TOSA_RESCALE || p->t->tensor[tensor].data.p)
		return false;
	const struct tosa_op *op = &p->t->op[i];
	int type = tosa_in(p->t, op, 0)->type;
	struct tail up = { .scaled = true, .r = tosa_rescale_of(p->t, op) };
	if (up.r.per_channel || up.r.in_unsigned || graph_type(type) != t->type ||
	    (type != TOSA_INT8 && type != TOSA_INT16))
		return false;
	struct npu_scale s = tail_scale(&up, 0), down = tail_scale(t, 0);
	if (!s.mult || !down.mult || (!is_one(s) && !is_one(down)))
		return false;
	bool first = is_one(down);
	*w = (struct scale_path){ .tensor = op->in[0], .zero = (int32_t)up.r.in_zero,
			   .scale = first ? s : down,
			   .round = first ? tail_round(&up) : tail_round(t) };
	return true;
}

/* the operand in the result's units */
static struct nd
in_result_units(struct part *p, const struct scale_path *w, const struct tail *t)
{
	struct nd v = value_of(p, w->tensor);
	if (is_one(w->scale) && w->zero == t->zero)
		return v;
	struct nd r = nd_new_like(p->l, &v, t->type);
	struct low_end end = { .scaled = true, .scale = w->scale, .round = w->round,
			       .zero = (int32_t)t->zero, .clamped = true,
			       .clamp = type_range(t->type) };
	nd_unary(p->l, OP_AVGPOOL, &v, w->zero, &r, &end);
	return r;
}

static double
value_of_scale(struct npu_scale s)
{
	return ldexp((double)s.mult, -s.shift);
}

static void
narrow_extreme(struct part *p, enum g_op_kind kind, const struct scale_path w[2], struct tail *t)
{
	struct nd out = result_view(p, t->out);
	/* a tensor, and the same tensor times a factor below 1: k is the index of the latter */
	int k = kind == OP_MAX ? 1 : -1;
	for (; k >= 0; k--)
		if (is_one(w[!k].scale) && w[k].tensor == w[!k].tensor &&
		    w[k].zero == w[!k].zero && value_of_scale(w[k].scale) < 1)
			break;
	struct low_end end = tail_scaled_end(p, t);
	/* is it one tensor times two factors, and has the NPU a leaky ReLU of two factors? */
	if (k < 0 && kind == OP_MAX && low_has(p->l, LACK_SLOPES) && t->type == TFL_INT16 &&
	    w[0].tensor == w[1].tensor && !w[0].zero && !w[1].zero && w[0].round == w[1].round) {
		k = value_of_scale(w[1].scale) < value_of_scale(w[0].scale);
		end.factors = true;
		end.opa = w[!k].scale;
	}
	if (k >= 0) {
		struct nd v = value_of(p, w[k].tensor);
		end.scale = w[k].scale;
		end.round = w[k].round;
		nd_unary(p->l, OP_LRELU, &v, w[k].zero, &out, &end);
		return;
	}
	struct nd a = in_result_units(p, &w[0], t), b = in_result_units(p, &w[1], t);
	end.zero = 0; /* the operands include it */
	end.round = ROUND_NATURAL;
	binary_to(p, kind, &a, &b, &out, &end);
}

const char *
lower_extreme(struct part *p, const struct tosa_op *op)
{
	enum g_op_kind kind = op->code == TOSA_MAXIMUM ? OP_MAX : OP_MIN;
	struct scale_path w[2];
	struct tail t = { .scaled = true };
	if (narrowing_rescale(p, op->out[0], &t.r)) {
		const struct tosa_op *last = &p->t->op[p->reader[op->out[0]]];
		t.type = graph_type(tosa_out(p->t, last)->type);
		if (scale_path_of(p, op->in[0], &t, &w[0]) && scale_path_of(p, op->in[1], &t, &w[1])) {
			t = tail_of(p, op->out[0], TAIL_SCALE);
			narrow_extreme(p, kind, w, &t);
			return NULL;
		}
	}
	binary_op(p, kind, op, &low_half_up);
	return NULL;
}
