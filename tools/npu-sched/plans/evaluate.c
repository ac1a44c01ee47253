/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the decisions of a plan: its transfers, its addresses, its cycles. */
#include "../weights/transfers.h"
#include "clock.h"
#include "evaluate.h"

#include <math.h>

double
plan_fetches(struct sched *s, struct plan *p)
{
	if (p->least_cycles > 0)
		return p->least_cycles;
	walk_transfers(s, p);
	return p->least_cycles = plan_bound(s, p);
}

void
plan_addresses(struct sched *s, struct plan *p, int64_t most)
{
	const struct memory_decision *m = &p->decided.memory;
	place_beside(s, p, m->outside);
	if (m->buffers == SUMMED)
		place_rects(s, p, m->packing, most);
	else
		find_address_peak(s, p);
	p->cycles = plan_clock(s, p);
}

struct merit
evaluate(struct sched *s, struct plan *p, const struct merit *than)
{
	/* addresses between the feature maps are found in less time than the bound */
	const bool packs = p->decided.memory.buffers == SUMMED;
	double bound = 0;
	if (packs)
		bound = plan_fetches(s, p);
	else
		walk_transfers(s, p);
	p->cycles = INFINITY;
	if (than && !is_better_merit((struct merit){ bound, p->need }, *than))
		return (struct merit){ INFINITY, INT64_MAX };
	plan_addresses(s, p, INT64_MAX);
	return (struct merit){ .cycles = p->cycles, .bytes = peak_of(s, p) };
}
