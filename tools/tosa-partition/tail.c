/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation does behind its accumulator: a RESCALE, then CLAMPs, then
 * TABLEs of bytes.  Each of them is the only reader of the result before it.
 */
#include "part.h"

#include "base/fixed.h"

#include <string.h>

/* adds one operator; false: it can't be part of a tail */
static bool
take_op(struct part *p, struct tail *t, const struct tosa_op *op, bool wide, unsigned flags)
{
	const int in = tosa_in(p->t, op, 0)->type, out = tosa_out(p->t, op)->type;
	struct tosa_rescale r;
	uint8_t old[256];
	int64_t lo, hi;
	memcpy(old, t->table, sizeof(old));
	switch (op->code) {
	case TOSA_RESCALE:
		r = tosa_rescale_of(p->t, op);
		if (!wide || !(flags & TAIL_SCALE) || r.in_zero || r.in_unsigned ||
		    r.out_unsigned || (r.per_channel && !(flags & TAIL_CHANNELS)) ||
		    (out != TOSA_INT8 && out != TOSA_INT16 &&
		     !(in == TOSA_INT48 && out == TOSA_INT32 && flags & TAIL_WORDS)))
			return false;
		t->scaled = true;
		t->r = r;
		t->zero = r.out_zero;
		t->lo = tosa_least(out, false);
		t->hi = tosa_most(out, false);
		return true;
	case TOSA_CLAMP:
		if (wide)
			return false;
		tosa_clamp_of(p->t, op, &lo, &hi);
		/* bounds on the results of a table become part of the table */
		for (int i = 0; t->has_table && i < 256; i++)
			t->table[i] = (uint8_t)clamp_i64((int8_t)old[i], lo, hi);
		if (!t->has_table) {
			t->lo = clamp_i64(t->lo, lo, hi);
			t->hi = clamp_i64(t->hi, lo, hi);
		}
		return true;
	case TOSA_TABLE:
		if (wide || in != TOSA_INT8)
			return false;
		for (int i = 0; i < 256; i++) {
			int k = t->has_table ? (int8_t)old[i] + 128 : i;
			t->table[i] = (uint8_t)tosa_value(tosa_in(p->t, op, 1), k);
		}
		t->has_table = true;
		return true;
	default:
		return false;
	}
}

struct tail
tail_of(struct part *p, int tensor, unsigned flags)
{
	const struct tosa_tensor *x = &p->t->tensor[tensor];
	bool wide = x->type == TOSA_INT32 || x->type == TOSA_INT48;
	struct tail t = { .out = tensor, .lo = tosa_least(x->type, false),
			  .hi = tosa_most(x->type, false) };
	for (;;) {
		int i = p->reader[t.out]; /* the only one */
		bool words = t.scaled && p->t->tensor[t.out].type == TOSA_INT32;
		if (words || i < 0 || p->t->tensor[t.out].is_output || p->why[i] ||
		    p->t->op[i].in[0] != t.out || !take_op(p, &t, &p->t->op[i], wide, flags))
			break;
		wide = false;
		t.out = p->t->op[i].out[0];
		p->done[i] = true;
	}
	t.type = graph_type(p->t->tensor[t.out].type);
	return t;
}

bool
rounds_twice(const struct tosa_rescale *r, int64_t shift)
{
	return r->rounding == TOSA_DOUBLE_ROUND && shift > 31;
}

struct npu_scale
tail_scale(const struct tail *t, int64_t channel)
{
	if (!t->scaled)
		return (struct npu_scale){ .mult = 1 };
	int64_t k = t->r.per_channel ? channel : 0;
	return (struct npu_scale){ .mult = (uint32_t)tosa_value(t->r.mult, k),
				   .shift = (int)tosa_value(t->r.shift, k) };
}

enum g_round
tail_round(const struct tail *t)
{
	return t->scaled && t->r.rounding == TOSA_DOUBLE_ROUND ? ROUND_TFL
							       : ROUND_NATURAL;
}

struct low_end
tail_end(struct part *p, const struct tail *t)
{
	struct low_end e = { .zero = (int32_t)t->zero, .clamped = t->type != TFL_INT32,
			     .clamp = { .lo = t->lo, .hi = t->hi } };
	if (t->has_table)
		e.lut = low_lut8(p->l, t->table);
	return e;
}

struct low_end
tail_scaled_end(struct part *p, const struct tail *t)
{
	struct low_end e = tail_end(p, t);
	e.scaled = true;
	e.scale = tail_scale(t, 0);
	e.round = tail_round(t);
	if (!e.scale.mult) /* every sum is 0 behind this shift */
		e.scale = (struct npu_scale){ .mult = 1, .shift = 62 };
	return e;
}
