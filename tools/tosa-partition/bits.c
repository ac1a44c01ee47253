/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bitwise and logical operators, and shifts.  Ethos-U85 has operations for them.
 * Older NPUs have none: of every byte, the two halves of both operands are looked
 * up.  16 times one half plus the other half is the index into a table of the
 * operator's results.
 */
#include "part.h"

#include "graph/facts.h"
#include "lower/linux.h"

/* a half of each byte as a number n from 0 to 15; times: as 16 * n - 128 */
static struct nd
half_of(struct part *p, const struct nd *v, bool high, bool times)
{
	uint8_t table[256];
	for (int i = 0; i < 256; i++) {
		int byte = (i - 128) & 255, n = high ? byte >> 4 : byte & 15;
		table[i] = (uint8_t)(times ? 16 * n - 128 : n);
	}
	struct nd r = nd_new_like(p->l, v, TFL_INT8);
	look_up(p, v, low_lut8(p->l, table), &r);
	return r;
}

/* the operator on one half of the bytes of a and b; the result is in the same half */
static struct nd
join_halves(struct part *p, int code, const struct nd *a, const struct nd *b, bool high)
{
	uint8_t table[256];
	for (int i = 0; i < 256; i++) {
		int x = i >> 4, y = i & 15;
		int n = code == TOSA_BITWISE_AND ? x & y : code == TOSA_BITWISE_OR ? x | y : x ^ y;
		table[i] = (uint8_t)(high ? 16 * n : n);
	}
	struct nd first = half_of(p, a, high, true), second = half_of(p, b, high, false);
	struct nd r = nd_new_like(p->l, a, TFL_INT8);
	struct low_end end = low_half_up;
	end.lut = low_lut8(p->l, table);
	binary_to(p, OP_ADD, &first, &second, &r, &end);
	return r;
}

/* dense memory as a line of bytes */
static struct nd
as_bytes(const struct nd *v)
{
	int64_t n = nd_elements(v) * graph_type_bytes(v->type);
	return (struct nd){ .t = v->t, .type = TFL_INT8, .rank = 1, .dim = { n },
			    .stride = { 1 },
			    .offset = v->offset * graph_type_bytes(v->type) };
}

/* an operand repeated to the size of the result, in memory without gaps */
static struct nd
whole_operand(struct part *p, int tensor, const struct nd *out)
{
	struct nd v = value_of(p, tensor);
	if (nd_elements(&v) == nd_elements(out) && nd_is_dense(&v))
		return v;
	return nd_spread(p->l, &v, out);
}

const char *
lower_bits(struct part *p, const struct tosa_op *op)
{
	if (low_has(p->l, LACK_BITS)) { /* U85 has these operations */
		binary_op(p, op->code == TOSA_BITWISE_AND ? OP_AND
			     : op->code == TOSA_BITWISE_OR ? OP_OR : OP_XOR, op,
			  &low_half_up);
		return NULL;
	}
	struct nd out = result_view(p, op->out[0]), to = nd_new_like(p->l, &out, out.type);
	struct nd a = whole_operand(p, op->in[0], &out), b = whole_operand(p, op->in[1], &out);
	struct nd x = as_bytes(&a), y = as_bytes(&b), z = as_bytes(&to);
	struct nd high = join_halves(p, op->code, &x, &y, true);
	struct nd low = join_halves(p, op->code, &x, &y, false);
	binary_to(p, OP_ADD, &high, &low, &z, &low_half_up);
	nd_copy(p->l, &to, &out);
	return NULL;
}

/* -1 - v, or 1 - v for booleans */
const char *
lower_not(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	bool bits = op->code == TOSA_BITWISE_NOT;
	struct nd c = nd_const_one(p->l, v.type, v.rank, bits ? -1 : 1);
	binary_to(p, OP_SUB, &c, &v, &out, &low_half_up);
	return NULL;
}

const char *
lower_bool(struct part *p, const struct tosa_op *op)
{
	static const uint8_t is_one[256] = { [128 + 1] = 1 };
	bool native = low_has(p->l, LACK_BITS);
	enum g_op_kind kind = op->code == TOSA_LOGICAL_AND  ? OP_MIN
			      : op->code == TOSA_LOGICAL_OR ? OP_MAX
			      : native			    ? OP_XOR
							    : OP_ADD;
	struct low_end end = low_half_up;
	if (kind == OP_ADD)
		end.lut = low_lut8(p->l, is_one);
	binary_op(p, kind, op, &end);
	return NULL;
}

/* ---- shifts ---------------------------------------------------------------------------- */

/* -1 where v is negative, else 0 */
static struct nd
sign_of(struct part *p, const struct nd *v)
{
	struct nd below = nd_with_scalar(p->l, OP_MIN, v, 0);
	return nd_with_scalar(p->l, OP_MAX, &below, -1);
}

