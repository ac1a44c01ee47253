/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators, TABLE and RESCALE. */
#include "tosakernels/tosakernels.h"

#include "base/fixed.h"

/* Truncates v to the bits of a type, and extends the sign. */
static int64_t
wrap(int type, int64_t v)
{
	if (type == TOSA_BOOL)
		return v != 0;
	int left = 64 - tosa_type_bits(type);
	return (int64_t)((uint64_t)v << left) >> left;
}

/* Warns if a result does not fit its type. */
static int64_t
fit(struct tosa_run *r, int type, int64_t v)
{
	if (v < tosa_least(type, false) || v > tosa_most(type, false))
		tosa_warn(r, "the result %lld does not fit %s", (long long)v,
			  tosa_type_name(type));
	return wrap(type, v);
}

/* ---- one operand ----------------------------------------------------------------- */

static int64_t
leading_zeros(int64_t v)
{
	return (uint32_t)v ? __builtin_clz((uint32_t)v) : 32;
}

void
tosa_run_unary(struct tosa_run *r)
{
	const struct tosa_op *op = r->op;
	int type = tosa_out(r->g, op)->type;
	int64_t n = tosa_elements(tosa_out(r->g, op)), lo = 0, hi = 0;
	bool negate = op->code == TOSA_NEGATE;
	int64_t zi = negate ? tosa_zero_of(r->g, op, 1) : 0;
	int64_t zo = negate ? tosa_zero_of(r->g, op, 2) : 0;
	int64_t least = tosa_least(type, false), most = tosa_most(type, false);
	if (op->code == TOSA_CLAMP)
		tosa_clamp_of(r->g, op, &lo, &hi);
	for (int64_t i = 0; i < n; i++) {
		int64_t x = r->in[0][i], y = x;
		switch (op->code) {
		case TOSA_CLAMP:
			y = clamp_i64(x, lo, hi);
			break;
		case TOSA_ABS:
			y = fit(r, type, x < 0 ? -x : x);
			break;
		case TOSA_BITWISE_NOT:
			y = ~x;
			break;
		case TOSA_LOGICAL_NOT:
			y = !x;
			break;
		case TOSA_CLZ:
			y = leading_zeros(x);
			break;
		case TOSA_NEGATE:
			y = clamp_i64(zo - (x - zi), least, most);
			break;
		case TOSA_CAST:
			y = wrap(type, x);
			break;
		default: /* IDENTITY, RESHAPE */
			break;
		}
		r->out[i] = y;
	}
}

/* ---- two operands ---------------------------------------------------------------- */

/* Returns an operand's strides along the result's axes; 0 where it is broadcast. */
static void
steps_of(const struct tosa_tensor *t, int64_t *step)
{
	int64_t s = 1;
	for (int i = t->rank; i-- > 0; s *= t->dim[i])
		step[i] = t->dim[i] == 1 ? 0 : s;
}

/* the position in each operand of the current element of the result */
struct walk {
	const struct tosa_tensor *out;
	int n;
	int64_t step[3][TOSA_MAX_RANK], at[3];
	int32_t index[TOSA_MAX_RANK];
};

static struct walk
walk_of(const struct tosa_run *r, int n)
{
	struct walk w = { .out = tosa_out(r->g, r->op), .n = n };
	for (int k = 0; k < n; k++)
		steps_of(tosa_in(r->g, r->op, k), w.step[k]);
	return w;
}

static void
walk_on(struct walk *w)
{
	for (int i = w->out->rank; i-- > 0;) {
		bool more = ++w->index[i] < w->out->dim[i];
		for (int k = 0; k < w->n; k++)
			w->at[k] += more ? w->step[k][i]
					 : -w->step[k][i] * (w->out->dim[i] - 1);
		if (more)
			return;
		w->index[i] = 0;
	}
}

static int64_t
check_distance(struct tosa_run *r, int type, int64_t b)
{
	int64_t most = tosa_type_bits(type) - 1;
	if (b < 0 || b > most)
		tosa_warn(r, "a shift by %lld of %s", (long long)b,
			  tosa_type_name(type));
	return clamp_i64(b, 0, most);
}

static int64_t
arithmetic_shift(struct tosa_run *r, int type, int64_t a, int64_t b)
{
	b = check_distance(r, type, b);
	bool up = tosa_rounds(r->op) && b > 0 && (a >> (b - 1) & 1);
	return (a >> b) + up;
}

/* Shifts zeros in from above, within the width of the type. */
static int64_t
logical_shift(struct tosa_run *r, int type, int64_t a, int64_t b)
{
	int64_t mask = (INT64_C(1) << tosa_type_bits(type)) - 1;
	return (a & mask) >> check_distance(r, type, b);
}

static int64_t
checked_quotient(struct tosa_run *r, int64_t a, int64_t b)
{
	if (!b)
		tosa_warn(r, "%lld divided by 0", (long long)a);
	return b ? a / b : 0;
}

