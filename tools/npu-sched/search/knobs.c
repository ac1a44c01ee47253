/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How densely the front is explored.  Time grows with each product of a row's numbers.  Measured
 * on 26 networks, with limits and with Size, and COARSE without a limit:
 *
 *   COARSE  for less SRAM in large networks: with 24 rungs and 28 steps, half as much time again for
 *           .4 % less SRAM; with 4 steps (and 4 rungs for networks with an SRAM of the NPU's own),
 *           2.2 % more SRAM on 40 plans, 1.4 % on 51 others, in .9 of the time
 *   ROUGH   for networks with an SRAM of the NPU's own, where each variant has spills: within
 *           0.1 % of 16 rungs and 12 steps, in 0.9 of the time
 *   FINE    for all others: within 0.2 % of 64 rungs and 32 steps, in two thirds of the time;
 *           with 16 rungs and 16 steps up to 2.2 % more cycles
 *   DENSE   for --effort
 */
#include "search.h"

enum { COARSE, ROUGH, FINE, DENSE, ROWS };

static const struct knobs table[ROWS] = {
	/* rungs per octave; steps from one size of feature maps to the next */
	[COARSE] = { .rungs = 8, .steps = COARSE_STEPS },
	[ROUGH] = { .rungs = 8, .steps = 4 },
	[FINE] = { .rungs = 24, .steps = 28 },
	[DENSE] = { .rungs = 64, .steps = 32 },
};

/* Each step of --effort takes the next row, COARSE_STEP the first one. */
const struct knobs *
search_knobs(const struct sched *s)
{
	const int row = (s->memory.spilling ? ROUGH : FINE) + s->effort_step;
	return &table[s->effort_step == COARSE_STEP ? COARSE : row < ROWS ? row : ROWS - 1];
}

int64_t
count_weights(const struct graph *g)
{
	int64_t sum = 0;
	for (size_t i = 0; i < g->n_weights; i++) {
		const int32_t *d = g->weights[i]->shape.dim;
		sum += (int64_t)d[0] * d[1] * d[2] * d[3];
	}
	return sum;
}

bool
is_large(const struct sched *s)
{
	/* with full effort these take some hundredths of a second: of 48 default plans, 14 were
	 * larger than a plan of the front that is fast enough, too, by 17 % in the mean; now 3 are */
	enum { FEW_WEIGHTS = 128 * 1024 };
	return count_weights(s->g) > FEW_WEIGHTS;
}
