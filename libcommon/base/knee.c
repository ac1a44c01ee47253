/* SPDX-License-Identifier: Apache-2.0 */
#include "base/knee.h"

/* Returns the distance of p below the line from (0, 1) to (1, 0), times a constant. */
static double
below(const struct knee_point *p, const struct knee_point *small, const struct knee_point *fast)
{
	double sram = fast->sram - small->sram, time = small->time - fast->time;
	return 1 - (sram > 0 ? (p->sram - small->sram) / sram : 0) -
	       (time > 0 ? (p->time - fast->time) / time : 0);
}

struct knee
knee_find(const struct knee_point *v, size_t n)
{
	const double more_time = 0.02, part_of_sram = 0.5;
	const struct knee_point *small = &v[0], *fast = &v[n - 1];
	struct knee k = { 0 };
	for (size_t i = 1; i < n; i++)
		if (below(&v[i], small, fast) > below(&v[k.bend], small, fast))
			k.bend = i;
	/* without a point below the line, for example of two points */
	if (!(below(&v[k.bend], small, fast) > 0) && fast->sram * fast->time < small->sram * small->time)
		k.bend = n - 1;
	k.take = k.bend;
	for (size_t i = 0; i < n && v[i].sram <= part_of_sram * v[k.bend].sram; i++)
		if (v[i].time <= (1 + more_time) * v[k.bend].time) {
			k.take = i;
			break;
		}
	return k;
}
