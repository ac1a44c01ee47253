/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, SELECT. */
#include "part.h"

static const struct g_range truth = { .lo = 0, .hi = 1 };

/* the difference tells, though it saturates: 1 where it is positive */
const char *
lower_compare(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct nd out = result_place(p, op->out[0]);
	struct finish f = { .round = ROUND_NATURAL, .clamped = true, .clamp = truth,
			    .zero = op->code == TOSA_GREATER_EQUAL };
	both_to(p, OP_SUB, &a, &b, &out, &f);
	return NULL;
}

/* 1 less the magnitude of the difference, where that is at most 1 */
const char *
lower_equal(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct nd d = both(p, OP_SUB, &a, &b), out = result_place(p, op->out[0]);
	struct nd differ = like(p, &d, TFL_INT8), one = nd_const_one(p->l, TFL_INT8, d.rank, 1);
	struct finish f = { .round = ROUND_NATURAL, .clamped = true, .clamp = truth };
	unary_to(p, OP_ABS, &d, 0, &differ, &f);
	f = (struct finish){ .round = ROUND_NATURAL };
	both_to(p, OP_SUB, &one, &differ, &out, &f);
	return NULL;
}

/* c * a + (1 - c) * b, one of which is 0 */
const char *
lower_select(struct part *p, const struct tosa_op *op)
{
	struct nd c = value_of(p, op->in[0]), a = value_of(p, op->in[1]);
	struct nd b = value_of(p, op->in[2]), out = result_place(p, op->out[0]), w = c;
	struct finish f = { .round = ROUND_NATURAL };
	if (a.type == TFL_INT32) {
		w = widen(p, &c, 0);
	} else if (a.type == TFL_INT16) {
		w = like(p, &c, TFL_INT16);
		pool_to(p, &c, 0, &w, &f);
	}
	struct nd one = nd_const_one(p->l, w.type, w.rank, 1), not = both(p, OP_SUB, &one, &w);
	struct nd x = both(p, OP_MUL, &w, &a), y = both(p, OP_MUL, &not, &b);
	f = (struct finish){ .round = ROUND_NATURAL };
	both_to(p, OP_ADD, &x, &y, &out, &f);
	return NULL;
}