static int64_t
multiply(struct tosa_run *r, int type, int64_t a, int64_t b, int64_t shift)
{
	if (!shift)
		return wrap(type, a * b);
	return fit(r, type, (a * b + (INT64_C(1) << (shift - 1))) >> shift);
}

static int64_t
combine(struct tosa_run *r, int type, int64_t a, int64_t b, int64_t shift)
{
	switch (r->op->code) {
	case TOSA_ADD:
		return fit(r, type, a + b);
	case TOSA_SUB:
		return fit(r, type, a - b);
	case TOSA_MUL:
		return multiply(r, type, a, b, shift);
	case TOSA_INTDIV:
		return fit(r, type, checked_quotient(r, a, b));
	case TOSA_MAXIMUM:
		return a > b ? a : b;
	case TOSA_MINIMUM:
		return a < b ? a : b;
	case TOSA_ARITHMETIC_RIGHT_SHIFT:
		return arithmetic_shift(r, type, a, b);
	case TOSA_LOGICAL_LEFT_SHIFT:
		return (int64_t)((uint64_t)a << check_distance(r, type, b));
	case TOSA_LOGICAL_RIGHT_SHIFT:
		return logical_shift(r, type, a, b);
	case TOSA_BITWISE_AND:
	case TOSA_LOGICAL_AND:
		return a & b;
	case TOSA_BITWISE_OR:
	case TOSA_LOGICAL_OR:
		return a | b;
	case TOSA_BITWISE_XOR:
	case TOSA_LOGICAL_XOR:
		return a ^ b;
	case TOSA_EQUAL:
		return a == b;
	case TOSA_GREATER:
		return a > b;
	default:
		return a >= b;
	}
}

void
tosa_run_binary(struct tosa_run *r)
{
	struct walk w = walk_of(r, 2);
	int64_t n = tosa_elements(w.out);
	int64_t shift = r->op->code == TOSA_MUL ? tosa_zero_of(r->g, r->op, 2) : 0;
	for (int64_t i = 0; i < n; i++, walk_on(&w))
		r->out[i] = wrap(w.out->type,
				 combine(r, w.out->type, r->in[0][w.at[0]],
					 r->in[1][w.at[1]], shift));
}

void
tosa_run_select(struct tosa_run *r)
{
	struct walk w = walk_of(r, 3);
	int64_t n = tosa_elements(w.out);
	for (int64_t i = 0; i < n; i++, walk_on(&w))
		r->out[i] = r->in[0][w.at[0]] ? r->in[1][w.at[1]] : r->in[2][w.at[2]];
}

/* ---- tables and scales ------------------------------------------------------------- */

void
tosa_run_table(struct tosa_run *r)
{
	const struct tosa_tensor *x = tosa_in(r->g, r->op, 0);
	const int64_t *table = r->in[1];
	int64_t n = tosa_elements(x);
	for (int64_t i = 0; i < n; i++) {
		int64_t v = r->in[0][i];
		if (x->type == TOSA_INT8) {
			r->out[i] = table[v + 128];
			continue;
		}
		int64_t k = (v + 32768) >> 7, slope = table[k + 1] - table[k];
		if (slope < INT16_MIN || slope > INT16_MAX)
			tosa_warn(r, "the slope %lld of entry %lld does not fit 16 bits",
				  (long long)slope, (long long)k);
		r->out[i] = table[k] * 128 + slope * (v & 127);
	}
}

void
tosa_run_rescale(struct tosa_run *r)
{
	const struct tosa_tensor *x = tosa_in(r->g, r->op, 0), *o = tosa_out(r->g, r->op);
	struct tosa_rescale q = tosa_rescale_of(r->g, r->op);
	int64_t n = tosa_elements(x), channels = q.per_channel ? x->dim[x->rank - 1] : 1;
	int64_t lo = tosa_least(o->type, q.out_unsigned);
	int64_t hi = tosa_most(o->type, q.out_unsigned);
	int64_t mask = (INT64_C(1) << tosa_type_bits(x->type)) - 1;
	for (int64_t i = 0; i < n; i++) {
		int64_t m = r->in[1][i % channels], s = r->in[2][i % channels];
		int64_t v = r->in[0][i];
		v = (q.in_unsigned ? v & mask : v) - q.in_zero;
		if (q.scale32 && (v < -(INT64_C(1) << (s - 1)) ||
				  v >= INT64_C(1) << (s - 1)))
			tosa_warn(r, "the value %lld is out of the range of a shift of "
				  "%lld", (long long)v, (long long)s);
		int64_t y = tosa_scale(v, m, s, q.rounding == TOSA_DOUBLE_ROUND);
		if (!q.scale32 && (y < INT32_MIN || y > INT32_MAX))
			tosa_warn(r, "the scaled value %lld does not fit i32",
				  (long long)y);
		r->out[i] = wrap(o->type, clamp_i64(clamp_i64(y, -(INT64_C(1) << 60),
						      INT64_C(1) << 60) + q.out_zero,
						lo, hi));
	}
}
