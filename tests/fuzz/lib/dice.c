/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for mutators, and the mutation of bytes without known structure. */
#include "mutate.h"

#include "../fuzz.h"

#include "base/diag.h"

#include <string.h>

struct dice
dice_init(unsigned seed)
{
	return (struct dice){ .state = seed };
}

uint64_t
dice_next(struct dice *d)
{
	d->state += 0x9e3779b97f4a7c15u;
	uint64_t z = (d->state ^ (d->state >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

size_t
roll(struct dice *d, size_t n)
{
	return n ? (size_t)(dice_next(d) % n) : 0;
}

bool
one_in(struct dice *d, size_t n)
{
	return roll(d, n) == 0;
}

int64_t
odd_number(struct dice *d, int64_t v)
{
	/* limits of types, of registers and of addresses */
	static const int64_t edges[] = {
		INT8_MIN,  INT8_MAX,  UINT8_MAX, INT16_MIN, INT16_MAX, UINT16_MAX,
		INT32_MIN, INT32_MAX, UINT32_MAX, INT64_MIN, INT64_MAX, 1 << 20,
		(int64_t)1 << 40,
	};
	uint64_t u = (uint64_t)v;
	switch (roll(d, 8)) {
	case 0:
		return (int64_t)(u + 1);
	case 1:
		return (int64_t)(u - 1);
	case 2:
		return (int64_t)(u * 2);
	case 3:
		return v / 2;
	case 4:
		return (int64_t)(0 - u);
	case 5:
		return edges[roll(d, ARRAY_LEN(edges))];
	default:
		return (int64_t)roll(d, one_in(d, 3) ? 70 : 6);
	}
}

size_t
mutate_bytes(uint8_t *p, size_t n, size_t max, unsigned seed)
{
	struct dice d = dice_init(seed);
	if (LLVMFuzzerMutate) /* libFuzzer has a dictionary */
		return LLVMFuzzerMutate(p, n, max);
	for (size_t k = 1 + roll(&d, 4); k-- > 0;) {
		size_t at = roll(&d, n), len = 1 + roll(&d, 8);
		if (!n)
			break;
		len = len > n - at ? n - at : len;
		switch (roll(&d, 5)) {
		case 0:
			p[at] ^= (uint8_t)(1u << roll(&d, 8));
			break;
		case 1: {
			int64_t v = odd_number(&d, p[at]);
			memcpy(p + at, &v, len < 4 ? len : 4);
			break;
		}
		case 2:
			memmove(p + at, p + at + len, n - at - len);
			n -= len;
			break;
		case 3:
			if (n + len > max)
				break;
			memmove(p + at + len, p + at, n - at);
			n += len;
			break;
		default:
			memmove(p + at, p + roll(&d, n - len + 1), len);
			break;
		}
	}
	return n;
}
