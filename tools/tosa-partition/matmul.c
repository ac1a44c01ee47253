/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL.  Of 8 bits the products fit, and their sums; of 16 bits the sums have
 * up to 39, which no operation gives: the first operand's bytes are multiplied
 * apart, and the sums of both scaled in pieces of 16 bits.
 *
 *	sum = 256 * high + low			(of A's high and low bytes)
 *	    = 256 * h + r,  0 <= r < 256		h = high + floor(low / 256)
 *	(sum * m + 2^(s-1)) >> s
 *	    = (h * m + q + 2^(s-9)) >> (s-8)	q = r * m >> 8, below 2^15
 *	h = 65536 * a + b,  0 <= b < 65536:
 *	    = (65536 * a * m + x + 2^(s-9)) >> (s-8)	x = b * m + q, below 2^31
 *	    = (a * m + (x >> 16)), rounded half up by s-24
 */
#include "part.h"

enum { MAX_BLOCKS = 2048, MAX_WIDE_DEPTH = 255, LEAST_SHIFT = 25, MOST_SHIFT = 55 };

struct nd
matrix_of(struct part *p, const struct nd *v, int64_t i, bool transpose)
{
	static const int order[] = { 1, 0 };
	struct nd m = *v;
	nd_slice(&m, 0, i, 1, 1);
	m.dim[0] = m.dim[1];
	m.stride[0] = m.stride[1];
	m.dim[1] = m.dim[2];
	m.stride[1] = m.stride[2];
	m.rank = 2;
	if (transpose)
		nd_permute(&m, order);
	if (m.stride[1] == 1 || m.dim[1] == 1)
		return m;
	struct nd r = nd_new(p->l, m.type, 2, m.dim);
	nd_copy(p->l, &m, &r);
	return r;
}

struct nd
matrix_place(const struct nd *v, int64_t i)
{
	struct nd m = *v;
	m.offset += i * v->stride[0];
	m.rank = 2;
	for (int k = 0; k < 2; k++) {
		m.dim[k] = v->dim[k + 1];
		m.stride[k] = v->stride[k + 1];
	}
	return m;
}

/* raw sums of one byte of a times b */
static struct nd
byte_sums(struct part *p, const struct nd *a, int byte, const struct nd *b)
{
	struct nd part = part_of(a, byte ? TFL_INT8 : TFL_UINT8, byte);
	struct nd x = nd_new(p->l, TFL_INT16, 2, a->dim);
	int64_t dim[2] = { a->dim[0], b->dim[0] };
	struct nd r = nd_new(p->l, TFL_INT32, 2, dim);
	struct finish f = { .round = ROUND_NATURAL };
	pool_to(p, &part, 0, &x, &f);
	f = (struct finish){ .p = p, .round = ROUND_NATURAL };
	nd_matmul(p->l, &x, 0, b, 0, &r, finish_op, &f);
	return r;
}

/* v - (v >> n << n), given v >> n */
static struct nd
rest_of(struct part *p, const struct nd *v, const struct nd *above, int n)
{
	struct nd back = by(p, OP_SHL, above, n);
	return both(p, OP_SUB, v, &back);
}

static void
multiply_wide(struct part *p, const struct nd *a, const struct nd *b, const struct nd *out,
	      const struct tail *t)
{
	struct npu_scale s = tail_scale(t, 0);
	int32_t m = (int32_t)s.mult;
	struct nd high = byte_sums(p, a, 1, b), low = byte_sums(p, a, 0, b);
	struct nd carry = floor_shift(p, &low, 8), r = rest_of(p, &low, &carry, 8);
	struct nd h = both(p, OP_ADD, &high, &carry), rm = by(p, OP_MUL, &r, m);
	struct nd q = floor_shift(p, &rm, 8), top = floor_shift(p, &h, 16);
	struct nd bottom = rest_of(p, &h, &top, 16), bm = by(p, OP_MUL, &bottom, m);
	struct nd x = both(p, OP_ADD, &bm, &q), xs = floor_shift(p, &x, 16);
	struct nd am = by(p, OP_MUL, &top, m), y = both(p, OP_ADD, &am, &xs);
	struct nd c = nd_const_one(p->l, TFL_INT32, 2, s.shift - 24);
	struct finish f = { .tail = t, .round = ROUND_NATURAL };
	both_to(p, OP_SHR, &y, &c, out, &f);
}

static const char *
check_wide(const struct part *p, const struct nd *a, const struct tail *t)
{
	struct npu_scale s = tail_scale(t, 0);
	if (!t->scaled)
		return "its sums of 48 bits have another reader than one RESCALE to 8 or "
		       "16 bits";
	if (a->dim[2] > MAX_WIDE_DEPTH)
		return say(p, "sums of %lld products of 16 bits, at most 255",
			   (long long)a->dim[2]);
	if (s.shift < LEAST_SHIFT || s.shift > MOST_SHIFT)
		return say(p, "a shift of %d behind sums of 48 bits: 25 to 55", s.shift);
	return NULL;
}

const char *
lower_matmul(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct tail t = tail_of(p, op->out[0], TAIL_SCALE);
	bool wide = a.type == TFL_INT16;
	const char *why = wide ? check_wide(p, &a, &t) : NULL;
	if (why)
		return why;
	struct nd out = result_place(p, t.out);
	struct finish f = { .p = p, .tail = &t, .round = tail_round(&t),
			    .scale = tail_scale(&t, 0) };
	for (int64_t i = 0; i < a.dim[0]; i++) {
		struct nd x = matrix_of(p, &a, i, false), y = matrix_of(p, &b, i, true);
		struct nd z = matrix_place(&out, i);
		if (a.dim[0] * nd_matmul_blocks(&x, &y) > MAX_BLOCKS)
			return "more than 2048 blocks of 32768 products";
		if (wide)
			multiply_wide(p, &x, &y, &z, &t);
		else
			nd_matmul(p->l, &x, (int32_t)tosa_zero_of(p->t, op, 2), &y,
				  (int32_t)tosa_zero_of(p->t, op, 3), &z, finish_op, &f);
	}
	return NULL;
}
