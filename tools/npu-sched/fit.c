/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan with exact sizes to transfers and addresses below a limit. */
#include "search.h"

#include <math.h>

struct plan *
plan_new(struct sched *s)
{
	struct arena *a = arena_open();
	struct plan *p = anew(a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->a = a;
	p->rolling = anew(a, int32_t, n);
	p->band = anew(a, int32_t, n);
	p->over = anew(a, struct g_tensor *, n);
	p->lead = anew(a, int64_t, n);
	p->slices = anew(a, struct g_list, n);
	return p;
}

void
plan_close(struct plan *p)
{
	if (p)
		arena_close(p->a);
}

bool
plan_fit(struct sched *s, struct plan *p, int64_t limit, enum fit how, double below)
{
	p->limit = limit;
	p->how = how;
	if (how == SUMMED)
		plan_fetches(s, p, limit);
	else
		plan_fetches_between(s, p, limit);
	if (plan_bound(s, p) >= below)
		return false;
	if (how == SUMMED)
		place_rects(s, p, TRY);
	else
		place_given(s, p);
	p->cycles = plan_clock(s, p);
	return p->cycles < below;
}

/* is it as fast with transfers below a limit?  bounds are known soon */
static bool
is_as_fast(struct sched *s, struct plan *p, int64_t limit, double cycles, bool exact)
{
	plan_fetches(s, p, limit);
	if (p->need > limit || plan_bound(s, p) > cycles)
		return false;
	if (!exact)
		return true;
	place_rects(s, p, TRY);
	return plan_clock(s, p) <= cycles;
}

/*
 * Without a limit the fastest plan may hold more weights than it needs: the least
 * memory with which it stays as fast, first as far as bounds tell.
 */
void
plan_trim(struct sched *s, struct plan *p)
{
	enum { HALVINGS = 12, CLOSE = 1024 };
	const struct plan was = *p;
	if (!p->map_rank)
		(void)pack_maps(s, p);
	for (int exact = 0; exact < 2; exact++) {
		int64_t hi = was.limit, lo = 0;
		for (int i = 0; i < HALVINGS && hi - lo > CLOSE; i++) {
			int64_t mid = lo + (hi - lo) / 2;
			if (is_as_fast(s, p, mid, was.cycles, exact))
				hi = p->need;
			else
				lo = mid;
		}
		plan_fetches(s, p, hi);
		place_rects(s, p, LAST);
		p->cycles = plan_clock(s, p);
		if (p->cycles <= was.cycles)
			return;
	}
	(void)plan_fit(s, p, was.limit, was.how, INFINITY);
}
