/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on two broadcast tensors: nputools-lowering(7) 3.4. */
#include "kernels/call.h"
#include "kernels/functions.h"

struct binary {
	const struct tfl_tensor *in[2], *out;
	struct affine q[2], q_out;
	struct range range;
	const int32_t *x[2]; /* broadcast to the output's shape */
	int32_t *y;
	int64_t n;
};

/*
 * Returns the dimension of t that broadcasting aligns with dimension d of a tensor of
 * rank `rank`.
 */
static int32_t
dim_from_right(const struct tfl_tensor *t, int rank, int d)
{
	int own = d - (rank - t->rank);
	return own < 0 ? 1 : t->dim[own];
}

bool
call_broadcast(struct call *c, const struct tfl_tensor *a,
		const struct tfl_tensor *b, const struct tfl_tensor *out)
{
	int rank = a->rank > b->rank ? a->rank : b->rank;
	rank = rank > out->rank ? rank : out->rank;
	for (int d = 0; d < rank; d++) {
		int32_t x = dim_from_right(a, rank, d);
		int32_t y = dim_from_right(b, rank, d);
		int32_t want = x == 1 ? y : x;
		if ((x != y && x != 1 && y != 1) ||
		    dim_from_right(out, rank, d) != want)
			return call_mismatch(
			    c,
			    "%s and %s do not broadcast to %s: "
			    "dimensions %d, %d and %d",
			    a->name, b->name, out->name, x, y,
			    dim_from_right(out, rank, d));
	}
	return true;
}

int32_t *
call_broadcast_input(struct call *c, int k, const struct tfl_tensor *out)
{
	const struct tfl_tensor *t = call_in(c, k);
	int32_t *v = call_widen(c, k);
	int64_t n = tfl_elements(out), step[TFL_MAX_RANK], stride = 1;
	int32_t at[TFL_MAX_RANK] = { 0 };
	if (tfl_elements(t) == n || c->check)
		return v;
	for (int d = out->rank - 1; d >= 0; d--) {
		int32_t own = dim_from_right(t, out->rank, d);
		step[d] = own == 1 ? 0 : stride;
		stride *= own;
	}
	int32_t *r = anew(c->a, int32_t, (size_t)n);
	int64_t from = 0;
	for (int64_t i = 0; i < n; i++) {
		r[i] = v[from];
		for (int d = out->rank - 1; d >= 0; d--) {
			from += step[d];
			if (++at[d] < out->dim[d])
				break;
			from -= step[d] * out->dim[d];
			at[d] = 0;
		}
	}
	return r;
}

static bool
binary_prepare(struct call *c, unsigned types, int64_t activation, struct binary *b)
{
	*b = (struct binary){ 0 };
	b->out = call_out(c, 0);
	b->n = c->check ? 0 : tfl_elements(b->out);
	for (int k = 0; k < 2; k++) {
		b->in[k] = call_in(c, k);
		/* PRELU of INT16 has an alpha of INT8, the only combination in TensorFlow Lite Micro */
		bool is_narrow_alpha = c->op->code == TFL_PRELU && k == 1 &&
				       b->in[0]->type == TFL_INT16 && b->in[1]->type == TFL_INT8;
		if (!call_type(c, b->in[k], "input", types) ||
		    (!is_narrow_alpha && !call_same_type(c, b->in[k], b->out)))
			return false;
	}
	bool plain = b->out->type == TFL_INT32;
	for (int k = 0; k < 2 && !plain; k++)
		if (!call_affine(c, b->in[k], "input", &b->q[k]))
			return false;
	if (plain)
		b->q_out.scale = 1;
	else if (!call_affine(c, b->out, "output", &b->q_out))
		return false;
	if (!call_range(c, activation, b->out, b->q_out, &b->range) ||
	    !call_broadcast(c, b->in[0], b->in[1], b->out))
		return false;
	b->x[0] = call_broadcast_input(c, 0, b->out);
	b->x[1] = call_broadcast_input(c, 1, b->out);
	b->y = anew(c->a, int32_t, (size_t)b->n);
	return true;
}

static bool
binary_store(struct call *c, struct binary *b)
{
	call_narrow(c, 0, b->y);
	return true;
}

