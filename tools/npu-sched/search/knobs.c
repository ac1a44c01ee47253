/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How densely the front is explored: all tuned numbers, in one table.  Time grows with each
 * product of a row's numbers.  Measured on the networks of the benchmark (scripts/bench-speed),
 * cycles at limits of 60,000 and 100,000 bytes and with Size:
 *
 *   DENSE   within 0.1 % of searches for one limit alone, on average; person_detect
 *           in 0.2 s, mbv2_int8 in 6 s
 *   MEDIUM  within 1 %; mbv2_int8 in 1 s; movenet within 200,448 bytes of u55-256 takes
 *           8 % fewer cycles than with 12 and 4 steps, in 1.3 times the time
 *   SPARSE  for networks of hundreds of operations; palm_detection on u55-128 takes 605,184
 *           bytes at least, 638,976 with ROUGH, in 0.2 s both
 *   ROUGH   within 3 %; half of the time of SPARSE for chains of 1,000 operations; for
 *           networks with an SRAM of the NPU's own, where each variant has spills: within
 *           0.1 % of 16 rungs and 12 steps, in 0.9 of the time
 *   SCANT   for larger networks: the plans of ROUGH for chains of 1,000 operations, in
 *           0.9 of the time
 *
 * Half of the loss by packing anew is expected again.  With that, 6 of 128 fronts (64 networks
 * on ethos-u55-256 and ethos-u65-512) change, by 0.65 % at most and by nothing on average, and
 * mbv2_int8 takes 0.67 of the time.  In networks of less than FEW operations no loss is
 * expected, as single points would take up to 3 % more cycles.
 */
#include "search.h"

enum { SCANT, ROUGH, SPARSE, MEDIUM, DENSE, ROWS };

static const struct knobs table[ROWS] = {
	/* rungs per octave where plans are near the front, and elsewhere; steps from one size
	 * of feature maps to the next; share of the least loss */
	[SCANT] = { .rungs = 8, .far_rungs = 2, .steps = 3, .loss = 0.5 },
	[ROUGH] = { .rungs = 8, .far_rungs = 2, .steps = 4, .loss = 0.5 },
	[SPARSE] = { .rungs = 64, .far_rungs = 4, .steps = 16, .loss = 0.5 },
	[MEDIUM] = { .rungs = 16, .far_rungs = 4, .steps = 16, .loss = 0.5 },
	[DENSE] = { .rungs = 64, .far_rungs = 8, .steps = 32 },
};

enum { FEW = 40, MANY = 200, VERY_MANY = 400 };

/* With the default effort, small networks are explored densely.  Each step more takes the next
 * row. */
const struct knobs *
search_knobs(const struct sched *s)
{
	int row = s->n_ops < FEW	 ? DENSE
		  : s->n_ops < MANY	 ? MEDIUM
		  : s->n_ops < VERY_MANY ? SPARSE
					 : SCANT;
	if (s->memory.spilling)
		row = s->n_ops < VERY_MANY ? ROUGH : SCANT;
	row += s->effort_step;
	return &table[row < ROWS ? row : ROWS - 1];
}
