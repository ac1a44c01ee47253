/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ADD, SUB, MUL.  Their operands have 32 bits and are mostly RESCALEs of narrow
 * tensors.  If the scaling of the NPU's adder or multiplier gives the same result,
 * one operation on the narrow tensors replaces all these operators.
 */
#include "part.h"

struct pair {
	struct source s[2];
	int type;
};

bool
narrowing_rescale(const struct part *p, int tensor, struct tosa_rescale *r)
{
	int i = p->reader[tensor];
	if (i < 0 || p->t->tensor[tensor].is_output || p->t->op[i].code != TOSA_RESCALE)
		return false;
	*r = tosa_rescale_of(p->t, &p->t->op[i]);
	int type = tosa_out(p->t, &p->t->op[i])->type;
	return !r->per_channel && !r->in_zero && !r->out_unsigned &&
	       (type == TOSA_INT8 || type == TOSA_INT16);
}

static void
emit_pair(struct part *p, enum g_op_kind kind, const struct pair *q, const struct tail *t,
	  const struct low_end *end)
{
	struct nd a = value_of(p, q->s[0].tensor), b = value_of(p, q->s[1].tensor);
	struct nd out = result_view(p, t->out);
	nd_binary(p->l, kind, &a, q->s[0].zero, &b, q->s[1].zero, &out, end);
}

/* are the factors, but for a common power of two, integers of at most 16 bits? */
static bool
whole_factors(const struct pair *q, const struct tosa_rescale *r, struct low_end *f)
{
	int64_t k[2];
	int common = 0;
	if (!is_factor(&q->s[0], &k[0]) || !is_factor(&q->s[1], &k[1]))
		return false;
	while (!((k[0] | k[1]) & 1)) {
		k[0] >>= 1;
		k[1] >>= 1;
		common++;
	}
	if (k[0] > UINT16_MAX || k[1] > UINT16_MAX)
		return false;
	*f = (struct low_end){ .factors = true, .opa.mult = (uint32_t)k[0], .opb = (int)k[1],
			       .scale.mult = 1 };
	if (!r) /* 32 bits out: nothing may be scaled */
		return !common && k[0] == 1 && k[1] == 1;
	int64_t shift = tosa_value(r->shift, 0);
	if (rounds_twice(r, shift) && common)
		return false;
	f->scale = (struct npu_scale){ .mult = (uint32_t)tosa_value(r->mult, 0),
				       .shift = (int)shift - common };
	return f->scale.mult && f->scale.shift > 0;
}

/* is one factor the adder's own shift?  The other one may be any scale */
static bool
scaled_factor(const struct pair *q, const struct tosa_rescale *r, struct low_end *f)
{
	for (int k = 0; r && k < 2; k++) {
		const struct source *fixed = &q->s[k], *other = &q->s[!k];
		/* the shift that the adder applies to the operand without a scale */
		if (fixed->mult != 1 || -fixed->shift != (q->type == TFL_INT8 ? 19 : 14) ||
		    other->shift < 0 || other->shift > 63)
			continue;
		*f = (struct low_end){ .factors = true, .half_up = true,
				       .side = k == 0 ? SCALED_B : SCALED_A };
		f->opa = (struct npu_scale){ .mult = (uint32_t)other->mult,
					     .shift = other->shift };
		f->scale = (struct npu_scale){ .mult = (uint32_t)tosa_value(r->mult, 0),
					       .shift = (int)tosa_value(r->shift, 0) };
		return f->scale.mult != 0;
	}
	return false;
}