static int32_t
wrap_add(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t
wrap_mul(int32_t a, int32_t b)
{
	return (int32_t)((uint32_t)a * (uint32_t)b);
}

static float
larger(float a, float b)
{
	return a > b ? a : b;
}

/* largest magnitude of a value of operand k minus its zero point */
static int64_t
most_value(const struct binary *b, int k)
{
	int64_t lo = b->q[k].zero - (int64_t)type_min(b->in[k]->type);
	int64_t hi = type_max(b->in[k]->type) - (int64_t)b->q[k].zero;
	return lo > hi ? lo : hi;
}

static int64_t
most_product(const struct binary *b)
{
	return most_value(b, 0) * most_value(b, 1);
}

/* bound of the sum of both operands, each shifted left and at least halved */
static int64_t
most_shifted_sum(const struct binary *b, int shift)
{
	int64_t v = most_value(b, 0), w = most_value(b, 1);
	return (v > w ? v : w) << shift;
}

/* multipliers for ADD and SUB: of both operands, and of the output */
static bool
add_multipliers(struct call *c, const struct binary *b, bool sub, int shift,
		struct fixed_mult m[3])
{
	float s1 = b->q[0].scale, s2 = b->q[1].scale, so = b->q_out.scale;
	float unit = (float)(1 << shift);
	if (sub) { /* the SUB kernel computes its multipliers in float32 */
		float t = 2 * larger(s1, s2);
		return call_mult(c, (double)(s1 / t), &m[0]) &&
		       call_mult(c, (double)(s2 / t), &m[1]) &&
		       call_mult_of(c, (double)(t / (unit * so)),
				    most_shifted_sum(b, shift), &m[2]);
	}
	double t = 2.0 * (double)larger(s1, s2);
	return call_mult(c, (double)s1 / t, &m[0]) &&
	       call_mult(c, (double)s2 / t, &m[1]) &&
	       call_mult_of(c, t / ((double)unit * (double)so),
			    most_shifted_sum(b, shift), &m[2]);
}

/* element i of operand k without its zero point, shifted left and scaled */
static int32_t
operand(const struct binary *b, int k, int64_t i, int shift, const struct fixed_mult m[3])
{
	return fixed_mbqm((b->x[k][i] - b->q[k].zero) * (1 << shift), m[k]);
}

bool
kernel_add_sub(struct call *c)
{
	bool sub = c->op->code == TFL_SUB;
	int64_t act =
	    sub ? TFL_OPT(c->op, SubOptions, fused_activation_function)
		: TFL_OPT(c->op, AddOptions, fused_activation_function);
	struct binary b;
	struct fixed_mult m[3];
	if (!binary_prepare(c, T_QUANT | T_I32, act, &b))
		return false;
	if (b.out->type == TFL_INT32) {
		for (int64_t i = 0; i < b.n; i++)
			b.y[i] = clamp_i32(
			    wrap_add(b.x[0][i],
				     sub ? wrap_mul(b.x[1][i], -1) : b.x[1][i]),
			    b.range.lo, b.range.hi);
		return binary_store(c, &b);
	}
	int shift = b.out->type == TFL_INT16 ? 15 : 20;
	if (!add_multipliers(c, &b, sub, shift, m))
		return false;
	for (int64_t i = 0; i < b.n; i++) {
		int32_t v = operand(&b, 0, i, shift, m), w = operand(&b, 1, i, shift, m);
		b.y[i] =
		    clamp_i32((int64_t)fixed_mbqm(sub ? v - w : v + w, m[2]) +
				  b.q_out.zero,
			      b.range.lo, b.range.hi);
	}
	return binary_store(c, &b);
}

bool
kernel_mul(struct call *c)
{
	struct binary b;
	struct fixed_mult m = { 0 };
	if (!binary_prepare(c, T_QUANT | T_I32,
		     TFL_OPT(c->op, MulOptions, fused_activation_function), &b))
		return false;
	bool plain = b.out->type == TFL_INT32;
	/*
	 * The multiplier of 8-bit products has a limit: at 2^14 every product but 0 already
	 * saturates.  From 2^16 on, the reference shifts the product out of 32 bits, which C++
	 * leaves undefined.
	 */
	double scale = (double)b.q[0].scale * (double)b.q[1].scale / (double)b.q_out.scale;
	if (b.out->type != TFL_INT16 && scale > 1 << 14)
		scale = 1 << 14;
	if (!plain && !call_mult_of(c, scale, most_product(&b), &m))
		return false;
	for (int64_t i = 0; i < b.n; i++) {
		int32_t p =
		    wrap_mul(b.x[0][i] - b.q[0].zero, b.x[1][i] - b.q[1].zero);
		int64_t v =
		    plain ? p : (int64_t)fixed_mbqm(p, m) + b.q_out.zero;
		b.y[i] = clamp_i32(v, b.range.lo, b.range.hi);
	}
	return binary_store(c, &b);
}

bool
kernel_squared_difference(struct call *c)
{
	struct binary b;
	struct fixed_mult m[3];
	if (!binary_prepare(c, T_QUANT | T_I32, TFL_ACT_NONE, &b))
		return false;
	if (b.out->type == TFL_INT32) {
		for (int64_t i = 0; i < b.n; i++) {
			int32_t d =
			    wrap_add(b.x[0][i], wrap_mul(b.x[1][i], -1));
			b.y[i] = wrap_mul(d, d);
		}
		return binary_store(c, &b);
	}
	int shift = b.out->type == TFL_INT16 ? 0 : 7;
	double t = 2.0 * (double)larger(b.q[0].scale, b.q[1].scale);
	if (!call_mult(c, (double)b.q[0].scale / t, &m[0]) ||
	    !call_mult(c, (double)b.q[1].scale / t, &m[1]) ||
	    !call_mult_of(
		c, t * t / ((double)(1 << 2 * shift) * (double)b.q_out.scale),
		most_shifted_sum(&b, shift) * most_shifted_sum(&b, shift), &m[2]))
		return false;
	for (int64_t i = 0; i < b.n; i++) {
		int32_t v = operand(&b, 0, i, shift, m), w = operand(&b, 1, i, shift, m);
		b.y[i] = clamp_i32(
		    (int64_t)fixed_mbqm(wrap_mul(v - w, v - w), m[2]) +
			b.q_out.zero,
		    b.range.lo, b.range.hi);
	}
	return binary_store(c, &b);
}

/* Compares raw values: equal quantization is assumed but not required. */
bool
kernel_min_max(struct call *c)
{
	bool max = c->op->code == TFL_MAXIMUM;
	struct binary b;
	if (!binary_prepare(c, T_QUANT | T_I32, TFL_ACT_NONE, &b))
		return false;
	for (int64_t i = 0; i < b.n; i++) {
		int32_t v = b.x[0][i], w = b.x[1][i];
		b.y[i] = (v > w) == max ? v : w;
	}
	return binary_store(c, &b);
}

/*
 * Multiplies the dividend, shifted left as far as possible, by the divisor's reciprocal
 * in fixed point, then rescales once.  The reference asserts that the divisor is not
 * zero and that the exponent is at most zero; here the quotient saturates in both
 * cases.
 */
static int32_t
divide_quantized(int32_t v, int32_t w, struct fixed_mult m)
{
	if (w < 0) {
		v = -v;
		w = -w;
	}
	int lead = w ? __builtin_clz((uint32_t)w) : 0;
	int dividend_shift = v ? __builtin_clrsb(v) : 31;
	int exp = m.exp - (31 - lead) - dividend_shift;
	if (w == 0 || exp > 0)
		return v > 0 ? INT32_MAX : v < 0 ? INT32_MIN : 0;
	if (exp < -31)
		return 0;
	int32_t inverse =
	    fixed_recip((int32_t)(((uint32_t)w << lead) - 0x80000000u));
	int32_t quotient = fixed_srdhm((int32_t)((uint32_t)v << dividend_shift), inverse);
	return fixed_mbqm(quotient,
			  (struct fixed_mult){ .mult = m.mult, .exp = exp });
}

static bool
divide_plain(struct call *c, struct binary *b, bool down)
{
	for (int64_t i = 0; i < b->n; i++) {
		int32_t x = b->x[0][i], y = b->x[1][i];
		if (!y)
			return call_err(c, "division by zero");
		/* rounded towards zero, or down; INT32_MIN / -1 wraps around */
		int32_t quotient = y == -1 ? wrap_mul(x, -1)
					   : x / y - (down && x % y && (x % y < 0) != (y < 0));
		b->y[i] = clamp_i32(quotient, b->range.lo, b->range.hi);
	}
	return binary_store(c, b);
}

bool
kernel_floor_div(struct call *c)
{
	struct binary b;
	return binary_prepare(c, T_I32, TFL_ACT_NONE, &b) && divide_plain(c, &b, true);
}

bool
kernel_div(struct call *c)
{
	struct binary b;
	struct fixed_mult m;
	/* INT16 is LiteRT's; TFLite Micro lacks it */
	if (!binary_prepare(c, T_QUANT | T_I32,
		     TFL_OPT(c->op, DivOptions, fused_activation_function), &b))
		return false;
	if (b.out->type == TFL_INT32)
		return divide_plain(c, &b, false);
	if (!call_mult(c,
		       (double)b.q[0].scale /
			   ((double)b.q[1].scale * (double)b.q_out.scale), &m))
		return false;
	for (int64_t i = 0; i < b.n; i++) {
		int32_t q = divide_quantized(b.x[0][i] - b.q[0].zero,
				   b.x[1][i] - b.q[1].zero, m);
		b.y[i] = clamp_i32((int64_t)q + b.q_out.zero, b.range.lo,
				   b.range.hi);
	}
	return binary_store(c, &b);
}

bool
kernel_prelu(struct call *c)
{
	struct binary b;
	struct fixed_mult same, alpha;
	if (!binary_prepare(c, T_QUANT, TFL_ACT_NONE, &b))
		return false;
	double ratio = (double)b.q[0].scale / (double)b.q_out.scale;
	if (!call_mult_of(c, ratio, type_width(b.out->type), &same) ||
	    !call_mult_of(c,
			  (double)b.q[0].scale * (double)b.q[1].scale /
			      (double)b.q_out.scale,
			  most_product(&b), &alpha))
		return false;
	for (int64_t i = 0; i < b.n; i++) {
		int32_t v = b.x[0][i] - b.q[0].zero;
		v = v >= 0 ? fixed_mbqm(v, same)
			   : fixed_mbqm(wrap_mul(v, b.x[1][i] - b.q[1].zero),
					alpha);
		b.y[i] = clamp_i32((int64_t)v + b.q_out.zero, b.range.lo,
				   b.range.hi);
	}
	return binary_store(c, &b);
}
