/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons and selections.
 *
 * GREATER is the difference, clamped to 0..1; NOT_LESS adds a zero point of 1.  EQUAL
 * and UNEQUAL are the difference, clamped to -1..1, with a lookup table.  If the NPU
 * has comparisons, one bit of their result is used.
 *
 * A selection is the sum of both operands, each multiplied by 0 or 1.  If the NPU has
 * bit operations, it combines the bits of one operand where the condition holds and the
 * bits of the other elsewhere.
 */
#include "lower/choose.h"

#include "graph/facts.h"
#include "lower/linux.h"

/* Uses the NPU's comparison, whose result has all bits set if it holds. */
static void
compare_natively(struct lower *l, const struct low_compare *c, const struct nd *out)
{
	static const enum g_op_kind kinds[] = {
		[LOW_EQUAL] = OP_EQUAL, [LOW_UNEQUAL] = OP_UNEQUAL,
		[LOW_GREATER] = OP_GREATER, [LOW_NOT_LESS] = OP_NOT_LESS };
	struct low_end end = { .scaled = c->scale, .factors = true };
	if (c->scale) {
		end.opa = c->scale[0];
		end.scale = c->scale[1];
	}
	struct nd all = nd_new(l, TFL_INT8, out->rank, out->dim);
	struct nd one = nd_const_one(l, TFL_INT8, out->rank, 1);
	nd_binary(l, kinds[c->order], &c->a, c->zero[0], &c->b, c->zero[1], &all,
		  &end);
	nd_binary(l, OP_AND, &all, 0, &one, 0, out, &low_as_made);
}

/* Computes the magnitude of the difference, clamped to 0..1; EQUAL is 1 minus that. */
static void
compare_few(struct lower *l, const struct low_compare *c, const struct nd *out)
{
	struct low_end cut = low_plain;
	cut.clamped = true;
	cut.clamp = (struct g_range){ .lo = -1, .hi = 1 };
	struct nd d = nd_new(l, TFL_INT8, out->rank, out->dim), far = nd_new_like(l, &d, TFL_INT8);
	struct nd one = nd_const_one(l, TFL_INT8, out->rank, 1);
	bool equal = c->order == LOW_EQUAL;
	nd_binary(l, OP_SUB, &c->a, 0, &c->b, 0, &d, &cut);
	nd_unary(l, OP_ABS, &d, 0, equal ? &far : out, &low_half_up);
	if (equal)
		nd_binary(l, OP_SUB, &one, 0, &far, 0, out, &low_half_up);
}

void
low_compare(struct lower *l, const struct low_compare *c, const struct nd *out)
{
	/* from here on, fetching a table (about 310 cycles on ethos-u55-128) takes less time
	 * than two more operations */
	enum { MANY = 200 };
	bool equal = c->order == LOW_EQUAL || c->order == LOW_UNEQUAL;
	if (low_has(l, LACK_BITS) && (equal || c->scale)) {
		compare_natively(l, c, out);
		return;
	}
	if (equal && nd_elements(out) < MANY) {
		compare_few(l, c, out);
		return;
	}
	struct low_end end = low_plain;
	end.clamped = true;
	end.clamp = (struct g_range){ .lo = equal ? -1 : 0, .hi = 1 };
	end.zero = c->order == LOW_NOT_LESS;
	uint8_t table[256]; /* for differences from -128 on */
	for (int i = 0; i < 256; i++)
		table[i] = (i == 128) == (c->order == LOW_EQUAL);
	if (equal)
		end.lut = low_lut8(l, table);
	nd_binary(l, OP_SUB, &c->a, 0, &c->b, 0, out, &end);
}

/* ---- selections -------------------------------------------------------------- */

void
low_select(struct lower *l, const struct nd *c, const struct nd *a, const struct nd *b,
	   const struct nd *out)
{
	if (low_has(l, LACK_BITS) && out->type != TFL_UINT8) {
		struct nd zero = nd_const_one(l, c->type, c->rank, 0);
		struct nd mask = nd_new(l, out->type, c->rank, c->dim);
		nd_binary(l, OP_SUB, &zero, 0, c, 0, &mask, &low_half_up); /* all bits set, or none */
		struct nd x = nd_broadcast_op(l, OP_AND, a, &mask);
		struct nd y = nd_broadcast_op(l, OP_AND_NOT, b, &mask);
		nd_binary(l, OP_OR, &x, 0, &y, 0, out, &low_half_up);
		return;
	}
	struct nd yes = *c; /* in the type of the operands */
	if (graph_type_bytes(out->type) > 1)
		yes = nd_widen(l, c, 0, out->type);
	yes.type = out->type;
	struct nd one = nd_const_one(l, yes.type, c->rank, 1);
	struct nd no = nd_broadcast_op(l, OP_SUB, &one, &yes);
	struct nd x = nd_broadcast_op(l, OP_MUL, &yes, a), y = nd_broadcast_op(l, OP_MUL, &no, b);
	nd_binary(l, OP_ADD, &x, 0, &y, 0, out, &low_half_up);
}