const char *
lower_sum_of(struct part *p, const struct tosa_op *op)
{
	enum g_op_kind kind = op->code == TOSA_ADD ? OP_ADD : OP_SUB;
	struct pair q;
	struct tosa_rescale r;
	struct low_end f;
	const struct tosa_rescale *narrow = narrowing_rescale(p, op->out[0], &r) ? &r : NULL;
	bool pair = source_of(p, op->in[0], &q.s[0]) && source_of(p, op->in[1], &q.s[1]);
	if (pair)
		q.type = graph_type(p->t->tensor[q.s[0].tensor].type);
	if (pair && q.type == graph_type(p->t->tensor[q.s[1].tensor].type) &&
	    (whole_factors(&q, narrow, &f) || scaled_factor(&q, narrow, &f))) {
		struct tail t = tail_of(p, op->out[0], TAIL_SCALE);
		struct low_end end = tail_scaled_end(p, &t);
		f.scaled = true;
		f.round = end.round;
		f.zero = end.zero;
		f.clamped = end.clamped;
		f.clamp = end.clamp;
		f.lut = end.lut;
		emit_pair(p, kind, &q, &t, &f);
	} else {
		binary_op(p, kind, op, &low_half_up);
	}
	return NULL;
}

/* operand k as a narrow tensor with a zero point */
static bool
narrow_operand(struct part *p, const struct tosa_op *op, int k, struct source *s)
{
	int64_t factor;
	int type = p->t->tensor[op->in[k]].type;
	if (type == TOSA_INT8 || type == TOSA_INT16) {
		*s = (struct source){ .tensor = op->in[k], .mult = 1 };
		return true;
	}
	return source_of(p, op->in[k], s) && is_factor(s, &factor) && factor == 1;
}

/* half k of each 32-bit element as a signed number: 0 the low one, 1 the high one */
static struct nd
half_of(const struct nd *v, int k)
{
	return part_of(v, TFL_INT16, k);
}

static struct nd
word_op(struct part *p, enum g_op_kind kind, struct nd a, struct nd b, const struct nd *shape)
{
	struct nd r = nd_new_like(p->l, shape, TFL_INT32);
	binary_to(p, kind, &a, &b, &r, &low_half_up);
	return r;
}

/*
 * The low 32 bits of a product, from operations whose results never exceed 32 bits:
 * TOSA does not have the results that the NPU gives beyond.  With a = 2^16 A + a',
 * a' from -2^15 to 2^15 - 1, and b likewise, the product is 2^16 (A b' + a' B +
 * high(a' b')) + low(a' b').  Only the low 16 bits of the sum in parentheses count.
 */
static void
multiply_wrapping(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct nd out = result_view(p, op->out[0]);
	struct nd by = nd_const_one(p->l, TFL_INT32, a.rank, 16);
	struct nd above_a = word_op(p, OP_SHR, a, by, &a), above_b = word_op(p, OP_SHR, b, by, &b);
	struct nd low_a = half_of(&a, 0), low_b = half_of(&b, 0);
	struct nd low = word_op(p, OP_MUL, low_a, low_b, &out);
	struct nd x = word_op(p, OP_MUL, half_of(&above_a, 0), low_b, &out);
	struct nd y = word_op(p, OP_MUL, low_a, half_of(&above_b, 0), &out);
	struct nd sum = word_op(p, OP_ADD, half_of(&low, 1), half_of(&x, 0), &out);
	sum = word_op(p, OP_ADD, half_of(&sum, 0), half_of(&y, 0), &out);
	struct nd from = half_of(&low, 0), to = half_of(&out, 0);
	nd_copy(p->l, &from, &to);
	from = half_of(&sum, 0);
	to = half_of(&out, 1);
	nd_copy(p->l, &from, &to);
}

const char *
lower_mul(struct part *p, const struct tosa_op *op)
{
	struct pair q;
	int64_t shift = tosa_zero_of(p->t, op, 2);
	if (!shift && narrow_operand(p, op, 0, &q.s[0]) &&
	    narrow_operand(p, op, 1, &q.s[1]) &&
	    p->t->tensor[q.s[0].tensor].type == p->t->tensor[q.s[1].tensor].type) {
		struct tail t = tail_of(p, op->out[0], TAIL_SCALE);
		struct low_end end = tail_scaled_end(p, &t);
		emit_pair(p, OP_MUL, &q, &t, &end);
		return NULL;
	}
	struct low_end end = low_half_up;
	end.scale.shift = (int)shift;
	if (!shift && !product_fits(p, op))
		multiply_wrapping(p, op);
	else
		binary_op(p, OP_MUL, op, &end);
	return NULL;
}