/* a >> b, for a that is not negative */
static struct nd
shift_down(struct part *p, const struct nd *a, const struct nd *b)
{
	struct nd r = nd_new(p->l, TFL_INT32, a->rank, a->dim);
	struct low_end end = low_plain;
	end.round = ROUND_TRUNCATE;
	binary_to(p, OP_SHR, a, b, &r, &end);
	return r;
}

/* floor(a / 2^b); for a negative a, -1 minus the result for -1 - a */
static struct nd
floor_by(struct part *p, const struct nd *a, const struct nd *b)
{
	struct nd minus = nd_const_one(p->l, TFL_INT32, a->rank, -1);
	struct nd mirror = nd_broadcast_op(p->l, OP_SUB, &minus, a);
	struct nd u = nd_broadcast_op(p->l, OP_MAX, a, &mirror);
	struct nd q = shift_down(p, &u, b), s = sign_of(p, a);
	struct nd twice = nd_broadcast_op(p->l, OP_ADD, &s, &s), one = nd_with_scalar(p->l, OP_ADD, &twice, 1);
	struct nd turned = nd_broadcast_op(p->l, OP_MUL, &q, &one);
	return nd_broadcast_op(p->l, OP_ADD, &turned, &s);
}

/* Shifts in zeros: shifts a without its sign bit, then adds this bit at its new position. */
static struct nd
logical_by(struct part *p, const struct nd *a, const struct nd *b)
{
	struct nd s = sign_of(p, a), top = nd_with_scalar(p->l, OP_SHL, &s, 31);
	struct nd rest = nd_broadcast_op(p->l, OP_SUB, a, &top), q = shift_down(p, &rest, b);
	struct nd zero = nd_const_one(p->l, TFL_INT32, a->rank, 0);
	struct nd bit = nd_broadcast_op(p->l, OP_SUB, &zero, &s);
	struct nd c = nd_const_one(p->l, TFL_INT32, a->rank, 31);
	struct nd at = nd_broadcast_op(p->l, OP_SUB, &c, b);
	struct nd moved = nd_broadcast_op(p->l, OP_SHL, &bit, &at);
	return nd_broadcast_op(p->l, OP_ADD, &q, &moved);
}

/*
 * An operand in 32 bits, with zeros above it if is_unsigned.  It is repeated to the
 * shape of `out`, unless that is NULL.
 */
static struct nd
wide_operand(struct part *p, int tensor, bool is_unsigned, const struct nd *out)
{
	struct nd v = value_of(p, tensor);
	bool equal = true;
	if (v.type == TFL_INT8 && is_unsigned)
		v.type = TFL_UINT8;
	bool half = v.type == TFL_INT16 && is_unsigned;
	if (v.type != TFL_INT32)
		v = nd_widen(p->l, &v, 0, TFL_INT32);
	if (half) { /* add 65536 where it is negative */
		struct nd s = sign_of(p, &v), less = nd_with_scalar(p->l, OP_SHL, &s, 16);
		v = nd_broadcast_op(p->l, OP_SUB, &v, &less);
	}
	for (int i = 0; out && i < v.rank; i++)
		equal = equal && v.dim[i] == out->dim[i];
	return equal ? v : nd_spread(p->l, &v, out);
}

const char *
lower_shift(struct part *p, const struct tosa_op *op)
{
	bool logical = op->code == TOSA_LOGICAL_RIGHT_SHIFT;
	bool native = low_has(p->l, LACK_BITS);
	/*
	 * Truncation is rounding down here.  No result exceeds its type, whereas
	 * results of the other shifts may, and would be clamped.
	 */
	if (native && op->code == TOSA_ARITHMETIC_RIGHT_SHIFT) {
		struct low_end end = low_plain;
		end.round = tosa_rounds(op) ? ROUND_NATURAL : ROUND_TRUNCATE;
		binary_op(p, OP_SHR, op, &end);
		return NULL;
	}
	struct nd out = result_view(p, op->out[0]), r;
	struct nd a = wide_operand(p, op->in[0], logical, native ? NULL : &out);
	struct nd b = wide_operand(p, op->in[1], false, native ? NULL : &out);
	bool left = op->code == TOSA_LOGICAL_LEFT_SHIFT;
	if (out.type == TFL_INT32 && (left || (logical && native))) {
		binary_to(p, left ? OP_SHL : OP_LSR, &a, &b, &out, &low_half_up);
		return NULL;
	}
	if (left)
		r = nd_broadcast_op(p->l, OP_SHL, &a, &b);
	else if (logical && out.type == TFL_INT32)
		r = logical_by(p, &a, &b);
	else if (!logical && tosa_rounds(op))
		r = nd_broadcast_op(p->l, OP_SHR, &a, &b);
	else
		r = logical ? shift_down(p, &a, &b) : floor_by(p, &a, &b);
	if (out.type == TFL_INT32)
		nd_copy(p->l, &r, &out);
	else
		nd_narrow(p->l, &r, &out);
	return NULL;
}
