/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libcommon/base/functions.h against those of the math library. */
#include "base/functions.h"

#include <math.h>
#include <stdio.h>

/* a few units of the last place of both functions; 1e-300 stands in for a result of 0 */
static const double tolerance = 4e-15;

static int
compare(const char *name, double x, double got, double want)
{
	if (isnan(want) ? isnan(got) : got == want)
		return 0;
	if (fabs(got - want) <= tolerance * fmax(fabs(want), 1e-300))
		return 0;
	fprintf(stderr, "%s(%.17g) = %.17g, not %.17g\n", name, x, got, want);
	return 1;
}

static int
check(double x)
{
	return compare("exp", x, real_exp(x), exp(x)) |
	       compare("expm1", x, real_expm1(x), expm1(x)) |
	       compare("tanh", x, real_tanh(x), tanh(x)) |
	       compare("erf", x, real_erf(x), erf(x)) |
	       compare("log", fabs(x) + 1.5, real_log(fabs(x) + 1.5), log(fabs(x) + 1.5));
}

/* An absolute tolerance, because a sine near 0 has lost the digits of its argument. */
static int
check_circle(double x)
{
	double s = real_sin(x) - sin(x), c = real_cos(x) - cos(x);
	if (fabs(s) <= 4e-16 && fabs(c) <= 4e-16)
		return 0;
	fprintf(stderr, "sine or cosine of %.17g: off by %g, %g\n", x, s, c);
	return 1;
}

int
main(void)
{
	static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 710, -746,
					  1e-300, -1e-9, 5.9, 6.1, 22, -700, 1e300 };
	enum { STEPS = 4380 };
	int bad = 0;
	for (int i = 0; i < STEPS; i++)
		bad |= check(-30 + 60.0 * i / STEPS);
	for (int i = 0; i < STEPS; i++)
		bad |= check_circle(-30 + 60.0 * i / STEPS) | check_circle(i * 229.7 - 5e5);
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
		bad |= check(special[i]);
	double x = 1e-300;
	for (int i = 0; i < 690; i++, x *= 7.3) /* to 1e295 */
		bad |= compare("log", x, real_log(x), log(x));
	bad |= compare("log", 0, real_log(0), -INFINITY);
	bad |= compare("log", -1, real_log(-1), NAN);
	return bad;
}
