/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares random SOFTMAX operators of 16 bits exactly with nputools-lowering(7) 3.7
 * and 3.8, computed again in numbers of 128 bits, and approximately with the function
 * itself.
 */
#include "rules.h"

#include "tflite/fields.h"

enum { MOST_OUT = 2048, POINTS = 513, STEPS = 512 };

static int64_t exponential[POINTS], inverse[POINTS];

static float
inverse_of(float x)
{
	return 1.0f / (1.0f + x);
}

/*
 * nputools-lowering(7) 3.8: f at 512 steps from `from` to `to`, in units of 2^-15, in
 * float32.  Half of the line's error in the middle between two points is subtracted
 * from the first point.
 */
static void
fill(int64_t point[POINTS], float from, float to, float (*f)(float))
{
	float step = (to - from) / STEPS;
	for (int i = 0; i < STEPS; i++) {
		float x = from + (float)i * step;
		float here = roundf(f(x) * 32768);
		float middle = roundf(f(x + step / 2) * 32768);
		float line = roundf((f(from + (float)(i + 1) * step) * 32768 + here) / 2);
		float v = here - roundf((line - middle) / 2);
		point[i] = (int64_t)(v > INT16_MAX ? INT16_MAX : v);
	}
	float last = roundf(f(to) * 32768);
	point[STEPS] = (int64_t)(last > INT16_MAX ? INT16_MAX : last);
}

/* the point below x, plus a fraction of 128 towards the next point */
static int64_t
look(const int64_t point[POINTS], int64_t x)
{
	int64_t i = (int64_t)rule_floor_div(x, 128) + 256, rest = x - (i - 256) * 128;
	return point[i] + (int64_t)rule_floor_div((point[i + 1] - point[i]) * rest + 64, 128);
}

static int64_t
into16(int64_t v)
{
	return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
}

static void
row(const struct bench *b, int64_t at, int32_t n, float beta, int64_t *want)
{
	double units = (double)b->scale[0][0] * (double)beta / (10.0 / 65535.0);
	int64_t most = INT16_MIN, e[MOST_OUT], sum = 0, one = 1;
	for (int32_t i = 0; i < n; i++)
		most = get(b, 0, at + i) > most ? get(b, 0, at + i) : most;
	for (int32_t i = 0; i < n; i++) {
		int64_t d = rule_mbqm(get(b, 0, at + i) - most, units);
		e[i] = look(exponential, into16(d + INT16_MAX));
		sum += e[i];
	}
	int up = 0; /* so that sum is in 2^30 to 2^31 */
	while (sum << up < INT64_C(1) << 30)
		up++;
	int64_t upper = (int64_t)rule_floor_div((sum << up) + (1 << 13), 1 << 14);
	int64_t r = look(inverse, into16(upper - 98304));
	one <<= 30 - up;
	for (int32_t i = 0; i < n; i++) {
		int64_t y = (int64_t)rule_floor_div(2 * e[i] * r + one, 2 * one);
		want[at + i] = y < 0 ? 0 : into16(y);
	}
}

/*
 * Probabilities are 32768ths.  exp is cut off at -10, where it is still 1 or 2 of
 * them; therefore each element far below the largest takes up to 2 from the others.
 * The tables add errors of some units, for which 8 are allowed (5, and 1.5 for each
 * element, are too few).
 */
static void
is_close(const struct bench *b, int64_t at, int32_t n, float beta)
{
	long double sum = 0, most = -1e30L, s = (long double)b->scale[0][0] * beta;
	for (int32_t i = 0; i < n; i++)
		most = fmaxl(most, s * get(b, 0, at + i));
	for (int32_t i = 0; i < n; i++)
		sum += expl(s * get(b, 0, at + i) - most);
	for (int32_t i = 0; i < n; i++) {
		long double p = expl(s * get(b, 0, at + i) - most) / sum * 32768;
		int64_t y = get(b, b->n - 1, at + i);
		if (fabsl(p - (long double)y) <= 8 + 2 * n)
			continue;
		n_failed++;
		printf("element %" PRId64 " is %" PRId64 ", the function %.2Lf\n", at + i, y, p);
	}
}

static void
one_softmax(int32_t rows, int32_t n, float scale, float beta, bool same)
{
	struct bench b = { .n = 0 };
	int64_t want[MOST_OUT];
	const int32_t dim[4] = { rows, n };
	drawn_map(&b, TFL_INT16, dim, scale, 0);
	for (int64_t k = 0; same && k < count_of(&b, 0); k++)
		put(&b, 0, k, -7);
	bench_add(&b, TFL_INT16, dim, 1.0f / 32768, 0);
	bench_options(&b, &fb_SoftmaxOptions,
		      &(struct bench_option){ .slot = FB_SoftmaxOptions_beta,
					      .v = (double)beta, .is_float = true }, 1);
	for (int32_t i = 0; i < rows; i++)
		row(&b, (int64_t)i * n, n, beta, want);
	hold(&b, TFL_SOFTMAX, same ? "all the same" : "drawn", want);
	for (int32_t i = 0; i < rows; i++)
		is_close(&b, (int64_t)i * n, n, beta);
}

int
main(void)
{
	fill(exponential, -10, 0, expf);
	fill(inverse, 0, 1, inverse_of);
	for (int i = 0; i < 300; i++) {
		int32_t n = (int32_t)draw_in(1, 40);
		float scale = draw_scale(-(int)draw_in(6, 15));
		one_softmax((int32_t)draw_in(1, 5), n, scale, i % 2 ? 1.0f : draw_scale(0),
			    i % 20 == 0);
	}
	one_softmax(1, 700, draw_scale(-13), 1.0f, false);
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
