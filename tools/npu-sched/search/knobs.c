/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was tuned, in one table: how densely the front is explored.  Time grows with
 * each product of a row's numbers; measured on the networks of the benchmark
 * (scripts/bench-speed), cycles at limits of 60,000 and 100,000 bytes and with Size:
 *
 *   DENSE   within 0.1 % of searches for one limit alone, on average; person_detect
 *           in 0.2 s, mbv2_int8 in 6 s
 *   MEDIUM  within 1 %; mbv2_int8 in 1 s
 *   SPARSE  within 3 %; for networks of hundreds of operations
 */
#include "search.h"

static const struct knobs table[] = {
	/* rungs an octave where plans are near the front, and elsewhere; steps from one
	 * size of maps to the next, and at the first look; ways to let maps leave */
	{ .rungs = 8, .coarse_rungs = 2, .steps = 4, .coarse_steps = 3, .spills = 8,
	  .anchor_spills = 18 },
	{ .rungs = 16, .coarse_rungs = 4, .steps = 12, .coarse_steps = 4, .spills = 12,
	  .anchor_spills = 18 },
	{ .rungs = 64, .coarse_rungs = 8, .steps = 32, .coarse_steps = 12, .spills = 24,
	  .anchor_spills = 18 },
};

/* the default effort is dense for small networks; every third step is a row more */
const struct knobs *
search_knobs(const struct sched *s)
{
	enum { SMALL = 40, MEDIUM = 200, DEFAULT_EFFORT = 3, EFFORTS = 3 };
	int row = s->n_ops < SMALL ? 2 : s->n_ops < MEDIUM ? 1 : 0;
	if (s->memory.spilling && row) /* each variant has ways to let maps leave */
		row--;
	row += (s->o->effort - DEFAULT_EFFORT + EFFORTS * EFFORTS) / EFFORTS - EFFORTS;
	int last = (int)ARRAY_LEN(table) - 1;
	return &table[row < 0 ? 0 : row > last ? last : row];
}
