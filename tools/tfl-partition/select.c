/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SELECT, SELECT_V2: the condition becomes the greatest value of the type where it
 * holds and the least where it doesn't, and the other way round; the greater one of
 * both operands, each cut to one of these, is the one that is asked for.  Where the NPU
 * works on bits, all of the one operand's are taken where the condition holds, and all
 * of the other's where it doesn't.
 */
#include "part.h"

enum { TYPES = TYPE_MAPS | TYPE_I32 | TYPE_BOOL };

static const char *
check_select(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 3, 3, 1);
	const struct tfl_tensor *o = part_out(p, op, 0);
	if (!why)
		why = check_map(p, part_in(p, op, 0), "the condition", TYPE_BOOL);
	if (!why)
		why = check_map(p, o, "OFM", TYPES);
	for (int k = 1; k < 3 && !why; k++) {
		why = check_map(p, part_in(p, op, k), "IFM", TYPES);
		if (!why && part_in(p, op, k)->type != o->type)
			why = "IFM and OFM differ in type";
		if (!why)
			why = check_broadcast(p, part_in(p, op, k), part_in(p, op, 0), o);
	}
	if (why)
		return why;
	const struct tfl_tensor *which = part_in(p, op, 0);
	if (which->data.p)
		return "the condition is constant";
	bool rows = op->code == TFL_SELECT && which->rank == 1 && o->rank > 1 &&
		    which->dim[0] > 1;
	return rows ? "a condition for whole rows" : NULL;
}

/* 32 bits and bytes: a table of two; 16 bits: 65535 times the condition and least */
static struct g_operand
mask_of(struct part *p, struct g_operand which, int type, bool opposite)
{
	struct g_range r = type_range(type);
	int32_t of[2] = { (int32_t)(opposite ? r.hi : r.lo),
			  (int32_t)(opposite ? r.lo : r.hi) };
	if (type == TFL_INT32) {
		of[0] = opposite ? INT32_MAX : INT32_MIN;
		of[1] = opposite ? INT32_MIN : INT32_MAX;
	}
	struct g_operand y =
	    operand_whole(low_tensor(p->l, type, which.shape, NULL));
	if (type == TFL_INT16) {
		if (opposite) {
			struct g_operand other = operand_whole(
			    low_tensor(p->l, which.type, which.shape, NULL));
			struct g_op *not = low_op(p->l, OP_SUB, which, other);
			op_scalar(not, 1, 0);
			G_PUT(not, OP, reversed, 1);
			op_unscaled(not);
			which = other;
		}
		struct g_op *m = low_op(p->l, OP_MUL, which, y);
		op_scalar(m, 1, 0);
		op_scale(m, (struct npu_scale){ .mult = 65535u << 14, .shift = 14 },
			 ROUND_TFL);
		op_zeros(m, 0, INT16_MIN);
		return y;
	}
	int32_t words[256] = { [128] = of[0], [129] = of[1] };
	uint8_t bytes[256] = { [0] = (uint8_t)of[0], [1] = (uint8_t)of[1],
			       [128] = (uint8_t)of[0], [129] = (uint8_t)of[1] };
	if (type == TFL_INT32) {
		part_table32(p, which, y, words);
		return y;
	}
	which.type = type;
	(void)part_table(p, which, y, low_lut8(p->l, bytes));
	return y;
}

/* the lesser or greater of two, of which one has the result's shape */
static void
join(struct part *p, enum g_op_kind kind, const struct side *a, const struct side *b,
     const struct tfl_tensor *o, struct g_operand ofm)
{
	struct pieces l = pieces_of(p, a, b, o, ofm);
	for (struct pair q; pieces_next(p, &l, &q);)
		(void)part_binary(p, kind, a, b, &q, 0);
}

/* a where which is 1, b where it is 0 */
static void
select_bits(struct part *p, const struct tfl_op *op, struct g_operand which,
	    struct g_operand ofm)
{
	static const enum g_op_kind kinds[2] = { OP_AND, OP_AND_NOT };
	const struct tfl_tensor *o = part_out(p, op, 0);
	struct side mask = { .shape = part_in(p, op, 0) }, taken[2];
	mask.value = operand_whole(low_tensor(p->l, ofm.type, which.shape, NULL));
	struct g_op *all = low_op(p->l, OP_SUB, which, mask.value); /* 0 - which */
	op_scalar(all, 0, 0);
	G_PUT(all, OP, reversed, 1);
	op_unscaled(all);
	for (int k = 0; k < 2; k++) {
		struct side x = side_of(p, op->in[1 + k]);
		x.zero = 0;
		taken[k] = (struct side){ .shape = o };
		taken[k].value =
		    operand_whole(low_tensor(p->l, ofm.type, ofm.shape, NULL));
		join(p, kinds[k], &x, &mask, o, taken[k].value);
	}
	join(p, OP_OR, &taken[0], &taken[1], o, ofm);
}

static bool
lower_select(struct part *p, const struct tfl_op *op)
{
	const struct tfl_tensor *o = part_out(p, op, 0);
	struct g_operand which = part_ifm(p, op->in[0]), ofm = part_ofm(p, op->out[0]);
	struct side cut[2];
	if (part_has(p, LACK_BITS) && ofm.type != TFL_UINT8) {
		select_bits(p, op, which, ofm);
		return true;
	}
	for (int k = 0; k < 2; k++) {
		struct side x = side_of(p, op->in[1 + k]);
		struct side mask = { .shape = part_in(p, op, 0) };
		mask.value = mask_of(p, which, ofm.type, k);
		x.zero = 0;
		cut[k] = (struct side){ .shape = o };
		cut[k].value =
		    operand_whole(low_tensor(p->l, ofm.type, ofm.shape, NULL));
		join(p, OP_MIN, &x, &mask, o, cut[k].value);
	}
	join(p, OP_MAX, &cut[0], &cut[1], o, ofm);
	return true;
}

const struct family select_families[] = {
	{ .code = TFL_SELECT, .check = check_select, .lower = lower_select },
	{ .code = TFL_SELECT_V2, .check = check_select, .lower = lower_select },
	{ .code = 0 },
};
