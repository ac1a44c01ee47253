/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/functions.h"

#include <math.h>

static int32_t
saturate(int64_t v)
{
	return clamp_i32(v, INT32_MIN, INT32_MAX);
}

/* mean of a and b, rounded half away from 0 */
static int32_t
half_sum(int32_t a, int32_t b)
{
	int64_t t = (int64_t)a + b;
	return (int32_t)((t + (t >= 0 ? 1 : -1)) / 2);
}

static int32_t
times_pot(int32_t v, int e)
{
	return saturate((int64_t)v * ((int64_t)1 << e));
}

static int32_t
wrapped(int64_t v)
{
	return (int32_t)(uint32_t)v;
}

/* Step 2: exp of y in [-1/4, 0), Q0, by a series around -1/8. */
static int32_t
exp_near_zero(int32_t y)
{
	int32_t x = wrapped((int64_t)y + (1 << 28));
	int32_t x2 = fixed_srdhm(x, x);
	int32_t x3 = fixed_srdhm(x2, x);
	int32_t x4 = fixed_srdhm(x2, x2);
	int32_t u = wrapped((int64_t)fixed_rdpot(x4, 2) + x3);
	u = wrapped((int64_t)fixed_srdhm(u, 715827883) + x2); /* 1/3 */
	u = fixed_rdpot(u, 1);
	/* exp(-1/8) = 1895147668 / 2^31 */
	return wrapped(1895147668 + (int64_t)fixed_srdhm(
					1895147668, wrapped((int64_t)x + u)));
}

int32_t
fixed_exp(int32_t a, int integer_bits)
{
	/* exp(-2^e) in Q0 for e = -2, -1, 0, ... */
	static const int32_t factor[] = { 1672461947, 1302514674, 790015084,
					  290630308,  39332535,	  720401,
					  242 };
	if (a == 0)
		return INT32_MAX;
	int fraction = 31 - integer_bits;
	int32_t quarter = 1 << (fraction - 2);
	int32_t low = (a & (quarter - 1)) - quarter;
	int32_t r = exp_near_zero(times_pot(low, integer_bits));
	uint32_t rest = (uint32_t)low - (uint32_t)a;
	for (int e = -2; e <= 4 && e < integer_bits; e++)
		if (rest >> (fraction + e) & 1)
			r = fixed_srdhm(r, factor[e + 2]);
	return r;
}

/* Newton's iteration for 1 / half_denominator, in Q2 */
static int32_t
reciprocal_q2(int32_t x)
{
	int32_t half = half_sum(x, INT32_MAX);
	/* 48/17 and -32/17 in Q2 */
	int32_t y =
	    wrapped(1515870810 + (int64_t)fixed_srdhm(half, -1010580540));
	for (int i = 0; i < 3; i++) {
		int32_t error =
		    wrapped((1 << 29) - (int64_t)fixed_srdhm(half, y));
		y = wrapped((int64_t)y + times_pot(fixed_srdhm(y, error), 2));
	}
	return y;
}

int32_t
fixed_recip(int32_t x)
{
	return times_pot(reciprocal_q2(x), 1);
}

int32_t
fixed_logistic(int32_t a)
{
	if (a == 0)
		return 1 << 30;
	int32_t p = fixed_recip(fixed_exp(a > 0 ? -a : a, 4));
	return a > 0 ? p : INT32_MAX - p;
}

int32_t
fixed_tanh(int32_t a)
{
	if (a == 0)
		return 0;
	/* the raw value of n = -|a| in Q4, read as Q5, is 2n */
	int32_t y = reciprocal_q2(fixed_exp(a > 0 ? -a : a, 5));
	int32_t t = times_pot(wrapped((int64_t)y - (1 << 29)), 2);
	return a > 0 ? t : wrapped(-(int64_t)t);
}

