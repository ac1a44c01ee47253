/* SPDX-License-Identifier: Apache-2.0 */
/* Check values of base/fixed.h: sums that exceed 64 bits. */
#include "base/fixed.h"

#include <inttypes.h>
#include <stdio.h>

static int n_failed;

static void
expect(int64_t v, uint32_t mult, int64_t add, int shift, int64_t want)
{
	int64_t got = fixed_scale_wide(v, mult, add, shift);
	if (got == want)
		return;
	printf("(%" PRId64 " * %" PRIu32 " + %" PRId64 ") >> %d is %" PRId64
	       ", want %" PRId64 "\n", v, mult, add, shift, got, want);
	n_failed++;
}

/* worked out by hand */
static void
known(void)
{
	const uint32_t most = UINT32_MAX;
	expect(0, 0, 0, 0, 0);
	expect(-1, 1, 0, 63, -1);
	expect(3, 5, 1, 0, 16);
	expect(-3, 5, 0, 1, -8);
	expect(-3, 5, 1, 1, -7);
	expect(INT64_C(1) << 40, UINT32_C(1) << 31, 0, 31, INT64_C(1) << 40);
	expect(-(INT64_C(1) << 40), UINT32_C(1) << 31, 0, 31, -(INT64_C(1) << 40));
	expect(-(INT64_C(1) << 40), UINT32_C(1) << 31, -1, 31,
	       -(INT64_C(1) << 40) - 1);
	/* both limits of the high part */
	expect(INT64_MAX, most, INT64_MAX, 0, INT64_MAX);
	expect(INT64_MIN, most, INT64_MIN, 0, INT64_MIN);
	expect(INT64_MAX, most, INT64_MAX, 32, INT64_MAX);
	expect(INT64_MIN, most, INT64_MIN, 32, INT64_MIN);
	expect(INT64_MIN, most, 0, 63, -(INT64_C(1) << 32) + 1);
	expect(INT64_MAX, most, 0, 63, (INT64_C(1) << 32) - 2);
	/* the first value that saturates, and the last one that does not */
	expect(INT64_C(1) << 62, 2, -1, 0, INT64_MAX);
	expect(INT64_C(1) << 62, 2, 0, 0, INT64_MAX);
	expect(-(INT64_C(1) << 62), 2, 0, 0, INT64_MIN);
	expect(-(INT64_C(1) << 62), 2, -1, 0, INT64_MIN);
	expect(INT64_C(1) << 62, 4, -1, 1, INT64_MAX);
	expect(INT64_C(1) << 62, 4, -2, 1, INT64_MAX);
	expect(INT64_C(1) << 62, 4, -3, 1, INT64_MAX - 1);
}

#ifdef __SIZEOF_INT128__
static uint64_t
next(uint64_t *s)
{
	*s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *s ^ *s >> 29;
}

/* a number of any bit length */
static int64_t
number(uint64_t *s)
{
	int64_t v = (int64_t)next(s) >> (next(s) >> 20) % 64;
	return next(s) >> 63 ? v : (int64_t)~(uint64_t)v;
}

/* against the compiler's own arithmetic, if it has such types */
static void
random_ones(void)
{
	uint64_t s = 1;
	for (int i = 0; i < 1000000; i++) {
		int64_t v = number(&s), add = number(&s);
		uint32_t mult = (uint32_t)number(&s);
		int shift = (int)((next(&s) >> 20) % 64);
		__int128 r = ((__int128)v * mult + add) >> shift;
		expect(v, mult, add, shift,
		       r > INT64_MAX   ? INT64_MAX
		       : r < INT64_MIN ? INT64_MIN
				       : (int64_t)r);
		if (n_failed > 10)
			return;
	}
}
#else
static void
random_ones(void)
{
	printf("no integers of 128 bits here: known values alone\n");
}
#endif

int
main(void)
{
	known();
	random_ones();
	printf("%d failed\n", n_failed);
	return n_failed > 0;
}
