/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of values and zero runs. */
#include "weights/search.h"
#include "weights/weights.h"

#include <string.h>

static void
add_run(struct stats *st, uint32_t run)
{
	for (int z = 0; z < WEIGHTS_ZDIVS; z++)
		st->run_units[z] += run >> z;
}

static void
remove_run(struct stats *st, uint32_t run)
{
	for (int z = 0; z < WEIGHTS_ZDIVS; z++)
		st->run_units[z] -= run >> z;
}

void
stats_count(struct stats *st, const uint16_t *d, size_t n)
{
	memset(st, 0, sizeof(*st));
	st->n_values = (uint32_t)n;
	st->no_runs = true;
	if (n >= 4 * WEIGHTS_N_INDEX) {
		/* alternate values in two arrays: increments of one counter would wait for
		 * each other */
		uint32_t other[WEIGHTS_N_INDEX] = { 0 };
		for (size_t i = 0; i + 1 < n; i += 2) {
			st->n[d[i]]++;
			other[d[i + 1]]++;
		}
		if (n % 2)
			st->n[d[n - 1]]++;
		for (int v = 0; v < WEIGHTS_N_INDEX; v++)
			st->n[v] += other[v];
		return;
	}
	for (size_t i = 0; i < n; i++)
		st->n[d[i]]++;
}

void
stats_of(struct stats *st, const uint16_t *d, size_t n)
{
	size_t begin = 0;

	stats_count(st, d, n);
	st->no_runs = false;
	for (size_t i = 0; i < n; i++) {
		if (d[i] != WEIGHTS_ZERO)
			continue;
		begin = i;
		while (i + 1 < n && d[i + 1] == WEIGHTS_ZERO)
			i++;
		add_run(st, (uint32_t)(i + 1 - begin));
		if (begin == 0)
			st->lead = (uint32_t)(i + 1);
	}
	if (n && d[n - 1] == WEIGHTS_ZERO)
		st->trail = (uint32_t)(n - begin);
}

void
stats_join(struct stats *st, const struct stats *next)
{
	uint32_t joint = st->trail + next->lead;

	for (int d = 0; d < WEIGHTS_N_INDEX; d++)
		st->n[d] += next->n[d];
	for (int z = 0; z < WEIGHTS_ZDIVS; z++)
		st->run_units[z] += next->run_units[z];
	remove_run(st, st->trail);
	remove_run(st, next->lead);
	add_run(st, joint);
	if (st->lead == st->n_values)
		st->lead += next->lead;
	st->trail = next->trail == next->n_values ? joint : next->trail;
	st->n_values += next->n_values;
	st->no_runs |= next->no_runs;
}
