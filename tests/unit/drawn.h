/* SPDX-License-Identifier: Apache-2.0 */
/* Pseudorandom numbers, the same in each run: each program has one sequence. */
#ifndef TESTS_DRAWN_H
#define TESTS_DRAWN_H

#include <stdint.h>

static uint64_t drawn_state = 1;

/* below n */
static inline int64_t
draw(int64_t n)
{
	drawn_state = drawn_state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((drawn_state >> 33) % (uint64_t)n);
}

/* min to max */
static inline int
roll(int min, int max)
{
	return min + (int)draw((int64_t)max - min + 1);
}

#endif
