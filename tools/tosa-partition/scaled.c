/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RESCALEs of 8 and 16 bits to 32 bits wait for their readers.  ADD, SUB, MUL and
 * sums read the narrow tensor itself, with its zero point, and apply the scale
 * themselves.  For any other reader the 32-bit tensor is made.
 */
#include "part.h"

#include <math.h>

bool
source_of(struct part *p, int tensor, struct source *s)
{
	int i = p->maker[tensor];
	if (i < 0 || p->t->op[i].code != TOSA_RESCALE)
		return false;
	const struct tosa_op *op = &p->t->op[i];
	struct tosa_rescale r = tosa_rescale_of(p->t, op);
	int type = tosa_in(p->t, op, 0)->type;
	if (tosa_out(p->t, op)->type != TOSA_INT32 || r.per_channel || r.in_unsigned ||
	    (type != TOSA_INT8 && type != TOSA_INT16))
		return false;
	*s = (struct source){ .tensor = op->in[0], .zero = (int32_t)r.in_zero,
			      .mult = tosa_value(r.mult, 0),
			      .shift = (int)tosa_value(r.shift, 0) };
	if (!s->mult || p->t->tensor[op->in[0]].type == TOSA_INT48)
		return false;
	while (!(s->mult & 1)) {
		s->mult >>= 1;
		s->shift--;
	}
	/* a value that rounds twice or may exceed 32 bits is made by its RESCALE */
	double most = ldexp((type == TOSA_INT8 ? 256.0 : 65536.0) * (double)s->mult, -s->shift);
	return most < 2147483648.0 &&
	       (s->shift <= 0 || !rounds_twice(&r, tosa_value(r.shift, 0)));
}

bool
is_factor(const struct source *s, int64_t *factor)
{
	if (s->shift > 0)
		return false;
	*factor = s->mult << -s->shift;
	return true;
}

/* 8 or 16 bits to 32; a small factor is applied by the operation that widens */
struct nd
scaled_value(struct part *p, int tensor)
{
	int i = p->maker[tensor];
	struct nd to = result_view(p, tensor);
	if (i < 0 || p->why[i] || p->t->op[i].code != TOSA_RESCALE)
		return to;
	const struct tosa_op *op = &p->t->op[i];
	struct nd v = value_of(p, op->in[0]);
	struct tail t = { .out = op->out[0], .type = TFL_INT32, .scaled = true,
			  .r = tosa_rescale_of(p->t, op) };
	struct source s;
	int64_t most = v.type == TFL_INT8 ? INT8_MAX : INT16_MAX, k;
	if (source_of(p, op->out[0], &s)) {
		bool whole = is_factor(&s, &k);
		k = whole ? k : s.mult;
		struct low_end end = low_half_up;
		end.has_scalar = true;
		end.scalar = (int32_t)k;
		end.scale.shift = whole ? 0 : s.shift;
		if (k <= most) {
			nd_unary(p->l, OP_MUL, &v, s.zero, &to, &end);
			return to;
		}
	}
	if (t.r.in_unsigned)
		v.type = v.type == TFL_INT8 ? TFL_UINT8 : TFL_UINT16;
	struct nd w = nd_widen(p->l, &v, (int32_t)t.r.in_zero, TFL_INT32);
	p->why[i] = scale_to(p, &w, &t, &to);
	return to;
}
