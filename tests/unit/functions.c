/* SPDX-License-Identifier: Apache-2.0 */
/* Check values of nputools-lowering(7) 3.11, and 3.8's row RSQRT. */
#include "kernels/functions.h"
#include "kernels/tables.h"

#include <math.h>
#include <stdio.h>

static int n_failed;

static void
expect(const char *what, long long got, long long want)
{
	if (got == want)
		return;
	printf("%s: %lld, want %lld\n", what, got, want);
	n_failed++;
}

static void
primitives(void)
{
	expect("srdhm", fixed_srdhm(3, 1 << 30), 2);
	expect("srdhm", fixed_srdhm(-3, 1 << 30), -1);
	expect("srdhm", fixed_srdhm(1000, 1717986918), 800);
	expect("srdhm", fixed_srdhm(INT32_MIN, INT32_MIN), INT32_MAX);
	expect("rdpot", fixed_rdpot(3, 1), 2);
	expect("rdpot", fixed_rdpot(-3, 1), -2);
	expect("rdpot", fixed_rdpot(5, 1), 3);
	expect("rdpot", fixed_rdpot(-5, 1), -3);
	expect("rdpot", fixed_rdpot(6, 2), 2);
	expect("rdpot", fixed_rdpot(-6, 2), -2);
}

static void
multipliers(void)
{
	static const struct {
		double m;
		int32_t mult;
		int exp;
	} q[] = { { .m = 0.1, .mult = 1717986918, .exp = -3 },
		  { .m = 0.5, .mult = 1073741824, .exp = 0 },
		  { .m = 1.0, .mult = 1073741824, .exp = 1 },
		  { .m = 2.5, .mult = 1342177280, .exp = 2 },
		  { .m = 0.0003, .mult = 1319413953, .exp = -11 } };
	static const struct {
		int32_t x, twice, wide;
	} v[] = { { .x = 1000, .twice = 100, .wide = 100 },
		  { .x = -1005, .twice = -101, .wide = -100 },
		  { .x = 12345, .twice = 1235, .wide = 1234 },
		  { .x = -12345, .twice = -1235, .wide = -1234 } };
	for (size_t i = 0; i < ARRAY_LEN(q); i++) {
		struct fixed_mult m = fixed_quantize(q[i].m);
		expect("Q mult", m.mult, q[i].mult);
		expect("Q exp", m.exp, q[i].exp);
	}
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		struct fixed_mult m = fixed_quantize(0.1);
		expect("mbqm", fixed_mbqm(v[i].x, m), v[i].twice);
		expect("mbqm64", fixed_mbqm64(v[i].x, m), v[i].wide);
	}
}

/* Q5 of a small real number */
static int32_t
q5(double v)
{
	return (int32_t)(v * (1 << 26));
}

static void
exponentials(void)
{
	expect("exp(0)", fixed_exp(0, 5), 2147483647);
	expect("exp(-1/4)", fixed_exp(q5(-0.25), 5), 1672462419);
	expect("exp(-1)", fixed_exp(q5(-1), 5), 790015308);
	expect("exp(-3)", fixed_exp(q5(-3), 5), 106916946);
	expect("exp(-16)", fixed_exp(q5(-16), 5), 242);
	expect("recip(0)", fixed_recip(0), 2147483647);
	expect("recip(1/2)", fixed_recip(1 << 30), 1431655762);
	expect("recip(1)", fixed_recip(INT32_MAX), 1073741820);
}

static void
squares(void)
{
	for (int32_t v = 1; v <= 255; v++) {
		struct fixed_mult m = fixed_inv_sqrt(v);
		m.exp += 20;
		int32_t want = (int32_t)round(0x1p20 / sqrt(v));
		/* the three values that the reference's iteration misses */
		if (v == 2 || v == 8 || v == 131)
			want--;
		expect("2^20 / sqrt(v)", fixed_mbqm(1, m), want);
	}
}

static void
logarithms(void)
{
	/* against the function itself: the reference is accurate to about 2^-20 */
	for (int i = 0; i < 100; i++) {
		double x = exp(0.083 * i); /* 1 to 3700 */
		int32_t raw = (int32_t)(x * (1 << 19));
		double got = fixed_log_q12(raw) / 67108864.0;
		if (fabs(got - log(raw / 524288.0)) > 1e-5) {
			printf("log(%g): %g\n", x, got);
			n_failed++;
		}
	}
}

static void
squashing(void)
{
	static const struct {
		int x, sigmoid, tanh;
	} v[] = { { .x = -32768, .sigmoid = 11, .tanh = -32767 },
		  { .x = -4096, .sigmoid = 8812, .tanh = -24956 },
		  { .x = 0, .sigmoid = 16384, .tanh = 0 },
		  { .x = 1, .sigmoid = 16386, .tanh = 8 },
		  { .x = 4096, .sigmoid = 23956, .tanh = 24956 } };
	struct sigmoid16 s, t;
	sigmoid16_prepare(&s, 0x1p-12f, false);
	sigmoid16_prepare(&t, 0x1p-12f, true);
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		expect("sigmoid16", sigmoid16(&s, v[i].x), v[i].sigmoid);
		expect("tanh16", sigmoid16(&t, v[i].x), v[i].tanh);
	}
	expect("sigmoid16", sigmoid16(&s, 32767), 32757);
	sigmoid16_prepare(&t, 0.0003f, true);
	expect("tanh16", sigmoid16(&t, 1000), 9545);
	expect("tanh16", sigmoid16(&t, -1000), -9545);
}

static float
one_over_one_plus(float x)
{
	return 1.0f / (1.0f + x);
}

static void
tables(void)
{
	int16_t t[TABLE16];
	struct affine ten = { .scale = 10.0f / 65535.0f, .zero = 32767 };
	struct affine one = { .scale = 1.0f / 65535.0f, .zero = -32768 };
	struct affine out = { .scale = 2.0f / 65535.0f };
	table16_fill(t, ten, out, expf);
	expect("exp table at 0", t[512], 32767);
	table16_fill(t, one, out, one_over_one_plus);
	/* steps and results keep 16 bits */
	int16_t steep[TABLE16] = { [256] = -7233, [257] = 32767, [258] = -32768, [259] = 32767 };
	expect("a step of 40000", table16_lookup(steep, 64), -7233 - 25536 / 2);
	expect("a result above 16 bits", table16_lookup(steep, 128 + 127), -32768);
	expect("a result below 16 bits", table16_lookup(steep, 256 + 127), 32767);
	/* nputools-lowering(7) 5.5: entries that tell float32 from double */
	expect("1/(1+x) table", t[160], 24966);
	expect("1/(1+x) table", t[294], 20816);
}

int
main(void)
{
	primitives();
	multipliers();
	exponentials();
	squares();
	logarithms();
	squashing();
	tables();
	return n_failed > 0;
}
