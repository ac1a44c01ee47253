/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How densely the front is explored: all tuned numbers, in one table.  Time grows with each
 * product of a row's numbers.  Measured on 26 networks, with limits and with Size:
 *
 *   DENSE   with half of the rungs and steps 0.93 of the time, but up to 3 % more bytes
 *   MEDIUM  with DENSE, movenet_singlepose_192 takes three times as long
 *   SPARSE  for networks of hundreds of operations; with 16 rungs palm_detection takes 13 % more
 *           cycles within a limit on ethos-u85-128
 *   ROUGH   for networks with an SRAM of the NPU's own, where each variant has spills: within
 *           0.1 % of 16 rungs and 12 steps, in 0.9 of the time
 *   SCANT   for larger networks: the plans of ROUGH for chains of 1,000 operations, in
 *           0.9 of the time
 *
 * Half of the loss by packing anew is expected again: mbv2_int8 takes 0.67 of the time.  In
 * networks of less than FEW operations no loss is expected, as single points would take up to
 * 3 % more cycles.
 */
#include "search.h"

enum { SCANT, ROUGH, SPARSE, MEDIUM, DENSE, ROWS };

static const struct knobs table[ROWS] = {
	/* rungs per octave; steps from one size of feature maps to the next; share of the least
	 * loss */
	[SCANT] = { .rungs = 8, .steps = 3, .loss = 0.5 },
	[ROUGH] = { .rungs = 8, .steps = 4, .loss = 0.5 },
	[SPARSE] = { .rungs = 64, .steps = 16, .loss = 0.5 },
	[MEDIUM] = { .rungs = 16, .steps = 16, .loss = 0.5 },
	[DENSE] = { .rungs = 64, .steps = 32 },
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
