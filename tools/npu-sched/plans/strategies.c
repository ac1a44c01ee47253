/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the strategy of transfers that suits a plan best. */
#include "../network/network.h"
#include "../weights/transfers.h"
#include "clock.h"
#include "fit.h"

/*
 * Walks with the other strategies, too, and again with that of the lowest plan_bound(); ties go
 * to the first of these.  p->asked is the largest value of all walks: under any higher limit
 * each of them makes the same decisions.  Returns the bound.
 */
static double
compare_strategies(struct sched *s, struct plan *p)
{
	enum strategy best = SCALES_FIRST;
	double least = plan_bound(s, p);
	int64_t asked = p->asked;
	for (int i = SCALES_FIRST + 1; i < STRATEGIES; i++) {
		(void)walk_transfers(s, p, (enum strategy)i);
		asked = max_i64(asked, p->asked);
		const double bound = plan_bound(s, p);
		if (bound < least) {
			least = bound;
			best = (enum strategy)i;
		}
	}
	(void)walk_transfers(s, p, best);
	p->asked = asked;
	return least;
}

/* Has p the transfers of f already? */
static bool
is_walked(const struct plan *p, const struct fitting *f)
{
	const struct fitting *was = &p->fitting;
	return p->least_cycles > 0 && f->how == SUMMED && was->how == SUMMED &&
	       was->limit == f->limit && was->ahead == f->ahead && was->worth == f->worth &&
	       was->exceptions == f->exceptions;
}

/* With many weights, all strategies are worth 0.1 % of cycles and take 1.7 times the time. */
double
plan_fetches(struct sched *s, struct plan *p, struct fitting f)
{
	const bool walked = is_walked(p, &f);
	p->fitting = f;
	if (walked)
		return p->least_cycles;
	const bool others = walk_transfers(s, p, SCALES_FIRST) && has_few_weights(s);
	return p->least_cycles = others ? compare_strategies(s, p) : plan_bound(s, p);
}