struct fixed_mult
fixed_inv_sqrt(int32_t v)
{
	if (v <= 1)
		return (struct fixed_mult){ .mult = INT32_MAX, .exp = 0 };
	int right = 11;
	for (; v >= 1 << 29; v /= 4)
		right++;
	/* an even shift moves v to [2^27, 2^29); the square root halves that shift */
	int pairs = (__builtin_clz((uint32_t)v) - 1) / 2 - 1;
	right -= pairs;
	v = (int32_t)((uint32_t)v << 2 * pairs);

	/* x = x * 3/2 - v/2 * x^3 in Q3, from x = 1 */
	int32_t half = fixed_rdpot(v >> 1, 1);
	int32_t x = 1 << 28;
	for (int i = 0; i < 5; i++) {
		/* Q3 * Q3 * Q3 is Q9; converted back to Q3 with one rounding */
		int32_t x3 = times_pot(fixed_srdhm(fixed_srdhm(x, x), x), 6);
		int64_t step = (int64_t)fixed_srdhm((1 << 28) + (1 << 27), x) -
			       fixed_srdhm(half, x3);
		x = times_pot(wrapped(step), 3);
	}
	x = fixed_srdhm(x, 1518500250); /* sqrt(1/2) */
	if (right < 0) {
		x = (int32_t)((uint32_t)x << -right);
		right = 0;
	}
	return (struct fixed_mult){ .mult = x, .exp = -right };
}

/* Q0 constants of the rational approximation around sqrt(sqrt(1/2)) */
enum {
	LN_2 = 1488522236,
	ROOT4_HALF = 1805811301, /* 2^(-1/4) */
	ROOT_HALF = 1518500250,	 /* 2^(-1/2) */
	LOG_N = 117049297,	 /* 11/240 * 2^(1/4) */
	LOG_D = 127690142,	 /* 1/20 * 2^(1/4) */
	LOG_I = 1057819769,	 /* 2^(3/4) - 2^(1/4) */
	LOG_F = 638450708,	 /* 1/4 * 2^(1/4) */
};

/*
 * Writes x as r * 2^p, r in [1/2, 1).  A second candidate does so for x * sqrt(1/2),
 * with p a quarter step away.  Returns the r that is nearer to 2^(-1/4), and its p in
 * Q6.
 */
static int32_t
log_reduce(int32_t x, int32_t *p_q6)
{
	const int accum = 31 - 6;
	const int32_t quarter = fixed_rdpot(1 << 29, 6);
	int lead = __builtin_clz((uint32_t)x);
	int32_t r_a =
	    times_pot(fixed_srdhm(times_pot(x, lead - 1), ROOT_HALF), 1);
	int32_t p_a =
	    saturate((int64_t)times_pot(12 - lead, accum) + quarter);

	int lead_b = __builtin_clz((uint32_t)fixed_srdhm(x, ROOT_HALF)) - 1;
	int32_t r_b = times_pot(x, lead_b);
	int32_t p_b =
	    saturate((int64_t)times_pot(12 - lead_b, accum) - quarter);
	*p_q6 = p_a > p_b ? p_a : p_b;
	return r_a < r_b ? r_a : r_b;
}

int32_t
fixed_log_q12(int32_t x)
{
	int32_t p;
	int32_t r = log_reduce(x, &p);
	int32_t mid = half_sum(r, ROOT4_HALF);
	int32_t q = wrapped(2 * ((int64_t)r - ROOT4_HALF));
	int32_t q2 = fixed_srdhm(q, q);
	int32_t num = wrapped((int64_t)fixed_srdhm(q, r) +
			      fixed_srdhm(fixed_srdhm(q, q2), LOG_N));
	int32_t inner = wrapped((int64_t)LOG_I + q + fixed_srdhm(LOG_D, q2));
	int32_t den =
	    wrapped((int64_t)fixed_srdhm(mid, inner) + fixed_srdhm(LOG_F, q));
	int32_t small = fixed_srdhm(fixed_rdpot(num, 6), fixed_recip(den));
	int32_t sum = wrapped((int64_t)fixed_srdhm(p, LN_2) + small);
	return times_pot(sum, 1); /* Q6 to Q5 */
}
