/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upper bounds of the magnitudes of a tensor's elements: from its type, its
 * constant value or the operators that make it.  Without a proof, the bound of the
 * type applies.
 */
#include "part.h"

#include "base/fixed.h"

enum { NEAR = 24 }; /* most successive operators from which a bound is derived */

static int64_t of_tensor(const struct part *p, int tensor, int depth);

/* the largest bound of operands k to n - 1 */
static int64_t
of_operands(const struct part *p, const struct tosa_op *op, int k, int n, int depth)
{
	int64_t most = 0;
	for (; k < n && k < op->n_in; k++)
		most = max_i64(most, of_tensor(p, op->in[k], depth));
	return most;
}

/* the largest multiplier with the smallest shift, plus 1 for the rounding */
static int64_t
of_rescale(const struct part *p, const struct tosa_op *op, int depth)
{
	struct tosa_rescale r = tosa_rescale_of(p->t, op);
	int64_t v = of_tensor(p, op->in[0], depth), n = tosa_elements(r.mult), mult = 0;
	int64_t shift = 63;
	if (r.in_unsigned || r.out_unsigned || v > INT64_C(1) << 31)
		return INT64_MAX;
	for (int64_t i = 0; i < n; i++) {
		mult = max_i64(mult, tosa_value(r.mult, i));
		shift = min_i64(shift, tosa_value(r.shift, i));
	}
	v += r.in_zero < 0 ? -r.in_zero : r.in_zero;
	/* v is below 2^32, a multiplier below 2^31 */
	return (v * mult >> shift) + 1 + (r.out_zero < 0 ? -r.out_zero : r.out_zero);
}

static int64_t
of_product(const struct part *p, const struct tosa_op *op, int depth)
{
	int64_t shift = tosa_zero_of(p->t, op, 2);
	int64_t a = of_tensor(p, op->in[0], depth), b = of_tensor(p, op->in[1], depth);
	int64_t most = a * b; /* at most 2^62 */
	if (!shift && most > INT32_MAX) /* it may wrap around */
		return INT64_MAX;
	return shift ? (most >> shift) + 1 : most;
}

static int64_t
of_result(const struct part *p, const struct tosa_op *op, int depth)
{
	int64_t lo, hi;
	switch (op->code) {
	case TOSA_RESCALE:
		return of_rescale(p, op, depth);
	case TOSA_CLAMP:
		tosa_clamp_of(p->t, op, &lo, &hi);
		return min_i64(of_operands(p, op, 0, 1, depth),
			       max_i64(lo < 0 ? -lo : lo, hi < 0 ? -hi : hi));
	case TOSA_MUL:
		return of_product(p, op, depth);
	case TOSA_ADD:
	case TOSA_SUB:
		return of_operands(p, op, 0, 1, depth) + of_operands(p, op, 1, 2, depth);
	case TOSA_CLZ:
		return 32;
	case TOSA_TABLE:
		return INT64_C(1) << 23; /* 16 bits with 7 fractional bits */
	case TOSA_ABS:
	case TOSA_IDENTITY:
	case TOSA_RESHAPE:
	case TOSA_TRANSPOSE:
	case TOSA_SLICE:
	case TOSA_REVERSE:
	case TOSA_TILE:
	case TOSA_GATHER:
	case TOSA_CAST:
	case TOSA_REDUCE_MAX:
	case TOSA_REDUCE_MIN:
	case TOSA_ARITHMETIC_RIGHT_SHIFT:
	case TOSA_INTDIV:
		return of_operands(p, op, 0, 1, depth);
	case TOSA_MAXIMUM:
	case TOSA_MINIMUM:
		return of_operands(p, op, 0, 2, depth);
	case TOSA_SELECT:
		return of_operands(p, op, 1, 3, depth);
	case TOSA_CONCAT:
		return of_operands(p, op, 0, op->n_in, depth);
	default:
		return INT64_MAX;
	}
}

static int64_t
of_tensor(const struct part *p, int tensor, int depth)
{
	const struct tosa_tensor *t = &p->t->tensor[tensor];
	int64_t most = t->type == TOSA_BOOL ? 1 : -tosa_least(t->type, false);
	if (t->data.p) {
		most = 0;
		for (int64_t i = 0, n = tosa_elements(t); i < n; i++) {
			int64_t v = tosa_value(t, i);
			most = max_i64(most, v < 0 ? -v : v);
		}
		return most;
	}
	if (t->producer < 0 || !depth)
		return most;
	return min_i64(most, of_result(p, &p->t->op[t->producer], depth - 1));
}

bool
product_fits(const struct part *p, const struct tosa_op *op)
{
	/* each factor is at most 2^31 */
	return of_tensor(p, op->in[0], NEAR) * of_tensor(p, op->in[1], NEAR) <= INT32_MAX;
}
