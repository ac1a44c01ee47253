/* SPDX-License-Identifier: Apache-2.0 */
/* --optimise=Size: little memory at a fair price in cycles. */
#include "search.h"

#include <math.h>

/*
 * What weighs bytes against cycles.  A tenth less SRAM is worth 18 % more time,
 * so feature maps shrink as far as bands go at a fair price, and not down the
 * cliff behind.
 */
double
weigh(int64_t bytes, double cycles)
{
	return (double)bytes * pow(cycles, 0.64);
}

/* the best plan by weight so far */
struct lightest {
	struct plan *plan;
	double weight;
	int64_t limit;
};

/* of the candidates in x, all below limit */
static void
keep_lightest(struct search *x, int64_t limit, struct lightest *best)
{
	for (size_t k = 0; k < x->n; k++) {
		const struct idea *i = &x->v[k];
		/* promising: do its addresses fit, at which price? */
		if (best->plan && weigh(i->need, i->cycles) >= best->weight)
			continue;
		struct plan *p = realise(x, i, limit);
		double w = p ? weigh(peak_of(x->s, p), p->cycles) : 0;
		if (p && (!best->plan || w < best->weight)) {
			plan_close(best->plan);
			*best = (struct lightest){ p, w, limit };
		} else {
			plan_close(p);
		}
	}
}

/* the plan of least weight, exact sizes and addresses included */
struct plan *
search_smallest(struct search *x)
{
	struct lightest best = { .plan = NULL };
	int64_t end = chains_whole_peak(x->s, x->chains);
	for (int64_t limit = x->least; limit < end; limit += limit / 16 + 16) {
		list_full_plans(x, limit);
		keep_lightest(x, limit, &best);
	}
	/* no bands at all; more only if not even that fits its addresses */
	for (int64_t limit = end; limit == end || !best.plan; limit += limit / 16 + 16) {
		list_plans(x, limit);
		keep_lightest(x, limit, &best);
	}
	return best.plan;
}
