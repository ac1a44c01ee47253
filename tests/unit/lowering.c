/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks claims of nputools-lowering(7) on which every lowering relies: the NPU's
 * scaling is the reference's, a pool's scale is its division, windows are TFLite's.
 * Compares the code of tfl-partition with the reference functions and the NPU's
 * model.
 */
#include "../../tools/tfl-partition/part.h"

#include "base/fixed.h"
#include "lower/pool.h"
#include "sim/npu.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int failed;
static uint64_t state = 1;

static void
expect(const char *what, int64_t x, int64_t n, int64_t got, int64_t want)
{
	if (got == want || failed++ > 20)
		return;
	printf("%s of %" PRId64 ", %" PRId64 ": %" PRId64 ", want %" PRId64 "\n", what,
	       x, n, got, want);
}

static uint32_t
draw(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 32);
}

/*
 * nputools-lowering(7) 4.2: DBL is MBQM, for all scales whose left shift keeps x in 32
 * bits
 */
static void
double_rounding(void)
{
	for (int i = 0; i < 200000; i++) {
		double r = ldexp((double)draw() / 4294967296.0 + 0.5, (int)(draw() % 24) - 20);
		struct fixed_mult q = fixed_quantize(r);
		struct npu_scale s;
		int32_t x = (int32_t)draw() >> (q.exp > 0 ? q.exp + 1 : 0);
		if (!npu_quantise(r, &s))
			continue;
		expect("DBL", x, s.shift,
		       clamp_i32(npu_scale(x, s.mult, s.shift, NPU_ROUND_DBL),
				 INT32_MIN, INT32_MAX),
		       fixed_mbqm(x, q));
	}
}

/* nputools-lowering(7) 4.2: NATURAL with 15 bits is MBQM64, down to scales that become 0 */
static void
reduced(void)
{
	for (int i = 0; i < 200000; i++) {
		double r = ldexp((double)draw() / 4294967296.0 + 0.5, -(int)(draw() % 36));
		struct fixed_mult q = fixed_quantize(r);
		struct npu_scale s;
		int64_t x = (int64_t)(int32_t)draw() * (1 << draw() % 16);
		if (!npu_quantise(r, &s))
			continue;
		s = npu_scale_reduce(s);
		if (s.mult && s.shift < 1)
			continue;
		int64_t y = npu_scale(x, s.mult, s.shift, NPU_ROUND_NATURAL);
		if (y == (int32_t)y) /* beyond 32 bits, the reference wraps around */
			expect("NATURAL", x, s.shift, y, fixed_mbqm64(x, q));
	}
}

static int64_t
half_away(int64_t sum, int64_t n)
{
	return sum > 0 ? (sum + n / 2) / n : (sum - n / 2) / n;
}

/* nputools-lowering(7) 4.5: all sums of 8 bits over small windows, some over large ones */
static void
means(void)
{
	for (int64_t n = 1; n <= 65536; n += n < 64 ? 1 : n / 3) {
		struct npu_scale s = low_mean(n);
		int64_t step = n <= 64 ? 1 : 1 + draw() % (uint32_t)n;
		for (int64_t sum = -255 * n; sum <= 255 * n; sum += step) {
			int64_t want = half_away(sum, n);
			expect("mean, DBL", sum, n,
			       npu_scale(sum, s.mult, s.shift, NPU_ROUND_DBL), want);
			expect("mean, NATURAL", sum, n,
			       npu_scale(sum, s.mult, s.shift, NPU_ROUND_NATURAL), want);
		}
	}
}

/*
 * nputools-lowering(7) 3.2: the smallest padding with which ceil(in / stride) windows
 * fit, half of it before the input
 */
static void
one_window(int32_t in, int32_t k, int32_t stride, int32_t dilation)
{
	struct yx two = { .y = in, .x = in }, kernel = { .y = k, .x = k };
	struct yx by = { .y = stride, .x = stride }, apart = { .y = dilation, .x = dilation };
	struct window w = window_of(TFL_SAME, two, kernel, by, apart);
	int32_t wide = (k - 1) * dilation + 1, out = (in + stride - 1) / stride;
	int32_t pads = w.pad.top + w.pad.bottom;
	expect("SAME, out", in, k, w.out.y, out);
	expect("SAME, square", in, k, w.out.x == w.out.y && w.pad.left == w.pad.top, 1);
	int32_t covers = (out - 1) * stride + wide - in;
	expect("SAME, padding", in, k, pads, covers > 0 ? covers : 0);
	expect("SAME, front", in, k, w.pad.top, pads / 2);
	w = window_of(TFL_VALID, two, kernel, by, apart);
	int32_t n = 0;
	for (int32_t at = 0; at + wide <= in; at += stride)
		n++;
	expect("VALID, out", in, k, w.out.y, n);
	expect("VALID, padding", in, k, w.pad.top | w.pad.bottom, 0);
}

static void
windows(void)
{
	for (int32_t in = 1; in < 24; in++)
		for (int32_t k = 1; k < 8; k++)
			for (int32_t stride = 1; stride < 5; stride++)
				for (int32_t dilation = 1; dilation < 4; dilation++)
					one_window(in, k, stride, dilation);
}

int
main(void)
{
	double_rounding();
	reduced();
	means();
	windows();
	if (failed)
		printf("%d failed\n", failed);
	return failed != 0;
}
