/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the math library, by sums, products and quotients alone: IEEE 754 defines
 * these, so that the results do not depend on a library.
 */
#include "base/functions.h"

#include <math.h>

/* ln 2 in two parts; a multiple of the first part by up to 2^11 is exact */
static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

/* exp(x) - 1 for |x| up to ln 2 / 2, by Taylor's series */
static double
series_expm1(double x)
{
	enum { TERMS = 16 }; /* the rest is below 2^-60 of the sum */
	double sum = 0;
	for (int k = TERMS; k > 1; k--)
		sum = (sum + 1) * x / k;
	return (sum + 1) * x;
}

double
real_exp(double x)
{
	if (isnan(x))
		return x;
	if (x > 710)
		return INFINITY;
	if (x < -746)
		return 0;
	double k = floor(x / (ln2_high + ln2_low) + 0.5);
	double rest = x - k * ln2_high - k * ln2_low;
	return ldexp(1 + series_expm1(rest), (int)k);
}

double
real_expm1(double x)
{
	return fabs(x) < 0.34 ? series_expm1(x) : real_exp(x) - 1;
}

double
real_log(double x)
{
	if (!(x > 0) || isinf(x))
		return x == 0 ? -INFINITY : x > 0 ? x : NAN;
	enum { TERMS = 13 }; /* |s| is at most 0.172 */
	int k;
	double m = frexp(x, &k);
	if (m < 0.70710678118654757) {
		m *= 2;
		k--;
	}
	/* log m = 2 (s + s^3 / 3 + s^5 / 5 + ...) */
	double s = (m - 1) / (m + 1), sum = 0;
	for (int i = TERMS; i >= 0; i--)
		sum = sum * s * s + 1.0 / (2 * i + 1);
	return k * ln2_high + (2 * s * sum + k * ln2_low);
}

double
real_tanh(double x)
{
	if (isnan(x))
		return x;
	double e = fabs(x) > 22 ? 0 : real_expm1(2 * fabs(x));
	double y = fabs(x) > 22 ? 1 : e / (e + 2);
	return x < 0 ? -y : y;
}

double
real_erf(double x)
{
	enum { TERMS = 160 };
	if (isnan(x))
		return x;
	if (fabs(x) > 6)
		return x < 0 ? -1 : 1;
	/* 2 / sqrt(pi) exp(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...): all terms have one sign */
	double term = x, sum = x;
	for (int k = 1; k < TERMS; k++) {
		term *= 2 * x * x / (2 * k + 1);
		sum += term;
	}
	return 1.1283791670955126 * real_exp(-x * x) * sum;
}

/* the sine for |x| up to pi / 4 */
static double
series_sin(double x)
{
	enum { TERMS = 21 };
	double term = x, sum = x;
	for (int k = 3; k <= TERMS; k += 2) {
		term *= -x * x / ((k - 1) * k);
		sum += term;
	}
	return sum;
}

/* the same of the cosine */
static double
series_cos(double x)
{
	enum { TERMS = 20 };
	double term = 1, sum = 1;
	for (int k = 2; k <= TERMS; k += 2) {
		term *= -x * x / ((k - 1) * k);
		sum += term;
	}
	return sum;
}

/* the sine of x plus `quarters` quarters of a circle */
static double
sine(double x, int quarters)
{
	/* pi / 2 in two parts; a multiple of the first part by up to 2^20 is exact */
	const double high = 0x1.921fb544p+0, low = 0x1.0b4611a626331p-34;
	double k = floor(x / (high + low) + 0.5);
	double rest = x - k * high - k * low;
	int quarter = (int)(k - 4 * floor(k / 4)) + quarters;
	double y = quarter % 2 ? series_cos(rest) : series_sin(rest);
	return quarter & 2 ? -y : y;
}

double
real_sin(double x)
{
	return sine(x, 0);
}

double
real_cos(double x)
{
	return sine(x, 1);
}
